"""Households in a document."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from report.fakes import FULL, assess_fake, survey
from sdckit.report.blocks import TableBlock
from sdckit.report.formats.write import plain_document
from sdckit.report.views.household_structure import VIEW


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return survey(400)


@pytest.fixture(scope="module")
def one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(rows, FULL), internal=True)["intruders"][0]
    return found


def test_households(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    tree = one["household_structure"]
    sizes = Counter(Counter(row["household"] for row in rows).values())
    assert {row["level"]: row["n"]["value"] for row in tree["sizes"]} == {str(k): n for k, n in sizes.items()}


def test_every_size_has_its_row(one: dict[str, Any]) -> None:
    (table,) = [block for block in VIEW.blocks(one, "household_structure") if isinstance(block, TableBlock)]
    assert [row[0] for row in table.rows] == [row["level"] for row in one["household_structure"]["sizes"]]
