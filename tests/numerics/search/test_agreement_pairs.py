"""Rows of numbers and categories, compared where they agree in most categories."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.encode import Metric
from sdckit.numerics.search.agreement import Base
from sdckit.numerics.search.agreement_pairs import EXHAUSTED, Asked, NumberedRows, find_meeting, lead_column
from sdckit.numerics.search.column_sets import column_sets, pack


def search(base, query, caps, weights, k, *, skip=None):
    """Of (numbers, codes) each; the base by its first number."""
    metric = Metric(1, np.array(caps, float), np.array(weights, float))
    packed = pack(np.array(base[1], np.int32), np.array(query[1], np.int32), metric.weights)
    numbers, asked = np.array(base[0], float), np.array(query[0], float)
    ones, rows = np.ones(len(numbers), np.int64), np.arange(len(numbers))
    held = NumberedRows(Base(packed.base, ones, rows), numbers, numbers[:, 0].copy())
    none = np.full(len(asked), -1) if skip is None else np.array(skip)
    queries = Asked(packed.query, asked, asked[:, 0].copy(), none, caps[0], metric.tolerance)
    return find_meeting(held, queries, packed.fields, column_sets(metric, packed.fields), metric, k)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("steps", [3, 1000])
def test_counts_are_those_of_all_pairs(k, steps):
    rng = np.random.default_rng(k)
    caps, weights = [0.5, 1.0], np.array([1.0, 0.25, 0.25])
    files = [
        (np.sort(rng.integers(0, steps, (n, 2)) / steps, axis=0), rng.integers(0, 3, (n, 3)))
        for n in (90, 40)
    ]
    found = search(*files, caps, weights, k)
    (x, c), (y, d) = files
    away = np.minimum(np.abs(y[:, None] - x), caps).sum(axis=2) + (d[:, None] != c) @ weights
    last = np.sort(away)[:, k - 1 : k]
    assert found.smallest == pytest.approx(np.sort(away)[:, :k], abs=1e-12)
    assert found.closer.tolist() == (away < last - 1e-11).sum(axis=1).tolist()
    assert found.tied.tolist() == (np.abs(away - last) < 1e-11).sum(axis=1).tolist()
    near = away < away.min(axis=1)[:, None] + 1e-11
    assert found.nearest.tolist() == near.argmax(axis=1).tolist()


def test_a_row_does_not_find_itself():
    rows = ([[0.0], [0.25], [1.0]], [[1], [1], [1]])
    found = search(rows, rows, [1.0], [1.0], 1, skip=[0, 1, 2])
    assert found.smallest.ravel().tolist() == [0.25, 0.25, 0.75]
    assert found.nearest.tolist() == [1, 0, 1]


def test_distances_neither_equal_nor_apart_are_left_to_the_tree():
    rows = ([[0.5], [0.5 + 1e-12], [0.5 + 3e-12]], [[1]] * 3)
    assert search(rows, ([[0.0]], [[1]]), [1.0], [1.0], 1).tied.tolist() == [-1]
    assert search(([[0.5], [0.6]], [[1]] * 2), ([[0.0]], [[1]]), [1.0], [1.0], 1).tied.tolist() == [1]


def test_a_query_that_meets_too_many_rows_is_left_to_the_tree():
    n = EXHAUSTED + 10
    alike = np.column_stack([np.zeros(n), np.linspace(0.5, 1, n)])
    rows = (np.vstack([alike, [[1.0, 0.0]]]), [[1]] * n + [[2]])
    found = search(rows, ([[0.0, 0.0], [1.0, 0.0]], [[1], [2]]), [1.0, 1.0], [9.0], 1)
    assert found.tied.tolist() == [-1, 1]


def test_the_leading_number_is_the_one_that_differs_most():
    numbers = np.array([[0.0, 0.0], [0.3, 0.9], [0.6, 0.1], [0.9, 0.2]])
    assert lead_column(numbers, np.ones(2)) == 1 - int(np.abs(numbers[:2] - numbers[2:]).sum(axis=0).argmin())
    assert lead_column(numbers, np.array([1.0, 0.01])) == 0
    assert lead_column(numbers[:1], np.ones(2)) == 0
