"""Results whose figures follow from single records: the same figures by subgroup, and their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import is_cells
from sdckit.cells.collect import groups_of
from sdckit.cells.pair import Pair
from sdckit.cells.pair_result import PairResult
from sdckit.cells.plans.lazy import PlanCells
from sdckit.cells.plans.lazy_groups import lazy_group_figures
from sdckit.cells.record_columns import group_column
from sdckit.cells.record_sums import bootstrap_intervals, figures_of_groups, leading, told_figures
from sdckit.cells.table import AnyCells, Cells
from sdckit.data import arguments
from sdckit.data.frames import is_lazy, open_frame, result_frame
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Values
from sdckit.result import LetGo, Result, json_ready

IntervalKind = Literal["bootstrap"]
Of = TypeVar("Of", bound="RecordResult")
NO_GROUPS = "no subgroups were asked for; give by=[...]"
ON_ENGINE = (
    "interval='bootstrap' draws records, and those of a plan stay on its engine; collect the plan, or a sample of it, "
    "first"
)
NO_RECORDS = "by: these cells were counted on an engine and their records are not here; give the data itself"


# --- results ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RecordResult(Result):
    """Base of the results on one file whose figures follow from single records (`file_figures` says how).

    Attributes
    ----------
    by : tuple of str
        Columns whose combinations are subgroups.
    intervals : dict of str to tuple of float
        95 % bootstrap intervals by figure, where asked for.
    """

    by: tuple[str, ...] = field(default=(), init=False)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, init=False)

    @property
    def by_group(self) -> Any:
        """A row per subgroup with its records (``n``) and its figures, the riskiest first; a missing value is a group.

        Every record keeps what it has in the whole file: the intruder does not know the subgroup unless a key tells.
        """
        if not self.by:
            raise DataError(NO_GROUPS)
        figures = told_figures(self.file_figures())
        cells = self.__dict__.get("cells")
        if isinstance(cells, PlanCells):
            plan, columns = cells.joined(list(dict.fromkeys(one.column for one in figures)), self.by)
            labels, found = lazy_group_figures(plan, columns, self.by, figures)
            n = labels["n"].to_numpy()
            labels = labels.select(*self.by)
            values = {one.name: np.array(row) for one, row in zip(figures, found, strict=True)}
        else:
            frame, rows = self.told_frame()
            labels, of_row = group_columns(frame, self.by, rows)
            n = np.bincount(of_row, minlength=len(labels))
            values = figures_of_groups(figures, self.told, of_row, len(labels))
        first = leading(figures)
        risk = values[first.name] * (-1 if first.higher == "safer" else 1)
        order = np.argsort(np.where(np.isnan(risk), np.inf, -risk), kind="stable")
        ordered = {name: column[order] for name, column in {"n": n, **values}.items()}
        chosen = nw.maybe_reset_index(labels[order.tolist()])
        return result_frame(ordered, chosen, carry=list(self.by))

    def told(self, column: str) -> Values:
        """What is told of each record under a name that `file_figures` uses; of m releases a row for each."""
        cells: Cells = self.__dict__["cells"]
        return cells.row_values(column)

    def told_frame(self) -> tuple[nw.DataFrame[Any], NDArray[np.int64] | None]:
        """The caller's frame; and which of its rows are told of, None for all."""
        cells: Any = self.__dict__["cells"]
        return cells.records_frame(), None

    def drawn_units(self, roles: Sequence[str | None]) -> tuple[Any, NDArray[np.int64], Any]:
        """What is drawn anew: how to read what is told, the records behind each value, and households."""
        del roles  # those that the cells were made with
        cells: Cells = self.__dict__["cells"]
        cluster = cells.cluster
        if cluster is not None:
            return self.told, np.ones(cells.n, np.int64), cells.household_of_row(cluster)
        return cells.cell_values, cells.table.size, None

    def _flat(self) -> list[tuple[str, float]]:
        ends = ((f"{name}_{end}", at) for name, both in self.intervals.items() for end, at in _ends(both))
        return [*super()._flat(), *ends]

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with their intervals; not those of subgroups, which name values."""
        told = {"intervals": json_ready(self.intervals)} if self.intervals else {}
        return {**super().to_dict(), **told}


def _ends(both: tuple[float, float]) -> tuple[tuple[str, float], ...]:
    return (("low", both[0]), ("high", both[1]))


@dataclass(frozen=True, eq=False, repr=False)
class PairRecordResult(RecordResult, PairResult):
    """The same for a release beside its original, whose records are those told of.

    Attributes
    ----------
    each : dict of str to ndarray
        What is told of each record, of m releases a row for each; dropped when the result is pickled.
    """

    each: Mapping[str, Values] = field(default_factory=dict, init=False)

    def told(self, column: str) -> Values:
        """What is told of each record under a name that `file_figures` uses; of m releases a row for each."""
        return self.each[column]

    def told_frame(self) -> tuple[nw.DataFrame[Any], NDArray[np.int64] | None]:
        """The original; and which of its rows are told of, None for all."""
        return self.pair.original, None

    def drawn_units(self, roles: Sequence[str | None]) -> tuple[Any, NDArray[np.int64], Any]:
        """What is drawn anew: how to read what is told, the records behind each value, and households."""
        frame, rows = self.told_frame()
        n = len(frame) if rows is None else len(rows)
        whose = next((one for one in roles if one is not None), None)
        if whose is None:
            return self.told, np.ones(n, np.int64), None
        of_row, n_units = group_column(frame, whose)
        if rows is None:
            return self.told, np.ones(n, np.int64), (of_row, n_units)
        used, own = np.unique(of_row[rows], return_inverse=True)
        return self.told, np.ones(n, np.int64), (own, len(used))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "each": LetGo()}  # told by record


def group_columns(
    frame: nw.DataFrame[Any], by: Sequence[str], rows: NDArray[np.int64] | None = None
) -> tuple[nw.DataFrame[Any], NDArray[np.int64]]:
    """The labels of the groups that some columns make, in the order of the file, and the group of each record."""
    of_row, _ = groups_of(frame, by)
    if rows is not None:
        of_row = of_row[rows]
    used, first, number = np.unique(of_row, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(used), np.int64)
    place[order] = np.arange(len(used))
    at = first[order] if rows is None else rows[first[order]]
    return frame.select(*by)[at.tolist()], place[number]


# --- what was asked for -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Breakdown:
    """The subgroups and intervals that a measure was asked for, checked before it starts.

    `whose` are the columns of households and of persons, drawn anew as a whole, of a release beside its original.
    """

    by: tuple[str, ...]
    rng: np.random.Generator | None
    whose: tuple[str | None, ...] = ()

    @property
    def also(self) -> tuple[str, ...]:
        """Columns of the original that are needed for it."""
        return tuple(dict.fromkeys([*self.by, *(one for one in self.whose if one is not None)]))

    def extra(self, cells: AnyCells) -> tuple[str, ...]:
        """Columns that a plan's cells have to bring with them for it."""
        whose = (cells.roles.household, cells.roles.person) if self.rng is not None else ()
        return tuple(dict.fromkeys([*self.by, *(one for one in whose if one is not None)]))

    def of(self, result: Of, each: Mapping[str, Values] | None = None) -> Of:
        """A result that was just made, with its subgroups named and its intervals computed.

        `each` is what is told of each record; kept where there are subgroups.
        """
        if not self.by and self.rng is None:
            return result
        if each is not None:
            object.__setattr__(result, "each", each)
        if self.rng is not None:
            told, size, cluster = result.drawn_units(self.whose)
            found = bootstrap_intervals(told_figures(result.file_figures()), told, size, self.rng, cluster)
            object.__setattr__(result, "intervals", found)
        object.__setattr__(result, "by", self.by)
        return result


WHOLE = Breakdown((), None)


def breakdown(
    data: Any,
    by: Sequence[str] | str | None,
    result: type[RecordResult],
    *,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    on_engine: bool = False,
) -> Breakdown:
    """Check `by=`, `interval=` and `seed=` of a measure before it starts.

    `on_engine` says that the measure leaves the records of a plan where they are.

    Raises ColumnError: a column that the data lack, or of the name of a figure; DataError: cells without records, a
    bootstrap of a plan.
    """
    names = arguments.names(by, "by", single=True) or ()
    rng = arguments.seed(seed)
    if interval is not None:
        arguments.choice(interval, "interval", ("bootstrap",))
    if not names and interval is None:
        return WHOLE
    taken = {one.casefold() for one in ("n", *result.figures)}
    if clash := [name for name in names if str(name).casefold() in taken]:
        raise ColumnError(f"by: {clash[0]!r} is the name of a result column; rename it", argument="by")
    lazy, present = _columns_of(data)
    if names and present is None:
        raise DataError(NO_RECORDS, argument="by")
    for name in names:
        if name not in (present or ()):
            near = did_you_mean(str(name), present or ())
            raise ColumnError(f"by: no column {name!r} in the data; {near}", argument="by")
    if interval is not None and lazy and on_engine:
        raise DataError(ON_ENGINE, argument="interval")
    whose: tuple[str | None, ...] = ()
    if interval is not None and scenario is not None:
        whose = tuple(one for one in (scenario.household, scenario.person) if one in (present or ()))
    return Breakdown(names, None if interval is None else rng, whose)


def _columns_of(data: Any) -> tuple[bool, Sequence[str] | None]:
    """Whether the data are a plan; and their columns, None where they are not at hand."""
    if isinstance(data, PlanCells):
        return True, data.own_columns
    if is_cells(data):
        return False, None if isinstance(data.source, LetGo | None) else data.source.columns
    frame = data.original if isinstance(data, Pair) else open_frame(data)
    return is_lazy(frame), frame.collect_schema().names()
