"""Workbooks: what a sheet holds is read as the same CSV would be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

from sdckit.data.files.read_excel import sheet_as_csv
from sdckit.data.files.readers import describe_file, read_file, scan_header
from sdckit.errors import ColumnError, DataError, FileFormatError, SdcWarning


def write(path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        for rows in sheets:
            sheet = book.add_worksheet()
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    if isinstance(value, dt.datetime):
                        sheet.write_datetime(i, j, value, days)
                    elif value == "#N/A":
                        sheet.write_formula(i, j, "=NA()", None, value)
                    elif isinstance(value, str):
                        sheet.write_string(i, j, value)
                    elif value is not None:
                        sheet.write(i, j, value)
    return path


ROWS = [
    ["sex", "age", "postcode", "share", "born", "answer"],
    ["f", 31, "0012", 1 / 3, dt.datetime(1990, 1, 2), 1.5],
    ["m", None, "9000", 0.1234567890123456, dt.datetime(1985, 3, 4), "refused"],
    ["", 40, "0101", 1e-10, None, 0.1234567890123],
    ["f", "#N/A", "0012", 2, dt.datetime(2000, 12, 31), None],
]


def test_values_as_they_are(tmp_path: Path) -> None:
    with pytest.warns(SdcWarning, match="'refused'"):
        frame = read_file(write(tmp_path / "s.xlsx", ROWS))
    assert frame.schema == {
        "sex": pl.String, "age": pl.Int64, "postcode": pl.String, "share": pl.Float64, "born": pl.Date,
        "answer": pl.String,
    }  # fmt: skip
    assert frame["sex"].to_list() == ["f", "m", None, "f"]
    assert frame["age"].to_list() == [31, None, 40, None]
    assert frame["postcode"].to_list() == ["0012", "9000", "0101", "0012"]
    assert frame["share"].to_list() == [1 / 3, 0.1234567890123456, 1e-10, 2.0]
    assert frame["born"].to_list() == [dt.date(1990, 1, 2), dt.date(1985, 3, 4), None, dt.date(2000, 12, 31)]
    assert frame["answer"].to_list() == ["1.5", "refused", "0.1234567890123", None]


def test_codes_for_missing_leave_numbers(tmp_path: Path) -> None:
    frame = read_file(write(tmp_path / "s.xlsx", ROWS), missing=["refused"])
    assert frame["answer"].to_list() == [1.5, None, 0.1234567890123, None]


def test_as_the_same_csv(tmp_path: Path) -> None:
    rows = [["sex", "n"], ['f, "x"', 1], ["two\nlines", 2], ["m", 3]]
    book = write(tmp_path / "s.xlsx", rows)
    pl.DataFrame(rows[1:], schema=rows[0], orient="row").write_csv(tmp_path / "s.csv")
    assert read_file(book).equals(read_file(tmp_path / "s.csv"))
    header = scan_header(book, delimiter=";")
    assert (header.columns, header.n_rows, header.format) == (("sex", "n"), 3, "Excel")
    assert describe_file(book, decimal=",").frame.equals(read_file(book))
    assert read_file(book, columns=["n"], rows=2)["n"].to_list() == [1, 2]


def test_other_sheets_are_told(tmp_path: Path) -> None:
    two = write(tmp_path / "two.xlsx", [], [["a", "b"], [1, "x"], [2, "y"]], [["secret"], ["z"]])
    with pytest.warns(SdcWarning, match="1 more are not") as told:
        frame = read_file(two)
    assert frame.rows() == [(1, "x"), (2, "y")]
    assert "secret" not in str(told[0].message)


def test_what_a_csv_is_refused_for(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="repeated"):
        read_file(write(tmp_path / "a.xlsx", [["a", "a"], [1, 2]]))
    with pytest.raises(DataError, match="no records"):
        read_file(write(tmp_path / "b.xlsx", [["a", "b"]]))
    with pytest.raises(DataError, match="does not look like a header"):
        read_file(write(tmp_path / "c.xlsx", [[1, 2], [3, 4]]))
    with pytest.raises(FileFormatError, match="no sheet of it holds"):
        read_file(write(tmp_path / "d.xlsx", []))


def test_what_is_no_workbook(tmp_path: Path) -> None:
    for name, raw in (("junk", b"PK\x03\x04 and no more"), ("locked", b"\xd0\xcf\x11\xe0" + b"\0" * 600)):
        file = tmp_path / f"{name}.xlsx"
        file.write_bytes(raw)
        with pytest.raises(FileFormatError, match="password"):
            read_file(file)
    text = tmp_path / "text.xlsx"
    text.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not Excel"):
        read_file(text)


def test_text(tmp_path: Path) -> None:
    assert sheet_as_csv(write(tmp_path / "s.xlsx", [["a", "b"], [True, 2.5], [False, 3]])) == (
        b"a,b\ntrue,2.5\nfalse,3\n"
    )
