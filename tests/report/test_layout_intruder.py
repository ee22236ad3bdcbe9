from __future__ import annotations

from typing import Any

import pytest

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenario import Scenario
from sdckit.report.blocks import ChartBlock, TableBlock
from sdckit.report.layout_intruder import MEASURE_BLOCKS, intruder_sections
from sdckit.report.write import plain_document


@pytest.fixture(scope="module")
def one() -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(survey(500, missing=0.03), FULL))["intruders"][0]
    return found


def tables(one: dict[str, Any]) -> dict[str, TableBlock]:
    sections = intruder_sections(one, heading="x")
    return {b.caption: b for section in sections for b in section.blocks if isinstance(b, TableBlock)}


def test_every_part_has_its_section(one: dict[str, Any]) -> None:
    titles = [section.title for section in intruder_sections(one, heading="Intruder")]
    assert titles == [
        "Intruder", "Keys and their levels", "How many records share a key", "k-anonymity",
        "Risk of re-identification", "Which keys contribute most", "Households",
        "What would be learnt: l-diversity",
    ]  # fmt: skip


def test_both_missing_rules_are_shown(one: dict[str, Any]) -> None:
    rows = tables(one)["Records whose key is shared by fewer than k records"].rows
    assert [row[0] for row in rows][:2] == ["k = 2, missing as wildcard", "k = 2, missing as category"]


def test_rows_and_columns_agree(one: dict[str, Any]) -> None:
    for table in tables(one).values():
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows), table.caption
        assert all(0 < number < len(table.columns) for number in table.numeric)


def test_keys_are_ranked_by_printed_figures(one: dict[str, Any]) -> None:
    chart = next(b for b in MEASURE_BLOCKS["key_contributions"](one) if isinstance(b, ChartBlock))
    left = [row["uniques_without"] for row in chart.data["rows"]]
    values = [leaf["value"] if leaf["value"] is not None else 2.5 for leaf in left]
    assert values == sorted(values)


def test_what_did_not_run_says_why() -> None:
    plain = plain_document(assess_fake(survey(200), Scenario(keys=["sex", "age"])))["intruders"][0]
    assert tables(plain)["Measures that did not run, and why"].rows == (
        ("l_diversity", "no sensitive variable is declared"),
    )
