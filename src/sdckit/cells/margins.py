"""Fewer keys: the cells that cells merge into, never from the records again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import Layout, Tabulated, group_codes
from sdckit.cells.table import Cells
from sdckit.cells.tabulate import frequency_columns_of
from sdckit.errors import DataError
from sdckit.numerics.gather import sum_by
from sdckit.numerics.grouping import Groups, group

__all__ = ["without_keys"]


def without_keys(cells: Cells, dropped: Collection[str]) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """Frequencies when some keys are left out.

    Parameters
    ----------
    cells : Cells
        Made without `person`: distinct persons cannot be counted from cells.
    dropped : collection of str
        Keys to leave out.

    Returns
    -------
    columns : dict of str to ndarray, shape (K',)
        ``sample_frequency`` and ``population_frequency`` of the merged cells.
    size : ndarray, int64, shape (K',)
        Their records.
    """
    if cells.roles.person is not None:
        raise DataError("distinct persons cannot be counted from cells; leave person= out here")
    kept = [j for j, key in enumerate(cells.keys) if key not in dropped]
    merged = _merge(cells, kept)
    k = len(merged.size)
    size = np.bincount(merged.of_row, cells.table.size, k).astype(np.int64)
    weight = None if cells.table.weight is None else sum_by(merged.of_row, cells.table.weight, k)
    one = np.empty(k, np.int64)
    one[merged.of_row[::-1]] = np.arange(cells.n_cells - 1, -1, -1)
    codes = tuple(cells.table.codes[j][one] for j in kept)
    layout = None
    if cells.table.layout is not None:
        old: Layout = cells.table.layout
        layout = Layout(tuple(old.shifts[j] for j in kept), tuple(old.bits[j] for j in kept))
    words = merged.words if layout is not None else None
    table = replace(
        cells.table, of_row=merged.of_row, size=size, weight=weight, codes=codes, words=words, layout=layout
    )
    columns = frequency_columns_of(
        table,
        counted=size,
        total=weight,
        missing_codes=[cells.levels[j].span for j in kept],
        wild=[cells.rules[j] == "wildcard" and cells.n_missing[j] > 0 for j in kept],
        alpha=cells.alpha,
        sampling_fraction=cells.roles.sampling_fraction,
    )
    return columns, size


def _merge(cells: Cells, kept: list[int]) -> Groups:
    table: Tabulated = cells.table
    if table.words is None or table.layout is None:
        return group_codes([table.codes[j] for j in kept], cells.n_cells)
    fields = 0
    for j in kept:
        fields |= table.layout.field(j)
    return group(table.words & np.uint64(fields), bits=max(1, fields.bit_length()))
