"""Households of a file: their areas, what makes two alike, and how rare their members are in each area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.data.columns import code_column, first_rows
from sdckit.errors import DataError

__all__ = ["Households", "one_per_household", "read_households"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Households:
    """The households of a file, numbered by their first record."""

    of_row: Ints  # shape (n,)
    first: Ints  # shape (n_households,); first record of each
    size: Ints  # shape (n_households,)
    # per level, the largest areas first: the area of each, part of the one above it
    areas: tuple[Ints, ...]
    # per level: the fewest records of its area that share the keys of one of its members
    rarest: tuple[Ints, ...]


def read_households(
    frame: Any, household: str | None, hierarchy: Sequence[str], keys: Sequence[str]
) -> Households:
    """Read the households, and count the key combinations area by area.

    Raises `DataError`: a household without a number, or whose members live in different areas.
    """
    n = len(frame)
    of_row = np.arange(n)
    if household is not None:
        coded = code_column(frame[household])
        codes = coded.codes()
        if coded.n_missing:
            raise DataError(
                f"household {household!r} is missing for {coded.n_missing} records "
                f"({first_rows(codes == coded.span)}); give every record one"
            )
        found, begin, inverse = np.unique(codes, return_index=True, return_inverse=True)
        rank = np.empty(len(found), np.int64)
        rank[np.argsort(begin)] = np.arange(len(found))
        of_row = rank[inverse.reshape(-1)]
    first = np.unique(of_row, return_index=True)[1].astype(np.int64)
    combination = group_codes([code_column(frame[name]).codes() for name in keys], n).of_row.astype(np.int64)
    area, areas, rarest = np.zeros(n, np.int64), [], []
    for name in hierarchy:
        own = one_per_household(frame, name, of_row, first)
        area = group_codes([area, own[of_row]], n).of_row.astype(np.int64)
        cells = group_codes([area, combination], n)
        fewest = np.full(len(first), n, np.int64)
        np.minimum.at(fewest, of_row, cells.size[cells.of_row])
        areas.append(area[first])
        rarest.append(fewest)
    return Households(of_row, first, np.bincount(of_row), tuple(areas), tuple(rarest))


def one_per_household(frame: Any, name: str, of_row: Ints, first: Ints) -> Ints:
    """Codes of a variable that all members of a household share.

    Raises `DataError`: members that differ.
    """
    codes = code_column(frame[name]).codes()
    bad = codes != codes[first][of_row]
    if bad.any():
        raise DataError(
            f"column {name!r} differs within {len(np.unique(of_row[bad])):,} households ({first_rows(bad)}); "
            "a household is swapped as a whole, give its members one value"
        )
    return np.asarray(codes[first], np.int64)
