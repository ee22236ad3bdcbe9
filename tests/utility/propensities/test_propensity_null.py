"""What is expected under correct synthesis; that it is right is shown by simulation in laws/."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sdckit.utility.propensities.propensity_null import (
    Null,
    analytic_null,
    null_figures,
    permuted,
    resampled_null,
)
from sdckit.utility.propensities.stacking import Atom, Stacked

ROWS = Stacked(
    (Atom("c", "level", ("=b", "=c"), 0),), np.array([[0, 1, 2]], np.int32), np.empty((0, 3)),
    np.array([3.0, 4.0, 1.0]), np.array([1.0, 1.0, 2.0]), (),
)  # fmt: skip


def test_the_formula():
    null = analytic_null(5, 300, 100, proper=False)
    assert null.expected == pytest.approx(4 * 0.75**2 * 0.25 / 400)
    assert null.sd == pytest.approx(math.sqrt(8) * 0.75**2 * 0.25 / 400)
    proper = analytic_null(5, 300, 100, proper=True)
    assert (proper.expected, proper.sd) == pytest.approx((null.expected / 0.75, null.sd / 0.75))


def test_no_formula_where_nothing_varies():
    null = analytic_null(1, 300, 100, proper=False)
    assert math.isnan(null.expected)
    assert null.reason.startswith("no variable varies")
    assert all(math.isnan(value) for value in null_figures(0.0, null).values())


def test_memberships_are_dealt_among_records():
    rng = np.random.default_rng(1)
    drawn = np.array([permuted(ROWS, rng) for _ in range(4000)])
    assert (drawn.sum(axis=1) == 4).all()
    assert (drawn <= ROWS.total).all()
    assert drawn.mean(axis=0) == pytest.approx(ROWS.total / 3, abs=0.05)


def test_a_permutation_is_multiplied_by_the_share_of_the_original():
    def scores(released):
        return released / ROWS.total

    null, nothing = resampled_null(ROWS, scores, 2000, np.random.default_rng(2))
    # a saturated model: the mean over all deals of the squares, from the hypergeometric variance
    n, c = 12, 1 / 3
    mean = sum(size / n * c * (1 - c) / size * (n - size) / (n - 1) for size in ROWS.total)
    assert null.expected == pytest.approx((1 - c) * mean, rel=0.05)
    assert null.sd > 0
    assert nothing == 0


def test_a_model_that_finds_nothing():
    null, nothing = resampled_null(ROWS, lambda _: np.full(3, 1 / 3), 5, np.random.default_rng(3))
    assert nothing == 5
    assert math.isnan(null.expected)
    assert null.reason == "the model finds nothing in any permutation"


def test_figures():
    assert null_figures(0.5, Null(0.25, 0.125)) == {"expected_pmse": 0.25, "ratio": 2.0, "standardised": 2.0}
    assert math.isnan(null_figures(0.5, Null(0.25, 0.0))["standardised"])
