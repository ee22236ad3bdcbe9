"""The columns a numeric method changes, read and checked at the door, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.columns import first_rows, float_values
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats


def chosen(given: Sequence[str], role: str = "columns") -> tuple[str, ...]:
    """The columns named, one at least.

    Raises `ColumnError`: none, one text instead of a list, or a name twice.

    >>> chosen(["income"])
    ('income',)
    """
    names = arguments.names(given, role) or ()
    if not names:
        raise ColumnError(f"{role}= names no column; name those that shall be changed", argument=role)
    return names


def numbers(frame: Any, names: Sequence[str], *, constant: str | None = None) -> dict[str, Floats]:
    """Read columns of numbers, NaN where missing.

    `constant`: what cannot be done to a column of equal values; refused where given. Raises `DataError`:
    text, infinite values, no value at all, or equal values where these are refused.
    """
    found = {name: float_values(frame[name], "column") for name in names}
    for name, values in found.items():
        if np.isinf(values).any():
            raise DataError(
                f"column {name!r} holds infinite values ({first_rows(np.isinf(values))}); "
                "make them missing or limit them"
            )
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if np.isnan(low):
            raise DataError(f"column {name!r} has no value at all; leave it out")
        if constant is not None and low == high:
            raise DataError(f"column {name!r} is constant, {constant}; leave it out")
    return found


def count_changed(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> dict[str, int]:
    """Values that are others than before, by column.

    >>> count_changed({"x": np.array([1.0, np.nan, 3.0])}, {"x": np.array([1.0, np.nan, 4.0])})
    {'x': 1}
    """
    return {
        name: int(np.count_nonzero(after[name] != values) - np.count_nonzero(np.isnan(values)))
        for name, values in before.items()
    }


def became_fractions(frame: Any, data: Any, names: Sequence[str]) -> dict[str, str]:
    """A note naming columns that now hold numbers of another type, because not all are whole."""
    made = open_frame(data)
    pairs = [(name, frame[name].dtype, made[name].dtype) for name in names]
    moved = [f"{name} was {before}, is {after}" for name, before, after in pairs if before != after]
    return {"type": "; ".join(moved)} if moved else {}
