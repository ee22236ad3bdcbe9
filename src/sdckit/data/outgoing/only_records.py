"""The only exit of a protected frame: strips everything but its records.

A frame stores more than it shows. An unused category together with one missing value reveals the suppressed value; so
do the bytes beneath a null, the string buffer behind a filtered column and the metadata of a schema.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.data import frames, pa, pd, pl
from sdckit.data.columns import as_mask, numbers_as_arrow

# Declared categories of a column, and which of them are in use.


@dataclass(frozen=True, eq=False)
class InUse:
    """Declared categories of one column, and which are in use."""

    declared: list[Any]  # in their order
    used: NDArray[np.bool_]  # shape (number declared,)

    @property
    def all_used(self) -> bool:
        """Whether all categories are in use."""
        return bool(self.used.all())

    @property
    def places(self) -> NDArray[np.int64]:
        """Indices of the categories in use."""
        return np.flatnonzero(self.used)

    @property
    def kept(self) -> list[Any]:
        """Categories in use, in order."""
        return [self.declared[i] for i in self.places]

    @property
    def new_place(self) -> NDArray[np.int64]:
        """New index of each category among those kept; undefined for unused ones."""
        return np.cumsum(self.used) - 1

    def joined(self, other: InUse) -> InUse:
        """Union of the categories in use in two files."""
        return replace(self, used=self.used | other.used)


def in_use(declared: list[Any], codes: NDArray[Any]) -> InUse:
    """Find which declared categories occur among the codes (nulls excluded).

    >>> in_use(["S", "M", "L"], np.array([2, 0, 2])).kept
    ['S', 'L']
    """
    return InUse(declared, np.bincount(codes, minlength=len(declared)) > 0)


# Arrow tables and columns.


def arrow_use(table: pa.Table) -> dict[str, InUse]:
    """Categories in use of the dictionary columns."""
    return {name: use for name in table.column_names if (use := column_use(table[name])) is not None}


def column_use(column: pa.ChunkedArray) -> InUse | None:
    """Categories in use of a column, those of its first chunk first; None if it is not a dictionary."""
    if not pa.types.is_dictionary(column.type):
        return None
    unified = _unified(column)
    return in_use(unified.dictionary.to_pylist(), unified.indices.drop_null().to_numpy().astype(np.int64))


def arrow_records(table: pa.Table, use: Mapping[str, InUse]) -> pa.Table:
    """A table of stripped columns, without metadata."""
    columns = {name: arrow_column(table[name], use.get(name)) for name in table.column_names}
    fields = [pa.field(field.name, columns[field.name].type, nullable=field.nullable) for field in table.schema]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def arrow_column(column: pa.ChunkedArray, use: InUse | None) -> pa.ChunkedArray:
    """Strip a column to what its records show; `use`: the categories that a dictionary keeps."""
    plain = without_dictionaries(column.type)
    if use is None and plain != column.type:
        column = column.cast(plain)
    if use is None:
        return pa.chunked_array([bare_array(chunk) for chunk in column.chunks], column.type)
    unified = _unified(column)
    indices = bare_array(unified.indices)
    dictionary = unified.dictionary
    if not use.all_used:
        dictionary = dictionary.take(pa.array(use.places))
        indices = pa.array(use.new_place).take(indices).cast(column.type.index_type)
    made = pa.DictionaryArray.from_arrays(indices, bare_array(dictionary), ordered=column.type.ordered)
    return pa.chunked_array([made.cast(column.type)])


def _unified(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Unify the dictionaries of all chunks."""
    if column.num_chunks == 0:
        return pa.array([], column.type)
    combined = column.unify_dictionaries().combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def bare_array(array: pa.Array) -> pa.Array:
    """Copy values to fresh buffers, with zeros beneath nulls."""
    if array.null_count == 0 and array.get_total_buffer_size() <= array.nbytes and not _has_bits(array):
        return array
    valid = as_mask(array.is_valid()) if array.null_count else None
    rows = numbers_as_arrow(np.arange(len(array)), valid=valid)
    wide = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(array.type)
    if wide is not None:
        return array.cast(wide).take(rows).cast(array.type)
    if not (pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type)):
        with contextlib.suppress(pa.ArrowException):
            return array.take(rows)
    return pa.array(array.to_pylist(), array.type)  # types whose take would share buffers, or is not implemented


def _has_bits(array: pa.Array) -> bool:
    """Whether some of its buffers hold a bit for each row: of a slice the last byte holds those of the next rows."""
    masked = any(buffer is not None for buffer in array.buffers()[:1])
    return masked or bool(pa.types.is_boolean(array.type) or pa.types.is_nested(array.type))


def without_dictionaries(kind: pa.DataType) -> Any:
    """Replace dictionary types within a nested type by their value types."""
    import pyarrow.types as t

    if t.is_struct(kind):
        return pa.struct([_plain_field(kind.field(i)) for i in range(kind.num_fields)])
    for is_kind, make in (
        (t.is_list, pa.list_), (t.is_large_list, pa.large_list),
        (t.is_fixed_size_list, lambda field: pa.list_(field, kind.list_size)),
    ):  # fmt: skip
        if is_kind(kind):
            return make(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    import pyarrow.types as t

    kind = field.type.value_type if t.is_dictionary(field.type) else without_dictionaries(field.type)
    return field.with_type(kind).remove_metadata()


# pandas frames.


MASKED = ("Int", "UInt", "Float", "boolean")  # extension types stored as values with a mask


def pandas_use(frame: pd.DataFrame) -> dict[str, InUse]:
    """Categories in use of categorical columns and of Arrow dictionary columns."""
    uses = {}
    for name in frame.columns:
        series = frame[name]
        if isinstance(series.dtype, pd.CategoricalDtype):
            codes = np.asarray(series.cat.codes)
            uses[name] = in_use(list(series.cat.categories), codes[codes >= 0])
        elif isinstance(series.dtype, pd.ArrowDtype):
            use = column_use(_arrow(series))
            uses |= {} if use is None else {name: use}
    return uses


def pandas_records(frame: pd.DataFrame, use: Mapping[str, InUse]) -> pd.DataFrame:
    """A frame of stripped columns; its index keeps its values."""
    out = frame.copy(deep=False)
    out.attrs = {}
    out.columns, out.index = _index(frame.columns).rename(None), _index(frame.index)
    for name in frame.columns:
        series = _bare_pandas(frame[name], use.get(name))
        if series is not None:
            series.index = out.index
            out[name] = series
    return out


def _index(index: pd.Index) -> Any:
    if isinstance(index, pd.MultiIndex):
        return index.remove_unused_levels()
    return index.remove_unused_categories() if isinstance(index, pd.CategoricalIndex) else index


def _bare_pandas(series: pd.Series, use: InUse | None) -> pd.Series | None:
    """The stripped column, or None if there is nothing to strip."""
    from pandas.api.extensions import ExtensionArray

    if isinstance(series.dtype, pd.CategoricalDtype):
        assert use is not None
        return None if use.all_used else series.cat.set_categories(series.cat.categories[use.places])
    if hasattr(series.array, "__arrow_array__") and _on_arrow(series):
        return pd.Series(series.dtype.__from_arrow__(arrow_column(_arrow(series), use)))
    missing = series.isna().to_numpy()
    if isinstance(series.dtype, np.dtype) or not missing.any() or not _masked(series):
        return None
    array: ExtensionArray = series.array.copy()
    array[missing] = False if series.dtype == "boolean" else 0  # else the values beneath the mask survive
    array[missing] = pd.NA
    return pd.Series(array)


def _masked(series: pd.Series) -> bool:
    return series.dtype.name.rstrip("0123456789") in MASKED


def _on_arrow(series: pd.Series) -> bool:
    storage = getattr(series.dtype, "storage", None)
    return isinstance(series.dtype, pd.ArrowDtype) or storage == "pyarrow"


def _arrow(series: pd.Series) -> Any:
    array = series.array.__arrow_array__()
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


# Polars frames.


def polars_use(frame: pl.DataFrame) -> dict[str, InUse]:
    """Categories in use of Enum columns; a Categorical stores no declared ones outside this process."""
    return {  # renamed meanwhile: Polars reads some names as patterns
        name: in_use(kind.categories.to_list(), frame[name].alias("x").to_physical().drop_nulls().unique().to_numpy())
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.Enum)
    }


def polars_records(frame: pl.DataFrame, use: Mapping[str, InUse]) -> pl.DataFrame:
    """A frame of stripped columns."""
    # Numbered meanwhile: Polars reads some names as patterns.
    columns = [
        _bare_polars(series.alias(str(number)), use.get(series.name))
        for number, series in enumerate(frame.get_columns())
    ]
    if not columns:
        return frame
    bare = pl.DataFrame(columns)
    bare.columns = frame.columns
    return bare


def _bare_polars(series: pl.Series, use: InUse | None) -> pl.Series:
    kind = series.dtype
    if kind == pl.Object:
        return series
    if kind in (pl.String, pl.Binary):
        return _own_memory(series)
    if series.null_count() or kind == pl.Boolean:  # of a slice the last byte of yes-no values holds the next rows'
        rows = pl.int_range(len(series), eager=True)
        series = series.gather(rows.set(series.is_null(), None))
    if kind.is_nested():
        return _own_memory(series.cast(_plain(kind)))
    if use is None or use.all_used:
        return series
    return series.cast(pl.String).cast(pl.Enum(use.kept))


def _own_memory(series: pl.Series) -> pl.Series:
    """Copy texts or lists to buffers of their own."""
    try:
        array = series.to_arrow(compat_level=pl.CompatLevel.oldest())
    except (pa.ArrowException, pl.exceptions.PolarsError):  # kinds that Arrow does not know
        return pl.Series(series.name, series.to_list(), dtype=series.dtype)
    return pl.Series(series.name, bare_array(array))


def _plain(kind: Any) -> Any:
    """Replace categorical types within a nested type by text."""
    if isinstance(kind, pl.Struct):
        return pl.Struct([pl.Field(field.name, _plain(field.dtype)) for field in kind.fields])
    if isinstance(kind, pl.List):
        return pl.List(_plain(kind.inner))
    if isinstance(kind, pl.Array):
        return pl.Array(_plain(kind.inner), kind.size)
    return pl.String if isinstance(kind, (pl.Enum, pl.Categorical)) else kind


# Lazy frames.


def plan_records(plan: Any) -> Any:
    """A lazy frame with categories as text, and without column metadata.

    Which categories are in use is only known when the lazy frame is executed; writing all declared ones would reveal
    suppressed values.

    >>> import polars as pl
    >>> sizes = pl.LazyFrame({"size": pl.Series(["S"], dtype=pl.Enum(["S", "M"]))})
    >>> plan_records(sizes).collect_schema()['size']
    String
    """
    frame: Any = frames.open_frame(plan)
    schema = frame.collect_schema()
    named = [nw.col(name).cast(nw.String) if kind.base_type() in (nw.Categorical, nw.Enum) else nw.col(name)
             for name, kind in schema.items()]  # fmt: skip
    native = frame.select(*named).to_native()
    if not frames.on_spark(frame):
        return native
    from pyspark.sql import functions

    return native.select(*(functions.col(f"`{name}`").alias(name, metadata={}) for name in schema.names()))


_ON_THE_WAY: ContextVar[list[bool] | None] = ContextVar("on_the_way", default=None)


@contextlib.contextmanager
def on_the_way() -> Iterator[list[bool]]:
    """Frames that steps of a recipe hand to each other are stripped after the last one, where no step can see it.

    The list is empty as long as nothing was left to strip: else the caller owes `only_records` before the frame goes
    on. Stripping copies every text, and a step changes few columns.
    """
    owed: list[bool] = []
    token = _ON_THE_WAY.set(owed)
    try:
        yield owed
    finally:
        _ON_THE_WAY.reset(token)


def records_of_step(data: Any) -> Any:
    """`only_records`; between the steps of a recipe only of what a further step could see in a Polars frame."""
    owed = _ON_THE_WAY.get()
    frame: Any = None if owed is None or isinstance(data, list) else frames.open_frame(data)
    if owed is None or frame is None or frames.is_lazy(frame) or not frame.implementation.is_polars():
        return only_records(data)
    owed.append(True)
    native = nw.to_native(frame)
    use = polars_use(native)
    seen = [
        name for name, kind in native.schema.items() if kind.is_nested() or (name in use and not use[name].all_used)
    ]
    made = polars_records(native[seen], use)
    return native.with_columns(made.get_columns()) if seen else data


def only_records(data: Any) -> Any:
    """Strip a frame, or a list of frames, of everything but its records; in a lazy frame categories become text.

    Unused categories are removed (the others keep their order), and with them the bytes beneath nulls, unused texts in
    buffers, values outside a slice, and metadata (``attrs``, of schema and fields). The input is not changed. Frames of
    a list that declare the same categories keep those in use in any of them, so that they stay compatible.

    >>> import polars as pl
    >>> sizes = pl.DataFrame({"size": pl.Series(["S", None, "L"], dtype=pl.Enum(["S", "M", "L"]))})
    >>> only_records(sizes)["size"].dtype
    Enum(categories=['S', 'L'])
    """
    if not isinstance(data, list):
        return _bare(data, _use(data))
    uses = [_use(frame) for frame in data]
    return [_bare(frame, _together(use, uses)) for frame, use in zip(data, uses, strict=True)]


def _use(data: Any) -> dict[str, InUse]:
    frame: Any = frames.open_frame(data)
    if frames.is_lazy(frame):
        return {}
    native = nw.to_native(frame)
    if frame.implementation.is_pandas():
        return pandas_use(native)
    if frame.implementation.is_polars():
        return polars_use(native)
    return arrow_use(native) if frame.implementation.is_pyarrow() else {}


def _bare(data: Any, use: Mapping[str, InUse]) -> Any:
    frame: Any = frames.open_frame(data)
    if frames.is_lazy(frame):
        return plan_records(frame)
    native = nw.to_native(frame)
    if frame.implementation.is_pandas():
        return pandas_records(native, use)
    if frame.implementation.is_polars():
        return polars_records(native, use)
    return arrow_records(native, use) if frame.implementation.is_pyarrow() else native


def _together(own: Mapping[str, InUse], all_files: Sequence[Mapping[str, InUse]]) -> dict[str, InUse]:
    """Categories in use in this file, or in others that declare the same ones."""
    joint = dict(own)
    for other in all_files:
        for name, mine in own.items():
            if name in other and other[name].declared == mine.declared:
                joint[name] = joint[name].joined(other[name])
    return joint
