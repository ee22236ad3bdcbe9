"""What is read alike and written otherwise tells which records were changed."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter
from xlsxwriter.worksheet import Worksheet

import sdckit as sdc
from sdckit.data.files.beside_records import beside_records
from sdckit.data.files.spellings import quoted_by_record, spellings_of_cells, spellings_of_missing, spellings_of_numbers

PEOPLE = pl.DataFrame(
    {"region": ["N", "S", "S", None, None], "pay": [1200, 1500, None, 1300, None], "day": [None, None, None, None, 1]}
)
APART, STYLES = "missing values or numbers written in several ways ({})", "rows or cells of several styles"


def workbook(path: Path, more: Callable[[xlsxwriter.Workbook, Worksheet], object] = lambda book, sheet: None) -> None:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([PEOPLE.columns, *PEOPLE.rows()]):
            sheet.write_row(row, 0, cells)
        more(book, sheet)


TOLD: dict[str, tuple[Callable[[xlsxwriter.Workbook, Worksheet], object], str]] = {
    "blank beside absent": (
        lambda book, sheet: sheet.write_blank("A5", None, book.add_format({"bold": True})),
        "region",
    ),
    "empty text": (lambda book, sheet: sheet.write_string("B4", ""), "pay"),
    "code": (lambda book, sheet: sheet.write_string("A5", "NA"), "region"),
    "number as text": (lambda book, sheet: sheet.write_string("B2", "1200"), "pay"),
    "style of a cell": (lambda book, sheet: sheet.write_number("B3", 1500, book.add_format({"bold": True})), ""),
    "style of a row": (lambda book, sheet: sheet.set_row(2, None, book.add_format({"italic": True})), ""),
    "height of a row": (lambda book, sheet: sheet.set_row(2, 40), ""),
    "hidden row": (lambda book, sheet: sheet.set_row(2, None, None, {"hidden": True}), ""),
    "part of a text": (
        lambda book, sheet: sheet.write_rich_string("A3", "S", book.add_format({"bold": True}), "outh"),
        "",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_cells_that_are_read_alike_and_look_otherwise_are_said(tmp_path: Path, name: str) -> None:
    more, column = TOLD[name]
    path, again = tmp_path / "release.xlsx", tmp_path / "again.csv"
    workbook(path, more)
    (said,) = beside_records(path)
    assert said.startswith(APART.format(column) if column else STYLES)
    sdc.write_file(sdc.read_file(path, missing=["NA"]), again)
    assert beside_records(again) == ()


def test_errors_are_a_way_of_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "release.xlsx"
    workbook(path)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    for part, told in ((b'<c r="B4" t="e"><v>#N/A</v></c>', True), (b"", False)):
        parts["xl/worksheets/sheet1.xml"] = sheet.replace(b'<row r="4" spans="1:3"><c r="A4" t="s"><v>4</v></c>',
            b'<row r="4" spans="1:3"><c r="A4" t="s"><v>4</v></c>' + part)  # fmt: skip
        assert (parts["xl/worksheets/sheet1.xml"] != sheet) == told
        with zipfile.ZipFile(path, "w") as book:
            for name, content in parts.items():
                book.writestr(name, content)
        assert spellings_of_cells(path, None, codes=True) == (["pay"] if told else [], False)


def test_workbooks_of_records_alone_are_passed(tmp_path: Path) -> None:
    """Dates have a style and missing ones none; texts beside numbers are values; codes may be declared."""
    frame = PEOPLE.with_columns(day=pl.when(pl.col("pay") > 1200).then(pl.date(2026, 1, 1)), yes=pl.col("pay") > 1400)
    frame.write_excel(tmp_path / "polars.xlsx")
    frame.to_pandas().to_excel(tmp_path / "pandas.xlsx", engine="xlsxwriter", na_rep="NA")
    ages = [30, "90+", "<1", 41, 42]
    workbook(tmp_path / "texts.xlsx", lambda book, sheet: sheet.write_column("D1", ["age", *ages]))
    for path in tmp_path.iterdir():
        assert beside_records(path) == (), path.name
    workbook(tmp_path / "code.xlsx", lambda book, sheet: sheet.write_string("A5", "NA"))
    assert beside_records(tmp_path / "code.xlsx", missing=("NA",)) == ()


def test_rows_above_the_names_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "release.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["Incomes", 1])
        sheet.write_row(2, 0, ["region", "pay"], book.add_format({"bold": True}))
        sheet.write_row(3, 0, ["N", 1200])
        sheet.write_row(4, 0, ["", 1300])
    assert spellings_of_cells(path, 3, codes=True) == ([], False)
    assert spellings_of_cells(path, None, codes=True) == ([], True)  # the names would be a record


def test_blanks_alone_are_one_way(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text("region,pay\nN,1\n,NA\nS,\n")
    assert spellings_of_missing([path]) == {"pay": {None, "NA"}}


SEVERAL = (
    ["1200", "1300.0", "1400"], ["1.50", "2.5", "3.25"], ["1.00", "2.0", "3.5"], ["1200.0", "1300.00"],
    ["5", "+5", "6"], ["5", " 5", "10"], ["5 ", "5", "10"], ["1000", "1e3", "3"], ["900", "1e3", "1200"],
    [".5", "0.5", "1"], ["5.", "5", "6"], ["1e-05", "1E-05"],
)  # fmt: skip
ALIKE = (
    ["1200", "1300", "12.5"], ["1200.0", "12.5", "1e-05"], ["1.50", "2.00", "0.10"], ["1", "NA", "2.5", ""],
    ["1e+05", "123456", "1200"], ["0.002", "3e-04"], ["1.2e+04", "9999", "12.35"], [" 5", "12", " 7"], [" 5", "-5"],
    [".5", "1.5", "-.25"], ["+5", "+6", "-7"], ["-0.0", "0.0", "1.5"], ["1.25e+03", "2.50e+01"], ["1E-05", "2"],
    ["05", "5", "+5"], ["90+", "5.0", "5"],
)  # fmt: skip


@pytest.mark.parametrize("later", [0, 10_001], ids=["at once", "behind the sample"])
@pytest.mark.parametrize("fields", [*SEVERAL, *ALIKE], ids=" ".join)
def test_numbers_of_several_ways_are_said_where_the_way_does_not_go_by_the_value(
    tmp_path: Path, fields: list[str], later: int
) -> None:
    path = tmp_path / "release.csv"
    path.write_text("region,pay\n" + f"N,{fields[0]}\n" * later + "".join(f"N,{field}\n" for field in fields))
    assert spellings_of_numbers(path) == (["pay"] if fields in SEVERAL else [])


def test_numbers_with_a_comma_beside_a_declared_code(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    for fields, are_several in ((["1,5", "2,50"], True), (["1,5", "2,75", "3"], False), (["1,50", "3,00"], False)):
        path.write_text("region;pay\nN;refused\n" + "".join(f"N;{field}\n" for field in fields))
        assert spellings_of_numbers(path, missing=["refused"]) == ["pay"] * are_several
        assert spellings_of_numbers(path) == []  # texts


def test_a_release_that_another_program_wrote_where_it_changed_numbers_is_left_open(tmp_path: Path) -> None:
    """Pay of two records was perturbed as decimal numbers; the others are whole as they were."""
    path, again = tmp_path / "release.csv", tmp_path / "again.csv"
    path.write_text("region,pay\nN,1200\nS,1237.0\nS,1500\nN,1299.0\n")
    (said,) = beside_records(path)
    assert said.startswith("numbers written in several ways (pay)")
    sdc.write_file(sdc.read_file(path), again)
    assert beside_records(again) == ()


QUOTES = {
    ('"N",1', "S,2"): ["region"], ('"S","1"', '"N",2'): ["pay"], ('"NA",1', "NA,2", '"S",2'): ["region"],
    ('"N",1', '"S",2', "NA,3", '"",4'): [], ('"Bern, Stadt",1', "S,2"): [], ('"a""b",1', "S,2", '"x\ny",3'): [],
    ('"""Hi"" you",1', "S,2"): [], ('",",1', "S,2"): [], ('"Bern,",1', "S,2"): [], ("5,1", '"90+",2'): [],
    ('" x",2', "S,1"): [], ('"",1', "S,2"): [],
}  # fmt: skip


@pytest.mark.parametrize("records", QUOTES, ids=" ".join)
def test_quotes_that_a_field_does_not_need_are_said_beside_fields_without(
    tmp_path: Path, records: tuple[str, ...]
) -> None:
    path = tmp_path / "release.csv"
    path.write_text("\n".join(["region,pay", *records]))
    assert quoted_by_record(path) == QUOTES[records]
    said = beside_records(path)
    assert any("fields in quotes" in words for words in said) == (len(QUOTES[records]) > 0)


def test_quotes_are_looked_at_in_blocks_that_end_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    text = '"x\ny, a text that takes some room",7\n' * 400_000
    for last, said in (("S,1\n", []), ('S,1\n"N",2\n', ["region"])):
        path.write_text("region,pay\n" + text + last)
        assert path.stat().st_size > 1 << 23
        assert quoted_by_record(path) == said
