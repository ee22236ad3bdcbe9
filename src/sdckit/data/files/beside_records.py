"""What a file holds beside the records that are read from it: further sheets, unused labels and categories, notes.

A measure sees the records. Whoever has the file has its bytes: a hidden sheet with the original, the label of the one
category that was suppressed, or the income beneath a missing value.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sdckit.data import columns, pa, pl
from sdckit.data.files import file_checks, file_labels, read_csv, read_labelled, scan_file, spellings, workbook_checks
from sdckit.data.packaged import sentences
from sdckit.data.scenarios.guessing.topics import MAKE_UP, topic_of
from sdckit.display import some_of

BESIDE = sentences("data/files/beside_records.toml")
_CSV = ("CSV", *file_checks.PACKED.values())
_PARTS = re.compile(
    r"(\[Content_Types\]|docProps/(app|core)|xl/(workbook|styles|sharedStrings|metadata|calcChain))\.xml"
    r"|xl/(theme|tables|printerSettings|worksheets)/[^/]*|(\w+/)*_rels/[^/]*|.*/"
)
_HEADER, _LITTLE_ENDIAN, _LAST = 111, 2, b"</stata_dta>"
_OLDER_STATA = {113: 162, 114: 199, 115: 199}  # format: bytes that describe a column, before the characteristics
_ENDS_DICTIONARY = (999).to_bytes(4, "little") + bytes(4)
# Of the file, and of its variables.
_ATTRIBUTES = re.compile(rb"\x07\0{3}[\x05\x0a\x11\x12]\0{3}\x01\0{3}.{4}", re.DOTALL)
_ROLES = re.compile(rb"([^:/()]+:\$@Role\('\d'\n\)/?)*")
_PHONETIC = re.compile(rb"<(?:\w+:)?rPh[\s>]")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>]")
_AROUND = re.compile(
    rb"<(?:\w+:)?(?:filters?|customFilters?|dynamicFilter|top10|calculatedColumnFormula|totalsRowFormula"
    rb"|definedName(?![^>]*_xlnm\.))[\s>]|totalsRowLabel="
)
_BESIDE_CELLS = re.compile(  # of a sheet all but how it is shown and printed, and its one protection
    rb"<(?!/|\?|(?:\w+:)?(?:>|(?:worksheet|sheet(?:Pr|Views?|FormatPr|CalcPr|Protection)|tabColor|outlinePr|pageSetUpPr"
    rb"|dimension|pane|selection|cols?|autoFilter|filterColumn|sort(?:State|Condition)|phoneticPr|printOptions"
    rb"|page(?:Margins|Setup)|headerFooter|tableParts?|(?:legacyD|d)rawing)[\s/>]))"
)
_SAID = re.compile(rb"<(?:\w+:)?(?:title|subject|description|keywords|category|contentStatus|HyperlinkBase)>[^<]")
_SCHEMA = {b"ARROW:schema", b"org.apache.spark.version", b"org.apache.spark.timeZone"}
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
_OF_TYPES = re.compile(
    rb"(?i)_PL_\w+|ARROW:extension:\w+|PARQUET:field_id|" + "|".join(read_labelled.DESCRIBES).encode()
)
_OF_CODES = (0, -1)  # what programs write beneath missing categories
_NUMBERS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+")  # of parts of a file, as engines name them
_NUMBERED = re.compile(r"([^\W\d_]+)[ _=-]*#")  # the word before the number
_SAYING = {"key", "group", "coordinate", "sensitive"}  # roles of what part of a file may be of
_FOLDERS = re.compile(r"[^/=]+=[^/]*/")
SMALL_GROUP = 1_000  # rows: engines write larger groups
_IN_VIEW = 12  # bytes of a text up to which a view holds it itself


def beside_records(
    *paths: str | Path, sheet: str | int | None = None, header_row: int | None = None, encoding: str | None = None,
    user_missing: bool = False, delimiter: str | None = None, missing: Sequence[str] = (),
) -> tuple[str, ...]:  # fmt: skip
    """Say what files, or folders of files, hold beside their records; the others are as they are read.

    So are missing values of a CSV file that one column spells in several ways, where no codes (`missing`) were given.
    Columns are named, and nothing else of the file. Files at addresses are not looked at. A workbook was read, and so
    checked, before.

    >>> import polars as pl, tempfile
    >>> sizes = pl.DataFrame({"size": pl.Series(["S", None], dtype=pl.Enum(["S", "XXL"]))})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sizes.write_parquet(f"{folder}/sizes.parquet")
    ...     beside_records(f"{folder}/sizes.parquet")
    ('categories that no record has (size): write_file leaves them out',)
    """
    found: list[str] = []
    for path in map(Path, paths):
        if scan_file.is_address(path):
            continue
        files = scan_file.files_of(path) if path.is_dir() else [path]
        for file in files:
            kind = file_checks.file_format(file)
            with file_checks.clear_errors(file, kind):
                if kind == "Excel":
                    found += _of_workbook(file, sheet, header_row, codes=not missing)
                elif kind in ("Parquet", "Arrow"):
                    found += _of_arrow(file, kind, codes=not missing)
                elif kind not in _CSV:
                    found += _of_labelled(file, kind, encoding, user_missing, codes=not missing)
        if not missing and kind in _CSV:
            ways = spellings.spellings_of_missing(files, kind, delimiter=delimiter, encoding=encoding)
            if several := [name for name, texts in ways.items() if len(texts) > 1]:
                found.append(BESIDE["spelled"].format(some_of(several)))
        if kind in _CSV:
            how = {"delimiter": delimiter, "encoding": encoding}
            numbers = [name for file in files for name in spellings.spellings_of_numbers(file, missing=missing, **how)]
            found += [BESIDE["numbers"].format(some_of([*dict.fromkeys(numbers)]))] * any(numbers)
            quoted = [name for file in files for name in spellings.quoted_by_record(file, **how)]
            found += [BESIDE["quoted"].format(some_of([*dict.fromkeys(quoted)]))] * any(quoted)
            found += [BESIDE["lines"]] * any(spellings.ends_apart(file, **how) for file in files)
        named = (file.relative_to(path).as_posix() for file in files) if path.is_dir() else ()
        # folders of Parquet such as year=2019 are read as a column
        numbered = {_NUMBERS.sub("#", name if kind in _CSV else _FOLDERS.sub("", name)) for name in named}
        words = (topic_of(word) for name in numbered for word in _NUMBERED.findall(name) if len(files) > 1)
        says = any(topic is not None and topic.role in _SAYING and topic.name != MAKE_UP for topic in words)
        found += [BESIDE["named"]] * (len(numbered) > 1 or says)
        # what engines leave beside the parts is empty (_SUCCESS), or sums of bytes
        beside = {*path.rglob("*")} - {*files} if path.is_dir() else set()
        others = (other.is_file() and other.suffix != ".crc" and other.stat().st_size for other in beside)
        found += [BESIDE["files"]] * any(others)
    return tuple(dict.fromkeys(found))


def _of_workbook(path: Path, sheet: str | int | None, header_row: int | None, *, codes: bool) -> Iterator[str]:
    if read_csv.has_further_sheets(path, sheet):
        yield BESIDE["sheets"]
    if (header_row or 1) > 1:
        yield BESIDE["above"]
    found, shown, texts = dict.fromkeys(("formulas", "texts", "around", "notes", "parts"), False), set[bytes](), 0
    read_aloud = False
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        for name in filter(
            re.compile(r"(xl/((worksheets|tables)/[^/]*|workbook|sharedStrings)|docProps/.*)\.xml").fullmatch, names
        ):
            content = book.read(name)
            if name == "xl/sharedStrings.xml":
                texts = len(workbook_checks.STRING.findall(content))
                read_aloud = _PHONETIC.search(content) is not None
                continue
            shown.update(workbook_checks.TEXT_OF_CELL.findall(content))
            around = content.partition(b"sheetData")[0] + content.rpartition(b"sheetData")[2]
            found["formulas"] |= _FORMULA.search(content) is not None
            found["around"] |= _AROUND.search(around) is not None
            found["around"] |= "worksheets" in name and _BESIDE_CELLS.search(around) is not None
            found["notes"] |= name.startswith("docProps/") and _SAID.search(content) is not None
    found["texts"] = len(shown) < texts or read_aloud
    commented = book.comment or any(part.comment for part in book.infolist())
    found["parts"] = bool(commented) or len({*names}) < len(names) or not all(map(_PARTS.fullmatch, names))
    yield from (BESIDE[kind] for kind, there in found.items() if there)
    several, styled = spellings.spellings_of_cells(path, header_row, codes=codes)
    if several:
        yield BESIDE["of_cells"].format(some_of(several))
    if styled:
        yield BESIDE["styles"]


def _of_schema(schema: pa.Schema) -> Iterator[str]:
    """Metadata that no writer adds by itself: attributes of a pandas frame, of a table in R, of fields."""
    own = dict(schema.metadata or {})
    of_pandas, of_spark = json.loads(own.pop(b"pandas", b"{}")), own.pop(_SPARK, b"").replace(b'"metadata":{}', b"")
    of_fields = [name for field in schema for name in field.metadata or ()]
    if (
        own.keys() - _SCHEMA
        or of_pandas.get("attributes")
        or any(of_columns.get("name") is not None for of_columns in of_pandas.get("column_indexes") or ())
        or b'"metadata"' in of_spark
        or not all(map(_OF_TYPES.fullmatch, of_fields))
    ):
        yield BESIDE["notes"]
    ranges = [index for index in of_pandas.get("index_columns") or () if isinstance(index, dict)]
    if any((index.get("start", 0), index.get("step", 1)) != (0, 1) for index in ranges):
        yield BESIDE["indexed"]


def _has_small_groups(path: Path) -> bool:
    """Whether a Parquet file has groups of few rows that are not all of one size but the last."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        about = file.metadata
        sizes = {about.row_group(at).num_rows for at in range(about.num_row_groups - 1)}
    return bool(sizes) and min(sizes) < SMALL_GROUP and len(sizes) > 1


def _of_arrow(path: Path, kind: str, *, codes: bool) -> Iterator[str]:
    """Metadata, categories that no record has, several missing values, and, of Arrow files, values beneath them."""
    fields = list(schema := read_labelled.stored_schema(path, kind))
    yield from _of_schema(schema)
    yield from [BESIDE["notes"]] * (kind == "Arrow" and read_labelled.holds_metadata(path))
    if kind == "Parquet" and _has_small_groups(path):
        yield BESIDE["row_groups"]
    described = read_labelled.column_descriptions(path, kind)
    if told := [name for name, label in described.items() if spellings.TELLS_NUMBER.search(label)]:
        yield BESIDE["told_labels"].format(some_of(told))
    # besides NaN, and the least number for times; a mixture of both is none
    fills = (0, 1) if b"pandas" in (schema.metadata or {}) else (0,)
    listed = read_labelled.listed_texts(path) if kind == "Parquet" else []
    coded = [field.name for field in fields if pa.types.is_dictionary(field.type) or field.name in listed]
    unused: dict[str, set[Any]] = {name: set() for name in coded}
    used: dict[str, set[Any]] = {name: set() for name in coded}
    beneath: dict[str, None] = {}
    bits: dict[str, _Bits] = {field.name: (set(), set()) for field in fields}
    texts = [field.name for field in fields if codes and _is_text(field.type) and field.name not in listed]
    numbers = [field.name for field in fields if pa.types.is_floating(field.type)]
    ways: dict[str, set[str | None]] = {field.name: set() for field in fields}
    read = [*coded, *texts, *numbers] if kind == "Parquet" else [field.name for field in fields]
    for batch in read_labelled.stored_batches(path, kind, read, listed):
        for name in (*coded, *texts, *numbers):
            ways[name].update([None] if batch.column(name).null_count else [])
        for name in texts:
            ways[name].update(spellings.texts_for_missing(pl.Series(pl.from_arrow(batch.column(name)))))
        for name in numbers:
            values = np.asarray(pl.Series(pl.from_arrow(batch.column(name).drop_null())), np.float64)
            ways[name].update(f"NaN {bits}" for bits in np.unique(values[np.isnan(values)].view(np.int64)))
        for name in coded:
            listed, places = batch.column(name).dictionary.to_pylist(), batch.column(name).indices.unique().to_pylist()
            unused[name].update(listed)
            used[name].update(listed[place] for place in places if place is not None and place >= 0)
        if kind == "Arrow":
            beneath |= dict.fromkeys(
                name for name in batch.schema.names if _is_beneath(batch.column(name), fills, bits[name])
            )
    beneath |= dict.fromkeys(name for name, seen in bits.items() if _are_values(*seen))
    for name in coded if codes else ():
        ways[name].update(used[name] & {*spellings.SPELT})
    if several := [name for name, seen in ways.items() if len(seen) > 1]:
        yield BESIDE["spelled"].format(some_of(several))
    if empty := [name for name in coded if unused[name] - used[name] - {None}]:
        yield BESIDE["categories"].format(some_of(empty))
    if beneath:
        yield BESIDE["beneath"].format(some_of(list(beneath)))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


_Bits: TypeAlias = tuple[set[int], set[int]]  # beneath missing values, and behind the last one of each batch


def _are_values(beneath: set[int], behind: set[int]) -> bool:
    """Whether such bits of a yes-no column may be values: a writer fills both with the same, DuckDB with ones.

    Rows by the eight have nothing behind them, which another batch of the file may show. Where none does, ones beneath
    may be the answers that were taken out.
    """
    return len(beneath) > 0 and (len(behind) > 1 or not beneath <= (behind or {0}))


def _is_beneath(column: pa.Array, fills: Sequence[int], bits: _Bits) -> bool:
    """Whether bytes that look like values stand beneath missing values or behind the last one, also of parts.

    `fills` are what the writer of the file puts beneath missing values. To `bits` are added those of yes-no columns.
    """
    kind, missing, stop = column.type, columns.as_mask(column.is_null()), column.offset + len(column)
    here, buffers = slice(column.offset, stop), [buffer or b"" for buffer in column.buffers()]
    if pa.types.is_null(kind) or not len(column):
        return False
    if pa.types.is_dictionary(kind):
        return _is_beneath(column.indices, _OF_CODES, bits)
    if pa.types.is_struct(kind):
        return any(_is_beneath(part, fills, bits) for part in column.flatten())
    if pa.types.is_fixed_size_list(kind):
        of_missing = columns.as_mask(column.values.is_valid())[np.repeat(missing, kind.list_size)]
        return bool(of_missing.any()) or _is_beneath(column.values, fills, bits)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        sizes = np.frombuffer(buffers[1], dtype=np.int32).reshape(-1, 4)[here, 0]
        long = np.flatnonzero(~missing & (sizes > _IN_VIEW))
        # what came from Arrow keeps the short texts between long ones in its buffers, too
        between = sizes[long[0] : long[-1] + 1] if long.size else sizes[:0]
        kept = sum(map(len, buffers[2:]))
        if sizes[missing].any() or kept <= sizes[long].sum() or kept == between.sum():
            return bool(sizes[missing].any())
        # those before and behind the long ones, too: what is kept is a part of all texts in their order
        plain = column.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
        return not all(bytes(buffer) in bytes(plain.buffers()[2] or b"") for buffer in buffers[2:])
    if pa.types.is_boolean(kind):
        stored = np.frombuffer(buffers[1], dtype=np.uint8)
        values, whole = np.unpackbits(stored, bitorder="little"), -(-stop // 8)
        behind = {*values[stop : 8 * whole].tolist()}
        bits[0].update(np.unique(values[here][missing]).tolist())
        bits[1].update(behind)
        # no writer fills the last byte with both: these are the next rows of the file that this one was cut from
        return bool(stored[whole:].any()) or len(behind) > 1
    if pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind):
        cells = np.frombuffer(buffers[1], dtype=np.uint8).reshape(-1, kind.byte_width)
        return bool(cells[here][missing].any() or cells[stop:].any())
    if pa.types.is_primitive(kind):
        numbers = np.dtype(f"{'f' if pa.types.is_floating(kind) else 'i'}{kind.bit_width // 8}")
        values = np.frombuffer(buffers[1], dtype=numbers)
        below = values[here][missing]
        filled = np.isnan(below) | (below == np.iinfo(np.int64).min)
        return bool(values[stop:].any()) or not any((filled | (below == fill)).all() for fill in fills)
    # texts, bytes and lists: where each ends
    large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) or pa.types.is_large_list(kind)
    ends = np.frombuffer(buffers[1], dtype=np.int64 if large else np.int32)[here.start : stop + 1]
    if (np.diff(ends) > 0)[missing].any():
        return True
    if hasattr(column, "values"):
        return len(column.values) > ends[-1] or _is_beneath(column.values, fills, bits)
    return bool(np.frombuffer(buffers[2], dtype=np.uint8)[ends[-1] :].any())


def _of_labelled(path: Path, kind: str, encoding: str | None, user_missing: bool, *, codes: bool) -> Iterator[str]:
    """Labels that no record has, several missing values, values declared so, notes, and characteristics of Stata."""
    if hidden := _declared_and_held(path, kind, encoding, user_missing):
        yield BESIDE["declared"].format(some_of(hidden))
    frame, meta = read_labelled.labelled_values(path, kind, encoding=encoding)
    sets: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels
    # of SAS transport pyreadstat gives neither letters nor what follows the last record
    places, more = read_labelled.beside_transport(path) if kind == "SAS transport" else ([], False)
    lettered = [str(meta.column_names[place]) for place in places]
    kept = sets if kind == "Stata" else {}  # SAS's are read as missing always
    lettered += [name for name, dtype in frame.schema.items() if dtype == pl.Object and _lettered(frame[name], kept)]
    if lettered:
        yield BESIDE["lettered"].format("Stata" if kind == "Stata" else "SAS", some_of(lettered))
    texts = [name for name, dtype in frame.schema.items() if codes and dtype == pl.String and name not in sets]
    if several := [name for name in texts if len(spellings.texts_for_missing(frame[name].fill_null(""))) > 1]:
        yield BESIDE["spelled"].format(some_of(several))
    held = {name: set(map(file_labels.code_text, {*frame[name].to_list()})) for name in sets}
    unused = [name for name, labels in sets.items() if not {*map(file_labels.code_text, labels)} <= held[name]]
    if unused or len(meta.value_labels) > len({*meta.variable_to_label.values()}):
        yield BESIDE["labels"].format(some_of(unused or ["of no column"]))
    every = {name: " ".join(map(str, labels.values())) for name, labels in sets.items()}
    labels = {name: f"{label or ''} {every.get(name, '')}" for name, label in meta.column_names_to_labels.items()}
    if told := [name for name, texts in labels.items() if spellings.TELLS_NUMBER.search(texts)]:
        yield BESIDE["told_labels"].format(some_of(told))
    if meta.notes or meta.file_label or meta.mr_sets or more or _has_attributes(path, kind):
        yield BESIDE["notes"]


def _lettered(series: pl.Series, sets: Mapping[str, Mapping[Any, str]]) -> bool:
    """Whether missing values of a column without a label are several letters, or letters and points."""
    forms = {value for value in series.to_list() if value is None or isinstance(value, str)}
    return len(forms - {*sets.get(series.name, ())}) > 1


def _declared_and_held(path: Path, kind: str, encoding: str | None, user_missing: bool) -> list[str]:
    """The columns of which values are read as missing, since the file declares them so."""
    labels = read_labelled.read_column_labels(path, kind, encoding=encoding)
    if not (declared := [name for name in labels if labels[name].missing]):
        return []
    stored, _ = read_labelled.labelled_values(path, kind, columns=declared, encoding=encoding)
    read, _ = read_labelled.read_labelled(path, kind, columns=declared, encoding=encoding, user_missing=user_missing)
    return [name for name in declared if read[name].null_count() > stored[name].null_count()]


def _has_attributes(path: Path, kind: str) -> bool:
    """Whether a file has characteristics of Stata, or attributes of SPSS but the roles that it gives each variable."""
    with path.open("rb") as file, closing(mmap(file.fileno(), 0, access=ACCESS_READ)) as content:
        if kind == "Stata" and content[0] in _OLDER_STATA:
            n_columns = int.from_bytes(content[4:6], "little" if content[1] == _LITTLE_ENDIAN else "big")
            return content[_HEADER + n_columns * _OLDER_STATA[content[0]]] != 0
        if kind == "Stata":
            return content.find(b"<ch>", 0, content.find(b"<data>")) >= 0 or content[-len(_LAST) :] != _LAST
        dictionary = content[: content.rfind(_ENDS_DICTIONARY)] if kind == "SPSS" else b""
        starts = [match.end() for match in _ATTRIBUTES.finditer(dictionary)]
        sizes = (int.from_bytes(dictionary[at - 4 : at], "little") for at in starts)
        return not all(_ROLES.fullmatch(dictionary, at, at + size) for at, size in zip(starts, sizes, strict=True))
