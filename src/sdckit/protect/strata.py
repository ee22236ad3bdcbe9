"""Strata: records with the same values of some columns, within which a method works on its own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data.columns import code_column, first_rows
from sdckit.errors import DataError
from sdckit.numerics.array_types import Ints
from sdckit.numerics.search.count_boxes import order_by_group


def strata_rows(frame: Any, names: Sequence[str]) -> list[Ints]:
    """The rows of each stratum, ascending; a missing value is a level of its own.

    The strata stand in the order of their first records.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> [rows.tolist() for rows in strata_rows(open_frame(pl.DataFrame({"s": ["b", "a", "b"]})), ["s"])]
    [[0, 2], [1]]
    """
    if not names:
        return [np.arange(len(frame))]
    found = group_codes([code_column(frame[name]).codes() for name in names], len(frame))
    rows, edges = order_by_group(found.of_row, len(found.size))
    parts = [rows[a:b] for a, b in itertools.pairwise(edges)]
    return sorted(parts, key=lambda part: int(part[0]))


def at_least(k: int, strata: Sequence[Ints], names: Sequence[str], n: int) -> None:
    """Refuse strata with fewer than k records; the error says how many there are, and where."""
    if n < k:
        raise DataError(f"k = {k} records to a group, and the data has {n} in all; lower k")
    if small := [rows for rows in strata if len(rows) < k]:
        where = np.zeros(n, np.bool_)
        where[np.concatenate(small)] = True
        raise DataError(
            f"{len(small)} of {len(strata)} strata of {', '.join(names)} have fewer than k = {k} records "
            f"({first_rows(where)}); merge strata or lower k"
        )
