"""Intervals by hand, on several releases, and what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario, interval_risk
from sdckit.errors import ColumnError, DataError, ScenarioError

SURVEY = pl.DataFrame({"id": [1, 2, 3, 4], "x": [10.0, 20.0, 30.0, 40.0], "y": [1.0, 2.0, 3.0, 4.0]})
RELEASE = SURVEY.with_columns(x=pl.Series([10.0, 22.0, 29.0, 47.0]), y=pl.Series([1.0, 2.0, 4.5, 4.5]))


def test_standard_deviations_by_hand():
    reach = 0.2 * RELEASE["x"].std()  # 3.1
    assert 3 < reach < 3.2
    result = interval_risk(SURVEY, RELEASE, numeric=["x", "y"], width=0.2, id="id")
    assert result.records.to_dict(as_series=False) == {
        "id": [1, 2, 3, 4],
        "inside": [1.0, 1.0, 0.0, 0.0],
        "inside_x": [1.0, 1.0, 1.0, 0.0],
        "inside_y": [1.0, 1.0, 0.0, 0.0],
    }
    assert (result.n, result.n_inside, result.rate) == (4, 2.0, 0.5)
    assert result.variable_rates == {"x": 0.75, "y": 0.5}
    assert result.by_release["variable_rates[x]"].to_list() == [0.75]


def test_the_ends_belong_to_the_interval():
    x = pl.DataFrame({"x": [0.0, 4.0, 8.0]})  # sd 4
    shifted = x.with_columns(x=pl.Series([2.0, 4.0, 8.0]))
    assert interval_risk(shifted, x, numeric=["x"], width=0.5).n_inside == 3
    assert interval_risk(shifted, x, numeric=["x"], width=0.49).n_inside == 2
    large = [frame.with_columns(pl.col("x") * 1e300) for frame in (shifted, x)]
    assert interval_risk(*large, numeric=["x"], width=0.49).n_inside == 2


def test_ranks_by_hand():
    released = pl.DataFrame({"x": [1.0, 2.0, 2.0, 3.0, 50.0]})
    original = pl.DataFrame({"x": [2.5, 1.0, 3.0, 49.0, 2.9]})
    result = interval_risk(original, released, numeric=["x"], width=0.2, scale="rank")
    # one rank to either side: [1, 2], [1, 3] twice, [2, 50], [3, 50]
    assert result.records["inside_x"].to_list() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert interval_risk(released, released, numeric=["x"], width=0, scale="rank").rate == 1.0


def test_missing_values_leave_it_to_the_others():
    original = SURVEY.with_columns(x=pl.Series([None, 20.0, 30.0, None]))
    released = RELEASE.with_columns(y=pl.Series([None, 2.0, None, 4.5]))
    result = interval_risk(original, released, numeric=["x", "y"], width=0.2)
    inside = result.records["inside"].to_list()
    assert math.isnan(inside[0])
    assert inside[1:] == [1.0, 1.0, 0.0]
    assert (result.n_inside, result.rate) == (2.0, 2 / 3)
    assert result.variable_rates == {"x": 1.0, "y": 0.5}
    assert result.notes["missing"] == "up to 1 of 4 records have no variable known in both files: not counted"


def test_several_releases():
    result = interval_risk(SURVEY, [RELEASE, SURVEY], numeric=["x"], width=0.2, prefix="p_")
    assert [one["rate"] for one in result.per_release] == [0.75, 1.0]
    assert result.rate == 0.875
    assert result.records["p_inside"].to_list() == [1.0, 1.0, 1.0, 0.5]
    assert result.notes == {"released": "1 of 2 releases have the original's values of these variables, row by row"}
    assert interval_risk(SURVEY, SURVEY, numeric=["x"]).notes["released"].startswith("the release has")


def test_one_record():
    result = interval_risk(SURVEY[:1], RELEASE[:1], numeric=["x"])
    assert math.isnan(result.rate)
    assert math.isnan(result.n_inside)
    assert result.to_dict()["figures"]["rate"] is None
    assert result.notes["rate"] == "one record has no standard deviation"
    assert interval_risk(SURVEY[:1], RELEASE[:1], numeric=["x"], scale="rank").rate == 1.0


def test_a_scenario_gives_the_variables_and_a_pickle_keeps_the_figures():
    scenario = Scenario(keys=["id"], numeric=["x", "y"])
    result = interval_risk(SURVEY, RELEASE, scenario=scenario, width=0.2)
    assert result.rate == 0.5
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    with pytest.raises(DataError, match="let go of the data"):
        kept.records  # noqa: B018


def test_rows_without_a_value_in_any_variable():
    gone = pl.DataFrame({"x": [None, 1.0], "y": [2.0, None]})
    back = pl.DataFrame({"x": [1.0, None], "y": [None, 2.0]})
    result = interval_risk(gone, back, numeric=["x", "y"], scale="rank")
    assert np.isnan([result.rate, result.n_inside, *result.variable_rates.values()]).all()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"numeric": None}, ScenarioError, "say which variables are numeric"),
        ({"numeric": []}, ScenarioError, "say which variables are numeric"),
        ({"numeric": "x"}, ColumnError, "list of column names"),
        ({"numeric": ["z"]}, ColumnError, "no column 'z'"),
        ({"scale": "mad"}, DataError, "scale 'mad' is unknown"),
        ({"width": -0.1}, DataError, "width is half .* a number of 0 or more"),
        ({"width": math.nan}, DataError, "width is half .* a number of 0 or more"),
        ({"width": True}, DataError, "width is half .* a number of 0 or more"),
    ],
)
def test_bad_options(given, error, words):
    with pytest.raises(error, match=words):
        interval_risk(SURVEY, RELEASE, **{"numeric": ["x"], **given})


def test_bad_files():
    flat, text = RELEASE.with_columns(x=pl.lit(1.0)), RELEASE.with_columns(x=pl.lit("a"))
    with pytest.raises(DataError, match="release 2: 'x' has the same value in every record"):
        interval_risk(SURVEY, [RELEASE, flat], numeric=["x"])
    assert interval_risk(SURVEY, flat, numeric=["x"], scale="rank").rate == 0.0
    with pytest.raises(DataError, match=r"the release: .*'x'"):
        interval_risk(SURVEY, text, numeric=["x"])
    with pytest.raises(DataError, match="has no value at all"):
        interval_risk(SURVEY, RELEASE.with_columns(x=pl.lit(None, pl.Float64)), numeric=["x"])
    with pytest.raises(DataError, match="is infinite"):
        interval_risk(SURVEY, RELEASE.with_columns(x=pl.lit(math.inf)), numeric=["x"])
    with pytest.raises(DataError, match="the release has 3 rows"):
        interval_risk(SURVEY, RELEASE[:3], numeric=["x"])
