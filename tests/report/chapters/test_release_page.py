"""The pages of a release: the answer first, then before and after, matching back, learning."""

from __future__ import annotations

import pytest

import releases
import sdckit as sdc
from draw import quiet
from report.fakes import FULL, assess_fake, survey
from sdckit.report.blocks import ChartBlock, Paragraph, TableBlock
from sdckit.report.chapters.release_page import (
    before_and_after,
    lay_out_release,
    page_of,
    plain_release,
    release_answer,
)
from sdckit.report.formats.write import plain_document
from sdckit.report.view import View, added


def plain_of(m=1, **options):
    files = [releases.release(seed=seed) for seed in range(m)]
    with quiet():
        found = sdc.assess(
            releases.original(), files, scenario=releases.scenario(thresholds={"k": 3}, **options), seed=1
        )
    return plain_release(found)


@pytest.fixture(scope="module")
def plain():
    return plain_of()


def test_the_order_of_the_page(plain):
    page = lay_out_release(plain)
    titles = [section.title for section in page.sections]
    assert titles[:8] == [
        "The answer in full", "Scenario", "Files", "What was looked at",
        "Who can be recognised, and what would be learnt", "Before and after", "Can rows be matched back?",
        "What can be learnt?",
    ]  # fmt: skip
    assert titles[-2:] == ["Methods, and how to repeat this", "Glossary"]
    assert "In the release: k-anonymity" in titles
    assert page.headline.startswith("Not within the declared limits")


def test_before_and_after_stand_side_by_side(plain):
    table, chart = before_and_after(plain, 0)
    assert isinstance(table, TableBlock)
    assert isinstance(chart, ChartBlock)
    assert table.columns == ("Figure", "Original", "Release")
    words = [row[0] for row in table.rows]
    assert words[:2] == ["Records", "Records alone with their combination"]
    assert "Records in groups of fewer than 3" in words
    assert [row["label"] for row in chart.data["rows"]] == ["Original", "Release"]


def test_many_releases_are_summed_up():
    many = plain_of(5)
    (table,) = before_and_after(many, 0)
    assert table.columns == ("Figure", "Original", "Mean of 5 releases", "Smallest", "Largest")
    assert "In the release" not in " ".join(section.title for section in lay_out_release(many).sections)


def test_the_answer_says_the_main_figures_in_words(plain):
    words = " ".join(block.text for block in release_answer(plain).blocks if hasattr(block, "text"))
    assert "would be expected to be matched back to their own row" in words
    assert "the right value of ill" in words


def test_what_did_not_run_is_listed():
    titles = [section.title for section in lay_out_release(plain_of(aligned=False)).sections]
    assert "Not measured" in titles


def test_attribution_is_drawn_before_and_after(plain):
    blocks = [block for section in lay_out_release(plain).sections for block in section.blocks]
    captions = [block.caption for block in blocks if isinstance(block, ChartBlock)]
    assert "Records by the chance that their ill is guessed rightly, before and after" in captions


def test_a_chart_that_repeats_its_table_is_left_to_notebooks(plain):
    blocks = [block for section in lay_out_release(plain).sections for block in section.blocks]
    tables = {block.caption for block in blocks if isinstance(block, TableBlock)}
    charts = [block for block in blocks if isinstance(block, ChartBlock)]
    assert "Uniques of the original in the release" in tables
    folded = {block.caption for block in blocks if isinstance(block, TableBlock) and block.behind}
    repeated = [one for one in charts if one.caption in tables - folded]
    assert len(repeated) > 3
    assert all(one.aside for one in repeated)


def test_a_measure_from_outside_is_shown_where_it_says(plain):
    def blocks(shown, place):
        return [Paragraph(f"a toy of {shown[place]}")]

    with added("toy", View("Toys", lambda *_: {}, blocks)):
        intruders = [{**plain["intruders"][0], "measures": {"toy": 7}}]
        page = lay_out_release({**plain, "intruders": intruders})
    (section,) = (section for section in page.sections if section.title == "Toys")
    assert section.blocks == (Paragraph("a toy of 7"),)


def test_one_file_has_the_layout_of_one_file():
    page = page_of(plain_document(assess_fake(survey(400), FULL)))
    assert [section.title for section in page.sections][:3] == ["The answer in full", "Scenario", "File"]
