"""Fragments of HTML: protected, drawn, in a language."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from redteam.marked import make_files, traces_in
from sdckit.display import EXACT
from sdckit.errors import DataError
from sdckit.report.blocks import Paragraph, Section, TableBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.fragments import document_html, protected, result_html, sections_html, verdict_html

SURVEY = make_files()["survey"]
KEYS = ["region", "sex", "education"]


def assessed(**thresholds: float) -> sdc.Assessment:
    scenario = sdc.Scenario(keys=KEYS, sensitive=["ill"], thresholds=thresholds)
    return sdc.assess(SURVEY, scenario=scenario)


def test_a_result_is_drawn_with_words_for_those_who_cannot_see_it() -> None:
    html = result_html(sdc.k_anonymity(SURVEY, keys=KEYS), title="k-anonymity")
    assert "<h3>k-anonymity</h3>" in html
    assert '<div class="drawing" role="img" aria-label="Records in violation' in html
    assert "<svg" in html
    assert '<details class="behind"><summary>As a table' in html
    assert EXACT not in html
    assert not traces_in(html)


def test_exact_figures_carry_their_mark() -> None:
    html = result_html(sdc.k_anonymity(SURVEY, keys=KEYS), exact=True)
    assert EXACT in html


def test_texts_are_in_the_session_s_language() -> None:
    html = result_html(sdc.k_anonymity(SURVEY, keys=KEYS), language="de")
    assert "Als Tabelle" in html
    assert "As a table" not in html


def test_a_small_file_is_shown_only_exactly() -> None:
    few = sdc.k_anonymity(SURVEY.head(30), keys=KEYS)
    assert "fewer than 50 records" in result_html(few)
    assert "fewer than 50 records" not in result_html(few, exact=True)
    with pytest.raises(DataError, match="odd"):
        document_html(raising, lambda _: [], exact=True)


def raising() -> dict[str, str]:
    raise DataError("odd")


def test_what_comes_from_data_is_escaped() -> None:
    table = TableBlock("Levels", ("Level",), (("<script>1</script>",),))
    html = sections_html([Section("<b>", (table, Paragraph("a & b")))])
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<h3>&lt;b&gt;</h3>" in html


@pytest.mark.parametrize(("limits", "state"), [({"k": 50}, "fail"), ({"risk": 1.0}, "pass"), ({}, "open")])
def test_the_verdict_is_a_line_above_every_limit(limits: dict[str, float], state: str) -> None:
    plain = protected(build_document(assessed(**limits)), exact=True)
    html = verdict_html(plain)
    assert f'class="headline {state}"' in html
    assert ("<summary>Every limit</summary>" in html) == bool(limits)
    assert "<summary>Jeder Grenzwert</summary>" in verdict_html(plain, language="de") or not limits
    assert verdict_html(plain, of="The release:", language="de").startswith(
        '<p class="none">Die geschützte Datei:</p>'
    )


def test_a_name_of_the_data_is_not_translated() -> None:
    data = pl.DataFrame({"Records": [1, 2] * 40, "age": [1, 2, 3, 4] * 20})
    scenario = sdc.Scenario(keys=["Records", "age"], thresholds={"k": 2})
    plain = protected(build_document(sdc.assess(data, scenario=scenario)), exact=False)
    rows = tuple((one,) for one in plain["intruders"][0]["keys"])
    table = Section("", (TableBlock("Keys", ("Key",), rows),))
    html = document_html(lambda: plain, lambda _: [table], language="de")
    assert ">Records<" in html
