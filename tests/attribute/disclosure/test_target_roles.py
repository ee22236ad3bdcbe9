"""Who knows what, and what they would learn."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import Scenario
from sdckit.attribute.disclosure.target_roles import check_targets, identical_note, known_and_learnt
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, ScenarioError


def test_given_and_from_the_scenario():
    scenario = Scenario(keys=["a"], sensitive=["s"])
    assert known_and_learnt(None, None, scenario) == (("a",), ("s",))
    assert known_and_learnt(["b"], "t", scenario) == (("b",), ("t",))
    assert known_and_learnt(["b"], ["t"], None) == (("b",), ("t",))
    assert known_and_learnt(["b"], ["t", "u"], None, several=True) == (("b",), ("t", "u"))


@pytest.mark.parametrize(
    ("keys", "target", "scenario", "error", "words"),
    [
        (["a"], None, None, ScenarioError, r"say which variable an intruder would learn: target='...'$"),
        (None, None, Scenario(keys=["a"], sensitive=["s", "t"]), ScenarioError, "the scenario has s, t"),
        (["a"], [], None, ScenarioError, "target is empty"),
        (["a"], ["s", "t"], None, ColumnError, "attribute_disclosure_table takes several"),
        (["a"], ["s", "s"], None, ColumnError, "'s' is listed more than once"),
        (["a"], "a", None, ColumnError, "target 'a' is a key; an intruder cannot learn what they know"),
        (["a"], 3, None, ColumnError, "target must be a list of column names, not int"),
    ],
)
def test_what_cannot_be(keys, target, scenario, error, words):
    with pytest.raises(error, match=words):
        known_and_learnt(keys, target, scenario)


def test_targets_are_no_keys():
    check_targets(["s"], ["a"])
    with pytest.raises(ColumnError, match="'a' is a key"):
        check_targets(["s", "a"], ["a"])


def test_a_release_that_is_the_original_is_said_to_be():
    frame, other = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [2, 1]})
    pair = open_pair(frame, [frame, other], categories={"keys": ["a"]})
    assert identical_note(pair, ["a"]) == {
        "released": "1 of 2 releases have the original's keys and target, row by row"
    }
    assert identical_note(open_pair(frame, other, categories={"keys": ["a"]}), ["a"]) == {}
