"""C1: l-diversity, the number of different sensitive values among the records of one key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import COUNTED, class_crosstab, sensitive_cells, shares_of_records
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import AnyCells, Crosstab
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.numerics.array_types import Ints
from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import sort_in_place
from sdckit.result import FileFigure

Kind = Literal["distinct", "entropy", "recursive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
WHOLE = ("distinct", "recursive")
HELD: tuple[tuple[str, Literal["mean", "min"]], ...] = (("mean", "mean"), ("level", "min"))
STEPS = 8  # of the kernel for one value of a cell, approximately


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _diversity(edges, level, count, missing, c, distinct, entropy, recursive):  # type: ignore[no-untyped-def]
    """Distinct, entropy and recursive (c, l)-diversity of each cell, into three arrays (K,).

    `edges` (K + 1,): the entries of each cell in `level` and `count`; `missing`: level of a missing value.
    """
    for cell in range(len(edges) - 1):
        start, stop = edges[cell], edges[cell + 1]
        n_values, total, n_known = 0, 0.0, 0
        for e in range(start, stop):
            n_values += 1
            total += count[e]
            n_known += level[e] != missing
        distinct[cell] = n_values
        h = 0.0
        for e in range(start, stop):
            p = count[e] / total
            h -= p * math.log(p)
        entropy[cell] = math.exp(h)
        if n_known == 0:
            recursive[cell] = 1.0
            continue
        known, j = np.empty(n_known), 0
        for e in range(start, stop):
            if level[e] != missing:
                known[j] = count[e]
                j += 1
        sort_in_place(known)
        best, tail = 0, 0.0
        for j in range(n_known):  # ascending: the tail r_l + ... + r_m grows as l falls
            tail += known[j]
            if known[n_known - 1] < c * tail:
                best = n_known - j
                break
        recursive[cell] = best


def diversity(table: Crosstab, c: float) -> dict[str, NDArray[np.float64]]:
    """Distinct, entropy and recursive (c, l)-diversity of each cell."""
    k = len(table.edges) - 1
    out: dict[str, NDArray[np.float64]] = {kind: np.empty(k) for kind in KINDS}
    kernel = sparing(_diversity, STEPS * len(table.level))
    kernel(table.edges, table.level, table.count, table.missing, c, *out.values())
    return out


@njit(cache=True, nogil=True)
def _constants(edges, level, count, missing, ells, constants):  # type: ignore[no-untyped-def]
    """For each l the largest r_1 / (r_l + ... + r_m) of a cell, into `constants`; infinite with fewer than l values.

    `ells`, of 2 or more, ascend.
    """
    for cell in range(len(edges) - 1):
        known, n_known, total = np.empty(edges[cell + 1] - edges[cell]), 0, 0.0
        for e in range(edges[cell], edges[cell + 1]):
            if level[e] != missing:
                known[n_known] = count[e]
                n_known += 1
                total += count[e]
        sort_in_place(known[:n_known])
        tail, at = total, 0
        for i in range(len(ells)):
            while at < ells[i] - 1 and at < n_known:
                tail -= known[n_known - 1 - at]
                at += 1
            ratio = known[n_known - 1] / tail if at < n_known else np.inf
            constants[i] = max(constants[i], ratio)


def smallest_constants(table: Crosstab, ells: Sequence[int]) -> tuple[float, ...]:
    """For each l, ascending, the constant above which every cell is recursively (c, l)-diverse."""
    constants = np.zeros(len(ells))
    kernel = sparing(_constants, STEPS * len(table.level))
    kernel(table.edges, table.level, table.count, table.missing, np.array(ells, np.int64), constants)
    return tuple(constants.tolist())


def homogeneous_cells(table: Crosstab) -> int:
    """Number of cells of two or more records that all have the same value."""
    single = np.diff(table.edges) == 1
    return int(np.count_nonzero(single & (np.add.reduceat(table.count, table.edges[:-1]) > 1)))


def answered_alike(table: Crosstab, missing: Ints, limit: int) -> int:
    """Records of the cells most of whose records have fewer than `limit` values, others only by a `missing` one.

    Whoever is known to have answered is told there, though a missing value counts as a further one.

    >>> from sdckit.cells.as_cells import as_cells
    >>> import polars as pl
    >>> cells = as_cells(pl.DataFrame({"k": [1, 1, 1, 2, 2], "ill": ["yes", "yes", None, "yes", "no"]}), keys=["k"])
    >>> table = class_crosstab(cells, "ill")
    >>> answered_alike(table, np.array([table.missing]), 2)
    3
    """
    starts = table.edges[:-1]
    known = ~np.isin(table.level, missing)
    values, answered = (np.add.reduceat(np.where(known, what, 0), starts) for what in (1, table.count))
    records = np.add.reduceat(table.count, starts)
    is_told = (values < limit) & (np.diff(table.edges) >= limit) & (2 * answered > records)
    return int(records[is_told].sum())


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LDiversity(CellsResult):
    """l-diversity of each sensitive variable.

    Attributes
    ----------
    variables : tuple of str
        The sensitive variables.
    level : dict
        ``level[variable][kind]``: the smallest value over the records.
    largest : dict
        ``largest[variable][kind]``: the largest value over the records.
    mean : dict
        ``mean[variable][kind]``: the mean over the records.
    quartiles : dict
        ``quartiles[variable][kind]``: lower quartile, median, upper quartile over the records.
    violations : dict
        ``violations[variable][kind][l]``: records below l.
    violation_rates : dict
        The same as shares of the records.
    homogeneous : dict of str to int
        Cells of two or more records that all hold one value: it is learnt without recognising anybody.
    smallest_c : dict
        ``smallest_c[variable][l]``: the file is recursively (c, l)-diverse for every c above it; infinite where a class
        has fewer than l known values. ARX and others ask for the c of a file.
    resting_on_missing : int
        Records whose class counts other records' missing values as matches (only with wildcards).
    records : frame
        ``distinct_<variable>``, ``entropy_<variable>``, ``recursive_<variable>``.
    """

    measure: ClassVar[str] = "l_diversity"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "level", "largest", "mean", "quartiles", "violations", "violation_rates", "homogeneous", "smallest_c",
        "resting_on_missing",
    )  # fmt: skip
    variables: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[int, ...]
    homogeneous: dict[str, int]
    smallest_c: dict[str, dict[int, float]]

    @cached_property
    def resting_on_missing(self) -> int:
        """Records whose class counts other records' missing values as matches."""
        return self.cells.count_helped()

    def _by_kind(self, figure: Any) -> dict[str, dict[str, Any]]:
        return {
            name: {kind: figure(self.cells.values(f"{kind}_{name}")) for kind in self.kinds} for name in self.variables
        }

    @cached_property
    def level(self) -> dict[str, dict[str, float]]:
        """Smallest value over the records, by variable and kind."""
        return self._by_kind(lambda values: values.extremes()[0])

    @cached_property
    def largest(self) -> dict[str, dict[str, float]]:
        """Largest value over the records, by variable and kind."""
        return self._by_kind(lambda values: values.extremes()[1])

    @cached_property
    def mean(self) -> dict[str, dict[str, float]]:
        """Mean over the records, by variable and kind."""
        return self._by_kind(lambda values: values.total() / self.n)

    @cached_property
    def quartiles(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Quartiles over the records, by variable and kind."""
        return self._by_kind(lambda values: tuple(values.quantiles([0.25, 0.5, 0.75])))

    @cached_property
    def violations(self) -> dict[str, dict[str, dict[int, int]]]:
        """Records below each l, by variable and kind."""
        limits = [_limit(level) for level in self.levels]
        return self._by_kind(lambda values: dict(zip(self.levels, values.count_below(limits), strict=True)))

    @cached_property
    def violation_rates(self) -> dict[str, dict[str, dict[int, float]]]:
        """Share of the records below each l, by variable and kind."""
        rates: dict[str, dict[str, dict[int, float]]] = shares_of_records(self.violations, self.n)
        return rates

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        places = [(name, kind, level) for name in self.variables for kind in self.kinds for level in self.levels]
        return (
            *(
                FileFigure(f"{figure}[{name}][{kind}][{level}]", f"{kind}_{name}", how, below=_limit(level))
                for figure, how in COUNTED
                for name, kind, level in places
            ),
            *(
                FileFigure(f"{figure}[{name}][{kind}]", f"{kind}_{name}", how, higher="safer")
                for name in self.variables
                for kind in self.kinds
                for figure, how in HELD
            ),
        )

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        names = [f"{kind}_{name}" for name in self.variables for kind in self.kinds]
        return self.cells.records(names, prefix=self.prefix)


def _limit(level: int) -> float:
    return level - 1e-9  # tolerance for rounding error


# --- measure ------------------------------------------------------------------------------------------


def l_diversity(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    kind: Sequence[Kind] | Kind = KINDS,
    c: float = 2.0,
    levels: Sequence[int] | int = (2, 3),
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> LDiversity:
    """Measure how many different values of a sensitive variable the records with one key hold.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    sensitive : str or sequence of str
        Variables that they would learn.
    kind : {"distinct", "entropy", "recursive"} or several
        Number of different values; exp(-sum p ln p), their effective number; the largest l with
        r_1 < c (r_l + ... + r_m), counts r in descending order (0 when not even l = 1 holds).
    c : float
        Constant of recursive diversity, above 0.
    levels : sequence of int
        Values l to count violations of.
    missing : {"category", "wildcard", "error"} or dict, optional
        What a missing *key* value is; default a category. As a wildcard, the class of a record is all
        records that match it: classes grow and l looks better.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        a value less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here; its threshold l is tested as well.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    LDiversity
        ``level``, ``largest``, ``mean``, ``quartiles``, ``violations``, ``homogeneous``, ``records``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a sensitive variable that is a key.
    DataError
        As `key_frequencies`; a sensitive variable without any value; c not above 0.
    ScenarioError
        No sensitive variable.

    Notes
    -----
    A missing sensitive value is one more value for distinct and entropy and is left out of recursive; a
    class with missing ones only has l = 1. sdcMicro counts every missing value as a value of its own.

    References
    ----------
    Machanavajjhala, A., Kifer, D., Gehrke, J. and Venkitasubramaniam, M. (2007). l-diversity: privacy
    beyond k-anonymity. ACM Transactions on Knowledge Discovery from Data 1(1).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "health": ["yes", "yes", "yes", "no"]})
    >>> result = l_diversity(survey, keys=["sex"], sensitive="health")
    >>> result.records["distinct_health"].to_list(), result.violations["health"]["distinct"][2]
    ([1, 1, 2, 2], 2)
    """
    kinds = arguments.choices(kind, "kind", KINDS)
    c = arguments.amount_above(c, "c", "is the constant of recursive l-diversity")
    tested = set(arguments.counts(levels, "levels", "counts different values", at_least=2))
    asked = breakdown(data, by, LDiversity, interval, seed, scenario, prefix, on_engine=True)
    if scenario and scenario.limits.l:
        tested.add(scenario.limits.l)
    cells, variables = sensitive_cells(data, keys, sensitive, missing, scenario, id)
    homogeneous, constants, ells = {}, {}, tuple(sorted(tested))
    for name in variables:
        cells, parts = cells.by_parts(partial(_with_diversity, name=name, kinds=kinds, c=c, ells=ells))
        homogeneous[name] = sum(part[0] for part in parts)
        constants[name] = dict(zip(ells, map(max, zip(*(part[1] for part in parts), strict=True)), strict=True))
    return asked.of(LDiversity(cells, variables, kinds, ells, homogeneous, constants, prefix=prefix))


def _with_diversity(
    cells: AnyCells, name: str, kinds: Sequence[Kind], c: float, ells: Sequence[int]
) -> tuple[AnyCells, tuple[int, tuple[float, ...]]]:
    """Add the record columns of one sensitive variable; its homogeneous cells, and the smallest c for each l."""
    table = class_crosstab(cells, name)
    values = diversity(table, c)
    columns = {f"{kind}_{name}": values[kind].astype(np.int64 if kind in WHOLE else float) for kind in kinds}
    return cells.with_cells(columns), (homogeneous_cells(table), smallest_constants(table, ells))
