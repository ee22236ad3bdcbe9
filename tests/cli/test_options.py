"""From options and a scenario file to one scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdckit.cli.options import codes, make_scenario, split, split_named, whole_numbers
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ScenarioError


def made(file: Path | None = None, **given: Any) -> Scenario:
    shared: dict[str, Any] = {"keys": None, "intruders": None, "missing_rule": None, "thresholds": {}}
    return make_scenario(file, **(shared | given))


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["a", "b"]\nweight = "w"\nsensitive = ["s"]\n\n[thresholds]\nk = 3\nl = 2\n')
    return path


def test_lists_are_comma_separated_and_repeatable() -> None:
    assert split(["a, b", "c", ",", ""]) == ["a", "b", "c"]
    assert split(None) == []
    assert split(['"Alter, in Jahren", sex', 'size "m"', '"open, still']) == [
        "Alter, in Jahren", "sex", 'size "m"', "open, still",
    ]  # fmt: skip


def test_an_empty_code_alone_is_a_choice() -> None:
    assert made(keys=["a"], missing_codes=codes([""])).missing_codes == ("",)
    assert made(keys=["a"], missing_codes=codes(None)).missing_codes == ()
    assert codes(["", "NA, -9"]) == ["NA", "-9"]


@pytest.mark.parametrize("text", ["2,x", "2.5", "-1", "²"])
def test_whole_numbers_only(text: str) -> None:
    assert whole_numbers(None, option="--k") == []
    with pytest.raises(ScenarioError, match="--k takes whole numbers"):
        whole_numbers([text], option="--k")


@pytest.mark.parametrize("text", ["neighbour", "=a,b", "neighbour="])
def test_a_named_list_needs_a_name_and_a_value(text: str) -> None:
    with pytest.raises(ScenarioError, match="--intruders takes name=value"):
        split_named([text], option="--intruders")


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ScenarioError, match="names 'x' twice"):
        split_named(["x=a", "x=b"], option="--intruders")


def test_options_alone_make_a_scenario() -> None:
    scenario = made(keys=["a,b", "c"], weight="w", sensitive=["s"], thresholds={"k": 3, "risk": None})
    assert scenario.keys == ("a", "b", "c")
    assert (scenario.weight, scenario.sensitive) == ("w", ("s",))
    assert scenario.thresholds.declared == {"k": 3}


def test_several_intruders() -> None:
    scenario = made(intruders=["neighbour=a,b", "register=b,c"])
    assert dict(scenario.intruders) == {"neighbour": ("a", "b"), "register": ("b", "c")}


def test_keys_and_intruders_exclude_each_other() -> None:
    with pytest.raises(ScenarioError, match="not both"):
        made(keys=["a"], intruders=["x=a"])


def test_without_keys_it_says_what_to_do() -> None:
    with pytest.raises(ScenarioError, match="--keys sex,age,region, or --scenario"):
        made()


def test_an_option_wins_over_the_file(stored: Path) -> None:
    scenario = made(stored, keys=["c"], thresholds={"k": 5}, sensitive=[])
    assert scenario.keys == ("c",)
    assert scenario.thresholds.declared == {"k": 5, "l": 2}
    assert (scenario.weight, scenario.sensitive) == ("w", ("s",))


def test_a_sampling_fraction_replaces_the_weight_of_the_file(stored: Path) -> None:
    scenario = made(stored, sampling_fraction=0.1)
    assert (scenario.weight, scenario.sampling_fraction) == (None, 0.1)


def test_a_weight_replaces_the_sampling_fraction_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["a"]\nsampling_fraction = 0.1\n')
    scenario = made(path, weight="w")
    assert (scenario.weight, scenario.sampling_fraction) == ("w", None)


def test_weight_and_sampling_fraction_together_are_refused() -> None:
    with pytest.raises(ScenarioError):
        made(keys=["a"], weight="w", sampling_fraction=0.1)


def test_one_rule_for_missing_values() -> None:
    assert made(keys=["a", "b"], missing_rule=["category"]).missing == "category"


def test_a_rule_per_key_and_one_for_the_others() -> None:
    scenario = made(keys=["a", "b"], missing_rule=["a=error,category"])
    assert scenario.missing == {"a": "error", "b": "category"}


def test_a_rule_for_one_key_leaves_the_others_alone() -> None:
    assert made(keys=["a", "b"], missing_rule=["a=category"]).missing == {"a": "category"}


def test_two_bare_rules_are_refused() -> None:
    with pytest.raises(ScenarioError, match="one rule for all keys"):
        made(keys=["a"], missing_rule=["category,error"])
