"""The section on what was done: steps, values, risks, in this order."""

from __future__ import annotations

import sdckit as sdc
from recipes import STEPS, scenario, survey
from sdckit.report.blocks import ChartBlock, Paragraph, TableBlock
from sdckit.report.layout_recipe import recipe_section
from sdckit.report.sections_recipe import plain_recipe
from sdckit.workflow.recipe_applied import WhatWasDone


def section(scene: sdc.Scenario | None):
    steps = STEPS[:2]
    applied = sdc.Recipe(steps).apply(survey(), scenario=scene, seed=5)
    return recipe_section(plain_recipe(WhatWasDone(applied.log, tuple(steps), applied.figures, applied.k)))


def test_with_a_scenario() -> None:
    found = section(scenario())
    assert found.title == "What was done"
    tables = [block for block in found.blocks if isinstance(block, TableBlock)]
    assert [table.caption for table in tables] == [
        "The steps",
        "Values changed",
        "Risk and utility after each step",
    ]
    assert [row[0] for row in tables[2].rows] == ["the original", "1. recode", "2. pram"]
    assert any(isinstance(block, ChartBlock) for block in found.blocks)
    assert "2 steps: 1. recode and 2. pram" in found.blocks[0].text


def test_several_intruders_have_a_row_each() -> None:
    found = section(scenario(keys=None, intruders={"a": ["sex"], "b": ["job"]}))
    rows = next(b for b in found.blocks if isinstance(b, TableBlock) and b.caption.startswith("Risk")).rows
    assert [row[0] for row in rows][:2] == ["the original, a", "the original, b"]


def test_without_a_scenario() -> None:
    found = section(None)
    assert sum(isinstance(block, TableBlock) for block in found.blocks) == 2
    assert isinstance(found.blocks[-1], Paragraph)
    assert "internal log" in found.blocks[-1].text
