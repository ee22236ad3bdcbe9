"""Artificial records put together from the values of a frame, and put behind its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError


def mixed_rows(
    frame: nw.DataFrame[Any], source: Mapping[str, NDArray[np.int64]], *, id: str | None = None
) -> nw.DataFrame[Any]:
    """New records; the value of each column is that of the record named in `source`.

    `source`: for every column but `id` the rows, from 0, that its values come from; all of one length. `id`:
    column that gets values nobody has: the next whole numbers, or ``new-1``, ``new-2``, ... Raises
    `DataError`: an id that is neither whole numbers nor text.

    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"i": [7, 8], "x": ["a", "b"], "y": [1, 2]}))
    >>> mixed_rows(frame, {"x": np.array([0]), "y": np.array([1])}, id="i").rows()
    [(9, 'a', 2)]
    """
    columns = []
    for name in frame.columns:
        if name == id:
            columns.append(_new_ids(frame.get_column(name), len(next(iter(source.values())))))
        else:
            columns.append(frame[[name]][source[name].tolist()])
    bare = [_without_index(one) for one in columns]
    return bare[0] if len(bare) == 1 else nw.concat(bare, how="horizontal")


def appended(frame: nw.DataFrame[Any], rows: nw.DataFrame[Any], *, times: int = 1) -> Any:
    """The caller's frame with records put behind its own, each so many times; a pandas index counts anew."""
    together = nw.concat([frame, *([rows] * times)], how="vertical")
    return _without_index(together).to_native()


def _without_index(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    if not frame.implementation.is_pandas_like():
        return frame
    return nw.from_native(frame.to_native().reset_index(drop=True), eager_only=True)


def _new_ids(series: nw.Series[Any], n: int) -> nw.DataFrame[Any]:
    if series.dtype.is_integer():
        first = int(series.max()) + 1
        values: list[Any] = list(range(first, first + n))
    elif series.dtype == nw.String:
        taken = set(series.to_list())
        names = (f"new-{i}" for i in range(1, n + len(taken) + 1))
        values = [name for name in names if name not in taken][:n]
    else:
        raise DataError(f"id {series.name!r} holds {series.dtype}; new ones need whole numbers or text")
    backend = series.implementation
    return nw.new_series(series.name, values, series.dtype, backend=backend).to_frame()
