"""Parquet and Arrow files: their own types, only the columns asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.data.exact_names import exactly
from sdckit.data.files.file_checks import FileHeader, clear_errors, pick_columns, refuse_duplicates
from sdckit.data.missing_values.missing_codes import Found, apply_codes, take_defaults

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


DESCRIBES = ("label", "description", "comment")  # entries of a field's metadata that say what it is
OF_POLARS = b"_PL_CATEGORICAL2"  # how Polars marks a Categorical of its own in a file


def columnar_header(path: Path, kind: str) -> FileHeader:
    """Give names and number of records from the file's own metadata."""
    import polars as pl

    names = _names(path, kind)
    with clear_errors(path, kind):
        if _is_stream(path, kind):
            n_rows = pl.read_ipc_stream(path, columns=list(names[:1])).height if names else 0
        else:
            n_rows = int(_scan(path, kind).select(pl.len()).collect().item())
    return FileHeader(names, n_rows, kind)


def read_columnar(
    path: Path, kind: str, *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
    missing: Sequence[str] = (), rows: int | None = None,
) -> tuple[pl.DataFrame, tuple[Found, ...]]:  # fmt: skip
    """Read columns of a Parquet or Arrow file; tell the default codes; see `readers.read_file`."""
    import polars as pl

    names = pick_columns(path, _names(path, kind), columns, identifiers=identifiers)
    with clear_errors(path, kind):
        try:
            frame = _read(path, kind, names, rows)
        except pl.exceptions.ComputeError:
            if kind == "Parquet":
                raise
            frame = _by_pyarrow(path, kind, names, rows)
        frame = frame.with_columns(
            _in_order(frame[name], path, kind) for name in names if _is_named(frame[name])
        )
        if missing:
            return apply_codes(frame, ("", *missing)), ()
        return take_defaults(frame)


def _read(path: Path, kind: str, names: Sequence[str], rows: int | None) -> pl.DataFrame:
    import polars as pl

    if _is_stream(path, kind):
        return pl.read_ipc_stream(path, columns=list(names), n_rows=rows).select(map(exactly, names))
    scan = _scan(path, kind).select(map(exactly, names))
    return (scan if rows is None else scan.head(rows)).collect()


def _by_pyarrow(path: Path, kind: str, names: Sequence[str], rows: int | None) -> pl.DataFrame:
    """Read what pandas wrote: a missing category has the code -1, which Polars refuses in a file."""
    import polars as pl
    import pyarrow as pa

    opening = pa.ipc.open_stream if _is_stream(path, kind) else pa.ipc.open_file
    try:
        with pa.OSFile(str(path)) as source:
            table = opening(source).read_all().select(list(names)).slice(0, rows)
    except pa.ArrowException:
        raise ValueError from None
    return pl.DataFrame(pl.from_arrow(table))


def column_descriptions(path: Path, kind: str) -> dict[str, str]:
    """Give what the metadata of each field says that it is."""
    found = {}
    for one in _schema(path, kind):
        told = {
            name.decode("utf-8", "replace").casefold(): text for name, text in (one.metadata or {}).items()
        }
        text = next((told[name] for name in DESCRIBES if told.get(name, b"").strip()), None)
        if text is not None:
            found[one.name] = text.decode("utf-8", "replace").strip()
    return found


def _scan(path: Path, kind: str) -> pl.LazyFrame:
    """Scan this one file: no pattern in its name is expanded, no folder name becomes a column."""
    import polars as pl

    if kind == "Parquet":
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)
    return pl.scan_ipc(path, glob=False, hive_partitioning=False)


def _names(path: Path, kind: str) -> tuple[str, ...]:
    """Read the names with pyarrow, which also shows repeated ones."""
    names = _schema(path, kind).names
    refuse_duplicates(path, names)
    return tuple(names)


def _schema(path: Path, kind: str) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with clear_errors(path, kind):
        if kind == "Parquet":
            return pq.read_schema(path)
        opening = pa.ipc.open_stream if _is_stream(path, kind) else pa.ipc.open_file
        with pa.OSFile(str(path)) as source:
            return opening(source).schema


def _is_named(series: pl.Series) -> bool:
    import polars as pl

    return series.dtype == pl.Categorical


def _in_order(series: pl.Series, path: Path, kind: str) -> pl.Series:
    """Categories in the order that another writer gave them; a Categorical of Polars stays, it has none."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = series.name
    if kind == "Parquet":
        with pq.ParquetFile(path) as file:
            field = file.schema_arrow.field(name)
            batch = next(file.iter_batches(1, columns=[name]), None)
    else:
        opening = pa.ipc.open_stream if _is_stream(path, kind) else pa.ipc.open_file
        with pa.OSFile(str(path)) as source:
            reader = opening(source)
            field = reader.schema.field(name)
            batches = (
                iter(reader)
                if _is_stream(path, kind)
                else map(reader.get_batch, range(reader.num_record_batches))
            )
            batch = next(batches, None)
    if batch is None or OF_POLARS in (field.metadata or {}) or not pa.types.is_dictionary(field.type):
        return series
    listed = batch[name].dictionary.drop_null().to_pylist()
    others = set(series.drop_nulls().unique().cast(pl.String)) - set(listed)
    return series.cast(pl.Enum(list(dict.fromkeys([*listed, *sorted(others)]))))


def _is_stream(path: Path, kind: str) -> bool:
    if kind != "Arrow":
        return False
    with path.open("rb") as file:
        return file.read(6) != b"ARROW1"
