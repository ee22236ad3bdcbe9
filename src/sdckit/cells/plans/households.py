"""Figures of the households of a lazy frame: sums over members, by its engine or in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.count_cells import PREFIX, KeyColumn, expm1_negative, most_cells
from sdckit.cells.table import Cells, CellValues, say_ungrouped
from sdckit.data.frames import collect, count_records
from sdckit.data.memory import what_opens
from sdckit.errors import DataError
from sdckit.numerics import array_types, grouping
from sdckit.numerics.array_types import Ints, Values

HOME, PERSON, SUM, N = f"{PREFIX}home", f"{PREFIX}whose", f"{PREFIX}sum", f"{PREFIX}n"
Brought = Values | tuple[Values, ...]  # a figure of each cell; of cells in parts one array a part


@dataclass(eq=False)
class HouseholdSums:
    """Sums of figures over the members of the same households: all that are pending are computed in one pass.

    `joined` returns the lazy frame with figures of cells joined to its records. `key`: the column of households;
    `person`: that of persons with several rows; `n`: number of records. `members` returns the cells with the household
    of each record, if these are in memory; then sums are computed there. `before`: a figure per cell for each sum;
    `done`: sums and sizes computed so far.
    """

    joined: Callable[[Mapping[str, Brought]], nw.LazyFrame[Any]]
    key: KeyColumn
    person: str | None
    n: int
    members: Callable[[], Cells | None] = lambda: None
    before: list[Brought] = field(default_factory=list)
    done: list[tuple[array_types.Floats, Ints]] = field(default_factory=list)

    def add(self, before: Brought) -> int:
        """Add a figure of each cell to be summed over households; return its index."""
        self.before.append(before)
        return len(self.before) - 1

    def sums(self, at: int) -> tuple[array_types.Floats, Ints]:
        """The sums over the members of each household, and the number of its records."""
        if at >= len(self.done):
            waiting, members = self.before[len(self.done) :], self.members()
            self.done += self._on_engine(waiting) if members is None else self._here(waiting, members)
        return self.done[at]

    def _on_engine(self, figures: Sequence[Brought]) -> list[tuple[array_types.Floats, Ints]]:
        named = {f"{PREFIX}before{i}": figure for i, figure in enumerate(figures)}
        return sum_households(self.joined(named), self.key, list(named), self.person, self.n)

    def _here(self, figures: Sequence[Brought], members: Cells) -> list[tuple[array_types.Floats, Ints]]:
        of_row, n_homes = members.household_of_row(self.key.name)
        sizes = members.household_sizes(self.key.name)
        sums = (grouping.sum_by(of_row, np.asarray(figure)[members.table.of_row], n_homes) for figure in figures)
        return [(sum_, sizes) for sum_ in sums]


@dataclass(frozen=True, eq=False)
class Household:
    """A figure of each household of a plan: 1 - exp(sum of a figure over its members).

    `sums`, `at`: the sums over households and the index of its own. `after`: function of the sums.
    """

    sums: HouseholdSums
    at: int
    after: Callable[[array_types.Floats], array_types.Floats]

    @property
    def before(self) -> Brought:
        """The figure of each cell that is summed."""
        return self.sums.before[self.at]

    @cached_property
    def values(self) -> CellValues:
        """The figures with the number of records of each household; records without one are households of their own."""
        sums, sizes = self.sums.sums(self.at)
        return CellValues(self.after(sums), sizes)

    def beside(self, frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
        """The lazy frame with a column of summands per record replaced by the figure of the record's household."""
        own, key, person = nw.col(name), self.sums.key, self.sums.person
        frame = frame.with_columns(key.value.alias(HOME))
        summed = own
        if person is not None:  # a person of several rows counts once, with the smallest figure
            whose = [HOME, person]
            once = own.min().over(*whose) / nw.len().over(*whose).cast(nw.Float64)
            frame = frame.with_columns(once.alias(SUM))
            summed = nw.col(SUM)
        frame = frame.with_columns(summed.sum().over(HOME).alias(SUM))
        summed_up = frame.with_columns(nw.when(key.absent).then(own).otherwise(nw.col(SUM)).alias(name))
        return summed_up.with_columns(expm1_negative(own).alias(name)).drop(HOME, SUM)


def sum_households(
    frame: nw.LazyFrame[Any], key: KeyColumn, figures: Sequence[str], person: str | None, n: int
) -> list[tuple[array_types.Floats, Ints]]:
    """Sums of figures over the members of each household, and their numbers of records.

    A record without a household is one of its own. `n`: number of records.

    Raises DataError: more households than fit into memory.
    """
    own = [nw.col(figure) for figure in figures]
    chosen = frame.select(key.value.alias(HOME), *own, *([nw.col(person).alias(PERSON)] if person else []))
    # Records without a household are grouped by their values, of which there are few.
    alone = [f"{PREFIX}alone{i}" for i in range(len(own))]
    no_home = [nw.when(nw.col(HOME).is_null()).then(value).alias(name) for value, name in zip(own, alone, strict=True)]
    size = nw.len().cast(nw.Int64).alias(N)
    chosen = chosen.with_columns(*no_home)
    summed = [figure.sum().alias(f"{SUM}{i}") for i, figure in enumerate(own)]
    if person is None:
        homes = chosen.group_by(HOME, *alone).agg(*summed, size)
    else:  # a person of several rows counts once, with the smallest figure
        persons = chosen.group_by(HOME, PERSON, *alone).agg(*(figure.min() for figure in own), size)
        homes = persons.group_by(HOME, *alone).agg(*summed, nw.col(N).sum())
    most = most_cells(len(own), frame)
    if n > most and (n_homes := count_records(homes)) > most:
        raise DataError(
            f"column {key.name!r} has {n_homes:,} households, and the free memory here takes {most:,}; leave the "
            f"household out, {what_opens(frame, n_homes / max(1, most))}"
        )
    collected = collect(homes.drop(HOME))
    sizes = collected[N].to_numpy().astype(np.int64)
    brought = [collected[name].to_numpy().astype(np.float64) for name in alone]
    single = ~np.isnan(brought[0])
    say_ungrouped(key.name, int(sizes[single].sum()), int(sizes.sum()))
    sums = (collected[f"{SUM}{i}"].to_numpy().astype(np.float64) for i in range(len(own)))
    return [(np.where(single, figure, total), sizes) for figure, total in zip(brought, sums, strict=True)]
