"""CSV files and workbooks: every line checked first, then only the columns asked for are parsed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.data.files.csv_shape import CsvShape, csv_shape
from sdckit.data.files.csv_text import CsvText, open_text
from sdckit.data.files.csv_types import Kind, kinds_to_try, other_decimals, typed
from sdckit.data.files.file_checks import FileHeader, clear_errors, pick_columns
from sdckit.data.files.read_excel import DELIMITER, sheet_as_csv
from sdckit.data.missing_values.missing_codes import DEFAULT_CODES, Found, apply_codes, code_texts
from sdckit.errors import FileFormatError, SdcWarning

if TYPE_CHECKING:
    import polars as pl


_ENOUGH = 5  # columns named in one message


def csv_header(
    path: Path, kind: str = "CSV", *, delimiter: str | None = None, encoding: str | None = None
) -> FileHeader:
    """Give names and number of records; every line is checked on the way."""
    shape = _shape(_text(path, kind, encoding), kind, delimiter)
    return FileHeader(shape.names, shape.n_rows, kind, shape.certain)


def _text(path: Path, kind: str, encoding: str | None) -> CsvText:
    """The text of a CSV file, or of a workbook's sheet, for which nothing has to be said or found."""
    return CsvText(path, sheet_as_csv(path)) if kind == "Excel" else open_text(path, encoding)


def _shape(text: CsvText, kind: str, delimiter: str | None) -> CsvShape:
    return csv_shape(text, DELIMITER if kind == "Excel" else delimiter)


def read_csv(
    path: Path, kind: str = "CSV", *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
    missing: Sequence[str] = (), delimiter: str | None = None, encoding: str | None = None,
    decimal: str | None = None, rows: int | None = None,
) -> tuple[pl.DataFrame, tuple[Found, ...]]:  # fmt: skip
    """Read columns of a CSV file or a workbook and count the default codes; see `readers.read_file`."""
    check_decimal(path, decimal)
    text = _text(path, kind, encoding)
    shape = _shape(text, kind, delimiter)
    names = pick_columns(path, shape.names, columns, identifiers=identifiers, certain=shape.certain)
    kinds = kinds_to_try(shape.delimiter, "." if kind == "Excel" else decimal)
    with clear_errors(path, kind, lambda: quotes_apart(text)):
        frame, found = typed(scan_text(text, shape, rows), names, kinds, code_texts(missing or DEFAULT_CODES))
    expected = shape.n_rows if rows is None else min(rows, shape.n_rows)
    if frame.height != expected:
        raise FileFormatError(f"{path.name} cannot be read as {kind}: {quotes_apart(text)}")
    hint_at_decimals(path, frame, kinds)
    return apply_codes(frame, missing), () if missing else found


def check_decimal(path: Path, decimal: str | None) -> None:
    """Refuse a decimal mark that is none."""
    if decimal not in (None, ".", ","):
        raise FileFormatError(f"{path.name}: the decimal mark must be '.' or ','", argument="decimal")


def hint_at_decimals(path: Path, frame: pl.DataFrame, kinds: Sequence[Kind]) -> None:
    """Warn of columns that stay texts only for the decimal mark that was tried."""
    names, mark = other_decimals(frame, kinds)
    if names:
        told = ", ".join(f"'{name}'" for name in names[:_ENOUGH])
        more = f" and {len(names) - _ENOUGH} more" if len(names) > _ENOUGH else ""
        warnings.warn(
            f"{path.name}: read as text, but every value is a number with the decimal mark '{mark}': {told}"
            f'{more}. If so give decimal="{mark}" (on the command line --decimal {mark})',
            SdcWarning,
            stacklevel=2,
        )


def quotes_apart(text: CsvText) -> str:
    """Say where to look when the lines are whole but the parser cannot tell the fields apart."""
    odd = next((i for i, line in enumerate(text.lines(), start=1) if line.count('"') % 2), None)
    where = "" if odd is None else f"; look first at line {odd}, which has an odd number of them"
    return f"quotes within fields are not doubled or do not pair up{where}"


def scan_text(text: CsvText, shape: CsvShape, rows: int | None) -> pl.LazyFrame:
    """Scan every field as text, blank lines dropped."""
    import polars as pl

    scan = pl.scan_csv(
        text.source, has_header=False, skip_lines=shape.skip_lines,
        schema=dict.fromkeys(shape.names, pl.String), separator=shape.delimiter,
        quote_char='"' if shape.quoted else None, glob=False,
    )  # fmt: skip
    if len(shape.blank):
        number = "row number"
        while number in shape.names:
            number += "_"
        blank = pl.lit(pl.Series(shape.blank.astype("uint32")).implode())
        scan = scan.with_row_index(number).filter(~pl.col(number).is_in(blank)).drop(number)
    return scan if rows is None else scan.head(rows)
