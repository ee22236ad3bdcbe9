"""Figures of households of a plan: summed by its engine, finished here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.plans.aggregates import aggregate
from sdckit.cells.plans.count_cells import most_cells
from sdckit.cells.plans.key_columns import PREFIX, KeyColumn, join_on
from sdckit.cells.plans.upload import upload
from sdckit.cells.record_columns import warn
from sdckit.cells.values import CellValues
from sdckit.data.frames import collect
from sdckit.errors import DataError

__all__ = ["Household", "sum_households"]

HOME, PERSON, SUM, N = f"{PREFIX}home", f"{PREFIX}person", f"{PREFIX}sum", f"{PREFIX}n"


@dataclass(frozen=True, eq=False)
class Household:
    """A figure of each household of a plan.

    `key` and `ids`: the column of households, and those there are, in the order of `figures`. `values`: the figures
    with the records that have them, those without a household included. `alone` (K,): what a record of each cell has
    that belongs to no household.
    """

    key: KeyColumn
    ids: Any
    figures: NDArray[np.float64]
    values: CellValues
    alone: NDArray[np.float64]

    def beside(self, frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
        """The plan, in which a column holds what each record has alone, with its household's figure there."""
        import pyarrow as pa

        table = pa.table({self.key.column: self.ids, SUM: pa.array(self.figures)})
        joined = join_on(frame, [self.key], upload(table, frame), [SUM])
        told = nw.when(self.key.absent).then(nw.col(name)).otherwise(nw.col(SUM))
        return joined.with_columns(told.alias(name)).drop(SUM)


def sum_households(
    frame: nw.LazyFrame[Any],
    key: KeyColumn,
    figure: str,
    person: str | None,
    after: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    alone: NDArray[np.float64],
    n: int,
) -> Household:
    """``after(sum of a figure over the members)`` of each household; a record without one is one by itself.

    `alone` (K,): what a record of each cell has by itself. `n`: records.

    Raises DataError: more households than fit here.
    """
    without = frame.filter(key.absent).group_by(figure).agg(nw.len().cast(nw.Int64).alias(N))
    single = collect(without)
    n_single = int(single[N].sum() or 0)
    if n_single:
        warn(f"{n_single} records have no household id in {key.name!r}: each is a household of its own")
    here = frame.filter(~key.absent)
    one, whose = nw.col(figure), [key.value.alias(HOME)]
    if person is None:
        summed = (
            here.select(*whose, one)
            .group_by(HOME)
            .agg(one.sum().alias(SUM), nw.len().cast(nw.Int64).alias(N))
        )
    else:  # a person of several rows counts once, with the smallest figure
        who = nw.col(person).alias(PERSON)
        each = (
            here.select(*whose, who, one)
            .group_by(HOME, PERSON)
            .agg(one.min(), nw.len().cast(nw.Int64).alias(N))
        )
        summed = each.group_by(HOME).agg(one.sum().alias(SUM), nw.col(N).sum())
    most = most_cells(1)
    if n > most and (found := int(aggregate(summed, nw.len())[0])) > most:
        raise DataError(
            f"column {key.name!r} has {found:,} households, and the free memory here takes {most:,}; use a machine "
            "with more memory, or leave the household out"
        )
    told = collect(summed.select(key.brought(HOME).alias(HOME), SUM, N))
    figures = after(told[SUM].to_numpy().astype(np.float64))
    values = np.concatenate([figures, after(single[figure].to_numpy().astype(np.float64))])
    sizes = np.concatenate([told[N].to_numpy(), single[N].to_numpy()]).astype(np.int64)
    ids = told.to_arrow().column(HOME)
    return Household(key, ids, figures, CellValues(values, sizes), alone)
