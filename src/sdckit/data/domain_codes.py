"""Records to the codes of a declared domain, and codes to records; the code of a value follows from the value alone."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any
from uuid import UUID

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import pa, pc, pd, pl, pt
from sdckit.data.columns import NANOSECONDS, as_floats, as_real, nanoseconds, to_arrow
from sdckit.data.files.file_labels import code_text
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.threads import run

if TYPE_CHECKING:
    from sdckit.data.domain import ColumnType, Domain, DomainColumn

# Levels and bands as numbers.


EPOCH = date(1970, 1, 1)


def band_ends(edges: Sequence[float], kind: ColumnType) -> list[tuple[float, float]]:
    """The first and the last value of each band.

    >>> band_ends((0, 18, 65), "integer")
    [(0, 17), (18, 65)]
    """
    if kind == "decimal":
        return list(pairwise(edges))
    last = [*(math.ceil(edge) - 1 for edge in edges[1:-1]), *(math.floor(edge) for edge in edges[-1:])]
    return list(zip(map(math.ceil, edges[:-1]), last, strict=True))


def day_number(day: date) -> int:
    """Days since 1970."""
    return day.toordinal() - EPOCH.toordinal()


# Records to codes.


NEITHER = "\0"  # text for a value that is no text, number, date nor boolean; no level holds it
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # years 1 to 9999
DIGITS = 3
NUMBERS = ("integer", "decimal")


def encoded(frame: nw.DataFrame[Any], domain: Domain) -> Codes:
    """Codes of the rows kept, shape (rows, columns), column by column in memory."""
    rows = None if domain.person is None else _rows_kept(frame[domain.person], domain.max_rows, domain.missing)

    def code(column: DomainColumn) -> Codes:
        codes = column_codes(frame[column.name], column, domain.missing)
        return codes if rows is None else codes[rows]

    coded = run(code, domain.columns)
    codes = np.empty((len(coded[0]), len(coded)), np.int32, order="F")
    for i, own in enumerate(coded):
        codes[:, i] = own
    return codes


def column_codes(series: nw.Series[Any], column: DomainColumn, missing: Sequence[str]) -> Codes:
    """The code of each value of a column."""
    array = _array(series)
    if column.type in NUMBERS and (pt.is_integer(array.type) or pt.is_floating(array.type)):
        real = _reals(array)
        return _codes_of_numbers(real, np.isnan(real), column, missing)
    values, places = _distinct(array)
    return np.append(_codes_of_texts(_texts(values), column, missing), np.int32(column.size - 1))[places]


def check_person(name: str, kind: Any) -> None:
    """Refuse a type of which no value is a person, as all rows would be left out."""
    if isinstance(kind, nw.Time | nw.Duration) or kind.is_nested():
        raise ColumnError(f"the column of persons, {name!r}, is of type {kind.base_type().__name__}, and so names no "
                          "person; make it text or whole numbers", argument="domain")  # fmt: skip


def _rows_kept(series: nw.Series[Any], most: int, missing: Sequence[str]) -> Ints:
    """The first rows of each person, in the order of the file; rows without a person are left out."""
    values, places = _distinct(_array(series, exact=True))
    texts = _texts(values, exact=True)
    texts = _where(~texts.is_in([NEITHER, "", *missing]).fill_null(True).to_numpy(), texts, None)
    people = np.append(texts.rank("dense").fill_null(0).to_numpy(), 0)[places].astype(np.int64)
    order = np.argsort(people, kind="stable")
    own = people[order]
    starts = np.flatnonzero(np.append(True, own[1:] != own[:-1])) if len(own) else np.empty(0, np.int64)
    nth = np.arange(len(own)) - np.repeat(starts, np.diff(np.append(starts, len(own))))
    return np.sort(order[(nth < most) & (own > 0)])


# Values of any type as Arrow: what Arrow or pandas would mix is made text, value by value.


def _array(series: nw.Series[Any], *, exact: bool = False) -> Any:
    """The values; `exact` where no two that differ may become one, as of persons."""
    native = series.to_native()
    if series.implementation.is_polars() and native.dtype in (pl.Int128, getattr(pl, "UInt128", pl.Int128)):
        series = nw.from_native(native.cast(pl.String if exact else pl.Float64, strict=False), series_only=True)
    plain = not (series.dtype == nw.Object and series.implementation.is_pandas_like())
    if plain or pd.api.types.infer_dtype(native, skipna=True) == "string":
        with contextlib.suppress(DataError):
            return to_arrow(series)
    return pa.array([_text(value, exact=exact) for value in series.to_list()], pa.large_string())


def _text(value: Any, *, exact: bool = False) -> str | None:
    """A value as text, as `_texts` writes it; None where missing."""
    try:
        if isinstance(value, np.generic) and not isinstance(value, str | float):
            value = value.item()
        pandas = sys.modules.get("pandas")
        if value is None or (pandas and (value is pandas.NA or value is pandas.NaT)):
            return None
        if isinstance(value, str):
            return value if value.encode("utf-8", "ignore").decode() == value else NEITHER
        if isinstance(value, bool):
            return "true" if value else "false"
        if exact and isinstance(value, time | timedelta):
            return str(value)
        if exact and isinstance(value, bytes | UUID):
            return value.hex() if isinstance(value, bytes) else str(value)
        if exact and isinstance(value, Decimal) and value.is_finite():
            return (_without_zeros(f"{value:f}") if abs(value.adjusted()) < 400 else NEITHER) if value else "0"
        if isinstance(value, Real | Decimal):
            real = float(value) if isinstance(value, Decimal) else as_real(value)
            if isinstance(value, int):
                return str(int(value))
            return None if np.isnan(real) else code_text(real if isinstance(value, Decimal) else float(value))
        if isinstance(value, datetime):
            moment = value.astimezone(UTC) if value.tzinfo else value
            return moment.isoformat() if exact else moment.date().isoformat()
        return value.isoformat() if isinstance(value, date) else NEITHER
    except Exception:  # noqa: BLE001 (no value may stop it)
        return NEITHER


def _without_zeros(text: str) -> str:
    """A decimal number without zeros at its end.

    >>> _without_zeros("10.50"), _without_zeros("10.0"), _without_zeros("100")
    ('10.5', '10', '100')
    """
    return text.rstrip("0").rstrip(".") if "." in text else text


def _distinct(array: Any) -> tuple[Any, Ints]:
    """Values that include every one that occurs, and the place of each record's; -1 where it is null."""
    try:
        if not pt.is_dictionary(array.type):
            array = (array.cast(pa.large_string()) if array.type == pa.string_view() else array).dictionary_encode()
        return array.dictionary, np.asarray(array.indices.cast(pa.int64()).fill_null(-1))
    except pa.ArrowException:  # of a type without distinct values: `other` where there is one
        return pa.array([NEITHER]), np.where(np.asarray(array.is_valid()), 0, -1)


def _reals(array: Any) -> Floats:
    return np.asarray(pc.fill_null(as_floats(array), np.nan))


def _texts(values: Any, *, exact: bool = False) -> pl.Series:
    """Distinct values as text: numbers without a needless point, dates by day; none merged if `exact`."""
    values = values.cast(pa.large_string()) if values.type == pa.string_view() else values
    kind, there = values.type, np.asarray(values.is_valid())
    if pt.is_string(kind) or pt.is_large_string(kind):
        return pl.Series(pl.from_arrow(values), dtype=pl.String)
    if pt.is_boolean(kind):
        return pl.Series(pl.from_arrow(values)).cast(pl.String)
    if pt.is_integer(kind):
        return pl.Series(pl.from_arrow(values.cast(pa.string())), dtype=pl.String)
    if exact and pt.is_timestamp(kind):
        return pl.Series(pl.from_arrow(values.view(pa.int64()).cast(pa.string())), dtype=pl.String)
    if exact and (pt.is_decimal(kind) or "binary" in str(kind)):
        return pl.Series([_text(value, exact=True) for value in values.to_pylist()], dtype=pl.String)
    if pt.is_floating(kind) or pt.is_decimal(kind):
        reals = _reals(values)
        return pl.Series([None if real != real else code_text(real) for real in reals.tolist()], dtype=pl.String)  # noqa: PLR0124
    if pt.is_date(kind) or pt.is_timestamp(kind):
        days = _days(values)
        within = (days >= FIRST_DAY) & (days <= LAST_DAY)
        texts = pl.Series(np.where(within, days, 0).astype(np.int32)).cast(pl.Date).dt.to_string("%Y-%m-%d")
        return _where(there, _where(within, texts, NEITHER), None)
    return _where(there, pl.repeat(NEITHER, len(values), eager=True), None)


def _where(mask: Bools, texts: pl.Series, other: str | None) -> pl.Series:
    return texts.zip_with(pl.Series(mask), pl.repeat(other, len(texts), dtype=pl.String, eager=True))


def _days(values: Any) -> Ints:
    """Days since 1970 of dates and times."""
    width = pa.int32() if values.type.bit_width == 32 else pa.int64()
    return np.asarray(values.view(width).fill_null(0)).astype(np.int64) // (
        NANOSECONDS["day"] // nanoseconds(values.type)
    )


# Codes.


def _codes_of_texts(texts: pl.Series, column: DomainColumn, missing: Sequence[str]) -> Codes:
    """The code of each distinct value."""
    absent = texts.is_null().to_numpy()
    if column.type == "text":
        codes = {"": column.size - 1} | dict.fromkeys(missing, column.size - 1)
        codes |= {str(level): i for i, level in enumerate(column.levels)}
        known = pl.Series(list(codes), dtype=pl.String), pl.Series(list(codes.values()), dtype=pl.Int32)
        coded = texts.replace_strict(*known, default=column.size - 2, return_dtype=pl.Int32).to_numpy()
        return np.where(absent, column.size - 1, coded).astype(np.int32)
    bare = texts.str.strip_chars()
    gone = absent | bare.is_in(["", *missing]).fill_null(False).to_numpy()
    if column.type == "date":
        real = bare.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)
    else:
        real = bare.cast(pl.Float64, strict=False)
        if column.type == "boolean":
            flags = bare.str.to_lowercase().replace_strict({"true": 1.0, "false": 0.0}, default=None,
                                                           return_dtype=pl.Float64)  # fmt: skip
            real = flags.fill_null(real)
    return _codes_of_numbers(real.fill_null(np.nan).to_numpy(), gone, column, missing)


def _codes_of_numbers(real: Floats, absent: Bools, column: DomainColumn, missing: Sequence[str]) -> Codes:
    """The code of each number; days since 1970 of a date, 0 and 1 of a boolean, NaN for what is none of the type."""
    other, gone = column.size - 2, column.size - 1
    with np.errstate(invalid="ignore"):
        if column.edges:
            edges = np.array(column.edges, np.float64)
            band = np.searchsorted(edges, real, side="right") - 1
            band[real == edges[-1]] = len(edges) - 2
            codes = np.where((real >= edges[0]) & (real <= edges[-1]), band, other)
        else:
            levels = level_numbers(column)
            order = np.argsort(levels)
            place = np.minimum(np.searchsorted(levels[order], real), len(levels) - 1)
            codes = np.where(levels[order][place] == real, order[place], other)
        if column.type == "integer":
            codes[np.floor(real) != real] = other
    known = set() if column.edges else set(level_numbers(column).tolist())
    if column.type in NUMBERS and (numbers := [n for n in map(_number, missing) if n == n and n not in known]):  # noqa: PLR0124
        codes[np.isin(real, numbers)] = gone
    codes[absent] = gone
    return codes.astype(np.int32)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def level_numbers(column: DomainColumn) -> Floats:
    """The levels of a column that is no text, as numbers."""
    return np.array([day_number(level) if isinstance(level, date) else float(level) for level in column.levels])


# And back.


def decoded(codes: Values, domain: Domain, positions: Values | None, backend: str) -> Any:
    """A frame of an engine whose types and categories follow from the domain."""
    drawn = np.random.default_rng().random(codes.shape) if positions is None else np.asarray(positions)
    columns = {column.name: _column(codes[:, i], drawn[:, i], column) for i, column in enumerate(domain.columns)}
    if backend == "pyarrow":
        return pa.table({name: _as_arrow(column) for name, column in columns.items()})
    frame = pl.DataFrame(columns)
    return frame if backend == "polars" else _as_pandas(frame)


def _column(codes: Values, drawn: Values, column: DomainColumn) -> pl.Series:
    other, gone = column.size - 2, column.size - 1
    if column.type == "text":
        categories = [*dict.fromkeys([*map(str, column.levels), "other"])]
        place = np.array([*range(len(column.levels)), categories.index("other"), 0], np.uint32)
        texts: pl.Series = pl.Series(categories, dtype=pl.Enum(categories)).gather(place[codes])
        return texts.set(pl.Series(codes == gone), None)
    absent = codes >= other
    if column.edges:
        real = _within_bands(np.where(absent, 0, codes), drawn, column)
    else:
        real = level_numbers(column)[np.where(absent, 0, codes)]
    kind = {"integer": pl.Int64, "decimal": pl.Float64, "boolean": pl.Boolean, "date": pl.Int32}[column.type]
    plain = pl.Series(real).cast(kind)
    return (plain.cast(pl.Date) if column.type == "date" else plain).set(pl.Series(absent), None)


def _within_bands(band: Values, drawn: Values, column: DomainColumn) -> Floats:
    """A number of each band; whole numbers and days are all as likely."""
    low, high = np.array(band_ends(column.edges, column.type), np.float64).T
    if column.type != "decimal":
        return np.asarray(np.minimum(low[band] + np.floor(drawn * (high - low + 1)[band]), high[band]))
    digits = DIGITS - int(np.floor(np.log10((high - low).min())))  # as many as tell apart a thousand values of a band
    real: Floats = np.clip(np.round(low[band] + drawn * (high - low)[band], digits), low[band], high[band])
    at_end = (real == high[band]) & (band < len(low) - 1)
    real[at_end] = low[band][at_end]
    return real


def _as_arrow(series: pl.Series) -> Any:
    if not isinstance(series.dtype, pl.Enum):
        return series.to_arrow()
    places = series.to_physical().cast(pl.Int32).to_arrow()
    return pa.DictionaryArray.from_arrays(places, pa.array(series.dtype.categories.to_list()))


def _as_pandas(frame: pl.DataFrame) -> Any:
    """With types that hold missing values, so that none depends on whether there are some."""
    columns = {}
    for series in frame.get_columns():
        if isinstance(series.dtype, pl.Enum):
            places = series.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
            columns[series.name] = pd.Categorical.from_codes(places, categories=series.dtype.categories.to_list())
        elif series.dtype == pl.Date:
            columns[series.name] = series.cast(pl.Datetime("ms")).to_numpy().astype("datetime64[s]")
        elif series.dtype == pl.Float64:
            columns[series.name] = series.fill_null(np.nan).to_numpy()
        else:
            columns[series.name] = pd.array(series.to_list(), dtype="Int64" if series.dtype == pl.Int64 else "boolean")
    return pd.DataFrame(columns)
