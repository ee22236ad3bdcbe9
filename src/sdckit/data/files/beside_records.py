"""What a file holds beside the records that are read from it: further sheets, unused labels and categories, notes.

A measure sees the records. Whoever has the file has its bytes: a hidden sheet with the original, the label of the one
category that was suppressed, or the income beneath a missing value.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import pa
from sdckit.data.columns import as_mask
from sdckit.data.files.file_checks import PACKED, clear_errors, file_format
from sdckit.data.files.file_labels import code_text
from sdckit.data.files.read_csv import has_further_sheets
from sdckit.data.files.read_labelled import DESCRIBES, labelled_values, stored_batches, stored_schema
from sdckit.data.files.scan_file import files_of, is_address
from sdckit.display import some_of

LABELS = "labels of codes that no record has ({}): write_file leaves them out"
CATEGORIES = "categories that no record has ({}): write_file leaves them out"
BENEATH = "values beneath missing ones ({}): write_file leaves them out"
NOTES = "notes and attributes beside the records, which write_file leaves out"
SHEETS = "another sheet, at which no measure looks"
ABOVE = "rows above the names of columns, at which no measure looks"
FORMULAS = "formulas, which may name what a cell does not show"
PARTS = "comments, pivot tables, drawings or links of a workbook, at which no measure looks"
FILES = "other files in its folder, at which no measure looks"
_PARTS = re.compile(
    r"(\[Content_Types\]|docProps/(app|core)|xl/(workbook|styles|sharedStrings|metadata|calcChain))\.xml"
    r"|xl/(theme|tables|printerSettings|worksheets)/[^/]*|(\w+/)*_rels/[^/]*|.*/"
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>]")
_SCHEMA = {b"ARROW:schema", b"org.apache.spark.version", b"org.apache.spark.timeZone"}
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
_OF_TYPES = re.compile(rb"(?i)_PL_\w+|ARROW:extension:\w+|PARQUET:field_id|" + "|".join(DESCRIBES).encode())
_FILLS = (0, 1)  # what programs write beneath missing values, besides NaN and the least number for times
_IN_VIEW = 12  # bytes of a text up to which a view holds it itself


def beside_records(
    *paths: str | Path, sheet: str | int | None = None, header_row: int | None = None, encoding: str | None = None
) -> tuple[str, ...]:
    """Say what files, or folders of files, hold beside their records; `sheet` and `header_row` are those read.

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
        if is_address(path):
            continue
        files = files_of(path) if path.is_dir() else [path]
        for file in files:
            kind = file_format(file)
            with clear_errors(file, kind):
                if kind == "Excel":
                    found += _of_workbook(file, sheet, header_row)
                elif kind in ("Parquet", "Arrow"):
                    found += _of_arrow(file, kind)
                elif kind not in ("CSV", *PACKED.values()):
                    found += _of_labelled(file, kind, encoding)
        # what engines leave beside the parts is empty (_SUCCESS), or sums of bytes
        beside = {*path.rglob("*")} - {*files} if path.is_dir() else set()
        found += [FILES] * any(other.is_file() and other.suffix != ".crc" and other.stat().st_size for other in beside)
    return tuple(dict.fromkeys(found))


def _of_workbook(path: Path, sheet: str | int | None, header_row: int | None) -> Iterator[str]:
    if has_further_sheets(path, sheet):
        yield SHEETS
    if (header_row or 1) > 1:
        yield ABOVE
    with zipfile.ZipFile(path) as book:
        if any(_FORMULA.search(book.read(name)) for name in book.namelist() if name.startswith("xl/worksheets/")):
            yield FORMULAS
        if not all(_PARTS.fullmatch(name) for name in book.namelist()):
            yield PARTS


def _of_schema(schema: pa.Schema) -> Iterator[str]:
    """Metadata that no writer adds by itself: attributes of a pandas frame, of a table in R, of fields."""
    own = dict(schema.metadata or {})
    of_pandas, of_spark = json.loads(own.pop(b"pandas", b"{}")), own.pop(_SPARK, b"").replace(b'"metadata":{}', b"")
    of_fields = [name for field in schema for name in field.metadata or ()]
    if (
        own.keys() - _SCHEMA
        or of_pandas.get("attributes")
        or b'"metadata"' in of_spark
        or not all(map(_OF_TYPES.fullmatch, of_fields))
    ):
        yield NOTES


def _of_arrow(path: Path, kind: str) -> Iterator[str]:
    """Metadata, categories that no record has, and, of Arrow files, values beneath missing ones."""
    fields = list(schema := stored_schema(path, kind))
    yield from _of_schema(schema)
    coded = [field.name for field in fields if pa.types.is_dictionary(field.type)]
    unused: dict[str, set[Any]] = {name: set() for name in coded}
    used: dict[str, set[Any]] = {name: set() for name in coded}
    beneath: dict[str, None] = {}
    for batch in stored_batches(path, kind, coded if kind == "Parquet" else [field.name for field in fields]):
        for name in coded:
            listed, places = batch.column(name).dictionary.to_pylist(), batch.column(name).indices.unique().to_pylist()
            unused[name].update(listed)
            used[name].update(listed[place] for place in places if place is not None and place >= 0)
        if kind == "Arrow":
            beneath |= dict.fromkeys(name for name in batch.schema.names if _is_beneath(batch.column(name)))
    if empty := [name for name in coded if unused[name] - used[name] - {None}]:
        yield CATEGORIES.format(some_of(empty))
    if beneath:
        yield BENEATH.format(some_of(list(beneath)))


def _is_beneath(column: pa.Array) -> bool:
    """Whether bytes that look like values of records stand beneath missing values, or as texts that no record shows."""
    kind, missing = column.type, as_mask(column.is_null())
    here, buffers = slice(column.offset, column.offset + len(column)), column.buffers()
    if pa.types.is_string_view(kind):
        sizes = np.frombuffer(buffers[1], dtype=np.int32).reshape(-1, 4)[here, 0]
        shown = sizes[~missing & (sizes > _IN_VIEW)].sum(dtype=np.int64)
        return bool(sizes[missing].any()) or sum(buffer.size for buffer in buffers[2:]) > shown
    if not missing.any():
        return False
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        ends: NDArray[Any] = np.frombuffer(buffers[1], dtype=np.int32 if pa.types.is_string(kind) else np.int64)
        return bool((ends[1:][here] > ends[:-1][here])[missing].any())
    if not pa.types.is_primitive(kind) or pa.types.is_boolean(kind):
        return False
    numbers = np.dtype(f"{'f' if pa.types.is_floating(kind) else 'i'}{kind.bit_width // 8}")
    values = np.frombuffer(buffers[1], dtype=numbers)[here][missing]
    return not (np.isin(values, (*_FILLS, np.iinfo(np.int64).min)) | np.isnan(values)).all()


def _of_labelled(path: Path, kind: str, encoding: str | None) -> Iterator[str]:
    """Labels of codes that no record has, label sets that no column has, notes, and characteristics of Stata."""
    frame, meta = labelled_values(path, kind, encoding=encoding)
    sets: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels
    held = {name: set(map(code_text, {*frame[name].to_list()})) for name in frame.columns}
    unused = [name for name, labels in sets.items() if not {*map(code_text, labels)} <= held[name]]
    if unused or len(meta.value_labels) > len({*meta.variable_to_label.values()}):
        yield LABELS.format(some_of(unused or ["of no column"]))
    if meta.notes or meta.file_label or meta.mr_sets or _has_characteristics(path, kind):
        yield NOTES


def _has_characteristics(path: Path, kind: str) -> bool:
    with path.open("rb") as file, closing(mmap(file.fileno(), 0, access=ACCESS_READ)) as content:
        return kind == "Stata" and content.find(b"<ch>", 0, content.find(b"<data>")) >= 0
