"""The figures of A7, by method and by group, on frames and plans, and what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario, outliers
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.identity import outliers as module
from sdckit.identity.outliers import distance_limit

FRAME = pl.DataFrame(
    {
        "id": [f"r{i}" for i in range(12)],
        "g": ["a"] * 6 + ["b"] * 5 + [None],
        "x": [1.0, 2, 3, 4, 5, 60, 10, 10, 10, 10, None, 7],
        "y": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    }
)


def flags(result, name="outlier"):
    return [i for i, flag in enumerate(result.records[name].to_list()) if flag]


def test_percentiles():
    result = outliers(FRAME, numeric=["x", "y"], upper_quantile=0.9, lower_quantile=0.1)
    assert result.limits["y"] == pytest.approx((2.1, 10.9))
    assert flags(result, "outlier_y") == [0, 1, 10, 11]
    assert flags(result, "outlier_x") == [0, 1, 5, 6, 7, 8, 9]  # ties at the limit are all in
    assert result.counts == {"x": 7, "y": 4}
    assert (result.n, result.n_outliers, result.n_missing) == (12, 9, {"x": 1, "y": 0})
    assert "1 value of x is missing; it is no outlier" in result.notes["missing x"]


def test_within_groups():
    result = outliers(FRAME, numeric="x", upper_quantile=0.8, by="g", id="id", prefix="o_")
    assert result.records.columns == ["id", "o_outlier", "o_outlier_x"]
    # b has one value only, the record without a group is alone in its own
    assert flags(result, "o_outlier") == [4, 5]
    assert result.limits == {}
    assert result.notes["limits x"] == "in 2 of 3 groups all values are equal: no limit, no outlier"


def test_mad():
    result = outliers(FRAME, numeric=["x", "y"], method="mad")
    assert flags(result) == [5]
    by_group = outliers(FRAME, numeric="x", method="mad", by=["g"])
    assert flags(by_group) == [5]
    assert by_group.notes["limits x"].startswith("in 2 of 3 groups more than half")


def test_robust_distances():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(200, 2))
    rows[3], rows[9, 0] = (7.0, -7.0), np.nan
    frame = pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1]})
    result = outliers(frame, numeric=["a", "b"], method="robust_mahalanobis", seed=1)
    distance = result.records["robust_distance"].to_numpy()
    assert np.isnan(distance[9])
    assert not result.records["outlier"][9]
    assert result.records["outlier"][3]
    assert result.n_outliers == (distance > distance_limit(2)).sum()
    assert (result.counts, result.limits) == ({}, {})
    drawn = outliers(frame, numeric=["a", "b"], method="robust_mahalanobis", seed=np.random.default_rng(2))
    assert drawn.records["outlier"][3]
    again = outliers(frame.to_pandas(), numeric=["a", "b"], method="robust_mahalanobis", seed=1)
    assert again.to_dict() == result.to_dict()


def test_equal_values_have_no_extreme_one():
    frame = pl.DataFrame({"x": [5, 5, 5, 5], "y": [5, 5, None, 5], "g": ["a", "a", "b", "b"]})
    for method in ("percentile", "mad"):
        for by in (None, "g"):
            result = outliers(frame, numeric=["x", "y"], method=method, by=by)
            assert (result.n_outliers, result.rate_outliers, result.counts) == (0, 0.0, {"x": 0, "y": 0})
            assert "no limit" in result.notes["limits x"]
            assert flags(result) == []
        assert result.by_group["rate_outliers"].to_list() == [0.0, 0.0]
    assert outliers(pl.DataFrame({"x": [5]}), numeric="x").to_dict()["figures"]["n_outliers"] == 0


def test_a_distance_that_is_undefined_is_not_zero():
    frame = pl.DataFrame({"x": [5, 5, 5, 5], "y": [5, 5, 5, 5]})
    joint = outliers(frame, numeric=["x", "y"], method="robust_mahalanobis")
    assert math.isnan(joint.n_outliers)
    assert joint.notes["undefined"].startswith("in 1 of 1 groups")


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_pandas(), FRAME.to_arrow(), FRAME.lazy()])
def test_frames_and_plans(frame):
    result = outliers(frame, numeric=["x", "y"], by="g", id="id")
    expected = outliers(FRAME, numeric=["x", "y"], by="g", id="id")
    assert result.to_dict()["figures"] == expected.to_dict()["figures"]
    found = {name: np.asarray(result.records[name]).tolist() for name in ("id", "outlier", "outlier_x", "outlier_y")}
    assert found == {name: expected.records[name].to_list() for name in found}


def test_a_plan_needs_an_id_for_records_and_says_what_it_brought():
    result = outliers(FRAME.lazy(), numeric="y")
    assert result.notes["plan"] == "12 records were brought here from a plan"
    with pytest.raises(DataError, match="a plan has no order of rows; give id="):
        result.records  # noqa: B018


def test_a_scenario_gives_the_variables():
    scenario = Scenario(keys=["g"], numeric=["y"])
    assert list(outliers(FRAME, scenario=scenario).counts) == ["y"]
    with pytest.raises(ScenarioError, match="say which variables are numeric"):
        outliers(FRAME, scenario=Scenario(keys=["g"]))
    with pytest.raises(ScenarioError, match="say which variables are numeric"):
        outliers(FRAME, numeric=[])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"numeric": ["y", "y"]}, ColumnError, "numeric: 'y' is listed more than once"),
        ({"numeric": "z"}, ColumnError, "numeric: no column 'z'"),
        ({"numeric": "y", "by": "h"}, ColumnError, "by: no column 'h'"),
        ({"numeric": "g"}, DataError, "numeric variable 'g' is .*, not numbers"),
        ({"numeric": "y", "method": "iqr"}, DataError, "method 'iqr' is unknown"),
        ({"numeric": "y", "upper_quantile": None}, DataError, "give upper_quantile=, lower_quantile= or both"),
        ({"numeric": "y", "upper_quantile": 95}, DataError, "upper_quantile is a share of the values"),
        ({"numeric": "y", "upper_quantile": True}, DataError, "upper_quantile is a share of the values"),
        (
            {"numeric": "y", "upper_quantile": 0.2, "lower_quantile": 0.4},
            DataError,
            "lower_quantile= must be below upper_quantile=",
        ),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        outliers(FRAME, **arguments)


def test_values_that_cannot_be():
    with pytest.raises(DataError, match="'x' has infinite values"):
        outliers(pl.DataFrame({"x": [1.0, math.inf]}), numeric="x")
    with pytest.raises(DataError, match="'x' has no value in any record"):
        outliers(pl.DataFrame({"x": [None, math.nan]}), numeric="x")
    with pytest.raises(DataError, match="no records"):
        outliers(FRAME.head(0), numeric="x")


def test_pickled():
    result = outliers(FRAME, numeric="y")
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    with pytest.raises(DataError, match="let go of the data"):
        again.records  # noqa: B018
    assert result.summary().columns == ["figure", "value"]


def test_a_large_group_says_that_it_was_sampled(monkeypatch):
    from sdckit.numerics import outlying

    monkeypatch.setattr(outlying, "FIT_ROWS", 100)
    monkeypatch.setattr(module, "FIT_ROWS", 100)
    frame = pl.DataFrame(np.random.default_rng(1).normal(size=(150, 2)), schema=["a", "b"])
    result = outliers(frame, numeric=["a", "b"], method="robust_mahalanobis", seed=1)
    assert result.notes["estimate"] == "centre and covariance were estimated from 100 records drawn of the group"
