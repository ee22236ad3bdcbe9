"""E2: top and bottom coding of a column of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments, columns, replace
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import Change, Protected, no_longer_whole

Limit: TypeAlias = "float | Mapping[Any, float | None]"
Replacement: TypeAlias = 'Literal["limit", "mean"] | float'
FEWEST = 3  # a mean of fewer values gives one of them away


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups that are coded separately: the group of each record, and its values if one column defines them."""

    of_row: NDArray[np.int64]
    n: int
    by: tuple[str, ...]
    values: columns.Distinct | None
    records: replace.Records


def top_bottom_code(
    data: Any,
    *,
    column: str,
    top: Limit | None = None,
    bottom: Limit | None = None,
    to: Replacement | Mapping[str, Replacement] = "limit",
    by: str | Sequence[str] | None = None,
) -> Protected:
    """Replace the numbers of one column that are greater than a limit, and those smaller than another.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    column : str
        A column of numbers.
    top, bottom : float or mapping, optional
        Values greater than `top` and smaller than `bottom` change, those equal to a limit do not. A mapping
        gives each value of the one column `by` a limit of its own, or None for no limit there.
    to : {"limit", "mean"}, float, or mapping
        What they become: the limit, the mean of the values beyond it, or a number; for the two ends apart
        ``{"top": ..., "bottom": ...}``.
    by : str or sequence of str, optional
        Columns whose groups are coded apart: each its own mean, and limits where these are a mapping. A
        missing value is a group like others.

    Returns
    -------
    Protected
        ``data`` and ``change``. Missing values stay. Whole numbers become floats where what they are
        replaced by is not whole.

    Raises
    ------
    ColumnError
        A column is absent, or grouped by itself.
    DataError
        Not numeric, no limit, limits that cross, a group without a limit (how many, never which), a number
        inside the limits as the replacement, a mean of fewer than three values.

    References
    ----------
    Templ, M., Kowarik, A. and Meindl, B. (2015). Journal of Statistical Software 67(4).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"income": [900, 2500, 8000, 12000, 40000]})
    >>> top_bottom_code(survey, column="income", top=5000, bottom=1000).data["income"].to_list()
    [1000, 2500, 5000, 5000, 5000]
    >>> top_bottom_code(survey, column="income", top=5000, to="mean").data["income"].to_list()
    [900, 2500, 20000, 20000, 20000]
    """
    arguments.column(column, "column")
    names = arguments.names(by, "by", single=True) or ()
    if top is None and bottom is None:
        raise DataError("give top=, bottom= or both: the limits beyond which values change", argument="top")
    replaced = _replacements(to)
    if column in names:
        raise ColumnError(f"by: {column!r} is the column to code; group by another one", argument="by")
    frame, records = replace.open_records(data, {"column": [column], "by": names})
    values = columns.float_values(frame[column], "column")
    groups = _groups(frame, names, records)
    ends = {"top": top, "bottom": bottom}
    limits = {end: replace.as_held(frame[column], _limits(given, end, groups)) for end, given in ends.items()}
    if (limits["bottom"] > limits["top"]).any():
        raise DataError("bottom is greater than top; values between would have to be both", argument="bottom")
    new, hit = values.copy(), np.zeros(len(values), bool)
    for end, sign in (("top", 1.0), ("bottom", -1.0)):
        of_row = limits[end][groups.of_row]
        beyond = ~np.isnan(of_row) & (sign * values > sign * of_row)
        new[beyond] = _new_values(values, beyond, of_row, replaced[end], groups, end)
        hit |= beyond
    new = replace.as_held(frame[column], new)
    hit &= new != values
    out = replace.with_some_numbers(frame, {column: (hit, new[hit])})
    mapped = {name: dict(given) for name, given in ends.items() if isinstance(given, Mapping)}
    change = Change(
        "top_bottom_code", records.n, {column: records.where(hit)},
        {
            "column": column, "by": list(names), "to": dict(to) if isinstance(to, Mapping) else to,
            **{end: "by group" if end in mapped else given for end, given in ends.items()},
        },
        mapped, no_longer_whole(frame[column], new[hit], "since the new values are not all whole"),
    )  # fmt: skip
    return Protected(out, change)


def _groups(frame: Any, names: tuple[str, ...], records: replace.Records) -> _Groups:
    of_row, n, column = np.zeros(len(frame), np.int64), 1, None
    for name in names:
        column = columns.distinct_values(frame[name])
        of_row = of_row * (len(column.values) + 1) + column.codes + 1
        seen, of_row = np.unique(of_row, return_inverse=True)
        n = len(seen)
    if column is not None and len(names) == 1:  # -1 of a missing value is the place behind the last
        codes = np.where(column.codes < 0, len(column.values), column.codes)
        return _Groups(codes, len(column.values) + 1, names, column, records)
    return _Groups(of_row, n, names, None, records)


def _limits(given: Limit | None, role: str, groups: _Groups) -> NDArray[np.float64]:
    """The limit of each group, NaN where there is none."""
    if given is None:
        return np.full(groups.n, np.nan)
    if not isinstance(given, Mapping):
        return np.full(groups.n, _number(given, role))
    if groups.values is None:
        raise DataError(
            f"{role}= as a mapping gives limits by the values of one column; name it with by=", argument=role
        )
    present = np.bincount(groups.of_row, minlength=groups.n) > 0
    limits, lacking = np.full(groups.n, np.nan), 0
    for i, value in enumerate([*groups.values.values, None]):
        if value in given:
            limit = given[value]
            limits[i] = math.nan if limit is None else _number(limit, role)
        elif present[i]:
            lacking += 1
    if lacking:
        raise DataError(
            f"{role}: {counted(lacking, 'group')} of {groups.by[0]!r} without a limit (a missing value is a group, "
            "None); give each one, or None for no limit there"
        )
    return limits


def _number(value: object, role: str) -> float:
    return arguments.number(value, role, "is a limit, or a mapping of limits by group")


def _replacements(to: Any) -> dict[str, Any]:
    given = dict(to) if isinstance(to, Mapping) else {"top": to, "bottom": to}
    if not set(given) <= {"top", "bottom"}:
        raise DataError('to= as a mapping has the entries "top" and "bottom" only', argument="to")
    for value in given.values():
        if not (isinstance(value, str) and value in {"limit", "mean"}):
            arguments.number(value, "to", 'is "limit", "mean", or the new value')
    return {"top": "limit", "bottom": "limit", **given}


def _new_values(
    values: NDArray[np.float64], beyond: NDArray[np.bool_], limits: NDArray[np.float64], to: Any,
    groups: _Groups, end: str,
) -> NDArray[np.float64]:  # fmt: skip
    """The replacements of the values beyond the limits."""
    if to == "limit":
        return limits[beyond]
    if to != "mean":
        number = float(to)
        inside = number < limits[beyond] if end == "top" else number > limits[beyond]
        if inside.any():
            raise DataError(
                f"to: the number for {end} lies inside the limit; values beyond would change places with others",
                argument="to",
            )
        return np.full(int(beyond.sum()), number)
    of_row = groups.of_row[beyond]
    counts = groups.records.by(groups.of_row, groups.n, beyond)
    if few := int(((counts > 0) & (counts < FEWEST)).sum()):
        where = f"in {counted(few, 'group')} fewer" if groups.by else "fewer"
        raise DataError(
            f'to="mean": {where} than {FEWEST} values are beyond {end}, and their mean would give them away; '
            'use to="limit" or another limit',
            argument="to",
        )
    if not np.isfinite(values[beyond]).all():
        raise DataError('to="mean": values beyond the limit are infinite and have no mean', argument="to")
    sums = np.bincount(of_row, groups.records.times(values[beyond], beyond), minlength=groups.n)
    least, most = np.full(groups.n, np.inf), np.full(groups.n, -np.inf)
    np.minimum.at(least, of_row, values[beyond])
    np.maximum.at(most, of_row, values[beyond])
    return np.clip(sums / np.maximum(counts, 1), least, most)[of_row]  # of equal values exactly what they are
