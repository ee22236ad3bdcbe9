"""The kernels by hand: one level left, none, several, and the one that nobody has."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.protect.suppression.suppression_left import MANY, NONE, left_among_pairs, left_in_tables

K = 3 - 1e-9


def in_tables(levels, weights, tight, base, everything=False, seen=3):
    """One query and one table."""
    return left_in_tables(
        np.zeros((1, 1), np.int64), np.array([[0, 0], [2, len(levels)]]), np.array([0, len(levels)]),
        np.array(levels, np.int64), np.array(weights, float), np.array(tight, bool), np.array([float(base)]),
        np.array([everything]), seen, K,
    )[0]  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "weights", "tight", "base", "everything", "expected"),
    [
        ([0, 1, 2], [5, 1, 5], [0, 0, 0], 1, False, 1),  # the only one below k
        ([0, 1, 2], [5, 5, 5], [0, 0, 0], 1, False, NONE),
        ([0, 1, 2], [1, 1, 5], [0, 0, 0], 1, False, MANY),
        ([0, 2], [5, 5], [0, 0], 1, False, 1),  # nobody has it
        ([0], [5], [0], 1, False, MANY),  # two that nobody has
        ([0, 2], [5, 5], [0, 0], 3, False, NONE),  # enough whatever it is
        ([0, 1, 2], [5, 5, 5], [1, 0, 0], 3, False, MANY),  # any but the first would hurt it
        ([0, 1, 2], [5, 5, 5], [1, 1, 0], 3, False, MANY),
        ([0, 1, 2], [5, 5, 5], [0, 0, 0], 3, True, MANY),
    ],
)
def test_one_query(levels, weights, tight, base, everything, expected):
    assert in_tables(levels, weights, tight, base, everything) == expected


def test_a_record_that_cannot_lose_a_match_leaves_the_other_of_two():
    assert in_tables([0, 1], [5, 5], [1, 0], 3, seen=2) == 1
    assert in_tables([0], [5], [0], 1, True, seen=1) == 0


def test_pairs():
    """Two keys of two bits each and a stratum: the first key of the last cell is missing."""
    words = np.array([0b0_01_00, 0b0_01_01, 0b0_01_10, 0b0_00_00, 0b0_01_00], np.uint64)
    there = np.array([0b1_11_11] * 4 + [0b1_11_00], np.uint64)
    marks = np.array([0b11, 0b1111, 0b1111], np.uint64)
    level = np.array([0, 1, 2, 0, -1])
    for size, expected in (([4, 1, 4, 9, 1], 1), ([4, 4, 4, 9, 1], NONE), ([1, 1, 4, 9, 1], MANY)):
        found = left_among_pairs(
            np.array([4]), words, there, np.array(size, float), np.zeros(5, bool), level, np.zeros(1, bool), marks,
            np.array([1.0, K]), 3,
        )  # fmt: skip
        assert found.tolist() == [expected]
