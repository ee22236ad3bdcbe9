"""Two files, one coding: which cell of one file has the same key as a cell of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.errors import ColumnError

if TYPE_CHECKING:
    from sdckit.cells.table import Cells
    from sdckit.data.columns import Coded

__all__ = ["matching_cells", "shared_codes"]

FAMILIES = {"integer": "numbers", "number": "numbers", "boolean": "true and false"}
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "day": 86_400 * 10**9}
DAYS_BITS = 32  # a date of 32 bits counts days, one of 64 milliseconds


def matching_cells(left: Cells, right: Cells) -> NDArray[np.int64]:
    """For each cell of `left` the cell of `right` with the same key, -1 where there is none.

    A missing key value is a level of its own. Values are compared, not their types of storage: an integer
    matches a float of the same value, a category the text it stands for.

    Raises
    ------
    ColumnError
        A key holds text in one file and numbers in the other, say; names the key and both types.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.cells.as_cells import as_cells
    >>> a, b = (as_cells(pl.DataFrame({"x": x}), keys=["x"]) for x in ([1, 2, 2], [2.0, 3.0, 3.0]))
    >>> found = matching_cells(a, b)
    >>> sorted(b.columns["cell_size"][found[found >= 0]].tolist()), int((found < 0).sum())
    ([1], 1)
    """
    pairs = [
        shared_codes(key, (a, x), (b, y))
        for key, a, x, b, y in zip(
            left.keys, left.levels, left.table.codes, right.levels, right.table.codes, strict=True
        )
    ]
    k = left.n_cells
    both = [np.concatenate(pair) for pair in pairs]
    group_of = group_codes(both, k + right.n_cells).of_row
    cell = np.full(int(group_of.max()) + 1, -1, np.int64)
    cell[group_of[k:]] = np.arange(right.n_cells)
    found: NDArray[np.int64] = cell[group_of[:k]]
    return found


def shared_codes(
    key: str, left: tuple[Coded, NDArray[np.int64]], right: tuple[Coded, NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes of the same column in two files, renumbered so that equal values have equal codes from 1; 0 is missing.

    Parameters
    ----------
    key : str
        Name of the column, for messages.
    left, right : pair of Coded and ndarray
        How the codes of each file print, and the codes.
    """
    used = [_used(coded, codes) for coded, codes in (left, right)]
    _check_types(key, [(coded, values) for (coded, _), (_, values) in zip((left, right), used, strict=True)])
    number: dict[Any, int] = {}
    out = []
    for (coded, codes), (levels, values) in zip((left, right), used, strict=True):
        numbers = np.array([number.setdefault(value, len(number) + 1) for value in values], np.int64)
        at = np.searchsorted(levels, codes)
        new = np.zeros(len(codes), np.int64)
        known = codes < coded.span
        new[known] = numbers[at[known]]
        out.append(new)
    return out[0], out[1]


def _used(coded: Coded, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Any]]:
    """The codes in use, missing aside, and their values in a form that compares across types of storage."""
    levels = np.unique(codes)
    levels = levels[levels < coded.span]
    if len(levels) == 0:
        return levels, []
    if coded.kind == "date":
        return levels, _instants(coded, levels)
    if coded.levels is None:
        return levels, [code + coded.low for code in levels.tolist()]
    return levels, [_plain(value) for value in _listed(coded).take(levels).to_pylist()]


def _listed(coded: Coded) -> Any:
    return coded.levels() if callable(coded.levels) else coded.levels


def _instants(coded: Coded, levels: NDArray[np.int64]) -> list[int]:
    """Dates and times as nanoseconds, whatever unit the file holds them in."""
    if coded.levels is None:
        stored = [code + coded.low for code in levels.tolist()]
    else:
        stored = _listed(coded).take(levels).view("int64").to_pylist()
    unit = NANOSECONDS[getattr(coded.arrow_type, "unit", None) or _date_unit(coded)]
    return [value * unit for value in stored]


def _date_unit(coded: Coded) -> str:
    return "day" if coded.arrow_type.bit_width == DAYS_BITS else "ms"


def _plain(value: Any) -> Any:
    from decimal import Decimal

    return float(value) if isinstance(value, Decimal) else value


def _family(coded: Coded, values: list[Any]) -> str:
    """What the values can be compared with: numbers with numbers, text with text, dates with dates."""
    if not values:
        return "nothing"
    if coded.kind in FAMILIES:
        return FAMILIES[coded.kind]
    if coded.kind == "date":
        zone = " with a time zone" if getattr(coded.arrow_type, "tz", None) else ""
        kind = str(coded.arrow_type).partition("[")[0].rstrip("0123456789")
        return ("dates" if kind in ("date", "timestamp") else f"{kind}s") + zone
    value = values[0]  # a category or text: what its levels are
    if isinstance(value, bool):
        return "true and false"
    if isinstance(value, (int, float)):
        return "numbers"
    return "text" if isinstance(value, str) else type(value).__name__


def _check_types(key: str, sides: list[tuple[Coded, list[Any]]]) -> None:
    first, second = (_family(coded, values) for coded, values in sides)
    if first != second and "nothing" not in (first, second):
        raise ColumnError(
            f"key {key!r} holds {first} in one file and {second} in the other; give both the same type"
        )
