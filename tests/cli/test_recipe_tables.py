"""The tables after a recipe: exact figures, no value."""

from __future__ import annotations

import io

from rich.console import Console

import sdckit as sdc
from recipes import STEPS, scenario, survey
from sdckit.cli.recipe_tables import recipe_tables


def printed(scene: sdc.Scenario | None) -> str:
    applied = sdc.Recipe(STEPS[:2]).apply(survey(), scenario=scene, seed=1)
    stream = io.StringIO()
    for table in recipe_tables(applied, name="survey.csv"):
        Console(file=stream, width=100).print(table)
    return stream.getvalue()


def test_with_and_without_a_scenario() -> None:
    text = printed(scenario())
    assert "survey.csv: what was done" in text
    assert "120 records after each step" in text
    assert "2. pram" in text
    assert "cook" not in text
    assert "after each step" not in printed(None)
    assert "1. recode, b" in printed(scenario(keys=None, intruders={"a": ["sex"], "b": ["job"]}))
