"""Integer coding of columns of any type through Arrow, their levels, and values as floats or Python objects."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any, Literal, TypeGuard, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import pa, pc, pl, pt
from sdckit.data.frames import as_they_come
from sdckit.errors import DataError
from sdckit.numerics import coding, grouping
from sdckit.numerics.array_types import Bools, Bytes, Codes, Floats, Ints, Values
from sdckit.numerics.threads import run

# Order of the levels of a column: as its categories are declared, else by value.
# A pandas categorical, a Polars Enum, an Arrow dictionary and value labels have an order. A Polars Categorical has
# none: Polars sorts it lexically, and its physical codes depend on what was read before.


T = TypeVar("T")


def categories_of(coded: Coded) -> list[str]:
    """The declared categories of a column in order, used or not; empty for text, numbers and dates.

    Numeric categories are ordered by value, so they count as undeclared.
    """
    if coded.categories is None:
        return []
    categories = coded.categories.to_pylist()
    return categories if all(isinstance(category, str) for category in categories) else []


def joint_categories(files: Sequence[Coded]) -> list[str]:
    """Merge declared categories: the order of the first file, then those that only later files declare.

    >>> import polars as pl
    >>> from sdckit.data.columns import code_column
    >>> from sdckit.data.frames import open_frame
    >>> sizes = [pl.Series("x", ["M"], pl.Enum(["S", "M"])), pl.Series("x", ["L"], pl.Enum(["M", "L"]))]
    >>> joint_categories([code_column(open_frame(size.to_frame())["x"]) for size in sizes])
    ['S', 'M', 'L']
    """
    return list(dict.fromkeys(value for coded in files for value in categories_of(coded)))


def in_order(values: Collection[T], declared: Sequence[str] = ()) -> list[T]:
    """Sort distinct values by declared order; undeclared values follow, ascending.

    >>> in_order({"high", "low", "other", "any"}, ["low", "middle", "high"])
    ['low', 'high', 'any', 'other']
    """
    place = {value: i for i, value in enumerate(declared)}
    if not place:
        return sorted(values)  # type: ignore[type-var]
    known = sorted((value for value in values if value in place), key=lambda value: place[value])
    return [*known, *sorted(value for value in values if value not in place)]  # type: ignore[type-var]


def places_in_order(values: Sequence[str], declared: Sequence[str] = ()) -> list[int]:
    """Indices that sort distinct values as `in_order` does.

    >>> places_in_order(["b", "a", "c"], ["c", "b"])
    [2, 0, 1]
    """
    place = {value: i for i, value in enumerate(values)}
    return [place[value] for value in in_order(values, declared)]


ALL_VALID = np.empty(0, np.uint8)
DIRECT_SPAN = 1 << 32  # wider integer ranges are numbered by their distinct values
MIDNIGHT = " 00:00:00"  # a date as the moment at which it begins is the date
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "day": 86_400 * 10**9}


@dataclass(frozen=True, eq=False)
class Coded:
    """One column coded as integers."""

    name: str
    values: Values  # shape (n,); ``values - low`` is the code, 0 to span - 1
    valid: Bytes  # shape (n,); which values are present; empty when all are
    low: int  # offset
    span: int  # number of possible codes, and the code of a missing value
    n_missing: int  # missing values, NaN included
    kind: str  # "integer", "number", "text", "category", "date", "boolean" or "empty"
    levels: Any  # value of each code where it is not ``low + code``
    arrow_type: Any  # type the values had, to print them
    # every category in its order, used or not; None where the column brings no order of its own
    categories: Any = None
    ordered: bool = False  # whether that order means something: an Enum's may be that of codes

    @property
    def n_codes(self) -> int:
        """Number of codes, including that of a missing value if there is one."""
        return self.span + (self.n_missing > 0)

    @property
    def bits(self) -> int:
        """Bits needed to hold any code."""
        return max(0, self.n_codes - 1).bit_length()

    def codes(self, rows: Values | slice = slice(None)) -> Ints:
        """Codes (int64) of the selected rows; `span` where missing."""
        values = self.values[rows]
        if values.dtype == np.uint64:
            code = (values - np.uint64(self.low)).astype(np.int64)
        else:
            code = values.astype(np.int64) - self.low
        return code if len(self.valid) == 0 else np.where(self.valid[rows] != 0, code, self.span)

    def without_rows(self) -> Coded:
        """The same coding without the rows: enough to print levels."""
        return replace(self, values=self.values[:0].copy(), valid=ALL_VALID)

    def labels(self, codes: Ints) -> list[str]:
        """Labels of codes; a missing value is "(missing)"."""
        present = codes < self.span
        known = np.where(present, codes, 0)
        if self.levels is not None:
            levels = self.levels() if callable(self.levels) else self.levels
            values = _listed(levels.take(numbers_as_arrow(known))) if self.span else []
        elif self.kind == "date":
            stored = numbers_as_arrow(known + self.low).cast(_storage(self.arrow_type))
            values = _listed(stored.view(self.arrow_type))
        else:
            values = [code + self.low for code in known.tolist()]  # may exceed 64 bits
        if self.kind == "boolean":
            values = [bool(v) for v in values]
        values = values or [None] * len(codes)
        kinds = {*map(type, values)}
        texts = values if kinds == {str} else [*map(_printed if bytes in kinds else str, values)]
        return texts if present.all() else [v if ok else "(missing)" for v, ok in zip(texts, present, strict=True)]


def _listed(values: pa.Array) -> list[Any]:
    """Values as Python objects; dates outside the range of `datetime` as text: count and unit since 1970."""
    try:
        listed: list[Any] = values.to_pylist()
    except (OverflowError, ValueError):
        unit = getattr(values.type, "unit", "days")
        counts = values.cast(pa.int64() if values.type.bit_width == 64 else pa.int32())
        return [None if count is None else f"{count} {unit} since 1970" for count in counts.to_pylist()]
    return listed


def _printed(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _storage(arrow_type: pa.DataType) -> pa.DataType:
    return pa.int32() if arrow_type.bit_width == 32 else pa.int64()


def to_arrow(series: nw.Series[Any]) -> pa.Array:
    """The column as one Arrow array, zero-copy where the engine allows it."""
    engine = series.implementation if isinstance(series, nw.Series) else None  # None: a column of Polars as it is
    of_polars, of_pandas = engine is nw.Implementation.POLARS, engine is nw.Implementation.PANDAS
    if of_polars and series.to_native().dtype == pl.Object:
        raise DataError(f"column {series.name!r} holds Python objects; convert it to text or numbers first")
    try:
        # Polars aborts the process on a NUL in a name. It speaks Arrow itself: narwhals asks each time whether it does,
        # which takes longer than handing out a few hundred records.
        native = series.to_native() if of_polars or of_pandas else series
        chunked = _pandas_values(native) if of_pandas else pa.chunked_array(native.alias("values"))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"column {series.name!r} {_unread(series, error)}") from None
    if chunked.num_chunks == 1:
        return chunked.chunk(0)
    if pa.types.is_string(chunked.type) or pa.types.is_binary(chunked.type):  # 32-bit offsets may overflow
        chunked = chunked.cast(pa.large_string() if pa.types.is_string(chunked.type) else pa.large_binary())
    combined = chunked.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _pandas_values(native: Any) -> pa.ChunkedArray:
    """The values of a column of pandas, as its own `__arrow_c_stream__` hands them out.

    That looks for the version of PyArrow each time, which takes longer than a few thousand records.
    """
    values = native.to_numpy() if isinstance(native.dtype, np.dtype) else native.array
    own = isinstance(values, np.ndarray) or hasattr(values, "__arrow_array__")
    made = pa.array(values if own else native, from_pandas=True)
    return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])


def _unread(series: nw.Series[Any], error: Exception) -> str:
    """Why Arrow cannot hold a column, and what to do."""
    if isinstance(error, UnicodeEncodeError):
        return "has text with half a character (a lone surrogate); replace it"
    if isinstance(error, OverflowError):
        return "has whole numbers beyond 64 bits; convert it to text or floating numbers first"
    dtype = str(getattr(series.to_native(), "dtype", "object"))
    if dtype in {"Int128", "UInt128"}:
        return "has whole numbers of 128 bits; convert it to 64 bits, to text or to floating numbers first"
    if dtype.startswith(("complex", "Sparse")):
        return f"is {dtype}; convert it to text or plain numbers first"
    return "mixes values of several types (text and numbers, say); convert it to one type first"


def _valid(array: pa.Array) -> Bytes:
    return ALL_VALID if array.null_count == 0 else _bits(array.buffers()[0], array)


def _bits(buffer: pa.Buffer, array: pa.Array) -> Bytes:
    """The bits of a buffer of an array, as zeros and ones."""
    bitmap = np.frombuffer(buffer, np.uint8)[array.offset // 8 :]
    return np.unpackbits(bitmap, bitorder="little")[array.offset % 8 :][: len(array)]


def _numbers(array: pa.Array, dtype: Any) -> Values:
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), dtype)
    return np.frombuffer(buffer, dtype)[array.offset : array.offset + len(array)]


LONG = 1 << 15


def code_column(series: nw.Series[Any]) -> Coded:
    """Code a column of any type as integers; null and NaN are both missing.

    Raises `DataError`: the column mixes types, or holds lists or structures.
    """
    physical = _category_codes(series)
    coded = physical if physical is not None else _code_array(series.name, to_arrow(series))
    return replace(coded, ordered=False) if coded.ordered and series.implementation.is_polars() else coded


def code_columns(columns: Sequence[nw.Series[Any]]) -> list[Coded]:
    """Code several columns of a file, on threads where they are long enough."""
    long = len(columns) > 0 and len(columns[0]) >= LONG
    return run(code_column, columns) if long else [code_column(column) for column in columns]


def _category_codes(series: nw.Series[Any]) -> Coded | None:
    """Physical codes of a categorical column, where the engine exposes them; converting to Arrow would copy."""
    native = series.to_native()
    own: Any = getattr(native, "cat", None) if series.implementation.is_pandas_like() else None
    if hasattr(own, "codes") and hasattr(own, "categories"):  # pandas categories of any type, including intervals
        return _own_categories(series.name, own)
    if not hasattr(native, "to_physical") or native.dtype != pl.Categorical:  # which narwhals is long to tell
        return None
    physical = pa.chunked_array(as_they_come(native.to_physical()).alias("values")).combine_chunks()
    codes = _code_integers(series.name, physical, "category", None)
    return None if codes.span == 0 else replace(codes, levels=lambda: _category_levels(series, codes))


def _own_categories(name: str, own: Any) -> Coded | None:
    """Code by the engine's own codes (-1 where missing), with the categories as text for levels."""
    codes = np.asarray(own.codes)
    coded = _code_integers(name, pa.array(codes, mask=codes < 0), "category", pa.large_string())
    if coded.span == 0:
        return None
    every = pa.array([str(category) for category in own.categories], pa.large_string())
    ordered = bool(getattr(own, "ordered", False))
    return replace(coded, levels=every.slice(coded.low, coded.span), categories=every, ordered=ordered)


def _category_levels(series: nw.Series[Any], codes: Coded) -> pa.Array:
    """The category of each code, read off a row that has it; unused codes get that of the first row."""
    present = codes.codes()
    row = np.zeros(codes.span, np.int64)
    used = np.flatnonzero(present < codes.span)
    row[present[used]] = used
    return to_arrow(series[row.tolist()].cast(nw.String)).cast("large_string")


def _code_array(name: str, array: pa.Array) -> Coded:
    kind = array.type
    if pt.is_null(kind):
        return Coded(name, np.zeros(len(array), np.uint8), np.zeros(len(array), np.uint8), 0, 0, len(array),
                     "empty", None, kind)  # fmt: skip
    if pt.is_dictionary(kind):
        return _code_dictionary(name, array)
    if pt.is_boolean(kind):
        return _code_integers(name, array.cast(pa.uint8()), "boolean", kind)
    if pt.is_integer(kind):
        return _code_integers(name, array, "integer", kind)
    if pt.is_temporal(kind) and not pt.is_interval(kind):
        return _code_integers(name, array.view(_storage(kind)), "date", kind)
    if pt.is_floating(kind):
        return _code_floats(name, array.cast(pa.float64()), kind)
    if kind == pa.string_view():
        return _code_views(name, array)
    texts = (pt.is_string, pt.is_large_string, pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary)
    if kind == pa.binary_view() or pt.is_decimal(kind) or any(is_kind(kind) for is_kind in texts):
        return _code_dictionary(name, array.dictionary_encode(), "number" if pt.is_decimal(kind) else "text")
    raise DataError(f"column {name!r} holds {type_words(kind)}: a variable needs one plain value per record")


def _code_integers(name: str, array: pa.Array, kind: str, arrow_type: pa.DataType) -> Coded:
    values, valid = _numbers(array, array.type.to_pandas_dtype()), _valid(array)
    if values.dtype.itemsize == 1 and len(valid) == 0 and len(values):
        low, high, n = int(values.min()), int(values.max()), len(values)  # vectorised
    else:
        low, high, n = coding.integer_range(values, valid)
    if high - low >= DIRECT_SPAN:
        return _number_distinct(name, values.view(np.int64), valid, kind, arrow_type)
    return Coded(name, values, valid, low, high - low + 1, len(values) - n, kind, None, arrow_type)


def _number_distinct(name: str, bits: Ints, valid: Bytes, kind: str, arrow_type: pa.DataType) -> Coded:
    """Code 64-bit values by rank among their distinct bit patterns."""
    present = bits if len(valid) == 0 else bits[valid != 0]
    groups = grouping.group(np.ascontiguousarray(present).view(np.uint64))
    order = np.argsort(groups.words)
    rank = grouping.in_place(np.arange(len(order), dtype=np.uint32), order)
    codes = np.zeros(len(bits), np.uint32)
    codes[slice(None) if len(valid) == 0 else valid != 0] = rank[groups.of_row]
    words = groups.words[order]
    if kind == "number":
        levels = numbers_as_arrow(words.view(np.float64))
    elif kind == "date":
        levels = numbers_as_arrow(words.view(np.int64)).view(arrow_type)
    else:
        levels = numbers_as_arrow(words if arrow_type == pa.uint64() else words.view(np.int64))
    return Coded(name, codes, valid, 0, len(words), len(bits) - len(present), kind, levels, arrow_type)


def _code_floats(name: str, array: pa.Array, arrow_type: pa.DataType) -> Coded:
    values, valid = _numbers(array, np.float64), _valid(array)
    low, high, n, whole = coding.float_range(values, valid)
    if n == 0:
        return Coded(name, np.zeros(len(values), np.uint8), np.zeros(len(values), np.uint8), 0, 0, len(values),
                     "number", None, arrow_type)  # fmt: skip
    whole = whole and high - low < DIRECT_SPAN and max(abs(low), abs(high)) < 2**53
    as_int, present = coding.float_to_int(values, valid, whole=whole)
    present = ALL_VALID if n == len(values) else present
    if whole:
        span, n_missing = int(high - low) + 1, len(values) - n
        return Coded(name, as_int, present, int(low), span, n_missing, "number", None, arrow_type)
    bits = np.where(values == 0, 0.0, values).view(np.int64)  # -0.0 and 0.0 are one value
    return _number_distinct(name, bits, present, "number", arrow_type)


def as_mask(array: pa.Array) -> Bools:
    """A Boolean Arrow array, false where missing; `fill_null` and NumPy's own way import pandas (.25 s)."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not len(array):
        return np.zeros(0, np.bool_)
    bits = _bits(array.buffers()[1], array)
    return (bits & _valid(array) if array.null_count else bits).view(np.bool_)


def numbers_as_arrow(values: Values, *, valid: Bools | None = None) -> pa.Array:
    """The same numbers in Arrow; `pa.array` would load pandas to ask whether they are its own."""
    given = np.ascontiguousarray(values)
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(given.dtype), len(given), [bits, pa.py_buffer(given)])


def _code_views(name: str, array: pa.Array) -> Coded:
    valid = _valid(array)
    views = np.frombuffer(array.buffers()[1], np.uint64).reshape(-1, 2)
    views = views[array.offset : array.offset + len(array)]
    coded = coding.code_views(views, valid)
    if coded is None:
        return _code_dictionary(name, array.cast(pa.large_string()).dictionary_encode(), "text")
    codes, first = coded
    own = views[first].view(np.uint8).reshape(-1, 16)  # four bytes of length first
    lengths = own[:, :4].copy().view(np.int32).ravel()
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    texts = own[:, 4:][np.arange(12) < lengths[:, None]]
    levels = pa.Array.from_buffers(pa.string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(texts)])
    return Coded(name, codes, valid, 0, len(levels), array.null_count, "text", levels, array.type)


def _code_dictionary(name: str, array: pa.DictionaryArray, kind: str = "category") -> Coded:
    levels, declared = array.dictionary, kind == "category"  # others were made here, of distinct levels
    if declared and (levels.null_count or len(levels.unique()) < len(levels) or _levels_coincide(levels)):
        plain = array.dictionary_decode() if hasattr(array, "dictionary_decode") else array.cast(levels.type)
        return _code_array(name, plain)
    coded = _code_integers(name, array.indices, kind, levels.type)
    if levels.type == pa.string_view():
        levels = levels.cast(pa.large_string())
    elif levels.type == pa.binary_view():
        levels = levels.cast(pa.large_binary())
    used = levels.slice(coded.low, coded.span)
    ordered = declared and bool(array.type.ordered)
    return replace(coded, levels=used, categories=levels if declared else None, ordered=ordered)


def _levels_coincide(levels: pa.Array) -> bool:
    """Whether the levels include NaN (missing), or both 0.0 and -0.0 (one value)."""
    if not pt.is_floating(levels.type):
        return False
    values = levels.to_numpy(zero_copy_only=False)
    return bool(np.isnan(values).any() or np.count_nonzero(values == 0) > 1)


def recoded(column: Coded, known: Coded) -> tuple[Values, Bytes, int] | None:
    """Recode a column to the codes of another one: values, validity mask and offset.

    None if the other column lacks one of the values, or is of another kind.

    >>> import narwhals.stable.v2 as nw, polars as pl
    >>> here, there = (nw.from_native(pl.Series("s", list(text)), series_only=True) for text in ("ba", "ab"))
    >>> values, valid, low = recoded(code_column(here), code_column(there))
    >>> (values - low).tolist()
    [1, 0]
    """
    if (column.kind, column.arrow_type) != (known.kind, known.arrow_type):
        return None
    if column.levels is None and known.levels is None:
        fits = column.low >= known.low and column.low + column.span <= known.low + known.span
        return (column.values, column.valid, known.low) if fits else None
    if column.levels is None or known.levels is None:
        return None
    own, others = (levels() if callable(levels) else levels for levels in (column.levels, known.levels))
    if own.type != others.type:
        return None
    places = pc.index_in(own, value_set=others)
    if places.null_count:
        return None
    codes = column.values.astype(np.int64, copy=False) - column.low
    if len(column.valid):
        codes[column.valid == 0] = 0
    table: Codes = places.to_numpy(zero_copy_only=False).astype(np.int32)
    return table[codes] if len(table) else codes, column.valid, 0


def first_rows(bad: Bools, limit: int = 5) -> str:
    """List the first rows where a condition holds: "rows 3, 8 and 41 more" (1-based)."""
    rows = np.flatnonzero(bad)
    shown = ", ".join(str(r + 1) for r in rows[:limit])
    rest = f" and {len(rows) - limit} more" if len(rows) > limit else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{rest}"


def float_values(series: nw.Series[Any], role: str) -> Floats:
    """A numeric column as float64, NaN where missing.

    Raises `DataError`: the column is not numeric, or spans more than a float can say.
    """
    array = to_arrow(series)
    if not any(is_kind(array.type) for is_kind in (pt.is_integer, pt.is_floating, pt.is_decimal, pt.is_null)):
        says = f"{role} {series.name!r} is {type_words(array.type)}, not numbers"
        raise DataError(f"{says}; convert it first, or name missing_codes")
    return _with_a_span(_floats(array), f"{role} {series.name!r}")


def _with_a_span(values: Floats, name: str) -> Floats:
    low, high = (float(end.reduce(values, initial=np.nan)) for end in (np.fmin, np.fmax))
    if high - low == np.inf and np.isfinite((low, high)).all():
        raise DataError(f"{name} spans more than a floating number can say; divide it first")
    return values


def checked_weight(series: nw.Series[Any]) -> Floats:
    """Sampling weights as float64, validated.

    Raises DataError: a weight is missing, zero, negative or infinite, or the column is not numeric.
    """
    weight = float_values(series, "weight")
    missing, low, infinite = grouping.weight_faults(weight)
    if missing or low or infinite:
        with np.errstate(invalid="ignore"):
            where = first_rows(~(np.isfinite(weight) & (weight > 0)))
        raise DataError(bad_weights(series.name, missing, low, infinite) + f" ({where}, counting from 1)")
    return weight


def bad_weights(name: str, missing: int, low: int, infinite: int) -> str:
    """The message about invalid weights."""
    kinds = ((missing, "missing"), (low, "zero or negative"), (infinite, "infinite"))
    parts = [f"{count} {kind}" for count, kind in kinds if count]
    return f"weight {name!r}: {', '.join(parts)}; every record must stand for a positive number of persons"


def days_values(series: nw.Series[Any], *, file: str) -> Floats:
    """Numbers, or dates and times in days, as float64; NaN where missing; infinite values are refused."""
    array = to_arrow(series)
    if pt.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pt.is_temporal(array.type):
        unit = nanoseconds(array.type) / NANOSECONDS["day"]
        return np.asarray(_floats(array.view(_storage(array.type))) * unit)
    values = _floats(array)
    if np.isinf(values).any():
        raise DataError(f"{file}: {series.name!r} is infinite in {first_rows(np.isinf(values))}")
    return _with_a_span(values, f"{file}: {series.name!r}")


def nanoseconds(arrow_type: pa.DataType) -> int:
    """The unit of a date or time type, in nanoseconds."""
    return NANOSECONDS[getattr(arrow_type, "unit", None) or ("day" if arrow_type.bit_width == 32 else "ms")]


def as_floats(array: Any) -> Any:
    """An array of numbers as float64; whole numbers beyond 2**53 are rounded.

    Decimals are read as they are written: Arrow's own cast is off in the last digit, by a scale that files differ in.

    >>> as_floats(pa.array([Decimal("1797.6")]).cast(pa.decimal128(18, 13))).to_pylist()
    [1797.6]
    """
    return (array.cast(pa.string()) if pt.is_decimal(array.type) else array).cast(pa.float64(), safe=False)


def _floats(array: pa.Array) -> Floats:
    array = as_floats(array)
    values, valid = _numbers(array, np.float64), _valid(array)
    return values if len(valid) == 0 else np.where(valid != 0, values, np.nan)


def type_words(kind: Any) -> str:
    """An Arrow type in words; field names of structs are withheld, since pandas infers them from records.

    >>> import pyarrow as pa
    >>> type_words(pa.struct({"secret": pa.int64()})), type_words(pa.list_(pa.int64())), type_words(pa.time32("s"))
    ('structures', 'lists', 'time32[s]')
    >>> type_words(pa.dictionary(pa.int8(), pa.int64())), type_words(pa.string_view())
    ('categories (int64)', 'text')
    """
    if pt.is_dictionary(kind):
        return f"categories ({type_words(kind.value_type)})"
    if pt.is_string(kind) or pt.is_large_string(kind) or kind == pa.string_view():
        return "text"
    if isinstance(kind, pa.BaseExtensionType):
        return str(kind.extension_name)  # such as pandas.period
    if not pt.is_nested(kind):
        return str(kind)
    return "structures" if pt.is_struct(kind) else "lists"


# Plain columns within structures and lists.


MOST_ELEMENTS = 5  # of a list
MOST_WITHIN = 40  # columns of one of structures or lists


def plain_series(series: nw.Series[Any]) -> list[nw.Series[Any]]:
    """The fields of structures, and the length and first elements of lists, as columns of their own; else the column.

    Field names that pandas may have inferred from records are withheld: fields are numbered there.

    Raises `DataError`: Arrow cannot hold the column.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> frame = open_frame(pl.DataFrame({"home": [{"town": "Ulm", "rooms": [3, 4]}, {"town": "Bonn", "rooms": [2]}]}))
    >>> {series.name: series.to_list() for series in plain_series(frame["home"])}
    {'home.town': ['Ulm', 'Bonn'], 'home.rooms.length': [2, 1], 'home.rooms[1]': [3, 2], 'home.rooms[2]': [4, None]}
    """
    inferred = series.dtype == nw.Object
    if not inferred and not series.dtype.is_nested():
        return [series]
    array = to_arrow(series)
    if not pt.is_nested(array.type):
        return [series]
    within = islice(_within(series.name, array, numbered=inferred), MOST_WITHIN)
    return [nw.from_native(pa.chunked_array([part]), series_only=True).alias(name) for name, part in within]


def _within(name: str, array: pa.Array, *, numbered: bool) -> Iterator[tuple[str, pa.Array]]:
    if pt.is_struct(array.type):
        for i in range(array.type.num_fields):
            field = f"{name}.{i + 1 if numbered else array.type.field(i).name}"
            yield from _within(field, pc.struct_field(array, [i]), numbered=numbered)
    elif pt.is_list(array.type) or pt.is_large_list(array.type) or pt.is_fixed_size_list(array.type):
        lengths = pc.list_value_length(array)
        yield f"{name}.length", lengths
        most = min(pc.max(lengths).as_py() or 0, MOST_ELEMENTS)
        first = pc.list_slice(array, 0, max(most, 1), return_fixed_size_list=True)  # shorter lists are filled up
        for k in range(most):
            yield from _within(f"{name}[{k + 1}]", pc.list_element(first, k), numbered=numbered)
    elif not pt.is_nested(array.type):
        yield name, array


# Row-by-row comparison of a frame with a changed version of it.


def n_differing(before: nw.DataFrame[Any], after: nw.DataFrame[Any]) -> dict[str, int]:
    """Count, for each column of `before`, the rows whose value differs in `after`; all rows if the column is gone.

    Equal numbers of different types do not differ; a number and a text always do. Two missing values do not
    differ.

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


def differing(before: Any, after: Any) -> Bools:
    """Mask of the positions where two Arrow arrays differ, by the rules of `n_differing`.

    >>> import pyarrow as pa
    >>> differing(pa.array(["x", None, "y"]), pa.array(["x", "z", "y"]).dictionary_encode()).tolist()
    [False, True, False]
    """
    first, second = _simple(before), _simple(after)
    gone = as_mask(pc.xor(first.is_null(), second.is_null()))
    if first.type != second.type:
        return as_mask(pc.or_(first.is_valid(), second.is_valid()))
    if pa.types.is_null(first.type):
        return gone
    if pa.types.is_nested(first.type):
        pairs = zip(first.to_pylist(), second.to_pylist(), strict=True)
        return np.array([value != other for value, other in pairs], np.bool_)
    other = as_mask(pc.not_equal(first, second))
    if pa.types.is_floating(first.type):
        other = other & ~as_mask(pc.and_(pc.is_nan(first), pc.is_nan(second)))
    return gone | other


def _simple(array: Any) -> Any:
    """Normalise an array so that equal values have equal types: numbers as float64, text as large_string."""
    if pa.types.is_dictionary(array.type):
        array = _simple(array.dictionary).take(array.indices)
    if isinstance(array.type, pa.BaseExtensionType):  # such as periods of pandas
        array = array.storage
    kind = array.type
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return as_floats(array)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return array.cast(pa.large_string()) if text else array


# Distinct values of a column as Python objects, with the index of each record's value.


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column."""

    values: list[Any]  # each value once; those of a categorical column in the order of its categories
    codes: Ints  # shape (n,); place of each record's value in `values`; -1 where missing
    kind: str  # "number", "text", "boolean", "date", "other", or "empty" where every value is missing
    category: bool  # whether the column is categorical

    def counts(self) -> Ints:
        """Number of records with each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def distinct_values(series: nw.Series[Any]) -> Distinct:
    """The distinct values of a column; NaN is missing, 0.0 and -0.0 are one value.

    Raises `DataError`: the column mixes types, or holds lists or structures.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> found = distinct_values(open_frame(pl.DataFrame({"x": ["b", "a", None, "b"]}))["x"])
    >>> found.values, found.codes.tolist(), found.kind
    (['b', 'a'], [0, 1, -1, 0], 'text')
    """
    array = to_arrow(series)
    category = pt.is_dictionary(array.type)
    if not category:
        array = _encoded(series.name, array)
    values, codes = array.dictionary, array.indices
    if isinstance(values.type, pa.BaseExtensionType):  # such as intervals of pandas: compared by their text
        coded = code_column(series)
        category_codes = coded.codes()
        places = np.where(category_codes < coded.span, category_codes, -1)
        return _used(coded.labels(np.arange(coded.span)), places, "text", category)
    if pt.is_nested(values.type):
        raise DataError(
            f"column {series.name!r} holds {type_words(values.type)}: a variable needs one plain value per record"
        )
    places = np.asarray(codes.cast(pa.int64()).fill_null(-1))
    return _used(_listed(values), places, _kind(values.type), category)


Period = Literal["month", "quarter", "year", "decade"]
MONTHS: dict[Period, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def months_of(series: nw.Series[Any]) -> Floats:
    """The month of each date, counted from January of the year 0; NaN where it is missing.

    Raises `DataError`: the column holds no dates, or times of an unknown zone.

    >>> import polars as pl
    >>> from datetime import date
    >>> from sdckit.data.frames import open_frame
    >>> months_of(open_frame(pl.DataFrame({"x": [date(2000, 3, 31), None]}))["x"]).tolist()
    [24002.0, nan]
    """
    array = to_arrow(series)
    if not (pt.is_date(array.type) or pt.is_timestamp(array.type) or pt.is_null(array.type)):
        raise DataError(
            f"column {series.name!r} holds no dates; a file's text is read as dates where all of it is written as "
            "2024-05-31"
        )
    array = array.cast(pa.date32()) if pt.is_null(array.type) else array
    try:
        year, month = (part.cast(pa.float64()) for part in (pc.year(array), pc.month(array)))
    except pa.ArrowInvalid:
        says = "holds times of a zone that this system does not know; convert them to a known one, or to times without"
        raise DataError(f"column {series.name!r} {says}") from None
    return np.asarray(pc.add(pc.multiply(year, 12.0), pc.subtract(month, 1.0)).fill_null(math.nan), np.float64)


def n_single(series: nw.Series[Any]) -> int:
    """The number of values that occur once; a missing value is none.

    Raises `DataError`: the column mixes types, or holds lists or structures.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> n_single(open_frame(pl.DataFrame({"x": ["b", "a", None, "b"]}))["x"])
    1
    """
    array = to_arrow(series)
    encoded = array if pt.is_dictionary(array.type) else _encoded(series.name, array)
    return int(np.count_nonzero(np.bincount(np.asarray(encoded.indices.drop_null())) == 1))


def _encoded(name: str, array: pa.Array) -> pa.DictionaryArray:
    if pt.is_nested(array.type) or isinstance(array.type, pa.BaseExtensionType):  # such as periods of pandas
        raise DataError(f"column {name!r} holds {type_words(array.type)}: a variable needs one plain value per record")
    for view, plain in ((pa.string_view(), pa.large_string()), (pa.binary_view(), pa.large_binary())):
        array = array.cast(plain) if array.type == view else array
    return array.dictionary_encode()


def _used(values: list[Any], codes: Ints, kind: str, category: bool) -> Distinct:
    """Drop unused values and merge equal ones; codes are indices into `values`, -1 where missing."""
    present = np.bincount(codes[codes >= 0], minlength=len(values)) > 0
    if present.all() and {*map(type, values)} in ({int}, {str}) and len({*values}) == len(values):
        return Distinct(values, codes, kind, category)
    place = np.full(len(values) + 1, -1, np.int64)  # the last one: missing
    kept: dict[tuple[Any, int], int] = {}
    for i in np.flatnonzero(present).tolist():
        value = values[i]
        if value is not None and value == value:  # noqa: PLR0124 - NaN is missing
            fold = getattr(value, "fold", 0)  # an hour before the end of summer time equals that after it in Python
            place[i] = kept.setdefault((value, fold), len(kept))
    return Distinct([value for value, _ in kept], place[codes], kind if kept else "empty", category)


def _kind(arrow_type: pa.DataType) -> str:
    if pt.is_boolean(arrow_type):
        return "boolean"
    if pt.is_integer(arrow_type) or pt.is_floating(arrow_type) or pt.is_decimal(arrow_type):
        return "number"
    if pt.is_string(arrow_type) or pt.is_large_string(arrow_type) or arrow_type == pa.string_view():
        return "text"
    return "date" if pt.is_temporal(arrow_type) else "other"


def is_number(value: object) -> TypeGuard[float]:
    """Whether this is a finite number.

    >>> is_number(3), is_number(True), is_number("3"), is_number(float("nan"))
    (True, False, False, False)
    """
    return math.isfinite(as_real(value))


def as_real(value: object) -> float:
    """Convert a real number to float; NaN for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number of 400 digits
        return math.inf


def level_name(level: Any, numeric: bool) -> float | str:
    """One name for a level however it is written: 1, 1.0 and "1" of a column of numbers are the same."""
    try:
        return float(level) if numeric else str(level)
    except (TypeError, ValueError):
        return str(level)


def kind_of_value(value: Hashable) -> str:
    """The kind of column that a value belongs in.

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
