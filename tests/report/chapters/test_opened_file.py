"""The document of an opened file, and that of guessed roles."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.files.file_checks import FileHeader
from sdckit.data.files.readers import FileSample
from sdckit.data.missing_values.missing import Found
from sdckit.errors import DataError
from sdckit.report.chapters.opened_file import OpenedFile, file_document, file_sections, guesses_document, kind_of
from sdckit.report.gate.protect import protect

FRAME = pl.DataFrame(
    {"age": [30, None] * 53, "job": ["cook"] * 103 + [None] * 3, "born": pl.Series([None] * 106, dtype=pl.Date)}
)
SAMPLE = FileSample(
    FileHeader(tuple(FRAME.columns), FRAME.height, "SPSS"), FRAME,
    labels={"age": "Age in years"}, value_labels={"job": ("cook", "clerk")},
)  # fmt: skip
OPENED = OpenedFile(
    "survey.sav", SAMPLE, taken=(Found("job", "NA", 2),), suspected=(Found("age", "-9", 13),),
    warnings=("17 records have no household",),
)  # fmt: skip


def test_figures_are_protected_together() -> None:
    plain = protect(file_document(OPENED))
    assert plain["n"]["text"] == "105"
    assert [one["n_missing"]["text"] for one in plain["columns"]][:2] == ["55", "<5"]
    assert plain["taken"][0]["n"]["text"] == "<5"
    assert plain["suspected"][0]["n"]["text"] == "15"
    assert plain["warnings"] == ["15 records have no household"]


def test_exact_figures_are_those_of_the_file() -> None:
    plain = protect(file_document(OPENED), internal=True)
    assert plain["n"]["value"] == 106
    assert [one["n_missing"]["value"] for one in plain["columns"]] == [53, 3, 106]


def test_sections_tell_types_labels_and_codes() -> None:
    read, codes, columns = file_sections(protect(file_document(OPENED)))
    assert read.blocks[0].items[:2] == (("File", "survey.sav"), ("Format", "SPSS"))  # type: ignore[union-attr]
    assert [block.rows[0][:2] for block in codes.blocks] == [("NA", "job"), ("-9", "age")]  # type: ignore[union-attr]
    (table,) = columns.blocks
    assert table.columns == ("Column", "Label", "Values", "Labelled values", "Missing", "Missing rate")  # type: ignore[union-attr]
    assert [row[2] for row in table.rows] == ["whole numbers", "texts", "days"]  # type: ignore[union-attr]


def test_without_codes_a_sentence_stands_there() -> None:
    plain = protect(file_document(OpenedFile("a.csv", SAMPLE)))
    (told,) = file_sections(plain)[1].blocks
    assert told.text.startswith("No code for missing values")  # type: ignore[union-attr]


def test_evidence_is_protected_as_a_warning_is() -> None:
    found = sdc.guess_roles(FRAME.with_columns(sex=pl.Series(["f", "m"] * 53)))
    plain = protect(guesses_document(found))
    exact = protect(guesses_document(found), internal=True)
    assert [one["role"] for one in plain["guesses"]] == [one.role for one in found]
    assert plain["guesses"] != exact["guesses"]
    with pytest.raises(DataError, match="fewer than 50"):
        protect(guesses_document(sdc.guess_roles(FRAME.head(20))))


def test_kinds_that_nobody_named() -> None:
    assert kind_of("List(Int64)") == "other values"
