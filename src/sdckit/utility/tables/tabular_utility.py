"""F4: how well a release preserves the contingency tables of one, two or three variables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import PairResult, mean_figures
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Codes, Floats
from sdckit.numerics.threads import run
from sdckit.utility.chosen_variables import BINS, MISSING_RULE, Bins, chosen_variables, coded_variables
from sdckit.utility.tables.table_counts import STATISTICS, cross, cross_from, prefix_words, table_statistics

Ways = Literal[1, 2, 3]
TABLES = 100_000  # most tables measured in one call
SUMMARISED = ("s_pmse", "s_jsd", "specks", "dbhatt")


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def all_tables(variables: Sequence[SharedCoding], ways: int, *, complete: bool) -> Floats:
    """Statistics of every `ways`-way table of the variables; shape (m, tables, statistics)."""

    def beginning_with(first: tuple[int, ...]) -> list[list[list[float]]]:
        """The tables of some first variables and each later one, which share the packed first ones."""
        rows = [variables[j] for j in first]
        columns, shape = [row.codes for row in rows], [row.n_levels + 1 for row in rows]
        words = prefix_words(columns, shape) if rows else None
        start = first[-1] + 1 if first else 0
        return [
            _one_table(words, [*columns, variable.codes], [*shape, variable.n_levels + 1], complete=complete)
            for variable in variables[start:]
        ]

    parts = run(beginning_with, itertools.combinations(range(len(variables)), ways - 1))
    return np.array([table for part in parts for table in part]).transpose(1, 0, 2)


def _one_table(
    words: tuple[Codes, ...] | None, columns: Sequence[Sequence[Codes]], shape: Sequence[int], *, complete: bool
) -> list[list[float]]:
    crossed = cross(columns, shape) if len(columns) == 1 else cross_from(words, columns, shape)
    if complete:
        crossed = crossed.complete()
    original, *releases = crossed.counts
    return [list(table_statistics(original, released).values()) for released in releases]


def release_figures(statistics: Mapping[str, Floats]) -> dict[str, float]:
    """Mean and largest value of each statistic over the tables of one release, undefined ones left out."""
    out = {}
    for name in SUMMARISED:
        known = statistics[name][~np.isnan(statistics[name])]
        out[f"mean_{name}"] = float(known.mean()) if len(known) else math.nan
        out[f"largest_{name}"] = float(known.max()) if len(known) else math.nan
    return out


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
    ways : int
        Variables per table.
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
    )
    n_tables: int = 0
    mean_s_pmse: float = math.nan
    largest_s_pmse: float = math.nan
    mean_s_jsd: float = math.nan
    largest_s_jsd: float = math.nan
    mean_specks: float = math.nan
    largest_specks: float = math.nan
    mean_dbhatt: float = math.nan
    largest_dbhatt: float = math.nan
    ways: int = 2
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

    def _frame(self, rows: NDArray[np.int64], values: Mapping[str, Floats]) -> Any:
        columns: dict[str, list[Any]] = {
            f"variable_{j + 1}": [self.tables[row][j] for row in rows] for j in range(self.ways)
        }
        return self.pair.table({**columns, **{name: column[rows].tolist() for name, column in values.items()}})


def _mean(values: Floats) -> Floats:
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    out: Floats = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return out


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
    scenario : Scenario, optional
    id : str, optional
        A column that is no variable.

    Returns
    -------
    TabularUtility
        ``table``, ``worst``, ``matrix`` and the statistics of each release.

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

    References
    ----------
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
    chosen = chosen_variables(original, released, variables, numeric, scenario, id)
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
    measured = all_tables(coded, ways, complete=drop_missing)
    statistics = {name: measured[:, :, j] for j, name in enumerate(STATISTICS)}
    per_release = tuple(
        release_figures({name: values[j] for name, values in statistics.items()}) for j in range(chosen.pair.m)
    )
    _undefined(statistics, notes)
    rule = "records with a missing value are left out of the tables of that variable"
    return TabularUtility(
        chosen.pair, per_release, rule if drop_missing else MISSING_RULE, notes, n_tables=n_tables,
        **mean_figures(per_release, notes), ways=ways, variables=chosen.names,
        tables=tuple(itertools.combinations(chosen.names, ways)), statistics=statistics,
    )  # fmt: skip


def _undefined(statistics: Mapping[str, Floats], notes: dict[str, str]) -> None:
    """Add notes on how many tables a statistic is undefined for, and why."""
    empty = int(np.isnan(statistics["specks"]).all(axis=0).sum())
    if empty:
        notes["tables"] = f"{empty} tables have no complete record in one of the files: undefined"
    if single := int((statistics["df"] == 0).all(axis=0).sum()):
        notes["standardised"] = f"{single} tables have one cell only: no degrees of freedom, nothing to compare"
    if disjoint := int((np.isnan(statistics["df_g"]) & ~np.isnan(statistics["df"])).any(axis=0).sum()):
        notes["g"] = f"{disjoint} tables have no cell in common: g is undefined there"
    for name in SUMMARISED:
        if np.isnan(statistics[name]).all():
            for part in ("mean", "largest"):
                notes[f"{part}_{name}"] = "undefined in every table: no degrees of freedom or no complete record"
