"""A measure is five things at once: a file, its test, a golden case, a catalogue row, a page."""

from __future__ import annotations

import inspect
import re

import pytest

import sdckit
from sdckit.catalogue import CATALOGUE, Measure
from tree import ROOT, SRC, TESTS

ROOMS = ("identity", "attribute", "attacks", "utility")
GOLDEN = "\n".join(path.read_text(encoding="utf-8") for path in sorted((TESTS / "golden").rglob("*.py")))
MEASURES = sorted(
    name
    for name, home in sdckit._HOMES.items()
    if home.startswith(tuple(f"{room}." for room in ROOMS)) and inspect.isfunction(getattr(sdckit, name))
)


def test_every_public_measure_has_a_row_and_every_row_a_measure() -> None:
    assert sorted(row.name for row in CATALOGUE) == MEASURES


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_its_file_and_its_test(row: Measure) -> None:
    assert (SRC / row.room / f"{row.name}.py").is_file()
    assert (TESTS / row.room / f"test_{row.name}.py").is_file()


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_a_golden_case(row: Measure) -> None:
    assert re.search(rf"\b{row.name}\(", GOLDEN), "no golden test calls it"


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_its_page(row: Measure) -> None:
    page = (ROOT / "docs" / "measures" / f"{row.name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# `{row.name}`")
    for heading in ("## What it answers", "## Formula", "## Reading it", "## Limits", "## Source"):
        assert heading in page


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_the_row_says_the_default_rule_for_missing_values(row: Measure) -> None:
    parameters = inspect.signature(getattr(sdckit, row.name)).parameters
    if "missing" in parameters:
        assert parameters["missing"].default == row.missing


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_the_roles_a_row_needs_are_arguments(row: Measure) -> None:
    assert set(row.needs) <= set(inspect.signature(getattr(sdckit, row.name)).parameters)
