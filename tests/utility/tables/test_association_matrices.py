"""Correlations and other strengths against scipy and pandas, and where they are undefined."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import association

from sdckit.utility.tables.association_matrices import (
    correlation_ratios,
    cramers_v,
    pearson,
    pearson_matrix,
    spearman_matrix,
)


def drawn(share, n=60):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) * [1, 1e6, 1e-6, 1] + [0, 1e9, 0, 5]
    x[:, 3] = np.round(x[:, 3])  # ties
    x[rng.random(x.shape) < share] = np.nan
    return x


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize(("matrix", "method"), [(pearson_matrix, "pearson"), (spearman_matrix, "spearman")])
def test_against_pandas(share, matrix, method):
    x = drawn(share)
    found = matrix(list(x.T))
    np.testing.assert_allclose(found, pd.DataFrame(x).corr(method=method), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_ranks_of_few_values(share):
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.integers(0, 4, 200), rng.integers(-2, 3, 200), rng.integers(0, 2, 200) * 1e7])
    x = x + np.roll(x, 1, axis=1) / [1, 1e7, 1]  # whole numbers, fractions, and far apart
    x = np.where(rng.random(x.shape) < share, np.nan, np.round(x, 2))
    expected = pd.DataFrame(x).corr(method="spearman")
    np.testing.assert_allclose(spearman_matrix(list(x.T)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("matrix", [pearson_matrix, spearman_matrix])
def test_undefined(matrix):
    x, y = np.array([1.0, 2.0, 3.0, np.nan]), np.array([np.nan, 4.0, 4.0, 6.0])
    found = matrix([x, y, np.full(4, 2.0)])
    assert np.isnan(found[0, 1])  # constant where both are known
    assert np.isnan(found[2]).all()
    assert found[0, 0] == found[1, 1] == 1.0
    assert np.isnan(matrix([np.array([1.0, 2.0]), np.array([3.0, 3.0])])[0, 1])


def test_correlation_of_two():
    assert pearson(np.array([1.0, 2.0]), np.array([5.0, 1.0])) == pytest.approx(-1)
    assert math.isnan(pearson(np.array([1.0, 1.0]), np.array([5.0, 1.0])))
    assert math.isnan(pearson(np.array([1.0]), np.array([5.0])))


def test_cramers_v_against_scipy():
    table = np.array([[5, 0, 3], [2, 7, 1]])
    cells = np.nonzero(table)
    assert cramers_v(cells, table[cells]) == pytest.approx(association(table, method="cramer"))
    padded = [np.array([3, 3, 5, 5]), np.array([0, 2, 0, 2])]
    assert cramers_v(padded, np.array([4, 0, 0, 2])) == 1.0
    assert math.isnan(cramers_v(padded, np.array([4, 1, 0, 0])))


def test_correlation_ratios():
    codes, values = np.array([1, 1, 4, 4, 4]), np.array([1.0, 3.0, 2.0, 6.0, np.nan])
    # means 2 and 4 around 3: 4 between of 14 in all
    found = correlation_ratios([codes, np.array([1, 1, 1, 1, 0])], values)
    assert found[0] == pytest.approx(math.sqrt(4 / 14))
    assert math.isnan(found[1])
    assert math.isnan(correlation_ratios([np.array([1, 2])], np.array([2.0, 2.0]))[0])
    assert math.isnan(correlation_ratios([np.array([1, 2])], np.array([2.0, np.nan]))[0])
