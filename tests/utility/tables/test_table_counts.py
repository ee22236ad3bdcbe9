"""Tables of several files: written out in full or grouped, the same cells and counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sdckit.utility.tables import table_counts
from sdckit.utility.tables.table_counts import count_levels, cross, cross_from, prefix_words


def drawn(levels, sizes=(60, 35, 0), seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.integers(0, width, n).astype(np.int32) for n in sizes] for width in levels]


def counted(columns, file):
    return Counter(zip(*(column[file].tolist() for column in columns), strict=True))


@pytest.mark.parametrize("levels", [(3,), (4, 5), (2, 3, 6)])
@pytest.mark.parametrize("dense", [True, False])
def test_counts(levels, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(table_counts, "_is_dense", lambda shape, n: False)
    columns = drawn(levels)
    found = cross(columns, levels)
    cells = list(zip(*(codes.tolist() for codes in found.codes), strict=True))
    assert cells == sorted(set(cells))
    for file, counts in enumerate(found.counts):
        assert {cell: count for cell, count in zip(cells, counts.tolist(), strict=True) if count} == counted(
            columns, file
        )
    complete = found.complete()
    kept = [cell for cell in cells if all(cell)]
    assert list(zip(*(codes.tolist() for codes in complete.codes), strict=True)) == kept
    assert complete.counts.sum() == sum(
        n for cell, n in zip(cells, found.counts.sum(0), strict=True) if all(cell)
    )


def test_too_many_cells_are_grouped():
    wide = [70_000, 70_000]
    columns = [[np.array([5, 69_999], np.int32), np.array([5], np.int32)] for _ in wide]
    assert prefix_words(columns, wide) is None
    found = cross(columns, wide)
    assert found.place is None
    assert found.counts.tolist() == [[1, 1], [1, 0]]
    assert [codes.tolist() for codes in found.codes] == [[5, 69_999]] * 2


def test_shared_work_changes_nothing():
    columns = drawn((3, 4, 5))
    words = prefix_words(columns[:2], (3, 4))
    assert np.array_equal(cross_from(words, columns, (3, 4, 5)).counts, cross(columns, (3, 4, 5)).counts)


def test_levels_in_plain_python():
    codes = np.array([0, 2, 2], np.int32)
    out = np.zeros(3, np.int64)
    table_counts._count_one.py_func(codes, out)
    assert out.tolist() == count_levels(codes, 3).tolist() == [1, 0, 2]
    assert table_counts.count_pairs(codes, np.array([1, 0, 1], np.int32), (3, 2)).sum() == 3
    full = np.zeros(6, np.int64)
    table_counts._count_two.py_func(codes, np.array([1, 0, 1], np.int32), 2, full)
    assert full.tolist() == [0, 1, 0, 0, 1, 1]
