"""How many values of each column differ between a frame and a changed one with the same rows."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data.columns import to_arrow
from sdckit.errors import DataError

__all__ = ["n_differing"]


def n_differing(before: nw.DataFrame[Any], after: nw.DataFrame[Any]) -> dict[str, int]:
    """Count the values of each column of `before` that row by row are others in `after`, or not there.

    A number and the same number in another type do not differ, a number and a text always do. Missing is a
    value like others here: two missing ones do not differ.

    Raises `DataError`: the frames have different numbers of rows.

    >>> import polars as pl
    >>> before = nw.from_native(pl.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1, 2]}))
    >>> after = nw.from_native(pl.DataFrame({"a": [1.0, 3.0], "b": ["x", "y"]}))
    >>> n_differing(before, after)
    {'a': 1, 'b': 1, 'c': 2}
    """
    if len(before) != len(after):
        raise DataError(f"the files have {len(before)} and {len(after)} rows; they cannot be compared by row")
    return {
        name: _count(to_arrow(before[name]), to_arrow(after[name])) if name in after.columns else len(before)
        for name in before.columns
    }


def _count(before: Any, after: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    first, second = _simple(before), _simple(after)
    gone = np.asarray(pc.xor(first.is_null(), second.is_null()))
    if first.type != second.type:
        there = np.asarray(pc.or_(first.is_valid(), second.is_valid()))
        return int(there.sum())
    if pa.types.is_nested(first.type):
        return sum(one != other for one, other in zip(first.to_pylist(), second.to_pylist(), strict=True))
    other = np.asarray(pc.fill_null(pc.not_equal(first, second), False))
    if pa.types.is_floating(first.type):
        nan = np.asarray(pc.fill_null(pc.and_(pc.is_nan(first), pc.is_nan(second)), False))
        other = other & ~nan
    return int(np.count_nonzero(gone | other))


def _simple(array: Any) -> Any:
    """Numbers as floats where they fit, text as text: what is the same value is of the same type."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = _simple(array.dictionary).take(array.indices)
    kind = array.type
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return array.cast(pa.float64(), safe=False)
    if pa.types.is_integer(kind):
        return array.cast(pa.float64(), safe=False)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return array.cast(pa.large_string()) if text else array
