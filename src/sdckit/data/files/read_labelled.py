"""Reading of typed files: Parquet and Arrow; SPSS, Stata and SAS with value labels and user-missing codes."""

from __future__ import annotations

import re
import struct
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import arguments, frames, pa, pl, pq
from sdckit.data.files import file_checks
from sdckit.data.files.file_labels import Code, ColumnLabels, FileLabels, code_text
from sdckit.data.files.file_limits import VALUES, check_columns, check_values, most
from sdckit.data.missing_values.missing import Found, apply_codes, take_defaults
from sdckit.errors import ColumnError, FileFormatError, SdcWarning

if TYPE_CHECKING:
    from sdckit.data.domain import ColumnType

# Parquet and Arrow files: stored types, only the requested columns.


DESCRIBES = ("label", "description", "comment")  # keys of field metadata that describe the column
LONG_LIST = 1 << 16  # bytes: a longer list of texts is none of categories
OF_POLARS = b"_PL_CATEGORICAL2"  # how Polars marks a Categorical of its own in a file


def columnar_header(path: Path, kind: str) -> file_checks.FileHeader:
    """Column names and number of records from the metadata of the file."""
    names, n_rows = _names(path, kind), 0
    with file_checks.clear_errors(path, kind):
        if kind == "Parquet":
            n_rows = pq.read_metadata(path).num_rows
        elif names:
            with pa.memory_map(str(path)) as source:
                n_rows = sum(batch.num_rows for batch in _batches(_opened(source, path, [0])))
    return file_checks.FileHeader(names, n_rows, kind)


def read_columnar(
    path: Path, kind: str, *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
    missing: Sequence[str] = (), rows: int | None = None,
) -> tuple[pl.DataFrame, tuple[Found, ...]]:  # fmt: skip
    """Read columns of a Parquet or Arrow file, with the default codes found; see `readers.read_file`."""
    names = file_checks.pick_columns(path, _names(path, kind), columns, identifiers=identifiers)
    check_columns(path, len(names))
    if not _is_stream(path, kind):
        n_rows = columnar_header(path, kind).n_rows
        check_values(path, n_rows if rows is None or n_rows is None else min(rows, n_rows), len(names))
    with file_checks.clear_errors(path, kind):
        if kind == "Arrow":
            _check_fit(path, names, rows)
        try:
            read = _by_pyarrow if _is_rare(path, kind) else _read
            frame = read(path, kind, names, rows)
        except pl.exceptions.ComputeError:
            if kind == "Parquet":
                raise
            frame = _by_pyarrow(path, kind, names, rows)
        named = [name for name in names if frame.schema[name] == pl.Categorical]
        frame = frame.with_columns(_in_order(frame[name], path, kind) for name in named)
        return (apply_codes(frame, ("", *missing)), ()) if missing else take_defaults(frame)


def _read(path: Path, kind: str, names: Sequence[str], rows: int | None) -> pl.DataFrame:
    if _is_stream(path, kind):
        return pl.read_ipc_stream(path, columns=list(names), n_rows=rows).select(map(frames.exactly, names))
    scan = _scan(path, kind).select(map(frames.exactly, names))
    return (scan if rows is None else scan.head(rows)).collect()


def _check_fit(path: Path, names: Sequence[str], rows: int | None) -> None:
    """Refuse values that do not fit together: Polars takes them as they are, and one may end the process."""
    n = 0
    try:
        with pa.memory_map(str(path)) as source:
            for batch in _batches(_opened(source, path)):
                for name in names:
                    batch.column(name).validate(full=True)
                n += batch.num_rows
                if rows is not None and n >= rows:
                    return
    except pa.ArrowException:
        raise ValueError from None


def _opened(source: Any, path: Path, fields: Sequence[int] = ()) -> Any:
    """A reader of these columns, of all unless given; others are not unpacked."""
    opened = pa.ipc.open_stream if _is_stream(path, "Arrow") else pa.ipc.open_file
    return opened(source, options=pa.ipc.IpcReadOptions(included_fields=list(fields)))


def _batches(reader: Any) -> Iterator[Any]:
    streamed = isinstance(reader, pa.ipc.RecordBatchStreamReader)
    return iter(reader) if streamed else map(reader.get_batch, range(reader.num_record_batches))


def listed_texts(path: Path) -> list[str]:
    """Columns of a Parquet file whose texts its records name by their places in a short list, as categories are."""
    with pq.ParquetFile(path) as file:
        about, stored = file.metadata, [file.schema.column(at) for at in range(file.metadata.num_columns)]
        groups = [about.row_group(at) for at in range(about.num_row_groups)]
        sizes = [max((_size_of_list(group.column(at)) for group in groups), default=0) for at in range(len(stored))]
    return [
        column.name
        for column, size in zip(stored, sizes, strict=True)
        if column.path == column.name and column.logical_type.type in ("STRING", "ENUM") and 0 < size <= LONG_LIST
    ]


def _size_of_list(column: Any) -> int:
    return column.data_page_offset - column.dictionary_page_offset if column.has_dictionary_page else 0


def stored_batches(path: Path, kind: str, names: Sequence[str], listed: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """The records of these columns of a Parquet or Arrow file as they are stored, batch by batch.

    Those `listed` come as categories, with all that their list holds.
    """
    if kind == "Parquet":
        with pq.ParquetFile(path, read_dictionary=list(listed)) as file:
            yield from file.iter_batches(columns=list(names))
        return
    with pa.memory_map(str(path)) as source:
        yield from (batch.select(list(names)) for batch in _batches(_opened(source, path)))


def _is_rare(path: Path, kind: str) -> bool:
    """Whether a column has a type that Polars ends with, whichever columns it is asked for."""
    if kind == "Parquet":
        with pq.ParquetFile(path) as file:
            types, intervals = file.schema_arrow.types, _intervals(file)
    else:
        types, intervals = stored_schema(path, kind).types, []
    are_rare = (pa.types.is_decimal256, pa.types.is_interval, pa.types.is_run_end_encoded)
    return bool(intervals) or any(is_rare(own) for own in types for is_rare in are_rare)


def _intervals(file: Any) -> list[str]:
    """Columns of a Parquet file in months, days and milliseconds, which PyArrow takes for bytes."""
    stored = map(file.schema.column, range(file.metadata.num_columns))
    return [column.name for column in stored if column.converted_type == "INTERVAL" and column.path == column.name]


def _by_pyarrow(path: Path, kind: str, names: Sequence[str], rows: int | None) -> pl.DataFrame:
    """Read with PyArrow, rare types as frames in memory are.

    Also where pandas wrote a missing category as code -1, which Polars refuses.
    """
    try:
        if kind == "Parquet":
            with pq.ParquetFile(path) as file:
                table = file.read(columns=list(names)).select(list(names)).slice(0, rows)
                for name in set(_intervals(file)).intersection(names):
                    spans = [own and struct.unpack("<3I", own) for own in table[name].to_pylist()]
                    parts = [own and (own[0], own[1], own[2] * 1_000_000) for own in spans]
                    column = pa.array(parts, pa.month_day_nano_interval())
                    table = table.set_column(names.index(name), name, column)
        else:
            with pa.OSFile(str(path)) as source:
                table = _opened(source, path).read_all().select(list(names)).slice(0, rows)
    except pa.ArrowException:
        raise ValueError from None
    return pl.DataFrame(pl.from_arrow(frames.with_usual_types(nw.from_native(table)).to_native()))


def column_descriptions(path: Path, kind: str) -> dict[str, str]:
    """Descriptions of columns from the field metadata."""
    descriptions = {}
    for field in stored_schema(path, kind):
        metadata = {name.decode("utf-8", "replace").casefold(): text for name, text in (field.metadata or {}).items()}
        text = next((metadata[name] for name in DESCRIBES if metadata.get(name, b"").strip()), None)
        if text is not None:
            descriptions[field.name] = text.decode("utf-8", "replace").strip()
    return descriptions


def _scan(path: Path, kind: str) -> pl.LazyFrame:
    """Scan exactly this file: no globbing, no partition columns from folder names."""
    if kind == "Parquet":
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)
    return pl.scan_ipc(path, glob=False, hive_partitioning=False)


def _names(path: Path, kind: str) -> tuple[str, ...]:
    """Column names, read with PyArrow, which also lists duplicates."""
    names = stored_schema(path, kind).names
    file_checks.refuse_duplicates(path, names)
    return tuple(names)


def stored_schema(path: Path, kind: str) -> pa.Schema:
    """Names and types of the columns of a Parquet or Arrow file; no record is read."""
    with file_checks.clear_errors(path, kind):
        if kind == "Parquet":
            schema = pq.read_schema(path)
        else:
            with pa.OSFile(str(path)) as source:
                schema = _opened(source, path).schema
        _ = schema.names  # ValueError where one is no text
        return schema


def _in_order(series: pl.Series, path: Path, kind: str) -> pl.Series:
    """Restore the order of categories stored by another writer; a Categorical written by Polars has none."""
    name = series.name
    if kind == "Parquet":
        with pq.ParquetFile(path) as file:
            field = file.schema_arrow.field(name)
            batch = next(file.iter_batches(1, columns=[name]), None)
    else:
        with pa.OSFile(str(path)) as source:
            reader = _opened(source, path)
            field = reader.schema.field(name)
            batch = next(_batches(reader), None)
    if batch is None or OF_POLARS in (field.metadata or {}) or not pa.types.is_dictionary(field.type):
        return series
    listed = batch[name].dictionary.drop_null().to_pylist()
    others = set(series.drop_nulls().unique().cast(pl.String)) - set(listed)
    return series.cast(pl.Enum(list(dict.fromkeys([*listed, *sorted(others)]))))


def holds_metadata(path: Path) -> bool:
    """Whether an Arrow file holds metadata of its own, or of a batch, beside those of its schema."""
    with pa.memory_map(str(path)) as source:
        reader = _opened(source, path, range(len(stored_schema(path, "Arrow")))[:1])
        if isinstance(reader, pa.ipc.RecordBatchStreamReader):
            batches = reader.iter_batches_with_custom_metadata()
        else:
            batches = map(reader.get_batch_with_custom_metadata, range(reader.num_record_batches))
        return bool(getattr(reader, "metadata", None)) or any(batch.custom_metadata for batch in batches)


def _is_stream(path: Path, kind: str) -> bool:
    if kind != "Arrow":
        return False
    with path.open("rb") as file:
        return file.read(6) != b"ARROW1"


_READERS = {
    "SPSS": "read_sav", "SPSS portable": "read_por", "Stata": "read_dta",
    "SAS": "read_sas7bdat", "SAS transport": "read_xport",
}  # fmt: skip
_DATES = re.compile(r"%-?\d*(t?d|d|tc)|[AEJS]?DATE|DATETIME|YYMMDD|DDMMYY|MMDDYY")
_WHOLE = re.compile(r"[FN]\d+(\.0)?")
_OPEN = 1e200  # an end of a range of codes beyond this is open
_MOST_UNLABELLED = 50  # more values without a label: a numeric variable with a few labelled codes


def labelled_header(path: Path, kind: str, *, encoding: str | None = None) -> file_checks.FileHeader:
    """Column names, and the number of records if the file stores it."""
    meta = _call(path, kind, encoding, metadataonly=True)[1]
    names = tuple(str(name) for name in meta.column_names)
    file_checks.refuse_duplicates(path, names)
    n_rows = meta.number_rows
    return file_checks.FileHeader(names, int(n_rows) if n_rows is not None and n_rows >= 0 else None, kind)


def read_column_labels(path: Path, kind: str, *, encoding: str | None = None) -> dict[str, ColumnLabels]:
    """Metadata of each column; see `read_labels`."""
    meta = _call(path, kind, encoding, metadataonly=True, **_with_user_missing(kind))[1]
    named: Mapping[str, str | None] = meta.column_names_to_labels
    sets: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels
    by_column: dict[str, ColumnLabels] = {}
    for name in map(str, meta.column_names):
        labels = ColumnLabels(
            (named.get(name) or "").strip(),
            _category_codes(sets.get(name, {})),
            _user_missing(meta, name),
            _measure(meta, name),
            str(meta.original_variable_types.get(name, "")) if kind == "SPSS" else "",
        )
        by_column |= {} if labels == ColumnLabels() else {name: labels}
    return by_column


def labelled_values(
    path: Path, kind: str, *, columns: Sequence[str] | None = None, encoding: str | None = None
) -> tuple[pl.DataFrame, Any]:
    """Codes of the columns, or of texts and those with labels, user-missing ones included, and all that the file says.

    Of Stata and SAS also all numbers: which letters for missing values they hold stands in no list of the file.
    """
    meta = _call(path, kind, encoding, metadataonly=True, **_with_user_missing(kind))[1]
    stored: Mapping[str, str] = meta.readstat_variable_types
    others = dict.fromkeys(name for name, how in stored.items() if kind in ("Stata", "SAS") or how == "string")
    columns = [*meta.variable_value_labels | others] if columns is None else columns
    read = {"usecols": columns, **({"user_missing": True} if kind == "SAS" else _with_user_missing(kind))}
    return (_call(path, kind, encoding, **read)[0] if columns else pl.DataFrame()), meta


def declared_types(path: Path, kind: str, *, encoding: str | None = None) -> dict[str, ColumnType]:
    """The type of each column by its format and storage alone; a column of labelled codes is text."""
    meta = _call(path, kind, encoding, metadataonly=True)[1]
    return {str(name): _declared_type(meta, str(name)) for name in meta.column_names}


def _declared_type(meta: Any, name: str) -> ColumnType:
    stored, shown = str(meta.readstat_variable_types.get(name)), str(meta.original_variable_types.get(name)).upper()
    if stored == "string" or meta.variable_value_labels.get(name):
        return "text"
    if _DATES.match(shown):
        return "date"
    return "integer" if stored.startswith("int") or _WHOLE.fullmatch(shown) else "decimal"


def _with_user_missing(kind: str) -> dict[str, bool]:
    return {"user_missing": True} if kind in ("SPSS", "Stata") else {}


def _user_missing(meta: Any, name: str) -> tuple[tuple[Any, Any], ...]:
    ranges = tuple((_plain_code(ends["lo"]), _plain_code(ends["hi"])) for ends in meta.missing_ranges.get(name, ()))
    labelled = meta.variable_value_labels.get(name, {}) if meta.file_format == "dta" else {}  # no strings have labels
    letters = {*meta.missing_user_values.get(name, ()), *(code for code in labelled if isinstance(code, str))}
    return ranges + tuple((letter, letter) for letter in sorted(letters))


def declared_missing(path: Path, kind: str, *, encoding: str | None = None) -> tuple[Found, ...]:
    """Codes that an SPSS or Stata file declares to mean missing, as it names them, with the records that hold them."""
    columns = read_column_labels(path, kind, encoding=encoding) if _with_user_missing(kind) else {}
    declared = {name: labels for name, labels in columns.items() if labels.missing}
    if not declared:
        return ()
    frame = _call(path, kind, encoding, usecols=[*declared], **_with_user_missing(kind))[0]
    found = []
    for name, labels in declared.items():
        values = Counter(_plain_code(value) for value in frame[name] if value is not None)
        texts = {code: text for text, code in labels.codes.items()}
        for low, high in labels.missing:
            only = replace(labels, missing=((low, high),))
            held = sum(n for value, n in values.items() if only.is_missing(value))
            found.append(Found(name, _declared_words(low, high, texts, kind), held))
    return tuple(found)


def _declared_words(low: Any, high: Any, texts: Mapping[Any, str], kind: str) -> str:
    """A declared code with its label, or a range of them, whose ends may be open."""
    dot = "." if kind == "Stata" and isinstance(low, str) else ""
    if low == high:
        return f"{dot}{code_text(low)}" + (f" ({texts[low]})" if low in texts else "")
    ends = (code_text(end) if isinstance(end, str) or abs(end) < _OPEN else "" for end in (low, high))
    return " … ".join(ends).strip()


def _measure(meta: Any, name: str) -> str:
    measure = str(meta.variable_measure.get(name, ""))
    return measure if measure in ("nominal", "ordinal", "scale") else ""


def _category_codes(labels: Mapping[Any, str]) -> dict[str, Code]:
    """The code of each category, by its text as it is read."""
    texts = _distinct({code_text(code): str(label) for code, label in labels.items()})
    codes = {code_text(code): _plain_code(code) for code in labels}
    return {text: codes[code] for code, text in texts.items()}


def _plain_code(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def read_labelled(
    path: Path, kind: str, *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
    missing: Sequence[str] = (), encoding: str | None = None, labels: bool = True, rows: int | None = None,
    user_missing: bool = False,
) -> tuple[pl.DataFrame, tuple[Found, ...]]:  # fmt: skip
    """Read columns of an SPSS, Stata or SAS file, with the default codes found; see `readers.read_file`."""
    header = labelled_header(path, kind, encoding=encoding)
    names = file_checks.pick_columns(path, header.columns, columns, identifiers=identifiers)
    check_columns(path, len(names))
    check_values(path, header.n_rows if rows is None else rows, len(names))
    n_unknown = most(VALUES, path) // len(names) if header.n_rows is None and rows is None else 0
    options: dict[str, Any] = {"usecols": list(names), "row_limit": rows or n_unknown}
    frame, meta = _call(path, kind, encoding, **options)
    check_values(path, frame.height + 1 if n_unknown and frame.height == n_unknown else None, len(names))
    with file_checks.clear_errors(path, kind):
        frame = apply_codes(frame.select(map(frames.exactly, names)).with_columns(_plain(frame)), missing)
        if labels:
            sets = {name: codes for name in names if (codes := meta.variable_value_labels.get(name))}
            coded = frame.select(frames.exactly(name) for name in sets if not _measured(path, frame[name], sets[name]))
            if user_missing and coded.columns and _with_user_missing(kind):
                options |= {"usecols": coded.columns, **_with_user_missing(kind)}
                coded = apply_codes(_as_codes(_call(path, kind, encoding, **options)[0], sets), missing)
            done = [_labelled(coded[name], sets[name]) for name in coded.columns]
            frame = apply_codes(frame.with_columns(done), missing)
        frame = frame.with_columns(pl.col(pl.Null).cast(pl.String))
        return (frame, ()) if missing else take_defaults(frame)


def _as_codes(frame: pl.DataFrame, sets: Mapping[str, Mapping[Any, str]]) -> pl.DataFrame:
    """Convert columns that mix numbers with Stata's missing letters to text; letters without a label are missing."""
    plain = frame.with_columns(_plain(frame))
    texts = [
        pl.Series(name, [code_text(code) if _known(code, sets[name]) else None for code in frame[name]], pl.String)
        for name, dtype in frame.schema.items()
        if dtype == pl.Object
    ]
    return plain.with_columns(texts)


def _known(code: object, labels: Mapping[Any, str]) -> bool:
    return code is not None and (not isinstance(code, str) or code in labels)


def declared_encoding(path: Path, kind: str) -> str | None:
    """The encoding that a file says it has; of Stata whether its version is one of UTF-8. None where it is wrong."""
    if kind == "Stata":
        with path.open("rb") as file:
            return str(re.search(rb"<release>11[89]<", file.read(60)) is not None)
    try:
        return str(_call(path, kind, None, metadataonly=True)[1].file_encoding)
    except FileFormatError:
        return None


def _call(path: Path, kind: str, encoding: str | None, **options: Any) -> tuple[pl.DataFrame, Any]:
    """Call the reader of pyreadstat; its errors are replaced, since they may quote the file."""
    try:
        import pyreadstat
    except ImportError:
        raise FileFormatError(
            f'{path.name}: reading {kind} files needs pyreadstat; install it: pip install "sdckit[files]"'
        ) from None
    if encoding is not None and kind != "SPSS portable":
        options["encoding"] = encoding
    catalogue = path.with_suffix(".sas7bcat")
    if kind == "SAS" and catalogue.is_file():
        options["catalog_file"] = str(catalogue)
    read = getattr(pyreadstat, _READERS[kind])
    with file_checks.clear_errors(path, kind):
        if kind == "SAS transport" and "metadataonly" in options:  # which comes before any reading
            check_single_set(path)
        try:
            frame, meta = read(str(path), output_format="polars", **options)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
            raise FileFormatError(
                f"{path.name} cannot be read as {kind}: it is truncated, damaged or in another encoding; name that by "
                "encoding= (on the command line --encoding)"
            ) from None
    return frame, meta


def _plain(frame: pl.DataFrame) -> list[pl.Expr]:
    """Expressions that set empty text to missing, and cast doubles that are all whole to integers."""
    changed = []
    for name, dtype in frame.schema.items():
        column = frames.exactly(name)
        if dtype == pl.String:
            changed.append(pl.when(column.str.len_bytes() > 0).then(column).alias(name))
        elif dtype.is_float():
            values = frame[name].fill_nan(None)
            whole = ((values == values.floor()) & (values.abs() < 2**53)).all()
            bare = column.fill_nan(None)
            changed.append(bare.cast(pl.Int64) if whole and values.null_count() < len(values) else bare)
    return changed


def _measured(path: Path, series: pl.Series, labels: Mapping[Any, str]) -> bool:
    """Whether a column is numeric with only a few labelled codes; warns if records hold such a code."""
    texts = {code_text(code) for code in labels}
    if not series.dtype.is_numeric():
        return False
    values = series.unique().drop_nulls()
    used = sum(code_text(value) not in texts for value in values.to_list())
    # Codes that the file declares missing are taken out already: of them alone there is nothing to ask.
    if used > _MOST_UNLABELLED and used < values.len():
        warnings.warn(
            f"{path.name}: column '{series.name}' has {used:,} values without a label; it stays numeric. "
            "If its labelled codes mean missing, name them with missing= (on the command line --missing)",
            SdcWarning,
            stacklevel=2,
        )
    return used > _MOST_UNLABELLED


def _labelled(series: pl.Series, labels: Mapping[Any, str]) -> pl.Series:
    """Replace codes by labels, in code order; a value without a label is kept as text."""
    texts = _distinct({code_text(code): str(label) for code, label in labels.items()})
    for value in series.unique().drop_nulls().sort().to_list():
        text = code_text(value)
        if text not in texts:
            texts[text] = text if text not in texts.values() else f"{text} (no label)"
    return series.cast(pl.String).replace_strict(texts, default=None, return_dtype=pl.Enum(list(texts.values())))


def _distinct(labels: dict[str, str]) -> dict[str, str]:
    """Disambiguate codes with equal labels: merging them would hide a difference between records."""
    often = Counter(labels.values())
    return {
        code: label if often[label] == 1 else f"{label} ({code})"
        for code, label in sorted(labels.items(), key=_by_code)
    }


def _by_code(item: tuple[str, str]) -> tuple[int, float, str]:
    try:
        return 0, float(item[0]), ""
    except ValueError:
        return 1, 0.0, item[0]


# SAS transport files: whether one holds a single data set, and what pyreadstat does not give of it. The layout is
# that of SAS Technical Support (TS-140): blocks of 80 bytes, a header before each part.

_BLOCK = 80
_MEMBER = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER|V8) ")
_NAMESTR = re.compile(rb"HEADER RECORD\*{7}NAM(?:ESTR|STV8) ")
_RECORDS = re.compile(rb"HEADER RECORD\*{7}OBS(?:V8)? ")
_SIZE, _COUNT = slice(74, 78), slice(48, 58)  # where headers say how long a description is, and how many there are
_TYPE, _LENGTH = slice(0, 2), slice(4, 6)  # of a description
_NUMBER = (1).to_bytes(2, "big")
_LATER, _DECLARED = b"HEADER RECORD*******OBSV8", slice(48, None)  # version 8 says how many records there are
_PIECE = 1 << 24  # bytes of records that are looked at together
_FORMS = np.frombuffer(b"._ABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=np.uint8)  # first bytes of missing numbers


def check_single_set(path: Path) -> None:
    """Refuse a file of several data sets: the reader would take the bytes of the second for records of the first.

    Raises FileFormatError: it holds several.
    """
    with path.open("rb") as file, closing(mmap(file.fileno(), 0, access=ACCESS_READ)) as content:
        members = len(list(_starts(_MEMBER, content)))
    if members > 1:
        raise FileFormatError(
            f"{path.name} holds {members} data sets; one is read from a file: write each to a file of its own"
        )


def beside_transport(path: Path) -> tuple[list[int], bool]:
    """The places of columns whose missing numbers have several forms, and whether more than blanks follows the records.

    The forms are the point, `.A` to `.Z` and `._`: readers of SAS tell them apart, and `read_file` does not. Blanks
    fill the last block.
    """
    with path.open("rb") as file:
        with closing(mmap(file.fileno(), 0, access=ACCESS_READ)) as content:
            columns, start, width, n = _layout(content)
        ends = np.cumsum([int.from_bytes(column[_LENGTH], "big") for column in columns])
        forms: list[set[int]] = [set() for _ in columns]
        file.seek(start)
        most = max(_PIECE // width, 1)
        for first in range(0, n, most):
            size = min(most, n - first) * width
            records = np.frombuffer(file.read(size), dtype=np.uint8, count=size).reshape(-1, width)
            for column, held, its_forms in zip(columns, np.split(records, ends, axis=1), forms, strict=False):
                if column[_TYPE] == _NUMBER:
                    missing = ~held[:, 1:].any(axis=1) & np.isin(held[:, 0], _FORMS)
                    its_forms.update(held[missing, 0].tolist())
        return [place for place, its_forms in enumerate(forms) if len(its_forms) > 1], bool(file.read().strip(b" "))


def _layout(content: mmap) -> tuple[list[bytes], int, int, int]:
    """The descriptions of the columns, where the records begin, the bytes of each, and how many there are."""
    described, names, header = (next(_starts(part, content)) for part in (_MEMBER, _NAMESTR, _RECORDS))
    size, first = int(content[described : described + _BLOCK][_SIZE]), names + _BLOCK
    columns = [content[at : at + size] for at in range(first, first + size * int(content[names:first][_COUNT]), size)]
    width = max(sum(int.from_bytes(column[_LENGTH], "big") for column in columns), 1)
    start = header + _BLOCK
    declared = content[header:start][_DECLARED].split() if content[header:start].startswith(_LATER) else []
    return columns, start, width, int(declared[0]) if declared else (len(content) - start) // width


def _starts(part: re.Pattern[bytes], content: mmap) -> Iterator[int]:
    """Where headers of a kind begin: texts of records that look like one do not begin with a block."""
    return (match.start() for match in part.finditer(content) if match.start() % _BLOCK == 0)


# Column metadata of a file of any format, without reading records.


def read_labels(path: str | Path, *, encoding: str | None = None, join: str | Path | None = None) -> FileLabels:
    """Read the column metadata of a file: labels, codes, user-missing codes; no record is read.

    SPSS, Stata and SAS files have labels of variables and values, user-missing codes and levels of measurement.
    Parquet and Arrow files may describe their columns: of the metadata of a field, "label", "description" or
    "comment" is taken. CSV and Excel files say nothing.

    Parameters
    ----------
    path : str or Path
        The file; its extension names the format.
    encoding : str, optional
        Of the texts of an SPSS, Stata or SAS file; found by itself where not given.
    join : str or Path, optional
        The second file of `read_file`; what the first says of a column comes first.

    Returns
    -------
    FileLabels
        By column; `write_file` takes it.

    Raises
    ------
    FileFormatError
        As `read_file`.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from sdckit import write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_file(pl.DataFrame({"sex": ["f", "m"]}), f"{folder}/a.sav", labels={"sex": "Sex"})
    ...     read_labels(file).variables
    {'sex': 'Sex'}
    """
    if encoding is not None:
        arguments.text(encoding, "encoding")
    second = None if join is None else file_checks.second_file(join)
    own = _labels_of(Path(path), encoding)
    return own if second is None else FileLabels({**_labels_of(second, encoding).columns, **own.columns})


def _labels_of(file: Path, encoding: str | None) -> FileLabels:
    kind = file_checks.file_format(file)
    if kind in ("Parquet", "Arrow"):
        return FileLabels.of(column_descriptions(file, kind))
    if kind in ("CSV", "Excel"):
        return FileLabels()
    return FileLabels(read_column_labels(file, kind, encoding=encoding))


BESIDE = (
    "column {c!r} has value labels in {c2}, and {c3} has numbers there, the codes without their labels: give {c3} as "
    "an SPSS or Stata file with the same labels, or write the labels in place of its codes"
)


def check_labels_beside(files: Sequence[tuple[Path, pl.DataFrame]]) -> None:
    """Refuse a file with codes beside one whose codes have labels, which it was read with.

    Raises ColumnError: names the column and both files.
    """
    for path, frame in files:
        texts = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
        for other, beside in files:
            numbers = [name for name in texts if name in beside.columns and beside.schema[name].is_numeric()]
            labels = read_labels(path) if numbers else FileLabels({})
            for name in numbers:
                if labels.get(name).codes:
                    raise ColumnError(BESIDE.format(c=name, c2=path.name, c3=other.name))
