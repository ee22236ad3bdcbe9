"""Which attacks are planned, and what is refused before a file is read."""

from __future__ import annotations

from typing import Any

import pytest

import sdckit as sdc
from sdckit.catalogue import rows
from sdckit.cli.attack_files import MatchingOptions, Wanted, planned, read_wanted
from sdckit.errors import ScenarioError

KINDS = [row.kind for row in rows("attack") if row.kind != "canaries"]
TWO = [["age", "sex"], ["income"]]


def wanted(**given: Any) -> Wanted:
    return read_wanted(**{"kinds": [], "known": [], "targets": [], **given})


def kinds(*, has_control: bool = False, **given: Any) -> list[str]:
    """Kinds of the attacks, each once, before and after the columns of the files are known."""
    asked = wanted(**given)
    plans = [planned(asked, names, n_attacks=50, has_control=has_control) for names in ((), ("age", "sex", "income"))]
    early, late = (list(dict.fromkeys(one.row.kind for one in plan)) for plan in plans)
    assert early == late
    return early


ALWAYS = {"singling-out", "distances"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ALWAYS),
        ({"has_control": True}, {*ALWAYS, "membership"}),
        ({"known": TWO}, {*ALWAYS, "linkability"}),
        ({"known": [["age"]], "targets": ["income"]}, {*ALWAYS, "inference"}),
        ({"known": TWO, "targets": ["ill"], "has_control": True, "id": "pid"}, set(KINDS)),
        ({"known": [["age", "sex"]], "aligned": True}, {*ALWAYS, "probabilistic-linkage"}),
        ({"kinds": ["distances"], "by": ["sex"]}, {"distances"}),
        ({"kinds": ["distances", "singling-out", "distances"]}, ALWAYS),
    ],
)
def test_all_that_apply_or_those_named(given: dict[str, Any], expected: set[str]) -> None:
    found = kinds(**given)
    assert set(found) == expected
    assert len(found) == len(expected)


def test_a_target_is_not_known() -> None:
    made = wanted(known=TWO, targets=["income", "ill", "income"])
    assert made.targets == ("income", "ill")
    assert made.columns == ("age", "sex", "income", "ill")
    given = {
        one.context.target: one.row.arguments(one.context)["known"]
        for one in planned(made, n_attacks=50, has_control=False)
        if one.row.kind == "inference" and one.row.arguments is not None
    }
    assert given == {"income": ("age", "sex"), "ill": ("age", "sex", "income")}


def test_a_scenario_says_what_is_known_and_inferred() -> None:
    stored = sdc.Scenario(keys=["age", "sex"], sensitive=["ill"])
    made = wanted(scenario=stored)
    assert (made.sides, made.targets) == ((("age", "sex"),), ("ill",))
    assert set(kinds(scenario=stored)) == {*ALWAYS, "inference"}
    assert wanted(scenario=stored, known=[["region"]], targets=["age"]).columns == ("region", "age")
    several = sdc.Scenario(intruders={"a": ["age"], "b": ["sex"]}, sensitive=["ill"])
    assert set(kinds(scenario=several)) == ALWAYS
    assert kinds(scenario=stored, kinds=["distances"]) == ["distances"]


def test_rows_that_a_scenario_says_correspond_are_linked_where_duckdb_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = sdc.Scenario(keys=["age", "sex"], aligned=True)
    assert "probabilistic-linkage" in kinds(scenario=stored)
    several = sdc.Scenario(intruders={"a": ["age", "sex"], "b": ["sex"]}, aligned=True)
    assert "probabilistic-linkage" not in kinds(scenario=several)
    monkeypatch.setattr("sdckit.catalogue.attacks.find_spec", lambda name: None)
    assert "probabilistic-linkage" not in kinds(scenario=stored)
    for asked in ({"aligned": True}, {"kinds": ["probabilistic-linkage"]}):
        with pytest.raises(ScenarioError, match=r"pip install 'sdckit\[linkage\]'"):
            kinds(scenario=stored, **asked)


def test_everything_known_is_compared_and_subgroups_are_read() -> None:
    made = wanted(known=TWO, by=["region", "age", "region"], id="pid", blocking=[["age"], ["sex", "income"]])
    assert made.known == ("age", "sex", "income")
    assert made.by == ("region", "age")
    assert made.columns == ("age", "sex", "income", "region")
    assert (made.id, made.blocking) == ("pid", (("age",), ("sex", "income")))
    knows = made.knowledge(["age"], None, 50)
    assert (knows.halves, knows.by, knows.blocking) == ((("age", "sex"), ("income",)), made.by, made.blocking)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kinds": ["links"]}, "--kind 'links' is unknown"),
        ({"known": [["a"], ["b"], ["c"]]}, "once, or twice"),
        ({"kinds": ["linkability"], "known": [["a"]]}, "give --known twice"),
        ({"kinds": ["linkability"]}, "give --known twice"),
        ({"known": [["a", "b"], ["b"]]}, "'b' stands in both --known"),
        ({"kinds": ["inference"], "known": [["a"]]}, "--target COLUMN"),
        ({"kinds": ["inference"], "targets": ["a"]}, "nothing is known"),
        ({"kinds": ["inference"], "known": [["a"]], "targets": ["a"]}, "nothing is known"),
        ({"known": [["a"]], "targets": ["a"]}, "used by no attack"),
        ({"kinds": ["membership"]}, "there is no control file; give --control FILE"),
        ({"known": [["a"]]}, "used by no attack"),
        ({"targets": ["a"]}, "used by no attack"),
        ({"kinds": ["distances"], "known": TWO}, "used by no attack"),
        ({"kinds": ["probabilistic-linkage"], "known": TWO}, "--id COLUMN, or --aligned"),
        ({"aligned": True}, "are for linking records that belong together: there is only one key"),
        ({"id": "age", "known": TWO}, "leave it out of --known"),
        ({"kinds": ["distances"], "id": "pid"}, "are for linking records"),
        ({"blocking": [["age"]]}, "are for linking records"),
        ({"kinds": ["probabilistic-linkage"], "aligned": True, "known": TWO, "by": ["sex"]}, "leave --by out"),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        kinds(**given)


# How rows are matched back, as typed.


def test_what_was_typed():
    assert MatchingOptions().entries == {}
    assert MatchingOptions(match_width=["0.2"], match_tol=0.0).entries == {"width": 0.2, "tol": 0.0}
    typed = MatchingOptions(
        match_width=["income=0.1,age=2"], match_absolute=["age"], match_known=["sex,region"],
        match_synthetic=["income"], high_risk=0.2,
    )  # fmt: skip
    assert typed.entries == {
        "width": {"income": 0.1, "age": 2.0}, "known": ["sex", "region"], "synthetic": ["income"], "high_risk": 0.2,
        "relative": {"age": False},
    }  # fmt: skip


@pytest.mark.parametrize("texts", [["wide"], ["age=wide"], ["0.1", "age=2"], ["age="], ["age=1", "age=2"]])
def test_widths_that_are_none(texts):
    with pytest.raises(ScenarioError, match="--match-width"):
        MatchingOptions(match_width=texts).entries  # noqa: B018 - reading it is the test


def test_only_beside_a_release():
    MatchingOptions().check(has_release=False)
    MatchingOptions(high_risk=0.2).check(has_release=True)
    with pytest.raises(ScenarioError, match="give --released FILE"):
        MatchingOptions(high_risk=0.2).check(has_release=False)
