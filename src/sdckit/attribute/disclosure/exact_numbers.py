"""Exact numbers: records whose number dominates its group and is released close to the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import compress
from typing import Any, ClassVar

import numpy as np

from sdckit.cells import as_cells, comparable_files, pair_result
from sdckit.cells.pair import IN_STEPS, Pair, open_files, read_pair, rows_belong
from sdckit.data import arguments, frames, hierarchy
from sdckit.data.columns import code_column, distinct_values, float_values
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import NO_MAGNITUDES
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.threads import run

NEAR = 0.1  # relative distance within which a number is as good as known: p = 10 of the p % rule
EXACTLY = 1e-3  # of a sum that a mean gives: it may be rounded
SLACK = 1 + 1e-12  # a distance reached by rounding is reached
FEWEST_EDGES = 2
EQUAL, BEYOND = 0.02, 0.0015  # by how much edges may be off: in steps, as a share of the range of all numbers
ROOM = 1.0  # that `recode` leaves at either end
DEFAULT_K = 3
FEWEST_APART, MOST_APART = 50_000, 2_000_000  # records of which columns are looked at on threads
MISSING_RULE = "a missing value of a group column is a value of its own; a missing number never counts"
Interval = tuple[Floats, Floats]  # lower and upper bound of what is released of each record

# --- kernel: arrays in, arrays out --------------------------------------------------------------------


def dominating(values: Floats, group: Codes, n_groups: int, k: int, whose: Ints | None = None) -> Bools:
    """Which values dominate their group, while fewer than `k` values of it, of their sign, lie within 10 % of them.

    `whose`: household or person of each record, whose values count once there: nobody is hidden by their own rows.

    Dominating is the largest in absolute value, and the second where the others together are less than 10 % of the
    largest. (A value that is more than half of the sum is always the largest.)

    Examples
    --------
    >>> dominating(np.array([90.0, 50, 4, 3, 20, 19, 19]), np.array([0, 0, 0, 0, 1, 1, 1]), 2, 3).tolist()
    [True, True, False, False, False, False, False]
    """
    size = np.where(np.isfinite(values), np.abs(values), 0.0)
    first, second = np.zeros(n_groups), np.zeros(n_groups)
    np.maximum.at(first, group, size)
    is_first = size == first[group]
    np.maximum.at(second, group, np.where(is_first, 0.0, size))
    second = np.where(np.bincount(group[is_first], minlength=n_groups) > 1, first, second)
    rest = np.bincount(group, size, n_groups) - first - second
    is_second = (size == second[group]) & (rest < NEAR * first)[group] & ~is_first
    side = 2 * group + (values < 0)  # a loss hides no profit
    near = [np.flatnonzero(_near(size, of[group])) for of in (first, second)]
    if whose is not None:
        near = [rows[np.unique(np.stack([side[rows], whose[rows]]), axis=1, return_index=True)[1]] for rows in near]
    alone = [np.bincount(side[rows], minlength=2 * n_groups) < k for rows in near]
    return (size > 0) & ((is_first & alone[0][side]) | (is_second & alone[1][side]))  # type: ignore[no-any-return]


def _near(values: Floats, to: Floats) -> Bools:
    with np.errstate(invalid="ignore"):  # open ends of ranges
        return np.abs(values - to) <= NEAR * SLACK * np.abs(to)


def released_near(values: Any, released: Interval) -> Bools:
    """Whether both bounds of what is released of each record lie within 10 % of its value.

    Examples
    --------
    >>> low, high = np.array([95.0, 95.0, np.nan]), np.array([95.0, 150.0, np.nan])
    >>> released_near(np.array([100.0, 100.0, 100.0]), (low, high)).tolist()
    [True, False, False]
    """
    return _near(released[0], values) & _near(released[1], values)


def told_by_means(values: Any, group: Codes, released: Any) -> Bools:
    """Whether the mean that goes out in place of the largest of some records tells it to within 10 %.

    So many times the mean is their sum. The others of them are not below 0, nor below the next smaller number that is
    released in the group, where that is so.

    Examples
    --------
    >>> truth, means = np.array([900.0, 60, 51, 50, 49, 48]), np.array([337.0, 337, 337, 49, 49, 49])
    >>> told_by_means(truth, np.zeros(6, np.int32), means).tolist()
    [True, False, False, False, False, False]
    """
    told = np.zeros(len(values), np.bool_)
    rows = np.flatnonzero(np.isfinite(values) & np.isfinite(released))
    if not rows.size or values[rows].min() < 0:
        return told
    rows = rows[np.lexsort((released[rows], group[rows]))]
    true, mean, of = values[rows], released[rows], group[rows]
    start = np.flatnonzero(np.diff(of, prepend=-1).astype(np.bool_) | (np.diff(mean, prepend=np.nan) != 0))
    size, at = np.diff(start, append=len(rows)), np.cumsum(np.bincount(start, minlength=len(rows))) - 1
    total = np.add.reduceat(true, start)
    below = np.where(np.diff(of[start], prepend=-1) == 0, np.roll(mean[start], 1), 0.0)
    least = np.where(np.minimum.reduceat(true, start) >= below, below, 0.0)
    is_mean = (size > 1) & (np.abs(size * mean[start] - total) <= EXACTLY * total)
    largest = true == np.maximum.reduceat(true, start)[at]
    told[rows] = (is_mean[at] & largest) & _near((size * mean[start] - (size - 1) * least)[at], true)
    return told


def any_released_near(values: Floats, group: Codes, released: Interval, of_row: Codes) -> Bools:
    """Whether any released record of its group lies, with both bounds, within 10 % of each value.

    Examples
    --------
    >>> low, of_row = np.array([95.0, 50.0]), np.array([0, 1])
    >>> any_released_near(np.array([100.0, 100.0]), np.array([0, 1]), (low, low), of_row).tolist()
    [True, False]
    """
    order = np.argsort(of_row, kind="stable")
    low, high = released[0][order], released[1][order]
    start, stop = (np.searchsorted(of_row[order], group, side) for side in ("left", "right"))
    near = [
        released_near(value, (low[first:last], high[first:last])).any()
        for value, first, last in zip(values, start, stop, strict=True)
    ]
    return np.array(near, np.bool_)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactColumn:
    """Numbers of one column.

    Attributes
    ----------
    column : str
    dominating : int
        Original records whose value dominates its group, fewer than k of its group lying within 10 % of it.
    exact : int
        Of these, the records released within 10 % of the truth.
    share : float
        `exact` as a share of the original's records.
    """

    column: str
    dominating: int
    exact: int
    share: float
    told_by: ClassVar[str] = ""


@dataclass(frozen=True, eq=False, repr=False)
class ExactNumbers(pair_result.PairResult):
    """How many records dominate their group with a number that is released close to the truth.

    Attributes
    ----------
    n : int
        Records of the original.
    n_exact : float
        Records that count in the column that has most of them; this and ``share`` are means over the releases.
    share : float
        The same as a share of the records.
    worst : str
        That column; of several releases in the one where it is largest. "" where none counts.
    columns : tuple of tuple of ExactColumn
        For each release, column by column.
    groups : tuple of str
        Columns whose combinations are the groups.
    k : int
        So many values of its group within 10 % of a value hide it.
    records : frame
        A column ``NAME_exact`` for each column: 1 where the record counts, else 0 (the mean over several releases).
    """

    measure: ClassVar[str] = "exact_numbers"
    figures: ClassVar[tuple[str, ...]] = ("n", "n_exact", "share")
    dropped: ClassVar[tuple[str, ...]] = ("pair", "flags")
    n: int = field(kw_only=True)
    columns: tuple[tuple[ExactColumn, ...], ...] = field(kw_only=True)
    groups: tuple[str, ...] = field(kw_only=True)
    k: int = field(kw_only=True)
    flags: Mapping[str, Floats] = field(kw_only=True, repr=False)
    prefix: str = field(default="", kw_only=True, repr=False)
    n_exact: float = math.nan
    share: float = math.nan

    @property
    def worst(self) -> str:
        """The column with most records that count; "" where none does."""
        columns = [column for of_release in self.columns for column in of_release if column.exact]
        return max(columns, key=lambda column: column.exact).column if columns else ""

    @cached_property
    def records(self) -> Any:
        """A row per record of the original, in the caller's order and frame type."""
        return self.pair.records({f"{name}_exact": flags for name, flags in self.flags.items()}, prefix=self.prefix)


# --- measure ------------------------------------------------------------------------------------------


def exact_numbers(
    original: Any,
    released: Any = None,
    *,
    magnitudes: Sequence[str] | str | None = None,
    number_groups: Sequence[str] | str | None = None,
    k: int | None = None,
    aligned: bool | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> ExactNumbers:
    """Count the records whose number dominates its group and is released within 10 % of the truth.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames, optional
        One release or m of them; left out, the file itself is what is released.
    magnitudes : str or sequence of str
        Columns of numbers. Of a scenario the magnitudes, and the numeric columns that are no keys of the intruder.
    number_groups : str or sequence of str, optional
        Columns whose combinations, as released, are the groups; the keys of the scenario unless given, else the file
        is one group. A column is never in its own groups, and those that are not released are left out.
    k : int, optional
        A value is hidden where so many original values of its group, itself included, lie within 10 % of it, 1 or
        more. Default the limit of the scenario, else 3.
    aligned : bool, optional
        Whether row i of a release was made from row i of the original, where no id says it; unless given as the
        scenario says, else the rows where neighbours have their own unchanged values.
    scenario : Scenario, optional
        Gives what is not given here, the limit of k included.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    ExactNumbers
        ``n_exact``, ``share``, ``worst``, ``columns``, ``records``.

    Raises
    ------
    ColumnError
        A column is absent, or listed twice.
    DataError
        A column holds neither numbers nor ranges of numbers; files of different lengths without `id`.
    ScenarioError
        No columns of numbers.

    Notes
    -----
    A value dominates its group where it is the largest in absolute value, or more than half of the sum of absolute
    values, or one of the two largest while the rest of the group is less than 10 % of the largest: then the second
    knows the largest, and the largest the second, to within 10 % (the p % rule with p = 10). It counts where fewer
    than k values of the group lie within 10 % of it, those of a household of the scenario, else of a person, taken
    as one, and it is released within 10 % of the truth; a range, where both of its ends are. Where rows belong
    together it counts, too, where a mean of several records goes out in its place and tells it to within 10 %: so
    many times the mean, less what the others are at least. Zeros, missing and infinite values never count.

    Where rows do not belong together, the groups of the original are those of its own values, recoded as the release
    is, and a value counts where any released record of its group lies within 10 % of it: more may count than rightly
    do. An original in ranges is taken at their middle. Where a number was cut in three bands or more of equal width, or
    of equal width of the logarithm, as recipe, log or the labels themselves show, its smallest and largest value follow
    from the edges: they are released, too.

    References
    ----------
    Hundepool, A. et al. (2012). Statistical Disclosure Control, section 4.2 (dominance and p % rules of tables). Wiley.

    Examples
    --------
    >>> import polars as pl
    >>> firms = pl.DataFrame({"region": ["n"] * 4 + ["s"] * 4, "turnover": [900, 90, 70, 60, 35, 34, 36, 20]})
    >>> found = exact_numbers(firms, magnitudes="turnover", number_groups="region")
    >>> found.n_exact, found.share, found.records["turnover_exact"].to_list()
    (1.0, 0.125, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    >>> rounded = firms.with_columns(turnover=pl.col("turnover").clip(0, 100))
    >>> exact_numbers(firms, rounded, magnitudes="turnover", number_groups="region").n_exact
    0.0
    """
    names, groups, limit = _asked(magnitudes, number_groups, k, scenario)
    if aligned is not None:
        arguments.flag(aligned, "aligned")
    arguments.text(prefix, "prefix")
    if aligned is None and scenario is not None and scenario.aligned:
        aligned = True
    whose = None if scenario is None else scenario.household or scenario.person
    pair = _opened(original, released, names, groups, whose, aligned=aligned, id=id)
    present = pair.released[0].columns
    groups = tuple(name for name in groups if name in present)
    there = [name for name in names if name in present]
    count = partial(_counted, pair, groups=groups, k=limit, whose=_units(pair.original, whose))
    on_threads = pair.aligned and FEWEST_APART <= pair.n <= MOST_APART
    made = run(count, there) if on_threads else [count(name) for name in there]
    counted = dict(zip(there, made, strict=True))
    columns = tuple(
        tuple(
            ExactColumn(name, int(large[j].sum()), int(exact[j].sum()), float(exact[j].sum()) / pair.n)
            for name, (large, exact, _) in counted.items()
        )
        for j in range(pair.m)
    )
    most = [max((column.exact for column in of_release), default=0) for of_release in columns]
    per_release = tuple({"n_exact": float(n_exact), "share": n_exact / pair.n} for n_exact in most)
    notes = {"groups": f"groups by {', '.join(groups)}" if groups else "the file is one group"}
    if not pair.aligned:
        notes["rows"] = "rows do not belong together: any released record of the group counts"
    if in_steps := [name for name, (_, _, is_cut) in counted.items() if is_cut]:
        notes["edges"] = f"equal steps between edges tell the smallest and the largest number of {', '.join(in_steps)}"
    flags = {name: np.stack(exact).mean(axis=0) for name, (_, exact, _) in counted.items()}
    return ExactNumbers(
        pair, per_release, MISSING_RULE, notes, n=pair.n, columns=columns, groups=groups, k=limit, flags=flags,
        prefix=prefix, **pair_result.mean_figures(per_release),
    )  # fmt: skip


@np.errstate(over="ignore", invalid="ignore")  # numbers near the largest there is
def ends_of_steps(ranges: Interval, smallest: float, largest: float) -> tuple[bool, bool]:
    """Whether the edges of ranges, by equal steps of the numbers or logarithms, lead to the smallest and the largest.

    Steps that anybody might choose (20, 2,500; from a multiple of them on; whole factors) say nothing of the file.

    Examples
    --------
    >>> edges = np.array([-np.inf, 19.4, 38.8, 58.2, 77.6, np.inf])
    >>> ends_of_steps((edges[:-1], edges[1:]), 0, 97), ends_of_steps((edges[:-1], edges[1:]), 2, 90)
    ((True, True), (False, False))
    >>> twenties = np.array([0.0, 20, 40, 60])
    >>> ends_of_steps((twenties, twenties + 19), 0, 79)
    (False, False)
    """
    low, high = ranges
    below, above = np.isneginf(low), np.isposinf(high)
    starts, tops = np.unique(low[np.isfinite(low)]), np.unique(high[below & np.isfinite(high)])
    edges = np.union1d(starts, tops[~np.isin(tops + 1, starts)])  # "up to 19" ends where "20-39" begins
    last = edges[-1:] if above.any() else high[np.isfinite(high)]
    if len(edges) < FEWEST_EDGES or not last.size:
        return False, False
    ends, slack = np.array([smallest, largest]), BEYOND * (largest - smallest)
    leads = np.zeros(2, np.bool_)
    for scaled, back in ((edges, np.asarray), (np.log(edges) if edges[0] > 0 else edges[:0], np.exp)):
        times = np.diff(scaled) / np.diff(scaled).min(initial=math.inf)  # where ranges are empty, some are missing
        if not times.size or (np.abs(times - np.round(times)) > EQUAL).any():
            continue
        step = (scaled[-1] - scaled[0]) / np.round(times).sum()
        if _is_chosen(back(scaled), step, back):
            continue
        end = np.log(last.max()) if back is np.exp else last.max()
        outer = np.array([scaled[0] - step * below.any(), end + step * above.any()])
        for room in (0.0, ROOM):
            leads |= np.abs(back(outer + np.array([room, -room])) - ends) <= slack
    return bool(leads[0]), bool(leads[1])


def _is_chosen(edges: Floats, step: float, back: Any) -> bool:
    """Whether somebody may have chosen steps for their numbers."""
    if back is np.exp:
        return bool(np.isclose(np.exp(step), np.round(np.exp(step)), rtol=1e-9, atol=0))
    is_round = math.isclose(step, float(f"{step:.1e}"), rel_tol=1e-9)
    return is_round and np.allclose(edges, np.round(edges / step) * step, rtol=0, atol=1e-9 * step)


def _asked(
    magnitudes: Sequence[str] | str | None, number_groups: Sequence[str] | str | None, k: int | None,
    scenario: Scenario | None,
) -> tuple[tuple[str, ...], tuple[str, ...], int]:  # fmt: skip
    """Columns of numbers, columns of their groups, and k."""
    scenario = arguments.scenario_or_none(scenario)
    names = arguments.names(magnitudes, "magnitudes", single=True)
    groups = arguments.names(number_groups, "number_groups", single=True)
    if names is None and scenario is not None:
        names = scenario.judged_numbers
        if not names and "magnitudes" not in scenario.stated:
            raise ScenarioError(NO_MAGNITUDES, argument="magnitudes")
    if names is None:
        raise ScenarioError("say which columns are magnitudes: magnitudes=[...]", argument="magnitudes")
    if groups is None:
        groups = () if scenario is None else scenario.number_groups or scenario.keys
    if k is None:
        k = DEFAULT_K if scenario is None or scenario.limits.k is None else scenario.limits.k
    return names, groups, arguments.count(k, "k", "is how many near values hide one")


def _opened(
    original: Any, released: Any, names: Sequence[str], groups: Sequence[str], whose: str | None, *,
    aligned: bool | None, id: str | None,
) -> Pair:  # fmt: skip
    """The pair with the columns in memory that are released; of a file by itself the file twice."""
    wanted: dict[str, Sequence[str]] = {"magnitudes": names, "number_groups": groups}
    if released is None and not isinstance(original, Pair):
        arguments.column_or_none(id, "id")
        also = {"id": () if id is None else (id,), "household": _there(frames.open_frame(original), whose)}
        frame, brought = as_cells.columns_in_memory(original, {**wanted, **also})
        return Pair(frame, (frame,), aligned=True, id=id, brought=brought, orders=(None,))
    opened = open_files(original, released, id=id)
    columns = {name for file in opened.released for name in file.collect_schema().names()}
    left = {role: [name for name in listed if name in columns] for role, listed in wanted.items()}
    if aligned is None and not rows_belong(opened, None, None):
        pair = read_pair(opened, left, aligned=False)
        seen = pair if any(map(frames.is_lazy, opened.frames)) else opened  # in memory all columns say so
        aligned = comparable_files.in_same_order(seen.original if seen.raw is None else seen.raw, *seen.released)
    return read_pair(opened, left, also=_there(opened.original, whose), aligned=aligned is not False)


def _there(frame: Any, name: str | None) -> tuple[str, ...]:
    return () if name is None or name not in frames.column_names(frame) else (name,)


def _units(frame: Any, name: str | None) -> Ints | None:
    """The household or person of each record, where the file says so; a record without one is by itself."""
    if name is None or not _there(frame, name):
        return None
    codes = (column := code_column(frame[name])).codes()
    return np.where(codes == column.span, column.span + np.arange(len(codes)), codes)


def _counted(
    pair: Pair, name: str, *, groups: Sequence[str], k: int, whose: Ints | None
) -> tuple[list[Bools], list[Bools], bool]:
    """For each release the records that dominate their group, and those of them released within 10 % of the truth.

    Last whether equal steps tell the smallest or the largest number.
    """
    truth = pair.raw if pair.raw is not None and name in pair.raw.columns else pair.original
    (low, high), _ = _bounds(truth[name], pair.names[0])
    with np.errstate(invalid="ignore"):
        values = low if low is high else (low + high) / 2
    if not np.isfinite(values).any():
        raise DataError(f"{pair.names[0]}: {name!r} has no number in any record; leave it out")
    own = [column for column in groups if column != name]
    smallest, largest = np.nanmin(values), np.nanmax(values)
    declared = any(IN_STEPS in recoding.kind for recoding in pair.recoded if recoding.column == name)
    large, exact, in_steps = [], [], declared
    for j, (file, order) in enumerate(zip(pair.released, pair.orders, strict=True), 1):
        bounds, ranges = _bounds(file[name], pair.names[j])
        if pair.aligned:
            of_row, n_groups = as_cells.groups_of(file, own)  # as released: the original may be coded otherwise
            if order is not None:
                bounds, of_row = (bounds[0][order], bounds[1][order]), of_row[order]
            counts = dominating(values, of_row, n_groups, k, whose)
            near = counts & released_near(values, bounds)
            if file[name].dtype.is_numeric():
                of_file = np.zeros(len(values), np.int32)  # means may be those of records of several groups
                near |= counts & (told_by_means(values, of_row, bounds[0]) | told_by_means(values, of_file, bounds[0]))
        else:
            grouped = pair.groups(own)
            of_row = grouped.of_row[0]
            counts = dominating(values, of_row, grouped.n_groups, k, whose)
            near = counts.copy()
            near[counts] = any_released_near(values[counts], of_row[counts], bounds, grouped.of_row[j])
        by_steps = (True, True) if declared else ends_of_steps(ranges, smallest, largest)
        for end in compress((smallest, largest), by_steps):
            near |= counts & (values == end)
        in_steps |= any(by_steps)
        large.append(counts)
        exact.append(near)
    return large, exact, in_steps


def _bounds(series: Any, label: str) -> tuple[Interval, Interval]:
    """Bounds of the numbers or ranges of a column, NaN where missing, and its different ranges.

    A column of numbers is its own bounds, and has no ranges.
    """
    if series.dtype.is_numeric():
        values = float_values(series, "magnitude")
        return (values, values), (values[:0], values[:0])
    distinct = distinct_values(series)
    bands = [hierarchy.read_band(str(value)) for value in distinct.values]
    if distinct.kind not in ("text", "empty") or any(band is None for band in bands):
        raise DataError(f"{label}: {series.name!r} holds neither numbers nor ranges of numbers")
    ends = np.array([[band.low, band.high] for band in bands if band is not None] + [[np.nan, np.nan]], np.float64)
    return (ends[distinct.codes, 0], ends[distinct.codes, 1]), (ends[:, 0], ends[:, 1])
