from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sdckit.report.sections_identity import RISK_EDGES

from report.fakes import FULL, assess_fake, pattern, survey
from sdckit.report.document import build_document
from sdckit.report.protect import protect


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return survey(400)


@pytest.fixture(scope="module")
def one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    plain = protect(build_document(assess_fake(rows, FULL)), internal=True)
    found: dict[str, Any] = plain["intruders"][0]
    return found


def test_cells_and_uniques(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    cells = Counter(pattern(row, FULL.keys) for row in rows)
    tree = one["key_frequencies"]
    assert tree["n_cells"]["value"] == len(cells)
    assert tree["sample_uniques"]["value"] == sum(n == 1 for n in cells.values())
    assert sum(row["n_cells"]["value"] for row in tree["frequency_of_frequencies"]) == len(cells)


def test_violations_hold_and_rate(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    cells = Counter(pattern(row, FULL.keys) for row in rows)
    tree = one["k_anonymity"]
    for k in (2, 3, 5):
        below = sum(n for n in cells.values() if n < k)
        assert tree["violations"][str(k)]["value"] == below
        assert tree["holds"][str(k)]["value"] == (below == 0)
        assert tree["violation_rates"][str(k)]["value"] == pytest.approx(below / len(rows), abs=1e-6)


def test_the_distribution_adds_up(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    tree = one["individual_risk"]
    assert [row["from"] for row in tree["distribution"]] == list(RISK_EDGES[:-1])
    assert sum(row["n"]["value"] for row in tree["distribution"]) == len(rows)
    assert tree["distribution"][-1]["cumulative"]["value"] == 1
    expected = tree["expected_reidentifications"]["value"]
    assert tree["global_risk"]["value"] == pytest.approx(expected / len(rows))


def test_contributions_are_in_no_telling_order(one: dict[str, Any]) -> None:
    singles = [row["variables"] for row in one["key_contributions"]["table"] if len(row["variables"]) == 1]
    assert singles == sorted(singles)


def test_households(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    tree = one["household_structure"]
    sizes = Counter(Counter(row["household"] for row in rows).values())
    assert {row["level"]: row["n"]["value"] for row in tree["sizes"]} == {str(k): n for k, n in sizes.items()}


def test_a_key_has_its_missing_rate() -> None:
    rows = survey(400, missing=0.1)
    plain = protect(build_document(assess_fake(rows, FULL)), internal=True)
    age = plain["intruders"][0]["key_facts"][1]
    gone = sum(row["age"] is None for row in rows)
    assert age["n_missing"]["value"] == gone
    assert age["missing_rate"]["value"] == pytest.approx(gone / 400, abs=1e-6)
