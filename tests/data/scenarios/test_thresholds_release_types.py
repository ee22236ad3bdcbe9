"""Types of release: which limits hold, where each comes from, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import (
    RELEASE_TYPES,
    Limit,
    Thresholds,
    a_release,
    limits_in_force,
    limits_not_asked,
    not_said,
    office_types,
    release_words,
)
from sdckit.errors import FileFormatError, ScenarioError

ROLES: dict[str, Any] = {"keys": ["sex"], "sensitive": ["ill"], "household": "home", "magnitudes": ["pay"]}
OFFICE = {"public-use": {"k": 11, "l": "none", "match_risk": 0.1}, "partners": {"k": 4}}


def test_no_type_leaves_what_is_written() -> None:
    scenario = Scenario(**ROLES, thresholds={"k": 3}, release_types=OFFICE)
    assert scenario.limits == scenario.thresholds == Thresholds(k=3)
    assert limits_in_force(scenario, compared=True) == {"k": Limit(3, "scenario", None)}
    assert not limits_not_asked(scenario, compared=False)


@pytest.mark.parametrize("name", RELEASE_TYPES)
def test_a_type_brings_its_limits(name: str) -> None:
    scenario = Scenario(**ROLES, person="pid", release=name)
    assert scenario.limits_of(compared=True).declared == RELEASE_TYPES[name]
    assert all(one.origin == "release type" for one in limits_in_force(scenario, compared=True).values())
    assert scenario.thresholds == Thresholds()


def test_an_open_file_is_held_to_more_than_one_under_contract() -> None:
    public, contract = RELEASE_TYPES["public-use"], RELEASE_TYPES["scientific-use"]
    assert contract.keys() < public.keys()
    assert public["k"] > contract["k"]
    assert all(public[name] < contract[name] for name in ("risk", "household_risk"))
    assert not RELEASE_TYPES["enclave"]


def test_the_scenario_wins_then_the_office_then_what_was_published() -> None:
    scenario = Scenario(**ROLES, release="public-use", release_types=OFFICE, thresholds={"k": 3, "global_risk": 0.1})
    assert limits_in_force(scenario, compared=True) == {
        "k": Limit(3, "scenario", 11),
        "risk": Limit(0.05, "release type", 0.05),
        "global_risk": Limit(0.1, "scenario", None),
        "household_risk": Limit(0.05, "release type", 0.05),
        "match_risk": Limit(0.1, "office", 0.1),
        "recoverable": Limit(0.0, "release type", 0.0),
        "exact_numbers": Limit(0.0, "release type", 0.0),
    }


def test_a_type_leaves_out_what_the_scenario_says_there_is_not() -> None:
    scenario = Scenario(keys=["sex"], release="public-use", sensitive=[], household="none", magnitudes=[])
    assert (scenario.sensitive, scenario.household) == ((), None)
    assert scenario.limits.declared == {"k": 5, "risk": 0.05}
    assert limits_not_asked(scenario, compared=False) == {
        "l": "the scenario says that no column of the file is sensitive",
        "household_risk": "the scenario says that no column of the file numbers households",
        "recoverable": "no original stands beside the file and nothing in it was taken out",
        "exact_numbers": "the scenario says that there are no magnitudes, and names no numeric column",
    }
    assert "recoverable" in scenario.limits_of(compared=True).declared
    assert "recoverable" not in limits_not_asked(scenario, compared=True)


@pytest.mark.parametrize("entries", [{}, {"magnitudes": ["pay"]}, {"magnitudes": [], "numeric": ["hours"]}])
def test_numbers_are_asked_for_unless_it_is_said_that_there_are_none(entries: dict[str, Any]) -> None:
    scenario = Scenario(keys=["sex"], **entries, release="public-use")
    assert scenario.limits.exact_numbers == 0.0
    assert "exact_numbers" not in limits_not_asked(scenario, compared=False)


@pytest.mark.parametrize("release", ["public-use", "scientific-use", "partners"])
def test_what_was_forgotten_is_asked(release: str) -> None:
    scenario = Scenario(keys=["sex"], release=release, release_types={"partners": {"l": 2, "household_risk": 0.5}})
    asked = limits_in_force(scenario, compared=False)
    assert "household_risk" in asked
    assert limits_not_asked(scenario, compared=False).keys() <= {"recoverable"}
    assert not_said("household_risk", scenario).startswith("the scenario does not say whether there are households")
    assert not not_said("k", scenario)
    assert not not_said("household_risk", scenario.changed(household="home"))
    assert not_said("exact_numbers", scenario).startswith("the scenario does not say which columns are magnitudes")
    assert not not_said("exact_numbers", scenario.changed(numeric=("hours",)))


def test_an_enclave_asks_for_nothing_that_nobody_wrote_down() -> None:
    office = {"enclave": {"k": 3, "l": 2, "household_risk": 0.5}}
    scenario = Scenario(keys=["sex"], release="enclave", release_types=office)
    assert scenario.limits.declared == {"k": 3}
    assert limits_not_asked(scenario, compared=False) == {
        "l": "no sensitive variable is declared",
        "household_risk": "no household column is declared",
    }
    assert not not_said("l", scenario)


def test_a_limit_that_the_scenario_or_the_office_calls_none_is_not_asked() -> None:
    thresholds = {"l": "none", "risk": 0.1}
    scenario = Scenario(**ROLES, release="public-use", thresholds=thresholds)
    assert scenario.thresholds == Thresholds(l="none", risk=0.1) != Thresholds(risk=0.1)
    assert scenario.thresholds.entries == {"risk": 0.1, "l": "none"}
    assert "l" not in scenario.limits.declared
    assert limits_not_asked(scenario, compared=True) == {"l": "the scenario says that it is not asked"}
    office = Scenario(**ROLES, release="public-use", release_types=OFFICE)
    assert limits_not_asked(office, compared=True) == {"l": "the office says that it is not asked"}
    with pytest.raises(ScenarioError, match=r"no entry 'thresholds\.rsik'"):
        Scenario(keys=["sex"], thresholds={"rsik": "none"})


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"sensitive": []},
        {"household": "none"},
        {"magnitudes": []},
        {"sensitive": [], "household": "none", "magnitudes": []},
    ],
)
def test_what_is_said_stays_said(said: dict[str, Any], tmp_path: Path) -> None:
    scenario = Scenario(keys=["sex", "age"], release="teaching", thresholds={"recoverable": "none"}, **said)
    assert scenario.stated == tuple(said)
    path = tmp_path / "s.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    for again in (
        Scenario.from_toml(path),
        scenario.changed(title="x").changed(title=""),
        scenario.intruder("default"),
        scenario.narrowed(["sex", "age"]),
        Scenario(**{name: getattr(scenario, name) for name in Scenario.model_fields}),
    ):
        assert (again, again.stated, again.thresholds.not_asked) == (scenario, tuple(said), ("recoverable",))


def test_a_role_named_is_said_even_of_a_file_without_the_column() -> None:
    scenario = Scenario(**ROLES, release="public-use").narrowed(["sex"])
    assert (scenario.sensitive, scenario.household, scenario.stated) == (
        (),
        None,
        ("sensitive", "household", "magnitudes"),
    )
    assert scenario.limits.declared == {"k": 5, "risk": 0.05}


def test_stated_is_no_entry_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["sex"]\nstated = ["sensitive"]\n', encoding="utf-8")
    with pytest.raises(ScenarioError, match="no entry 'stated'"):
        Scenario.from_toml(path)


def test_what_a_scenario_writes_is_always_asked() -> None:
    scenario = Scenario(
        keys=["sex"], household="none", magnitudes=[], release="public-use", thresholds={"l": 3, "recoverable": 0.1}
    )
    assert scenario.limits.declared == {"k": 5, "risk": 0.05, "l": 3, "recoverable": 0.1}
    assert limits_not_asked(scenario, compared=False).keys() == {"household_risk", "exact_numbers"}


def test_an_office_has_types_of_its_own() -> None:
    scenario = Scenario(**ROLES, release="partners", release_types=OFFICE)
    assert limits_in_force(scenario, compared=True) == {"k": Limit(4, "office", 4)}
    assert (release_words("partners"), a_release("partners")) == ("“partners”", "a release of the type “partners”")
    assert (release_words(None), a_release("teaching")) == ("not stated", "a teaching file")


def test_no_control_character_of_a_name_is_shown() -> None:
    for told in (release_words("own\x1b[31m"), a_release("own\x1b[31m")):
        assert "\x1b" not in told
        assert "own" in told


def test_words_on_where_a_limit_comes_from() -> None:
    assert Limit(5, "release type", 5).words("teaching") == "limit of a teaching file"
    assert Limit(11, "office", 11).words("public-use") == "the office’s limit of a public-use file"
    assert Limit(3, "scenario", 0.05).words("public-use") == "limit of the scenario (a public-use file: 0.05)"
    assert Limit(3, "scenario", None).words("public-use") == "limit of the scenario"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"release": "web"}, "'public-use', 'teaching', 'scientific-use', 'enclave' or 'synthetic'; types"),
        ({"release": "synthetic", "aligned": True}, "contradict each other: no record of a fully synthetic file was"),
        ({"release": "a", "release_types": OFFICE}, "'synthetic' or 'partners'"),
        ({"release": ""}, "release must not be empty"),
        ({"release_types": 3}, "release_types must be a table"),
        ({"release_types": {"partners": 3}}, r"release_types\.partners must be a table"),
        ({"release_types": {" ": {"k": 3}}}, "a type without a name"),
        ({"release_types": {"partners": {"k": 1}}}, r"release_types\.partners\.k must be at least 2"),
        ({"release_types": {"partners": {"k": "no"}}}, r"release_types\.partners\.k must be a whole number"),
        ({"release_types": {"partners": {"rsik": 1}}}, r"'release_types\.partners\.rsik'; did you mean 'risk'"),
        ({"release_types": {"partners": {"rsik": "none"}}}, r"no entry 'release_types\.partners\.rsik'"),
    ],
)
def test_refuses(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario(keys=["sex"], **entries)


def test_a_file_of_the_office(tmp_path: Path) -> None:
    office = tmp_path / "office.toml"
    office.write_text('[release_types.public-use]\nk = 11\nl = "none"\n', encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        'keys = ["sex"]\nhousehold = "none"\nmagnitudes = []\nrelease = "public-use"\nrelease_types = "office.toml"\n',
        encoding="utf-8",
    )
    scenario = Scenario.from_toml(tmp_path / "s.toml")
    assert scenario.limits.declared == {"k": 11, "risk": 0.05}
    assert scenario == Scenario(
        keys=["sex"], household="none", magnitudes=[], release="public-use", release_types=office
    )
    assert "office.toml" not in scenario.to_toml()  # it can be repeated without the file
    again = tmp_path / "again.toml"
    again.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(again) == scenario
    assert scenario.intruder("default").limits == scenario.limits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^office\.toml names no release type; write a table such as \[release_types\.public-use\]"),
        ("release_types = 3\n", "names no release type"),
        ("[thresholds]\nk = 3\n", r"^office\.toml: there is no entry 'thresholds'"),
        ("[release_types]\npublic-use = 3\n", r"^office\.toml: release_types\.public-use must be a table"),
        ("[release_types.public-use]\nk = 1\n", r"^office\.toml: release_types\.public-use\.k must be at least 2"),
        ("k = = 1\n", r"^office\.toml is not valid TOML"),
    ],
)
def test_a_file_of_the_office_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "office.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=message):
        office_types(path)


def test_an_office_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no file of release types none"):
        Scenario(keys=["sex"], release_types=tmp_path / "none.toml")


def test_teaching_files_are_public() -> None:
    assert RELEASE_TYPES["teaching"] == RELEASE_TYPES["public-use"]
