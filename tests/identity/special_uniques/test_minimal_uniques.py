"""The search against all subsets tried one by one, in a table and by lists, and what it refuses."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files
from sdckit.errors import DataError
from sdckit.identity.special_uniques import minimal_uniques, minimal_uniques as kernel, minimal_uniques as subset_blocks
from sdckit.identity.special_uniques.minimal_uniques import (
    CELL,
    NEVER,
    SINGLE,
    START,
    bytes_of_blocks,
    find_minimal_uniques,
    largest_size,
    memory_needed,
    n_fixed,
)

TABLES = (None, 0, 4, 12, 1 << 20)  # all lists of a size in one call; subset by subset: never a table to always


def cells_of(rows, wild):
    """Distinct rows as codes, their records, where a value takes no part."""
    sizes = Counter(rows)
    distinct = sorted(sizes, key=str)
    codes = np.array([[9 if value is None else value for value in row] for row in distinct]).T
    absent = np.array([[free and row[j] is None for row in distinct] for j, free in enumerate(wild)])
    return distinct, codes, np.array([sizes[row] for row in distinct]), absent


def searched(table, *args, **options):
    with pytest.MonkeyPatch.context() as patch:
        if table is not None:
            patch.setattr(minimal_uniques, "TABLE", table)
            patch.setattr(minimal_uniques, "MANY_CELLS", 0)
        return find_minimal_uniques(*args, **options)


@given(files(max_rows=40, max_keys=5), st.integers(1, 5), st.sampled_from(TABLES))
def test_agrees_with_trying_all_subsets(file, max_size, table):
    max_size = min(max_size, len(file.keys))
    distinct, codes, size, absent = cells_of(file.rows, file.wild)
    found = searched(table, codes, size, max_size=max_size, absent=absent)
    truth = dict(zip(file.rows, brute.minimal_uniques(file.rows, file.wild, max_size), strict=True))
    expected = [truth[row] for row in distinct]
    for k in range(1, max_size + 1):
        assert found.by_size[:, k - 1].tolist() == [sum(len(one) == k for one in mine) for mine in expected]
    assert found.subset_counts == Counter(subset for mine in expected for subset in mine)
    spans = codes.max(axis=1) + 1
    levels = np.zeros((max_size, spans.sum()))
    for i, mine in enumerate(expected):
        for subset in mine:
            for j in subset:
                levels[len(subset) - 1, spans[:j].sum() + codes[j, i]] += 1
    assert (found.level_counts == levels).all()


def test_where_tables_do_not_fit_blocks_are_searched(monkeypatch):
    """Of more cells than lists are made for at once by default; the same is found."""
    rng = np.random.default_rng(3)
    codes, size = np.unique(rng.integers(0, 4, (8, 900)), axis=1, return_counts=True)
    by_tables = searched(16, codes, size, max_size=8)
    monkeypatch.setattr(minimal_uniques, "ROOM", 1000)
    monkeypatch.setattr(minimal_uniques, "MANY_CELLS", 0)
    monkeypatch.setattr(minimal_uniques, "_by_nodes", None)
    limit = memory_needed(8, codes.shape[1], 8, 32)
    in_blocks = find_minimal_uniques(codes, size, max_size=8, limit=limit)
    assert in_blocks.by_size.tolist() == by_tables.by_size.tolist()
    assert in_blocks.subset_counts == by_tables.subset_counts
    with pytest.raises(DataError, match="max_size="):
        find_minimal_uniques(codes, size, max_size=8, limit=limit - 1)


@pytest.mark.parametrize("levels", [(2, 3, 4, 5, 6), (3, 300, 2, 7, 2), (70_000, 4, 4, 4, 3)])
def test_many_records_give_the_same_by_table_and_by_list(levels):
    """Codes of one, two and four bytes, more than one word of cells."""
    rng = np.random.default_rng(len(levels) + levels[0])
    codes = np.stack([np.minimum(rng.integers(0, m, 900), rng.integers(0, m, 900)) for m in levels])
    codes, size = np.unique(codes, axis=1, return_counts=True)
    results = [searched(table, codes, size, max_size=5) for table in TABLES]
    for one in results[1:]:
        assert (one.by_size == results[0].by_size).all()
        assert one.subset_counts == results[0].subset_counts
        assert (one.level_counts == results[0].level_counts).all()
    rows = [tuple(column) for column, times in zip(codes.T.tolist(), size, strict=True) for _ in range(times)]
    truth = dict(zip(rows, brute.minimal_uniques(rows, [False] * 5, 3), strict=True))
    expected = [sum(len(one) <= 3 for one in truth[tuple(column)]) for column in codes.T.tolist()]
    assert results[0].by_size[:, :3].sum(axis=1).tolist() == expected


def test_more_keys_than_fit_into_a_word():
    rng = np.random.default_rng(40)
    codes, size = np.unique(rng.integers(0, 4, (40, 60)), axis=1, return_counts=True)
    rows = [tuple(column) for column in codes.T.tolist()]
    truth = brute.minimal_uniques(rows, [False] * 40, 2)
    for table in (None, 0, 1 << 20):
        found = searched(table, codes, size, max_size=2)
        assert found.subset_counts == Counter(subset for mine in truth for subset in mine)


@pytest.mark.parametrize("table", TABLES)
def test_a_key_that_others_determine_is_in_no_minimal_unique_with_them(table):
    rng = np.random.default_rng(5)
    free = rng.integers(0, [[9], [7], [5]], (3, 400))
    rows = np.stack([*free, free[0] // 2, free[1] + 7 * free[2], np.where(free[0] > 6, 0, free[2])])
    codes, size = np.unique(rows, axis=1, return_counts=True)
    found = searched(table, codes, size, max_size=6)
    rows = [tuple(column) for column, times in zip(codes.T.tolist(), size, strict=True) for _ in range(times)]
    truth = brute.minimal_uniques(rows, [False] * 6, 6)
    assert found.subset_counts == Counter(subset for mine in truth for subset in mine)
    assert found.subset_counts
    assert not any({0, 3} <= set(one) or {1, 4} <= set(one) for one in found.subset_counts)


def test_a_step_is_told_per_size_and_the_search_ends_where_nobody_is_left():
    told = []
    found = find_minimal_uniques(np.array([[0, 1, 2], [0, 0, 0]]), np.array([1, 1, 1]), max_size=2, step=told.append)
    assert told == ["key subsets of size 1", "key subsets of size 2"]
    assert found.subset_counts == {(0,): 3}


def test_memory():
    for n_keys, n_cells in ((8, 1000), (20, 10**5), (63, 10**6)):
        needs = [memory_needed(n_keys, n_cells, k) for k in range(1, n_keys + 1)]
        assert needs == sorted(needs)
        assert [largest_size(n_keys, n_cells, need) >= k for k, need in enumerate(needs, 1)] == [True] * n_keys
        assert largest_size(n_keys, n_cells, needs[0] - 1) == 0
        assert memory_needed(n_keys, n_cells, 2, 1000) > memory_needed(n_keys, n_cells, 2)
    assert memory_needed(10, 1000, 5) >= 4 * 1000 * comb(10, 4)


def test_a_search_that_may_not_fit_is_refused_with_the_size_that_does():
    codes, size = np.array(list(combinations(range(8), 3))).T, np.ones(56, np.int64)
    limit = memory_needed(3, 56, 2, int((codes.max(axis=1) + 1).sum()))
    find_minimal_uniques(codes, size, max_size=2, limit=limit)
    with pytest.raises(DataError, match=r"up to 3 of 3 keys may need .* for 56 cells; max_size=2 fits"):
        find_minimal_uniques(codes, size, max_size=3, limit=limit)
    with pytest.raises(DataError, match="no max_size fits: give fewer or coarser keys"):
        find_minimal_uniques(codes, size, max_size=3, limit=10)


# Every kernel of the search against plain loops, compiled and as Python.


FORMS = pytest.mark.parametrize("form", [lambda f: f, lambda f: f.py_func], ids=["compiled", "python"])


def bits(members, n):
    out = np.zeros(-(-n // 64), np.uint64)
    for cell in members:
        out[cell >> 6] |= np.uint64(1) << np.uint64(cell & 63)
    return out


def members(words, n):
    return {i for i in range(n) if int(words[i >> 6]) >> (i & 63) & 1}


def listing(groups, single):
    """A list of cells by group."""
    entries = [
        cell | (int(SINGLE) if single[cell] else 0) | (int(START) if i == 0 else 0)
        for group in groups
        for i, cell in enumerate(group)
    ]
    return np.array([*entries, int(START)], np.uint32)


def groups_of(listed, single):
    out: list[list[int]] = []
    assert listed[-1] == START
    for entry in listed[:-1].tolist():
        if entry >= int(START):
            out.append([])
        out[-1].append(entry & int(CELL))
        assert bool(entry & int(SINGLE)) == single[entry & int(CELL)]
    return out


def stacks(code):
    """The bytes of codes, and where their stacks begin."""
    n_digits = 1 + sum(int(code.max(initial=0)) >> 8 * d > 0 for d in (1, 2, 3))
    digits = np.stack([code >> 8 * d & 255 for d in range(n_digits)]).astype(np.uint8)
    room = np.stack([np.bincount(digit, minlength=256) + 1 for digit in digits])
    return digits, np.cumsum(room, axis=1) - room


@FORMS
def test_bit_sets(form):
    n, rng = 130, np.random.default_rng(1)
    sets = [set(rng.choice(n, 90, replace=False).tolist()) for _ in range(3)]
    out = np.empty(3, np.uint64)
    form(kernel.intersect)(np.stack([bits(one, n) for one in sets]), out)
    assert members(out, n) == sets[0] & sets[1] & sets[2]
    alone = np.array(sorted(sets[0] & sets[1])[:5], np.uint32)
    form(kernel.without)(bits(sets[0], n), bits(sets[1], n), alone, out)
    assert members(out, n) == (sets[0] & sets[1]) - set(alone.tolist())


def test_deal_keeps_the_order_of_the_list_within_each_stack():
    single = [True, False, True, True, False]
    listed, code = listing([[4, 1, 3], [0, 2]], single), np.array([1, 0, 1, 1, 1], np.uint8)
    digits, begins = stacks(code)
    dealt, ends = np.zeros(5 + 256, np.uint64), np.zeros(256, np.int64)
    for form in (kernel._deal, kernel._deal.py_func):
        form(listed, bits({0, 1, 2, 4}, 5), digits[0], begins[0], ends, dealt)
        held = [dealt[begins[0, c] : ends[c]] for c in (0, 1)]
        assert [[int(one) & int(CELL) for one in stack] for stack in held] == [[1], [4, 0, 2]]
        assert [[int(one) >> 32 for one in stack] for stack in held] == [[0], [0, 3, 3]]
        assert [[bool(int(one) & int(SINGLE)) for one in stack] for stack in held] == [
            [False], [False, True, True],
        ]  # fmt: skip
        assert (ends[2:] == begins[0, 2:]).all()


def test_collect_ends_what_is_alone_of_no_single_record_or_whole():
    single = [True, True, False, False, True, False, True]
    listed, n = listing([[0, 1, 2], [3, 5], [4, 6]], single), 7
    digits, begins = stacks(np.array([0, 1, 1, 0, 2, 0, 2], np.uint8))
    for form in (lambda f: f, lambda f: f.py_func):
        for whole, expected in ((START, [[1, 2]]), (NEVER, [[1, 2], [4, 6]])):
            allowed, ends = bits(range(n), n), np.zeros(256, np.int64)
            dealt, out, alone = (np.zeros(n + 256, np.uint64), np.zeros(n + 1, np.uint32), np.zeros(n, np.uint32))
            form(kernel._deal)(listed, allowed, digits[0], begins[0], ends, dealt)
            n_out, n_alone = form(kernel._collect)(
                listed, whole, begins[0], ends, dealt, allowed, out, alone, np.uint64(0)
            )
            out[n_out] = START
            assert alone[:n_alone].tolist() == [0]
            assert groups_of(out[: int(n_out) + 1], single) == expected
            assert members(allowed, n) == {cell for group in expected for cell in group}


@FORMS
@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("sizes", [[1, 2, 2, 2, 2, 3], [24, 25, 2], [200, 2, 5, 1], []])
def test_split(form, prune, sizes):
    rng = np.random.default_rng(len(sizes) + sum(sizes))
    n = sum(sizes)
    for span in (1, 2, 7, 256, 257, 70_000, 1 << 25):
        cells = rng.permutation(n).tolist()
        groups = [cells[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]
        code = np.minimum(rng.integers(0, span, n), rng.integers(0, span, n))
        code[: n // 3] = code[:1]
        single, allowed = rng.random(n) < 0.4, set(np.flatnonzero(rng.random(n) < 0.8).tolist())
        digits, begins = stacks(code)
        left, out, alone = bits(allowed, n), np.empty(n + 1, np.uint32), np.empty(n, np.uint32)
        n_out, n_alone = form(kernel.split)(
            listing(groups, single), prune, left, digits, begins, np.empty(256, np.int64),
            np.empty(n + 256, np.uint64), out, alone,
        )  # fmt: skip
        kept, found = [], set()
        for group in groups:
            for value in set(code[group].tolist()):
                run = {cell for cell in group if code[cell] == value and cell in allowed}
                if len(run) == 1 and single[list(run)].all():
                    found |= run
                elif len(run) > 1 and single[list(run)].any():
                    whole = prune and len(digits) == 1 and len(run) == len(group)
                    kept += [] if whole else [sorted(run)]
        assert set(alone[:n_alone].tolist()) == found
        assert n_alone == len(found)
        assert sorted(map(sorted, groups_of(out[:n_out], single))) == sorted(kept)
        assert members(left, n) == {cell for run in kept for cell in run}


@FORMS
def test_count_in_table(form):
    rng = np.random.default_rng(3)
    n = 150
    codes = rng.integers(0, 7, (3, n)).astype(np.uint8)
    single = rng.random(n) < 0.7
    present, allowed = (set(np.flatnonzero(rng.random(n) < 0.8).tolist()) for _ in range(2))
    alone, table = np.empty(n, np.uint32), np.zeros(49, np.uint8)
    chosen = np.array([0, 2])
    found = form(kernel.count_in_table)(
        codes, chosen, np.array([1, 7]), bits(present, n), bits(allowed, n), single, table, alone
    )
    patterns = [tuple(codes[chosen, i].tolist()) for i in range(n)]
    here = [patterns[i] for i in sorted(present) for _ in range(1 if single[i] else 2)]
    expected = [i for i in sorted(present & allowed) if single[i] and here.count(patterns[i]) == 1]
    assert alone[:found].tolist() == expected
    assert len(expected) > 3
    assert not table.any()


@FORMS
def test_book(form):
    codes = np.array([[0, 1, 1], [2, 0, 1]], np.uint8)
    by_size, by_level = np.zeros((3, 2), np.uint32), np.zeros((2, 5))
    form(kernel.book)(np.array([0, 2], np.uint32), 1, np.array([0, 1]), codes, np.array([0, 2, 5]), by_size, by_level)
    form(kernel.book)(np.array([2], np.uint32), 0, np.array([1]), codes, np.array([0, 2, 5]), by_size, by_level)
    assert by_size.tolist() == [[0, 1], [0, 0], [1, 1]]
    assert by_level.tolist() == [[0, 0, 0, 1, 0], [1, 1, 0, 1, 1]]


# Blocks of subsets: what is found does not depend on how many keys are fixed.


def cells(n_keys, n):
    rng = np.random.default_rng([n_keys, n])
    codes = np.stack([np.minimum(*rng.integers(0, 2 + 3 * j, (2, n))) for j in range(n_keys)])
    found, size = np.unique(codes, axis=1, return_counts=True)
    return found, size, rng.random(found.shape) < 0.05


@pytest.mark.parametrize("max_size", [1, 2, 3, 6])
def test_any_number_of_fixed_keys_gives_the_same(max_size, monkeypatch):
    codes, size, absent = cells(6, 700)
    given = {"max_size": max_size, "absent": absent}
    whole = find_minimal_uniques(codes, size, **given)
    assert sum(whole.subset_counts.values()) == whole.by_size.sum() > 0
    for fixed in range(1, 6):
        monkeypatch.setattr(subset_blocks, "n_fixed", lambda *_, fixed=fixed: fixed)
        found = find_minimal_uniques(codes, size, **given)
        assert (found.by_size == whole.by_size).all()
        assert list(found.subset_counts.items()) == list(whole.subset_counts.items())
        assert (found.level_counts == whole.level_counts).all()


def test_parts_are_told(monkeypatch):
    codes, size, _ = cells(4, 100)
    told = []
    monkeypatch.setattr(subset_blocks, "n_fixed", lambda *_: 1)
    find_minimal_uniques(codes, size, max_size=4, step=told.append)
    assert told == ["key subsets, part 1 of 2", "key subsets, part 2 of 2"]


def test_more_cells_and_more_keys_ask_for_smaller_blocks():
    assert [n_fixed(10, n, 10) for n in (1, 10**5, 800_000, 10**9)] == [0, 0, 3, 6]
    assert n_fixed(1, 10**9, 1) == 0
    for n_keys, n in ((8, 10**6), (12, 10**6), (20, 10**5)):
        fixed = n_fixed(n_keys, n, n_keys)
        lists = bytes_of_blocks(n_keys, n, n_keys) - 4 * n * (1 << fixed) - (n // 8 + 8) * (2**n_keys - 1)
        assert lists <= subset_blocks.ROOM or fixed == subset_blocks.MOST_FIXED
