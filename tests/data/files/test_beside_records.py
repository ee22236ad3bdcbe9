"""What a file holds beside its records: each is what somebody gets who has the bytes and not only the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter

import sdckit as sdc
from sdckit.data.files.beside_records import beside_records

PEOPLE = pl.DataFrame({"region": ["N", "S", "S", None], "pay": [1200, 1500, None, 1300]})
LONG = "a text that is longer than twelve bytes: "
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


def formula(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].write_formula("B4", "=ROUND(1512,-2)")


def comment(book: xlsxwriter.Workbook) -> None:
    book.worksheets()[0].write_comment("B4", "1512")


NO_RECORD, BOTH = "labels of codes that no record has (region)", "values beneath missing ones (region, pay)"
CATEGORY = "categories that no record has (region)"
HELD: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "hidden sheet": ("xlsx", lambda path: workbook(path, more=hidden_original), "another sheet"),
    "formula": ("xlsx", lambda path: workbook(path, more=formula), "formulas"),
    "comment": ("xlsx", lambda path: workbook(path, more=comment), "comments"),
    "label": ("sav", lambda path: labelled(path, variable_value_labels={"region": ALL}), NO_RECORD),
    "label, Stata": ("dta", lambda path: labelled(path, variable_value_labels={"region": OF_STATA}), NO_RECORD),
    "note": ("sav", lambda path: labelled(path, note="the mayor has 9100"), "notes"),
    "title of the file": ("dta", lambda path: labelled(path, file_label="the mayor has 9100"), "notes"),
    "category": ("parquet", with_category, CATEGORY),
    "category, Arrow": ("feather", with_category, CATEGORY),
    "attributes": ("parquet", with_attributes, "notes"),
    "attributes of a field": ("parquet", of_fields, "notes"),
    "beneath missing": ("arrow", lambda path: hidden("", path), BOTH),
    "long texts": ("arrow", lambda path: hidden((LONG + pl.col("region")).alias("region"), path), BOTH),
    "older Arrow": ("arrow", lambda path: hidden("", path, compat_level=pl.CompatLevel.oldest()), BOTH),
}


@pytest.mark.parametrize("name", HELD)
def test_what_is_beside_the_records_is_said_and_write_file_leaves_it_out(tmp_path: Path, name: str) -> None:
    suffix, write, words = HELD[name]
    path = tmp_path / f"release.{suffix}"
    write(path)
    found = beside_records(path)
    assert len(found) == 1
    assert words in found[0]
    assert "9100" not in found[0]
    again = tmp_path / f"again.{'parquet' if suffix == 'xlsx' else suffix.replace('feather', 'arrow')}"
    sdc.write_file(sdc.read_file(path, sheet=1 if suffix == "xlsx" else None), again, labels=sdc.read_labels(path))
    assert beside_records(again) == ()


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


def bare_files(folder: Path) -> list[Path]:
    """Files as usual writers make them of records alone."""
    frame = pl.read_csv(PEOPLE.write_csv().encode()).with_columns(
        words=LONG + pl.col("region"), group=pl.col("region").cast(pl.Categorical), day=pl.date(2026, 1, 1), half=0.5
    )
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
    assert len(files) == 13
    assert {file.name: beside_records(file) for file in files} == {file.name: () for file in files}
