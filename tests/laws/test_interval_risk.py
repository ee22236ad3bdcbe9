"""B3: wider intervals hold more, unit and origin do not matter, identical files are inside."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit import interval_risk, robust_interval_risk

SCALES = st.sampled_from(["sd", "rank"])


@st.composite
def pairs(draw):
    n = draw(st.integers(3, 20))
    seed = draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(n, 2)), 2) + np.arange(n)[:, None]  # never constant
    y = x + np.round(rng.normal(size=x.shape) * draw(st.sampled_from([0.01, 0.3, 3.0])), 3)
    return x, y


def frame(values):
    return pl.DataFrame(values, schema=["a", "b"])


def rate(x, y, **options):
    return interval_risk(frame(x), frame(y), numeric=["a", "b"], **options).rate


@given(pairs(), SCALES, st.floats(0, 1), st.floats(0, 1))
def test_a_wider_interval_holds_no_less(drawn, scale, one, other):
    low, high = sorted((one, other))
    assert rate(*drawn, scale=scale, width=low) <= rate(*drawn, scale=scale, width=high)


@given(pairs(), SCALES)
def test_all_variables_are_harder_than_one(drawn, scale):
    result = interval_risk(frame(drawn[0]), frame(drawn[1]), numeric=["a", "b"], scale=scale, width=0.1)
    assert result.rate <= min(result.variable_rates.values())
    assert result.rate >= sum(result.variable_rates.values()) - 1 - 1e-12


@given(pairs(), SCALES)
def test_the_unit_does_not_matter(drawn, scale):
    x, y = drawn
    assert rate(4 * x, 4 * y, scale=scale) == rate(x, y, scale=scale)


@given(pairs())
def test_ranks_by_counting(drawn):
    x, y = drawn
    width, n = 0.25, len(x)
    reach = int(width * n + 1e-9)
    found = interval_risk(frame(x), frame(y), numeric=["a", "b"], scale="rank", width=width).records
    for j, name in enumerate("ab"):
        ordered = sorted(y[:, j])
        for i, value in enumerate(y[:, j]):
            first, last = ordered.index(value), n - 1 - ordered[::-1].index(value)
            low, high = ordered[max(first - reach, 0)], ordered[min(last + reach, n - 1)]
            assert found[f"inside_{name}"][i] == (low <= x[i, j] <= high)


@given(pairs(), SCALES)
def test_identical_files(drawn, scale):
    assert rate(drawn[0], drawn[0], scale=scale, width=0) == 1.0


@given(pairs(), st.floats(0, 50), st.floats(0, 50))
def test_the_robust_measure_grows_with_its_factor(drawn, one, other):
    given_ = {"numeric": ["a", "b"], "center": [0, 0], "covariance": np.eye(2)}
    low, high = (
        robust_interval_risk(frame(drawn[0]), frame(drawn[1]), factor=factor, **given_)
        for factor in sorted((one, other))
    )
    assert low.rate <= high.rate
    assert low.weighted_risk <= high.weighted_risk + 1e-12
    assert low.isolated_rate <= low.rate
    same = robust_interval_risk(frame(drawn[0]), frame(drawn[0]), factor=0, isolation=0, **given_)
    assert same.rate == 1.0
    assert same.isolated_rate == pytest.approx(len(np.unique(drawn[0], axis=0)) / len(drawn[0]))
