"""The gate as a function: every declared threshold has a verdict, or nothing passes."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

import sdckit as sdc
from sdckit.workflow.check import check_assessment


@pytest.fixture
def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sex": ["f"] * 4 + ["m"] * 5,
            "age": [30, 30, 41, 41, 30, 30, 41, 41, 60],
            "ill": ["a", "b", "a", "b", "a", "b", "a", "b", "a"],
        }
    )


def scenario(keys: list[str] | None = None, **limits: float) -> sdc.Scenario:
    return sdc.Scenario(keys=keys or ["sex", "age"], sensitive=["ill"], thresholds=limits)


def test_it_passes_where_everything_holds(people: pl.DataFrame) -> None:
    result = sdc.check(people, scenario=scenario(["sex"], k=4, l=2))
    assert result.passed
    assert bool(result)
    assert [verdict.name for verdict in result.verdicts] == ["k", "l"]
    assert not result.exceeded
    assert not result.undefined


def test_one_threshold_exceeded_is_enough(people: pl.DataFrame) -> None:
    result = sdc.check(people, scenario=scenario(k=2, risk=1.0))
    assert not result.passed
    assert not bool(result)
    assert [(verdict.name, verdict.n_records) for verdict in result.exceeded] == [("k", 1)]


def test_every_intruder_is_judged(people: pl.DataFrame) -> None:
    both = sdc.Scenario(intruders={"one": ["sex"], "two": ["sex", "age"]}, thresholds={"k": 2})
    result = sdc.check(people, scenario=both)
    assert [(verdict.intruder, verdict.holds) for verdict in result.verdicts] == [
        ("one", True),
        ("two", False),
    ]


def test_without_thresholds_it_refuses(people: pl.DataFrame) -> None:
    with pytest.raises(sdc.ScenarioError, match="declares no threshold"):
        sdc.check(people, scenario=scenario())


def test_guesses_that_nobody_confirmed_are_no_gate(people: pl.DataFrame) -> None:
    guessed = sdc.Scenario(keys=["sex"], thresholds={"k": 4}, unconfirmed=["sex", "ill"])
    with pytest.raises(
        sdc.ScenarioError, match=r"not confirmed: .* 'sex', 'ill'\..*delete its name"
    ) as refused:
        sdc.check(people, scenario=guessed)
    with pytest.warns(sdc.SdcWarning, match="guess that is not confirmed: .*'sex', 'ill'") as told:
        assessment = sdc.assess(people, scenario=guessed)
    assert len(told) == 1
    assert assessment.warnings[0] == str(told[0].message)
    assert assessment.verdicts[0].holds  # the figures are there to be explored
    with pytest.raises(sdc.ScenarioError, match="not confirmed"):
        check_assessment(assessment)
    assert "threshold" not in str(refused.value)
    unedited = sdc.Scenario(keys=["sex"], unconfirmed=["sex"])
    with pytest.raises(sdc.ScenarioError, match="not confirmed"):
        sdc.check(people, scenario=unedited)


def test_a_release_is_no_gate_either(people: pl.DataFrame) -> None:
    guessed = sdc.Scenario(keys=["sex"], thresholds={"k": 4}, unconfirmed=["ill"], aligned=True)
    with pytest.raises(sdc.ScenarioError, match="not confirmed"):
        sdc.check(people, people.reverse(), scenario=guessed)
    released = people.with_columns(sex=pl.Series(["f", "m", *["f"] * 2, "f", *["m"] * 4]))
    with pytest.warns(sdc.SdcWarning, match="not confirmed") as told:
        assessment = sdc.assess(people, released, scenario=guessed)
    assert sum("not confirmed" in str(one.message) for one in told) == 1
    assert "not confirmed" in assessment.warnings[0]


def test_a_threshold_without_its_roles_is_undefined(people: pl.DataFrame) -> None:
    lacking = sdc.Scenario(keys=["sex"], thresholds={"k": 2, "l": 2, "household_risk": 0.5})
    result = sdc.check(people, scenario=lacking)
    assert not result.passed
    assert {verdict.name for verdict in result.undefined} == {"l", "household_risk"}
    assert all(verdict.reason for verdict in result.undefined)


def test_a_verdict_that_is_not_there_is_not_held(people: pl.DataFrame) -> None:
    assessment = sdc.assess(people, scenario=scenario(["sex"], k=2, l=2))
    assert check_assessment(assessment).passed
    silent = dataclasses.replace(
        assessment,
        intruders=tuple(dataclasses.replace(one, verdicts=()) for one in assessment.intruders),
    )
    result = check_assessment(silent)
    assert not result.passed
    assert [(verdict.name, verdict.variable) for verdict in result.undefined] == [("k", None), ("l", "ill")]


def test_any_engine_will_do(people: pl.DataFrame) -> None:
    for data in (people, people.to_pandas(), people.to_arrow(), people.lazy()):
        assert sdc.check(data, scenario=scenario(["sex"], k=4)).passed
