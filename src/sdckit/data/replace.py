"""Replace columns of a frame, keeping the other columns, the row order and the caller's type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import arguments, pa, pc, pd, pl, pt
from sdckit.data.columns import as_floats, to_arrow
from sdckit.data.frames import is_lazy, open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Floats, Ints, Values

FEW = 1 << 12  # levels
NULLABLE = {"i": "Int64", "u": "UInt64", "b": "boolean"}  # pandas: a plain integer column has no missing values


def open_eager(data: Any, columns: Mapping[str, Sequence[str]]) -> nw.DataFrame[Any]:
    """Open an in-memory frame to change it; `columns` names the columns that must exist, by role.

    Raises `DataError`: a lazy frame, or a frame without records; `ColumnError`: a column is absent.
    """
    frame = open_frame(data)
    if is_lazy(frame):
        raise DataError(
            "a plan cannot be changed in place; bring it into memory first (collect it), or apply a recipe: those take "
            "plans"
        )
    assert isinstance(frame, nw.DataFrame)
    for role, names in columns.items():
        arguments.present(names, frame.columns, role)
    if len(frame) == 0:
        raise DataError("the data has no records")
    return frame


def take_rows(frame: nw.DataFrame[Any], source: Mapping[str, Ints]) -> Any:
    """Replace columns by values of other rows: for each column, the row indices (n,); -1 for missing.

    >>> import polars as pl
    >>> take_rows(open_frame(pl.DataFrame({"x": ["a", "b", "c"]})), {"x": np.array([1, 1, -1])})["x"].to_list()
    ['b', 'b', None]
    """
    return _set(frame, {name: _taken(frame, name, rows) for name, rows in source.items()})


def lend_rows(frame: nw.DataFrame[Any], lender: nw.DataFrame[Any], source: Mapping[str, Ints]) -> Any:
    """Replace columns by values of the rows of another frame: row indices (n,) by column; -1 for missing.

    >>> import polars as pl
    >>> frame, lender = open_frame(pl.DataFrame({"x": [1, 2, 3]})), open_frame(pl.DataFrame({"x": [7, 8]}))
    >>> lend_rows(frame, lender, {"x": np.array([1, 1, 0])})["x"].to_list()
    [8, 8, 7]
    """
    return _set(frame, {name: _taken(lender, name, rows) for name, rows in source.items()})


def pick_rows(frame: nw.DataFrame[Any], rows: Ints, columns: Sequence[str] | None = None) -> Any:
    """Select rows by index, optionally some columns; a pandas index is reset, since it would reveal the order.

    >>> import polars as pl
    >>> pick_rows(open_frame(pl.DataFrame({"x": [1, 2, 3]})), np.array([2, 0]))["x"].to_list()
    [3, 1]
    """
    native = (frame if columns is None else frame[list(columns)]).to_native()
    if frame.implementation.is_pandas_like():
        return native.take(rows).reset_index(drop=True)
    return native[rows] if frame.implementation.is_polars() else native.take(rows)


def beside_originals(frame: nw.DataFrame[Any], changed: Any, names: Sequence[str], suffix: Any) -> Any:
    """Add changed columns beside the original ones, under their names with a suffix.

    Raises `ColumnError`: the suffix is not a string, or a resulting name is taken.

    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"x": [1]}))
    >>> beside_originals(frame, pl.DataFrame({"x": [2]}), ["x"], "_masked").to_dict(as_series=False)
    {'x': [1], 'x_masked': [2]}
    """
    if not isinstance(suffix, str) or not suffix:
        raise ColumnError("suffix is the text after a column's name, such as '_masked'", argument="suffix")
    if taken := [name + suffix for name in names if name + suffix in frame.columns]:
        raise ColumnError(f"suffix: there is a column {taken[0]!r} already; choose another", argument="suffix")
    other = open_eager(changed, {})
    return frame.with_columns(*(other[name].alias(name + suffix) for name in names)).to_native()


def with_numbers(frame: nw.DataFrame[Any], columns: Mapping[str, Floats]) -> Any:
    """Replace columns by numbers (n,), NaN as missing.

    A column keeps its type; an integer column becomes float where a number is not whole or out of range.

    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"x": [1, 2], "y": [1, 2]}))
    >>> with_numbers(frame, {"x": np.array([3.0, np.nan]), "y": np.array([0.5, 2.0])}).dtypes
    [Int64, Float64]
    """
    made = {}
    for name, values in columns.items():
        array = pa.array(values, mask=np.isnan(values))
        made[name] = _as_type(array, _number_type(frame[name], values), frame, name)
    return _set(frame, made)


def with_column_of(frame: nw.DataFrame[Any], series: nw.Series[Any]) -> nw.DataFrame[Any]:
    """Add a column of another frame of the same length, of any engine.

    >>> import polars as pl
    >>> frame, other = open_frame(pl.DataFrame({"age": [31, 45]})), open_frame(pl.DataFrame({"id": ["a", "b"]}))
    >>> with_column_of(frame, other["id"]).columns
    ['age', 'id']
    """
    return with_new_column(frame, series.name, series.to_list())


def with_new_column(frame: nw.DataFrame[Any], name: str, values: Sequence[Any] | Values) -> nw.DataFrame[Any]:
    """Add a column of values, None where one is missing.

    >>> import polars as pl
    >>> with_new_column(open_frame(pl.DataFrame({"age": [31, 45]})), "sex", ["f", None]).columns
    ['age', 'sex']
    """
    return frame.with_columns(nw.new_series(name, values, backend=frame.implementation))


def with_some_numbers(frame: nw.DataFrame[Any], columns: Mapping[str, tuple[Bools, Floats]]) -> Any:
    """Replace numbers in some records of numeric columns; all other values stay exactly equal.

    A column keeps its type; an integer column becomes float where a new number is not whole or out of range.
    Decimals are rounded to the scale of the column.

    `columns`: by name, the mask of the records that change (n,) and their new numbers (number that change,), NaN as
    missing.

    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"x": [1, 2**60 + 1]}))
    >>> with_some_numbers(frame, {"x": (np.array([True, False]), np.array([7.0]))})["x"].to_list()
    [7, 1152921504606846977]
    """
    made = {}
    for name, (hit, numbers) in columns.items():
        array = to_arrow(frame[name])
        kept = True
        try:
            new = pa.array(numbers, mask=np.isnan(numbers)).cast(array.type)
        except pa.ArrowException:  # a column without any value has no type
            new = pa.array(numbers, mask=np.isnan(numbers))
            array, kept = as_floats(array), False
        array = pc.replace_with_mask(array, pa.array(hit), new)
        own = frame[name].dtype if kept and frame.implementation.is_pandas_like() else None
        made[name] = _as_type(array, own, frame, name)
    return _set(frame, made)


def as_held(series: nw.Series[Any], numbers: Floats) -> Floats:
    """Numbers as a column stores them: rounded to single precision for a Float32 column.

    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"x": [0.1]}, schema={"x": pl.Float32}))
    >>> as_held(frame["x"], np.array([0.1])).tolist()
    [0.10000000149011612]
    """
    return numbers.astype(np.float32).astype(np.float64) if series.dtype == nw.Float32 else numbers


def with_levels(
    frame: nw.DataFrame[Any], columns: Mapping[str, tuple[Sequence[Any], Ints]], *, ordered: bool = False
) -> Any:
    """Replace columns by new values, given as levels and the index of each record's level (n,), -1 for missing.

    A column keeps its type where the levels are of that type; a categorical column gets the levels as categories.
    Levels may be an Arrow array. `ordered` makes an ordered categorical of text levels, whatever the column was.

    >>> import polars as pl
    >>> frame = open_frame(pl.DataFrame({"age": [31, 45, 33]}))
    >>> with_levels(frame, {"age": (["30-39", "40-49"], np.array([0, 1, 0]))})["age"].to_list()
    ['30-39', '40-49', '30-39']
    """
    made = {}
    for name, (levels, codes) in columns.items():
        try:
            listed = levels if isinstance(levels, pa.Array) else pa.array(list(levels))
            values = listed if len(levels) else pa.nulls(1)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise DataError(f"column {name!r}: its new values are of mixed types; give one type") from None
        if ordered or _takes_categories(frame, name, values):
            made[name] = _categories(frame, name, values, codes, ordered=ordered)
            continue
        array = values.take(pa.array(codes, mask=codes < 0))
        made[name] = _as_type(array, _level_type(frame[name].dtype, values), frame, name)
    return _set(frame, made)


def _taken(frame: nw.DataFrame[Any], name: str, rows: Ints) -> Any:
    native = frame.get_column(name).to_native()
    gone = rows < 0
    if frame.implementation.is_pandas_like():
        if gone.any() and getattr(native.dtype, "kind", "") in NULLABLE and isinstance(native.dtype, np.dtype):
            native = native.astype(NULLABLE[native.dtype.kind])
        taken = native.take(np.maximum(rows, 0)).reset_index(drop=True)
        return taken.mask(gone) if gone.any() else taken
    if frame.implementation.is_polars():
        index = pl.Series(rows).cast(pl.Int64)
        plainly = native.alias("values")  # methods of a series read a pattern in its name, too
        return plainly.gather(index.set(pl.Series(gone), None) if gone.any() else index).alias(native.name)
    return native.take(pa.array(rows, mask=gone))


def _number_type(series: nw.Series[Any], values: Floats) -> Any:
    """The column's own type if it can hold the numbers, else None."""
    dtype = series.dtype
    if dtype.is_float():
        return dtype
    if not dtype.is_integer():
        return None
    known = values[~np.isnan(values)]
    bits = int("".join(filter(str.isdigit, str(dtype))))
    low, high = (0, 2**bits - 1) if dtype.is_unsigned_integer() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    fits = len(known) == 0 or ((known == np.floor(known)).all() and low <= known.min() and known.max() <= high)
    return dtype if fits and bits <= 64 else None


def _level_type(dtype: Any, levels: Any) -> Any:
    """The column's own type if it can hold the levels, else None."""
    if pt.is_null(levels.type):  # no value is left
        plain = isinstance(dtype, (nw.String, nw.Boolean, nw.Categorical, nw.Enum))
        return dtype if plain or dtype.is_integer() or dtype.is_float() else None
    if pt.is_string(levels.type):
        return dtype if isinstance(dtype, nw.String) else None
    if pt.is_boolean(levels.type):
        return dtype if isinstance(dtype, nw.Boolean) else None
    if not (pt.is_integer(levels.type) or pt.is_floating(levels.type)):
        return None
    if dtype.is_integer() and pt.is_integer(levels.type):
        try:
            levels.cast(getattr(pa, str(dtype).lower())())
        except (AttributeError, pa.ArrowInvalid):
            return None
        return dtype
    return dtype if dtype.is_float() else None


def _takes_categories(frame: nw.DataFrame[Any], name: str, levels: Any) -> bool:
    """Whether a column is categorical and can take the levels as categories."""
    if not isinstance(frame[name].dtype, (nw.Categorical, nw.Enum)):
        return False
    return pt.is_string(levels.type) or not frame.implementation.is_polars()


def _categories(frame: nw.DataFrame[Any], name: str, levels: Any, codes: Ints, *, ordered: bool) -> Any:
    """A categorical column of the frame's engine; ordered if requested, or if it was before."""
    native = frame[name].to_native()
    if frame.implementation.is_pandas_like() and not _arrow_backed(native):
        ordered = ordered or bool(getattr(native.dtype, "ordered", False))
        return pd.Series(pd.Categorical.from_codes(codes, categories=levels.drop_null().to_pandas(), ordered=ordered))
    if frame.implementation.is_polars():
        own = isinstance(native.dtype, pl.Categorical) and not ordered
        places = pa.array(codes, mask=codes < 0)
        few = not own and levels.null_count == 0 and len(levels) <= FEW  # then categories are cast sooner than texts
        values = pa.DictionaryArray.from_arrays(places.cast(pa.int32()), levels) if few else levels.take(places)
        return pl.Series(name, values).cast(native.dtype if own else pl.Enum(levels.to_pylist()))
    before = to_arrow(frame[name]).type
    own = pa.types.is_dictionary(before)
    places = pa.array(codes, mask=codes < 0).cast(pa.int32())
    if own and (pt.is_null(levels.type) or (before.value_type == pa.large_string() and pt.is_string(levels.type))):
        levels = levels.cast(before.value_type)
    made = pa.DictionaryArray.from_arrays(places, levels, ordered=ordered or (own and before.ordered))
    if frame.implementation.is_pandas_like():
        return pd.Series(pd.arrays.ArrowExtensionArray(made))
    return pa.chunked_array([made])


def _arrow_backed(native: Any) -> bool:
    return isinstance(native.dtype, pd.ArrowDtype)


def _as_type(array: Any, dtype: Any, frame: nw.DataFrame[Any], name: str) -> Any:
    """An Arrow array as a series of the frame's engine."""
    if frame.implementation.is_pandas_like():
        return _pandas_series(array, dtype, frame[name].to_native())
    table = pa.table({"values": array})  # Polars would give an empty name another
    series = nw.DataFrame.from_arrow(table, backend=frame.implementation)["values"]
    return (series if dtype is None else series.cast(dtype)).to_native()


def _pandas_series(array: Any, dtype: Any, before: Any) -> Any:
    if _arrow_backed(before):
        own = before.dtype.pyarrow_dtype
        return pd.Series(pd.arrays.ArrowExtensionArray(array.cast(own) if dtype is not None else array))
    plain = isinstance(before.dtype, np.dtype)
    if dtype is not None and not plain and hasattr(before.dtype, "__from_arrow__"):
        # a detour through floats would round large integers
        return pd.Series(before.dtype.__from_arrow__(array))
    values = array.to_pandas()
    if dtype is None:
        return values
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


# Rows with frequencies: distinct rows counted by an engine, changed by the functions for in-memory frames.


@dataclass(frozen=True, eq=False)
class Tallied:
    """An in-memory frame of distinct rows with frequencies.

    `frame`: the rows. `counts` (rows,): number of records of each.
    """

    frame: Any
    counts: Ints


@dataclass(frozen=True, eq=False)
class Records:
    """The number of records that each row of a frame stands for: one, or its frequency."""

    rows: int
    counts: Ints | None

    @property
    def n(self) -> int:
        """Total number of records."""
        return self.rows if self.counts is None else int(self.counts.sum())

    def where(self, hit: Bools) -> int:
        """Number of records of the marked rows.

        >>> Records(3, None).where(np.array([True, False, True]))
        2
        >>> Records(3, np.array([5, 1, 7])).where(np.array([True, False, True]))
        12
        """
        return int(np.count_nonzero(hit)) if self.counts is None else int(self.counts[hit].sum())

    def by(self, group: Ints, n_groups: int, among: Bools | None = None) -> Ints:
        """Number of records in each group of rows (n_groups,); `among` restricts to some rows.

        >>> Records(3, np.array([5, 1, 7])).by(np.array([0, 1, 0]), 2).tolist()
        [12, 1]
        """
        chosen = group if among is None else group[among]
        if self.counts is None:
            return np.bincount(chosen, minlength=n_groups)
        counts = self.counts if among is None else self.counts[among]
        return np.bincount(chosen, counts, minlength=n_groups).astype(np.int64)

    def times(self, values: Floats, among: Bools) -> Floats:
        """Values times frequencies of the rows `among`; `values` are those of these rows only."""
        return values if self.counts is None else values * self.counts[among]

    def quantiles(self, values: Floats, at: Floats) -> Floats:
        """Quantiles (type 7) of the values of all records, NaN excluded.

        >>> records, values = Records(2, np.array([3, 1])), np.array([1.0, 9.0])
        >>> records.quantiles(values, np.array([0.5, 0.9])), np.quantile([1, 1, 1, 9], [0.5, 0.9])
        (array([1. , 6.6]), array([1. , 6.6]))
        """
        known = ~np.isnan(values)
        if self.counts is None:
            return np.quantile(values[known], at)
        order = np.argsort(values[known])
        held, ends = values[known][order], np.cumsum(self.counts[known][order])
        place = at * (ends[-1] - 1)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, ends[-1] - 1)
        low, high = (held[np.searchsorted(ends, rank, side="right")] for rank in (below, above))
        share = place - below
        return np.asarray(np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share)))


def open_records(data: Any, columns: Mapping[str, Sequence[str]]) -> tuple[Any, Records]:
    """Open an in-memory frame or a frame with frequencies to change it; as `open_eager`."""
    rows, counts = (data.frame, data.counts) if isinstance(data, Tallied) else (data, None)
    frame = open_eager(rows, columns)
    return frame, Records(len(frame), counts)
