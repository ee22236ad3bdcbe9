"""The figures and records of C4; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import math
import pickle
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario, attribute_disclosure
from sdckit.attribute.disclosure.attribute_disclosure import (
    DisclosureCheck,
    Exclusions,
    check_exclusions,
    counted,
    excluded_cells,
    find_levels,
    large_pairs,
    one_way,
    two_way,
)
from sdckit.attribute.disclosure.target_roles import KeyTarget, coded_columns, key_target
from sdckit.cells.pair import open_pair
from sdckit.cells.shared_coding import SharedCoding
from sdckit.errors import ColumnError, DataError, ScenarioError

SURVEY = pl.DataFrame(
    {"sex": ["f", "f", "m", "m", "m", None], "ill": ["y", "y", "y", "n", "n", None], "pay": [1, 2, 3, 4, 5, 6]}
)
RELEASE = pl.DataFrame({"sex": ["f", "m", "m", "x"], "ill": ["y", "n", "n", "y"], "pay": [1.0, 4.0, 6.0, None]})
GIVEN = {"keys": ["sex"], "target": "ill"}


def test_figures_and_records():
    result = attribute_disclosure(SURVEY, RELEASE, **GIVEN)
    assert (result.n, result.n_released, result.target) == (6, 4, "ill")
    assert result.disclosive_in_original == 3 / 6
    assert result.disclosive_in_released == 1
    assert (result.keys_in_released, result.disclosed) == (5 / 6, 5 / 6)
    assert (result.correctly_disclosed, result.disclosed_and_disclosive) == (4 / 6, 2 / 6)
    assert (result.largest_disclosed_cell, result.mean_disclosed_cell) == (2, 2)
    assert (result.tcap_of_disclosed, result.tcap_of_keys_in_released) == (4 / 5, 4 / 5)
    assert (result.released_average, result.average) == (1, 4 / 6)
    assert result.original_average == pytest.approx((2 + 3 * 5 / 9 + 1) / 6)
    assert result.baseline == pytest.approx((9 + 4 + 1) / 36)
    assert (result.n_counted, result.n_released_counted, result.excluded) == (6, 4, {})
    assert (result.checks, result.n_checks, result.notes) == ((), 0, {})
    records = result.records
    assert records["correctly_disclosed"].to_list() == [1, 1, 0, 1, 1, 0]
    assert records["disclosed_and_disclosive"].to_list() == [1, 1, 0, 0, 0, 0]
    assert records["keys_in_released"].to_list() == [1, 1, 1, 1, 1, 0]


def test_several_releases():
    result = attribute_disclosure(SURVEY, [RELEASE, SURVEY], **GIVEN, prefix="a_")
    assert [one["correctly_disclosed"] for one in result.per_release] == [4 / 6, 3 / 6]
    assert result.correctly_disclosed == pytest.approx(7 / 12)
    assert result.records["a_correctly_disclosed"].to_list() == [1, 1, 0, 0.5, 0.5, 0.5]
    assert result.by_release["disclosed"].to_list() == pytest.approx([5 / 6, 3 / 6])
    assert result.notes["released"] == "1 of 2 releases have the original's keys and target, row by row"


def test_nothing_disclosed():
    result = attribute_disclosure(SURVEY, pl.DataFrame({"sex": ["x"], "ill": ["y"]}), **GIVEN)
    assert (result.keys_in_released, result.correctly_disclosed) == (0, 0)
    assert math.isnan(result.largest_disclosed_cell)
    assert math.isnan(result.tcap_of_keys_in_released)
    assert result.notes["tcap_of_disclosed"] == "no record is disclosed"
    assert result.notes["mean_disclosed_cell"] == "no record is correctly disclosed"
    assert result.notes["tcap_of_keys_in_released"] == "the release has none of the keys counted"
    mixed = attribute_disclosure(SURVEY, [pl.DataFrame({"sex": ["x"], "ill": ["y"]}), RELEASE], **GIVEN)
    assert mixed.tcap_of_disclosed == 4 / 5
    assert mixed.notes["tcap_of_disclosed"] == "mean over the 1 of 2 releases where it is defined"


def test_exclusions_leave_the_denominator():
    result = attribute_disclosure(SURVEY, RELEASE, **GIVEN, exclude_levels=["n"], exclude_missing_target=True)
    assert (result.n, result.n_counted, result.n_released_counted) == (6, 3, 2)
    assert result.excluded == {"level of the target": 2, "missing target": 1}
    assert (result.correctly_disclosed, result.keys_in_released) == (2 / 6, 3 / 6)
    assert result.disclosed == 3 / 6  # the key of the third record still has one level in the release
    assert result.baseline == pytest.approx(14 / 36)
    assert result.records["keys_in_released"].to_list() == [1, 1, 1, 0, 0, 0]
    for more, n_counted in (({"exclude_missing_keys": ["sex"]}, 5), ({"max_cell": 1}, 2)):
        assert attribute_disclosure(SURVEY, RELEASE, **GIVEN, **more).n_counted == n_counted
    pairs = attribute_disclosure(SURVEY, RELEASE, **GIVEN, exclude_pairs=[("sex", "m", "n"), ("sex", None, None)])
    assert pairs.excluded == {"pair of key and target": 3}


def test_numbers_in_classes():
    by_value = attribute_disclosure(SURVEY, RELEASE, keys=["sex"], target="pay")
    assert by_value.correctly_disclosed == 1 / 6
    # the pool 1 1 2 3 4 4 5 6 6 is cut at 1, 4 and 6; the release's two classes hold one level each
    for given in ({"numeric": ["pay"], "bins": 2}, {"bins": {"pay": 2}}):
        cut = attribute_disclosure(SURVEY, RELEASE, keys=["sex"], target="pay", **given)
        assert cut.correctly_disclosed == 4 / 6
    key = attribute_disclosure(SURVEY, RELEASE, keys=["pay"], target="ill", numeric=["pay"], bins=2)
    assert (key.keys_in_released, key.disclosed, key.correctly_disclosed) == (1, 1, 5 / 6)


def test_a_level_that_everybody_has():
    n = 60
    survey = pl.DataFrame({"sex": ["f", "m"] * n, "ill": ["n"] * (2 * n - 1) + ["y"]})
    result = attribute_disclosure(survey, survey, **GIVEN)
    one, two = result.checks
    assert (one.key, one.target_level, one.records, one.share) == ("", "n", 60, 1.0)
    assert (two.key, two.key_level, two.target_level, two.records) == ("sex", "f", "n", 60)
    assert result.n_checks == 2
    assert {type(check.share) for check in result.checks} == {float}


def test_a_scenario_an_id_and_a_pair():
    original, release = (frame.with_row_index("row") for frame in (SURVEY, RELEASE))
    result = attribute_disclosure(original, release, scenario=Scenario(keys=["sex"], sensitive=["ill"]), id="row")
    assert result.records.columns[:2] == ["row", "disclosive_in_original"]
    pair = open_pair(SURVEY, RELEASE, categories={"keys": ["sex"]})
    assert attribute_disclosure(pair, **GIVEN).correctly_disclosed == 4 / 6
    again = attribute_disclosure(SURVEY.to_pandas(), RELEASE.to_pandas(), **GIVEN)
    assert again.to_dict() == attribute_disclosure(SURVEY, RELEASE, **GIVEN).to_dict()


def test_it_lets_go_of_the_data():
    result = pickle.loads(pickle.dumps(attribute_disclosure(SURVEY, RELEASE, **GIVEN)))
    assert result.correctly_disclosed == 4 / 6
    with pytest.raises(DataError, match="let go of the data"):
        _ = result.records


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"keys": None}, ScenarioError, "say which variables an intruder knows"),
        ({"target": None}, ScenarioError, "say which variable an intruder would learn"),
        ({"target": "sex"}, ColumnError, "target 'sex' is a key"),
        ({"target": ["ill", "pay"]}, ColumnError, "attribute_disclosure_table takes several"),
        ({"target": "il"}, ColumnError, r"the original has no column 'il' \(target\)"),
        ({"numeric": ["ill"]}, DataError, "numeric 'ill' is .*, not numbers"),
        ({"numeric": ["pay"]}, ColumnError, "'pay' is neither a key nor a target"),
        ({"bins": 1}, DataError, "bins is a number of classes"),
        ({"exclude_levels": ["maybe"]}, DataError, "item 1 is none of the 2 levels of 'ill'"),
        ({"exclude_missing_keys": ["pay"]}, ColumnError, "'pay' is not one of the keys"),
        ({"max_cell": 0}, DataError, "max_cell counts"),
        ({"released": []}, DataError, "empty list"),
        ({"released": pl.DataFrame({"sex": ["f"], "ill": [1]})}, ColumnError, "'ill' holds text in the original"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        attribute_disclosure(SURVEY, **{"released": RELEASE, **GIVEN, **given})


# Levels that may be common knowledge.


def column(name, codes, n_levels):
    labels = ["(missing)", *"abcdefgh"[:n_levels]]
    return SharedCoding(name, (np.array(codes, np.int32),), n_levels, "text", lambda: labels)


def one(correct):
    return one_way(1, column("t", [1, 2], 2), np.array(correct, float))


@pytest.mark.parametrize(
    ("correct", "flagged"),
    [
        ([0, 51, 0], True),
        ([0, 50, 0], False),  # as many as the limit are not more
        ([0, 900, 100], False),
        ([0, 901, 100], True),
        ([99, 0, 1], True),
        ([0, 0, 0], False),
    ],
)
def test_one_level_makes_up_nearly_all(correct, flagged):
    found = one(correct)
    assert bool(found) == flagged
    if flagged:
        level = "(missing)" if correct[0] else "a"
        assert found == [DisclosureCheck(1, level, "", "", max(correct), max(correct) / sum(correct))]


def by_pairs(release, target, key, table, codes, correct):
    parts = [SimpleNamespace(codes={"k": key, "t": target}.__getitem__)]
    return two_way(release, target, [key], large_pairs(target.n_levels + 1, table, codes, correct), parts)


def test_a_level_that_goes_with_one_of_a_key():
    # of 10 records with k = a, 9 have t = b; of 5 with k = b, 4
    key = column("k", [1] * 10 + [2] * 5, 2)
    target = column("t", [2] * 9 + [1] + [2] * 4 + [1], 2)
    # groups of the key come in any order
    table = KeyTarget(np.array([1, 0, 1], np.int32), np.array([2, 2, 1], np.int32), (), (), ())
    codes = [np.array([2, 1], np.int32)]

    def flagged(correct):
        return by_pairs(2, target, key, table, codes, np.array(correct))

    assert flagged([5, 5, 0]) == [DisclosureCheck(2, "b", "k", "a", 5, 0.9)]  # 4 of 5 are not more than 80 %
    assert flagged([4, 5, 0]) == []  # cells of more than four records only
    assert flagged([5, 5, 7]) == [DisclosureCheck(2, "b", "k", "a", 5, 0.9)]


@pytest.mark.parametrize("n", [40, 4000])  # fewer records than pairs of levels, and more
def test_records_with_pairs_of_levels(n):
    rng = np.random.default_rng(2)
    own = rng.integers(0, 9, n)
    other = np.where(rng.random(n) < 0.8, own, rng.integers(0, 9, n))
    key, target = column("k", own, 8), column("t", other, 8)
    level = np.arange(9, dtype=np.int32)
    table = KeyTarget(np.arange(9, dtype=np.int32), level, (), (), ())
    found = by_pairs(1, target, key, table, [level], np.full(9, 5))
    shares = [float(np.mean(other[own == one] == one)) for one in range(9)]
    expected = [share for share in shares if share > 0.8]
    assert 0 < len(expected) < 9
    assert [check.share for check in found] == expected


# What is left out of the counts, and why.


FILE = pl.DataFrame({"a": ["x", "x", "x", None, "y", "y"], "t": ["no", "no", "yes", "no", None, "no"]})
NONE = {"levels": (), "missing_target": False, "missing_keys": (), "pairs": (), "max_cell": None}


def removed(**given):
    pair = open_pair(FILE, FILE[:3], categories={"keys": ["a"], "target": ["t"]})
    columns, groups = coded_columns(pair, ["a", "t"], {}), pair.groups(["a"])
    table = key_target(groups, columns["t"].codes)
    left_out = check_exclusions(["a"], **{**NONE, **given})
    masks = excluded_cells(left_out, columns, columns["t"], groups, table)
    return [counted(table, masks, left_out.max_cell, file) for file in (0, 1)]


@pytest.mark.parametrize(
    ("given", "original", "release"),
    [
        ({}, {}, {}),
        ({"levels": ["no"]}, {"level of the target": 4}, {"level of the target": 2}),
        ({"missing_target": True}, {"missing target": 1}, {"missing target": 0}),
        ({"missing_keys": ["a"]}, {"missing key": 1}, {"missing key": 0}),
        (
            {"pairs": [("a", "x", "yes"), ("a", None, "no")]},
            {"pair of key and target": 2},
            {"pair of key and target": 1},
        ),
        ({"pairs": [("a", "y", None)]}, {"pair of key and target": 1}, {"pair of key and target": 0}),
        ({"max_cell": 1}, {"large cell": 2}, {"large cell": 2}),
        (
            {"levels": ["no"], "missing_keys": ["a"], "max_cell": 1},
            {"level of the target": 4, "missing key": 0, "large cell": 0},
            {"level of the target": 2, "missing key": 0, "large cell": 0},
        ),
    ],
)
def test_records_left_out_by_the_first_reason(given, original, release):
    for (left, reasons), expected, n in zip(removed(**given), (original, release), (6, 3), strict=True):
        assert reasons == expected
        assert left.sum() == n - sum(expected.values())


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"levels": "no"}, DataError, "exclude_levels is a list, not str"),
        ({"levels": [None]}, DataError, "exclude_missing_target=True"),
        ({"pairs": "ab"}, DataError, "exclude_pairs is a list, not str"),
        ({"pairs": [("a", "x")]}, DataError, r"exclude_pairs is a list of \(key, level of the key"),
        ({"pairs": ["abc"]}, DataError, r"exclude_pairs is a list of \(key, level of the key"),
        ({"pairs": [("t", "x", "yes")]}, ColumnError, "exclude_pairs: 't' is not one of the keys"),
        ({"missing_keys": ["t"]}, ColumnError, "exclude_missing_keys: 't' is not one of the keys"),
        ({"missing_keys": "a"}, ColumnError, "exclude_missing_keys must be a list"),
        ({"max_cell": 0}, DataError, "max_cell counts"),
        ({"max_cell": 1.5}, DataError, "max_cell counts"),
        ({"max_cell": True}, DataError, "max_cell counts"),
        ({"levels": ["no", "maybe"]}, DataError, "exclude_levels: item 2 is none of the 2 levels of 't'"),
        ({"pairs": [("a", "z", "no")]}, DataError, "exclude_pairs: item 1 is none of the 2 levels of 'a'"),
    ],
)
def test_what_cannot_be_of_exclusions(given, error, words):
    with pytest.raises(error, match=words):
        removed(**given)


def test_levels_are_found_before_anything_is_counted():
    pair = open_pair(FILE, FILE, categories={"keys": ["a"], "target": ["t"]})
    columns = coded_columns(pair, ["a", "t"], {})
    left_out = Exclusions(levels=("yes",), pairs=(("a", "y", "no"),))
    assert find_levels(left_out, columns, columns["t"]) == ([2], [("a", 2, 1)])
