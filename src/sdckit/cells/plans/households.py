"""Figures of households of a plan: summed by its engine, finished here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.plans.aggregates import expm1_negative
from sdckit.cells.plans.count_cells import most_cells
from sdckit.cells.plans.key_columns import PREFIX, KeyColumn
from sdckit.cells.record_columns import warn
from sdckit.cells.values import CellValues
from sdckit.data.frames import collect, count_records
from sdckit.errors import DataError

__all__ = ["Household", "sum_households"]

HOME, PERSON, SUM, N = f"{PREFIX}home", f"{PREFIX}whose", f"{PREFIX}sum", f"{PREFIX}n"
ALONE = f"{PREFIX}alone"


@dataclass(frozen=True, eq=False)
class Household:
    """A figure of each household of a plan: 1 - exp(sum of a figure over its members).

    `key`: the column of households; `person`: that of persons of several rows. `before` (K,): what a record of each
    cell brings. `values`: the figures with the records that have them, those without a household included.
    """

    key: KeyColumn
    person: str | None
    before: NDArray[np.float64]
    values: CellValues

    def beside(self, frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
        """The plan, in which a column holds what each record brings, with its household's figure there."""
        own = nw.col(name)
        frame = frame.with_columns(self.key.value.alias(HOME))
        summed = own
        if self.person is not None:  # a person of several rows counts once, with the smallest figure
            whose = [HOME, self.person]
            once = own.min().over(*whose) / nw.len().over(*whose).cast(nw.Float64)
            frame = frame.with_columns(once.alias(SUM))
            summed = nw.col(SUM)
        frame = frame.with_columns(summed.sum().over(HOME).alias(SUM))
        told = nw.when(self.key.absent).then(own).otherwise(nw.col(SUM))
        summed_up = frame.with_columns(told.alias(name))
        return summed_up.with_columns(expm1_negative(own).alias(name)).drop(HOME, SUM)


def sum_households(
    frame: nw.LazyFrame[Any],
    key: KeyColumn,
    figure: str,
    person: str | None,
    after: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    n: int,
) -> CellValues:
    """``after(sum of a figure over the members)`` of each household; a record without one is one by itself.

    `n`: records of the plan.

    Raises DataError: more households than fit here.
    """
    one = nw.col(figure)
    chosen = frame.select(key.value.alias(HOME), one, *([nw.col(person).alias(PERSON)] if person else []))
    # A record without a household is told by what it brings: there are few such figures.
    alone = nw.when(nw.col(HOME).is_null()).then(one)
    size = nw.len().cast(nw.Int64).alias(N)
    chosen = chosen.with_columns(alone.alias(ALONE))
    if person is None:
        summed = chosen.group_by(HOME, ALONE).agg(one.sum().alias(SUM), size)
    else:  # a person of several rows counts once, with the smallest figure
        each = chosen.group_by(HOME, PERSON, ALONE).agg(one.min(), size)
        summed = each.group_by(HOME, ALONE).agg(one.sum().alias(SUM), nw.col(N).sum())
    most = most_cells(1)
    if n > most and (found := count_records(summed)) > most:
        raise DataError(
            f"column {key.name!r} has {found:,} households, and the free memory here takes {most:,}; use a machine "
            "with more memory, or leave the household out"
        )
    told = collect(summed)
    single = ~np.isnan(told[ALONE].to_numpy().astype(np.float64))
    sums, sizes = told[SUM].to_numpy().astype(np.float64), told[N].to_numpy().astype(np.int64)
    if n_single := int(sizes[single].sum()):
        warn(f"{n_single} records have no household id in {key.name!r}: each is a household of its own")
        sums = np.where(single, told[ALONE].to_numpy().astype(np.float64), sums)
    return CellValues(after(sums), sizes)
