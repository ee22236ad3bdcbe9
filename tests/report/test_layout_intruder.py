from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from sdckit.report.layout_intruder import MEASURE_BLOCKS, _share_saved, intruder_sections, most_saving

import sdckit as sdc
from draw import quiet
from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenario import Scenario
from sdckit.report.blocks import ChartBlock, Facts, Paragraph, TableBlock, Tables
from sdckit.report.write import plain_document

KEYS = ["sex", "age", "region", "occupation"]


@pytest.fixture(scope="module")
def one() -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(survey(500, missing=0.03), FULL))["intruders"][0]
    return found


def tables(one: dict[str, Any]) -> dict[str, TableBlock]:
    sections = intruder_sections(one, heading="x")
    blocks = [block for section in sections for block in section.blocks]
    inner = [table for block in blocks if isinstance(block, Tables) for table in block.items]
    return {table.caption: table for table in [*blocks, *inner] if isinstance(table, TableBlock)}


def test_every_part_has_its_section(one: dict[str, Any]) -> None:
    titles = [section.title for section in intruder_sections(one, heading="Intruder")]
    assert titles == [
        "Intruder", "Keys and their levels", "How many records share a key", "k-anonymity",
        "Risk of re-identification", "Which keys contribute most", "Households",
        "What would be learnt: l-diversity",
    ]  # fmt: skip


def test_both_missing_rules_are_shown(one: dict[str, Any]) -> None:
    rows = tables(one)["Records in groups of fewer than k with the same keys"].rows
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


def test_levels_stand_side_by_side(one: dict[str, Any]) -> None:
    keys = intruder_sections(one, heading="x")[1]
    (levels,) = [block for block in keys.blocks if isinstance(block, Tables)]
    assert [table.caption for table in levels.items] == [f"Levels of {key}" for key in one["keys"]]


def test_the_first_shares_agree(one: dict[str, Any]) -> None:
    rows = tables(one)["Records by individual risk"].rows
    assert rows[0][2] == rows[0][3]
    assert rows[-1][3] == "100 %"


def test_a_person_is_told_from_a_record() -> None:
    scenario = Scenario(keys=["sex", "age", "occupation"], person="household")
    made = plain_document(assess_fake(survey(400), scenario))["intruders"][0]
    sections = intruder_sections(made, heading="x")
    facts = next(block for block in sections[2].blocks if isinstance(block, Facts))
    assert facts.items[1][0] == "Records of persons alone with their combination"
    assert any("counted by their records" in getattr(block, "text", "") for block in sections[2].blocks)
    assert "Records in groups of fewer than k persons with the same keys" in tables(made)


def contributions(left: dict[str, Any], uniques: Any = 40) -> str:
    def leaf(value: Any) -> dict[str, Any]:
        small = {"text": "<5", "value": None, "below": 5}
        return small if value == "<5" else {"text": f"{value:,}", "value": value}

    table = [{"variables": [name], "uniques_without": leaf(value)} for name, value in left.items()]
    return most_saving({"uniques": leaf(uniques), "table": table})


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({"sex": 30, "age": 10}, " Recoding age would save most: without it, 10 are left."),
        ({"sex": 30, "age": "<5"}, " Recoding age would save most: without it, <5 are left."),
        ({"sex": 10, "age": 10, "job": 40}, " Recoding sex or age would save most: without it, 10 are left."),
        ({"sex": 40, "age": 40}, " No key makes many of them unique by itself."),
        ({}, ""),
    ],
)
def test_the_key_to_recode_first(left: dict[str, Any], words: str) -> None:
    assert contributions(left) == words
    assert contributions(left, uniques=0) == ""


def test_what_is_withheld_is_no_reason_to_recode() -> None:
    withheld = {"text": "withheld", "value": None}
    rows = [{"variables": ["age"], "uniques_without": withheld}]
    assert most_saving({"uniques": {"text": "40", "value": 40}, "table": rows}) == ""


@pytest.fixture(scope="module")
def stepped() -> Any:
    frame = pl.DataFrame(survey(500)).with_columns(wealth=pl.int_range(500) * 7 % 9)
    with quiet():
        return sdc.assess(frame, scenario=Scenario(keys=[*KEYS, "wealth"], sampling_fraction=0.05))


def test_the_step_to_take_first_is_named_by_printed_figures(stepped: Any) -> None:
    plain = plain_document(stepped)["intruders"][0]
    blocks = MEASURE_BLOCKS["key_contributions"](plain)
    table = tables(plain)["One key coarser by a step"]
    left = [float(row[2].replace(",", "")) for row in table.rows]
    assert left == sorted(left)
    assert {row[1] for row in table.rows} == {"in pairs", "rarest as one"}
    assert any(f"Of these steps, {table.rows[0][0]}" in getattr(block, "text", "") for block in blocks)
    assert all(row[4].endswith(" %") for row in table.rows)
    assert table.columns[5:7] == ("Below k = 3", "Below k = 5")
    assert not any("What to do first" in caption for caption in tables(plain))


def test_in_the_room_the_suggestions_are_ranked(stepped: Any) -> None:
    plain = plain_document(stepped, internal=True)["intruders"][0]
    rows = next(one for caption, one in tables(plain).items() if "What to do first" in caption).rows
    ranked = stepped.intruders[0].key_contributions.suggestions
    assert [row[0].split()[-1] for row in rows] == [one.variables[0] for one in ranked]
    assert rows[0][0].startswith(("coarsen ", "leave out "))


@pytest.mark.parametrize(
    ("left", "whole", "words"),
    [
        ({"text": "395", "value": 395}, {"text": "1,095", "value": 1095}, "64 %"),
        ({"text": "<5", "value": None, "below": 5}, {"text": "150", "value": 150}, "over 96 %"),
        ({"text": "50", "value": 50}, {"text": "45", "value": 45}, "0 %"),
        ({"text": "withheld", "value": None}, {"text": "45", "value": 45}, "withheld"),
        ({"text": "0", "value": 0}, {"text": "<5", "value": None, "below": 5}, "withheld"),
        ({"text": "0", "value": 0}, {"text": "0", "value": 0}, "undefined"),
    ],
)
def test_the_share_that_is_saved(left: dict[str, Any], whole: dict[str, Any], words: str) -> None:
    assert _share_saved(left, whole) == words


def test_the_key_to_recode_is_named_below_no_column(one: dict[str, Any]) -> None:
    blocks = MEASURE_BLOCKS["key_contributions"](one)
    assert isinstance(blocks[0], Paragraph)
    assert "would save most" in blocks[0].text
    assert not any("Suggestion" in block.columns for block in blocks if isinstance(block, TableBlock))
