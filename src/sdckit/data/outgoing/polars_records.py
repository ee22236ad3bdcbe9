"""Polars frames with nothing but their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sdckit.data.outgoing.arrow_records import bare_array
from sdckit.data.outgoing.in_use import InUse, in_use

if TYPE_CHECKING:
    import polars as pl


def polars_use(frame: pl.DataFrame) -> dict[str, InUse]:
    """Categories of the Enum columns; a Categorical has none of its own outside this process."""
    import polars as pl

    return {
        name: in_use(kind.categories.to_list(), frame[name].to_physical().drop_nulls().unique().to_numpy())
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.Enum)
    }


def polars_records(frame: pl.DataFrame, use: Mapping[str, InUse]) -> pl.DataFrame:
    """A frame of columns without anything that no record shows."""
    import polars as pl

    # By number meanwhile: Polars takes some names for a pattern, and others for none.
    columns = [
        _bare(series.alias(str(number)), use.get(series.name))
        for number, series in enumerate(frame.get_columns())
    ]
    if not columns:
        return frame
    bare = pl.DataFrame(columns)
    bare.columns = frame.columns
    return bare


def _bare(series: pl.Series, use: InUse | None) -> pl.Series:
    import polars as pl

    kind = series.dtype
    if kind == pl.Object:
        return series
    if kind in (pl.String, pl.Binary):
        return _own_memory(series)
    if series.null_count():
        rows = pl.int_range(len(series), eager=True)
        series = series.gather(rows.set(series.is_null(), None))
    if kind.is_nested():
        return _own_memory(series.cast(_plain(kind)))
    if use is None or use.all_used:
        return series
    return series.cast(pl.String).cast(pl.Enum(use.kept))


def _own_memory(series: pl.Series) -> pl.Series:
    """The same texts or lists, in memory that no other values share."""
    import polars as pl
    import pyarrow as pa

    try:
        array = series.to_arrow(compat_level=pl.CompatLevel.oldest())
    except (pa.ArrowException, pl.exceptions.PolarsError):  # kinds that Arrow does not know
        return pl.Series(series.name, series.to_list(), dtype=series.dtype)
    return pl.Series(series.name, bare_array(array))


def _plain(kind: Any) -> Any:
    """A nested type with text where it has categories."""
    import polars as pl

    if isinstance(kind, pl.Struct):
        return pl.Struct([pl.Field(field.name, _plain(field.dtype)) for field in kind.fields])
    if isinstance(kind, pl.List):
        return pl.List(_plain(kind.inner))
    if isinstance(kind, pl.Array):
        return pl.Array(_plain(kind.inner), kind.size)
    return pl.String if isinstance(kind, (pl.Enum, pl.Categorical)) else kind
