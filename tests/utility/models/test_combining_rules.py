"""The rules on arrays: figures by hand, and quantiles with few and with no degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from sdckit.utility.models.combining_rules import limits, pool

Q = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
V = np.array([[2.0, 1.0], [2.0, 2.0], [2.0, 3.0]])


def test_partial_by_hand():
    found = pool(Q, V, kind="partial", level=0.9)
    assert found.estimate.tolist() == [2.0, 10.0]
    assert found.between.tolist() == [1.0, 0.0]
    assert found.variance.tolist() == pytest.approx([1 / 3 + 2, 2.0])
    assert found.df.tolist() == [pytest.approx(2 * (1 + 2 / (1 / 3)) ** 2), np.inf]
    assert found.low[1] == pytest.approx(10 - norm.ppf(0.95) * np.sqrt(2))
    assert not found.adjusted.any()


def test_full_by_hand_and_where_the_variance_is_replaced():
    wide = np.array([[1.0, 10.0], [4.0, 10.0], [7.0, 10.0]])
    found = pool(wide, V, kind="full", level=0.95, ratio=0.5)
    spread = 4 / 3 * 9
    assert found.variance.tolist() == pytest.approx([spread - 2, 0.5 * 2])
    assert found.df.tolist() == pytest.approx([2 * (1 - 2 / spread) ** 2, 2.0])
    assert found.adjusted.tolist() == [False, True]
    assert found.high[0] == pytest.approx(4 + t.ppf(0.975, found.df[0]) * np.sqrt(spread - 2))


@pytest.mark.parametrize(("kind", "expected"), [("simple", 5 / 3), ("proper", 2.0)])
def test_the_figures_of_the_definition(kind, expected):
    found = pool(Q[:, :1], V[:, :1], kind=kind, level=0.95, ratio=0.5)
    assert found.variance[0] == pytest.approx(expected)
    assert found.df[0] == np.inf


def test_one_file():
    found = pool(Q[:1], V[:1], kind="simple", level=0.95)
    assert found.variance.tolist() == [4.0, 2.0]
    assert np.isnan(found.between).all()


def test_what_a_file_does_not_determine_stays_undefined():
    gap = np.array([[1.0, np.nan], [2.0, 1.0]])
    for kind in ("partial", "full", "simple", "proper"):
        found = pool(gap, np.ones((2, 2)), kind=kind, level=0.95)
        for values in (found.estimate, found.low, found.high):
            assert np.isnan(values).tolist() == [False, True]


def test_limits():
    ones = np.ones(4)
    low, high = limits(ones, np.array([1.0, 1.0, 0.0, 1.0]), np.array([5.0, np.inf, 0.0, np.nan]), 0.95)
    reach = high - ones
    assert reach[:3].tolist() == pytest.approx([t.ppf(0.975, 5), norm.ppf(0.975), 0.0])
    assert np.isnan(reach[3])
    assert (ones - low)[:3].tolist() == pytest.approx(reach[:3].tolist())
    assert limits(ones[:1], ones[:1], np.array([1e-4]), 0.95)[1][0] == np.inf


def test_imputed_by_hand():
    """Rubin's rule: the mean variance, and (1 + 1/m) times that between the files."""
    found = pool(np.array([[1.0], [2.0], [3.0]]), np.full((3, 1), 2.0), kind="imputed", level=0.95)
    assert found.variance[0] == pytest.approx(2 + 4 / 3)
    assert found.df[0] == pytest.approx(2 * (1 + 2 / (4 / 3)) ** 2)
    same = pool(np.ones((3, 1)), np.full((3, 1), 2.0), kind="imputed", level=0.95)
    assert np.isinf(same.df[0])
    assert same.variance[0] == 2


@pytest.mark.parametrize(("negative", "expected"), [("adjusted", 1.0), ("zero", 0.0)])
def test_what_stands_for_a_variance_below_zero(negative, expected):
    found = pool(
        np.array([[1.0], [1.1]]), np.full((2, 1), 2.0), kind="full", level=0.95, ratio=0.5, negative=negative
    )
    assert found.adjusted[0]
    assert found.raw_variance[0] == pytest.approx(1.5 * 0.005 - 2)
    assert (found.variance[0], found.adjusted_variance[0]) == (expected, 1.0)
    assert (found.high[0] - found.low[0] == 0) == (negative == "zero")
