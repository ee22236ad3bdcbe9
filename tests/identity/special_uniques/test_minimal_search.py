"""Every kernel of the search against plain loops, compiled and as Python."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.identity.special_uniques import minimal_search as kernel
from sdckit.identity.special_uniques.minimal_search import CELL, NEVER, SINGLE, START

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
            dealt, out, alone = (
                np.zeros(n + 256, np.uint64),
                np.zeros(n + 1, np.uint32),
                np.zeros(n, np.uint32),
            )
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
    form(kernel.book)(
        np.array([0, 2], np.uint32), 1, np.array([0, 1]), codes, np.array([0, 2, 5]), by_size, by_level
    )
    form(kernel.book)(
        np.array([2], np.uint32), 0, np.array([1]), codes, np.array([0, 2, 5]), by_size, by_level
    )
    assert by_size.tolist() == [[0, 1], [0, 0], [1, 1]]
    assert by_level.tolist() == [[0, 0, 0, 1, 0], [1, 1, 0, 1, 1]]
