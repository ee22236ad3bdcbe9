"""Results whose figures are means or sums over records: the same figures by subgroup, and bootstrap intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells import as_cells, pair_result, parted_pair, table
from sdckit.cells.pair import Pair
from sdckit.cells.plans.lazy import PlanCells, lazy_group_figures
from sdckit.data import arguments, frames
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import AnyInts, Floats, Ints, Values
from sdckit.numerics.coding import splitmix
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import first_of_groups, places_among
from sdckit.numerics.threads import chunks, run
from sdckit.result import FileFigure, LetGo, Result, json_ready

# Bootstrap: resample the units of a file, records or households, with replacement.


DRAWS = 200
COVERAGE = (0.025, 0.975)
FEW = 16  # units per distinct unit from which on multinomial counts are drawn instead of single units
AT_ONCE = 4_000_000  # random numbers drawn at a time


@njit(cache=True, nogil=True)
def _mixed(state):  # type: ignore[no-untyped-def]
    """Pseudo-random number in [0, 1) from a counter (uint64), by splitmix64 (Steele, Lea & Flood 2014)."""
    return float(splitmix(state) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _draw_units(units, seeds, out):  # type: ignore[no-untyped-def]
    """Sum n of the `units` (n, q), drawn with replacement, into a row of `out` (draws, q) for each of the seeds.

    The number of times that each unit is drawn is first a Poisson number with a mean slightly below 1, so that memory
    is read in order; the remaining draws up to n are made one by one. The result is exact: given their sum, Poisson
    numbers of equal mean are multinomial. In the rare case that the sum exceeds n it starts again.
    """
    n, q = units.shape
    step = np.uint64(0x9E3779B97F4A7C15)
    mean = max(0.0, 1.0 - 4.0 / np.sqrt(n))
    c0 = np.exp(-mean)
    p3 = c0 * mean**3 / 6
    c1, c2 = c0 * (1 + mean), c0 * (1 + mean + mean**2 / 2)
    c3 = c2 + p3
    for draw in range(len(seeds)):
        state, drawn = np.uint64(seeds[draw]), n + 1
        while drawn > n:
            out[draw, :] = 0.0
            drawn = 0
            for i in range(n):
                state += step
                u = _mixed(state)
                times = int(u >= c0) + int(u >= c1) + int(u >= c2)
                if u >= c3:
                    times, p, c = 4, p3 * mean / 4, c3 + p3 * mean / 4
                    while u >= c and p > 0.0:
                        times += 1
                        p *= mean / times
                        c += p
                drawn += times
                for j in range(q):
                    out[draw, j] += times * units[i, j]
        for _ in range(n - drawn):
            state += step
            at = int(_mixed(state) * n)
            for j in range(q):
                out[draw, j] += units[at, j]


def merge_equal(values: Floats, size: Ints) -> tuple[Floats, Ints]:
    """Merge units with equal values if few of them are distinct; otherwise return them unchanged.

    `values` (q, K): a row for each figure, a column for each distinct unit; `size` (K,): number of units of each.

    Examples
    --------
    >>> merged, size = merge_equal(np.array([[1.0, 0.0, 1.0]]), np.array([1, 1, 2]))
    >>> merged.tolist(), size.tolist()
    ([[0.0, 1.0]], [1, 3])
    """
    most = max(2, int(size.sum()) // FEW)
    code, n_codes = np.zeros(values.shape[1], np.int64), 1
    for row in values:
        distinct, inverse = np.unique(row, return_inverse=True)
        if len(distinct) > most:
            return values, size
        used, code = np.unique(code * len(distinct) + inverse, return_inverse=True)
        n_codes = len(used)
        if n_codes > most:
            return values, size
    return values[:, first_of_groups(code, n_codes)], np.bincount(code, size, n_codes).astype(np.int64)


def resampled_sums(values: Floats, size: Ints, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
    """Sums of values over a bootstrap sample of the units, for each draw; shape (draws, q).

    `values` (q, K) and `size` (K,) as for `merge_equal`.

    Examples
    --------
    >>> sums = resampled_sums(np.array([[0.0, 1.0]]), np.array([50, 50]), np.random.default_rng(1))
    >>> sums.shape, bool(abs(sums.mean() - 50) < 2)
    ((200, 1), True)
    """
    n, kinds = int(size.sum()), len(size)
    if kinds * FEW <= n or kinds <= 2:
        return _drawn_by_kind(values, size / n, n, rng, draws)
    units = np.ascontiguousarray(values.T if n == kinds else np.repeat(values, size, axis=1).T)
    # a seed for each draw, so that results do not depend on the threads
    seeds = rng.integers(0, 1 << 63, draws)
    out = np.zeros((draws, len(values)))

    def part(edges: tuple[int, int]) -> None:
        _draw_units(units, seeds[edges[0] : edges[1]], out[edges[0] : edges[1]])

    run(part, chunks(draws, minimum=1))
    return out


def _drawn_by_kind(values: Floats, share: Floats, n: int, rng: np.random.Generator, draws: int) -> Floats:
    out = np.empty((draws, len(values)))
    step = max(1, AT_ONCE // len(share))
    for start in range(0, draws, step):
        stop = min(start + step, draws)
        out[start:stop] = rng.multinomial(n, share, size=stop - start) @ values.T
    return out


def percentile_ends(drawn: Floats) -> tuple[float, float]:
    """Ends of the 95 % percentile interval; NaN if the figure is undefined in every draw.

    Examples
    --------
    >>> percentile_ends(np.arange(201.0))
    (5.0, 195.0)
    """
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, COVERAGE)
    return float(low), float(high)


# Figures as sums over records: of a whole file, of its subgroups, of bootstrap samples.


Told = Callable[[str], NDArray[np.generic]]
Piece: TypeAlias = "tuple[Told, AnyInts, Ints | None]"  # of rows: values, groups, records of each (one)
JOINED = {"min": np.fmin, "max": np.fmax}  # what is known of several pieces; else it is added up


@dataclass(frozen=True, eq=False)
class _Sums:
    """Numerators and denominators of a figure per record; a row for each release."""

    over: Floats
    under: Floats


def told_figures(figures: Sequence[FileFigure]) -> tuple[FileFigure, ...]:
    """The figures that are computed from a value of each record."""
    return tuple(figure for figure in figures if figure.column)


def leading(figures: Sequence[FileFigure]) -> FileFigure:
    """The figure by which subgroups are sorted: the first that measures risk."""
    return next((figure for figure in figures if figure.higher != "reference"), figures[0])


def _values(figure: FileFigure, values_of: Told) -> Floats:
    """The values behind a figure, a row for each release; 1 and 0 if records are counted by a limit."""
    values = np.atleast_2d(np.asarray(values_of(figure.column), np.float64))
    if figure.below is None and figure.above is None:
        return values
    with np.errstate(invalid="ignore"):
        hit = values < figure.below if figure.below is not None else values > (figure.above or 0.0)
    return np.where(np.isnan(values), np.nan, hit)


def _sums(figure: FileFigure, values_of: Told) -> _Sums:
    values = _values(figure, values_of)
    known = ~np.isnan(values)
    weight = known.astype(np.float64)
    if figure.among:
        weight = weight * np.atleast_2d(np.asarray(values_of(figure.among), np.float64))
    return _Sums(np.where(known, values, 0.0) * weight, weight)


def _figure(figure: FileFigure, over: Floats, under: Floats) -> Floats:
    """A figure from the sums of numerators and denominators; NaN if no value is known."""
    return _ratio(over, under) if figure.how == "mean" else np.where(under > 0, over, np.nan)


def figures_of_groups(figures: Sequence[FileFigure], pieces: Iterable[Piece], n_groups: int) -> dict[str, Floats]:
    """Figures of each group of records, by name; means over the releases in which they are defined.

    Examples
    --------
    >>> risk = {"risk": np.array([1.0, 0.5, 0.5])}
    >>> rows = risk.get, np.array([0, 0, 1]), None
    >>> figures_of_groups([FileFigure("global_risk", "risk")], [rows], 2)["global_risk"].tolist()
    [0.75, 0.5]
    """
    by_mark = {_mark(figure): figure for figure in figures}  # a mean and its sum need the same
    known: dict[Any, Floats] = {}
    for told, of_row, times in pieces:
        values_of = cache(told)
        for mark, figure in by_mark.items():
            if figure.how in JOINED:
                own = _extremes(figure, values_of, of_row, n_groups)
            else:
                sums = _sums(figure, values_of)
                own = np.stack([_by_group(rows, of_row, n_groups, times) for rows in (sums.over, sums.under)])
            known[mark] = JOINED.get(figure.how, np.add)(known[mark], own) if mark in known else own
    return {
        figure.name: _mean(own if figure.how in JOINED else _figure(figure, *own))
        for figure, own in ((figure, known[_mark(figure)]) for figure in figures)
    }


def _mark(figure: FileFigure) -> tuple[Any, ...]:
    return figure.how if figure.how in JOINED else "", figure.column, figure.below, figure.above, figure.among


def _extremes(figure: FileFigure, values_of: Told, of_row: AnyInts, n_groups: int) -> Floats:
    out = []
    for row in _values(figure, values_of):
        extremes = np.full(n_groups, np.nan)
        JOINED[figure.how].at(extremes, of_row, row)
        out.append(extremes)
    return np.stack(out)


def _by_group(rows: Floats, of_row: AnyInts, n_groups: int, times: Ints | None = None) -> Floats:
    return np.stack([np.bincount(of_row, row if times is None else row * times, n_groups) for row in rows])


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.asarray(np.divide(over, under, out=np.full(over.shape, np.nan), where=under > 0))


def _mean(rows: Floats) -> Floats:
    """Mean over the releases (first axis) in which a figure is defined."""
    known = ~np.isnan(rows)
    return _ratio(np.where(known, rows, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def bootstrap_intervals(
    figures: Sequence[FileFigure], values_of: Told, size: Ints, rng: np.random.Generator,
    cluster: tuple[AnyInts, int] | None = None,
) -> dict[str, tuple[float, float]]:  # fmt: skip
    """95 % bootstrap percentile intervals of means and sums.

    `values_of` returns the values of a column; `size`: number of records with each value. `cluster`: household number
    of each record, and the number of households, if whole households are resampled.
    """
    values_of = cache(values_of)
    parts = [(figure, _sums(figure, values_of)) for figure in figures if figure.how in ("mean", "sum")]
    rows: list[Floats] = []
    places: dict[bytes, int] = {}  # a mean and its sum need the same numerators, which are drawn once

    def place(row: Floats) -> int:
        at = places.setdefault(row.tobytes(), len(rows))
        if at == len(rows):
            rows.append(row)
        return at

    at = [([*map(place, sums.over)], [*map(place, sums.under)]) for _, sums in parts]
    if not rows:
        return {}
    if cluster is not None:
        of_row, n_units = cluster
        values, units = _by_group(np.stack(rows), of_row, n_units), np.ones(n_units, np.int64)
    else:
        values, units = np.stack(rows), size
    drawn = resampled_sums(*merge_equal(values, units), rng).T
    return {
        figure.name: percentile_ends(_mean(_figure(figure, drawn[over], drawn[under])))
        for (figure, _), (over, under) in zip(parts, at, strict=True)
    }


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
            plan, columns = cells.joined(list(dict.fromkeys(figure.column for figure in figures)), self.by)
            labels, by_figure = lazy_group_figures(plan, columns, self.by, figures)
            n = labels["n"].to_numpy()
            labels = labels.select(*self.by)
            values = {figure.name: np.array(row) for figure, row in zip(figures, by_figure, strict=True)}
        else:
            labels, n, pieces = self._told_groups()
            values = figures_of_groups(figures, pieces, len(labels))
        first = leading(figures)
        risk = values[first.name] * (-1 if first.higher == "safer" else 1)
        order = np.argsort(np.where(np.isnan(risk), np.inf, -risk), kind="stable")
        ordered = {name: column[order] for name, column in {"n": n, **values}.items()}
        return frames.result_frame(ordered, nw.maybe_reset_index(labels[order.tolist()]), carry=list(self.by))

    def told(self, column: str) -> Values:
        """Values of each record under a column name of `file_figures`; of m releases a row for each."""
        cells: table.Cells = self.__dict__["cells"]
        return cells.row_values(column)

    def told_frame(self) -> tuple[nw.DataFrame[Any], Ints | None]:
        """The caller's frame, and the indices of the rows that the values belong to, None for all."""
        cells: Any = self.__dict__["cells"]
        return cells.records_frame(), None

    def _told_groups(self) -> tuple[nw.DataFrame[Any], Ints, Iterable[Piece]]:
        """Labels of the subgroups, the records of each, and what is told of these."""
        frame, rows = self.told_frame()
        labels, of_row = group_columns(frame, self.by, rows)
        return labels, np.bincount(of_row, minlength=len(labels)), [(self.told, of_row, None)]

    def drawn_units(self, roles: Sequence[str | None]) -> tuple[Any, Ints, Any]:  # noqa: ARG002 - those of the cells
        """The units to resample: function that returns values, number of records of each value, and households."""
        cells: table.Cells = self.__dict__["cells"]
        cluster = cells.cluster
        if cluster is not None:
            return self.told, np.ones(cells.n, np.int64), cells.household_of_row(cluster)
        return cells.cell_values, cells.table.size, None

    def _flat(self) -> list[tuple[str, float]]:
        ends = ((f"{name}_{end}", at) for name, both in self.intervals.items() for end, at in _ends(both))
        return [*super()._flat(), *ends]

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with their intervals; not those of subgroups, which name values."""
        return {**super().to_dict(), **({"intervals": json_ready(self.intervals)} if self.intervals else {})}


@dataclass(frozen=True, eq=False, repr=False)
class CellsResult(RecordResult):
    """The same for a file that was tabulated by its keys.

    Attributes
    ----------
    cells : Cells or LazyCells
        The cells; dropped when the result is pickled.
    prefix : str
        Text before the names of the columns of `records`.
    """

    cells: table.AnyCells
    prefix: str = field(default="", kw_only=True)
    notes: dict[str, str] = field(default_factory=dict, kw_only=True)

    @cached_property
    def n(self) -> int:
        """Records."""
        return self.cells.n

    @cached_property
    def missing_rule(self) -> str:
        """What a missing key value was taken for, in words."""
        return self.cells.missing_rule


def _ends(both: tuple[float, float]) -> tuple[tuple[str, float], ...]:
    return (("low", both[0]), ("high", both[1]))


@dataclass(frozen=True, eq=False, repr=False)
class PairRecordResult(RecordResult, pair_result.PairResult):
    """The same for a release beside its original, whose records are those told of.

    Attributes
    ----------
    each : dict of str to ndarray, or callable
        What is told of each record, of m releases a row for each; where cells are in parts, a function that tells it of
        those of a part. Dropped when the result is pickled.
    """

    each: Any = field(default_factory=dict, init=False)
    n: int = field(default=0, kw_only=True)
    prefix: str = field(default="", repr=False, kw_only=True)

    @classmethod
    def of(
        cls, pair: Pair, per_release: Sequence[dict[str, float]], missing_rule: str, notes: dict[str, str], **own: Any
    ) -> Self:
        """A result whose figures are means over the releases; `own` is what else it holds."""
        means = {"n": pair.n, **pair_result.mean_figures(per_release, notes)}
        return cls(pair, tuple(per_release), missing_rule, notes, **{**means, **own})

    def told(self, column: str) -> Values:
        """Values of each record under a column name of `file_figures`; of m releases a row for each."""
        values: Values = self.each[column]
        return values

    def _told_groups(self) -> tuple[nw.DataFrame[Any], Ints, Iterable[Piece]]:
        if not isinstance(self.pair, parted_pair.PartedPair):
            return super()._told_groups()
        groups = self.pair.subgroups(self.by)
        return groups.labels, groups.n, self._told_pieces(self.pair)

    def _told_pieces(self, pair: parted_pair.PartedPair) -> Iterable[Piece]:
        """What is told of the cells of each part."""
        for part in pair.parts():
            told = self.each(part).__getitem__ if callable(self.each) else replace(self, pair=part).told
            yield told, part.subgroup(self.by), part.by_file(0)

    def told_frame(self) -> tuple[nw.DataFrame[Any], Ints | None]:
        """The original, and the indices of the rows that the values belong to, None for all."""
        return self.pair.original, None

    def drawn_units(self, roles: Sequence[str | None]) -> tuple[Any, Ints, Any]:
        """The units to resample: function that returns values, number of records of each value, and households."""
        frame, rows = self.told_frame()
        n = len(frame) if rows is None else len(rows)
        whose = next((role for role in roles if role is not None), None)
        if whose is None:
            times = self.pair.times
            return self.told, np.ones(n, np.int64) if times is None else times[0], None
        of_row, n_units = table.group_column(frame, whose)
        if rows is None:
            return self.told, np.ones(n, np.int64), (of_row, n_units)
        used, own = np.unique(of_row[rows], return_inverse=True)
        return self.told, np.ones(n, np.int64), (own, len(used))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "each": LetGo()}  # told by record


@dataclass(frozen=True, eq=False, repr=False)
class ColumnResult(PairRecordResult):
    """The same, with the columns of its records at hand.

    Attributes
    ----------
    columns : dict of str to ndarray
        Figures of each record of the original; dropped when the result is pickled.
    """

    dropped: ClassVar[tuple[str, ...]] = ("pair", "columns")
    columns: dict[str, Values] = field(default_factory=dict, repr=False, kw_only=True)

    @cached_property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return self.pair.records(self.columns, prefix=self.prefix)


def group_columns(
    frame: nw.DataFrame[Any], by: Sequence[str], rows: Ints | None = None
) -> tuple[nw.DataFrame[Any], Ints]:
    """Labels of the groups by some columns, in order of first appearance, and the group of each record."""
    of_row, _ = as_cells.groups_of(frame, by)
    if rows is not None:
        of_row = of_row[rows]
    _, first, number = np.unique(of_row, return_index=True, return_inverse=True)
    order = np.argsort(first)
    at = first[order] if rows is None else rows[first[order]]
    return frame.select(*by)[at.tolist()], places_among(order, len(order))[number]


# --- arguments for subgroups and intervals ------------------------------------------------------------


@dataclass(frozen=True)
class Breakdown:
    """The subgroups and intervals wanted of a measure, checked before it starts.

    `whose`: columns of households and of persons, resampled as a whole, for a release compared with its original.
    """

    by: tuple[str, ...]
    rng: np.random.Generator | None
    whose: tuple[str | None, ...] = ()

    @property
    def also(self) -> tuple[str, ...]:
        """Columns of the original that are needed for it."""
        return tuple(dict.fromkeys([*self.by, *(column for column in self.whose if column is not None)]))

    @property
    def wanted(self) -> bool:
        """Whether there are any."""
        return bool(self.by) or self.rng is not None

    @property
    def drawn(self) -> bool:
        """Whether records are resampled."""
        return self.rng is not None

    def extra(self, cells: table.AnyCells) -> tuple[str, ...]:
        """Columns that a plan's cells have to bring with them for it."""
        whose = (cells.roles.household, cells.roles.person) if self.rng is not None else ()
        return tuple(dict.fromkeys([*self.by, *(column for column in whose if column is not None)]))

    def of(self, result: Of, each: Mapping[str, Values] | Callable[[Pair], Mapping[str, Values]] | None = None) -> Of:
        """A new result, with its subgroups set and its intervals computed.

        `each`: values of each record, or a function that tells them of a part, kept if there are subgroups.
        """
        if not self.wanted:
            return result
        if each is not None:
            object.__setattr__(result, "each", each)
        if self.rng is not None:
            values_of, size, cluster = result.drawn_units(self.whose)
            intervals = bootstrap_intervals(told_figures(result.file_figures()), values_of, size, self.rng, cluster)
            object.__setattr__(result, "intervals", intervals)
        object.__setattr__(result, "by", self.by)
        return result


WHOLE = Breakdown((), None)


def breakdown(
    data: Any, by: Sequence[str] | str | None, result: type[RecordResult], interval: IntervalKind | None = None,
    seed: arguments.Seed = None, scenario: Scenario | None = None, prefix: str = "", *, on_engine: bool = False,
) -> Breakdown:  # fmt: skip
    """Check `by=`, `interval=`, `seed=`, `scenario=` and `prefix=` of a measure before it starts.

    `on_engine` says that the measure leaves the records of a plan where they are.

    Raises ColumnError: a column that the data lack, or of the name of a figure; DataError: cells without records, a
    bootstrap of a plan.
    """
    arguments.text(prefix, "prefix")
    arguments.scenario_or_none(scenario)
    names = arguments.names(by, "by", single=True) or ()
    rng = arguments.seed(seed)
    if interval is not None:
        arguments.choice(interval, "interval", ("bootstrap",))
    if not names and interval is None:
        return WHOLE
    taken = {figure.casefold() for figure in ("n", *result.figures)}
    if clash := [name for name in names if str(name).casefold() in taken]:
        raise ColumnError(f"by: {clash[0]!r} is the name of a result column; rename it", argument="by")
    lazy, present = _columns_of(data)
    if names and present is None:
        raise DataError(NO_RECORDS, argument="by")
    arguments.present(names, present or (), "by", argument="by")
    if interval is not None and lazy and on_engine:
        raise DataError(ON_ENGINE, argument="interval")
    whose: tuple[str | None, ...] = ()
    if interval is not None and scenario is not None:
        whose = tuple(role for role in (scenario.household, scenario.person) if role in (present or ()))
    return Breakdown(names, None if interval is None else rng, whose)


def _columns_of(data: Any) -> tuple[bool, Sequence[str] | None]:
    """Whether the data are a plan; and their columns, None where they are not at hand."""
    if isinstance(data, PlanCells):
        return True, data.own_columns
    if as_cells.is_cells(data):
        return False, None if isinstance(data.source, LetGo | None) else data.source.columns
    frame = data.original if isinstance(data, Pair) else frames.open_frame(data)
    return frames.is_lazy(frame), frame.collect_schema().names()
