"""Values of cells to rows, and the faults of weights."""

from __future__ import annotations

import numpy as np
import pytest

import ways
from sdckit.numerics import grouping as module
from sdckit.numerics.grouping import dense_codes, gather, sum_by, weight_faults

N = 70_000  # more than one slice


@pytest.fixture
def rows():
    return np.random.default_rng(3).integers(0, 11, N).astype(np.int32)


@pytest.mark.parametrize("n", [N, 100])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_values_reach_their_rows(rows, n_columns, n):
    rows = rows[:n]
    columns = [np.arange(11) * 1.5, np.arange(11) - 4, np.arange(11) * np.nan][:n_columns]
    for values, found in zip(columns, gather(columns, rows), strict=True):
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values[rows])


def test_no_rows():
    assert [len(found) for found in gather([np.ones(2), np.ones(2)], np.empty(0, np.int32))] == [0, 0]


def test_sums_within_groups(rows):
    values = np.random.default_rng(1).random(N)
    expected = [values[rows == g].sum() for g in range(11)] + [0.0]
    np.testing.assert_allclose(sum_by(rows, values, 12), expected, rtol=1e-12)
    assert sum_by(rows, np.ones(N, np.int64), 12).dtype == np.float64


@pytest.fixture(params=["few", "many"])
def way(monkeypatch, request):
    few = request.param == "few"
    ways.take(monkeypatch, few=few)
    monkeypatch.setattr(module, "FEW", 10**9 if few else -1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_values_in_use_are_numbered_in_order(dtype):
    values = np.array([90, 7, 90, 12, 7], dtype)
    of_row, n = dense_codes(values, 7, 84)
    assert (of_row.tolist(), n) == ([2, 0, 2, 1, 0], 3)
    assert of_row.dtype == np.int32


@pytest.mark.parametrize("n", [90, N])
def test_faults_are_counted_by_kind(n):
    weight = np.full(n, 2.0)
    assert weight_faults(weight) == (0, 0, 0)
    weight[[0, 1, n - 1]] = np.nan
    weight[[5, n // 2]] = 0.0
    weight[6] = -np.inf
    weight[7] = np.inf
    assert weight_faults(weight) == (3, 3, 1)


@pytest.mark.parametrize("n", [90, N])
def test_cells_whose_population_is_too_small_are_counted(n):
    f = np.full(n, 4)
    big_f = np.full(n, 4.0)
    big_f[[1, n // 2, n - 1]] = 3.9
    big_f[7] = 4.0 * (1 - 1e-12)  # rounding
    assert module.count_short(f, big_f) == 3


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
    used = [np.zeros(11, np.uint8) for _ in range(2)]
    module._mark(few, 0, used[0])
    module._mark.py_func(few, 0, used[1])
    np.testing.assert_array_equal(*used)
