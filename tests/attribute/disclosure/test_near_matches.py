"""The released records that differ in the fewest keys."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attribute.disclosure.near_matches import Side, count_matches, nearest_matches


def side(keys, target, numbers=(), reach=0.0):
    values = np.array(numbers, float).reshape(len(numbers), len(target))
    columns = tuple(np.array(column, np.int32) for column in keys)
    return Side(columns, np.array(target, np.int32), values - reach, values + reach)


LEFT = side([[0, 0, 1], [0, 5, 5]], [1, 1, 2])
RIGHT = side([[0, 0, 1, 1], [0, 0, 5, 0]], [1, 2, 2, 1])


def test_matches_on_some_keys():
    hits, size = count_matches(LEFT, RIGHT, [0, 1])
    assert (hits.tolist(), size.tolist()) == ([1, 0, 1], [2, 0, 1])
    hits, size = count_matches(LEFT, RIGHT, [1])
    assert (hits.tolist(), size.tolist()) == ([2, 0, 1], [3, 1, 1])
    hits, size = count_matches(LEFT, RIGHT, [])
    assert (hits.tolist(), size.tolist()) == ([2, 2, 2], [4, 4, 4])


def test_only_records_without_a_match_look_further():
    hits, size = nearest_matches(LEFT, RIGHT, 1)
    assert (hits.tolist(), size.tolist()) == ([1, 1, 1], [2, 3, 1])
    assert nearest_matches(LEFT, RIGHT, 0)[1].tolist() == [2, 0, 1]


def test_some_of_the_records():
    part = LEFT.take(np.array([2, 0]))
    assert (part.n, part.keys[1].tolist(), part.target.tolist()) == (2, [5, 0], [2, 1])


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_numbers_are_counted_in_their_group(dimensions):
    rng = np.random.default_rng(5)
    keys, target = rng.integers(0, 3, (2, 300)), rng.integers(0, 2, 300)
    numbers = rng.integers(0, 6, (dimensions, 300))
    left = side([keys[0, :100], keys[1, :100]], target[:100], numbers[:, :100], 1.0)
    right = side([keys[0, 100:], keys[1, 100:]], target[100:], numbers[:, 100:])
    hits, size = count_matches(left, right, [0, 1])
    for i in range(100):
        same = (keys[:, 100:] == keys[:, [i]]).all(axis=0)
        near = (np.abs(numbers[:, 100:] - numbers[:, [i]]) <= 1).all(axis=0)
        assert size[i] == same.sum()
        assert hits[i] == (same & near & (target[100:] == target[i])).sum()
