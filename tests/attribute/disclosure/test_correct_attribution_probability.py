"""The figures and records of C3; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit
from sdckit import Scenario, cap, correct_attribution_probability
from sdckit.attribute.disclosure.correct_attribution_probability import (
    Side,
    Width,
    count_matches,
    nearest_matches,
    sides,
    target_groups,
    widths_by_name,
)
from sdckit.attribute.disclosure.target_roles import shares
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError

SURVEY = pl.DataFrame(
    {"sex": ["f", "f", "m", "m", None], "ill": ["y", "n", "y", None, "n"], "pay": [10.0, 20.0, 30.0, 40.0, None]}
)
RELEASE = pl.DataFrame(
    {"sex": ["f", "f", "f", "f", None], "ill": ["y", "y", "y", "n", "n"], "pay": [10.5, 21.0, 22.0, 9.5, None]}
)
GIVEN = {"keys": ["sex"], "target": "ill"}


def test_figures_and_records():
    result = cap(SURVEY, RELEASE, **GIVEN)
    records = result.records
    assert records["cap"].to_list() == [0.75, 0.25, 0, 0, 1]
    assert records["cap_original"].to_list() == [0.5, 0.5, 0.5, 0.5, 1]
    assert records["matched"].to_list() == [1, 1, 0, 0, 1]
    assert (result.n, result.n_released, result.matched) == (5, 5, 0.6)
    assert (result.average, result.average_matched) == (0.4, pytest.approx(2 / 3))
    assert (result.original_average, result.baseline) == (0.6, pytest.approx((4 + 4 + 1) / 25))
    assert result.differential == pytest.approx(0.4 - 0.36)
    assert (result.tcap, result.n_targeted) == (1.0, 1)
    assert result.missing_rule == "a missing value is a level of its own, of keys and target"
    assert (result.notes, result.target) == ({}, ("ill",))


def test_the_alias():
    assert cap is correct_attribution_probability is sdckit.cap


def test_targeted_classes():
    result = cap(SURVEY, RELEASE, **GIVEN, tau=0.75)
    assert (result.tcap, result.n_targeted) == (pytest.approx(2 / 3), 3)
    tie = cap(SURVEY, SURVEY, **GIVEN, tau=0.5)
    assert (tie.tcap, tie.n_targeted) == (pytest.approx((4 * 0.5 + 1) / 5), 5)
    none = cap(SURVEY, RELEASE[:4], **GIVEN)
    assert math.isnan(none.tcap)
    assert none.n_targeted == 0
    assert none.notes["tcap"] == "no released class of a record has a target level with a share of 1 or more"
    assert none.to_dict()["figures"]["tcap"] is None


def test_a_radius_looks_at_other_keys():
    result = cap(SURVEY, RELEASE, **GIVEN, radius=1)
    assert result.records["cap"].to_list() == [0.75, 0.25, 0.6, 0, 1]
    assert result.records["cap_original"].to_list() == [0.5, 0.5, 0.5, 0.5, 1]
    assert (result.matched, result.average_matched) == (1, result.average)


def test_a_numeric_target():
    result = cap(SURVEY, RELEASE, keys=["sex"], target="pay", width=0.05)
    assert result.records["cap"].to_list() == [0.5, 0.25, 0, 0, 1]
    assert result.baseline == pytest.approx(0.2)
    assert math.isnan(result.n_targeted)
    assert "a numeric target has no levels" in result.notes["tcap"]
    fixed = cap(SURVEY, RELEASE, keys=["sex"], target="pay", width=10, relative=False)
    assert fixed.records["cap"].to_list() == [0.5, 0.75, 0, 0, 1]
    assert fixed.baseline == pytest.approx((2 + 3 + 3 + 2 + 1) / 25)


def test_several_targets():
    result = cap(SURVEY, RELEASE, keys=["sex"], target=["ill", "pay"], width={"pay": 0.05})
    assert result.records["cap"].to_list() == [0.25, 0, 0, 0, 1]
    assert result.target == ("ill", "pay")


def test_several_releases():
    result = cap(SURVEY, [RELEASE, SURVEY], **GIVEN, prefix="p_")
    assert result.average == pytest.approx((0.4 + 0.6) / 2)
    assert result.spread["average"] == pytest.approx((0.4, 0.6))
    assert result.records["p_matched"].to_list() == [1, 1, 0.5, 0.5, 1]
    assert result.by_release["average"].to_list() == pytest.approx([0.4, 0.6])
    assert result.notes["released"] == "1 of 2 releases have the original's keys and target, row by row"


def test_files_that_share_no_key():
    result = cap(SURVEY, pl.DataFrame({"sex": ["x"], "ill": ["y"]}), **GIVEN)
    assert (result.average, result.matched) == (0, 0)
    assert math.isnan(result.average_matched)
    assert result.notes["average_matched"] == "no record's key is in a release"
    assert result.differential == -result.baseline


def test_plans():
    expected = cap(SURVEY, RELEASE, **GIVEN)
    result = cap(SURVEY.lazy(), [RELEASE.lazy()], **GIVEN)
    assert json.loads(json.dumps(result.to_dict())) == expected.to_dict()
    assert isinstance(result.records, pa.Table)


@pytest.mark.parametrize("engine", [lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()])
def test_other_engines(engine):
    expected = cap(SURVEY, RELEASE, **GIVEN)
    result = cap(engine(SURVEY), engine(RELEASE), **GIVEN)
    assert result.to_dict() == expected.to_dict()
    records = result.records
    assert isinstance(records, (pd.DataFrame, pa.Table))
    columns = {name: np.asarray(records[name]).tolist() for name in ("cap", "cap_original", "matched")}
    assert columns == expected.records.to_dict(as_series=False)


def test_a_scenario_an_id_and_a_pair():
    original, release = (frame.with_row_index("row") for frame in (SURVEY, RELEASE))
    result = cap(original, release, scenario=Scenario(keys=["sex"], sensitive=["ill"]), id="row")
    assert result.records.columns == ["row", "cap", "cap_original", "matched"]
    pair = open_pair(SURVEY, RELEASE, categories={"keys": ["sex"]})
    assert cap(pair, **GIVEN).average == 0.4


def test_a_histogram():
    result = cap(SURVEY, RELEASE, **GIVEN)
    original, released = result.cap_histogram([0, 0.25, 0.5, 1])
    assert (original.tolist(), released.tolist()) == ([0, 0, 5], [2, 1, 2])
    for edges in ([0, 0.5], [0.1, 1], [0, 0.5, 0.5, 1], [1, 0], [0], []):
        with pytest.raises(DataError, match="edges are ascending numbers"):
            result.cap_histogram(edges)


def test_it_lets_go_of_the_data():
    result = pickle.loads(pickle.dumps(cap(SURVEY, RELEASE, **GIVEN)))
    assert result.average == 0.4
    for use in (lambda: result.records, lambda: result.cap_histogram([0, 1])):
        with pytest.raises(DataError, match="let go of the data"):
            use()


def test_shares():
    assert shares(np.array([1, 0, 0]), np.array([2, 3, 0])).tolist() == [0.5, 0, 0]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"keys": None}, ScenarioError, "say which variables an intruder knows"),
        ({"target": None}, ScenarioError, "say which variable an intruder would learn"),
        ({"target": "sex"}, ColumnError, "target 'sex' is a key"),
        ({"target": "il"}, ColumnError, r"the original has no column 'il' \(target\)"),
        ({"target": "ill", "width": 1.0}, DataError, "numeric target 'ill' is .*, not numbers"),
        ({"target": "pay", "width": -1.0}, DataError, "width is .* a number of 0 or more"),
        ({"width": {"pay": 1.0}}, ColumnError, "width: 'pay' is not a target"),
        ({"target": "pay", "width": 1.0, "released": RELEASE[4:]}, DataError, "'pay' has no value at all"),
        *[({"radius": one}, DataError, "from 0 to 1") for one in (-1, 2, 1.0, True, "1")],
        ({"tau": 0}, DataError, "tau is the share"),
        *[({"tau": one}, DataError, r"give a number in \(0, 1\]") for one in (1.1, math.nan, "1", True)],
        ({"released": []}, DataError, "empty list"),
        ({"released": pl.DataFrame({"sex": [1], "ill": ["y"]})}, ColumnError, "'sex' holds text in the original"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        cap(SURVEY, **{"released": RELEASE, **GIVEN, **given})


# Options of CAP, and the files as its search reads them.


def test_intervals():
    values = np.array([-10.0, 0.0, 20.0])
    low, high = Width(0.1, True, 0.0).around(values)
    assert (low.tolist(), high.tolist()) == ([-11, 0, 18], [-9, 0, 22])
    low, high = Width(2.0, False, 0.5).around(values)
    assert (low.tolist(), high.tolist()) == ([-12.5, -2.5, 17.5], [-7.5, 2.5, 22.5])


def test_widths():
    assert widths_by_name(None, True, 0, ["t"]) == {}
    assert widths_by_name(0.1, True, 0, ["t"]) == {"t": Width(0.1, True, 0.0)}
    assert widths_by_name(2, False, 1e-9, ["t"]) == {"t": Width(2.0, False, 1e-9)}
    assert widths_by_name({"u": 1}, {"u": False}, 0, ["t", "u"]) == {"u": Width(1.0, False, 0.0)}
    assert widths_by_name({"t": 1, "u": 2}, {"u": False}, 0, ["t", "u"])["t"].relative


@pytest.mark.parametrize(
    ("width", "relative", "tol", "error", "words"),
    [
        (0.1, True, 0, ColumnError, r"several targets give width=\{name: width\}"),
        ({"z": 1}, True, 0, ColumnError, "width: 'z' is not a target"),
        ({"t": -0.1}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": math.nan}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": "wide"}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": True}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": 1}, True, -1, DataError, "tol is what rounding may add"),
        ({"t": 1}, {"u": True}, 0, ColumnError, "relative: 'u' has no width"),
    ],
)
def test_widths_that_cannot_be(width, relative, tol, error, words):
    with pytest.raises(error, match=words):
        widths_by_name(width, relative, tol, ["t", "u"])


def test_the_files_as_the_search_reads_them():
    original = pl.DataFrame({"k": ["a", None], "t": ["u", "v"], "x": [10.0, None]})
    release = pl.DataFrame({"k": ["b"], "t": ["v"], "x": [None]}, schema_overrides={"x": pl.Float64})
    more = pl.concat([release, original])
    pair = open_pair(original, more, categories={"keys": ["k"], "target": ["t"]}, numeric={"numeric target": ["x"]})
    widths = {"x": Width(0.5, True, 0.0)}
    groups = target_groups(pair, ["t", "x"], widths)
    assert groups.of_row[0][1] == groups.of_row[1][0] == groups.of_row[1][2] != groups.of_row[0][0]
    mine, files = sides(pair, ["k"], groups, widths)
    assert (mine.low.tolist(), mine.high.tolist()) == ([[5, 0]], [[15, 0]])
    assert [side.keys[0].tolist() for side in files] == [[1, 0], [2, 1, 0]]
    assert files[1].low is files[1].high
    assert files[1].low.tolist() == [[0, 10, 0]]
    bare, _ = sides(pair, ["k"], groups, {})
    assert (bare.n, bare.low.shape) == (2, (0, 2))


# The released records that differ in the fewest keys.


def side(keys, target, numbers=(), reach=0.0):
    values = np.array(numbers, float).reshape(len(numbers), len(target))
    columns = tuple(np.array(column, np.int32) for column in keys)
    return Side(columns, np.array(target, np.int32), values - reach, values + reach)


LEFT = side([[0, 0, 1], [0, 5, 5]], [1, 1, 2])
RIGHT = side([[0, 0, 1, 1], [0, 0, 5, 0]], [1, 2, 2, 1])


def test_matches_on_some_keys():
    hits, size = count_matches(LEFT, RIGHT, [0, 1])
    assert (hits.tolist(), size.tolist()) == ([1, 0, 1], [2, 0, 1])
    hits, size = count_matches(LEFT, RIGHT, [1])
    assert (hits.tolist(), size.tolist()) == ([2, 0, 1], [3, 1, 1])
    hits, size = count_matches(LEFT, RIGHT, [])
    assert (hits.tolist(), size.tolist()) == ([2, 2, 2], [4, 4, 4])


def test_only_records_without_a_match_look_further():
    hits, size = nearest_matches(LEFT, RIGHT, 1)
    assert (hits.tolist(), size.tolist()) == ([1, 1, 1], [2, 3, 1])
    assert nearest_matches(LEFT, RIGHT, 0)[1].tolist() == [2, 0, 1]


def test_some_of_the_records():
    part = LEFT.take(np.array([2, 0]))
    assert (part.n, part.keys[1].tolist(), part.target.tolist()) == (2, [5, 0], [2, 1])


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_numbers_are_counted_in_their_group(dimensions):
    rng = np.random.default_rng(5)
    keys, target = rng.integers(0, 3, (2, 300)), rng.integers(0, 2, 300)
    numbers = rng.integers(0, 6, (dimensions, 300))
    left = side([keys[0, :100], keys[1, :100]], target[:100], numbers[:, :100], 1.0)
    right = side([keys[0, 100:], keys[1, 100:]], target[100:], numbers[:, 100:])
    hits, size = count_matches(left, right, [0, 1])
    for i in range(100):
        same = (keys[:, 100:] == keys[:, [i]]).all(axis=0)
        near = (np.abs(numbers[:, 100:] - numbers[:, [i]]) <= 1).all(axis=0)
        assert size[i] == same.sum()
        assert hits[i] == (same & near & (target[100:] == target[i])).sum()
