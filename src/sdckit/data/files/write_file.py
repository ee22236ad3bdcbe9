"""Writing of frames to files in several formats: atomically, and never over their own source."""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sdckit.data import arguments, frames, pa, pl, pq
from sdckit.data.columns import to_arrow
from sdckit.data.files.file_checks import FORMATS
from sdckit.data.files.file_labels import SPSS_DISCRETE, CodedColumn, ColumnLabels, FileLabels, as_labels, coded_column
from sdckit.data.files.whole_files import number_of, replacing, replacing_folder
from sdckit.data.outgoing.only_records import only_records, plan_records
from sdckit.errors import ColumnError, DataError, FileFormatError

# Lazy frames: written as Parquet by their engine, atomically and without collecting them.


FULL = re.compile(r"No space left on device|disk quota|not enough space", re.IGNORECASE)


@contextmanager
def writing_plan(plan: Any, target: Path, kind: str, *, private: bool = False) -> Iterator[Path]:
    """Write a lazy frame to a temporary path, moved into place when the block succeeds; Spark writes a folder.

    Raises
    ------
    FileFormatError
        Another format than Parquet, a private folder, or it cannot be written.
    DataError
        The lazy frame cannot be executed.
    """
    if kind != "Parquet":
        raise FileFormatError(f"{target.name} is {kind}: an engine writes Parquet; let the name end in .parquet")
    frame: Any = frames.open_frame(plan_records(plan))
    native = frame.to_native()
    if frames.on_spark(frame):
        if private:
            raise FileFormatError(f"{target.name}: Spark writes a folder, which others may read; leave private= out")
        with replacing_folder(target, what=target.name) as part:
            _run(lambda: native.write.parquet(part.resolve().as_uri()))
            yield part
        return
    if target.is_dir():
        raise FileFormatError(f"cannot write {target.name}: there is a folder; remove it, or give another name")
    with replacing(target, what=target.name, private=private) as part:
        if frame.implementation.is_polars():
            _run(lambda: native.sink_parquet(part))
        else:
            _run(lambda: native.write_parquet(str(part), use_tmp_file=False))
        yield part


def _run(write: Any) -> None:
    """Run the writing call of an engine; a full disk raises OSError, other errors lose their message."""
    full = False

    def attempt() -> None:
        nonlocal full
        try:
            write()
        except Exception as error:
            full = number_of(error) in {errno.ENOSPC, errno.EDQUOT} or FULL.search(str(error)) is not None
            raise

    try:
        frames.carried_out(attempt)
    except Exception:
        if full:
            raise OSError(errno.ENOSPC, "") from None
        raise


# SPSS and Stata files: categories as labelled codes, variable labels, user-missing codes.


LABELLED = ("SPSS", "Stata")
# Maximum length of variable labels and value labels: in bytes for SPSS, in characters for Stata.
LONGEST = {"SPSS": (256, 120), "Stata": (80, 4_000)}
EXACT = 2**53  # numbers are stored as doubles
RESERVED = {
    "SPSS": frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"]),
    "Stata": frozenset(
        ["_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n", "_N", "_pi",
         "_pred", "_rc", "_skip", "strL", "using", "with"]
    ),
}  # fmt: skip
NAMES = {"SPSS": re.compile(r"(?![\d_])[\w@][\w.$#@]*(?<!\.)"), "Stata": re.compile(r"(?!\d)\w+")}
# Position of the timestamp, which is overwritten: the same release gives the same bytes at any time.
TIME = {
    "SPSS": (re.compile(rb"(?s)(?<=\A.{92})\d\d \w{3} \d\d\d\d:\d\d:\d\d"), b"01 Jan 7000:00:00"),
    "Stata": (re.compile(rb"(?<=<timestamp>\x11)\d\d \w{3} \d{4} \d\d:\d\d"), b"01 Jan 1970 00:00"),
}


def check_writer(path: Path, kind: str) -> None:
    """Check that the library which writes the format is installed."""
    if kind in LABELLED and find_spec("pyreadstat") is None:
        raise FileFormatError(
            f'{path.name}: writing {kind} files needs pyreadstat; install it: pip install "sdckit[files]"'
        )


def check_names(columns: Iterable[str], kind: str) -> None:
    """Check that the format allows the column names.

    Raises `ColumnError`: names the first that is not allowed.
    """
    seen: dict[str, str] = {}
    for name in columns:
        if why := _why_not(name, kind):
            raise ColumnError(f"column {name!r} cannot be written as {kind}: {why}; rename it")
        other = seen.setdefault(name.casefold() if kind == "SPSS" else name, name)
        if other != name:
            raise ColumnError(
                f"columns {other!r} and {name!r} are one name in SPSS, which reads capital and small letters "
                "alike; rename one"
            )


def _why_not(name: str, kind: str) -> str:
    longest, length = (64, len(name.encode())) if kind == "SPSS" else (32, len(name))
    if length > longest:
        return f"names have at most {longest} {'bytes' if kind == 'SPSS' else 'letters'} there"
    if not NAMES[kind].fullmatch(name):
        return "names are letters, digits and underscores there, and start with a letter"
    if (name.upper() if kind == "SPSS" else name) in RESERVED[kind]:
        return "the word is reserved there"
    return ""


def write_labelled(frame: pl.DataFrame, path: Path, kind: str, labels: FileLabels, *, compress: bool) -> None:
    """Write a frame that holds nothing but its records; `compress` makes a .zsav."""
    import pyreadstat

    check_names(frame.columns, kind)
    coded = {name: coded_column(_storable(frame[name], kind), labels.get(name), kind) for name in frame.columns}
    data = pl.DataFrame({name: column.values for name, column in coded.items()})
    options: dict[str, Any] = {
        "column_labels": {name: _cut(text, kind, 0) for name, text in labels.variables.items() if name in coded},
        "variable_value_labels": {
            name: {code: _cut(text, kind, 1) for code, text in column.labels.items()}
            for name, column in coded.items()
            if column.labels
        },
    }
    try:
        if kind == "SPSS":
            pyreadstat.write_sav(data, str(path), compress=compress, **options, **_of_spss(coded, labels))
        else:
            letters = {name: codes for name, column in coded.items() if (codes := _letters(column))}
            pyreadstat.write_dta(data, str(path), missing_user_values=letters or None, **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError):
        with path.open("ab") as file:  # a full disk raises its own OSError here: the library does not tell errors apart
            file.write(b"\0" * 4096)
        raise DataError(f"a column cannot be written as {kind}; make it text or numbers first") from None
    _without_time(path, kind)


def _letters(column: CodedColumn) -> list[str]:
    return [code for code in column.missing if isinstance(code, str)]


def _of_spss(coded: Mapping[str, CodedColumn], labels: FileLabels) -> dict[str, Any]:
    shown = {name: form for name, column in coded.items() if (form := _display(column, labels.get(name)))}
    return {
        "missing_ranges": {name: _ranges(column, labels.get(name)) for name, column in coded.items() if column.missing},
        "variable_measure": {name: column.measure for name, column in coded.items() if column.measure},
        "variable_format": shown,
    }


def _ranges(column: CodedColumn, known: ColumnLabels) -> list[Any]:
    """User-missing codes as discrete values; if there are too many for SPSS, the ranges of the file that cover them."""
    if len(column.missing) <= SPSS_DISCRETE:
        return list(column.missing)
    held = [
        {"lo": low, "hi": high}
        for low, high in known.missing
        if not isinstance(low, str) and any(low <= code <= high for code in column.missing)
    ]
    return held or [{"lo": min(column.missing), "hi": max(column.missing)}]


def _display(column: CodedColumn, known: ColumnLabels) -> str:
    """Display format of SPSS: that of the original file, or without decimals for integers."""
    if not column.values.dtype.is_numeric():
        return ""
    if column.values.dtype.is_float():
        return known.display if re.fullmatch(r"F\d+\.\d+", known.display) else ""
    longest = max(len(str(value)) for value in (0, column.values.min(), column.values.max()))
    return f"F{longest}.0"


def _storable(series: pl.Series, kind: str) -> pl.Series:
    """Convert a column to a type of the format; refuse other types, and numbers that it cannot represent."""
    dtype, name = series.dtype, series.name
    if dtype in (pl.Null, pl.String):
        return series.cast(pl.String).fill_null("")  # how both formats represent missing text
    if isinstance(dtype, pl.Decimal):
        return series.cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        return series.dt.replace_time_zone(None)
    if dtype.is_float():
        known = series.fill_nan(None)
        if known.is_infinite().any():
            raise DataError(f"column {name!r} holds infinite numbers, which {kind} cannot hold; make them missing")
        return known
    if dtype.is_integer() and series.len() > series.null_count():
        if not series.cast(pl.Float64).abs().le(EXACT).all():
            raise DataError(f"column {name!r} holds whole numbers over 2^53, which {kind} rounds; make it text")
        return series.cast(pl.Int64)
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration):
        raise DataError(UNWRITABLE.format(kind))
    return series


def _cut(text: str, kind: str, which: int) -> str:
    longest = LONGEST[kind][which]
    return text[:longest] if kind == "Stata" else text.encode()[:longest].decode("utf-8", "ignore")


def _without_time(path: Path, kind: str) -> None:
    pattern, instead = TIME[kind]
    with path.open("r+b") as file:
        head = file.read(512)
        file.seek(0)
        file.write(pattern.sub(instead, head, count=1))


WRITTEN: dict[str, str] = {
    ".csv": "CSV", ".tsv": "CSV", ".parquet": "Parquet", ".pq": "Parquet",
    ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow",
    ".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata",
}  # fmt: skip
UNWRITABLE = "a column cannot be written as {} (lists, structures or Python objects); make it text first"
# Cells that start so are run as formulas by spreadsheets (CSV injection); some drop what is not seen before the sign,
# and take the wide signs of East Asian fonts for the plain ones.
_WIDE = r"\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}\u{FE66}\u{FE62}\u{FE63}\u{FE6B}\u{2212}"
FORMULA = rf"^(?:[\t\r\n]|[\s\p{{Z}}\p{{Cc}}\p{{Cf}}]*[=+\-@{_WIDE}])"


def write_file(
    data: Any,
    path: str | Path,
    *,
    labels: FileLabels | Mapping[str, str] | None = None,
    excel_safe: bool = False,
    sources: Iterable[str | Path] = (),
    private: bool = False,
) -> Path:
    """Write a frame to a file, in the format given by its extension.

    Only records are written: no unused categories, no metadata, nothing beneath missing values. In SPSS and Stata
    files categories are labelled codes. Of `labels`, those of columns and of codes that are in the file go with it.

    Parameters
    ----------
    data : data frame or plan
        pandas, Polars or PyArrow, whose index is not written; or a plan of Polars, DuckDB or Spark, which its engine
        writes as Parquet: one file, of Spark a folder of files.
    path : str or Path
        Ends in .csv, .tsv, .parquet, .pq, .arrow, .feather, .ipc, .sav, .zsav or .dta. An older file is replaced
        when the new one is whole; a link is followed.
    labels : FileLabels or mapping of str to str, optional
        What `read_labels` says of the file that the data came from, or the variable labels by column. SPSS and
        Stata files keep labels, codes and user-missing codes; Parquet and Arrow keep the variable labels, as
        "label" in the metadata of the field; CSV keeps nothing.
    excel_safe : bool
        CSV: put an apostrophe before every text that a spreadsheet would run as a formula (those that start
        with =, +, -, @ or their wide forms, also after blanks, or with a tab or a line end).
    sources : iterable of path
        Files that the data were read from; none of them is ever written to.
    private : bool
        Whether the owner alone may read it.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FileFormatError
        Another ending, a folder or a device, one of the sources, or the file cannot be written; nothing is
        left behind, and an older file stays as it was.
    ColumnError
        SPSS and Stata: a name of a column that the format does not allow.
    DataError
        A column that the format cannot hold, or a plan that cannot be carried out.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_file(pl.DataFrame({"a": [1, None], "b": ["x", "=1+1"]}), f"{folder}/out.csv", excel_safe=True)
    ...     file.read_text(encoding="utf-8").splitlines()
    ['a,b', '1,x', ",'=1+1"]
    """
    with writing_file(data, path, labels=labels, excel_safe=excel_safe, sources=sources, private=private):
        pass
    return Path(path)


@contextmanager
def writing_file(
    data: Any, path: str | Path, *, labels: FileLabels | Mapping[str, str] | None = None, excel_safe: bool = False,
    sources: Iterable[str | Path] = (), private: bool = False, declared: bool = False,
) -> Iterator[Path]:  # fmt: skip
    """As `write_file`, but the file, of which the block is given the place, is moved only when the block succeeds.

    `declared`: categories come from no record, so that unused ones stay.
    """
    file_labels = as_labels(labels)
    arguments.flag(excel_safe, "excel_safe")
    arguments.flag(private, "private")
    kind, target = check_output(path, sources=_paths(sources))
    if excel_safe and kind != "CSV":
        raise FileFormatError(f"excel_safe is for CSV; {Path(path).name} is {kind}, which runs nothing")
    if frames.is_lazy(frames.open_frame(data)):
        if file_labels.columns:
            raise FileFormatError(f"{Path(path).name}: an engine writes no labels; leave them out")
        with writing_plan(data, target, kind, private=private) as part:
            yield part
        return
    frame = _as_polars(data)
    frame = frame if declared else _alike(only_records(frame))
    if excel_safe:
        frame = _harmless(frame)
    delimiter = "\t" if target.suffix.lower() == ".tsv" else ","
    with replacing(target, what=target.name, private=private) as part:
        if kind in LABELLED:
            write_labelled(frame, part, kind, file_labels, compress=target.suffix.lower() == ".zsav")
        elif kind != "CSV" and file_labels.variables:
            _write_described(frame, part, kind, file_labels.variables)
        else:
            _write(frame, part, kind, delimiter)
        yield part


def _paths(sources: Iterable[str | Path]) -> tuple[Path, ...]:
    try:
        return tuple(map(Path, sources))
    except TypeError:
        raise DataError("sources= lists the files that the data were read from", argument="sources") from None


def check_output(path: str | Path, *, sources: Iterable[str | Path] = ()) -> tuple[str, Path]:
    """Check the target of a file before any work; return its format and resolved path.

    Raises `FileFormatError`: as `write_file`.
    """
    file = Path(path)
    kind = WRITTEN.get(file.suffix.lower())
    if kind is None:
        read = FORMATS.get(file.suffix.lower())
        only_read = read is not None and read not in WRITTEN.values()
        why, labels = (f"{read} is read and not written; ", "; .sav and .dta keep labels") if only_read else ("", "")
        raise FileFormatError(f"{file.name}: {why}a data file ends in one of {', '.join(WRITTEN)}{labels}")
    check_writer(file, kind)
    target = file.resolve()
    if not target.parent.is_dir():
        raise FileFormatError(f"cannot write {file.name}: its folder does not exist")
    if target.exists() and not stat.S_ISREG(target.stat().st_mode) and not _of_spark(target, kind):
        raise FileFormatError(f"cannot write {file.name}: there is something that is no regular file")
    for source in sources:
        origin = Path(source)
        if origin.resolve() == target or (target.exists() and origin.exists() and origin.samefile(target)):
            raise FileFormatError(f"cannot write {file.name}: it is read here; an input is never overwritten")
    return kind, target


def _of_spark(target: Path, kind: str) -> bool:
    """Whether the target is a folder of Parquet files written by Spark, and nothing else."""
    files = [entry.name for entry in target.iterdir()] if kind == "Parquet" and target.is_dir() else []
    return len(files) > 0 and all(re.fullmatch(r"_SUCCESS|part-.*\.parquet|\..*\.crc", file) for file in files)


def _as_polars(data: Any) -> pl.DataFrame:
    frame = frames.open_frame(data)
    assert not frames.is_lazy(frame)
    native = frame.to_native()
    if isinstance(native, pl.DataFrame):
        return native
    return pl.DataFrame({name: pl.Series(name, to_arrow(frame[name])) for name in frame.columns})


def _alike(frame: pl.DataFrame) -> pl.DataFrame:
    """NaN as missing where a column has both: it tells those taken out from those that were missing before."""
    both = [name for name, kind in frame.schema.items() if kind.is_float() and frame[name].null_count()]
    return frame.with_columns(frames.exactly(name).fill_nan(None) for name in both)


def _harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """Prefix texts and column names that a spreadsheet would run as formulas with an apostrophe."""
    texts = [name for name, kind in frame.schema.items()
             if kind in (pl.String, pl.Categorical) or isinstance(kind, pl.Enum)]  # fmt: skip
    safe = frame.with_columns(_guarded(frames.exactly(name).cast(pl.String)).alias(name) for name in texts)
    names = pl.Series(frame.columns, dtype=pl.String)
    hits = zip(names, names.str.contains(FORMULA), strict=True)
    return safe.rename({name: f"'{name}" for name, hit in hits if hit})


def _guarded(column: pl.Expr) -> pl.Expr:
    return pl.when(column.str.contains(FORMULA)).then(pl.lit("'") + column).otherwise(column)


def _write_described(frame: pl.DataFrame, path: Path, kind: str, variables: Mapping[str, str]) -> None:
    """Write columns with variable labels, through Arrow: Polars keeps no field metadata."""
    from pyarrow import feather

    if pl.Object in frame.dtypes:  # Arrow would take the address of each object
        raise DataError(UNWRITABLE.format(kind))
    try:
        table = frame.to_arrow()
        fields = [
            field.with_metadata({**(field.metadata or {}), "label": variables[field.name]})
            if field.name in variables
            else field
            for field in table.schema
        ]
        table = table.cast(pa.schema(fields))
        if kind == "Parquet":
            pq.write_table(table, path, store_schema=True)
        else:
            feather.write_feather(table, path)
    except pa.ArrowException:
        raise DataError(UNWRITABLE.format(kind)) from None


def _write(frame: pl.DataFrame, path: Path, kind: str, delimiter: str) -> None:
    try:
        if kind == "CSV":
            frame.write_csv(path, separator=delimiter)
        elif kind == "Parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:  # their messages may show values
        if number := number_of(error):  # a full disk comes as an error of the format from Parquet
            raise OSError(number, "") from None
        raise DataError(UNWRITABLE.format(kind)) from None
