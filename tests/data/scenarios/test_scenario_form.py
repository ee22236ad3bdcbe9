"""The form of the page Roles and the scenario it stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from sdckit.data.scenarios.scenario_form import (
    ROLES,
    columns_of,
    declared,
    fits,
    fraction_of,
    limits_of,
    number_of,
    number_told,
    population_of,
    release_choices,
    role_of,
    without_lost_files,
)
from sdckit.data.scenarios.thresholds import RELEASE_TYPES, release_words
from sdckit.errors import ScenarioError

FULL: dict[str, Any] = {
    "intruders": {"a": {"keys": ["sex", "age"]}, "b": {"keys": ["sex"]}}, "sensitive": ["ill", "income"],
    "numeric": ["age", "income", "size"], "weight": "w", "household": "hh", "identifiers": ["name"],
    "household_variables": ["w"], "ordered": ["ill"], "missing": {"sex": "category", "age": "wildcard"},
    "thresholds": {"k": 3}, "title": "kept",
}  # fmt: skip
COLUMNS = ["sex", "age", "ill", "income", "size", "w", "hh", "name", "rest"]


def said(**roles: str) -> dict[str, Any]:
    every = {name: role_of(FULL, name) for name in COLUMNS} | roles
    known = {"a": ["sex", "age"], "b": ["sex"]}
    return declared(FULL, every, known.items(), {})


def test_every_role_is_read_from_a_scenario() -> None:
    roles = {name: role_of(FULL, name) for name in COLUMNS}
    assert roles == {
        "sex": "key", "age": "key numeric", "ill": "sensitive", "income": "sensitive numeric", "size": "numeric",
        "w": "weight", "hh": "household", "name": "identifier", "rest": "ignore",
    }  # fmt: skip
    assert set(roles.values()) <= set(ROLES)


def test_what_is_not_changed_makes_the_same_scenario() -> None:
    assert sdc.Scenario(**said()) == sdc.Scenario(**FULL)


@pytest.mark.parametrize("keys", [["sex"], ["sex", "age"]])
def test_the_time_stays_whether_it_is_known_or_not(keys: list[str]) -> None:
    panel = {"keys": keys, "person": "hh", "time": "age"}
    roles = {name: role_of(panel, name) for name in COLUMNS}
    assert declared(panel, roles, [("default", keys)], {})["time"] == "age"
    assert "time" not in declared(panel, roles | {"age": "numeric"}, [("default", ["sex"])], {})


def test_a_column_that_is_no_key_any_more_leaves_nothing_behind() -> None:
    found = said(age="ignore", ill="ignore", hh="ignore")
    assert found["intruders"] == {"a": ["sex"], "b": ["sex"]}
    assert found["missing"] == {"sex": "category"}
    assert "ordered" not in found
    assert "household_variables" not in found
    assert sdc.Scenario(**found).keys if len(found["intruders"]) == 1 else True


def test_an_intruder_who_knows_nothing_is_left_out() -> None:
    assert list(said(sex="ignore")["intruders"]) == ["a"]


def test_a_key_that_no_intruder_knows_is_refused() -> None:
    with pytest.raises(ScenarioError, match="no intruder knows 'size'"):
        said(size="key numeric")


def test_a_limit_that_is_a_table_shows_its_share_and_keeps_the_rest() -> None:
    panel = {**FULL, "thresholds": {"known_points": {"points": 3, "alone": 0.1}}}
    assert limits_of(panel) == {"known_points": 0.1}
    roles, known = {name: role_of(FULL, name) for name in COLUMNS}, {"a": ["sex", "age"]}
    for typed, kept in ((0.2, {"points": 3, "alone": 0.2}), ("none", "none")):
        assert declared(panel, roles, known.items(), {"known_points": typed})["thresholds"] == {"known_points": kept}


def test_limits_are_set_and_taken_back() -> None:
    found = declared(FULL, {"sex": "key"}, [("a", ["sex"])], {"k": None, "risk": 0.1}, release="teaching")
    assert found["thresholds"] == {"risk": 0.1}
    assert found["release"] == "teaching"


def test_two_columns_cannot_both_be_the_weight() -> None:
    with pytest.raises(ScenarioError, match="only one column can"):
        said(size="weight")


def test_a_file_fits_where_all_columns_but_identifiers_are_there() -> None:
    assert columns_of(FULL) == {"sex", "age", "ill", "income", "size", "w", "hh"}
    assert fits(FULL, [name for name in COLUMNS if name != "name"])
    assert not fits(FULL, [name for name in COLUMNS if name != "w"])


@pytest.mark.parametrize("text", ["a", "1.5", "3 4"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid"):
        number_of(text, whole=True)


@pytest.mark.parametrize("text", ["nan", "inf", "1e999"])
def test_what_has_no_end_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="no finite number"):
        number_of(text)


def test_every_published_type_can_be_chosen_by_its_words() -> None:
    choices = release_choices({})
    assert [name for name in choices if name] == list(RELEASE_TYPES)
    assert all(release_words(name) == words for name, words in choices.items() if name)


@pytest.mark.parametrize("records", [50, 1003, 6366])
def test_a_share_and_its_population_lead_to_each_other(records: int) -> None:
    share = fraction_of(200_000, records)
    assert population_of(share, records) == 200_000
    assert (share * 200_000) % 5 == pytest.approx(0)


def test_the_whole_population_is_a_share_of_one() -> None:
    assert fraction_of(1003, 1003) == fraction_of(1004, 1003) == 1
    with pytest.raises(ScenarioError, match="smaller than the file"):
        fraction_of(1000, 1003)


@pytest.mark.parametrize(("text", "whole"), [("many", False), ("2.5", True)])
def test_what_is_no_number_is_told_by_its_field(text: str, whole: bool) -> None:
    with pytest.raises(ScenarioError, match="k-anonymity: this is not a"):
        number_told("k-anonymity", text, whole=whole)


def test_a_magnitude_is_a_role_and_that_there_are_none_is_said() -> None:
    found = said(income="sensitive magnitude", size="magnitude", age="key magnitude")
    scenario = sdc.Scenario(**found)
    assert scenario.magnitudes == ("age", "income", "size")
    assert set(scenario.numeric) == {"age", "income", "size"}
    again = {name: role_of(found, name) for name in ("age", "income", "size")}
    assert again == {"age": "key magnitude", "income": "sensitive magnitude", "size": "magnitude"}
    roles = {name: role_of(FULL, name) for name in COLUMNS}
    known = {"a": ["sex", "age"], "b": ["sex"]}
    none = declared(FULL, roles, known.items(), {}, nobody=["magnitudes"])
    assert sdc.Scenario(**none).stated == ("sensitive", "household", "magnitudes")
    assert "magnitudes" not in declared(FULL, roles, known.items(), {}, nobody=[])


@pytest.mark.parametrize("name", ["gone.csv", "x" * 5_000, "a\0b"], ids=["gone", "too long", "no name"])
def test_a_saved_work_leaves_files_that_are_lost(tmp_path: Path, name: str) -> None:
    (tmp_path / "job.csv").touch()
    saved = {"scenario": {"keys": ["job"], "hierarchies": {"job": "job.csv", "sex": name}}, "steps": []}
    left, lost = without_lost_files(saved, tmp_path)
    assert left["scenario"] == {"keys": ["job"], "hierarchies": {"job": "job.csv"}}
    assert lost == [name]
    nobody = {"scenario": {"keys": ["job"], "hierarchies": None}, "steps": []}
    assert without_lost_files(nobody, tmp_path)[0]["scenario"] == {"keys": ["job"]}


@pytest.mark.parametrize("at", ["session", "elsewhere"])
def test_a_saved_work_leaves_ledgers_tables_and_children_whose_files_are_lost(tmp_path: Path, at: str) -> None:
    """A ledger is lost with its folder or its key; what names no file, or one that is there, stays."""
    folder, start = tmp_path / "session", "" if at == "session" else f"{tmp_path}/elsewhere/"
    where = folder / start
    (where / "ledger").mkdir(parents=True)
    for file in ("key", "counts.csv", "visits.csv"):
        (where / file).touch()
    counted = {"variables": ["job"], "rounded": 5}

    def scenario(gone: str = "") -> dict[str, Any]:
        return {
            "keys": ["job"], "ledger": {"folder": f"{start}ledger", "key": f"{start}{gone}key"},
            "tables": [counted, {"file": f"{start}{gone}counts.csv", "count": "n"}],
            "children": {"file": f"{start}visits.csv", "key": "id", "keys": ["ward"], "released": f"{start}{gone}key"},
        }  # fmt: skip

    whole = {"scenario": scenario(), "steps": [], "versions": []}
    assert without_lost_files(whole, folder) == (whole, [])
    left, lost = without_lost_files({**whole, "scenario": scenario("no "), "versions": [whole]}, folder)
    assert left["scenario"] == {"keys": ["job"], "tables": [counted]}
    assert left["versions"] == [whole]
    assert lost == [f"{start}no {file}" for file in ("key", "counts.csv")]
