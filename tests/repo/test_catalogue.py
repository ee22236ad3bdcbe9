"""A measure is five things at once: a file, its test, a golden case, a catalogue row, a page."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import polars as pl
import pytest

import sdckit
from sdckit.catalogue import CATALOGUE, Measure
from tree import ROOT, SRC, TESTS, none_offends

ROOMS = ("identity", "attribute", "attacks", "utility")
GOLDEN = "\n".join(path.read_text(encoding="utf-8") for path in sorted((TESTS / "golden").rglob("*.py")))
HEADINGS = ("What it answers", "Formula", "Reading it", "Limits", "Source")
MEASURES = sorted(
    name
    for name in sdckit.__all__
    if inspect.isfunction(function := getattr(sdckit, name))
    and function.__module__.startswith(tuple(f"sdckit.{room}." for room in ROOMS))
    and function.__name__ == name  # a short alias is no measure of its own
)


def test_every_public_measure_has_a_row_and_every_row_a_measure() -> None:
    assert sorted(row.name for row in CATALOGUE) == MEASURES


def once(room: Path, name: str) -> bool:
    return len(list(room.rglob(name))) == 1


def test_a_row_has_its_file_and_its_test() -> None:
    none_offends(
        (
            row.name
            for row in CATALOGUE
            if not once(SRC / row.room, f"{row.name}.py") or not once(TESTS / row.room, f"test_{row.name}.py")
        ),
        "a row has one file and one test in its room",
    )


def test_a_row_has_a_golden_case() -> None:
    none_offends(
        (row.name for row in CATALOGUE if not re.search(rf"\b{row.name}\(", GOLDEN)),
        "a golden test calls every measure",
    )


def lacking(name: str) -> list[str]:
    """What the page of a measure does not have."""
    path = ROOT / "docs" / "measures" / f"{name}.md"
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    title = [] if page.startswith(f"# `{name}`") else [f"{name}: title"]
    return title + [f"{name}: {heading}" for heading in HEADINGS if f"\n## {heading}\n" not in page]


def test_a_row_has_its_page() -> None:
    none_offends(
        (one for row in CATALOGUE for one in lacking(row.name)), "a measure's page has a title and five headings"
    )


SMALL = {"a": [1, 1, None, 2, 2, 3], "b": ["x", "y", "y", None, "z", "z"], "s": list("uvuvuv"), "h": [1, 1, 2, 2, 3, 3]}
MORE = {
    "joint_audit": {"tables": [["a", "b"]]},
    "explain": {"row": 2},
}  # a record that only another one's missing value could match
OTHER = {"wildcard": "category", "category": "wildcard"}
ARGUMENTS = {"keys": ["a", "b"], "known": ["a", "b"], "household": "h", "person": "h", "sensitive": ["s"]}


def takes(row: Measure) -> set[str]:
    """The arguments of a row's measure."""
    return set(inspect.signature(getattr(sdckit, row.name)).parameters)


@pytest.mark.parametrize("row", [row for row in CATALOGUE if "missing" in takes(row)], ids=lambda row: row.name)
def test_the_row_says_the_default_rule_for_missing_values(row: Measure) -> None:
    measure = getattr(sdckit, row.name)
    given = {role: ARGUMENTS[role] for role in row.needs} | MORE.get(row.name, {})
    by_default, as_said, otherwise = (
        measure(*[pl.DataFrame(SMALL)] * (1 if row.files in {"one", "estimates"} else 2), **given, **rule).to_dict()
        for rule in ({}, {"missing": row.missing}, {"missing": OTHER[row.missing]})
    )
    assert by_default == as_said != otherwise


def test_the_roles_a_row_needs_are_arguments() -> None:
    none_offends(
        (f"{row.name}: {role}" for row in CATALOGUE for role in row.needs if role not in takes(row)),
        "the roles a row needs are arguments of its measure",
    )
