"""Files in: one function for every format, reading only the columns that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.data.file_checks import FileHeader, file_format, pick_columns
from sdckit.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FileHeader", "FileSample", "describe_file", "read_file", "scan_header"]


@dataclass(frozen=True)
class FileSample:
    """The first records of a file, all columns, for guessing roles.

    Parameters
    ----------
    header
        What the file says of itself.
    frame
        Its first records, a Polars frame.
    """

    header: FileHeader
    frame: pl.DataFrame


def read_file(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    labels: bool = True,
    rows: int | None = None,
) -> pl.DataFrame:
    r"""Read columns of a CSV, Parquet, Arrow, SPSS, Stata or SAS file.

    Parameters
    ----------
    path
        The file; its extension names the format.
    columns
        The columns to read, in this order; no other is ever loaded. None reads all.
    missing
        Codes that mean missing, beside the empty field, such as ``("NA", "-999")``: equal by value in
        numeric columns, by text in others. Without any, a CSV's NA, N/A, NaN, nan, NULL, null and a single
        point are missing; files with missing values of their own need no codes.
    delimiter, encoding, decimal
        How a CSV is written; found by itself where not given.
    labels
        Replace codes by their value labels (SPSS, Stata, SAS).
    rows
        Read only so many records from the start.

    Returns
    -------
    polars.DataFrame
        The records in file order.

    Raises
    ------
    FileFormatError
        The file is absent, damaged, of another format, or its lines have different numbers of fields.
    ColumnError
        A column is absent (the nearest name is told) or repeated.
    DataError
        There are no records, or a CSV has no header.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "survey.csv"
    ...     _ = file.write_text("name;postcode;w\nAnn;0012;1,5\nBob;9000;NA\n")
    ...     read_file(file, columns=["postcode", "w"]).rows()
    [('0012', 1.5), ('9000', None)]
    """
    from sdckit.data.read_columnar import read_columnar
    from sdckit.data.read_csv import read_csv
    from sdckit.data.read_labelled import read_labelled

    file = Path(path)
    codes = (missing,) if isinstance(missing, str) else tuple(str(code) for code in missing)
    kind = file_format(file)
    if kind == "CSV":
        return read_csv(
            file,
            columns=columns,
            missing=codes,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            rows=rows,
        )
    if kind in ("Parquet", "Arrow"):
        frame = read_columnar(file, kind, columns=columns, missing=codes, rows=rows)
    else:
        frame = read_labelled(
            file, kind, columns=columns, missing=codes, encoding=encoding, labels=labels, rows=rows
        )
    if frame.height == 0:
        raise DataError(f"{file.name} holds columns but no records")
    return frame


def scan_header(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    missing: Sequence[str] = (),  # noqa: ARG001 - one set of options serves read_file and scan_header
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,  # noqa: ARG001
    labels: bool = True,  # noqa: ARG001
) -> FileHeader:
    """Give a file's column names, number of records and format without loading any column.

    Parameters
    ----------
    path
        The file.
    columns
        Columns that must be there; the header given back still names all.
    missing, delimiter, encoding, decimal, labels
        As in `read_file`; how the lines are cut matters here, the others do not.

    Raises
    ------
    FileFormatError, ColumnError, DataError
        As `read_file`.
    """
    file = Path(path)
    header = _header(file, delimiter, encoding)
    pick_columns(file, header.columns, columns)
    return header


def _header(file: Path, delimiter: str | None, encoding: str | None) -> FileHeader:
    from sdckit.data.read_columnar import columnar_header
    from sdckit.data.read_csv import csv_header
    from sdckit.data.read_labelled import labelled_header

    kind = file_format(file)
    if kind == "CSV":
        return csv_header(file, delimiter=delimiter, encoding=encoding)
    if kind in ("Parquet", "Arrow"):
        return columnar_header(file, kind)
    return labelled_header(file, kind, encoding=encoding)


def describe_file(
    path: str | Path,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    labels: bool = True,
    rows: int = 100_000,
) -> FileSample:
    """Give a file's header and its first records with all columns, for guessing roles.

    Raises
    ------
    FileFormatError, ColumnError, DataError
        As `read_file`.
    """
    header = scan_header(path, delimiter=delimiter, encoding=encoding)
    frame = read_file(
        path,
        missing=missing,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        labels=labels,
        rows=rows,
    )
    return FileSample(header, frame)
