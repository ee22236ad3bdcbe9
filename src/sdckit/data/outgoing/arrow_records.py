"""Arrow tables and columns with nothing but their records."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data.outgoing.in_use import InUse, in_use

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_use(table: pa.Table) -> dict[str, InUse]:
    """Categories of the dictionary columns."""
    return {name: use for name in table.column_names if (use := column_use(table[name])) is not None}


def column_use(column: pa.ChunkedArray) -> InUse | None:
    """Categories of a column, those of its first chunk first; None where it is no dictionary."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return None
    one = _unified(column)
    return in_use(one.dictionary.to_pylist(), one.indices.drop_null().to_numpy().astype(np.int64))


def arrow_records(table: pa.Table, use: Mapping[str, InUse]) -> pa.Table:
    """A table without metadata, of columns without anything that no record shows."""
    import pyarrow as pa

    columns = {name: arrow_column(table[name], use.get(name)) for name in table.column_names}
    fields = [
        pa.field(field.name, columns[field.name].type, nullable=field.nullable) for field in table.schema
    ]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def arrow_column(column: pa.ChunkedArray, use: InUse | None) -> pa.ChunkedArray:
    """A column without anything that no record shows; `use` says which categories a dictionary keeps."""
    import pyarrow as pa

    plain = without_dictionaries(column.type)
    if use is None and plain != column.type:
        column = column.cast(plain)
    if use is None:
        return pa.chunked_array([bare_array(chunk) for chunk in column.chunks], column.type)
    one = _unified(column)
    indices = bare_array(one.indices)
    dictionary = one.dictionary
    if not use.all_used:
        dictionary = dictionary.take(pa.array(use.places))
        indices = pa.array(use.new_place).take(indices).cast(column.type.index_type)
    made = pa.DictionaryArray.from_arrays(indices, bare_array(dictionary), ordered=column.type.ordered)
    return pa.chunked_array([made.cast(column.type)])


def _unified(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """One dictionary for all chunks."""
    import pyarrow as pa

    if column.num_chunks == 0:
        return pa.array([], column.type)
    found = column.unify_dictionaries().combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def bare_array(array: pa.Array) -> pa.Array:
    """The same values in memory of their own, zeros beneath the missing ones."""
    import pyarrow as pa

    if array.null_count == 0 and array.get_total_buffer_size() <= array.nbytes:
        return array
    missing = array.is_null().to_numpy(zero_copy_only=False)
    rows = pa.array(np.arange(len(array)), mask=missing)
    wide = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(array.type)
    if wide is not None:
        return array.cast(wide).take(rows).cast(array.type)
    if not (pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type)):
        with contextlib.suppress(pa.ArrowException):
            return array.take(rows)
    return pa.array(array.to_pylist(), array.type)  # kinds that would share their values, or are only read


def without_dictionaries(kind: pa.DataType) -> Any:
    """A nested type with plain values where it has dictionaries; other types as they are."""
    import pyarrow as pa
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
