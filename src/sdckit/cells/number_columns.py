"""Which columns of an original and its releases are numeric: the one rule of the measures of two files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError

if TYPE_CHECKING:
    from sdckit.cells.pair import Pair

MOST_CODES = 20  # whole numbers with no more distinct values are taken for codes
LOOKED_AT = 2_000  # records that are checked first and mostly suffice


def declared_numbers(
    numeric: Sequence[str] | None, scenario: Scenario | None, names: Sequence[str]
) -> tuple[str, ...] | None:
    """The variables given as numeric, else those of some columns that a scenario declares; None if neither does.

    >>> declared_numbers(["age"], None, ["sex"]), declared_numbers(None, None, ["sex"])
    (('age',), None)
    """
    declared = arguments.names(numeric, "numeric")
    if declared is None and scenario is not None and scenario.numeric:
        return tuple(name for name in scenario.numeric if name in names)
    return declared


def number_columns(
    names: Sequence[str], numeric: Sequence[str] | None, scenario: Scenario | None,
    stored: Callable[[], tuple[str, ...]], notes: dict[str, str], *, role: str,
) -> tuple[str, ...]:  # fmt: skip
    """Which of some columns are numeric: those declared, else those stored as numbers, with a note in `notes`.

    Raises `ColumnError`: a variable given as numeric is not among the columns; `role` describes it in the message.
    """
    declared = declared_numbers(numeric, scenario, names)
    if numeric is not None and declared is not None:
        if unknown := [name for name in declared if name not in names]:
            raise ColumnError(f"numeric: {unknown[0]!r} is {role}", argument="numeric")
        return declared
    if declared is not None:
        return tuple(name for name in names if name in declared)
    if numbers := stored():
        notes["numeric"] = (
            f"taken as numbers because they are stored so: {', '.join(numbers)}; numeric=[...] says otherwise"
        )
    return numbers


def stored_as_numbers(types: Sequence[dict[str, Any]], names: Sequence[str]) -> tuple[str, ...]:
    """The columns that every file stores as numbers, given the column types of each file.

    >>> import narwhals.stable.v2 as nw
    >>> files = [{"age": nw.Int64(), "sex": nw.String()}, {"age": nw.Float64(), "sex": nw.String()}]
    >>> stored_as_numbers(files, ["sex", "age"])
    ('age',)
    """
    return tuple(name for name in names if all(name in type_ and type_[name].is_numeric() for type_ in types))


def measured_columns(pair: Pair, names: Sequence[str]) -> tuple[str, ...]:
    """The columns (in memory) that are measured numbers, to be compared by distance, not codes.

    They are stored as numbers in every file, and have decimals or more than twenty distinct values in the original.
    Whole numbers with missing values may be stored as floats (as pandas does) and still count as whole.

    >>> import polars as pl
    >>> from sdckit.cells.pair import open_files
    >>> survey = pl.DataFrame({"code": [1, 2, 3], "income": [1.5, 2.0, 3.0]})
    >>> measured_columns(open_files(survey, survey), ["code", "income"])
    ('income',)
    """
    types = [dict(frame.collect_schema()) for frame in pair.frames]
    return tuple(name for name in stored_as_numbers(types, names) if _measured(pair.column(name)))


def _measured(series: nw.Series[Any]) -> bool:
    known = series.drop_nulls()
    if series.dtype.is_integer():
        return len(known) > 0 and int(known.max()) - int(known.min()) >= MOST_CODES and _many(known)
    if series.dtype.is_float():
        known = known.filter(~known.is_nan())
        if not known.is_finite().all():
            return False
    if len(known) < len(series) and bool((known == known.round(0)).all()):
        return _many(known)
    return len(known) > 0


def _many(known: nw.Series[Any]) -> bool:
    return bool(known.head(LOOKED_AT).n_unique() > MOST_CODES or known.n_unique() > MOST_CODES)
