"""Reading of files: `read_file` for every format, only the requested columns; joins of two files; samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data import arguments, pl
from sdckit.data.files.csv_beside import options_beside
from sdckit.data.files.file_checks import FileHeader, file_format, pick_columns, second_file, warn_of_absent
from sdckit.data.files.read_csv import CsvOptions, csv_header, folder_values, read_csv
from sdckit.data.files.read_labelled import columnar_header, labelled_header, read_columnar, read_labelled, read_labels
from sdckit.data.files.scan_file import ScanEngine, files_of, is_address, is_read_by, scan_file
from sdckit.data.frames import count_records, exactly, is_lazy, on_spark, open_frame
from sdckit.data.missing_values.missing import Found, MissingNotes, labelled_suspects, suspects
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError, SdcWarning

# Join of two files by one key, such as households to persons.


def parts_of(
    file: FileHeader, other: FileHeader, key: str, *, columns: Sequence[str] | None, identifiers: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to read of each file: the key, and those it has (shared ones from both)."""
    asked = dict.fromkeys([*file.columns, *other.columns]) if columns is None else columns
    wanted = [name for name in asked if name not in identifiers and name != key]
    first, second = set(file.columns), set(other.columns)
    return (
        (key, *(name for name in wanted if name in first or name not in second)),
        (key, *(name for name in wanted if name in second)),
    )


def join_frames(
    frame: pl.DataFrame, other: pl.DataFrame, key: str, *, names: tuple[str, str], whole: bool = True
) -> pl.DataFrame:
    """Left join of `other` to `frame` by a key, keeping the order of `frame`.

    `whole`: whether `frame` holds all records of its file.

    Raises
    ------
    DataError
        The key is not of one kind, repeated in `other`, or a record has none there; a column of both differs.

    Warns
    -----
    SdcWarning
        Records of `other` that nobody in `frame` belongs to; they are left out.
    """
    places = _places(_key_of(frame, other, key, names), names, key)
    left_out = other.height - places.n_unique()
    if left_out and whole:
        warnings.warn(
            f"{left_out:,} of the {other.height:,} records of {names[1]} belong to no record of {names[0]}; "
            "they are left out",
            SdcWarning,
            stacklevel=2,
        )
    # Renamed meanwhile: Polars reads some names as patterns.
    beside = [other[name].alias("x").gather(places).alias(name) for name in other.columns if name != key]
    for column in beside:
        if column.name in frame.columns:
            _check_equal(frame[column.name], column, names)
    return pl.DataFrame([*frame.get_columns(), *(column for column in beside if column.name not in frame.columns)])


def _key_of(frame: pl.DataFrame, other: pl.DataFrame, key: str, names: tuple[str, str]) -> tuple[pl.Series, pl.Series]:
    # NaN is a missing number and no household that all such people share
    mine, theirs = (file.select(exactly(key).alias("key")).fill_nan(None)["key"] for file in (frame, other))
    if mine.dtype.is_numeric() != theirs.dtype.is_numeric():
        text, number = names if theirs.dtype.is_numeric() else names[::-1]
        raise DataError(
            f"the key {key!r} is a number in {number} and none in {text}; write it alike in both", argument="join_key"
        )
    if mine.dtype == theirs.dtype:
        return mine, theirs
    return mine.cast(kind := _common(mine, theirs)), theirs.cast(kind)


def _common(mine: pl.Series, theirs: pl.Series) -> pl.DataType:
    """A common type of both; integers stay integers, since floats would merge different long ids."""
    if mine.dtype.is_integer() and theirs.dtype.is_integer():
        return pl.Int128()
    return pl.Float64() if mine.dtype.is_numeric() and theirs.dtype.is_numeric() else pl.String()


def _places(keys: tuple[pl.Series, pl.Series], names: tuple[str, str], key: str) -> pl.Series:
    """The row index in the second file for each record of the first."""
    mine, theirs = (column.to_frame() for column in keys)
    known = theirs.with_row_index("row").drop_nulls("key")
    repeated = known.height - known["key"].n_unique()
    if repeated:
        raise DataError(
            f"{names[1]} has the key {key!r} more than once in {counted(repeated, 'record')} beyond the first; "
            "it needs one record for each (is it the file of persons? that one comes first)",
            argument="join_key",
        )
    places: pl.Series = mine.join(known, on="key", how="left", maintain_order="left")["row"]
    if absent := places.null_count():
        raise DataError(
            f"{absent:,} of the {len(places):,} records of {names[0]} have no record in {names[1]} by {key!r}; "
            "complete it, or take these records out",
            argument="join_key",
        )
    return places


def _check_equal(mine: pl.Series, theirs: pl.Series, names: tuple[str, str]) -> None:
    name = mine.name
    mine, theirs = (column.alias("x").to_frame().fill_nan(None)["x"] for column in (mine, theirs))
    if mine.dtype != theirs.dtype:
        mine, theirs = mine.cast(kind := _common(mine, theirs)), theirs.cast(kind)
    if differ := int(mine.ne_missing(theirs).sum()):
        raise ColumnError(
            f"{names[0]} and {names[1]} both have a column {name!r}, which differs in {counted(differ, 'record')}; "
            "rename it in one of them"
        )


WORKBOOK = "Excel"
AS_CSV, COLUMNAR = ("CSV", WORKBOOK), ("Parquet", "Arrow")
# Records of a sample: a million, fewer for files with more than 50 columns.
_MOST, _FEWEST, _CELLS = 1_000_000, 100_000, 50_000_000


@dataclass(frozen=True)
class FileSample:
    """The first records of a file, all columns, for guessing roles."""

    header: FileHeader  # its metadata
    frame: pl.DataFrame  # its first records, a Polars frame
    # codes in these records that were taken as missing, or are suspected to be
    notes: MissingNotes = field(default_factory=MissingNotes)
    labels: Mapping[str, str] = field(default_factory=dict)  # variable labels by column
    value_labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # value labels by column


def read_file(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    identifiers: Sequence[str] = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    labels: bool = True,
    rows: int | None = None,
    user_missing: bool = False,
    join: str | Path | None = None,
    join_key: str | None = None,
) -> pl.DataFrame:
    r"""Read columns of a CSV, Excel, Parquet, Arrow, SPSS, Stata or SAS file, or of two files by one key.

    Parameters
    ----------
    path
        The file; its extension names the format. A CSV may be compressed (.csv.gz, .bz2, .xz, .zst); of a workbook
        (.xlsx) the first sheet that holds anything is read where none is named.
    columns
        The columns to read, in this order; no other is ever loaded. None reads all but the identifiers.
    identifiers
        Columns never to be loaded; one that does not exist is warned of, since naming it protects nothing.
    missing
        Codes that mean missing, beside the empty field, such as ``("NA", "-999")``: equal by value in
        numeric columns, by text in others. Without any, NA, N/A, NaN, nan, NULL, null and a single point
        are missing in the text of every format, and in all columns of a CSV; ``missing=""`` takes the
        empty field alone.
    delimiter, encoding, decimal
        How a CSV is written; found by itself where not given, and of no account for a workbook.
    sheet, header_row
        Of a workbook: the sheet, by name or by its number from 1, and the row that holds the names of columns, as
        its program counts them; what stands above is left out.
    labels
        Replace codes by their value labels (SPSS, Stata, SAS).
    rows
        Read only so many records from the start.
    user_missing
        SPSS, Stata: keep user-missing codes that have a label, such as "refused", as categories of their own.
        Otherwise they are missing. In columns of numbers they always are.
    join
        A second file with one record for each value of `join_key`, such as the households of persons: its columns
        stand beside those of `path`, whose records and order stay. It is read by the same options, but for sheet and
        header row, where it is written alike; else by its own shape, with a warning.
    join_key
        The column that both files have, such as the number of the household.

    Returns
    -------
    polars.DataFrame
        The records in file order.

    Raises
    ------
    FileFormatError
        The file is absent, damaged, of another format, or its lines have different numbers of fields.
    ColumnError
        A column is absent (the nearest name is told) or repeated, or differs between two files joined.
    DataError
        An option of the wrong kind.
        A key repeated in the second file, or records that have none there.
        There are no records, or a CSV's first line looks like a record instead of a header.

    Warns
    -----
    SdcWarning
        Codes were taken for missing though none was named; values such as -999 or "refused", left as they
        are, may mean missing; text would be numbers under the other decimal mark; a workbook has more sheets, or
        a title above the names of its columns;
        records of a second file that no record of the first belongs to.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "survey.csv"
    ...     _ = file.write_text("name;postcode;w\nAnn;0012;1,5\nBob;9000;\n")
    ...     read_file(file, columns=["postcode", "w"]).rows()
    [('0012', 1.5), ('9000', None)]
    """
    arguments.names(columns, "columns")
    arguments.names(identifiers, "identifiers")
    for name, value in (("delimiter", delimiter), ("encoding", encoding), ("decimal", decimal)):
        if value is not None:
            arguments.text(value, name)
    arguments.flag(labels, "labels")
    arguments.flag(user_missing, "user_missing")
    if rows is not None:
        arguments.count(rows, "rows", "counts records")
    how: dict[str, Any] = {
        "delimiter": delimiter, "encoding": encoding, "decimal": decimal, "labels": labels,
        "user_missing": user_missing, "sheet": sheet, "header_row": header_row,
    }  # fmt: skip
    frame, notes = _read_both(
        Path(path), join, join_key, columns=columns, identifiers=identifiers, missing=missing, rows=rows, **how
    )
    notes.warn(Path(path).name)
    return frame


def _second(join: object, key: object) -> tuple[Path, str]:
    """The second file, and the column that both files have."""
    second = second_file(join)
    if key is None:
        raise DataError("join= needs join_key= beside it", argument="join_key")
    return second, arguments.column(key, "join_key")


def _read_both(
    file: Path, join: str | Path | None, key: str | None, *, columns: Sequence[str] | None = None,
    identifiers: Sequence[str] = (), missing: Sequence[str] = (), rows: int | None = None, **how: Any,
) -> tuple[pl.DataFrame, MissingNotes]:  # fmt: skip
    """Read a file, joined with the second if there is one; the notes are those of the first."""
    if join is None:
        if key is not None:
            raise DataError("join_key= goes with join=, the second file", argument="join_key")
        return _read(file, columns, identifiers, missing, rows=rows, **how)

    second, key = _second(join, key)
    given = CsvOptions(how["delimiter"], how["encoding"], how["decimal"])
    own = options_beside(second, given, original=file)
    first = _header(file, given.delimiter, given.encoding, how["sheet"], how["header_row"])
    other_header = _header(second, own.delimiter, own.encoding)
    header = _joined(file, first, second, other_header, key, columns, identifiers)
    parts = parts_of(first, other_header, key, columns=columns, identifiers=identifiers)
    frame, notes = _read(file, parts[0], (), missing, rows=rows, **how)
    how |= {**asdict(own), "sheet": None, "header_row": None}
    other, others = _read(second, parts[1], (), missing, rows=None, **how)
    others.warn(second.name)
    joined = join_frames(frame, other, key, names=(file.name, second.name), whole=rows is None)
    shown = columns if columns is not None else header.columns
    return joined.select(exactly(name) for name in shown if name not in identifiers), notes


def _read(
    file: Path, columns: Sequence[str] | None, identifiers: Sequence[str], missing: Sequence[str], *,
    delimiter: str | None, encoding: str | None, decimal: str | None, labels: bool, rows: int | None,
    user_missing: bool, sheet: str | int | None, header_row: int | None,
) -> tuple[pl.DataFrame, MissingNotes]:  # fmt: skip
    """Read one file of any format, with notes on its codes for missing."""
    codes = arguments.texts(missing, "missing")
    kind = _kind(file, sheet, header_row)
    if kind in AS_CSV:
        frame, taken = read_csv(
            file, kind, columns=columns, identifiers=identifiers, missing=codes,
            delimiter=delimiter, encoding=encoding, decimal=decimal, rows=rows, sheet=sheet, header_row=header_row,
        )  # fmt: skip
    elif kind in COLUMNAR:
        frame, taken = read_columnar(file, kind, columns=columns, identifiers=identifiers, missing=codes, rows=rows)
    else:
        frame, taken = read_labelled(
            file, kind, columns=columns, identifiers=identifiers, missing=codes,
            encoding=encoding, labels=labels, rows=rows, user_missing=user_missing,
        )  # fmt: skip
    if frame.height == 0:
        raise DataError(f"{file.name} holds columns but no records")
    suspected = suspects(frame)
    if kind not in (*AS_CSV, *COLUMNAR) and any(dtype.is_numeric() for dtype in frame.dtypes):
        of_columns = read_labels(file, encoding=encoding).columns
        labelled = labelled_suspects(frame, {name: column.codes for name, column in of_columns.items()})
        suspected = tuple(dict.fromkeys((*suspected, *labelled)))
    if user_missing and suspected:
        suspected = tuple(suspect for suspect in suspected if not _is_kept(suspect, file, encoding))
    return frame, MissingNotes(codes, taken, suspected)


def _is_kept(suspect: Found, file: Path, encoding: str | None) -> bool:
    """Whether a suspected code is user-missing with a label, and so kept as a category on request."""
    known = read_labels(file, encoding=encoding).get(suspect.column)
    return suspect.code in known.codes and known.is_missing(known.codes[suspect.code])


def scan_header(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    identifiers: Sequence[str] = (),
    missing: Sequence[str] = (),  # noqa: ARG001 - one set of options serves read_file and scan_header
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    labels: bool = True,  # noqa: ARG001
    user_missing: bool = False,  # noqa: ARG001
    join: str | Path | None = None,
    join_key: str | None = None,
) -> FileHeader:
    """Give a file's column names, number of records and format without loading any column.

    `columns` must be there; the header given back still names all. `identifiers` are warned of where they are
    not there. The other options, and the errors, are those of `read_file`; how the lines are cut matters here.
    """
    file = Path(path)
    header = _header(file, delimiter, encoding, sheet, header_row)
    if join is not None:
        second, key = _second(join, join_key)
        own = options_beside(second, CsvOptions(delimiter, encoding, decimal), original=file)
        other = _header(second, own.delimiter, own.encoding)
        return _joined(file, header, second, other, key, columns, identifiers)
    pick_columns(file, header.columns, columns, certain=header.certain)
    warn_of_absent(identifiers, header.columns)
    return header


def _joined(
    file: Path, first: FileHeader, second: Path, other: FileHeader, key: str, columns: Sequence[str] | None,
    identifiers: Sequence[str],
) -> FileHeader:  # fmt: skip
    """The header of two joined files, held against the names given."""
    for header, path in ((first, file), (other, second)):
        pick_columns(path, header.columns, [key], certain=header.certain)
    more = tuple(name for name in other.columns if name not in first.columns)
    header = replace(first, columns=(*first.columns, *more), certain=first.certain and other.certain)
    pick_columns(file, header.columns, columns, certain=header.certain)
    warn_of_absent(identifiers, header.columns)
    return header


def _header(
    file: Path, delimiter: str | None, encoding: str | None, sheet: str | int | None = None,
    header_row: int | None = None,
) -> FileHeader:  # fmt: skip
    kind = _kind(file, sheet, header_row)
    if kind in AS_CSV:
        return csv_header(file, kind, delimiter=delimiter, encoding=encoding, sheet=sheet, header_row=header_row)
    if kind in COLUMNAR:
        return columnar_header(file, kind)
    return labelled_header(file, kind, encoding=encoding)


def _kind(file: Path, sheet: str | int | None, header_row: int | None) -> str:
    """The format of a file; a sheet and a row of names are of a workbook."""
    if isinstance(sheet, int):
        arguments.count(sheet, "sheet", "is the name of a sheet or its number")
    elif sheet is not None:
        arguments.text(sheet, "sheet")
    if header_row is not None:
        arguments.count(header_row, "header_row", "is a row of the sheet")
    kind = file_format(file)
    for name, value in (("sheet", sheet), ("header_row", header_row)):
        if value is not None and kind != WORKBOOK:
            raise DataError(f"{file.name} is {kind} and has no sheets; leave {name}= out", argument=name)
    return kind


def describe_file(
    path: str | Path, *, missing: Sequence[str] = (), delimiter: str | None = None,
    encoding: str | None = None, decimal: str | None = None, sheet: str | int | None = None,
    header_row: int | None = None, labels: bool = True, rows: int | None = None, user_missing: bool = False,
    join: str | Path | None = None, join_key: str | None = None, whole: bool = False,
) -> FileSample:  # fmt: skip
    """Header, labels and first records of a file with all columns, for guessing roles.

    `rows` defaults to a million records, fewer for wide files; `whole`: read all of them.
    Raises what `read_file` does.
    """
    file = Path(path)
    cut: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "sheet": sheet, "header_row": header_row}
    header = scan_header(file, join=join, join_key=join_key, decimal=decimal, **cut)
    if rows is None and not whole:
        rows = max(_FEWEST, min(_MOST, _CELLS // max(len(header.columns), 1)))
    frame, notes = _read_both(
        file, join, join_key, missing=missing, rows=rows, decimal=decimal, labels=labels, user_missing=user_missing,
        **cut,
    )  # fmt: skip
    notes.warn(file.name)
    file_labels = read_labels(file, encoding=encoding, join=join)
    values = {name: tuple(column.codes) for name, column in file_labels.columns.items() if column.codes}
    # in one piece: of a frame in many, rows in another order take three times as long
    return FileSample(header, frame.rechunk(), notes, file_labels.variables, values)


def open_beside(path: Path, data: Any, **how: Any) -> Any:
    """Open a file on the engine of a plan where that reads it; else, and beside a frame in memory, it is read whole."""
    frame: Any = open_frame(data)
    engine: Any = ("spark" if on_spark(frame) else frame.implementation.value) if is_lazy(frame) else None
    if not is_read_by(engine, path):
        return read_file(path, **how)
    return scan_file(path, engine=engine, beside=frame.to_native() if engine == "duckdb" else None, **how)


# Header of a file, a folder of files or an address, without reading records.


def plan_header(
    path: Path, *, engine: ScanEngine, memory: str | None = None, delimiter: str | None = None,
    encoding: str | None = None,
) -> FileHeader:  # fmt: skip
    """Column names, number of records and format of what an engine would read; options as in `scan_file`.

    Every file of a folder is inspected; the engine is used for addresses only. Raises what `scan_file` does.
    """
    if is_address(path):
        plan = scan_file(path, engine=engine, memory=memory, delimiter=delimiter, encoding=encoding)
        return FileHeader(tuple(nw.from_native(plan).collect_schema().names()), count_records(plan), "Parquet")
    files = files_of(path)
    headers = [scan_header(file, delimiter=delimiter, encoding=encoding) for file in files]
    if not path.is_dir():
        return headers[0]
    counts = [header.n_rows for header in headers if header.n_rows is not None]
    folders = (name for file in files for name in folder_values(file, path))
    return FileHeader(
        tuple(dict.fromkeys([*headers[0].columns, *folders])),
        sum(counts) if len(counts) == len(headers) else None,
        f"{counted(len(files), 'file')}, {headers[0].format}",
        certain=all(header.certain for header in headers),
    )
