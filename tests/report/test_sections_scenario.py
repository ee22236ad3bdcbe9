from __future__ import annotations

import shlex

import pytest

from report.fakes import FULL
from sdckit.data.scenario import Scenario
from sdckit.report.sections_scenario import command_line, python_call, scenario_tree

SCENARIOS = [
    FULL.model_copy(update={"title": ""}),
    Scenario(keys=["a"]),
    Scenario(
        intruders={"x": ["a", "b"], "y": ["a"]}, sampling_fraction=0.1, missing={"a": "category"}, alpha=0.5
    ),
    Scenario(keys=["my key"], weight="w", sensitive=["s"], missing_codes=["NA", "-9"], identifiers=["name"]),
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_call_makes_the_same_scenario(scenario: Scenario) -> None:
    class Module:
        Scenario = Scenario

        @staticmethod
        def assess(_: object, *, scenario: Scenario) -> Scenario:
            return scenario

    names: dict[str, object] = {"sdc": Module, "data": None}
    exec(python_call(scenario), names)
    assert names["assessment"] == scenario


def test_the_command_quotes_and_leaves_the_file_open() -> None:
    words = shlex.split(command_line(SCENARIOS[3]))
    assert words == ["sdckit", "assess", "FILE", "--scenario", "SCENARIO.toml"]
    assert shlex.split(command_line(Scenario(keys=["my key"], missing_codes=["-9"])))[-3:] == [
        "--keys", "my key", "--missing=-9",
    ]  # fmt: skip
    assert command_line(FULL) == "sdckit assess FILE --scenario SCENARIO.toml"


def test_the_tree_holds_only_what_was_declared() -> None:
    tree = scenario_tree(FULL)
    assert tree["release_words"] == "scientific-use file"
    assert tree["thresholds"] == FULL.thresholds.declared
