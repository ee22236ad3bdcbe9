"""F5: nothing lost where nothing changed, units and order of records, more change is more loss."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit import information_loss

NAMES = ["a", "b"]
FREE_OF_UNITS = ("il1", "il1_mean", "il1s", "il1s_mean", "eigenvalues", "il_correl", "correlation_difference")


@st.composite
def pairs(draw):
    n = draw(st.integers(4, 25))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    x = np.round(rng.normal(size=(n, 2)), 3) + np.arange(n)[:, None] * [1.0, -0.5] + 3
    return x, x + np.round(rng.normal(size=x.shape) * draw(st.sampled_from([0.01, 0.3, 3.0])), 4)


def lost(x, y, **options):
    frames = (pl.DataFrame(values, schema=NAMES) for values in (x, y))
    return information_loss(*frames, numeric=NAMES, **{"robust": False, **options})


@given(pairs())
def test_nothing_changed(drawn):
    result = lost(drawn[0], drawn[0])
    assert all(value == 0 for name, value in result._flat() if name not in {"n", "robust_eigenvalues"})


@given(pairs(), st.sampled_from([0.5, 4.0]))
def test_units_matter_to_the_angle_only(drawn, unit):
    one, other = lost(*drawn), lost(*(values * unit for values in drawn))
    for figure in FREE_OF_UNITS:
        assert getattr(other, figure) == pytest.approx(getattr(one, figure), rel=1e-6, abs=1e-9, nan_ok=True)
    assert other.mean_differences["a"] == pytest.approx(unit * one.mean_differences["a"], abs=1e-9)
    assert (other.il_variables > one.il_variables) == (unit > 1)


@given(pairs(), st.randoms())
def test_the_order_of_records_does_not_matter(drawn, random):
    order = random.sample(range(len(drawn[0])), len(drawn[0]))
    one, other = lost(*drawn), lost(*(values[order] for values in drawn))
    for (name, value), (_, moved) in zip(one._flat(), other._flat(), strict=True):
        assert moved == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), name


@given(pairs())
def test_twice_the_change_is_twice_the_loss(drawn):
    x, y = drawn
    one, other = lost(x, y), lost(x, 2 * y - x)
    for figure in ("il1", "il1s", "il1s_mean"):
        assert getattr(other, figure) == pytest.approx(2 * getattr(one, figure))
    assert other.il_variables > one.il_variables


@given(pairs())
def test_ranges(drawn):
    result = lost(*drawn)
    assert 0 <= result.il_variables <= 1
    assert np.isnan(result.il_correl) or 0 <= result.il_correl <= 1
    assert 0 <= result.correlation_difference <= 2
    assert ((result.records["distance"] >= 0) & (result.records["distance"] <= 1)).all()


def test_the_robust_figure_takes_the_bulk():
    rng = np.random.default_rng(1)
    x, bent = (rng.multivariate_normal([0, 0], [[1, r], [r, 1]], 120) for r in (0.8, -0.2))
    given = {"robust": True, "seed": 1}
    found = lost(x, bent, **given).robust_eigenvalues
    assert found > 1 > lost(x, x, **given).robust_eigenvalues == 0
    assert lost(x[::-1], bent[::-1], **given).robust_eigenvalues == pytest.approx(found)
    assert lost(x * [8, 0.25], bent * [8, 0.25], **given).robust_eigenvalues == pytest.approx(found)
