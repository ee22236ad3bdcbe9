from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from report.documents import render_markdown
from report.fakes import FULL, assess_fake, survey
from report.real import MADE, page, plain as printed
from report.special import assessed
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import ChartBlock, Code, Entries, Facts, Paragraph, Section, TableBlock, Tables, Verdicts
from sdckit.report.chapters.page import (
    EITHER,
    MOST_ROWS,
    figures_of,
    glossary,
    intruder_sections,
    lay_out,
    level_charts,
    not_measured,
    once_where_equal,
    records_section,
    terms,
    texts_of,
    without_repeats,
)
from sdckit.report.common_blocks import bars, figure
from sdckit.report.formats.write import plain_document
from sdckit.report.notebook import screen_page

FURTHER = ("Special uniques", "Unique in the population, too?", "Risky combinations of a few variables", "Outliers")


def test_the_answer_comes_first_and_the_methods_last() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), FULL)))
    titles = [section.title for section in page.sections]
    assert titles[:3] == ["The answer in full", "Scenario", "File"]
    assert titles[-2:] == ["Methods, and how to repeat this", "Glossary"]
    assert page.title == "Invented survey 2025"
    assert page.state == "fail"
    assert page.confidential is None


def test_the_scenario_and_the_call_are_told() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), FULL)))
    facts = dict(next(one for one in page.sections[1].blocks if isinstance(one, Facts)).items)
    assert facts["Limits"] == "k 3, individual risk 0.02, l 2, global risk 2 % and household risk 0.2"
    assert facts["Release"] == "scientific-use file"
    codes = [one.text for one in page.sections[-2].blocks if isinstance(one, Code)]
    assert "sdc.assess(data, scenario=scenario)" in codes[0]
    assert codes[1].startswith("sdckit assess FILE")


@pytest.mark.parametrize(("said", "shown"), [("none", "none: nobody in"), (None, "not declared")])
def test_that_there_are_no_households_is_told(said: str | None, shown: str) -> None:
    scenario = Scenario(keys=["sex"], household=said)
    page = lay_out(plain_document(assess_fake(survey(200), scenario)))
    section = next(section for section in page.sections if section.title == "Scenario")
    facts = dict(next(block for block in section.blocks if isinstance(block, Facts)).items)
    assert facts["Household"].startswith(shown)


def test_intruders_stand_side_by_side() -> None:
    scenario = Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]}, thresholds={"k": 3})
    page = lay_out(plain_document(assess_fake(survey(200), scenario)))
    titles = [section.title for section in page.sections]
    assert "Intruders side by side" in titles
    assert "Intruder “b”" in titles
    verdicts = next(one for one in page.sections[0].blocks if isinstance(one, Verdicts))
    assert [who for _, who, _ in verdicts.items] == ["a", "b"]


def test_warnings_stand_at_the_top() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), FULL, warnings=("the key is constant",))))
    assert any(getattr(one, "text", "") == "Warning: the key is constant" for one in page.sections[0].blocks)


def test_without_a_limit_there_is_no_verdict() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), Scenario(keys=["sex"]))))
    assert page.state == "open"
    assert page.headline.startswith("No limit was declared")


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


def test_rows_and_columns_agree(one: dict[str, Any]) -> None:
    for table in tables(one).values():
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows), table.caption
        assert all(0 < number < len(table.columns) for number in table.numeric)


def test_what_did_not_run_says_why() -> None:
    """Once for all intruders; who is named where it is so of some only."""
    keys = Scenario(intruders={"a": ["sex", "age"], "b": ["sex"]})
    ones = plain_document(assess_fake(survey(200), keys))["intruders"]
    ones[1]["skipped"] = [*ones[1]["skipped"], {"measure": "suda", "reason": "one key"}]
    ((table,),) = [one.blocks for one in not_measured(ones)]
    assert isinstance(table, TableBlock)
    assert table.rows == (
        ("What would be learnt: l-diversity", "l_diversity", "no sensitive variable is declared"),
        ("Special uniques", "suda", "one key (b)"),
    )
    assert not_measured([{"name": "a", "skipped": []}]) == []


def test_levels_stand_side_by_side(one: dict[str, Any]) -> None:
    keys = intruder_sections(one, heading="x")[1]
    (levels,) = [block for block in keys.blocks if isinstance(block, Tables)]
    assert [table.caption for table in levels.items] == [f"Levels of {key}" for key in one["keys"]]


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return plain_document(assessed())


def test_a_section_for_each_that_ran(whole: dict[str, Any]) -> None:
    titles = [section.title for section in intruder_sections(whole["intruders"][0], heading="x")]
    assert [title for title in titles if title in FURTHER] == list(FURTHER)
    blocks = [block for one in intruder_sections(whole["intruders"][0], heading="x") for block in one.blocks]
    assert all(len(row) == len(t.columns) for t in blocks if isinstance(t, TableBlock) for row in t.rows)


def test_options_in_notes_are_not_taken_for_counts(whole: dict[str, Any]) -> None:
    text = render_markdown(whole)
    for words in ("interactions=", "z2 of", "<5 to", "up to <5"):
        assert words not in text
    assert "factor of 2 to 6" in text


def test_counts_are_drawn_beside_their_table(whole: dict[str, Any]) -> None:
    captions = [
        block.caption
        for section in intruder_sections(whole["intruders"][0], heading="x")
        for block in section.blocks
        if isinstance(block, ChartBlock) and section.title in FURTHER
    ]
    assert captions == [
        "Minimal uniques by the number of keys",
        "Sample uniques, and what the model expects of them",
        "Population uniques by model",
        "Combinations of variables with most unsafe cells",
        "Records with an extreme value",
    ]


def test_keys_have_their_levels_inside() -> None:
    assessment = assess_fake(survey(200), FULL)
    for internal in (True, False):
        found = tables(plain_document(assessment, internal=internal)["intruders"][0])["Keys"]
        assert ("Levels" in found.columns) == internal
        assert all(len(row) == len(found.columns) for row in found.rows)


def at_risk(total: int, listed: int, name: str = "default") -> dict[str, Any]:
    rows = [
        {"intruder": name, "row": 12_000 + i, "keys": {"sex": "f", "age": None}, "cell_size": 1234, "risk": 0.5}
        for i in range(listed)
    ]
    return {"intruders": {name: {"listed": listed, "total": total}}, "rows": rows}


def listed_in(found: dict[str, Any]) -> list[TableBlock]:
    section = records_section({"confidential": "secret", "records_at_risk": found})
    return [block for block in section.blocks if isinstance(block, TableBlock)]


def test_a_list_cut_short_says_so() -> None:
    (table,) = listed_in(at_risk(1855, 1000))
    assert table.caption == "200 of 1,855 records, the riskiest first; the JSON lists 1,000"
    assert len(table.rows) == MOST_ROWS


def test_a_list_cut_in_the_json_too() -> None:
    (table,) = listed_in(at_risk(500, 150))
    assert table.caption == "150 of 500 records, the riskiest first"


def test_a_whole_list() -> None:
    (table,) = listed_in(at_risk(3, 3))
    assert table.caption == "3 records, the riskiest first"
    assert table.columns == ("row", "keys", "cell size", "risk")
    assert table.rows[0] == ("12000", "sex = f, age = missing", "1,234", "0.5")


def test_a_plan_has_no_row_numbers() -> None:
    listed = at_risk(2, 2)
    for row in listed["rows"]:
        row["row"] = None
    (table,) = listed_in(listed)
    assert table.columns == ("keys", "cell size", "risk")


def test_each_intruder_has_a_list() -> None:
    scenario = Scenario(intruders={"a": ["sex"], "b": ["sex", "age", "occupation"]})
    plain = plain_document(assess_fake(survey(300), scenario), internal=True)
    blocks = records_section(plain).blocks
    assert isinstance(blocks[1], Paragraph)
    assert blocks[1].text == "Intruder “a”: no record is unique or beyond a limit."
    assert isinstance(blocks[2], TableBlock)
    assert blocks[2].caption.startswith("Intruder “b”: ")
    assert "intruder" not in blocks[2].columns


def test_the_json_says_of_how_many() -> None:
    listed = plain_document(assess_fake(survey(300), FULL), internal=True)["records_at_risk"]
    assert listed["listed"] == listed["total"] == len(listed["rows"]) > 0
    assert listed["intruders"] == {"default": {"listed": listed["listed"], "total": listed["total"]}}
    assert list(listed) == ["listed", "total", "intruders", "rows"]


def levels_of(*levels: str) -> list[str]:
    """The labels of a drawn key, of levels as a document lists them."""
    count = {"text": "10", "value": 10}
    rows = [{"level": one, "n": count, "rate": count} for one in levels]
    rows.append({"pooled": True, "level": "", "n": count, "rate": count})
    chart, table = level_charts([{"name": "age", "level_counts": rows}])
    assert isinstance(chart, ChartBlock)
    assert isinstance(table, TableBlock)
    assert table.behind
    return [row["label"] for row in chart.data["rows"]]


def test_levels_that_are_numbers_are_drawn_in_their_order() -> None:
    assert levels_of("30", "4", "12.5") == ["4", "12.5", "30", "all other levels"]
    assert levels_of("30", "cook", "4") == ["30", "cook", "4", "all other levels"]


# The glossary: a term stands in it where it stands in the document, once, in the order of the alphabet.


def named(*texts: str) -> list[str]:
    found = glossary([Section("", tuple(map(Paragraph, texts)))])
    return [term for one in found for block in one.blocks if isinstance(block, Entries) for term, _, _ in block.items]


def test_terms_are_recognised_and_only_they() -> None:
    assert named("the pMSE of a step") == ["pMSE"]
    assert named("nothing of the trade here") == []
    assert named("SPECKS and PRAM") == ["PRAM", "SPECKS"]
    assert "Key variables" in named("the keys of an intruder")
    assert glossary([Section("", (Code("", "pMSE"),))]) == []


def test_every_term_is_explained_once_in_order() -> None:
    names = [name for name, _, _ in terms()]
    assert names == sorted(names, key=str.casefold)
    assert len(set(names)) == len(names) >= 30
    for name, how, means in terms():
        assert re.compile(how), name
        assert means.endswith("."), name
        assert len(means) < 200, name


@pytest.mark.parametrize("name", MADE)
def test_a_document_explains_its_own_terms(name: str) -> None:
    shown = page(name)
    last = shown.sections[-1]
    assert last.title == "Glossary"
    (entries,) = last.blocks
    assert isinstance(entries, Entries)
    text = "\n".join(texts_of(shown.sections[:-1]))
    for term, how, _ in terms():
        assert bool(re.search(how, text, re.IGNORECASE)) == (term in [one for one, _, _ in entries.items]), term


def test_texts_are_those_of_every_block() -> None:
    assert list(texts_of([Section("head", (Facts((("a", "b"),)), Paragraph("c")))])) == ["head", "a", "b", "c"]


# What is the same for several intruders stands in a document once.


SIZES = TableBlock("Households by size", ("Members", "Households"), (("1", "40"), ("2", "55")))
DRAWN = bars("Households by number of members", "households", [("1 member", {"text": "40", "value": 40})])
WHY = Paragraph("The size can identify.", "note")


def section(*more: object, title: str = "Households") -> Section:
    return Section(title, (Facts((("Households", "95"),)), *figure(DRAWN, SIZES), WHY, *more), 3)


def test_a_figure_is_told_where_it_stands_and_an_explanation_is_left_out() -> None:
    first, second = without_repeats([section(), section(Paragraph("5 are alone."))])
    assert first == section()
    assert [getattr(block, "text", "") for block in second.blocks] == [
        "",
        "Households by number of members: as above.",
        "5 are alone.",
    ]
    assert isinstance(second.blocks[0], Facts)  # the figures of this intruder


def test_what_differs_or_stands_under_another_heading_stays() -> None:
    other = bars("Households by number of members", "households", [("1 member", {"text": "45", "value": 45})])
    ones = [section(), section(title="Elsewhere"), Section("Households", (other,), 3)]
    assert without_repeats(ones) == ones


def test_a_section_never_becomes_a_line_without_a_figure() -> None:
    ones = [Section("Levels", (SIZES,), 3)] * 2
    assert without_repeats(ones) == ones


# Figures side by side, and rules for missing values that make no difference shown once.


def tree(text: str, rule: str) -> dict[str, Any]:
    return {"rule": rule, "violations": {"3": {"text": text, "value": 20}}, "notes": {"k": rule}}


def test_equal_figures_under_both_rules_stand_once() -> None:
    one = {"k_anonymity": tree("20", "wildcard"), "k_anonymity_category": tree("20", "category"), "name": "a"}
    found = once_where_equal(one)
    assert set(found) == {"k_anonymity", "name"}
    assert found["k_anonymity"]["rule"] == EITHER
    assert all(f"missing as {rule}" in f"missing as {EITHER}" for rule in ("wildcard", "category"))


def test_what_is_told_by_variable_has_no_rule_of_its_own() -> None:
    by_variable = {name: tree("20", "") for name in ("ill", "rule")}
    one = {"l_diversity": by_variable, "l_diversity_wildcard": by_variable}
    assert once_where_equal(one) == {"l_diversity": by_variable}
    other = {**one, "l_diversity_wildcard": {**by_variable, "rule": tree("25", "")}}
    assert once_where_equal(other) == other


@pytest.mark.parametrize("variable", ["ill", "rule"])
def test_a_missing_key_that_changes_nothing(variable: str) -> None:
    values = {"a": [1] * 20 + [2] * 20 + [None] * 20, "b": ["x"] * 20 + ["y"] * 20 + ["z"] * 20}
    data = pl.DataFrame({**values, variable: ["no", "yes"] * 30})
    found = sdc.assess(data, scenario=sdc.Scenario(keys=["a", "b"], sensitive=[variable]))
    assert found["default"]["l_diversity"].cells.n_missing
    page = screen_page(found)
    assert f"No group of equal keys discloses {variable} by itself." in str(page.sections)


def test_different_ones_stand_twice() -> None:
    one = {"k_anonymity": tree("20", "wildcard"), "k_anonymity_category": tree("25", "category")}
    assert once_where_equal(one) == one


def test_files_stand_side_by_side_under_the_same_words() -> None:
    plain = printed("recipe")
    before, after = figures_of(
        [plain[part]["intruders"][0] for part in ("original",)] + [plain["released"][0]["intruders"][0]]
    )
    assert list(before) == list(after)
    assert "Records in groups of fewer than 3" in before
