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
from sdckit.identity.special_uniques import minimal_uniques
from sdckit.identity.special_uniques.minimal_uniques import find_minimal_uniques, largest_size, memory_needed

TABLES = (
    None,
    0,
    4,
    12,
    1 << 20,
)  # all lists of a size in one call; subset by subset: never a table to always


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
    found = find_minimal_uniques(
        np.array([[0, 1, 2], [0, 0, 0]]), np.array([1, 1, 1]), max_size=2, step=told.append
    )
    assert told == ["key subsets of size 1", "key subsets of size 2"]
    assert found.subset_counts == {(0,): 3}


def test_memory():
    for n_keys, n_cells in ((8, 1000), (20, 10**5), (63, 10**6)):
        needs = [memory_needed(n_keys, n_cells, k) for k in range(1, n_keys + 1)]
        assert needs == sorted(needs)
        assert [largest_size(n_keys, n_cells, need) >= k for k, need in enumerate(needs, 1)] == [
            True
        ] * n_keys
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
