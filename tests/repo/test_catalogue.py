"""A measure is five things at once: a file, its test, a golden case, a catalogue row, a page."""

from __future__ import annotations

import inspect
import re

import polars as pl
import pytest

import sdckit
from sdckit.catalogue import CATALOGUE, Measure
from tree import ROOT, SRC, TESTS

ROOMS = ("identity", "attribute", "attacks", "utility")
GOLDEN = "\n".join(path.read_text(encoding="utf-8") for path in sorted((TESTS / "golden").rglob("*.py")))
MEASURES = sorted(
    name
    for name in sdckit.__all__
    if inspect.isfunction(function := getattr(sdckit, name))
    and function.__module__.startswith(tuple(f"sdckit.{room}." for room in ROOMS))
    and function.__name__ == name  # a short alias is no measure of its own
)


def test_every_public_measure_has_a_row_and_every_row_a_measure() -> None:
    assert sorted(row.name for row in CATALOGUE) == MEASURES


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_its_file_and_its_test(row: Measure) -> None:
    assert len(list((SRC / row.room).rglob(f"{row.name}.py"))) == 1
    assert len(list((TESTS / row.room).rglob(f"test_{row.name}.py"))) == 1


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_a_golden_case(row: Measure) -> None:
    assert re.search(rf"\b{row.name}\(", GOLDEN), "no golden test calls it"


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_its_page(row: Measure) -> None:
    page = (ROOT / "docs" / "measures" / f"{row.name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# `{row.name}`")
    for heading in ("## What it answers", "## Formula", "## Reading it", "## Limits", "## Source"):
        assert heading in page


SMALL = {
    "a": [1, 1, None, 2, 2, 3],
    "b": ["x", "y", "y", None, "z", "z"],
    "s": list("uvuvuv"),
    "h": [1, 1, 2, 2, 3, 3],
}
MORE = {"explain": {"row": 2}}  # a record that only another one's missing value could match
OTHER = {"wildcard": "category", "category": "wildcard"}
ARGUMENTS = {"keys": ["a", "b"], "known": ["a", "b"], "household": "h", "sensitive": ["s"]}


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_the_row_says_the_default_rule_for_missing_values(row: Measure) -> None:
    measure = getattr(sdckit, row.name)
    if "missing" not in inspect.signature(measure).parameters:
        return
    given = {role: ARGUMENTS[role] for role in row.needs} | MORE.get(row.name, {})
    by_default, as_said, otherwise = (
        measure(
            *[pl.DataFrame(SMALL)] * (1 if row.files in {"one", "estimates"} else 2), **given, **rule
        ).to_dict()
        for rule in ({}, {"missing": row.missing}, {"missing": OTHER[row.missing]})
    )
    assert by_default == as_said != otherwise


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_the_roles_a_row_needs_are_arguments(row: Measure) -> None:
    assert set(row.needs) <= set(inspect.signature(getattr(sdckit, row.name)).parameters)
