"""The cells of a lazy frame, counted by its engine and measured here; records stay on the engine.

`LazyCells` has them in memory; `PartedCells` (`cells_in_parts.py`) has them in parts, if they do not fit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells import table as tables, tabulate
from sdckit.cells.plans import count_cells as counting
from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.count_cells import count_by
from sdckit.cells.plans.households import Brought, Household, HouseholdSums
from sdckit.cells.plans.levels_aside import PartLevels, deal_levels
from sdckit.cells.plans.spilled import Spilled
from sdckit.cells.table import count_levels
from sdckit.data import arguments
from sdckit.data.frames import built, check_plan_names, collect, on_spark
from sdckit.data.memory import PER_VALUE, bytes_here, what_opens
from sdckit.errors import DataError
from sdckit.numerics.array_types import Codes, Values
from sdckit.result import FileFigure

# Figures of subgroups of a lazy frame, aggregated by its engine.


MOST_GROUPS = 1_000_000
ROWS = "rows"  # in the memo of opened files, with the number of one: what was counted of it by itself


def lazy_group_figures(
    frame: nw.LazyFrame[Any], columns: Mapping[str, str], by: Sequence[str], figures: Sequence[FileFigure]
) -> tuple[nw.DataFrame[Any], list[list[float]]]:
    """Labels of the groups with their numbers of records (``n``), and for each figure its values by group.

    `columns`: column of the lazy frame that holds the values of each record, by column of the figures.

    Raises DataError: more groups than can be collected, or a column of lists or structures.
    """
    check_plan_names(frame, by, "by")
    schema = frame.collect_schema()
    labels = [f"sdckit__by{i}" for i in range(len(by))]
    ours = [
        counting.KeyColumn.of(name, i, schema[name]).present.alias(label)
        for i, (name, label) in enumerate(zip(by, labels, strict=True))
    ]
    values = [_value(figure, columns).alias(f"sdckit__value{i}") for i, figure in enumerate(figures)]
    grouped = (
        frame.select(*ours, *values)
        .group_by(*labels)
        .agg(
            nw.len().cast(nw.Int64).alias("sdckit__n"),
            *(_made(figure, f"sdckit__value{i}").alias(f"sdckit__f{i}") for i, figure in enumerate(figures)),
        )
    )
    groups = collect(grouped.head(MOST_GROUPS + 1))
    groups = groups.sort(*labels, nulls_last=True)  # an engine gives groups in any order
    if len(groups) > MOST_GROUPS:
        raise DataError(f"by: more than {MOST_GROUPS:,} groups; name columns with fewer values", argument="by")
    by_figure = [[_number(value) for value in groups[f"sdckit__f{i}"].to_list()] for i in range(len(figures))]
    names = dict(zip([*labels, "sdckit__n"], [*by, "n"], strict=True))
    return groups.select(*names).rename(names), by_figure


def _value(figure: FileFigure, columns: Mapping[str, str]) -> nw.Expr:
    value = nw.col(columns[figure.column]).cast(nw.Float64)
    if figure.below is not None:
        return (value < figure.below).cast(nw.Int64).cast(nw.Float64)
    return value if figure.above is None else (value > figure.above).cast(nw.Int64).cast(nw.Float64)


def _made(figure: FileFigure, column: str) -> nw.Expr:
    return {"mean": nw.col(column).mean, "sum": nw.col(column).sum, "min": nw.col(column).min,
            "max": nw.col(column).max}[figure.how]()  # fmt: skip


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


COLLECT_LIMIT = 200_000_000  # values of records collected for a measure that cannot be computed from cells


@dataclass(frozen=True, eq=False)
class PlanCells(tables.AnyCells):
    """The key combinations of a lazy frame (Polars lazy, DuckDB, Spark), counted by its engine."""

    frame: nw.LazyFrame[Any] = field(repr=False)
    own_columns: tuple[str, ...] = field(repr=False)
    households: Mapping[str, Household] = field(default_factory=dict, repr=False, kw_only=True)
    too_many: tuple[str, ...] = field(default=(), repr=False, kw_only=True)  # columns with more combinations than fit

    def values(self, name: str) -> tables.RecordValues:
        """A figure, to be asked for its mean, counts and quantiles."""
        return self.households[name].values if name in self.households else self._values(name)

    @abstractmethod
    def _values(self, name: str) -> tables.RecordValues:
        """A figure of each cell, not of households."""

    @abstractmethod
    def _brought(self, name: str, kernel: tables.Kernel | None = None) -> Brought:
        """A figure of each cell, or the result of a kernel for it."""

    @abstractmethod
    def _joined(self, figures: Mapping[str, Brought], beside: Sequence[str] | None = None) -> nw.LazyFrame[Any]:
        """The lazy frame with figures of cells joined to its records by the keys; `beside`: columns to keep."""

    @abstractmethod
    def _once(self, key: Any, make: Callable[[], HouseholdSums]) -> HouseholdSums:
        """Return what a function returns, computed once for all measures of these cells."""

    def with_household(
        self, name: str, values: str, household: str, *, before: tables.Kernel, after: tables.Kernel
    ) -> Self:
        """Add a figure per household, computed on first use: ``after(sum of before(value) over its members)``."""
        column = self._key_of(household, "household")
        who = [role for role in (household, self.roles.person) if role is not None]
        sums = self._once(
            ("households", household, self.roles.person),
            lambda: HouseholdSums(
                lambda figures: self._joined(figures, who),
                column,
                self.roles.person,
                self.n,
                members=lambda: self._members_kept(household),
            ),
        )
        home = Household(sums, sums.add(self._brought(values, before)), after)
        return replace(self, households={**self.households, name: home})

    def _key_of(self, name: str, role: str) -> counting.KeyColumn:
        arguments.present([name], self.own_columns, role)
        dtype = self.frame.collect_schema()[name]
        return counting.KeyColumn.of(name, 0, dtype, whole_times=self.frame.implementation.is_polars())

    def joined(
        self, names: Sequence[str], beside: Sequence[str] | None = None
    ) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
        """The lazy frame with figures joined to its records, and the column of each figure.

        `beside`: columns of the lazy frame to keep; default all.
        """
        columns = {name: counting.PREFIX + name for name in names}
        homes = [self.households[name] for name in names if name in self.households]
        if beside is not None:
            whose = [name for home in homes for name in (home.sums.key.name, home.sums.person) if name is not None]
            beside = [*beside, *whose]
        frame = self._joined({columns[name]: self._of_cell(name) for name in names}, beside)
        for name in names:
            if name in self.households:
                frame = self.households[name].beside(frame, columns[name])
        return frame, columns

    def _of_cell(self, name: str) -> Brought:
        return self.households[name].before if name in self.households else self._brought(name)

    def records(self, names: Sequence[str], *, prefix: str = "") -> Any:
        """The caller's lazy frame with the named figures appended, not executed."""
        tables.check_result_names(self.own_columns, [prefix + name for name in names])
        check_plan_names(self.frame, self.own_columns)

        def beside() -> Any:
            frame, columns = self.joined(names)
            results = [nw.col(columns[name]).alias(prefix + name) for name in names]
            return frame.select(*(nw.col(own) for own in self.own_columns), *results).to_native()

        return built(beside)

    def rows_where(self, below: float, risk_above: float | None, limit: int) -> list[dict[str, Any]]:
        """The same records, the riskiest first: key values and figures; a plan has no row numbers."""
        listed = [name for name in (*self.columns, *self.households) if name in tables.LISTED]
        frame, columns = self.joined(listed, [])
        hit = nw.col(columns["sample_frequency"]).cast(nw.Float64) < below
        if risk_above is not None:
            hit = hit | (nw.col(columns["risk"]) > risk_above)
        chosen = frame.filter(hit).select(*self.keys, *columns.values())
        collected = collect(chosen.sort(columns["risk"], descending=True).head(limit))
        return [
            {
                "row": None,
                "keys": {key: row[key] for key in self.keys},
                **{name: row[place] for name, place in columns.items()},
            }
            for row in collected.rows(named=True)
        ]

    def in_memory(self, *extra: str) -> tables.Cells:
        """The cells; with `extra` columns, cells of all records in memory, refused above a size."""
        if not extra:
            return self._all_here()
        others = (self.roles.weight, self.roles.person, self.roles.id)
        wanted = list(dict.fromkeys([*self.keys, *extra, *(name for name in others if name is not None)]))
        check_collected(self.n, len(wanted), self.frame)
        counting.refuse_spans(self.frame, wanted)
        home = self.roles.household if self.roles.household in extra else None
        bare = replace(self.roles, sensitive=(), household=home)  # other columns are not collected
        return replace(tabulate.tabulate_frame(collect(self.frame.select(*wanted)), bare), from_plan=True)

    def _members_kept(self, household: str) -> tables.Cells | None:  # noqa: ARG002
        """The cells with the household of each record, if these are in memory already; else None."""
        return None

    @abstractmethod
    def _all_here(self) -> tables.Cells:
        """All cells in memory."""


@dataclass(frozen=True, eq=False)
class LazyCells(PlanCells):
    """The key combinations of a lazy frame, in memory.

    Attributes
    ----------
    here : Cells
        The cells.
    """

    here: tables.Cells = field(repr=False)
    counted: counting.Counted = field(repr=False)
    aside: PartLevels | None = field(default=None, repr=False, kw_only=True)  # of one of several parts

    @property
    def n_cells(self) -> int:
        """Number of distinct key combinations."""
        return self.here.n_cells

    def count_cells(self, edges: Sequence[int]) -> list[int]:
        """Cells by size: how many hold from ``edges[i]`` to below ``edges[i + 1]`` records."""
        return self.here.count_cells(edges)

    def count_short(self) -> int:
        """Cells whose population frequency falls short of their sample frequency."""
        return self.here.count_short()

    def stand_for(self) -> float | None:
        """How many the records stand for by their weights or the sampling fraction; None where neither is known."""
        return self.here.stand_for() if self.roles.person is None else tables.people_of(self.frame, self.roles)

    def count_helped(self) -> int:
        """Records whose frequency counts other records' missing values."""
        return self.here.count_helped()

    def count_where(self, below: float, risk_above: float | None) -> int:
        """Records with a sample frequency below a limit, or a risk above one."""
        return self.here.count_where(below, risk_above)

    def level_counts(self, key: str) -> tuple[list[tuple[str, int]], int, int]:
        """At most 200 levels of a key, the most frequent first; how many it has, and how many with 5 records."""
        return self.here.level_counts(key)

    def kind(self, key: str) -> str:
        """What kind of values a key has."""
        return self.here.kind(key)

    def with_column(self, name: str, kernel: Callable[..., Any], *inputs: str) -> LazyCells:
        """Add a figure per cell, computed from others by a kernel of arrays."""
        return self._with(self.here.with_column(name, kernel, *inputs))

    def _with(self, here: tables.Cells) -> LazyCells:
        return replace(self, here=here, columns=here.columns, rules=here.rules, roles=here.roles)

    def count_levels(self, variable: str) -> tables.Crosstab:
        """How many records of each cell have each level of another variable; once for all measures."""
        return self.here.once(("crosstab", variable), lambda: self._count_levels(variable))

    def _count_levels(self, variable: str) -> tables.Crosstab:
        if variable in self.counted.learnt:
            rows = self.counted.frame
            return count_levels(self.here.table.of_row, rows[variable], self.n_cells, counting.sizes_of(rows))
        self._key_of(variable, "sensitive")
        if self.aside is not None:
            return self.aside.of_cells(variable)
        try:
            return self._count_together(variable)
        except counting.TooManyCellsError:
            return deal_levels(self.frame, self.keys, [variable], [self], Spilled(), "levels").of_cells(0, variable)

    def _count_together(self, variable: str) -> tables.Crosstab:
        """The same of all sensitive variables in one pass of the engine, where this is one of them and they fit."""
        variables, types, memo = [variable], self.frame.collect_schema(), self.here.memo
        own = self.roles.sensitive if variable in self.roles.sensitive and ("apart",) not in memo else ()
        for name in own:
            if name not in (*variables, *self.keys) and not types[name].is_nested() and ("crosstab", name) not in memo:
                variables.append(name)
        try:
            if {*self.too_many} == {*self.keys, *variables}:
                raise counting.TooManyCellsError
            finer = count_by(self.frame, [*self.keys, *variables], self.n)
        except counting.TooManyCellsError:
            if len(variables) == 1:
                raise
            memo["apart",] = True
            if not on_spark(self.frame):  # where rows in pieces take longer than several groupings
                with suppress(DataError):  # one of them has no value, or too many beside the others
                    dealt = deal_levels(self.frame, self.keys, variables, [self], Spilled(), "levels")
                    memo.update({("crosstab", name): dealt.of_cells(0, name) for name in variables[1:]})
                    return dealt.of_cells(0, variable)
            return self._count_together(variable)
        cell_of_row, sizes = tabulate.rows_in_cells(self.here, self.counted, finer), counting.sizes_of(finer)
        for name in variables[1:]:
            with suppress(DataError):  # it has no value, which is said where it is asked for
                memo["crosstab", name] = count_levels(cell_of_row, finer[name], self.n_cells, sizes)
        return count_levels(cell_of_row, finer[variable], self.n_cells, sizes)

    def count_in_file(self, variable: str) -> tables.Crosstab:
        """How many records of the file have each level of another variable, in these cells or in other parts."""
        return self.count_levels(variable) if self.aside is None else self.aside.of_file(variable)

    def with_cells(self, columns: Mapping[str, Values]) -> LazyCells:
        """Add figures per cell."""
        return self._with(self.here.with_cells(columns))

    def _joined(self, figures: Mapping[str, Brought], beside: Sequence[str] | None = None) -> nw.LazyFrame[Any]:
        """The lazy frame with figures of cells joined to its records by the keys; `beside`: columns to keep."""
        frame = self.frame
        if beside is not None:
            frame = frame.select(*dict.fromkeys([*self.keys, *beside]))
        if not figures:
            return frame
        counted, of_row = counting.one_row_a_cell(self.counted), self.here.table.of_row
        if (row := counted.row) is not None:
            of_row = of_row[row]
        keys = counting.with_missing(self.counted.keys, self.n_missing)
        values = {name: np.asarray(figure)[of_row] for name, figure in figures.items()}
        return attach(frame, keys, counted.frame.to_arrow(), values)

    def _values(self, name: str) -> tables.CellValues:
        return self.here.values(name)

    def _brought(self, name: str, kernel: tables.Kernel | None = None) -> Brought:
        return self.here.cell_values(name) if kernel is None else kernel(self.here.columns[name])

    def _once(self, key: Any, make: Callable[[], HouseholdSums]) -> HouseholdSums:
        return self.here.once(key, make)

    def _all_here(self) -> tables.Cells:
        return self.here

    def keep_members(self, household: str) -> None:
        """Collect the households of the records, so that all measures share them, unless they are too many."""
        if self.roles.person is None:
            with suppress(DataError):  # raised again by the measure that needs them
                self.with_members(household)

    def with_members(self, household: str) -> tables.Cells:
        """The cells in memory, with the cell and the household of each record; refused above a size."""
        if self.roles.person is not None:
            return self.in_memory(household)
        of_row, frame = self.here.once(("members", household), lambda: self._members(household))
        return replace(self.here, table=replace(self.here.table, of_row=of_row), source=frame, from_plan=True)

    def _members(self, household: str) -> tuple[Codes, nw.DataFrame[Any]]:
        """The cell of each record, and the collected columns."""
        self._key_of(household, "household")
        beside = [household, *(column for column in (self.roles.weight, self.roles.id) if column is not None)]
        others = [name for name in dict.fromkeys(beside) if name not in self.keys]
        check_collected(self.n, len(self.keys) + len(others), self.frame)
        counting.refuse_spans(self.frame, others)
        frame = collect(self.frame.select(*(key.present.alias(key.name) for key in self.counted.keys), *others))
        return tabulate.rows_in_cells(self.here, self.counted, frame), frame

    def _members_kept(self, household: str) -> tables.Cells | None:
        return self.with_members(household) if ("members", household) in self.here.memo else None

    def as_categories(self) -> LazyCells:
        """The same cells when a missing key value is a category of its own."""
        return replace(self._with(self.here.as_categories()), households={})


class TooMuchError(DataError):
    """More values of records than are collected from a plan."""


def most_values(plan: Any = None, files: int = 1) -> int:
    """How many values of records may be collected of each of some files: `COLLECT_LIMIT`, or as `memory=` leaves."""
    here = bytes_here(plan)
    return COLLECT_LIMIT if here is None else min(COLLECT_LIMIT, here // PER_VALUE // files)


def check_collected(n: int, columns: int, plan: Any = None, files: int = 1) -> None:
    """Refuse to collect more than `most_values` of records; checked before anything is collected.

    Raises TooMuchError: there are more.
    """
    if n * columns > (most := most_values(plan, files)):
        bounded = f", {what_opens(plan, n * columns / max(1, most))}" if most < COLLECT_LIMIT else ""
        raise TooMuchError(
            f"this measure needs {n} records of {columns} columns in memory (about {n * columns * 8 / 1e9:.1f} GB), "
            f"which is too much from a plan (up to {most:,} values are brought); take fewer variables, or a sample in "
            f"memory{bounded}"
        )
