"""Which values of each column differ between a frame and a changed one with the same rows, and how many."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import to_arrow
from sdckit.errors import DataError


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
        name: int(np.count_nonzero(differing(to_arrow(before[name]), to_arrow(after[name]))))
        if name in after.columns else len(before)
        for name in before.columns
    }  # fmt: skip


def differing(before: Any, after: Any) -> NDArray[np.bool_]:
    """Which values of an Arrow array are others in another one, told as in `n_differing`.

    >>> import pyarrow as pa
    >>> differing(pa.array(["x", None, "y"]), pa.array(["x", "z", "y"]).dictionary_encode()).tolist()
    [False, True, False]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    first, second = _simple(before), _simple(after)
    gone = np.asarray(pc.xor(first.is_null(), second.is_null()))
    if first.type != second.type:
        there: NDArray[np.bool_] = np.asarray(pc.or_(first.is_valid(), second.is_valid()))
        return there
    if pa.types.is_nested(first.type):
        pairs = zip(first.to_pylist(), second.to_pylist(), strict=True)
        return np.array([one != other for one, other in pairs], np.bool_)
    other = np.asarray(pc.fill_null(pc.not_equal(first, second), False))
    if pa.types.is_floating(first.type):
        nan = np.asarray(pc.fill_null(pc.and_(pc.is_nan(first), pc.is_nan(second)), False))
        other = other & ~nan
    found: NDArray[np.bool_] = gone | other
    return found


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
