"""k-anonymity in a document: records in violation, the level only inside."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from report.fakes import FULL, assess_fake, pattern, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Facts, TableBlock
from sdckit.report.formats.write import plain_document
from sdckit.report.views.k_anonymity import VIEW


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return survey(400)


@pytest.fixture(scope="module")
def one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(rows, FULL), internal=True)["intruders"][0]
    return found


def test_violations_hold_and_rate(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    cells = Counter(pattern(row, FULL.keys) for row in rows)
    tree = one["k_anonymity"]
    for k in (2, 3, 5):
        below = sum(n for n in cells.values() if n < k)
        assert tree["violations"][str(k)]["value"] == below
        assert tree["holds"][str(k)]["value"] == (below == 0)
        assert tree["violation_rates"][str(k)]["value"] == pytest.approx(below / len(rows), abs=1e-6)


def test_both_missing_rules_are_shown() -> None:
    plain = plain_document(assess_fake(survey(500, missing=0.03), FULL))["intruders"][0]
    (table,) = [block for block in VIEW.blocks(plain, "k_anonymity") if isinstance(block, TableBlock)]
    assert [row[0] for row in table.rows][:2] == ["k = 2, missing as wildcard", "k = 2, missing as category"]
    resting = plain["k_anonymity"]["resting_on_missing"]
    assert [row[4] for row in table.rows] == [text for k in resting for text in (resting[k]["text"], "–")]
    assert any(count["text"] != "0" for count in resting.values())


def test_the_level_stays_inside(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    level = min(Counter(pattern(row, FULL.keys) for row in rows).values())
    (facts,) = [block for block in VIEW.blocks(one, "k_anonymity") if isinstance(block, Facts)]
    assert facts.items == (("Largest k that holds", str(level)),)
    outside = plain_document(assess_fake(rows, FULL))["intruders"][0]
    assert "level" not in outside["k_anonymity"]
    assert "Largest k" not in str(VIEW.blocks(outside, "k_anonymity"))


def test_persons_are_called_so() -> None:
    scenario = Scenario(keys=["sex", "age", "occupation"], person="household")
    plain = plain_document(assess_fake(survey(400), scenario))["intruders"][0]
    assert "Records in groups of fewer than k persons with the same keys" in str(VIEW.blocks(plain, "k_anonymity"))
