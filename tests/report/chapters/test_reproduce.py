from __future__ import annotations

import shlex

import pytest

from report.fakes import FULL
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.chapters.reproduce import command_line, python_call, release_calls

SCENARIOS = [
    FULL.model_copy(update={"title": ""}),
    Scenario(keys=["a"]),
    Scenario(
        intruders={"x": ["a", "b"], "y": ["a"]}, sampling_fraction=0.1, missing={"a": "category"}, alpha=0.5
    ),
    Scenario(keys=["a"], aligned=True, matching={"known": ["a"], "width": {"a": 0.2}, "high_risk": 0.1}),
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
    words = shlex.split(command_line(SCENARIOS[-1]))
    assert words == ["sdckit", "assess", "FILE", "--scenario", "SCENARIO.toml"]
    assert shlex.split(command_line(Scenario(keys=["my key"], missing_codes=["-9"])))[-3:] == [
        "--keys", "my key", "--missing=-9",
    ]  # fmt: skip
    assert command_line(FULL) == "sdckit assess FILE --scenario SCENARIO.toml"


def test_the_measures_asked_for_are_repeated() -> None:
    scenario = Scenario(keys=["sex", "age"], numeric=["wage"])
    assert python_call(scenario, ["suda"]).endswith("sdc.assess(data, scenario=scenario, measures=['suda'])")
    command = "sdckit assess FILE --keys sex,age --numeric wage --measures suda,outliers"
    assert command_line(scenario, ["suda", "outliers"]) == command
    with_file = Scenario(keys=["sex"], thresholds={"k": 3})
    command = "sdckit assess FILE --scenario SCENARIO.toml --measures suda"
    assert command_line(with_file, ["suda"]) == command


def test_the_calls_of_a_release_repeat_its_attacks() -> None:
    how = {"id": None, "m": 1, "attacks": "control", "n_attacks": 150, "seed": "SEED"}
    calls = release_calls(Scenario(keys=["a"]), **how)
    assert calls["python"].endswith("scenario=scenario, control=control, n_attacks=150, seed=SEED)")
    assert calls["command"].endswith("--control CONTROL --n-attacks 150 --seed SEED")
    plain = release_calls(Scenario(keys=["a"]), id=None, m=1, attacks="attacks", n_attacks=500)
    assert plain["python"].endswith("sdc.assess(original, released, scenario=scenario, attacks=True)")
    assert plain["command"] == "sdckit assess ORIGINAL --released FILE --keys a --attacks"
