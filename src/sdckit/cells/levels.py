"""The levels of a sensitive variable: how often the file has each, and what order or numbers they have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.crosstab import crosstab
from sdckit.cells.level_counts import Crosstab
from sdckit.cells.table import AnyCells
from sdckit.data.columns import Coded


@dataclass(frozen=True, eq=False)
class Levels:
    """The values of a variable that occur in the file, in the order of their codes.

    `codes` (M,): codes in use, ascending, that of a missing value left out. `size` (M,): records with each.
    `n_missing`: records without a value. `kind`: in words for messages. `numbers` (M,): the values as numbers; None
    for text and categories. `declared`: whether the column declares an order of its categories: that of the codes.
    """

    name: str
    codes: NDArray[np.int64]
    size: NDArray[np.int64]
    n_missing: int
    kind: str
    numbers: NDArray[np.float64] | None
    declared: bool
    coded: Coded = field(repr=False)

    def labels(self) -> list[str]:
        """Printed form of each level."""
        return self.coded.labels(self.codes)


def levels_of(cells: AnyCells, variable: str) -> Levels:
    """List the levels of a variable; once for all measures of the same cells.

    Raises DataError: the variable has no value in any record.

    >>> import polars as pl
    >>> from sdckit.cells.as_cells import as_cells
    >>> cells = as_cells(pl.DataFrame({"k": [1, 1, 1, 2], "debt": [5, 3, None, 5]}), keys=["k"])
    >>> found = levels_of(cells, "debt")
    >>> found.labels(), found.size.tolist(), found.n_missing
    (['3', '5'], [1, 2], 1)
    """
    return cells.in_memory().once(("levels", variable), lambda: _levels(crosstab(cells, variable), variable))


def _levels(table: Crosstab, variable: str) -> Levels:
    coded = table.coded
    if coded.n_codes <= 4 * len(table.level):
        size = np.bincount(table.level, table.count, coded.n_codes).astype(np.int64)
        codes = np.flatnonzero(size)
        size = size[codes]
    else:
        codes, inverse = np.unique(table.level, return_inverse=True)
        size = np.bincount(inverse, table.count).astype(np.int64)
    known = codes != table.missing
    return Levels(
        name=variable, codes=codes[known], size=size[known], n_missing=int(size[~known].sum()), kind=coded.kind,
        numbers=numbers_of(coded, codes[known]), coded=coded, declared=table.ordered,
    )  # fmt: skip


def numbers_of(coded: Coded, codes: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """The values behind codes where they lie on a scale; dates count in their own unit."""
    import pyarrow as pa
    import pyarrow.types as t

    if coded.levels is None:
        return codes.astype(np.float64) + float(coded.low)
    listed: Any = coded.levels() if callable(coded.levels) else coded.levels
    if t.is_temporal(listed.type) and not t.is_interval(listed.type):
        listed = listed.view(pa.int32() if listed.type.bit_width == 32 else pa.int64())
    if not (t.is_integer(listed.type) or t.is_floating(listed.type) or t.is_decimal(listed.type)):
        return None
    values: NDArray[np.float64] = (
        listed.take(pa.array(codes)).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    )
    return values
