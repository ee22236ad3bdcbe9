"""All differences at once: by hand, and p-values that are uniform where the releases are right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, f

from sdckit.utility.comparison import FileEstimates
from sdckit.utility.propensities.lack_of_fit import lack_of_fit

COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])
ORIGINAL = FileEstimates(np.array([1.0, 2.0]), np.diag(COVARIANCE), np.full(2, np.inf), 50, COVARIANCE)


def other(*value):
    return FileEstimates(np.array(value), np.ones(2), np.full(2, np.inf), 50, np.eye(2))


def measured(*released, kind="observed", ratio=1.0, original=ORIGINAL):
    notes: dict[str, str] = {}
    return lack_of_fit(original, released, kind=kind, ratio=ratio, notes=notes), notes


@pytest.mark.parametrize(
    ("kind", "share"), [("observed", 0.5), ("simple", 0.5), ("proper", 1 / 3), ("full", 1 / 3)]
)
def test_by_hand(kind, share):
    d = np.array([0.5, -1.0])
    statistic = 2 * share * d @ np.linalg.inv(COVARIANCE) @ d
    found, notes = measured(other(1.0, 1.0), other(2.0, 1.0), kind=kind, ratio=0.5)
    assert found["lack_of_fit"] == pytest.approx(statistic)
    assert found["lack_of_fit_p_value"] == pytest.approx(chi2.sf(statistic, 2))
    assert (found["lack_of_fit_df"], notes) == (2.0, {})


def test_partially_synthetic_releases_are_measured_by_their_own_variation():
    values = np.array([[1.2, 2.1], [0.7, 1.6], [1.4, 2.6], [0.9, 2.2]])
    d = values.mean(axis=0) - ORIGINAL.value
    statistic = 4 * d @ np.linalg.inv(np.cov(values.T)) @ d
    found, _ = measured(*(other(*one) for one in values), kind="partial")
    assert found["lack_of_fit"] == pytest.approx(statistic)
    assert found["lack_of_fit_p_value"] == pytest.approx(f.sf(statistic * 2 / (2 * 3), 2, 2))
    few, notes = measured(other(1.0, 1.0), other(2.0, 1.0), kind="partial")
    assert all(map(math.isnan, few.values()))
    assert (
        notes["lack_of_fit"] == "2 terms need more than 2 releases of partially synthetic data; there are 2"
    )


def test_terms_that_a_file_does_not_determine():
    found, notes = measured(other(2.0, np.nan))
    assert (found["lack_of_fit"], found["lack_of_fit_df"]) == (pytest.approx(0.5), 1.0)
    assert notes["lack_of_fit"] == "of the 1 terms of 2 that every file determines"
    nothing, notes = measured(other(np.nan, np.nan))
    assert math.isnan(nothing["lack_of_fit"])
    assert notes["lack_of_fit"] == "no term is determined in every file"


@pytest.mark.parametrize("covariance", [np.ones((2, 2)), np.zeros((2, 2))])
def test_a_singular_covariance(covariance):
    original = FileEstimates(ORIGINAL.value, np.diag(covariance), ORIGINAL.df, 50, covariance)
    found, notes = measured(other(1.0, 1.0), original=original)
    assert math.isnan(found["lack_of_fit"])
    assert notes["lack_of_fit"] == "the covariance of the coefficients is singular"


@pytest.mark.parametrize(("kind", "ratio", "m"), [("simple", 0.5, 3), ("proper", 2.0, 2), ("full", 1.0, 4)])
def test_p_values_are_uniform_where_the_releases_are_right(kind, ratio, m):
    """Coefficients of releases made from the original's, drawn from their posterior first where the kind says."""
    rng = np.random.default_rng(9)
    root = np.linalg.cholesky(COVARIANCE)
    values = []
    for _ in range(2000):
        centre = np.tile(ORIGINAL.value, (m, 1))
        if kind != "simple":
            centre = centre + rng.normal(size=(m, 2)) @ root.T
        drawn = centre + rng.normal(size=(m, 2)) @ root.T / math.sqrt(ratio)
        values.append(
            measured(*(other(*one) for one in drawn), kind=kind, ratio=ratio)[0]["lack_of_fit_p_value"]
        )
    assert np.mean(np.array(values) < 0.1) == pytest.approx(0.1, abs=0.025)
    assert np.mean(values) == pytest.approx(0.5, abs=0.03)
