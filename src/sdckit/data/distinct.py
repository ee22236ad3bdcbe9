"""The distinct values of a column as Python values, and which of them each record has."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import code_column, to_arrow, type_words
from sdckit.errors import DataError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Distinct:
    """The values that a column holds."""

    values: list[Any]  # each value once; those of a categorical column in the order of its categories
    codes: NDArray[np.int64]  # shape (n,); place of each record's value in `values`; -1 where missing
    kind: str  # "number", "text", "boolean", "date", "other", or "empty" where every value is missing
    category: bool  # whether the column is categorical

    def counts(self) -> NDArray[np.int64]:
        """Records of each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def distinct_values(series: nw.Series[Any]) -> Distinct:
    """Find the distinct values of a column; NaN is missing, 0.0 and -0.0 are one value.

    Raises `DataError`: the column mixes types, or holds lists or structures.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> found = distinct_values(open_frame(pl.DataFrame({"x": ["b", "a", None, "b"]}))["x"])
    >>> found.values, found.codes.tolist(), found.kind
    (['b', 'a'], [0, 1, -1, 0], 'text')
    """
    import pyarrow as pa
    import pyarrow.types as t

    array = to_arrow(series)
    category = t.is_dictionary(array.type)
    if not category:
        array = _encoded(series.name, array)
    values, codes = array.dictionary, array.indices
    if isinstance(values.type, pa.BaseExtensionType):  # intervals of pandas, say: by their text
        coded = code_column(series)
        found = coded.codes()
        places = np.where(found < coded.span, found, -1)
        return _used(coded.labels(np.arange(coded.span)), places, "text", category)
    if t.is_nested(values.type):
        raise DataError(
            f"column {series.name!r} holds {type_words(values.type)}: a variable needs one plain value per record"
        )
    places = np.asarray(codes.cast(pa.int64()).fill_null(-1))
    return _used(values.to_pylist(), places, _kind(values.type), category)


def _encoded(name: str, array: pa.Array) -> pa.DictionaryArray:
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_nested(array.type):
        raise DataError(
            f"column {name!r} holds {type_words(array.type)}: a variable needs one plain value per record"
        )
    for view, plain in ((pa.string_view(), pa.large_string()), (pa.binary_view(), pa.large_binary())):
        array = array.cast(plain) if array.type == view else array
    return array.dictionary_encode()


def _used(values: list[Any], codes: NDArray[np.int64], kind: str, category: bool) -> Distinct:
    """Leave out values that no record has, and bring equal ones together."""
    present = np.bincount(codes[codes >= 0], minlength=len(values)) > 0
    place = np.full(len(values) + 1, -1, np.int64)  # the last one: missing
    kept: dict[Any, int] = {}
    for i in np.flatnonzero(present).tolist():
        value = values[i]
        if value is not None and value == value:  # noqa: PLR0124 - NaN is missing
            place[i] = kept.setdefault(value, len(kept))
    return Distinct(list(kept), place[codes], kind if kept else "empty", category)


def _kind(arrow_type: pa.DataType) -> str:
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_boolean(arrow_type):
        return "boolean"
    if t.is_integer(arrow_type) or t.is_floating(arrow_type) or t.is_decimal(arrow_type):
        return "number"
    if t.is_string(arrow_type) or t.is_large_string(arrow_type) or arrow_type == pa.string_view():
        return "text"
    return "date" if t.is_temporal(arrow_type) else "other"


def kind_of_value(value: Hashable) -> str:
    """The kind of column that could hold a value.

    >>> [kind_of_value(value) for value in (1, 2.5, "a", True, None)]
    ['number', 'number', 'text', 'boolean', 'empty']
    """
    if value is None:
        return "empty"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, (Real, Decimal)):
        return "number"
    if isinstance(value, str):
        return "text"
    return "date" if isinstance(value, date) else "other"
