"""Values of cells to rows, and the faults of weights."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics import gather as module
from sdckit.numerics.gather import gather, weight_faults

N = 70_000  # more than one slice


@pytest.fixture
def rows():
    return np.random.default_rng(3).integers(0, 11, N).astype(np.int32)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_values_reach_their_rows(rows, n_columns):
    columns = [np.arange(11) * 1.5, np.arange(11) - 4, np.arange(11) * np.nan][:n_columns]
    for values, found in zip(columns, gather(columns, rows), strict=True):
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values[rows])


def test_no_rows():
    assert [len(found) for found in gather([np.ones(2), np.ones(2)], np.empty(0, np.int32))] == [0, 0]


def test_faults_are_counted_by_kind():
    weight = np.full(N, 2.0)
    assert weight_faults(weight) == (0, 0, 0)
    weight[[0, 1, N - 1]] = np.nan
    weight[[5, N // 2]] = 0.0
    weight[6] = -np.inf
    weight[7] = np.inf
    assert weight_faults(weight) == (3, 3, 1)


def test_compiled_kernels_do_what_their_source_says(rows):
    few, values = rows[:50], np.arange(11.0)
    table = np.stack([values, values * 2], axis=1)
    outs = [np.empty((2, 50)) for _ in range(2)]
    module._gather(table, few, 0, 50, outs[0])
    module._gather.py_func(table, few, 0, 50, outs[1])
    np.testing.assert_array_equal(*outs)
    single = np.empty(50)
    module._gather_one.py_func(values, few, 0, 50, single)
    np.testing.assert_array_equal(single, values[few])
    weight = np.array([1, np.nan, 0, np.inf])
    counts = [np.zeros(3, np.int64) for _ in range(2)]
    module._weight_faults(weight, 0, 4, counts[0])
    module._weight_faults.py_func(weight, 0, 4, counts[1])
    assert counts[0].tolist() == counts[1].tolist() == [1, 1, 1]
