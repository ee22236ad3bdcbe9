"""The map of what was looked at in documents: one table, columns with the same marks in one row, one sentence."""

from __future__ import annotations

import io

from rich.console import Console

from report.real import page, plain
from sdckit.cli.terminal import show_blocks
from sdckit.report.blocks import Facts, Paragraph, TableBlock
from sdckit.report.chapters.coverage_chapter import TITLE, coverage_blocks, coverage_sections, coverage_sentence
from sdckit.workflow.assessment import ColumnCoverage, Coverage

ITEMS = tuple(ColumnCoverage(f"attitude_item_{number}", ("insensitive",)) for number in range(300))
COVERAGE = Coverage((
    ColumnCoverage("sex", ("key",), known=("near", "far")),
    ColumnCoverage("region", ("key", "numeric"), known=("far",), attacked=("membership",)),
    ColumnCoverage("ill", ("sensitive",), learnt=("l_diversity",)), ColumnCoverage("note", ()), *ITEMS,
))  # fmt: skip


def test_columns_with_the_same_marks_stand_in_one_row() -> None:
    table, meaning, sentence = coverage_blocks(COVERAGE.rows(), n_intruders=2)
    assert isinstance(table, TableBlock)
    assert table.rows[:4] == (
        ("sex", "a key", "+", "–", "–", "–", "–", "–"), ("region", "a key, numeric", "1 of 2", "–", "–", "+", "–", "–"),
        ("ill", "sensitive", "–", "+", "–", "–", "–", "–"), ("note", "no role", "–", "–", "–", "–", "–", "–"),
    )  # fmt: skip
    assert len(table.rows) == 5
    assert table.rows[4][0].endswith("attitude_item_7 and 292 more")
    assert isinstance(meaning, Paragraph)
    assert isinstance(sentence, Paragraph)
    assert sentence.text == (
        "Of 304 columns that go out somebody may know 2; sensitive: 1; not looked at by any question: 301."
    )
    one = coverage_blocks([ColumnCoverage("sex", (), known=("near",)).__dict__], n_intruders=1)
    assert one[0].rows == (("sex", "no role", "+", "–", "–", "–", "–", "–"),)
    assert one[2].text.startswith("Of 1 column that goes out somebody may know 1; sensitive: 0; not")


def test_it_fits_a_terminal_of_eighty_columns() -> None:
    console = Console(width=80, file=io.StringIO())
    for part in show_blocks(coverage_blocks(COVERAGE.rows(), n_intruders=2)):
        console.print(part)
    text = str(console.file.getvalue())
    assert max(map(len, text.splitlines())) <= 80
    for head in ("Columns", "Role", "Known", "Learnt", "Near", "Attacked", "Back", "Recalled"):
        assert head in text


def test_a_document_has_it_in_the_annex_and_a_line_of_it_on_the_first_page() -> None:
    for name in ("one file", "attacks", "release"):
        tree, shown = plain(name), page(name)
        assert TITLE in [section.title for section in shown.sections]
        (question,) = (section.blocks[0] for section in shown.decision if section.place == "question")
        assert isinstance(question, Facts)
        assert dict(question.items)["Looked at"] == coverage_sentence(tree["coverage"])
    release = plain("attacks")
    assert all(file["coverage"] is None for file in (release["original"], *release["released"]))  # one map for all
    assert coverage_sections({"coverage": None, "intruders": []}) == []
