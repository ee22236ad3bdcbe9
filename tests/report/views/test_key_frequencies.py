"""Cells in a document: how many records share a key."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from report.fakes import FULL, assess_fake, pattern, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Facts
from sdckit.report.formats.write import plain_document
from sdckit.report.notebook import screen_blocks
from sdckit.report.views.key_frequencies import VIEW, WILDCARDS


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return survey(400)


@pytest.fixture(scope="module")
def one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(rows, FULL), internal=True)["intruders"][0]
    return found


def test_cells_and_uniques(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    cells = Counter(pattern(row, FULL.keys) for row in rows)
    tree = one["key_frequencies"]
    assert tree["n_cells"]["value"] == len(cells)
    assert tree["sample_uniques"]["value"] == sum(n == 1 for n in cells.values())
    assert sum(row["n_cells"]["value"] for row in tree["frequency_of_frequencies"]) == len(cells)


def test_a_person_is_told_from_a_record() -> None:
    scenario = Scenario(keys=["sex", "age", "occupation"], person="household")
    blocks = VIEW.blocks(plain_document(assess_fake(survey(400), scenario))["intruders"][0], "key_frequencies")
    facts = next(block for block in blocks if isinstance(block, Facts))
    assert facts.items[1][0] == "Records of persons alone with their combination"
    assert any("counted by their records" in getattr(block, "text", "") for block in blocks)


def test_wildcards_and_cells_count_differently() -> None:
    """Who is alone is told under one rule for missing values, the cells under the other: the document says so."""
    keys = ["sex", "age", "occupation"]
    for scenario, n in ((Scenario(keys=keys), 1), (Scenario(keys=keys, missing="category"), 0)):
        one = plain_document(assess_fake(survey(400, missing=0.05), scenario))["intruders"][0]
        blocks = VIEW.blocks(one, "key_frequencies")
        assert [getattr(block, "text", "") for block in blocks].count(WILDCARDS) == n
    data = pl.DataFrame(survey(400, missing=0.05))
    told = [getattr(block, "text", "") for block in screen_blocks(sdc.key_frequencies(data, keys=keys))]
    assert WILDCARDS in told
