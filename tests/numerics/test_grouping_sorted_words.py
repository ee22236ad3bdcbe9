"""Sorted words: counts and groups are those of NumPy, by sorting and by the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics import grouping
from sdckit.numerics.grouping import distinct_words, merged_groups

FILE = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=30)


@given(FILE)
def test_distinct_words_are_counted(rows: list[tuple[int, int]]) -> None:
    words, times = np.array([w for w, _ in rows], np.uint64), np.array([n for _, n in rows], np.int64)
    expected, place = np.unique(words, return_inverse=True)
    for given_times in (None, times):
        found, counts = distinct_words(words, given_times)
        assert found.tolist() == expected.tolist()
        assert counts.tolist() == np.bincount(place, given_times, len(expected)).astype(int).tolist()


@given(st.lists(FILE, min_size=1, max_size=3), st.integers(0, 3), st.booleans())
def test_groups_are_merged(files: list[list[tuple[int, int]]], shift: int, by_kernel: bool) -> None:
    ordered = [sorted(rows) for rows in files]
    words = [np.array([w for w, _ in rows], np.uint64) for rows in ordered]
    times = [np.array([n for _, n in rows], np.int64) for rows in ordered]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "is_few", lambda *_: not by_kernel)
        of_row, size = merged_groups(words, times, shift)
    every = np.unique(np.concatenate(words) >> np.uint64(shift))
    for own, rows, records, counts in zip(words, of_row, times, size, strict=True):
        assert (every[rows] == own >> np.uint64(shift)).all()
        assert counts.tolist() == np.bincount(rows, records, len(every)).astype(int).tolist()
