"""Several files, one coding: equal values have equal codes in each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.errors import ColumnError

if TYPE_CHECKING:
    from sdckit.cells.table import Cells
    from sdckit.data.columns import Coded

__all__ = ["SharedCoding", "matching_cells", "share_coding"]

FAMILIES = {"integer": "numbers", "number": "numbers", "boolean": "true and false"}
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "day": 86_400 * 10**9}
DAYS_BITS = 32  # a date of 32 bits counts days, one of 64 milliseconds
EXACT = 2**53  # whole numbers up to here are exact as floats
DAY = re.compile(r"\d{4}-\d\d-\d\d")
SPARSE = 8  # code ranges wider than this times the records are sorted, narrower ones marked in a table


@dataclass(frozen=True, eq=False)
class SharedCoding:
    """One column of several files, coded alike.

    Attributes
    ----------
    codes : tuple of ndarray, int32
        Codes of each file; 0 is a missing value, 1 to `n_levels` are the values in ascending order.
    n_levels : int
        Different values over all files.
    kind : str
        "numbers", "text", "true and false", "dates", ...; "nothing" where every value is missing.
    """

    codes: tuple[NDArray[np.int32], ...]
    n_levels: int
    kind: str
    printers: tuple[tuple[Coded, NDArray[np.int64], NDArray[np.int32]], ...]

    def labels(self) -> list[str]:
        """Printed form of the levels, from code 0 (a missing value) on."""
        found = ["(missing)"] * (self.n_levels + 1)
        for coded, levels, numbers in reversed(self.printers):
            for number, label in zip(numbers.tolist(), coded.labels(levels), strict=True):
                found[number] = label
        return found


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
    k = left.n_cells
    both = [
        np.concatenate(share_coding(key, [(a, x), (b, y)]).codes)
        for key, a, x, b, y in zip(
            left.keys, left.levels, left.table.codes, right.levels, right.table.codes, strict=True
        )
    ]
    group_of = group_codes(both, k + right.n_cells).of_row
    cell = np.full(int(group_of.max()) + 1, -1, np.int64)
    cell[group_of[k:]] = np.arange(right.n_cells)
    found: NDArray[np.int64] = cell[group_of[:k]]
    return found


def share_coding(
    key: str, sides: Sequence[tuple[Coded, NDArray[np.int64]]], files: Sequence[str] = ()
) -> SharedCoding:
    """Renumber the codes of a column so that equal values have equal codes in every file.

    Parameters
    ----------
    key : str
        Name of the column, for messages.
    sides : sequence of (Coded, ndarray)
        For each file how its codes print, and the codes.
    files : sequence of str, optional
        Names of the files, for messages.

    Raises
    ------
    ColumnError
        The files hold values that cannot be compared; names the column, the files and both types.
    """
    used = [_used(coded, codes) for coded, codes in sides]
    families = [_family(coded, values) for (coded, _), (_, values) in zip(sides, used, strict=True)]
    if _dates_in_words(sides, used, families):
        used = [
            (levels, coded.labels(levels) if family == "dates" else values)
            for (coded, _), (levels, values), family in zip(sides, used, families, strict=True)
        ]
        families = ["text" if family == "dates" else family for family in families]
    _check_types(key, families, files)
    n_levels, numbers = _numbered([values for _, values in used])
    out, printers = [], []
    for (coded, codes), (levels, _), number in zip(sides, used, numbers, strict=True):
        out.append(_translated(coded, codes, levels, number))
        printers.append((coded.without_rows(), levels, number))
    kind = next((family for family in families if family != "nothing"), "nothing")
    return SharedCoding(tuple(out), n_levels, kind, tuple(printers))


Values = list[Any] | NDArray[Any]


def _used(coded: Coded, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], Values]:
    """The codes in use, missing aside, and their values in a form that compares across types of storage."""
    if coded.span > SPARSE * len(codes):
        levels = np.unique(codes)
        levels = levels[levels < coded.span]
    else:
        present = np.zeros(coded.span + 1, np.bool_)
        present[codes] = True
        levels = np.flatnonzero(present[:-1])
    if len(levels) == 0:
        return levels, []
    if coded.kind == "date":
        return levels, _instants(coded, levels)
    if coded.levels is None:
        if abs(coded.low) + coded.span < 2**63:
            return levels, levels + coded.low
        return levels, [code + coded.low for code in levels.tolist()]
    listed = _listed(coded).take(levels)
    if coded.kind == "number" and str(listed.type) == "double":
        return levels, listed.to_numpy(zero_copy_only=False)
    return levels, [_plain(value) for value in listed.to_pylist()]


def _numbered(sides: Sequence[Values]) -> tuple[int, list[NDArray[np.int32]]]:
    """Number the values of all files together, ascending from 1."""
    if all(isinstance(values, np.ndarray) or not values for values in sides):
        arrays = [np.asarray(values, None if len(values) else np.int64) for values in sides]
        if len({array.dtype.kind for array in arrays if len(array)}) <= 1 or all(
            array.dtype.kind == "f" or len(array) == 0 or np.abs(array).max() < EXACT for array in arrays
        ):
            union = np.unique(np.concatenate(arrays))
            return len(union), [(np.searchsorted(union, array) + 1).astype(np.int32) for array in arrays]
    together = sorted({value for values in sides for value in _as_list(values)})
    number = {value: i for i, value in enumerate(together, 1)}
    return len(together), [np.array([number[v] for v in _as_list(values)], np.int32) for values in sides]


def _as_list(values: Values) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _translated(
    coded: Coded, codes: NDArray[np.int64], levels: NDArray[np.int64], number: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The shared code of each record; 0 where the value is missing."""
    if coded.span > SPARSE * len(codes):
        out = np.zeros(len(codes), np.int32)
        known = codes < coded.span
        out[known] = number[np.searchsorted(levels, codes[known])]
        return out
    table = np.zeros(coded.span + 1, np.int32)
    table[levels] = number
    return table[codes]


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


def _family(coded: Coded, values: Values) -> str:
    """What the values can be compared with: numbers with numbers, text with text, dates with dates."""
    if len(values) == 0:
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


def _dates_in_words(
    sides: Sequence[tuple[Coded, NDArray[np.int64]]],
    used: Sequence[tuple[NDArray[np.int64], Values]],
    families: Sequence[str],
) -> bool:
    """Whether days of one file stand as text in another, as where a release has some of them masked."""
    if not {"dates", "text"} <= set(families) <= {"dates", "text", "nothing"}:
        return False
    if any(
        family == "dates" and not str(coded.arrow_type).startswith("date")
        for (coded, _), family in zip(sides, families, strict=True)
    ):
        return False
    texts = [values for (_, values), family in zip(used, families, strict=True) if family == "text"]
    return all(any(DAY.fullmatch(value) for value in values) for values in texts)


def _check_types(key: str, families: Sequence[str], files: Sequence[str]) -> None:
    first = next((i for i, family in enumerate(families) if family != "nothing"), 0)
    for i, family in enumerate(families):
        if family not in (families[first], "nothing"):
            here, there = (files[first], files[i]) if files else ("one file", "the other")
            raise ColumnError(
                f"column {key!r} holds {families[first]} in {here} and {family} in {there}; give both the same type "
                "(where the release was recoded, recode the other files alike)"
            )
