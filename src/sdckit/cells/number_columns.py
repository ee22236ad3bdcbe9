"""Which columns of an original and its releases are numbers: the one rule of the measures of two files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

if TYPE_CHECKING:
    from sdckit.cells.pair import Pair


MOST_CODES = 20  # whole numbers with no more different values are taken for codes
LOOKED_AT = 2_000  # records that mostly tell already


def stored_as_numbers(types: Sequence[dict[str, Any]], names: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that every file stores as numbers, by the types of each file's columns.

    >>> import narwhals.stable.v2 as nw
    >>> files = [{"age": nw.Int64(), "sex": nw.String()}, {"age": nw.Float64(), "sex": nw.String()}]
    >>> stored_as_numbers(files, ["sex", "age"])
    ('age',)
    """
    return tuple(name for name in names if all(name in one and one[name].is_numeric() for one in types))


def measured_columns(pair: Pair, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns, in memory, that are numbers to be compared by how near they are, not codes.

    Stored as numbers in every file, and in the original with decimals or with more than twenty different values. A
    whole number beside missing values is one, however its file stores it: pandas makes it a float.

    >>> import polars as pl
    >>> from sdckit.cells.pair import open_files
    >>> survey = pl.DataFrame({"code": [1, 2, 3], "income": [1.5, 2.0, 3.0]})
    >>> measured_columns(open_files(survey, survey), ["code", "income"])
    ('income',)
    """
    types = [dict(frame.collect_schema()) for frame in pair.frames]
    stored = stored_as_numbers(types, names)
    return tuple(name for name in stored if _measured(pair.original.get_column(name)))


def _measured(series: nw.Series[Any]) -> bool:
    if series.dtype.is_integer():
        known = series.drop_nulls()
        return len(known) > 0 and int(known.max()) - int(known.min()) >= MOST_CODES and _many(known)
    known = series.drop_nulls()
    if series.dtype.is_float():
        known = known.filter(~known.is_nan())
        if not known.is_finite().all():
            return False
    if len(known) < len(series) and bool((known == known.round(0)).all()):
        return _many(known)
    return len(known) > 0


def _many(known: nw.Series[Any]) -> bool:
    return bool(known.head(LOOKED_AT).n_unique() > MOST_CODES or known.n_unique() > MOST_CODES)
