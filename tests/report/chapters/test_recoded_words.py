"""A document says once, and everywhere alike, that the original's figures are those of the recoded one."""

from __future__ import annotations

import json
import re

import pytest

import sdckit as sdc
from draw import quiet
from recoded_files import applied, scenario, survey
from sdckit.cells.pair import Recoded
from sdckit.report.chapters.recoded_words import base_name, recoded_blocks, recoded_facts, recoded_tree
from sdckit.report.chapters.release_document import plain_release
from sdckit.report.chapters.release_page import lay_out_release
from sdckit.report.formats.html import render_html
from sdckit.report.formats.json_out import render_json
from sdckit.report.formats.markdown import render_markdown


@pytest.fixture(scope="module")
def plain():
    done = applied()
    with quiet():
        return plain_release(
            sdc.assess(survey(), done.data, scenario=scenario(aligned=True), seed=1, log=done.log)
        )


def test_the_columns_are_listed_with_how_it_is_known(plain) -> None:
    (table,) = recoded_blocks(plain)
    assert table.rows == (
        ("age", "numbers in bands", "the log given"),
        ("job", "values in groups", "the log given"),
        ("size", "the largest numbers brought to a limit", "the log given"),
        ("income", "numbers rounded", "the log given"),
    )
    assert base_name(plain) == "Recoded original"
    assert recoded_facts(plain)[0][0] == "Figures of the original"


def test_nothing_is_said_where_nothing_was_recoded() -> None:
    for plain in ({}, {"recoded": []}):
        assert base_name(plain) == "Original"
        assert recoded_facts(plain) == ()
        assert recoded_blocks(plain) == []


def test_the_tree_holds_words_alone() -> None:
    one = Recoded("age", "numbers in bands", "recognised")
    assert recoded_tree([one]) == ({"column": "age", "kind": "numbers in bands", "source": "recognised"},)


def test_every_format_tells_it(plain) -> None:
    for text in (render_html(plain), render_markdown(plain)):
        assert "Recoded original" in text
        assert "those of the recoded original" in text
        assert text.count("numbers in bands") >= 2  # the warning, and the table
        words = re.sub(r"<path [^>]*>", "", text)
        for secret in ("person 1", "4000", "up to 4"):
            assert secret not in words
    assert json.loads(render_json(plain))["recoded"][1]["column"] == "job"


def test_the_table_before_and_after_names_its_base(plain) -> None:
    tables = [block for section in lay_out_release(plain).sections for block in section.blocks]
    caption = "The original and the release"
    heads = {block.columns for block in tables if getattr(block, "caption", "").startswith(caption)}
    assert heads == {("Figure", "Recoded original", "Release")}


def test_the_calls_that_repeat_it(plain) -> None:
    assert "log=log)" in plain["reproduce"]["python"]
    assert plain["reproduce"]["command"].endswith("--log LOG.json")
