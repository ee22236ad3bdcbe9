"""The robust measure by hand with a given estimate, with its own, and what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario, robust_interval_risk
from sdckit.errors import DataError, ScenarioError
from sdckit.identity.matching.robust_interval_risk import nearest_other

RNG = np.random.default_rng(8)
X = np.concatenate([RNG.normal(size=(60, 2)), [[9.0, -9.0], [8.0, 8.0]]])
Y = X + RNG.normal(size=X.shape) * 0.003
SURVEY, RELEASE = (pl.DataFrame(one, schema=["a", "b"]) for one in (X, Y))
NAMES = ["a", "b"]


def by_hand(x, y, center, covariance, factor, isolation):
    x, y = ((one - one.mean(axis=0)) / one.std(axis=0, ddof=1) for one in (x, y))
    inverse = np.linalg.inv(covariance)
    away = [math.sqrt((row - center) @ inverse @ (row - center)) for row in x]
    inside = [bool((abs(p - q) <= factor * 0.05 * d).any()) for p, q, d in zip(x, y, away, strict=True)]
    near = [min(math.dist(p, q) for j, q in enumerate(y) if j != i) for i, p in enumerate(y)]
    return away, inside, [one and d > isolation for one, d in zip(inside, near, strict=True)]


@pytest.mark.parametrize(("factor", "isolation"), [(0.01, 0.05), (0.02, 0.2), (0.0, 0.0)])
def test_a_given_estimate_by_hand(factor, isolation):
    center, covariance = np.array([0.1, -0.1]), np.array([[0.5, 0.1], [0.1, 0.4]])
    away, inside, isolated = by_hand(X, Y, center, covariance, factor, isolation)
    result = robust_interval_risk(
        SURVEY, RELEASE, numeric=NAMES, factor=factor, isolation=isolation, center=center, covariance=covariance
    )
    assert result.records["robust_distance"].to_list() == pytest.approx(away)
    assert result.records["inside"].to_list() == inside
    assert result.records["isolated"].to_list() == isolated
    n = len(X)
    assert (result.n, result.n_measured, result.n_inside, result.n_isolated) == (n, n, sum(inside), sum(isolated))
    assert (result.rate, result.isolated_rate) == pytest.approx((sum(inside) / n, sum(isolated) / n))
    assert result.weighted_risk == pytest.approx(sum(d for d, one in zip(away, inside, strict=True) if one) / n)
    assert result.isolated_weighted_risk == pytest.approx(
        sum(d for d, one in zip(away, isolated, strict=True) if one) / n
    )


def test_outliers_are_the_first_to_be_at_risk():
    result = robust_interval_risk(SURVEY, RELEASE, numeric=NAMES, seed=3)
    distance = result.records["robust_distance"].to_numpy()
    assert set(np.argsort(distance)[-2:]) == {60, 61}
    again = robust_interval_risk(SURVEY.to_pandas(), RELEASE.to_arrow(), numeric=NAMES, seed=3)
    assert again.to_dict() == result.to_dict()
    drawn = robust_interval_risk(SURVEY, RELEASE, numeric=NAMES, seed=np.random.default_rng(3))
    assert drawn.n_measured == 62


def test_several_releases_and_missing_values():
    gap = RELEASE.with_columns(a=pl.when(pl.int_range(62) == 5).then(None).otherwise(pl.col("a")))
    result = robust_interval_risk(SURVEY, [gap, SURVEY], numeric=NAMES, seed=1, prefix="r_")
    assert [one["n_measured"] for one in result.per_release] == [61.0, 62.0]
    assert result.per_release[1]["rate"] == 1.0
    assert result.notes["missing"].startswith("up to 1 of 62 records have a missing value")
    assert result.notes["released"].startswith("1 of 2 releases")
    assert result.records["r_inside"][5] == 1.0  # known in the second release only
    single = robust_interval_risk(SURVEY, gap, numeric=NAMES, seed=1)
    assert math.isnan(single.records["inside"][5])


@pytest.mark.parametrize("rows", [1, 4])
def test_too_few_records(rows):
    result = robust_interval_risk(SURVEY[:rows], RELEASE[:rows], numeric=NAMES)
    assert math.isnan(result.rate)
    assert result.n_measured == rows
    assert result.notes["rate"].startswith("too few complete records")
    assert np.isnan(result.records["inside"].to_numpy()).all()


def test_variables_that_determine_each_other():
    double = [frame.with_columns(b=pl.col("a") * 2) for frame in (SURVEY, RELEASE)]
    assert math.isnan(robust_interval_risk(*double, numeric=NAMES).rate)
    given = robust_interval_risk(*double, numeric=NAMES, center=[0, 0], covariance=[[1, 0], [0, 1]])
    assert not math.isnan(given.rate)


def test_a_large_file_says_that_rows_were_drawn(monkeypatch):
    monkeypatch.setattr("sdckit.identity.matching.robust_interval_risk.FIT_ROWS", 50)
    result = robust_interval_risk(SURVEY, RELEASE, scenario=Scenario(keys=["a"], numeric=NAMES), seed=1)
    assert result.notes["estimate"] == "centre and covariance were estimated from 50 records drawn"
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    with pytest.raises(DataError, match="let go of the data"):
        kept.records  # noqa: B018


EYE = [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"numeric": None}, ScenarioError, "say which variables are numeric"),
        ({"factor": -1}, DataError, "factor is half .* a number of 0 or more"),
        ({"isolation": math.inf}, DataError, "isolation is .* a number of 0 or more"),
        ({"center": [0, 0]}, DataError, "give both or neither"),
        ({"covariance": EYE}, DataError, "give both or neither"),
        ({"center": [0], "covariance": EYE}, DataError, "center must have 2 numbers"),
        ({"center": [0, 0], "covariance": [1, 1]}, DataError, "covariance 2 rows and columns"),
        ({"center": ["a", 0], "covariance": EYE}, DataError, "must be arrays of numbers"),
        ({"center": [0, math.nan], "covariance": EYE}, DataError, "must be finite"),
        ({"center": [0, 0], "covariance": [[1, 2], [3, 1]]}, DataError, "the covariance symmetric"),
        ({"center": [0, 0], "covariance": [[1, 1], [1, 1]]}, DataError, "not positive definite"),
    ],
)
def test_bad_options(given, error, words):
    with pytest.raises(error, match=words):
        robust_interval_risk(SURVEY, RELEASE, **{"numeric": NAMES, **given})


def test_bad_files():
    with pytest.raises(DataError, match="the release: 'b' has the same value in every complete record"):
        robust_interval_risk(SURVEY, RELEASE.with_columns(b=pl.lit(2.0)), numeric=NAMES)
    with pytest.raises(DataError, match="the original: 'a' has the same value"):
        robust_interval_risk(SURVEY.with_columns(a=pl.lit(2.0)), RELEASE, numeric=NAMES)
    with pytest.raises(DataError, match="the release has 9 rows"):
        robust_interval_risk(SURVEY, RELEASE[:9], numeric=NAMES)
    with pytest.raises(DataError, match="has no value at all"):
        robust_interval_risk(SURVEY, RELEASE.with_columns(b=pl.lit(None, pl.Float64)), numeric=NAMES)


def test_distances_of_numbers_whose_squares_are_infinite():
    assert nearest_other(np.array([[0.0], [1.0], [5.0]]) * 2.0**600).tolist() == [2.0**600, 2.0**600, 2.0**602]
