"""Reading of CSV files and workbooks: all lines are checked, then only the requested columns are parsed."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import logging
import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sdckit.data import pl
from sdckit.data.files import file_checks, file_limits, workbook_checks
from sdckit.data.files.csv_shape import CsvShape, CsvText, csv_shape, open_text
from sdckit.data.frames import exactly
from sdckit.data.missing_values.missing import DEFAULT_CODES, Found, apply_codes, code_texts
from sdckit.display import displayed
from sdckit.errors import FileFormatError, SdcWarning

# Workbooks: a sheet is converted to CSV text, so that both are read by the same rules.


DELIMITER = ","
_CUT = 1e-9
_LOOKED_AT = 20  # rows among which the names of columns are looked for
_NAMED = 0.8  # least share of the columns that the row of names has a name for
_NUMERAL = re.compile(r"[-+\d.,:/ ]*\d[-+\d.,:/ ]*")  # a number, a date or a time


def sheet_as_csv(path: Path, sheet: str | int | None = None, header_row: int | None = None) -> bytes:
    """Convert a sheet, the first non-empty one by default, to CSV text (UTF-8, commas, decimal points).

    Numbers keep all digits, dates become ``2020-01-31``, errors such as ``#N/A`` are missing. Warns of further
    sheets, and of a first row that is a title or heads several columns. Raises `FileFormatError`: not a workbook,
    password-protected or empty; no such sheet or row; or fastexcel is not installed.
    """
    with file_checks.clear_errors(path, "Excel", lambda: "it is damaged or protected by a password"), _quiet():
        workbook_checks.check_workbook(path)
        book, chosen, sheets = _workbook(path, sheet)
        if not _holds(book, chosen, header_row or 1):
            raise FileFormatError(
                f"{path.name}: row '{header_row or 1}' of the sheet '{displayed(chosen)}' holds nothing; give the row "
                "with the names of columns",
                argument="header_row" if header_row else "sheet",
            )
        said = [] if header_row else _title(book, chosen)
        text = _sheet(book, chosen, header_row or 1).write_csv(include_header=False).encode()
    if sheet is None and len(sheets) > 1:
        others = ", ".join(f"'{displayed(name)}'" for name in sheets[1:])
        said.append(
            f"the first sheet, '{displayed(chosen)}', is read and not {others}; name another by sheet= (on the command "
            "line --sheet)"
        )
    for text_said in said:
        warnings.warn(f"{path.name}: {text_said}", SdcWarning, stacklevel=2)
    return text


def _workbook(path: Path, sheet: str | int | None) -> tuple[Any, str, list[str]]:
    """A workbook, the sheet of it that is read, and all sheets that hold anything."""
    book = _opened(path)
    sheets = [name for name in book.sheet_names if _holds(book, name)]
    if not sheets:
        raise FileFormatError(f"{path.name} is empty: no sheet of it holds a record")
    return book, sheets[0] if sheet is None else _chosen(path, book.sheet_names, sheet), sheets


def has_further_sheets(path: Path, sheet: str | int | None = None) -> bool:
    """Whether a sheet of a workbook that was read, and so checked, holds anything beside it, hidden ones included."""
    with _quiet():
        _, chosen, sheets = _workbook(path, sheet)
    return sheets != [chosen]


def _chosen(path: Path, names: Sequence[str], sheet: str | int) -> str:
    """The name of the sheet that was asked for by name, or by number."""
    if sheet in names:
        return str(sheet)
    number = int(sheet) if str(sheet).isdecimal() else 0
    if 0 < number <= len(names):
        return names[number - 1]
    there = ", ".join(f"'{displayed(name)}'" for name in names)
    raise FileFormatError(
        f"{path.name} has no sheet '{displayed(str(sheet))}'; it has {there}, or give its number", argument="sheet"
    )


def _title(book: Any, name: str) -> list[str]:
    """A hint at the row of names where a title or headings over several columns stand above it."""
    rows = book.load_sheet(name, header_row=None, n_rows=_LOOKED_AT, dtypes="string").to_polars().rows()
    cells = [[cell.strip() for cell in row if cell is not None] for row in rows]
    enough = max(2, round(_NAMED * max(map(len, cells))))
    heads = list(itertools.takewhile(lambda row: not any(map(_NUMERAL.fullmatch, row)), cells))  # above any record
    full = next((at for at, row in enumerate(heads, 1) if len(row) >= enough and len({*row}) == len(row)), 0)
    names = full or next((at for at, row in enumerate(cells, 1) if len(row) > 1), 1)
    said = (
        f"the first row of the sheet seems to be a title or to head several columns, and the one numbered '{names}' to "
        "hold the names of columns; if so give its number by header_row= (on the command line --header-row)"
    )
    return [] if names == 1 else [said]


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


def _holds(book: Any, name: str, row: int = 1) -> bool:
    from fastexcel import InvalidParametersError

    try:
        rows = book.load_sheet(name, header_row=None, skip_rows=row - 1, n_rows=1, dtypes="string").to_polars()
    except InvalidParametersError:  # below its last row
        return False
    return bool(rows.width) and (row == 1 or any(cell is not None for cell in rows.row(0)))


def _sheet(book: Any, name: str, row: int) -> pl.DataFrame:
    """The cells of a sheet from a row on as text, the header as first row."""
    header = book.load_sheet(name, header_row=None, skip_rows=row - 1, n_rows=1, dtypes="string").to_polars().row(0)
    columns = [f"c{i}" for i in range(len(header))]  # names may be repeated: reported later, as for any CSV
    given = {"header_row": None, "skip_rows": row, "column_names": columns}
    typed = book.load_sheet(name, **given, schema_sample_rows=None).to_polars()
    texts = [column for column in columns if typed[column].dtype == pl.String]
    # in text columns, numbers come with nine decimals: they are read a second time
    numbers = book.load_sheet(name, **given, dtypes=dict.fromkeys(texts, "float")).to_polars() if texts else typed
    made = [
        _mixed(typed[column], numbers[column]) if column in texts else _written(typed[column]) for column in columns
    ]
    return pl.concat([pl.DataFrame([header], schema=dict.fromkeys(columns, pl.String), orient="row"),
                      pl.DataFrame(made)])  # fmt: skip


def _mixed(text: pl.Series, number: pl.Series) -> pl.Series:
    """Restore all digits of numbers in a text column, which came truncated to nine decimals."""
    cut = text.str.contains(r"^-?\d+\.\d{9}$|^-?0$") & ((text.cast(pl.Float64, strict=False) - number).abs() <= _CUT)
    both = pl.DataFrame({"text": text, "full": _written(number), "cut": cut})
    return both.select(pl.when("cut").then("full").otherwise("text").alias(text.name)).to_series()


def _written(series: pl.Series) -> pl.Series:
    """Numbers and dates as text: integers without a point, timestamps that are all midnight as dates."""
    if series.dtype.is_float():
        return series.cast(pl.String).str.strip_suffix(".0")
    if series.dtype == pl.Datetime and (series.dt.time() == dt.time()).all():
        series = series.dt.date()
    return series.cast(pl.String)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the log messages of the library, which name columns by number."""
    log = logging.getLogger("fastexcel.types.dtype")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


# Type inference of CSV columns: numbers or dates if every value is one, else text exactly as written.


Kind = Literal["integer", "point", "comma", "comma or text", "date", "text"]

_SAMPLE = 10_000
# A leading zero is part of a code (postcodes), and doubles cannot hold 16 digits or more.
_NOT_A_NUMBER = r"^[+-]?(?:0[0-9]|[0-9]{16,}$)"
_LEADING_ZERO = r"^[+-]?0[0-9]"
# ISO dates only: other orders of day, month and year are ambiguous.
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
# 1,234 is ambiguous: a thousands separator or a decimal comma.
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+$"
# Numbers with and without marks between thousands and the mark of one: none is read as a number.
_GROUPED = tuple(
    (
        rf"^ *[+-]?(?:[1-9][0-9]{{0,2}}(?:[{mark}][0-9]{{3}})+|0|[1-9][0-9]*)(?:[{point}][0-9]+)? *$",
        rf"[0-9][{mark}][0-9]{{3}}",
    )
    for mark, point in ((",", "."), (".", ","), (" '’\u00a0\u202f", ".,"))
)
_DATES = ((r"^ *[0-9]{1,2}[./-] ?[0-9]{1,2}[./-] ?[0-9]{4} *$", r"[0-9]"),)


def kinds_to_try(delimiter: str, decimal: str | None) -> tuple[Kind, ...]:
    """The kinds of column to try, in order; the first that fits every value is chosen.

    >>> kinds_to_try(";", None)
    ('integer', 'point', 'comma', 'date', 'text')
    """
    if decimal == ",":
        return ("integer", "comma", "date", "text")
    if decimal == "." or delimiter == ",":
        return ("integer", "point", "date", "text")
    return ("integer", "point", "comma" if delimiter == ";" else "comma or text", "date", "text")


def typed(
    scan: pl.LazyFrame, names: Sequence[str], kinds: Sequence[Kind], codes: Sequence[str] = ()
) -> tuple[pl.DataFrame, tuple[Found, ...]]:
    """Collect text columns with inferred types, codes and empty fields as missing; count the codes.

    A sample proposes the kind of each column; the whole column confirms it, or the next kind is tried on that
    column. The codes are counted in the first pass.
    """
    raw = scan.select(exactly(name).alias(f"r{i}") for i, name in enumerate(names))  # r: as written
    sample = raw.head(_SAMPLE).collect()
    if sample.height < _SAMPLE:
        raw = sample.lazy()
    held, clean = _without_codes(len(names), codes)
    choice = _choice(sample, held, clean, kinds)
    done: dict[int, pl.Series] = {}
    code_counts: list[Found] = []
    while len(done) < len(names):
        waiting = [i for i in range(len(names)) if i not in done]
        wanted = [_convert(f"c{i}", choice[i]).alias(f"v{i}") for i in waiting]
        doubts = [_misfit(f"c{i}", choice[i]).any().alias(f"b{i}") for i in waiting]
        counts = [_counts(i).alias(f"n{i}") for i in waiting if not done and not code_counts]
        marked = raw.with_columns(held[i] for i in waiting).with_columns(clean[i] for i in waiting)
        frame = marked.select(wanted + doubts + counts).collect()
        first = frame.head(1)
        for i in waiting:
            if counts and frame.height:
                codes_here = [(row[f"r{i}"], row["count"]) for row in first.item(0, f"n{i}")]
                code_counts += [Found(names[i], code, int(n)) for code, n in codes_here if code]
            if frame.height and first.item(0, f"b{i}"):
                choice[i] = kinds[kinds.index(choice[i]) + 1]
            else:
                done[i] = frame[f"v{i}"].alias(names[i])
    series = [part.cast(pl.String) if part.null_count() == len(part) else part for _, part in sorted(done.items())]
    return pl.DataFrame(series), tuple(code_counts)


def streamed(
    scans: Sequence[pl.LazyFrame], names: Sequence[str], kinds: Sequence[Kind], codes: Sequence[str] = ()
) -> pl.LazyFrame:
    """As `typed`, for several files as one lazy frame: only the checks of the kinds are collected."""
    raw = pl.concat([scan.select(exactly(name).alias(f"r{i}") for i, name in enumerate(names)) for scan in scans])
    held, clean = _without_codes(len(names), codes)
    choice = _choice(raw.head(_SAMPLE).collect(), held, clean, kinds)
    marked = raw.with_columns(held).with_columns(clean)
    waiting = list(range(len(names)))
    while waiting:
        doubts = [_misfit(f"c{i}", choice[i]).any().alias(f"b{i}") for i in waiting]
        empty = [pl.col(f"c{i}").is_null().all().alias(f"e{i}") for i in waiting]
        flags = marked.select(doubts + empty).collect(engine="streaming").row(0, named=True)
        for i in waiting:
            if flags[f"b{i}"]:
                choice[i] = kinds[kinds.index(choice[i]) + 1]
            elif flags[f"e{i}"]:
                choice[i] = "text"
        waiting = [i for i in waiting if flags[f"b{i}"]]
    return marked.select(_convert(f"c{i}", choice[i]).alias(name) for i, name in enumerate(names))


def _without_codes(n: int, codes: Sequence[str]) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """Expressions for each column: whether a field holds a code, and the fields with codes set to missing."""
    texts = ["", *codes]
    held = [pl.col(f"r{i}").is_in(texts).alias(f"h{i}") for i in range(n)]  # h: holds a code
    clean = [pl.when(~pl.col(f"h{i}")).then(pl.col(f"r{i}")).alias(f"c{i}") for i in range(n)]
    return held, clean


def _choice(
    sample: pl.DataFrame, held: Sequence[pl.Expr], clean: Sequence[pl.Expr], kinds: Sequence[Kind]
) -> list[Kind]:
    """The kind of each column proposed by a sample."""
    head = sample.with_columns(held).select(clean)
    choice: list[Kind] = [kinds[-1]] * len(clean)
    waiting = list(range(len(clean)))
    for kind in kinds:
        wrong = head.select(_misfit(f"c{i}", kind).any().alias(f"c{i}") for i in waiting).row(0)
        for i, is_wrong in zip(waiting, wrong, strict=True):
            choice[i] = choice[i] if is_wrong else kind
        waiting = [i for i, is_wrong in zip(waiting, wrong, strict=True) if is_wrong]
        if not waiting:
            break
    return choice


def _counts(i: int) -> pl.Expr:
    return pl.col(f"r{i}").filter(pl.col(f"h{i}")).value_counts(sort=True).implode()


def other_decimals(frame: pl.DataFrame, kinds: Sequence[Kind]) -> tuple[list[str], Literal[".", ","]]:
    """Text columns that would be numeric under the decimal mark that was not tried, and that mark.

    >>> import polars as pl
    >>> other_decimals(pl.DataFrame({"w": ["3,5", "2"], "t": ["a", "b"]}), kinds_to_try(",", None))
    (['w'], ',')
    """
    mark: Literal[".", ","] = "," if "comma" not in kinds else "."
    kind: Kind = "comma" if mark == "," else "point"
    names = []
    for name, dtype in frame.schema.items():
        if dtype != pl.String or frame[name].null_count() == frame.height:
            continue
        column = frame.select(exactly(name))
        fits = all(not part.select(_misfit(name, kind).any()).item() for part in (column.head(_SAMPLE), column))
        if fits and column.to_series().str.contains(mark, literal=True).any():
            names.append(name)
    return names, mark


def _convert(name: str, kind: Kind) -> pl.Expr:
    column = exactly(name)
    if kind == "text":
        return column
    if kind == "date":
        return column.str.to_date("%Y-%m-%d", strict=False)
    bare = column.str.strip_chars(" ")
    if kind == "integer":
        return bare.cast(pl.Int64, strict=False)
    if kind == "point":
        return bare.cast(pl.Float64, strict=False)
    return bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def _misfit(name: str, kind: Kind) -> pl.Expr:
    """Mask of the values that a kind would lose or change."""
    if kind == "text":
        return pl.lit(False)
    bare = exactly(name).str.strip_chars(" ")
    lost = _convert(name, kind).is_null()
    if kind == "date":
        wrong = lost | ~exactly(name).str.contains(_DATE)
    elif kind == "integer":
        wrong = lost | bare.str.contains(_LEADING_ZERO)
    elif kind == "point":
        wrong = lost | bare.str.contains(_NOT_A_NUMBER)
    else:
        wrong = lost | bare.str.contains(_NOT_A_NUMBER) | bare.str.contains(".", literal=True)
    if kind == "comma or text":
        wrong = wrong | (bare.str.contains(_THOUSANDS) | ~bare.str.contains(",", literal=True)).all()
    return (wrong & exactly(name).is_not_null()).fill_null(False)


_ENOUGH = 5  # columns named in one message


def csv_header(
    path: Path, kind: str = "CSV", *, delimiter: str | None = None, encoding: str | None = None,
    sheet: str | int | None = None, header_row: int | None = None,
) -> file_checks.FileHeader:  # fmt: skip
    """Column names and number of records of a CSV file or workbook; checks every line."""
    known = _SEEN.get(_stamp(path, kind, delimiter, encoding, sheet, header_row))
    shape = known[0] if known else open_csv(path, kind, delimiter, encoding, sheet, header_row)[1]
    return file_checks.FileHeader(shape.names, shape.n_rows, kind, shape.certain)


# Structures of the files that were gone through last, and whether their text is the file itself.
_SEEN: dict[Any, tuple[CsvShape, bool]] = {}
_MOST_SEEN = 8
_SETTLED = 100_000_000  # nanoseconds after a change during which another one may have the same time


def _stamp(path: Path, *how: Any) -> tuple[Any, ...]:
    """What tells whether a file, read in the same way, is still the one that was gone through."""
    try:
        state = path.stat()
    except OSError:  # whoever opens it says so
        return ()
    return path.absolute(), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns, *how


def open_csv(
    path: Path, kind: str, delimiter: str | None, encoding: str | None, sheet: str | int | None = None,
    header_row: int | None = None,
) -> tuple[CsvText, CsvShape]:  # fmt: skip
    """The text and the structure of a CSV file or workbook; a file that has not changed is gone through once."""
    stamp = _stamp(path, kind, delimiter, encoding, sheet, header_row)
    shape, is_file = _SEEN.get(stamp, (None, False))
    text = CsvText(path) if is_file else _text(path, kind, encoding, sheet, header_row)
    if shape is None:
        shape = csv_shape(text, DELIMITER if kind == "Excel" else delimiter)
        *_, changed, moved = _stamp(path) or (0, 0)
        if stamp and stamp[:6] == _stamp(path) and time.time_ns() - max(changed, moved) > _SETTLED:
            while len(_SEEN) >= _MOST_SEEN:
                _SEEN.pop(next(iter(_SEEN)), None)
            _SEEN[stamp] = shape, text.data is None
    return text, shape


def _text(path: Path, kind: str, encoding: str | None, sheet: str | int | None, header_row: int | None) -> CsvText:
    """The text of a CSV file, or of a sheet of a workbook."""
    if kind == "Excel":
        return CsvText(path, sheet_as_csv(path, sheet, header_row))
    return open_text(path, encoding)


def read_csv(
    path: Path, kind: str = "CSV", *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
    missing: Sequence[str] = (), delimiter: str | None = None, encoding: str | None = None,
    decimal: str | None = None, rows: int | None = None, sheet: str | int | None = None, header_row: int | None = None,
) -> tuple[pl.DataFrame, tuple[Found, ...]]:  # fmt: skip
    """Read columns of a CSV file or a workbook and count the default codes; see `readers.read_file`."""
    check_decimal(path, decimal)
    text, shape = open_csv(path, kind, delimiter, encoding, sheet, header_row)
    names = file_checks.pick_columns(path, shape.names, columns, identifiers=identifiers, certain=shape.certain)
    file_limits.check_columns(path, len(names))
    kinds = kinds_to_try(shape.delimiter, "." if kind == "Excel" else decimal)
    with file_checks.clear_errors(path, kind, lambda: quotes_apart(text)):
        frame, code_counts = typed(scan_text(text, shape, rows), names, kinds, code_texts(missing or DEFAULT_CODES))
    if frame.height != (shape.n_rows if rows is None else min(rows, shape.n_rows)):
        raise FileFormatError(f"{path.name} cannot be read as {kind}: {quotes_apart(text)}")
    hint_at_decimals(path, frame, kinds)
    return apply_codes(frame, missing), () if missing else code_counts


def check_decimal(path: Path, decimal: str | None) -> None:
    """Check that the decimal mark is a point or a comma."""
    if decimal not in (None, ".", ","):
        raise FileFormatError(f"{path.name}: the decimal mark must be '.' or ','", argument="decimal")


def hint_at_decimals(path: Path, frame: pl.DataFrame, kinds: Sequence[Kind]) -> None:
    """Warn of columns that stay text only because of the decimal mark, of marks between thousands, or as dates."""
    names, mark = other_decimals(frame, kinds)
    grouped = [name for name in frame.columns if name not in names and _is_written(frame[name], _GROUPED)]
    dates = [name for name in frame.columns if name not in names and _is_written(frame[name], _DATES)]
    by_mark = f'give decimal="{mark}" (on the command line --decimal {mark})'
    for columns, said, advice in (
        (names, f"number with the decimal mark '{mark}'", by_mark),
        (grouped, "number with a mark between thousands", "write the file without such marks"),
        (dates, "date in another order than year-month-day", "write it so, and it can be made coarser by period"),
    ):
        listed = ", ".join(f"'{name}'" for name in columns[:_ENOUGH])
        more = f" and {len(columns) - _ENOUGH} more" if len(columns) > _ENOUGH else ""
        if columns:
            warnings.warn(
                f"{path.name}: read as text, but every value is a {said}: {listed}{more}. If so {advice}",
                SdcWarning,
                stacklevel=2,
            )


def _is_written(series: pl.Series, ways: Sequence[tuple[str, str]]) -> bool:
    """Whether a column is text only as it is written in one of these ways: a pattern, and what occurs once at least."""
    if series.dtype != pl.String:
        return False
    values = series.drop_nulls()
    return any(
        all(part.str.contains(pattern).all() for part in (values.head(_SAMPLE), values))
        and values.str.contains(marked).any()
        for pattern, marked in ways
    )


def quotes_apart(text: CsvText) -> str:
    """A hint at the line to look at, if the lines are complete but quotes within fields confuse the parser."""
    odd = next((i for i, line in enumerate(text.lines(), start=1) if line.count('"') % 2), None)
    where = "" if odd is None else f"; look first at line {odd}, which has an odd number of them"
    return f"quotes within fields are not doubled or do not pair up{where}"


def scan_text(
    text: CsvText, shape: CsvShape, rows: int | None, *, types: Mapping[str, Any] | None = None,
    codes: Sequence[str] = (),
) -> pl.LazyFrame:  # fmt: skip
    """Scan every field as text but those of other types, blank lines dropped, and codes missing."""
    scan = pl.scan_csv(
        text.source, has_header=False, skip_lines=shape.skip_lines,
        schema=dict.fromkeys(shape.names, pl.String) | dict(types or {}), separator=shape.delimiter,
        null_values=[*codes] or None, quote_char='"' if shape.quoted else None, glob=False,
    )  # fmt: skip
    if len(shape.blank):
        number = "row number"
        while number in shape.names:
            number += "_"
        blank = pl.lit(pl.Series(shape.blank.astype("uint32")).implode())
        scan = scan.with_row_index(number).filter(~pl.col(number).is_in(blank)).drop(number)
    return scan if rows is None else scan.head(rows)


# CSV files for an engine: streamed to Parquet, with the types that `read_file` infers.


STORED = "table.parquet"


@dataclass(frozen=True)
class CsvOptions:
    """CSV options; None is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None


@dataclass(frozen=True)
class _Part:
    """One file of several: its text, its structure, and the column values given by its folders."""

    text: CsvText
    shape: CsvShape
    folders: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.shape.names, *(name for name in self.folders if name not in self.shape.names))

    def scan(self) -> pl.LazyFrame:
        """Every field as text."""
        return scan_text(self.text, self.shape, None).with_columns(
            pl.lit(value).alias(name) for name, value in self.folders.items()
        )


def store_csv(
    files: Sequence[Path], base: Path | None, folder: Path, how: CsvOptions, *, columns: Sequence[str] | None,
    identifiers: Sequence[str], missing: Sequence[str],
) -> Path:  # fmt: skip
    """Store columns of CSV files as one Parquet file in `folder`; each column has the type that fits all files.

    `base`: the root of folders that are partition columns, such as ``year=2025``. Records are streamed; files that are
    compressed, or not UTF-8, are held in memory.
    """
    check_decimal(files[0], how.decimal)
    parts = [_part(file, base, how) for file in files]
    first = parts[0]
    for file, part in zip(files, parts, strict=True):
        if set(part.names) != set(first.names):
            raise FileFormatError(
                f"{file.name} has other columns than {files[0].name}: the CSV files of a folder are one file; "
                "bring them to the same header, or move those that are not part of it elsewhere"
            )
    certain = all(part.shape.certain for part in parts)
    names = file_checks.pick_columns(base or files[0], first.names, columns, identifiers=identifiers, certain=certain)
    file_limits.check_columns(files[0], len(names))
    kinds = kinds_to_try(first.shape.delimiter, how.decimal)
    target = folder / STORED
    with file_checks.clear_errors(files[0], "CSV", lambda: quotes_apart(parts[0].text)):
        plan = streamed([part.scan() for part in parts], names, kinds, code_texts(missing or DEFAULT_CODES))
        hint_at_decimals(files[0], plan.head(10_000).collect(), kinds)
        plan.sink_parquet(target)
    _check_records(files, parts, target)
    return target


def _part(file: Path, base: Path | None, how: CsvOptions) -> _Part:
    return _Part(*open_csv(file, "CSV", how.delimiter, how.encoding), {} if base is None else folder_values(file, base))


def folder_values(file: Path, base: Path) -> dict[str, str]:
    """Values of partition columns from the folders between `base` and a file.

    >>> folder_values(Path("census/year=2025/part.csv"), Path("census"))
    {'year': '2025'}
    """
    pairs = [part.partition("=") for part in file.relative_to(base).parts[:-1]]
    return {name: value for name, is_one, value in pairs if is_one}


def _check_records(files: Sequence[Path], parts: Sequence[_Part], target: Path) -> None:
    """Check that the parser found as many records as there are lines."""
    height = pl.scan_parquet(target).select(pl.len()).collect().item()
    if height != sum(part.shape.n_rows for part in parts):
        target.unlink()
        raise FileFormatError(f"{files[0].name} cannot be read as CSV: {quotes_apart(parts[0].text)}")
