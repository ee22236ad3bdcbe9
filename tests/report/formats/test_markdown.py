from __future__ import annotations

from report.documents import render_markdown
from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.formats.write import plain_document


def test_tables_and_headings() -> None:
    text = render_markdown(plain_document(assess_fake(survey(300), FULL)))
    assert text.startswith("# Invented survey 2025\n")
    assert "## The answer in full" in text
    assert "| Tested | Result | Records in violation | Share of 300 records |\n| --- | --- | ---: | ---: |" in text
    assert "<svg" not in text


def test_words_from_data_are_escaped() -> None:
    nasty = "a|b<i>*c*`"
    rows = [{**row, nasty: row["region"]} for row in survey(100)]
    text = render_markdown(plain_document(assess_fake(rows, Scenario(keys=[nasty, "sex"]))))
    assert r"a\|b\<i\>\*c\*\`" in text
    assert "\n| a|b" not in text


def test_a_confidential_one_says_so() -> None:
    text = render_markdown(plain_document(assess_fake(survey(20), FULL), internal=True))
    assert "**CONTAINS CONFIDENTIAL INFORMATION**" in text
