"""Limits group by group against numpy and by hand; robust distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics import outlying
from sdckit.numerics.outlying import mad_limits, percentile_limits, robust_distances, robust_estimate

VALUES = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.integers(-5, 5).map(float), st.just(float("nan")))), min_size=1
)


@given(VALUES, st.floats(0.01, 0.99))
def test_percentiles_agree_with_numpy(rows, share):
    group = np.array([g for g, _ in rows], np.int32)
    values = np.array([v for _, v in rows])
    low, high = percentile_limits(values, group, 3, lower=None, upper=share)
    assert np.isnan(low).all()
    for g in range(3):
        known = values[(group == g) & ~np.isnan(values)]
        if len(np.unique(known)) < 2:
            assert np.isnan(high[g])
        else:
            assert high[g] == pytest.approx(np.quantile(known, share), rel=1e-12, abs=1e-12)


@given(VALUES)
def test_mad_agrees_with_its_definition(rows):
    group = np.array([g for g, _ in rows], np.int32)
    values = np.array([v for _, v in rows])
    low, high = mad_limits(values, group, 3)
    for g in range(3):
        known = values[(group == g) & ~np.isnan(values)]
        deviation = np.median(np.abs(known - np.median(known))) if len(known) else 0.0
        if deviation == 0:
            assert np.isnan([low[g], high[g]]).all()
        else:
            reach = 3 * 1.4826 * deviation
            assert (low[g], high[g]) == pytest.approx((np.median(known) - reach, np.median(known) + reach))


def test_distances_do_not_depend_on_order_scale_or_the_outlier():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    rows[7] = (8.0, -8.0)
    found = robust_distances(rows, 5)
    assert found is not None
    assert found.argmax() == 7
    assert found[7] > 10
    order = rng.permutation(300)
    assert robust_distances(rows[order], 5) == pytest.approx(found[order], rel=1e-9)
    assert robust_distances(rows * [1e6, 1e-3], 5) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((4, 2)),
        np.column_stack([np.arange(20.0), np.ones(20)]),
        np.column_stack([np.arange(20.0), 2 * np.arange(20.0)]),
        np.column_stack([np.arange(20.0), np.r_[np.zeros(19), 1.0]]),
    ],
)
def test_a_singular_covariance_has_no_distances(rows):
    assert robust_distances(rows, 1) is None


def test_many_rows_are_estimated_from_some_and_all_measured(monkeypatch):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(2000, 2))
    rows[11] = (9.0, 9.0)
    whole = robust_distances(rows, 2)
    monkeypatch.setattr(outlying, "FIT_ROWS", 500)
    found = robust_distances(rows, 2)
    assert found.argmax() == 11
    assert len(found) == 2000
    assert np.corrcoef(found, whole)[0, 1] > 0.99
    order = rng.permutation(2000)
    assert robust_distances(rows[order], 2) == pytest.approx(found[order], rel=1e-9)


def test_the_estimate_finds_the_bulk():
    rng = np.random.default_rng(5)
    root = np.array([[2.0, 1.0], [0.0, 1.0]])
    rows = rng.normal([10.0, -3.0], 1.0, size=(4000, 2)) @ root
    rows[:600] = rng.normal(60.0, 1.0, size=(600, 2))
    found = robust_estimate(rows, 1)
    assert found is not None
    assert found[0] == pytest.approx([20.0, 7.0], abs=0.15)
    expected = root.T @ root
    assert found[1] / found[1][1, 1] == pytest.approx(expected / expected[1, 1], rel=0.1)
    order = rng.permutation(4000)
    again = robust_estimate(rows[order] * [1e3, 1.0], 1)
    assert again is not None
    assert again[0] == pytest.approx(found[0] * [1e3, 1.0], rel=1e-9)


def test_rows_that_are_all_kept_have_their_own_covariance():
    even = np.stack(np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 20)), axis=-1).reshape(-1, 2)
    found = robust_estimate(even, 1)
    assert found is not None
    assert found[1] == pytest.approx(np.cov(even.T), rel=1e-9, abs=1e-12)
    assert robust_estimate(even[:4], 1) is None
