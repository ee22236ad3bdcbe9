"""Hierarchies that a scenario declares: read from where its file lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit import Scenario
from sdckit.data.scenarios.hierarchies import read_hierarchies
from sdckit.errors import FileFormatError, ScenarioError


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
