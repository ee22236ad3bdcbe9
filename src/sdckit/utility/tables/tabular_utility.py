"""F4: how well a release preserves the contingency tables of one, two or three variables.

Also how large a random sample of the original would be whose tables are as near to it as those of the release.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.cells.plans.pair_tables import PairTables
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.numerics.threads import run
from sdckit.result import LetGo
from sdckit.utility.chosen_variables import BINS, MISSING_RULE, Bins, Chosen, chosen_variables, coded_variables
from sdckit.utility.tables import table_counts


def sizes_of(counts: Ints) -> tuple[Ints, Ints]:
    """The different sizes of the cells of one table, and how many cells there are of each."""
    size, cells = np.unique(counts[counts > 0], return_counts=True)
    return size, cells


@dataclass(frozen=True, eq=False)
class CellSizes:
    """How many cells of the tables of a file of `n` records hold how many: all that the distance of a sample needs.

    `size` (K,): records of a cell, every number once; `cells` (K,): cells of so many, over all `n_tables`.
    """

    n: int
    n_tables: int
    size: Ints
    cells: Ints

    @classmethod
    def of_tables(cls, n: int, parts: Sequence[tuple[Ints, Ints]]) -> CellSizes:
        """From the `sizes_of` each table.

        >>> CellSizes.of_tables(4, [sizes_of(np.array([2, 2])), sizes_of(np.array([3, 1, 0]))]).cells.tolist()
        [1, 2, 1]
        """
        size, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        cells = np.bincount(place, weights=np.concatenate([part[1] for part in parts])).astype(np.int64)
        return cls(n, len(parts), size.astype(np.int64), cells)

    def expected_distance(self, m: int) -> float:
        """Expected total variation distance of the tables of a simple random sample of m records, their mean.

        A cell of c records has X of the sample, which is hypergeometric with mean m c / n; half the sum of
        absolute deviations is the sum of the positive ones. k (n - c - m + k) P(k) / n, from which the same for k + 1
        is taken, is (k - mean) P(k): the positive part telescopes to the first k above the mean.

        >>> CellSizes.of_tables(2, [sizes_of(np.array([1, 1]))]).expected_distance(1)
        0.5
        """
        from scipy.special import gammaln

        def log_ways(among: Ints | int, taken: Ints | int) -> Floats:
            return np.asarray(gammaln(among + 1) - gammaln(taken + 1) - gammaln(among - taken + 1))

        above = m * self.size // self.n + 1
        may = above <= np.minimum(self.size, m)
        k, c = above[may], self.size[may]
        chance = np.exp(log_ways(c, k) + log_ways(self.n - c, m - k) - log_ways(self.n, m))
        deviation = k * ((self.n - c - m + k) / self.n) * chance
        return float(self.cells[may] @ deviation) / (m * self.n_tables)

    def equivalent(self, distance: float) -> float:
        """Share of the file that the smallest sample is whose expected distance is no larger.

        A larger sample is nearer: given it, a part of it has the same expectation, and a distance is convex.

        >>> sizes = CellSizes.of_tables(4, [sizes_of(np.array([2, 2]))])
        >>> sizes.equivalent(0.5), sizes.equivalent(0.17), sizes.equivalent(0.0)
        (0.25, 0.5, 1.0)
        """
        low, high = 1, self.n
        while low < high:
            middle = (low + high) // 2
            if self.expected_distance(middle) <= distance:
                high = middle
            else:
                low = middle + 1
        return low / self.n


def redraw_equivalent(n: int, n_released: float) -> float:
    """About the sample, as a share, that is as near as a redraw: so many records drawn from the file with replacement.

    A share p of a redraw has variance p (1 - p) / n_released, one of a sample of m p (1 - p) (1 / m - 1 / n).

    >>> redraw_equivalent(1000, 1000), redraw_equivalent(1000, 250)
    (0.5, 0.2)
    """
    return n_released / (n + n_released)


def other_sample_equivalent(n: int, n_released: float) -> float:
    """About the sample, as a share, that is as near as so many other people of a large population.

    Two samples apart vary both: p (1 - p) (1 / n + 1 / n_released).

    >>> round(other_sample_equivalent(1000, 1000), 3)
    0.333
    """
    return n_released / (n + 2 * n_released)


Ways = Literal[1, 2, 3]
TABLES = 100_000  # most tables measured in one call
SUMMARISED = ("s_pmse", "s_jsd", "specks", "dbhatt")
GROUP_FIGURES = ("n", "n_released", "k_marginal")
T = TypeVar("T")


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def all_tables(
    variables: Sequence[SharedCoding], ways: int, of_table: Callable[[table_counts.Crossed], T], *, complete: bool,
    beside: Sequence[SharedCoding] = (), tables: PairTables | None = None,
) -> list[T]:  # fmt: skip
    """What `of_table` makes of every `ways`-way table of the variables, each with the columns `beside` before them.

    `tables`: of plans, whose engines count.
    """
    if tables is not None:
        sets = [[*beside, *some] for some in itertools.combinations(variables, ways)]
        counted = table_counts.cross_codings(sets, tables)
        return [of_table(crossed.complete() if complete else crossed) for crossed in counted]

    def beginning_with(first: tuple[int, ...]) -> list[T]:
        """The tables of some first variables and each later one, which share the packed first ones."""
        rows = [*beside, *(variables[j] for j in first)]
        columns, shape = [row.codes for row in rows], [row.n_levels + 1 for row in rows]
        words = table_counts.prefix_words(columns, shape) if rows else None
        start = first[-1] + 1 if first else 0
        return [
            of_table(_one_table(words, [*columns, variable.codes], [*shape, variable.n_levels + 1], complete=complete))
            for variable in variables[start:]
        ]

    parts = run(beginning_with, itertools.combinations(range(len(variables)), ways - 1))
    return [table for part in parts for table in part]


def _one_table(
    words: tuple[Codes, ...] | None, columns: Sequence[Sequence[Codes]], shape: Sequence[int], *, complete: bool
) -> table_counts.Crossed:
    crossed = (
        table_counts.cross(columns, shape) if len(columns) == 1 else table_counts.cross_from(words, columns, shape)
    )
    return crossed.complete() if complete else crossed


def statistics_of(crossed: table_counts.Crossed) -> tuple[list[list[float]], tuple[Ints, Ints]]:
    """All statistics of one table in each release, and the sizes of the original's cells."""
    original, *releases = crossed.counts
    figures = [list(table_counts.table_statistics(original, released).values()) for released in releases]
    return figures, sizes_of(original)


def distances_by_group(crossed: table_counts.Crossed, n_groups: int) -> tuple[Floats, Floats, tuple[Ints, Ints]]:
    """Total variation distance of one table in each release, the same by group, and the sizes of the original's cells.

    The first column of the table is the group. A group's distance is the sum of absolute differences over its cells, as
    shares of the file, at most its own share and as a part of it (releases, groups); NaN of a group that the original
    lacks.
    """
    original, *releases = crossed.counts
    group = crossed.codes[0] - 1
    with np.errstate(invalid="ignore"):  # 0 / 0 where a file has no complete record
        share = np.bincount(group, original / original.sum(), n_groups)
        apart = [np.abs(released / released.sum() - original / original.sum()) for released in releases]
        within = np.array([np.bincount(group, differences, n_groups) for differences in apart])
        whole = np.array([differences.sum() / 2 for differences in apart])
        return whole, np.minimum(within, share) / share, sizes_of(original)


def release_figures(statistics: Mapping[str, Floats]) -> dict[str, float]:
    """Mean and largest value of each statistic over the tables of one release, undefined ones left out."""
    out = {}
    for name in SUMMARISED:
        known = statistics[name][~np.isnan(statistics[name])]
        out[f"mean_{name}"] = float(known.mean()) if len(known) else math.nan
        out[f"largest_{name}"] = float(known.max()) if len(known) else math.nan
    return out


@dataclass(frozen=True)
class GroupScore:
    """How near the tables of one group are: its labels, its records in the original and the releases, its score."""

    labels: tuple[str, ...]
    n: int
    n_released: float
    k_marginal: float


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class TabularUtility(PairResult):
    """How far the tables of a release are from those of the original; 0 in every statistic: equal.

    Attributes
    ----------
    n_tables : int
        Tables measured.
    mean_s_pmse, largest_s_pmse : float
        Standardised pMSE over the tables: about 1 where the release was drawn from a model that holds.
    mean_s_jsd, largest_s_jsd : float
        Standardised Jensen-Shannon divergence, the same.
    mean_specks, largest_specks : float
        Total variation distance, 0 to 1.
    mean_dbhatt, largest_dbhatt : float
        Hellinger distance, 0 to 1.
    k_marginal : float
        1,000 x (1 - mean total variation distance), NIST's score: 1,000 for equal tables, 0 for tables apart. With
        ``by`` of the tables with those columns beside.
    sample_equivalent : float
        Share of the original that a simple random sample would have to be to score the same on average.
    redraw_equivalent, other_sample_equivalent : float
        About the same of a redraw of the file of the releases' size, and of so many other people of its population.
    ways : int
        Variables per table.
    by : tuple of str
    groups : tuple of GroupScore
        Each group that the original has, the worst first.
    variables : tuple of str
    tables : tuple of tuple of str
        The variables of each table.
    statistics : dict of str to ndarray, float64, shape (m, n_tables)
        Every statistic of every table in each release (see the notes of `tabular_utility`).
    """

    measure: ClassVar[str] = "tabular_utility"
    figures: ClassVar[tuple[str, ...]] = (
        "n_tables",
        *(f"{part}_{name}" for name in SUMMARISED for part in ("mean", "largest")),
        "k_marginal", "sample_equivalent", "redraw_equivalent", "other_sample_equivalent",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "groups")
    n_tables: int = 0
    mean_s_pmse: float = math.nan
    largest_s_pmse: float = math.nan
    mean_s_jsd: float = math.nan
    largest_s_jsd: float = math.nan
    mean_specks: float = math.nan
    largest_specks: float = math.nan
    mean_dbhatt: float = math.nan
    largest_dbhatt: float = math.nan
    k_marginal: float = math.nan
    sample_equivalent: float = math.nan
    redraw_equivalent: float = math.nan
    other_sample_equivalent: float = math.nan
    ways: int = 2
    by: tuple[str, ...] = ()
    groups: tuple[GroupScore, ...] = field(default=(), repr=False)
    variables: tuple[str, ...] = ()
    tables: tuple[tuple[str, ...], ...] = ()
    statistics: dict[str, Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def means(self) -> dict[str, Floats]:
        """Each statistic of each table, mean over the releases where it is defined; shape (n_tables,)."""
        return {name: _mean(values) for name, values in self.statistics.items()}

    @cached_property
    def table(self) -> Any:
        """A row per table in a frame of the caller's engine: its variables, and the means over the releases."""
        return self._frame(np.arange(self.n_tables), self.means)

    @property
    def by_group(self) -> Any:
        """A row per group, the worst first: records in the original and in the releases (mean), and its score."""
        groups = self.groups
        if isinstance(groups, LetGo):
            return groups.figures  # raises, as for any other data
        if not self.by:
            raise DataError("no groups were asked for; give by=[...]")
        labels = {name: [group.labels[i] for group in groups] for i, name in enumerate(self.by)}
        figures = {name: [getattr(group, name) for group in groups] for name in GROUP_FIGURES}
        return self.pair.table({**labels, **figures})

    def of_release(self, release: int) -> Any:
        """Give the same frame for one release, counted from 1."""
        if not 1 <= release <= self.m:
            raise DataError(f"release counts from 1 to {self.m}")
        return self._frame(
            np.arange(self.n_tables), {name: values[release - 1] for name, values in self.statistics.items()}
        )

    def worst(self, n: int = 10, *, statistic: str = "s_pmse") -> Any:
        """Give the n tables in which original and release differ most, as rows of `table`."""
        values = self._of(statistic)
        order = np.argsort(-values, kind="stable")[: int((~np.isnan(values)).sum())]
        return self._frame(order[:n], self.means)

    def matrix(self, *, statistic: str = "s_pmse") -> Floats:
        """A statistic by pair of variables, for a heat map: rows and columns as in `variables`.

        With three variables per table the largest value over the third one. The diagonal is NaN.
        """
        if self.ways == 1:
            raise DataError("tables of one variable have no pairs; measure with ways=2 or ways=3")
        place = {name: j for j, name in enumerate(self.variables)}
        out = np.full((len(place), len(place)), np.nan)
        for names, value in zip(self.tables, self._of(statistic), strict=True):
            for a, b in itertools.permutations((place[name] for name in names), 2):
                out[a, b] = np.fmax(out[a, b], value)
        return out

    def _of(self, statistic: str) -> Floats:
        if statistic not in self.statistics:
            raise DataError(f"no statistic {statistic!r}; there are {', '.join(self.statistics)}")
        return self.means[statistic]

    def _frame(self, rows: Ints, values: Mapping[str, Floats]) -> Any:
        columns: dict[str, list[Any]] = {
            f"variable_{j + 1}": [self.tables[row][j] for row in rows] for j in range(self.ways)
        }
        return self.pair.table({**columns, **{name: column[rows].tolist() for name, column in values.items()}})


def _mean(values: Floats) -> Floats:
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


# --- measure ------------------------------------------------------------------------------------------


def tabular_utility(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    ways: Ways = 2,
    numeric: Sequence[str] | None = None,
    bins: Bins = BINS,
    drop_missing: bool = False,
    by: Sequence[str] | str | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> TabularUtility:
    """Measure how well a release keeps every table of one, two or three variables, and name the worst.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ, rows need not correspond.
    variables : sequence of str, optional
        All columns in common unless given, but for the id and the scenario's weight, household, person and
        identifiers.
    ways : {1, 2, 3}
        Variables per table; all combinations are measured.
    numeric : sequence of str, optional
        Variables that are cut into classes where they have more different values than that: else those that
        the scenario declares, else those stored as numbers. Others are taken value by value.
    bins : int or dict of str to int
        Classes of each, 2 or more, cut at the quantiles of all files pooled; equal quantiles are one edge.
    drop_missing : bool
        Whether records without a value are left out of the tables of that variable; else it is a level.
    by : sequence of str or str, optional
        Columns of groups, value by value: they are no variables, the score is of tables with them beside, and
        ``by_group`` gives it for each group.
    scenario : Scenario, optional
    id : str, optional
        A column that is no variable.

    Returns
    -------
    TabularUtility
        ``k_marginal`` with ``sample_equivalent``, ``table``, ``worst``, ``matrix``, the statistics of each release,
        ``by_group``.

    Raises
    ------
    ColumnError
        No variable in common, fewer variables than `ways`, types that do not compare.
    DataError
        A file without records, numbers that are none, `bins` below 2, more than 100,000 tables.

    Notes
    -----
    A cell has o records of the n of the original and s of the n_s of the release; p_o = o/n, p_s = s/n_s,
    c = n_s/(n + n_s), d = s - o n_s/n, e = c (s + o). Cells empty in both are left out; df is one less than
    their number, ``df_g`` one less than the number of those that both files have.

    ``vw`` = sum d²/e; ``ft`` = 4 sum (√s - √(o n_s/n))²; ``g`` = 2 sum s ln of the ratio of shares, over cells
    in both; ``jsd`` in bits; ``specks`` = ½ sum |p_s - p_o|; ``mabsdd`` = 2 specks; ``wmabsdd`` = sum |d|/√e /
    √(2/π); ``dbhatt`` = √(½ sum (√p_s - √p_o)²); ``pmse`` = vw c (1 - c)²/(n + n_s); ``po50`` the share of
    records in cells where their own file has the larger share, less ½; ``u`` and ``auc`` of the cells' shares
    of released records. ``s_`` of vw, ft, wmabsdd and pmse are over df, ``s_g`` over df_g, and ``s_jsd`` =
    8 n_s ln 2 jsd / df: each about 1 where the release is drawn from the original's own distribution.

    A group's score is 1,000 less 1,000 times the mean of sum |p_s - p_o| over its cells, which counts no more than the
    group's share of the original, over that share. The sample equivalent is that of the whole file; with `drop_missing`
    there is none.

    References
    ----------
    Task, C., Bhagat, K. and Howarth, G. (2023). SDNist v2: deidentified data report tool. NIST.
    Raab, G. M., Nowok, B. and Dibben, C. (2021). Assessing, visualizing and improving the utility of synthetic
    data. arXiv 2109.12717. Voas, D. and Williamson, P. (2001). Evaluating goodness-of-fit measures for synthetic
    microdata. Geographical and Environmental Modelling 5, 177-200.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "no", "no", "no"]})
    >>> release = pl.DataFrame({"sex": ["f", "m", "m", "m"], "ill": ["no", "no", "no", "yes"]})
    >>> result = tabular_utility(survey, release, ways=1)
    >>> result.tables, result.statistics["specks"].tolist()
    ((('sex',), ('ill',)), [[0.25, 0.0]])
    """
    arguments.count(ways, "ways", "is the number of variables per table", at_most=3)
    arguments.flag(drop_missing, "drop_missing")
    groups_by = arguments.names(by, "by", single=True) or ()
    if clash := [name for name in groups_by if str(name).casefold() in GROUP_FIGURES]:
        raise ColumnError(f"by: {clash[0]!r} is the name of a result column; rename it", argument="by")
    chosen = chosen_variables(original, released, variables, numeric, scenario, id, by=groups_by, counted=True)
    n_tables = math.comb(len(chosen.names), ways)
    if not n_tables:
        raise ColumnError(
            f"a table of {ways} needs as many variables; the files have {', '.join(chosen.names)} in common"
        )
    if n_tables > TABLES:
        raise DataError(
            f"{len(chosen.names)} variables have {n_tables:,} tables of {ways}, more than {TABLES:,}; give "
            "variables=[...] or smaller ways"
        )
    coded, _, notes = coded_variables(chosen, bins)
    tables = all_tables(coded, ways, statistics_of, complete=drop_missing, tables=chosen.tables)
    measured = np.array([table for table, _ in tables]).transpose(1, 0, 2)
    statistics = {name: measured[:, :, j] for j, name in enumerate(table_counts.STATISTICS)}
    distances, cells = statistics["specks"], [sizes for _, sizes in tables]
    groups: tuple[GroupScore, ...] = ()
    if groups_by:
        distances, cells, groups = _of_groups(chosen, coded, ways, groups_by, complete=drop_missing)
    if drop_missing:
        notes["sample_equivalent"] = "undefined: a sample would have its own records without a value"
    sizes = None if drop_missing else CellSizes.of_tables(chosen.pair.n, cells)
    per_release = tuple(
        {
            **release_figures({name: values[j] for name, values in statistics.items()}),
            **_scores(distances[j], sizes, chosen.pair.n, chosen.pair.sizes[j]),
        }
        for j in range(chosen.pair.m)
    )
    _undefined(statistics, notes)
    rule = "records with a missing value are left out of the tables of that variable"
    return TabularUtility(
        chosen.pair, per_release, rule if drop_missing else MISSING_RULE, notes, n_tables=n_tables,
        **mean_figures(per_release, notes), ways=ways, by=groups_by, groups=groups, variables=chosen.names,
        tables=tuple(itertools.combinations(chosen.names, ways)), statistics=statistics,
    )  # fmt: skip


def _scores(distances: Floats, sizes: CellSizes | None, n: int, n_released: int) -> dict[str, float]:
    """The score of one release from the distances of its tables, and the sample that scores the same."""
    known = distances[~np.isnan(distances)]
    distance = float(known.mean()) if len(known) else math.nan
    return {
        "k_marginal": 1000 * (1 - distance),
        "sample_equivalent": math.nan if sizes is None else sizes.equivalent(distance),
        "redraw_equivalent": math.nan if sizes is None else redraw_equivalent(n, n_released),
        "other_sample_equivalent": math.nan if sizes is None else other_sample_equivalent(n, n_released),
    }


def _of_groups(
    chosen: Chosen, variables: Sequence[SharedCoding], ways: int, by: tuple[str, ...], *, complete: bool
) -> tuple[Floats, list[tuple[Ints, Ints]], tuple[GroupScore, ...]]:
    """Distances (releases, tables) of the tables with the group beside, their cells, and the score of each group."""
    size, labels, tables = (_counted_groups if chosen.tables is not None else _record_groups)(
        chosen, variables, ways, by, complete=complete
    )
    distances = np.array([table[0] for table in tables]).T
    apart = _mean(np.array([table[1] for table in tables]).reshape(-1, size.shape[1]))
    released = np.mean(size[1:], axis=0)
    scores = [
        GroupScore(labels[group], int(size[0][group]), float(released[group]), 1000 * (1 - float(apart[group])))
        for group in labels
    ]
    worst_first = sorted(scores, key=lambda score: (math.isnan(score.k_marginal), score.k_marginal))
    return distances, [table[2] for table in tables], tuple(worst_first)


Groups = tuple[Ints, dict[int, tuple[str, ...]], list[tuple[Floats, Floats, tuple[Ints, Ints]]]]


def _record_groups(
    chosen: Chosen, variables: Sequence[SharedCoding], ways: int, by: Sequence[str], *, complete: bool
) -> Groups:
    """Sizes of the groups of records in each file, labels of those that the original has, and what the tables say."""
    groups = chosen.pair.groups(by)
    coding = SharedCoding("by", tuple(rows + np.int32(1) for rows in groups.of_row), groups.n_groups, "text", list)
    of_table = partial(distances_by_group, n_groups=groups.n_groups)
    tables = all_tables(variables, ways, of_table, complete=complete, beside=[coding])
    return np.array(groups.size), chosen.pair.group_labels(by), tables


def _counted_groups(
    chosen: Chosen, variables: Sequence[SharedCoding], ways: int, by: Sequence[str], *, complete: bool
) -> Groups:
    """The same of plans."""
    assert chosen.tables is not None
    codings = [chosen.tables.coding(name) for name in by]
    (groups,) = table_counts.cross_codings([codings], chosen.tables)

    def of_table(crossed: table_counts.Crossed) -> tuple[Floats, Floats, tuple[Ints, Ints]]:
        by_group = table_counts.in_groups(crossed, groups)
        return distances_by_group(by_group.complete() if complete else by_group, groups.counts.shape[1])

    tables = all_tables(variables, ways, of_table, complete=False, beside=codings, tables=chosen.tables)
    words = [coding.labels() for coding in codings]
    own = np.flatnonzero(groups.counts[0]).tolist()
    labels = {row: tuple(of[codes[row]] for of, codes in zip(words, groups.codes, strict=True)) for row in own}
    return groups.counts, labels, tables


def _undefined(statistics: Mapping[str, Floats], notes: dict[str, str]) -> None:
    """Add notes on how many tables a statistic is undefined for, and why."""
    if empty := int(np.isnan(statistics["specks"]).all(axis=0).sum()):
        notes["tables"] = f"{empty} tables have no complete record in one of the files: undefined"
    if single := int((statistics["df"] == 0).all(axis=0).sum()):
        notes["standardised"] = f"{single} tables have one cell only: no degrees of freedom, nothing to compare"
    if disjoint := int((np.isnan(statistics["df_g"]) & ~np.isnan(statistics["df"])).any(axis=0).sum()):
        notes["g"] = f"{disjoint} tables have no cell in common: g is undefined there"
    for name in SUMMARISED:
        if np.isnan(statistics[name]).all():
            for part in ("mean", "largest"):
                notes[f"{part}_{name}"] = "undefined in every table: no degrees of freedom or no complete record"
