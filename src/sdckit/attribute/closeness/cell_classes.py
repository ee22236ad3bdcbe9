"""Shared by the closeness measures: cells, distribution of a sensitive variable per class, base of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.crosstab import Levels, crosstab, levels_of, wildcard_crosstab
from sdckit.cells.record_result import Breakdown, CellsResult, IntervalKind, breakdown
from sdckit.cells.table import AnyCells, Crosstab
from sdckit.data import arguments, frames
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, ScenarioError
from sdckit.result import FileFigure

ROUNDING = 1e-9  # a limit exceeded by rounding error only is no violation
VIOLATED = ("violations", "violation_rates", "resting_on_missing")
COUNTED: tuple[tuple[str, Literal["mean", "sum"]], ...] = (("violation_rates", "mean"), ("violations", "sum"))
Of = TypeVar("Of", bound="ClassResult")
T = TypeVar("T")
Columns: TypeAlias = dict[str, NDArray[Any]]  # a value for each cell


@dataclass(frozen=True, eq=False)
class Spread:
    """Distribution of the levels of a sensitive variable in each class and in the file.

    Attributes
    ----------
    edges : ndarray, int64, shape (K + 1,)
        Entries ``edges[c]`` to ``edges[c + 1]`` belong to cell c.
    level : ndarray, int64, shape (E,)
        Level of an entry: 0 to M - 1 in the order of `levels`, M for a missing value.
    count : ndarray, int64, shape (E,)
        Records of the cell with it.
    share : ndarray, float64, shape (M,) or (M + 1,)
        Shares of the levels in the file, that of missing values last where there are any.
    levels : Levels
    """

    edges: NDArray[np.int64]
    level: NDArray[np.int64]
    count: NDArray[np.int64]
    share: NDArray[np.float64]
    levels: Levels

    @property
    def n_cells(self) -> int:
        """Number of classes."""
        return len(self.edges) - 1

    @cached_property
    def total(self) -> NDArray[np.int64]:
        """Number of records of each class."""
        return np.add.reduceat(self.count, self.edges[:-1])


def spread_of(cells: AnyCells, variable: str) -> Spread:
    """Distribution of a variable in each class: a cell, or all that matches it by wildcards."""
    here = cells.in_memory()
    return here.once(("spread", variable, here.rules), lambda: _count_spread(cells, variable))


def _count_spread(cells: AnyCells, variable: str) -> Spread:
    table, levels = class_crosstab(cells, variable), levels_of(cells, variable)
    known = np.searchsorted(levels.codes, table.level)  # a missing value has the highest code
    sizes = np.array([*levels.size, levels.n_missing] if levels.n_missing else levels.size)
    return Spread(table.edges, known, table.count, sizes / sizes.sum(), levels)


@dataclass(frozen=True, eq=False)
class Classes(Generic[Of]):
    """The cells of a file, the sensitive variables, and the result made of them."""

    kind: type[Of]
    cells: AnyCells
    variables: tuple[str, ...]
    limits: tuple[float, ...]
    broken: Breakdown
    prefix: str
    notes: dict[str, str]

    def measured(self, run: Callable[[str, Spread], tuple[Columns, T]]) -> tuple[Classes[Of], dict[str, list[T]]]:
        """The same with what is computed of each class by a variable; and, by variable, what is told of each part."""
        cells, outcomes = self.cells, {}
        for name in self.variables:
            cells, outcomes[name] = cells.by_parts(partial(_with_columns, run=run, name=name))
        return replace(self, cells=cells), outcomes

    def result(self, starts: Sequence[str], **figures: Any) -> Of:
        """The result; `starts`: what the names of its columns begin with, before that of the variable."""
        columns = tuple(f"{start}_{name}" for name in self.variables for start in starts)
        made = self.kind(
            self.cells, self.variables, columns, self.limits, prefix=self.prefix, notes=self.notes, **figures
        )
        return self.broken.of(made)


def _with_columns(
    cells: AnyCells, run: Callable[[str, Spread], tuple[Columns, T]], name: str
) -> tuple[AnyCells, T]:  # fmt: skip
    columns, outcome = run(name, spread_of(cells, name))
    return cells.with_cells(columns), outcome


@dataclass(frozen=True, eq=False, repr=False)
class ClassResult(CellsResult):
    """Base of the results that describe the distribution of a sensitive variable in each class.

    Attributes
    ----------
    cells : Cells or LazyCells
        The cells; dropped when the result is pickled.
    variables : tuple of str
        The sensitive variables.
    columns : tuple of str
        The figures per record.
    limits : tuple of float
        What records are counted against.
    resting_on_missing : int
        Records whose class counts other records' missing values as matches (only with wildcards).
    violation_rates : dict
        `violations` as shares of the records.
    """

    largest: ClassVar[Mapping[str, str]]  # figure: prefix of its column for each variable
    judged: ClassVar[Mapping[str, str]]  # the same for each kind of violation; "" where there is only one kind
    slack: ClassVar[float] = ROUNDING  # tolerance by which a limit may be exceeded
    variables: tuple[str, ...]
    columns: tuple[str, ...]
    limits: tuple[float, ...] = ()

    @cached_property
    def resting_on_missing(self) -> int:
        """Records whose class counts other records' missing values as matches."""
        return self.cells.count_helped()

    @cached_property
    def violations(self) -> dict[str, Any]:
        """Records in a class that violates each limit, by variable, and by kind where there are several."""
        counts = {name: self._violations(name) for name in self.variables}
        return {name: kinds.get("", kinds) for name, kinds in counts.items()}

    def _violations(self, variable: str) -> dict[str, Any]:
        limits = [limit + self.slack for limit in self.limits]
        counts = {kind: self._figure(start, variable).count_above(limits) for kind, start in self.judged.items()}
        return {kind: dict(zip(self.limits, above, strict=True)) for kind, above in counts.items()}

    @cached_property
    def violation_rates(self) -> Any:
        """Share of the records in a class that violates each limit, as `violations`."""
        return shares_of_records(self.violations, self.n)

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        counted = (
            FileFigure(
                f"{figure}[{name}]{kind and f'[{kind}]'}[{limit}]", f"{start}_{name}", how, above=limit + self.slack
            )
            for name in self.variables
            for kind, start in self.judged.items()
            for limit in self.limits
            for figure, how in COUNTED
        )
        largest = (
            FileFigure(f"{figure}[{name}]", f"{start}_{name}", "max")
            for figure, start in self.largest.items()
            for name in self.variables
        )
        return (*counted, *largest)

    def _figure(self, start: str, variable: str) -> Any:
        return self.cells.values(f"{start}_{variable}")

    def _largest(self, figure: str) -> dict[str, float]:
        return {name: self._figure(self.largest[figure], name).extremes()[1] for name in self.variables}

    @property
    def records(self) -> Any:
        """A row per record with the figures of its class, in the caller's order and frame type."""
        return self.cells.records(self.columns, prefix=self.prefix)

    @property
    def table(self) -> Any:
        """A row per cell, the worst first: its key values in print, ``cell_size`` and its figures.

        For the session only: small cells are people.
        """
        cells = self.cells.in_memory()
        order = np.argsort(-cells.columns[self.columns[0]], kind="stable")
        keys = {
            key: coded.labels(codes[order])
            for key, coded, codes in zip(cells.keys, cells.levels, cells.table.codes, strict=True)
        }
        figures = {self.prefix + name: cells.columns[name][order].tolist() for name in ("cell_size", *self.columns)}
        if clash := [name for name in figures if name in keys]:
            raise ColumnError(f"key {clash[0]!r} has the name of a column of the table; give prefix= for those")
        backend = "pyarrow" if cells.source is None else cells.source.implementation
        return frames.frame_of({**keys, **figures}, backend)


def open_classes(
    kind: type[Of], data: Any, *, keys: Sequence[str] | None, sensitive: Sequence[str] | str | None,
    limits: Sequence[float] | float, limit: str, missing: MissingRule | None, by: Sequence[str] | str | None,
    interval: IntervalKind | None, seed: arguments.Seed, scenario: Scenario | None, id: str | None, prefix: str,
) -> Classes[Of]:  # fmt: skip
    """Check the arguments that all closeness measures share, and tabulate a file; `limit`: name of the limit."""
    tested = arguments.amounts_above(limits, "limits", f"are values of {limit} that a class may reach")
    broken = breakdown(data, by, kind, interval, seed, scenario, prefix, on_engine=True)
    cells, variables = sensitive_cells(data, keys, sensitive, missing, scenario, id)
    return Classes(kind, cells, variables, tested, broken, prefix, {})


def sensitive_cells(
    data: Any, keys: Sequence[str] | None, sensitive: Sequence[str] | str | None, missing: MissingRule | None,
    scenario: Scenario | None, id: str | None,
) -> tuple[AnyCells, tuple[str, ...]]:  # fmt: skip
    """Tabulate a file by its keys, and determine the sensitive variables."""
    cells = tabulate_given(
        data, keys=keys, sensitive=sensitive, missing=missing, scenario=scenario,
        id=id, default_missing="category", weighted=False, by_levels=True,
    )  # fmt: skip
    return cells, sensitive_of(cells, sensitive, scenario)


def class_crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """Counts of the levels of a variable in each class: a cell, or all that matches it by wildcards."""
    return wildcard_crosstab(cells, variable) if cells.has_wildcards else crosstab(cells, variable)


def sensitive_of(cells: AnyCells, sensitive: Sequence[str] | str | None, scenario: Scenario | None) -> tuple[str, ...]:
    """The sensitive variables given, or the scenario's, or those the cells were made with."""
    named = arguments.names(sensitive, "sensitive", single=True) or ()
    variables = named or (scenario.sensitive if scenario else ()) or cells.roles.sensitive
    if not variables:
        raise ScenarioError("say what an intruder would learn: sensitive=[...]", argument="sensitive")
    if clash := [name for name in variables if name in cells.keys]:
        words = f"{clash[0]!r} is a key and sensitive; an intruder cannot learn what they know"
        raise ColumnError(words, argument="sensitive")
    return variables


def shares_of_records(counts: Any, n: int) -> Any:
    """Divide counts, however nested by name, by n."""
    if isinstance(counts, Mapping):
        return {name: shares_of_records(part, n) for name, part in counts.items()}
    return counts / n
