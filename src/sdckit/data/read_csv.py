"""CSV files: every line checked first, then only the columns asked for are parsed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.data.csv_shape import CsvShape, csv_shape
from sdckit.data.csv_text import CsvText, open_text
from sdckit.data.csv_types import kinds_to_try, typed
from sdckit.data.file_checks import FileHeader, clear_errors, pick_columns
from sdckit.data.missing_codes import DEFAULT_CODES, apply_codes, code_texts
from sdckit.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["csv_header", "read_csv"]


def csv_header(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> FileHeader:
    """Give names and number of records; every line is checked on the way."""
    shape = csv_shape(open_text(path, encoding), delimiter)
    return FileHeader(shape.names, shape.n_rows, "CSV")


def read_csv(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    rows: int | None = None,
) -> pl.DataFrame:
    """Read columns of a CSV file; see `sdckit.data.readers.read_file`."""
    if decimal not in (None, ".", ","):
        raise FileFormatError(f"{path.name}: the decimal mark must be '.' or ','")
    text = open_text(path, encoding)
    shape = csv_shape(text, delimiter)
    names = pick_columns(path, shape.names, columns)
    with clear_errors(path, "CSV", lambda: _quotes(text)):
        frame = typed(_scan(text, shape, missing, rows), names, kinds_to_try(shape.delimiter, decimal))
    expected = shape.n_rows if rows is None else min(rows, shape.n_rows)
    if frame.height != expected:
        raise FileFormatError(f"{path.name} cannot be read as CSV: {_quotes(text)}")
    return apply_codes(frame, missing)


def _quotes(text: CsvText) -> str:
    """Say where to look when the lines are whole but the parser cannot tell the fields apart."""
    odd = next((i for i, line in enumerate(text.lines(), start=1) if line.count('"') % 2), None)
    where = "" if odd is None else f"; look first at line {odd}, which has an odd number of them"
    return f"quotes within fields are not doubled or do not pair up{where}"


def _scan(text: CsvText, shape: CsvShape, missing: Sequence[str], rows: int | None) -> pl.LazyFrame:
    """Scan every field as text, codes and empty fields as missing, blank lines dropped."""
    import polars as pl

    scan = pl.scan_csv(
        text.source,
        has_header=False,
        skip_lines=shape.skip_lines,
        schema=dict.fromkeys(shape.names, pl.String),
        separator=shape.delimiter,
        quote_char='"' if shape.quoted else None,
        null_values=code_texts(missing or DEFAULT_CODES),
        glob=False,
    )
    if len(shape.blank):
        number = "row number"
        while number in shape.names:
            number += "_"
        blank = pl.lit(pl.Series(shape.blank.astype("uint32")).implode())
        scan = scan.with_row_index(number).filter(~pl.col(number).is_in(blank)).drop(number)
    if rows is not None:
        scan = scan.head(rows)
    # A quoted empty field is an empty field.
    return scan.with_columns(pl.when(pl.all().str.len_bytes() > 0).then(pl.all()))
