"""F3: distance between the empirical distribution functions of a release and of the original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments, frames
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import first_of_groups, group
from sdckit.numerics.threads import n_threads, run
from sdckit.utility.chosen_variables import Chosen, chosen_variables

# The exact difference of two multivariate empirical distribution functions at every point of both files.
# Points at or below a query in every variable are counted by divide and conquer (Bentley 1980): points and
# queries are halved by one variable; each half is the same problem, and between the lower points and the upper
# queries that variable drops out. Time is O(n log(n)^(d-1)), memory O(n).


SMALL = 2048  # up to as many pairs of a point and a query are compared one by one
SLICES = 4  # parts of the queries per thread


@njit(cache=True, nogil=True)
def _merge(x, weight, points, queries, out):  # type: ignore[no-untyped-def]
    """The case of one variable: merge `points` and `queries`, sorted by it, and add cumulative weights to `out`."""
    total, i = np.int64(0), 0
    for q in queries:
        while i < len(points) and x[0, points[i]] <= x[0, q]:
            total += weight[points[i]]
            i += 1
        out[q] += total


@njit(cache=True, nogil=True)
def _compare(x, weight, points, queries, k, out):  # type: ignore[no-untyped-def]
    """Add to `out` the weight of the points not above each query in the first k variables, pair by pair."""
    for q in queries:
        total = np.int64(0)
        for p in points:
            d = 0
            while d < k and x[d, p] <= x[d, q]:
                d += 1
            if d == k:
                total += weight[p]
        out[q] += total


@njit(cache=True, nogil=True)
def _span(row, items):  # type: ignore[no-untyped-def]
    """Smallest and largest value of `row` among some items."""
    lowest = highest = row[items[0]]
    for item in items:
        lowest = min(lowest, row[item])
        highest = max(highest, row[item])
    return lowest, highest


@njit(cache=True, nogil=True)
def _sum_below(x, weight, points, queries, k, out):  # type: ignore[no-untyped-def]
    """Add to `out` at each query the weight of the points not above it in the first k variables (k >= 1).

    `x` (p, n): ranks; `weight` (n,); `points` and `queries`: columns of `x` sorted by the first variable, in all
    parts, too.
    """
    n, m = len(points), len(queries)
    if n == 0 or m == 0:
        return
    if k == 1:
        _merge(x, weight, points, queries, out)
        return
    if n * m <= SMALL:
        _compare(x, weight, points, queries, k, out)
        return
    row = x[k - 1]
    lowest_point, highest_point = _span(row, points)
    lowest_query, highest_query = _span(row, queries)
    if lowest_point > highest_query:
        return
    if highest_point <= lowest_query:
        _sum_below(x, weight, points, queries, k - 1, out)
        return
    middle = (min(lowest_point, lowest_query) + max(highest_point, highest_query)) // 2
    low_points, high_points = points[row[points] <= middle], points[row[points] > middle]
    low_queries, high_queries = queries[row[queries] <= middle], queries[row[queries] > middle]
    _sum_below(x, weight, low_points, low_queries, k, out)
    _sum_below(x, weight, high_points, high_queries, k, out)
    _sum_below(x, weight, low_points, high_queries, k - 1, out)


def ranks_of(files: Sequence[Floats]) -> Codes:
    """Dense rank of each value among the distinct values of all files, one file after the other.

    >>> ranks_of([np.array([2.0, 1.0]), np.array([2.0, 7.5])]).tolist()
    [1, 0, 1, 2]
    """
    return np.unique(np.concatenate(files), return_inverse=True)[1].astype(np.int32)


def _distinct(ranks: Codes) -> tuple[Codes, Codes]:
    """Distinct columns of a matrix of ranks (variables by records), and the index of each record among them."""
    of_row, n_groups = np.zeros(ranks.shape[1], np.int32), 1
    for rank in ranks:
        width = int(rank.max()) + 1
        words = of_row.astype(np.uint64) * np.uint64(width) + rank.astype(np.uint64)
        groups = group(words, bits=max(1, (n_groups * width - 1).bit_length()))
        of_row, n_groups = groups.of_row, len(groups.size)
    return ranks[:, first_of_groups(of_row, n_groups)], of_row


def ecdf_difference(
    ranks: Codes, n: int, *, most: int | None = None, times: Ints | None = None
) -> tuple[Ints, Ints] | None:
    """F_S - F_O in units of 1 / (n n_s) at each distinct record, and the number of records of both files equal to it.

    `ranks` (d, n + n_s): places of the values, variable by variable; the original first. `n`: its rows. `most`:
    distinct rows of three and more variables that are worth the time. `times`: records of each row, where equal records
    are one row. Both are whole numbers: nothing is rounded. None where there are more distinct rows than `most`.

    >>> difference, size = ecdf_difference(np.array([[0, 1, 1, 2]], np.int32), 2)
    >>> sorted(zip(difference.tolist(), size.tolist()))
    [(-2, 1), (-2, 2), (0, 1)]
    """
    d, both = ranks.shape
    x, of_row = _distinct(ranks)
    k = x.shape[1]
    if most is not None and d > 2 and k > most:
        return None
    records = np.ones(both, np.int64) if times is None else times
    original, size = np.zeros(k, np.int64), np.zeros(k, np.int64)
    np.add.at(original, of_row[:n], records[:n])
    np.add.at(size, of_row, records)
    before = int(original.sum())
    weight = before * (size - original) - (int(size.sum()) - before) * original
    finest_first = np.argsort([-len(np.unique(row)) for row in x], kind="stable")  # the first is merged
    x = np.ascontiguousarray(x[finest_first])
    order = np.argsort(x[0], kind="stable").astype(np.int32)
    out = np.zeros(k, np.int64)
    if d == 1:
        _sum_below(x, weight, order, order, 1, out)
        return out, size
    last = x[-1][order]
    cuts = np.unique(np.quantile(last, np.linspace(0, 1, SLICES * n_threads() + 1)[1:-1], method="lower"))
    part = np.searchsorted(cuts, last, side="left")

    def slice_of(j: int) -> None:
        here = order[part == j]
        _sum_below(x, weight, here, here, d, out)
        _sum_below(x, weight, order[part < j], here, d - 1, out)

    run(slice_of, range(len(cuts) + 1))
    return out, size


POINTS = 100_000  # distinct records up to which the joint function is measured by default
NAMES = ("max_difference", "mean_squared_difference")
MISSING_RULE = "a missing value leaves the record out, of its variable and of the joint function"


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def ecdf_figures(
    original: Floats, released: Floats, *, most: int | None = None, times: Sequence[Ints] | None = None
) -> tuple[float, float] | None:
    """Largest and mean squared difference over the records of both files; one column per variable.

    `original` and `released` (n, d) and (n_s, d): without missing values. `most`: distinct records in three and
    more variables above which there is no answer (None). `times`: records of each row of both.

    >>> ecdf_figures(np.array([[1.0], [2.0]]), np.array([[2.0], [3.0]]))
    (0.5, 0.1875)
    """
    if not len(original) or not len(released):
        return math.nan, math.nan
    n, n_s = (len(original), len(released)) if times is None else (int(own.sum()) for own in times)
    ranks = np.array([ranks_of([a, b]) for a, b in zip(original.T, released.T, strict=True)])
    measured = ecdf_difference(ranks, len(original), most=most, times=None if times is None else np.concatenate(times))
    if measured is None:
        return None
    difference, size = measured
    share = difference / (n * n_s)
    return float(np.abs(share).max()), float(size @ share**2) / (n + n_s)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ECDFUtility(PairResult):
    """Differences of distribution functions: 0 equal, 1 as far apart as can be.

    Attributes
    ----------
    joint_max_difference, joint_mean_squared_difference : float
        Of the distribution function of several variables together.
    max_difference, mean_squared_difference : dict of str to float
        Of each variable.
    variables : tuple of str
    joint : tuple of str
        The variables of the joint function; empty where it was not asked for.
    """

    measure: ClassVar[str] = "ecdf_utility"
    figures: ClassVar[tuple[str, ...]] = (*(f"joint_{name}" for name in NAMES), *NAMES)
    joint_max_difference: float = math.nan
    joint_mean_squared_difference: float = math.nan
    max_difference: dict[str, float] = field(default_factory=dict)
    mean_squared_difference: dict[str, float] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    joint: tuple[str, ...] = ()

    @cached_property
    def table(self) -> Any:
        """A row per variable in a frame of the caller's engine, the largest difference first."""
        order = sorted(self.variables, key=lambda name: -self.max_difference[name])
        figures = {figure: [getattr(self, figure)[name] for name in order] for figure in NAMES}
        return self.pair.table({"variable": order, **figures})


# --- measure ------------------------------------------------------------------------------------------


def ecdf_utility(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    joint: bool | Sequence[str] = True,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> ECDFUtility:
    """Measure how far the distribution functions of a release's numbers are from those of the original.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ, rows need not correspond.
    variables : sequence of str, optional
        Numbers: else those that the scenario declares, else the columns in common that are stored as numbers,
        but for the id and the scenario's weight, household, person and identifiers.
    joint : bool or sequence of str
        The variables of the joint function: True all of them, False none. It takes long for many records, so
        True leaves it out above 100,000 distinct records in three or more variables; a list does not.
    scenario : Scenario, optional
    id : str, optional
        A column that is no variable.

    Returns
    -------
    ECDFUtility

    Raises
    ------
    ColumnError
        No number in common; `joint` names none of the variables.
    DataError
        A variable that holds no numbers, or nothing but missing values.

    Notes
    -----
    F(x) is the share of records that are at or below x in every variable. ``max_difference`` is the largest
    |F_O - F_S| at the N records of both files, ``mean_squared_difference`` the mean of (F_O - F_S)² over them.
    Counts are whole numbers, exact whatever their size.

    References
    ----------
    Woo, M.-J., Reiter, J. P., Oganian, A. and Karr, A. F. (2009). Global measures of data utility for
    microdata masked for disclosure limitation. Journal of Privacy and Confidentiality 1, 111-124.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [20, 30, 40, 50], "pay": [1.0, 2.0, 3.0, 4.0]})
    >>> release = pl.DataFrame({"age": [20, 30, 40, 60], "pay": [2.0, 2.0, 3.0, 3.0]})
    >>> result = ecdf_utility(survey, release)
    >>> result.max_difference, result.joint_max_difference
    ({'age': 0.25, 'pay': 0.25}, 0.25)
    """
    chosen_names = arguments.names(variables, "variables")
    chosen = chosen_variables(
        original, released, variables=chosen_names, numeric=chosen_names, scenario=scenario, id=id, counted=True
    )
    names = chosen.numeric
    if not names:
        declared = scenario is not None and scenario.numeric and chosen_names is None
        held = "declared numeric in the scenario" if declared else "stored as numbers in every file"
        raise ColumnError(
            f"none of the variables in common is {held}; name them in variables=[...]", argument="variables"
        )
    notes = {key: text for key, text in chosen.notes.items() if key != "numeric"}
    if left := [name for name in chosen.names if name not in names]:
        notes["variables"] = f"no numbers, left out: {', '.join(left)}"
    together = _joint_names(joint, names)
    pair = chosen.pair
    most = POINTS if isinstance(joint, bool) else None
    rows = {name: Rows([values[:, None] for values in chosen.values(name)], chosen.records(name)) for name in names}
    both = _joint_rows(chosen, together, rows, most)
    per_release = tuple(_of_release(rows, both, j, bool(together), most, notes) for j in range(1, pair.m + 1))
    _missing_note(pair, rows, notes)
    means = mean_figures(per_release, notes)
    by_name = {figure: {name: means[f"{figure}[{name}]"] for name in names} for figure in NAMES}
    return ECDFUtility(
        pair, per_release, MISSING_RULE, notes,
        joint_max_difference=means["joint_max_difference"],
        joint_mean_squared_difference=means["joint_mean_squared_difference"],
        max_difference=by_name["max_difference"], mean_squared_difference=by_name["mean_squared_difference"],
        variables=names, joint=together,
    )  # fmt: skip


def _joint_names(joint: bool | Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(joint, bool):
        return names if joint else ()
    listed = arguments.names(joint, "joint") or ()
    if unknown := [name for name in listed if name not in names]:
        raise ColumnError(
            f"joint: {unknown[0]!r} is not among the numeric variables ({', '.join(names)})", argument="joint"
        )
    if not listed:
        raise ColumnError("joint= is empty; name variables, or give joint=False", argument="joint")
    return listed


@dataclass(frozen=True, eq=False)
class Rows:
    """Numbers of every file, a row per record (files of (n, d)), or with `times` a row for so many equal ones."""

    values: Sequence[Floats]
    times: Sequence[Ints] | None = None

    def n_missing(self, file: int) -> int:
        """Records of a file that lack a value."""
        absent = np.isnan(self.values[file]).any(axis=1)
        return int(absent.sum() if self.times is None else self.times[file][absent].sum())

    def compared(self, j: int, most: int | None) -> tuple[float, float] | None:
        """The figures of a release, of the records without a missing value."""
        known = [~np.isnan(self.values[file]).any(axis=1) for file in (0, j)]
        a, b = (self.values[file][here] for file, here in zip((0, j), known, strict=True))
        times = self.times and [self.times[file][here] for file, here in zip((0, j), known, strict=True)]
        return ecdf_figures(a, b, most=most, times=times)


def _joint_rows(chosen: Chosen, names: Sequence[str], rows: Mapping[str, Rows], most: int | None) -> Rows | None:
    """The rows of several variables; None where there are none, or a plan has more distinct ones than `most`."""
    tables = chosen.tables
    if not names or tables is None:
        files = range(chosen.pair.m + 1)
        return Rows([np.column_stack([rows[name].values[file] for name in names]) for file in files]) if names else None
    codings = [tables.coding(name) for name in names]
    if most is not None and len(names) > 2 and frames.built(lambda: tables.n_known(codings)) > most:
        return None
    (counted,) = frames.built(lambda: tables.count([codings]))
    numbers = []  # of each code; 0 is a missing value
    for coding in codings:
        numbers.append(np.full(coding.n_levels + 1, np.nan))
        for codes, values in zip(coding.codes, tables.numbers(coding.name), strict=True):
            numbers[-1][codes] = values
    ranks = [
        np.column_stack([of_code[codes] for of_code, codes in zip(numbers, of_file, strict=True)])
        for of_file in zip(*counted.columns, strict=True)
    ]
    return Rows(ranks, counted.sizes)


def _of_release(
    rows: Mapping[str, Rows], joint: Rows | None, j: int, asked: bool, most: int | None, notes: dict[str, str]
) -> dict[str, float]:
    def alone(name: str) -> tuple[float, float]:
        return rows[name].compared(j, None) or (math.nan, math.nan)

    single = dict(zip(rows, run(alone, rows), strict=True))
    out = dict(zip((f"joint_{figure}" for figure in NAMES), (math.nan, math.nan), strict=True))
    if asked:
        both = None if joint is None else joint.compared(j, most)
        if both is None:
            reason = f"more than {POINTS:,} distinct records: name a few variables in joint=[...]"
        else:
            out = dict(zip(out, both, strict=True))
            reason = "a file has no record with a value of every variable"
    else:
        reason = "not asked for (joint=False)"
    for name, value in out.items():
        if math.isnan(value):
            notes[name] = reason
    for at, figure in enumerate(NAMES):
        out |= {f"{figure}[{name}]": pairs[at] for name, pairs in single.items()}
    return out


def _missing_note(pair: Pair, rows: Mapping[str, Rows], notes: dict[str, str]) -> None:
    lacking = {name: [of.n_missing(file) for file in range(pair.m + 1)] for name, of in rows.items()}
    parts = [f"{name} ({', '.join(map(str, counts))})" for name, counts in lacking.items() if any(counts)]
    if parts:
        notes["missing"] = f"records without a value, in {', '.join(pair.names)}: {'; '.join(parts)}"
