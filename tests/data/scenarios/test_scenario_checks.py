"""The checks a scenario passes, each in its own words (the rest stands in test_scenario)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

import sdckit as sdc
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import (
    LedgerPlace,
    check_missing_rules,
    explained,
    name_intruders,
    role_words,
    roles_of,
)
from sdckit.errors import ScenarioError


def test_intruders_are_named_in_one_way():
    assert name_intruders(["a"], None) == {"default": ("a",)}
    assert name_intruders(None, {"x": ["a"], "y": {"keys": ["b"]}}) == {"x": ("a",), "y": ("b",)}


def test_a_column_named_twice_is_told_with_the_entry_it_stands_in():
    with pytest.raises(ScenarioError, match=r"^keys names the column 'a' twice"):
        Scenario(keys=["a", "a"])
    with pytest.raises(ScenarioError, match=r"^intruders\.who\.keys names the column 'a' twice"):
        Scenario(intruders={"who": ["a", "a"]})


def test_paths_of_hierarchies_are_text_with_forward_slashes():
    assert Scenario(keys=["a"], hierarchies={"a": Path("more", "h.csv")}).hierarchies == {"a": "more/h.csv"}
    with pytest.raises(ScenarioError, match="hierarchies"):
        Scenario(keys=["a"], hierarchies="h.csv")


def test_roles_are_listed_in_reading_order():
    scenario = Scenario(
        keys=["a"], weight="w", household="h", person="p", sensitive=["s"], numeric=["n"], identifiers=["i"]
    )
    assert [column for _, column in roles_of(scenario)] == ["a", "w", "h", "p", "s", "n", "i"]
    assert [role_words(role) for role, _ in roles_of(scenario)] == [
        "a key", "the weight", "the household", "the person", "sensitive", "numeric", "an identifier",
    ]  # fmt: skip


@pytest.mark.parametrize("rule", ["wildcard", "category", "error", {"a": "error"}, {}])
def test_missing_rules(rule):
    check_missing_rules(rule)


@pytest.mark.parametrize("rule", [None, 3, "Wildcard", {"a": None}, {"a": {}}])
def test_other_missing_rules_are_refused(rule):
    with pytest.raises(ScenarioError, match="missing"):
        check_missing_rules(rule)


class Model(BaseModel):
    """A model with room for many problems."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    first: int = 0
    second: tuple[str, ...] = ()
    third: bytes = b""


def told(prefix="", **entries):
    with pytest.raises(ValidationError) as caught:
        Model(**entries)
    return str(explained(caught.value, list(Model.model_fields), prefix=prefix))


def test_places_and_prefix():
    assert told(second=["a", 1]) == "second[2] must be text in quotes"
    assert told(second="a", prefix="outer") == 'outer.second must be a list, such as ["a", "b"]'
    assert told(frist=1) == "there is no entry 'frist'; did you mean 'first'?"


def test_a_kind_without_words_shows_no_input():
    assert told(first="Zyxw").startswith("first is not valid: ")
    assert "Zyxw" not in told(first="Zyxw")


def test_many_problems_are_counted():
    assert told(**{f"x{i}": 1 for i in range(11)}).endswith("; and 3 more")


# The table [ledger] of a scenario.


PLACE = {"folder": "ledger", "key": "keys/ledger.key", "people": "wave 2", "id": "person", "within": 2}
SAID = {**PLACE, "first": True, "new": ("sex",), "add": True, "files": {"wave 1": "old/wave 1.csv"}}


def test_it_is_written_and_read_as_it_was_given(tmp_path: Path) -> None:
    scenario = sdc.Scenario(keys=["sex"], ledger=SAID, thresholds={"differencing": 0.0})
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    again = sdc.Scenario.from_toml(file)
    assert again == scenario
    assert again.ledger is not None
    assert again.ledger.declared == SAID
    assert again.folder == tmp_path
    assert again.columns == ("sex", "person")


def test_paths_may_be_paths() -> None:
    paths = LedgerPlace(folder=Path("a"), key=Path("b"), files={"c": Path("d")})
    assert paths.declared == {"folder": "a", "key": "b", "files": {"c": "d"}}


def test_the_id_goes_where_a_file_does_not_have_it() -> None:
    scenario = sdc.Scenario(keys=["sex"], ledger=PLACE).narrowed(["sex"])
    assert scenario.ledger is not None
    assert scenario.ledger.id is None
    assert sdc.Scenario(keys=["sex"]).narrowed(["sex"]).ledger is None


def test_what_no_earlier_release_had_goes_with_its_role() -> None:
    scenario = sdc.Scenario(
        intruders={"a": ["sex"], "b": ["age"]}, sensitive=["job"], ledger={**PLACE, "new": ["age", "job"]}
    )
    for narrower, left in ((scenario.intruder("a"), ("job",)), (scenario.narrowed(["sex", "age"]), ("age",))):
        assert narrower.ledger is not None
        assert narrower.ledger.new == left


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"folder": "a"}, "ledger.key"),
        ({**PLACE, "first": "yes"}, "ledger.first must be true or false"),
        ({**PLACE, "new": "sex"}, "ledger.new must be a list"),
        ({**PLACE, "new": ["sex", "sex"]}, "ledger.new names the column 'sex' twice"),
        ({**PLACE, "new": ["person"]}, "'person', which is neither a key nor sensitive"),
        ({**PLACE, "within": 0}, "ledger.within"),
        ({**PLACE, "files": "wave1.csv"}, "ledger.files must be a table"),
        ({**PLACE, "files": {"wave 1": ""}}, "ledger.files.wave 1 must not be empty"),
        ({**PLACE, "peeple": "x"}, "no entry 'ledger.peeple'; did you mean 'people'"),
        ("folder", "ledger"),
    ],
)
def test_what_it_cannot_be_is_told(place: object, told: str) -> None:
    with pytest.raises(sdc.ScenarioError, match=told):
        sdc.Scenario(keys=["sex"], ledger=place)  # type: ignore[arg-type]


ROWS = {"file": "data/visits.csv", "key": "patient", "keys": ("ward", "drug"), "time": "day", "released": ("out.csv",)}


def test_the_rows_of_another_file_are_written_and_read_as_they_were_given(tmp_path: Path) -> None:
    scenario = sdc.Scenario(keys=["sex"], children=ROWS, thresholds={"known_points": {"points": 3, "alone": 0.1}})
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    again = sdc.Scenario.from_toml(file)
    assert again == scenario
    assert again.children is not None
    assert again.children.declared == ROWS
    assert again.limits.known_points == scenario.limits.known_points
    assert again.columns == ("sex", "patient")  # of this file; those of the other one are read there
    assert again.children.columns == ("patient", "ward", "drug", "day")
    assert (again.followed, sdc.Scenario(keys=["sex"], person="p").followed) == ("patient", "p")
    assert again.narrowed(["sex"]).children is None


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"children": {"file": "a", "key": "p", "keys": []}}, r"children\.keys must not be empty"),
        ({"children": {**ROWS, "released": 3}}, r"children\.released must be a list"),
        ({"children": {**ROWS, "keyes": ["x"]}}, "no entry 'children.keyes'; did you mean 'keys'"),
        ({"children": ROWS, "person": "who"}, "children.key is 'patient' and person 'who'"),
        ({"children": ROWS, "weight": "patient"}, "the weight and as the key of the children"),
    ],
)
def test_rows_of_another_file_that_cannot_be(entries: dict[str, object], told: str) -> None:
    with pytest.raises(sdc.ScenarioError, match=told):
        sdc.Scenario(keys=["sex"], **entries)  # type: ignore[arg-type]


class Choosy(BaseModel):
    """A model whose own check speaks: in our words, or in those of a library."""

    kind: str

    @field_validator("kind")
    @classmethod
    def look(cls, value: str) -> str:
        """Refuse it."""
        raise ScenarioError("kind is ours: write it so") if value == "ours" else ValueError("not theirs")


@pytest.mark.parametrize(
    ("value", "says"), [("ours", "kind is ours: write it so"), ("theirs", "kind is not valid: Value error, not theirs")]
)
def test_our_own_words_stand_alone_and_others_name_the_entry(value, says):
    with pytest.raises(ValidationError) as caught:
        Choosy(kind=value)
    assert str(explained(caught.value, ["kind"])) == says


@pytest.mark.parametrize(
    ("entries", "argument"),
    [
        ({"thresholds": {"k": 0}}, "thresholds.k"),
        ({"thresholds": {"risk": "x", "k": 0}}, "thresholds.k"),
        ({"sampling_fraction": 2}, "sampling_fraction"),
        ({"sampling_fraction": 0.1, "weight": "w"}, "sampling_fraction"),
        ({"keys": None}, "intruders"),
        ({"keys": "age"}, "keys"),
        ({"keys": []}, "keys"),
        ({"keys": ["age", "age"]}, "keys"),
        ({"intruders": {"a": ["age"]}}, "keys"),
        ({"keys": None, "intruders": {}}, "intruders"),
        ({"keys": None, "intruders": ["age"]}, "intruders"),
        ({"keys": None, "intruders": {"a": {"keys": [1]}}}, "intruders.a.keys"),
        ({"sensitive": ["pay", "pay"]}, "sensitive"),
        ({"missing": "no rule"}, "missing"),
        ({"missing": {"pay": "category"}}, "missing"),
        ({"insensitive": ["att_*"]}, "insensitive_because"),
        ({"household_variables": ["rooms"]}, "household"),
        ({"release": "nowhere"}, "release"),
        ({"matching": {"tol": "x"}}, "matching.tol"),
        ({"sensitive": ["age"]}, None),  # of two roles
    ],
)
def test_a_refusal_names_its_entry(entries, argument):
    with pytest.raises(ScenarioError) as caught:
        Scenario(**{"keys": ["age"], **entries})
    assert caught.value.argument == argument


def test_a_magnitude_is_numeric_and_may_be_a_key_or_sensitive():
    made = Scenario(
        keys=["size"], sensitive=["pay"], numeric=["age"], magnitudes=["size", "pay", "gain"], number_groups=["branch"]
    )
    assert made.numeric == ("age", "size", "pay", "gain")
    assert "branch" in made.columns
    assert made.narrowed(["size", "pay"]).magnitudes == ("size", "pay")
    for entries, message in (
        ({"weight": "w", "magnitudes": ["w"]}, "declared as the weight and as numeric"),
        ({"magnitudes": ["a", "a"]}, "magnitudes names the column 'a' twice"),
        ({"magnitudes": {"a"}}, r"magnitudes must be a list"),
        ({"identifiers": ["n"], "number_groups": ["n"]}, "an identifier and as a group of numbers"),
    ):
        with pytest.raises(ScenarioError, match=message):
            Scenario(keys=["sex"], **entries)
