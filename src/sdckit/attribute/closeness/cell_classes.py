"""What the measures of closeness share: the cells, how a sensitive variable spreads in each, the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.crosstab import Levels, crosstab, levels_of, wildcard_crosstab
from sdckit.cells.record_result import RecordResult
from sdckit.data import arguments
from sdckit.data.frames import frame_of
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, ScenarioError
from sdckit.result import FileFigure

if TYPE_CHECKING:
    from sdckit.cells.table import AnyCells


ROUNDING = 1e-9  # a limit reached by rounding is no violation


@dataclass(frozen=True, eq=False)
class Spread:
    """How the levels of a sensitive variable spread over each cell and over the file.

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
        """Number of cells."""
        return len(self.edges) - 1

    @cached_property
    def total(self) -> NDArray[np.int64]:
        """Records of each class."""
        return np.add.reduceat(self.count, self.edges[:-1])


@dataclass(frozen=True, eq=False)
class Classes:
    """The cells of a file and the sensitive variables to look at."""

    cells: AnyCells
    variables: tuple[str, ...]
    notes: dict[str, str]

    def spread(self, variable: str) -> Spread:
        """How a variable spreads over the classes: the cells, or what matches them by wildcards."""
        here = self.cells.in_memory()
        return here.once(("spread", variable, here.rules), lambda: self._spread(variable))

    def _spread(self, variable: str) -> Spread:
        cells = self.cells
        table = wildcard_crosstab(cells, variable) if cells.has_wildcards else crosstab(cells, variable)
        levels = levels_of(cells, variable)
        known = np.searchsorted(levels.codes, table.level)  # a missing value has the highest code
        sizes = [*levels.size, levels.n_missing] if levels.n_missing else levels.size
        return Spread(table.edges, known, table.count, np.asarray(sizes) / cells.n, levels)

    def with_columns(self, columns: dict[str, NDArray[Any]]) -> Classes:
        """Add figures per cell."""
        return replace(self, cells=self.cells.with_cells(columns))


@dataclass(frozen=True, eq=False, repr=False)
class ClassResult(RecordResult):
    """Base of the results that say of each class how a sensitive variable spreads in it.

    Attributes
    ----------
    cells : Cells or LazyCells
        The cells; dropped when the result is pickled.
    variables : tuple of str
        The sensitive variables.
    columns : tuple of str
        The figures per record.
    resting_on_missing : int
        Records whose class counts other records' missing values as matches (only with wildcards).
    violation_rates : dict
        `violations` as shares of the records.
    """

    cells: AnyCells
    variables: tuple[str, ...]
    columns: tuple[str, ...]
    prefix: str = ""
    notes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def n(self) -> int:
        """Records."""
        return self.cells.n

    @cached_property
    def resting_on_missing(self) -> int:
        """Records whose class counts other records' missing values as matches."""
        return self.cells.count_helped()

    @cached_property
    def missing_rule(self) -> str:
        """What a missing key value was taken for, in words."""
        return self.cells.missing_rule

    @cached_property
    def violation_rates(self) -> Any:
        """Share of the records in a class that violates each limit, as `violations`."""
        return shares_of_records(getattr(self, "violations", {}), self.n)

    def _largest(self, column: str) -> dict[str, float]:
        return {name: self.cells.values(f"{column}_{name}").extremes()[1] for name in self.variables}

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
        figures = {
            self.prefix + name: cells.columns[name][order].tolist() for name in ("cell_size", *self.columns)
        }
        if clash := [name for name in figures if name in keys]:
            raise ColumnError(
                f"key {clash[0]!r} has the name of a column of the table; give prefix= for those"
            )
        backend = "pyarrow" if cells.source is None else cells.source.implementation
        return frame_of({**keys, **figures}, backend)


def open_classes(
    data: Any,
    *,
    keys: Sequence[str] | None,
    sensitive: Sequence[str] | str | None,
    missing: MissingRule | None,
    scenario: Scenario | None,
    id: str | None,
) -> Classes:
    """Tabulate a file by its keys and settle which variables are sensitive."""
    cells = tabulate_given(
        data, keys=keys, sensitive=sensitive, missing=missing, scenario=scenario,
        id=id, default_missing="category", weighted=False, by_levels=True,
    )  # fmt: skip
    variables = sensitive_of(cells, sensitive, scenario)
    return Classes(cells, variables, {})


def sensitive_of(
    cells: AnyCells, sensitive: Sequence[str] | str | None, scenario: Scenario | None
) -> tuple[str, ...]:
    """The sensitive variables given, or the scenario's, or those the cells were made with."""
    named = arguments.names(sensitive, "sensitive", single=True) or ()
    variables = named or (scenario.sensitive if scenario else ()) or cells.roles.sensitive
    if not variables:
        raise ScenarioError("say what an intruder would learn: sensitive=[...]", argument="sensitive")
    if clash := [name for name in variables if name in cells.keys]:
        words = f"{clash[0]!r} is a key and sensitive; an intruder cannot learn what they know"
        raise ColumnError(words, argument="sensitive")
    return variables


def violation_figures(
    columns: Mapping[str, str],
    limits: Sequence[float],
    largest: Mapping[str, str],
    variables: Sequence[str],
    *,
    slack: float = ROUNDING,
) -> tuple[FileFigure, ...]:
    """Shares and numbers of the records above each limit, by their place in `violations`, and the largest figures.

    `columns`: what is told of each record, by its place: the variable (and kind) in brackets.
    `largest`: by the name of a figure what the column of each variable starts with. `slack`: what a limit may be
    exceeded by.
    """
    found: list[FileFigure] = []
    for place, column in columns.items():
        for one in limits:
            found.append(FileFigure(f"violation_rates{place}[{one}]", column, above=one + slack))
            found.append(FileFigure(f"violations{place}[{one}]", column, "sum", above=one + slack))
    return (*found, *(FileFigure(f"{figure}[{one}]", f"{start}_{one}", "max") for figure, start in largest.items()
                      for one in variables))  # fmt: skip


def shares_of_records(counts: Any, n: int) -> Any:
    """Counts under some names as shares of n."""
    if isinstance(counts, Mapping):
        return {name: shares_of_records(one, n) for name, one in counts.items()}
    return counts / n


def count_violations(cells: AnyCells, column: str, limits: Sequence[float]) -> dict[float, int]:
    """Records whose class is above each limit."""
    counts = cells.values(column).count_above([limit + ROUNDING for limit in limits])
    return dict(zip(limits, counts, strict=True))
