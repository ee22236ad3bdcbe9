"""Workbooks: the first sheet as the text of a CSV file, so that both are read by the same rules."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.files.file_checks import clear_errors
from sdckit.errors import FileFormatError, SdcWarning

if TYPE_CHECKING:
    import polars as pl


DELIMITER = ","
_CUT = 1e-9


def sheet_as_csv(path: Path) -> bytes:
    """Give the first sheet that holds anything as CSV text (UTF-8, commas, decimal points).

    Numbers keep all their digits, dates become ``2020-01-31``, errors such as ``#N/A`` are missing. Other sheets
    are warned of. Raises `FileFormatError`: no workbook, one under a password, or empty; or fastexcel is absent.
    """
    with clear_errors(path, "Excel", lambda: "it is damaged or protected by a password"), _quiet():
        book = _opened(path)
        sheets = [name for name in book.sheet_names if _holds(book, name)]
        if not sheets:
            raise FileFormatError(f"{path.name} is empty: no sheet of it holds a record")
        frame = _sheet(book, sheets[0])
        text = frame.write_csv(include_header=False).encode()
    if len(sheets) > 1:
        warnings.warn(
            f"{path.name}: the first sheet is read; {len(sheets) - 1} more are not. To read another, save it as a "
            "file of its own",
            SdcWarning,
            stacklevel=2,
        )
    return text


def _opened(path: Path) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise FileFormatError(
            f'{path.name}: reading workbooks needs fastexcel; install it: pip install "sdckit[files]"'
        ) from None
    try:
        return fastexcel.read_excel(path)
    except fastexcel.FastExcelError:
        raise ValueError from None


def _holds(book: Any, name: str) -> bool:
    return bool(book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").width)


def _sheet(book: Any, name: str) -> pl.DataFrame:
    """The sheet's cells as text below their header, which is text as well."""
    import polars as pl

    header = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars().row(0)
    columns = [f"c{i}" for i in range(len(header))]  # names may be repeated: told later, as for any CSV
    given = {"header_row": None, "skip_rows": 1, "column_names": columns}
    typed = book.load_sheet(name, **given, schema_sample_rows=None).to_polars()
    texts = [one for one in columns if typed[one].dtype == pl.String]
    # among texts numbers come with nine decimals: these are read anew
    numbers = (
        book.load_sheet(name, **given, dtypes=dict.fromkeys(texts, "float")).to_polars() if texts else typed
    )
    made = [_mixed(typed[one], numbers[one]) if one in texts else _written(typed[one]) for one in columns]
    return pl.concat([pl.DataFrame([header], schema=dict.fromkeys(columns, pl.String), orient="row"),
                      pl.DataFrame(made)])  # fmt: skip


def _mixed(text: pl.Series, number: pl.Series) -> pl.Series:
    """Text as it stands; numbers among it, of which nine decimals came, with all their digits."""
    import polars as pl

    cut = text.str.contains(r"^-?\d+\.\d{9}$|^-?0$") & (
        (text.cast(pl.Float64, strict=False) - number).abs() <= _CUT
    )
    both = pl.DataFrame({"text": text, "full": _written(number), "cut": cut})
    return both.select(pl.when("cut").then("full").otherwise("text").alias(text.name)).to_series()


def _written(series: pl.Series) -> pl.Series:
    """Numbers and dates as text, whole numbers without a point, times that are all midnight as dates."""
    import polars as pl

    if series.dtype.is_float():
        return series.cast(pl.String).str.strip_suffix(".0")
    if series.dtype == pl.Datetime and (series.dt.time() == dt.time()).all():
        series = series.dt.date()
    return series.cast(pl.String)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's own remarks, which speak of columns by number, from the terminal."""
    log = logging.getLogger("fastexcel.types.dtype")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
