"""Columns of a frame replaced, every other column, the rows' order and the caller's type left as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.data.frames import is_lazy, open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError

__all__ = ["drop_columns", "open_eager", "take_rows", "with_levels", "with_numbers"]

NULLABLE = {"i": "Int64", "u": "UInt64", "b": "boolean"}  # pandas: a plain integer column cannot miss a value


def open_eager(data: Any, columns: Mapping[str, Sequence[str]]) -> nw.DataFrame[Any]:
    """Open a frame in memory to change it; `columns` names what must be there, by role.

    Raises
    ------
    DataError
        A plan, or a frame without records.
    ColumnError
        A column is absent.
    """
    frame = open_frame(data)
    if is_lazy(frame):
        raise DataError("a plan cannot be changed in place; bring it into memory first (collect it)")
    assert isinstance(frame, nw.DataFrame)
    for role, names in columns.items():
        for name in names:
            if name not in frame.columns:
                raise ColumnError(
                    f"{role}: no column {name!r} in the data; {did_you_mean(str(name), frame.columns)}"
                )
    if len(frame) == 0:
        raise DataError("the data has no records")
    return frame


def take_rows(frame: nw.DataFrame[Any], source: Mapping[str, NDArray[np.int64]]) -> Any:
    """Give each record of some columns the value of another record; -1 makes it missing.

    Examples
    --------
    >>> import polars as pl
    >>> take_rows(open_frame(pl.DataFrame({"x": ["a", "b", "c"]})), {"x": np.array([1, 1, -1])})["x"].to_list()
    ['b', 'b', None]
    """
    return _set(frame, {name: _taken(frame, name, rows) for name, rows in source.items()})


def with_numbers(frame: nw.DataFrame[Any], columns: Mapping[str, NDArray[np.float64]]) -> Any:
    """Write numbers into columns, NaN as missing.

    A column keeps its type; an integer column becomes one of floats where a number is not whole or does
    not fit.

    Examples
    --------
    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"x": [1, 2], "y": [1, 2]}))
    >>> with_numbers(frame, {"x": np.array([3.0, np.nan]), "y": np.array([0.5, 2.0])}).schema
    Schema({'x': Int64, 'y': Float64})
    """
    import pyarrow as pa

    made = {}
    for name, values in columns.items():
        array = pa.array(values, mask=np.isnan(values))
        made[name] = _as_type(array, _number_type(frame[name], values), frame, name)
    return _set(frame, made)


def with_levels(
    frame: nw.DataFrame[Any], columns: Mapping[str, tuple[Sequence[Any], NDArray[np.int64]]]
) -> Any:
    """Write new values into columns, given as a list of levels and the level of each record (-1: missing).

    Examples
    --------
    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"age": [31, 45, 33]}))
    >>> with_levels(frame, {"age": (["30-39", "40-49"], np.array([0, 1, 0]))})["age"].to_list()
    ['30-39', '40-49', '30-39']
    """
    import pyarrow as pa

    made = {}
    for name, (levels, codes) in columns.items():
        try:
            values = pa.array(list(levels)) if len(levels) else pa.nulls(1)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise DataError(
                f"column {name!r}: its new values are of mixed types; give them one type"
            ) from None
        array = values.take(pa.array(codes, mask=codes < 0))
        made[name] = _as_type(array, None, frame, name)
    return _set(frame, made)


def drop_columns(frame: nw.DataFrame[Any], names: Sequence[str]) -> Any:
    """The frame without some columns."""
    return frame.drop(list(names)).to_native()


def _taken(frame: nw.DataFrame[Any], name: str, rows: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    native = frame[name].to_native()
    gone = rows < 0
    if frame.implementation.is_pandas_like():
        if (
            gone.any()
            and getattr(native.dtype, "kind", "") in NULLABLE
            and isinstance(native.dtype, np.dtype)
        ):
            native = native.astype(NULLABLE[native.dtype.kind])
        taken = native.take(np.maximum(rows, 0)).reset_index(drop=True)
        return taken.mask(gone) if gone.any() else taken
    if frame.implementation.is_polars():
        import polars as pl

        index = pl.Series(rows).cast(pl.Int64)
        return native.gather(index.set(pl.Series(gone), None) if gone.any() else index)
    return native.take(pa.array(rows, mask=gone))


def _number_type(series: nw.Series[Any], values: NDArray[np.float64]) -> Any:
    """The column's own type where it can hold the numbers, else None."""
    dtype = series.dtype
    if dtype.is_float():
        return dtype
    if not dtype.is_integer():
        return None
    known = values[~np.isnan(values)]
    bits = int("".join(filter(str.isdigit, str(dtype))))
    low, high = (0, 2**bits - 1) if dtype.is_unsigned_integer() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    fits = len(known) == 0 or (
        bool((known == np.floor(known)).all()) and low <= known.min() and known.max() <= high
    )
    return dtype if fits and bits <= 64 else None


def _as_type(array: Any, dtype: Any, frame: nw.DataFrame[Any], name: str) -> Any:
    """An Arrow array as a series of the frame's engine."""
    import pyarrow as pa

    if frame.implementation.is_pandas_like():
        return _pandas_series(array, dtype, frame[name].to_native())
    table = pa.table({name: array})
    series = nw.DataFrame.from_arrow(table, backend=frame.implementation)[name]
    return (series if dtype is None else series.cast(dtype)).to_native()


def _pandas_series(array: Any, dtype: Any, before: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    if isinstance(before.dtype, pd.ArrowDtype):
        own = before.dtype.pyarrow_dtype
        return pd.Series(pd.arrays.ArrowExtensionArray(array.cast(own) if dtype is not None else array))
    values = array.to_pandas()
    if dtype is None:
        return values
    plain = isinstance(before.dtype, np.dtype)
    if plain and array.null_count and before.dtype.kind in NULLABLE:
        return pd.Series(pd.array(array.cast(pa.int64()).to_pylist(), dtype=NULLABLE[before.dtype.kind]))
    return values.astype(before.dtype)


def _set(frame: nw.DataFrame[Any], made: Mapping[str, Any]) -> Any:
    native = frame.to_native()
    if frame.implementation.is_pandas_like():
        out = native.copy(deep=False)
        for name, series in made.items():
            series.index = native.index
            out[name] = series
        return out
    if frame.implementation.is_polars():
        return native.with_columns(**made)
    for name, column in made.items():
        native = native.set_column(native.column_names.index(name), name, column)
    return native
