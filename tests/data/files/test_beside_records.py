"""What a file holds beside its records: each is what somebody gets who has the bytes and not only the table."""

from __future__ import annotations

import gzip
import math
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter

import sdckit as sdc
from sdckit.data.files.beside_records import beside_records

PEOPLE = pl.DataFrame({"region": ["N", "S", "S", None], "pay": [1200, 1500, None, 1300]})
LONG = "a text that is longer than twelve bytes: "
TYPES = ("ill", "part", "due", "bytes", "size", "both")
CODES = {"N": 1.0, "S": 2.0}
USED, ALL, OF_STATA = {1.0: "N", 2.0: "S"}, {1.0: "N", 2.0: "S", 3.0: "X"}, {1: "N", 2: "S", 3: "X"}


def workbook(
    path: Path, *, more: Callable[[xlsxwriter.Workbook], object] = lambda book: None, title: bool = False
) -> None:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Released")
        if title:
            sheet.write("A1", "Pay of the mayor: 9100")
        for row, cells in enumerate([PEOPLE.columns, *PEOPLE.rows()], start=2 if title else 0):
            sheet.write_row(row, 0, cells)
        more(book)


def hidden_original(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Original")
    sheet.write_column("A1", ["pay", 9100])
    sheet.hide()


def labelled(path: Path, **said: object) -> None:
    frame = PEOPLE.with_columns(pl.col("region").replace_strict(CODES)).to_pandas()
    getattr(pyreadstat, f"write_{path.suffix[1:]}")(frame, str(path), **said)


def with_category(path: Path) -> None:
    frame = PEOPLE.to_pandas()
    frame["region"] = frame["region"].astype("category").cat.add_categories("X")
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_feather(path)


def with_metadata_of_a_batch(path: Path) -> None:
    (batch,) = PEOPLE.to_arrow().to_batches()
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch, custom_metadata={"largest": "9100"})


def with_list_of_texts(path: Path) -> None:
    region = pa.DictionaryArray.from_arrays([0, 1, 1, None], ["N", "S", "X"])
    pq.write_table(pa.table({"region": region}), path, store_schema=False)


def with_attributes(path: Path) -> None:
    frame = PEOPLE.to_pandas()
    frame.attrs = {"largest": 9100}
    frame.to_parquet(path)


def of_fields(path: Path) -> None:
    table = PEOPLE.to_arrow()
    said = table.schema.field("pay").with_metadata({"largest": "9100"})
    pq.write_table(table.cast(table.schema.set(1, said)), path)


def hidden(texts: pl.Expr | str, path: Path, **how: object) -> None:
    told = PEOPLE.with_columns(texts) if isinstance(texts, pl.Expr) else PEOPLE.drop_nulls()
    rich = pl.col("pay") > 1400
    told.with_columns(pl.when(~rich).then(pl.col(name)).alias(name) for name in told.columns).write_ipc(path, **how)


def of_each_type(path: Path) -> None:
    """One column of a type, of which Polars or Arrow keeps what stood in the record taken out."""
    made = {
        "ill": pl.Series([False, True, False, True]),
        "part": pl.Series([[1], [2, 3], [9], [4]]),
        "due": pl.Series(["1.25", "2.5", "9.1", "3.0"]).cast(pl.Decimal(10, 2)),
        "bytes": pl.Series([b"a", b"bb", b"ccc", b"d"]),
        "size": pl.Series(["S", "L", "L", "S"], dtype=pl.Enum(["S", "L"])),
        "both": pl.Series([{"a": 5}, {"a": 6}, {"a": 7}, {"a": 8}]),
    }[path.stem]
    stays = pl.Series([True, False, True, True])
    pl.select(kept=pl.when(stays).then(made)).write_ipc(path)


def of_two_values(path: Path) -> None:
    frame = pd.DataFrame({"ill": pd.array([0, 1, 1, 0, 1, 0], dtype="Int64")})
    frame.loc[2:3, "ill"] = pd.NA
    frame.to_feather(path)


def of_one_answer(path: Path, rows: int) -> None:
    """All that say yes are taken out, which stands beneath; behind the last record there is nothing, or others."""
    frame = pl.DataFrame({"kept": [True, False, True, True, False, True, True, False, True, False, True]}).head(rows)
    frame.select(pl.when(~pl.col("kept")).then(pl.col("kept"))).write_ipc(path)


def with_next_rows(path: Path) -> None:
    """Three records of eight: in the byte of their answers stand those of the other five."""
    pl.DataFrame({"ill": [True, False, True, True, False, True, False, True]}).head(3).write_ipc(path)


def part_of_a_table(path: Path) -> None:
    """Arrow writes up to 63 bytes more of a text than the records that are left have."""
    table = pa.table({"name": ["a" * 70, "b" * 70, "mayor 9100"]}).slice(0, 2)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def with_part(path: Path, part: str, old: bytes, new: bytes) -> None:
    """A workbook with a part of it changed."""
    workbook(path)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)


def filtered(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].autofilter("A1:B5")
    book.worksheets()[0].filter_column_list("A", ["N", "X"])


def allowed(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].data_validation("A2:A5", {"validate": "list", "source": ["N", "S", "X"]})


def coloured(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].conditional_format("B2:B5", {"type": "cell", "criteria": ">", "value": 9100, "format": None})


def with_comment(path: Path) -> None:
    workbook(path)
    with zipfile.ZipFile(path, "a") as book:
        book.comment = b"the mayor has 9100"


def with_attribute(path: Path, said: bytes, subtype: int = 18) -> None:
    """A custom attribute of a variable, or another record of texts, as SPSS writes it."""
    labelled(path)
    content = path.read_bytes()
    at = content.rindex(struct.pack("<ii", 999, 0))
    path.write_bytes(content[:at] + struct.pack("<iiii", 7, subtype, 1, len(said)) + said + content[at:])


def of_several_ways(path: Path) -> None:
    """NaN, NA and the empty text for what was taken out, and what was missing before as it was."""
    frame = pl.DataFrame({"region": ["N", "NA", None], "size": ["", None, "S"], "pay": [1.5, math.nan, None]})
    frame = frame.with_columns(pl.col("size").cast(pl.Categorical))
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path)


def with_letters(path: Path, pay: list[object], **said: object) -> None:
    """Missing values as Stata tells them apart: of one record taken out, of another as it was."""
    frame = pd.DataFrame({"region": [1.0, 2.0, 2.0, 1.0], "pay": pd.Series(pay, dtype=object)})
    pyreadstat.write_dta(frame, str(path), missing_user_values={"pay": ["a", "b"]}, **said)


def with_characteristic(path: Path) -> None:
    """A characteristic of a column in the format of Stata 10 to 12."""
    PEOPLE.select("pay").to_pandas().to_stata(path, write_index=False, version=114)
    content, said = path.read_bytes(), b"pay".ljust(33, b"\0") + b"largest".ljust(33, b"\0") + b"9100\0"
    at = 109 + 1 + 33 + 4 + 49 + 33 + 81
    assert content[at : at + 5] == bytes(5)
    path.write_bytes(content[:at] + b"\1" + struct.pack("<i", len(said)) + said + content[at:])


def with_more(path: Path) -> None:
    labelled(path)
    path.write_bytes(path.read_bytes() + b"the mayor has 9100")


def formula(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].write_formula("B4", "=ROUND(1512,-2)")


def comment(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].write_comment("B4", "1512")


SEVERAL_WAYS = "missing values written in several ways (region, size, pay)"
NO_RECORD, BOTH = "labels of codes that no record has (region)", "values beneath missing ones (region, pay)"
CATEGORY = "categories that no record has (region)"
KEPT, AROUND = "values beneath missing ones (kept)", "lists of allowed values, filters"
HELD: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "hidden sheet": ("xlsx", lambda path: workbook(path, more=hidden_original), "another sheet"),
    "formula": ("xlsx", lambda path: workbook(path, more=formula), "formulas"),
    "comment": ("xlsx", lambda path: workbook(path, more=comment), "comments"),
    "label": ("sav", lambda path: labelled(path, variable_value_labels={"region": ALL}), NO_RECORD),
    "label, Stata": ("dta", lambda path: labelled(path, variable_value_labels={"region": OF_STATA}), NO_RECORD),
    "note": ("sav", lambda path: labelled(path, note="the mayor has 9100"), "notes"),
    "title of the file": ("dta", lambda path: labelled(path, file_label="the mayor has 9100"), "notes"),
    "category": ("parquet", with_category, CATEGORY),
    "category, read as text": ("parquet", with_list_of_texts, CATEGORY),
    "metadata of a batch": ("arrow", with_metadata_of_a_batch, "notes"),
    "category, Arrow": ("feather", with_category, CATEGORY),
    "attributes": ("parquet", with_attributes, "notes"),
    "attributes of a field": ("parquet", of_fields, "notes"),
    "beneath missing": ("arrow", lambda path: hidden("", path), BOTH),
    "long texts": ("arrow", lambda path: hidden((LONG + pl.col("region")).alias("region"), path), BOTH),
    **{f"beneath missing, {name}": ("arrow", of_each_type, KEPT) for name in TYPES},
    **{
        f"one answer, {rows} rows": ("arrow", lambda path, rows=rows: of_one_answer(path, rows), KEPT)
        for rows in (8, 9)
    },
    "the next rows": ("arrow", with_next_rows, "behind the last record"),
    "two values, pandas": ("feather", of_two_values, "values beneath missing ones (ill)"),
    "part of a table": ("arrow", part_of_a_table, "behind the last record"),
    "text of no cell": (
        "xlsx",
        lambda path: with_part(path, "xl/sharedStrings.xml", b"</sst>", b"<si><t>the mayor</t></si></sst>"),
        "texts that no cell",
    ),
    "list of values": ("xlsx", lambda path: workbook(path, more=allowed), AROUND),
    "filter": ("xlsx", lambda path: workbook(path, more=filtered), AROUND),
    "conditional format": ("xlsx", lambda path: workbook(path, more=coloured), AROUND),
    "header": ("xlsx", lambda path: workbook(path, more=lambda book: book.worksheets()[0].set_header("9100")), AROUND),
    "merged cells": (
        "xlsx",
        lambda path: workbook(path, more=lambda book: book.worksheets()[0].merge_range("D2:D3", "")),
        AROUND,
    ),
    "breaks": (
        "xlsx",
        lambda path: workbook(path, more=lambda book: book.worksheets()[0].set_h_pagebreaks([3])),
        AROUND,
    ),
    "protected range": (
        "xlsx",
        lambda path: with_part(
            path,
            "xl/worksheets/sheet1.xml",
            b"</sheetData>",
            b'</sheetData><protectedRanges><protectedRange sqref="B3" name="the mayor"/></protectedRanges>',
        ),
        AROUND,
    ),
    "read aloud": (
        "xlsx",
        lambda path: with_part(
            path, "xl/sharedStrings.xml", b"</si>", b'<rPh sb="0" eb="1"><t>the mayor</t></rPh></si>'
        ),
        "texts that no cell",
    ),
    "link": (
        "xlsx",
        lambda path: workbook(
            path, more=lambda book: book.worksheets()[0].write_url("B5", "mailto:a@b.org", book.add_format(), "N")
        ),
        AROUND,
    ),
    "name": ("xlsx", lambda path: workbook(path, more=lambda book: book.define_name("largest", "=9100")), AROUND),
    "title of a book": (
        "xlsx",
        lambda path: workbook(path, more=lambda book: book.set_properties({"title": "9100"})),
        "notes",
    ),
    "comment of a book": ("xlsx", with_comment, "comments"),
    "declared missing": (
        "sav",
        lambda path: labelled(path, missing_ranges={"pay": [{"lo": 1400.0, "hi": 1e9}]}),
        "values that it declares missing (pay)",
    ),
    "attribute of a variable": ("sav", lambda path: with_attribute(path, b"pay:largest('9100'\n)"), "notes"),
    "set of variables": ("sav", lambda path: with_attribute(path, b"Illnesses= pay", 5), "notes"),
    "characteristic": ("dta", with_characteristic, "notes"),
    "after the end": ("dta", with_more, "notes"),
    "letters of Stata": (
        "dta",
        lambda path: with_letters(path, ["a", None, 1500, 1300]),
        "letters of Stata for missing values (pay)",
    ),
    "older Arrow": ("arrow", lambda path: hidden("", path, compat_level=pl.CompatLevel.oldest()), BOTH),
}


@pytest.mark.parametrize("name", HELD)
def test_what_is_beside_the_records_is_said_and_write_file_leaves_it_out(tmp_path: Path, name: str) -> None:
    suffix, write, words = HELD[name]
    path = tmp_path / f"{name.rpartition(' ')[2] if write is of_each_type else 'release'}.{suffix}"
    write(path)
    found = beside_records(path)
    assert len(found) == 1
    assert words in found[0]
    assert "9100" not in found[0]
    again = tmp_path / f"again.{'parquet' if suffix == 'xlsx' else suffix.replace('feather', 'arrow')}"
    sdc.write_file(sdc.read_file(path, sheet=1 if suffix == "xlsx" else None), again, labels=sdc.read_labels(path))
    assert beside_records(again) == ()


def test_values_declared_missing_are_looked_at_where_they_stay_categories(tmp_path: Path) -> None:
    path = tmp_path / "release.sav"
    labelled(path, variable_value_labels={"region": USED}, missing_ranges={"region": [2.0]})
    assert "values that it declares missing (region)" in beside_records(path)[0]
    assert beside_records(path, user_missing=True) == ()
    # numbers without a label are missing all the same
    labelled(path, variable_value_labels={"region": USED}, missing_ranges={"region": [2.0], "pay": [1500.0]})
    assert "(pay)" in beside_records(path, user_missing=True)[0]
    labelled(path, missing_ranges={"pay": [9999.0]})
    assert beside_records(path) == ()


def test_letters_of_stata_are_said_where_they_tell_missing_values_apart(tmp_path: Path) -> None:
    path = tmp_path / "release.dta"
    with_letters(path, ["a", "b", 1500, 1300])
    assert "letters of Stata for missing values (pay)" in beside_records(path)[0]
    with_letters(path, ["a", "a", 1500, 1300])  # alike
    assert beside_records(path) == ()
    labelled_one = {"variable_value_labels": {"pay": {"a": "refused"}}}
    with_letters(path, ["a", None, 1500, 1300], **labelled_one)
    assert "values that it declares missing (pay)" in beside_records(path)[0]
    assert beside_records(path, user_missing=True) == ()  # a category, and one way of missing
    with_letters(path, ["a", None, "b", 1300], **labelled_one)
    assert "letters of Stata for missing values (pay)" in beside_records(path, user_missing=True)[1]


@pytest.mark.parametrize("told", ["NA", "N/A", ".", '""', "null"])
def test_missing_values_of_several_spellings_are_said_unless_it_is_given_what_is_missing(
    tmp_path: Path, told: str
) -> None:
    path, again = tmp_path / "release.csv", tmp_path / "again.csv"
    path.write_text(f"region;pay\nN;100\n;200\n{told};300\nS;\n")
    found = beside_records(path)
    assert len(found) == 1
    assert "missing values written in several ways (region)" in found[0]
    assert beside_records(path, missing=("NA",)) == ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdc.SdcWarning)  # which codes were taken for missing
        sdc.write_file(sdc.read_file(path), again)
    assert beside_records(again) == ()
    path.write_text(f"region;pay\nN;{told}\n;200\nS;{told}\n")  # alike in each column
    assert beside_records(path) == ()
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(f"region:pay\n{told}:1\n:2\n".encode()))
    assert "(region)" in beside_records(packed, delimiter=":")[0]
    folder = tmp_path / "parts"
    folder.mkdir()
    for part, blank in enumerate(("", told)):
        (folder / f"part-{part}.csv").write_text(f"region,pay\nN,1\n{blank},2\n")
    assert "(region)" in beside_records(folder)[0]


def test_numbers_that_are_none_in_several_ways_are_said(tmp_path: Path) -> None:
    """What looks missing may carry a mark of its own: the other bits of a NaN."""
    marked = np.array([math.nan, 1.0, math.nan]).view(np.int64)
    for mark in (0, 7):
        scores = (marked + np.array([mark, 0, 0])).view(np.float64)
        pl.DataFrame({"score": scores}).write_parquet(tmp_path / "a.parquet")
        assert ("written in several ways (score)" in " ".join(beside_records(tmp_path / "a.parquet"))) == (mark > 0)


def test_one_way_of_missing_values_is_no_other_and_codes_may_be_given(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    of_several_ways(path)
    assert "(pay)" in beside_records(path, missing=("NA",))[0]  # NaN is missing in any case
    pl.DataFrame({"region": ["N", "NA", "NA"], "pay": [1.5, math.nan, 2.0]}).write_parquet(path)
    assert beside_records(path) == ()


@pytest.mark.parametrize(
    "texts", [["S", LONG, "S", None, "T"], [LONG, "S"], ["S", "U", LONG, None, LONG, "Q"]], ids=len
)
def test_short_texts_around_long_ones_are_those_of_records(tmp_path: Path, texts: list[str | None]) -> None:
    path = sdc.write_file(pl.DataFrame({"t": texts}), tmp_path / "release.arrow")
    assert beside_records(path) == ()
    # as many bytes, of another text
    content = path.read_bytes()
    held = "".join(text or "" for text in texts[texts.index(LONG) :]).encode()
    assert content.count(held) == 1
    path.write_bytes(content.replace(held, held[:-1] + b"X"))
    assert beside_records(path) != ()


def test_rows_above_the_names_are_not_looked_at(tmp_path: Path) -> None:
    workbook(tmp_path / "release.xlsx", title=True)
    assert "rows above the names" in beside_records(tmp_path / "release.xlsx", header_row=3)[0]
    workbook(tmp_path / "bare.xlsx")
    assert beside_records(tmp_path / "bare.xlsx", header_row=1) == ()


def test_another_file_in_the_folder_of_a_release_is_said(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.parquet.crc").write_bytes(b"crc")
    assert beside_records(tmp_path) == ()
    PEOPLE.write_csv(tmp_path / "_original.csv")
    assert "other files in its folder" in beside_records(tmp_path)[0]


@pytest.mark.parametrize("ends", [b"\r\n", b"\n\n", b"\r\n\r\n"])
def test_lines_that_end_in_their_own_way_are_said(tmp_path: Path, ends: bytes) -> None:
    """Of 3,321 made people the ill ones had an end of their own, and the gate passed."""
    path, text = tmp_path / "release.csv", PEOPLE.write_csv().encode()
    for whole in (text, text.replace(b"\n", b"\r\n"), text + b"\n", text.replace(b"S,1500", b'"S\r\n\nT",1500')):
        path.write_bytes(whole)
        assert beside_records(path) == ()
    path.write_bytes(text.replace(b"N,1200\n", b"N,1200" + ends))
    assert "ends of lines of several kinds, or blank lines" in beside_records(path)[0]
    PEOPLE.select("pay").write_csv(path)
    path.write_bytes(path.read_bytes().replace(b"1500\n", b"1500\n\n"))  # a missing value
    assert beside_records(path) == ()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_parts_that_are_named_by_what_is_in_them_are_said(tmp_path: Path, suffix: str) -> None:
    """One file for each illness, and no column of it: nothing had looked at what the names tell."""
    numbered = [
        "part-00000-c1a2b3c4-0a1b-4c2d-8e3f-0123456789ab-c000",
        "part-00001-d1a2b3c4-1a1b-4c2d-8e3f-a123456789ab-c000",
    ]
    districts, surveys = ["district_1", "district_2"], ["health_survey_1", "health_survey_2"]
    said_by = districts, ["hiv-0", "hiv-1"], ["ill", "well"]
    for names in (
        numbered,
        ["data_0", "data_12"],
        ["alone"],
        ["region_1"],
        surveys,
        ["persons_0", "persons_1"],
        *said_by,
    ):
        folder = tmp_path / names[0]
        folder.mkdir()
        for name in names:
            getattr(PEOPLE, f"write_{suffix}")(folder / f"{name}.{suffix}")
        said = beside_records(folder)
        assert (names in said_by) == ("parts whose names differ" in " ".join(said))
    for year in ("2025", "many"):
        (tmp_path / "years" / f"year={year}").mkdir(parents=True)
        getattr(PEOPLE, f"write_{suffix}")(tmp_path / "years" / f"year={year}" / f"0.{suffix}")
    assert len(beside_records(tmp_path / "years")) == (suffix == "csv")


def bare_files(folder: Path) -> list[Path]:
    """Files as usual writers make them of records alone."""
    frame = pl.read_csv(PEOPLE.write_csv().encode()).with_columns(
        words=LONG + pl.col("region"), group=pl.col("region").cast(pl.Categorical), day=pl.date(2026, 1, 1), half=0.5
    )
    frame.with_columns(
        pl.lit(None).alias("none"), name=pl.lit("NATIONAL"), rest=pl.Series(["a", "", "", "b"])
    ).write_csv(folder / "texts.csv")
    for suffix in ("csv", "parquet", "arrow"):
        getattr(frame, f"write_{suffix.replace('arrow', 'ipc')}")(folder / f"polars.{suffix}")
    frame.filter(pl.col("pay") < 1400).write_ipc(folder / "fewer.arrow")
    frame.join(PEOPLE.select("pay", also=pl.col("pay") + 7).drop_nulls(), on="pay", how="left").write_ipc(
        folder / "joined.arrow"
    )
    pandas = frame.to_pandas()
    pandas.to_parquet(folder / "pandas.parquet")
    pandas.drop(columns="group").query("pay < 1400").set_index("region").to_parquet(folder / "index.parquet")
    pandas.convert_dtypes().to_feather(folder / "masked.feather")
    pl.from_pandas(pandas).write_ipc(folder / "from_pandas.arrow")
    answers = pd.DataFrame({"ill": [True, None, False]})
    pf.write_feather(duckdb.from_df(answers).to_arrow_table(), folder / "duckdb.feather")
    batches = duckdb.sql("SELECT CASE WHEN i % 3 > 0 THEN i % 2 = 0 END AS ill FROM range(131_075) t(i)")
    pf.write_feather(batches.to_arrow_table(), folder / "batches.feather")
    workbook(folder / "filters.xlsx", more=lambda book: book.worksheets()[0].autofilter("A1:B5"))
    roles = b"region:$@Role('0'\n)/pay:$@Role('1'\n)"
    with_attribute(folder / "roles.sav", roles)
    pandas.drop(columns="day").to_stata(folder / "pandas.dta")
    pq.write_table(frame.to_arrow(), folder / "table.parquet")
    with (
        pa.OSFile(str(folder / "stream.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, frame.to_arrow().schema) as stream,
    ):
        stream.write_table(frame.to_arrow())
    labelled(folder / "used.sav", variable_value_labels={"region": USED}, column_labels={"pay": "Pay a month"})
    workbook(folder / "book.xlsx")
    return sorted(folder.iterdir())


def test_files_of_records_alone_hold_nothing_else(tmp_path: Path) -> None:
    files = bare_files(tmp_path)
    assert len(files) == 19
    assert {file.name: beside_records(file) for file in files} == {file.name: () for file in files}


def small_groups(path: Path, sizes: tuple[int, ...]) -> None:
    table = pa.table({"x": [*range(sum(sizes))]})
    with pq.ParquetWriter(path, table.schema) as writer:
        for end, size in zip(np.cumsum(sizes), sizes, strict=True):
            writer.write_table(table.slice(int(end) - size, size))


def of_other_rows(path: Path, index: pd.Index) -> None:
    pd.DataFrame({"x": range(len(index))}, index=index).to_parquet(path)


COUNTED = "labels that tell of how many records they are (region)"
IN_WORDS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "label of a code": (
        "sav", lambda path: labelled(path, variable_value_labels={"region": {1.0: "N (n=1)", 2.0: "S"}}), COUNTED
    ),
    "label of a column": ("dta", lambda path: labelled(path, column_labels=["Region, N is 1 person", "Pay"]), COUNTED),
    "comment of a column": (
        "parquet",
        lambda path: pq.write_table(pa.table({"region": [1]}, schema=pa.schema([
            pa.field("region", pa.int64(), metadata={"comment": "N (n = 1)"})])), path), COUNTED,
    ),
    "rows of another file": ("parquet", lambda path: of_other_rows(path, pd.RangeIndex(40, 49)), "places of the rows"),
    "every other row": ("parquet", lambda path: of_other_rows(path, pd.RangeIndex(0, 18, 2)), "places of the rows"),
    "small groups": ("parquet", lambda path: small_groups(path, (1, 4, 2)), "groups of few rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_WORDS)
def test_labels_that_count_and_traces_of_another_file_are_said(tmp_path: Path, name: str) -> None:
    kind, write, said = IN_WORDS[name]
    write(path := tmp_path / f"told.{kind}")
    (text,) = beside_records(path)
    assert said in text


def test_groups_of_one_size_an_index_from_0_and_plain_labels_are_nothing(tmp_path: Path) -> None:
    small_groups(tmp_path / "groups.parquet", (3, 3, 2))
    of_other_rows(tmp_path / "index.parquet", pd.RangeIndex(9))
    labelled(tmp_path / "labels.sav", column_labels=["Region 1 to 2", "Pay, n"], variable_value_labels={"region": USED})
    assert beside_records(*tmp_path.iterdir()) == ()
