"""What a recipe gives: frames of figures, an assessment against the original, a report."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdckit as sdc
from recipes import SECRET, STEPS, scenario, survey
from sdckit.errors import ScenarioError

RECIPE = sdc.Recipe(STEPS)


@pytest.fixture(scope="module")
def applied() -> sdc.Applied:
    return RECIPE.apply(survey(), scenario=scenario(), seed=987654, secret=SECRET)


def test_the_frames(applied: sdc.Applied) -> None:
    steps = applied.steps
    assert steps["step"].to_list() == [0, 1, 2, 3, 4]
    assert steps["method"].to_list()[0] == "before"
    assert steps["below_k"].to_list()[-1] == 0
    assert steps["share_changed"].to_list() == sorted(steps["share_changed"].to_list())
    variables = dict(applied.variables.select("variable", "changed").rows())
    assert variables["name"] == variables["w"] == 0
    assert variables["age"] == 120
    assert applied.variables["share"].to_list()[2] == 1.0


def test_it_is_assessed_beside_its_original(applied: sdc.Applied) -> None:
    found = applied.assess(seed=1)
    assert found.aligned
    assert [verdict.holds for verdict in found.verdicts] == [True]
    assert any("age (numbers in bands): the original is compared" in text for text in found.warnings)
    assert found.what_was_done is not None
    assert found.what_was_done.log == applied.log.without_secrets()


def test_attacks_control_and_models_are_those_of_an_assessment(applied: sdc.Applied) -> None:
    told: list[str] = []
    with pytest.warns(sdc.SdcWarning, match="60 of 60 records of the control file"):
        found = applied.assess(
            seed=1, attacks=True, control=survey().head(60), models="income ~ age", step=told.append
        )  # fmt: skip
    assert found.control
    assert found.attacks
    assert found.models == (("income ~ age", "linear"),)
    assert any("attacking" in text for text in told)


def test_a_fully_synthetic_row_is_nobodys() -> None:
    full = sdc.Recipe([{"method": "synthesize", "models": "sample"}])
    data = survey().select("sex", "age", "job", "income", "w")
    assert not full.apply(data, scenario=scenario(), seed=1, secret=SECRET, watch=False)._aligned()
    part = sdc.Recipe([{"method": "synthesize", "models": "sample", "columns": ["income"]}])
    assert part.apply(data, scenario=scenario(), seed=1, secret=SECRET, watch=False)._aligned()


def test_the_report_tells_what_was_done(applied: sdc.Applied, tmp_path: Path) -> None:
    applied.report(tmp_path / "r.md", seed=1)
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "What was done" in text
    assert "suppression" in text.split("What was done")[1].split("Before and after")[0]
    for secret in (str(applied.log.seed), "pd =", "person 1", "0.5;"):
        assert secret not in text.split("What was done")[1].split("Before and after")[0]


def test_without_a_scenario(applied: sdc.Applied) -> None:
    bare = sdc.Recipe(STEPS[:1]).apply(survey(), seed=1, secret=SECRET)
    assert bare.steps["intruder"].to_list() == ["", ""]
    with pytest.raises(ScenarioError, match="needs a scenario"):
        bare.assess()
    assert "1. recode: 120 values changed" in repr(bare)
    assert "person" not in repr(applied)


def test_a_key_that_was_left_out_is_told() -> None:
    steps = [
        {"method": "drop_identifiers", "columns": ["age"]},
        {"method": "pram", "columns": ["sex"], "pd": 0.5},
    ]
    scene = scenario(keys=None, intruders={"a": ["sex", "age"], "b": ["age"]}, missing={"age": "category"})
    found = sdc.Recipe(steps).apply(survey(), scenario=scene, seed=1, secret=SECRET).assess(seed=1)
    assert [one.name for one in found.intruders] == ["a"]
    assert "age: left out of the release, so no intruder can use it there" in found.warnings
    none = sdc.Recipe(steps).apply(survey(), scenario=scenario(keys=["age"]), seed=1, secret=SECRET)
    with pytest.raises(ScenarioError, match="none of the keys"):
        none.assess()
