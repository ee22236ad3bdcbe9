"""Arguments before the scenario, and every role checked against the columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit import Scenario
from sdckit.data.scenarios.roles import check_columns, read_hierarchies, resolve_roles
from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError

SCENARIO = Scenario(
    keys=["sex", "age"], weight="w", household="hh", person="pid", sensitive=["income"],
    missing={"age": "category"}, alpha=0.5,
)  # fmt: skip


def test_the_scenario_gives_what_is_not_given():
    roles = resolve_roles(scenario=SCENARIO)
    assert (roles.keys, roles.weight, roles.household, roles.person) == (("sex", "age"), "w", "hh", "pid")
    assert (roles.sensitive, roles.rules, roles.alpha) == (("income",), ("wildcard", "category"), 0.5)
    assert (roles.sampling_fraction, roles.id) == (None, None)


def test_an_explicit_argument_wins():
    roles = resolve_roles(
        scenario=SCENARIO, keys=["region"], weight="v", household="h", person="p", sensitive="debt",
        missing="category", alpha=0, id="row",
    )  # fmt: skip
    assert (roles.keys, roles.weight, roles.household, roles.person) == (("region",), "v", "h", "p")
    assert (roles.sensitive, roles.rules, roles.alpha, roles.id) == (("debt",), ("category",), 0.0, "row")


def test_a_fraction_takes_the_place_of_the_scenario_s_weight():
    roles = resolve_roles(scenario=SCENARIO, sampling_fraction=0.1)
    assert (roles.weight, roles.sampling_fraction) == (None, 0.1)
    by_fraction = Scenario(keys=["sex"], sampling_fraction=0.2)
    assert resolve_roles(scenario=by_fraction).sampling_fraction == 0.2
    assert resolve_roles(scenario=by_fraction, weight="w").sampling_fraction is None


def test_other_measures_keep_their_own_rule():
    wild = Scenario(keys=["sex"], missing="wildcard")
    assert resolve_roles(scenario=wild, default_missing="category").rules == ("category",)
    assert resolve_roles(scenario=wild, default_missing="category", missing="wildcard").rules == ("wildcard",)
    assert resolve_roles(keys=["sex"]).rules == ("wildcard",)


def test_a_scenario_s_rules_may_name_another_intruder_s_keys():
    both = Scenario(intruders={"a": ["sex"], "b": ["age"]}, missing={"age": "category"})
    assert resolve_roles(scenario=both.intruder("a")).rules == ("wildcard",)


def test_several_intruders_are_listed():
    both = Scenario(intruders={"a": ["sex"], "b": ["age"]})
    with pytest.raises(ScenarioError, match=r"a.*b.*intruder"):
        resolve_roles(scenario=both)
    assert resolve_roles(scenario=both, keys=["sex"]).keys == ("sex",)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({}, ScenarioError, "say which variables an intruder knows: keys="),
        ({"keys": []}, ScenarioError, "keys= is empty"),
        ({"keys": "sex"}, ColumnError, r"keys must be a list of column names; write keys=\['sex'\]"),
        ({"keys": ["sex", "age", "sex"]}, ColumnError, "keys: 'sex' is listed more than once"),
        ({"keys": ["a"], "sensitive": ["b", "b"]}, ColumnError, "sensitive: 'b' is listed more than once"),
        ({"keys": ["a"], "weight": "w", "sampling_fraction": 0.1}, ScenarioError, "weight= or sampling_fraction="),
        ({"keys": ["a"], "sampling_fraction": 0}, DataError, r"sampling_fraction .* in \(0, 1\]"),
        ({"keys": ["a"], "sampling_fraction": 1.5}, DataError, r"sampling_fraction .* in \(0, 1\]"),
        ({"keys": ["a"], "sampling_fraction": float("nan")}, DataError, r"sampling_fraction .* in \(0, 1\]"),
        ({"keys": ["a"], "sampling_fraction": "0.1"}, DataError, r"sampling_fraction .* in \(0, 1\]"),
        ({"keys": ["a"], "sampling_fraction": True}, DataError, r"sampling_fraction .* in \(0, 1\]"),
        ({"keys": ["a"], "alpha": -0.1}, DataError, "alpha .* from 0 to 1"),
        ({"keys": ["a"], "alpha": 2}, DataError, "alpha .* from 0 to 1"),
        ({"keys": ["a"], "alpha": float("nan")}, DataError, "alpha .* from 0 to 1"),
        ({"keys": ["a"], "alpha": True}, DataError, "alpha .* from 0 to 1"),
        ({"keys": ["a"], "alpha": "half"}, DataError, "alpha .* from 0 to 1"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        resolve_roles(**given)


COLUMNS = ["sex", "age", "w", "hh", "pid", "income"]


def test_existing_columns_pass():
    check_columns(COLUMNS, resolve_roles(scenario=SCENARIO))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"keys": ["sxe"]}, "keys: no column 'sxe' in the data; .*'sex'"),
        ({"keys": ["sex"], "weight": "ww"}, "weight: no column 'ww'"),
        ({"keys": ["sex"], "household": "hhh"}, "household: no column 'hhh'"),
        ({"keys": ["sex"], "person": "pd"}, "person: no column 'pd'"),
        ({"keys": ["sex"], "sensitive": ["incme"]}, "sensitive: no column 'incme' .*'income'"),
        ({"keys": ["sex"], "id": "row"}, "id: no column 'row'"),
        ({"keys": [3]}, "keys: column names are text, got int"),
        ({"keys": ["sex"], "sensitive": ["sex"]}, "'sex' is a key and sensitive"),
    ],
)
def test_columns_that_cannot_be(given, words):
    with pytest.raises(ColumnError, match=words):
        check_columns(COLUMNS, resolve_roles(**given))


def test_so_many_keys_are_refused_before_any_work() -> None:
    names = [f"k{i}" for i in range(2_000)]
    with pytest.raises(
        ScenarioError, match="2,000 keys; an intruder is taken to know 1000 variables at most"
    ) as caught:
        resolve_roles(keys=names)
    assert caught.value.argument == "keys"
    assert len(resolve_roles(keys=names[:1_000]).keys) == 1_000


# Hierarchies that a scenario declares: read from where its file lies.


def test_a_path_starts_where_the_scenario_lies(tmp_path, monkeypatch):
    folder = tmp_path / "survey"
    folder.mkdir()
    (folder / "regions.csv").write_text("R11;R1\nR12;R1\n")
    scenario = Scenario(keys=["sex", "region"], ordered=["sex"], hierarchies={"region": "regions.csv"})
    (folder / "scenario.toml").write_text(scenario.to_toml())
    monkeypatch.chdir(tmp_path)
    found = Scenario.from_toml(Path("survey") / "scenario.toml")
    assert found == scenario
    assert found.to_toml() == scenario.to_toml()
    for one in (found, found.intruder("default"), found.narrowed(["sex", "region"])):
        assert read_hierarchies(one, ["region", "sex"])["region"].at(1) == {"R11": "R1", "R12": "R1"}
    with pytest.raises(FileFormatError, match=r"hierarchies\.region: regions\.csv"):
        read_hierarchies(scenario, ["region"])  # made here: its paths start in the current folder


def test_other_intruders_keep_what_is_theirs():
    scenario = Scenario(
        intruders={"one": ["a"], "two": ["b"]}, ordered=["a"], hierarchies={"b": "b.csv"}, sensitive=["c"]
    )
    assert (scenario.intruder("one").ordered, scenario.intruder("one").hierarchies) == (("a",), {})
    assert scenario.intruder("two").hierarchies == {"b": "b.csv"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"hierarchies": {"regoin": "r.csv"}}, "hierarchies names 'regoin'.*'region'"),
        ({"hierarchies": {"region": "r.csv"}, "numeric": ["region"]}, "numbers are grouped in bands"),
        ({"hierarchies": "r.csv"}, "hierarchies must be a table"),
        ({"hierarchies": {"region": 3}}, "hierarchies.region must be text"),
        ({"ordered": ["job"]}, "ordered names 'job'"),
        ({"ordered": ["region"], "numeric": ["region"]}, "a number has its order already"),
        ({"ordered": ["region", "region"]}, "twice"),
        ({"ordered": {"region"}}, "ordered must be a list"),
    ],
)
def test_contradictions(given, told):
    with pytest.raises(ScenarioError, match=told):
        Scenario(keys=["region"], **given)
