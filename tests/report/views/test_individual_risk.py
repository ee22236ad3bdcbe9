"""Risk in a document: fixed bins that add up, the largest only inside."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from report.fakes import FULL, assess_fake, survey
from sdckit.report.blocks import ChartBlock, TableBlock
from sdckit.report.charts import chart_for, to_svg
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document
from sdckit.report.setting import RISK_EDGES
from sdckit.report.views.individual_risk import VIEW


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return survey(400)


@pytest.fixture(scope="module")
def one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(rows, FULL), internal=True)["intruders"][0]
    return found


def test_the_distribution_adds_up(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    tree = one["individual_risk"]
    assert [row["from"] for row in tree["distribution"]] == list(RISK_EDGES[:-1])
    assert sum(row["n"]["value"] for row in tree["distribution"]) == len(rows)
    assert tree["distribution"][-1]["cumulative"]["value"] == 1
    expected = tree["expected_reidentifications"]["value"]
    assert tree["global_risk"]["value"] == pytest.approx(expected / len(rows))


def test_the_first_shares_agree(rows: list[dict[str, Any]]) -> None:
    plain = plain_document(assess_fake(rows, FULL))["intruders"][0]
    (table,) = [block for block in VIEW.blocks(plain, "individual_risk") if isinstance(block, TableBlock)]
    assert table.rows[0][2] == table.rows[0][3]
    assert table.rows[-1][3] == "100 %"


def test_the_largest_risk_stays_inside(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    assessment = assess_fake(rows, FULL)
    assert one["individual_risk"]["max_risk"] == max(assessment.intruders[0]["individual_risk"].risks)
    assert "Largest individual risk" in VIEW.figures(one, "individual_risk")
    outside = plain_document(assessment)["intruders"][0]
    assert "max_risk" not in outside["individual_risk"]
    assert "Largest" not in str(VIEW.blocks(outside, "individual_risk"))


def test_household_risk_is_drawn_and_listed_inside_only(rows: list[dict[str, Any]]) -> None:
    result = sdc.individual_risk(
        pl.DataFrame(rows), keys=["sex", "age", "region"], weight="weight", household="household"
    )
    inside, outside = (protect(result_document(result), internal=internal) for internal in (True, False))
    counts = [row["n"]["value"] for row in inside["individual_risk"]["household_distribution"]]
    assert counts == list(result.household_histogram(RISK_EDGES))
    blocks = VIEW.blocks(inside, "individual_risk")
    charts = [one.caption for one in blocks if isinstance(one, ChartBlock) and one.aside]
    assert charts == [f"Distribution of {kind} risk, and its cumulative curve" for kind in ("individual", "household")]
    assert "household risk (upper edge of the bin)" in to_svg(chart_for("risk", blocks[4].data))
    assert [one.columns[0] for one in blocks if isinstance(one, TableBlock)] == ["Individual risk", "Household risk"]
    assert "household_distribution" not in outside["individual_risk"]
    assert len(VIEW.blocks(outside, "individual_risk")) == 4
