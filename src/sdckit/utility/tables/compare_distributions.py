"""F9: the distributions of one and two variables in an original and its releases, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.cells.plans.pair_tables import PairTables
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments, nearest, replace
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.utility.chosen_variables import BINS, MISSING_RULE, Bins, Chosen, chosen_variables, coded_variables
from sdckit.utility.tables.table_counts import cross_codings, differences, table_statistics

# Histogram bins with round edges: no edge is a value of the data.


BULK = (0.01, 0.99)  # quantiles of the pooled values that the bins span


def round_edges(values: Sequence[Floats], bins: int = 20, records: Sequence[Ints] | None = None) -> Floats:
    """Multiples of 1, 2 or 5 times a power of ten that span all but the outermost values of the files.

    `values` are the numbers of each file, NaN where missing, `records` how often each occurs; there are at most `bins`
    bins.

    >>> round_edges([np.array([1.0, 7.0]), np.array([22.0, np.nan])], 5).tolist()
    [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]
    """
    pooled = np.concatenate(values)
    size = None if records is None else np.concatenate(records)[~np.isnan(pooled)]
    pooled = pooled[~np.isnan(pooled)]
    low, high = replace.Records(len(pooled), size).quantiles(pooled, np.array(BULK)).tolist()
    power = 10.0 ** math.floor(math.log10((high - low) / bins)) if high > low else 1.0
    if (pooled == np.floor(pooled)).all():
        power = max(power, 1.0)
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        first, last = math.floor(low / step), math.floor(high / step) + 1
        if last - first <= bins:
            break
    digits = max(0, 1 - math.floor(math.log10(step)))
    return np.round(np.arange(first, last + 1) * step, digits)


def checked_edges(edges: Sequence[float]) -> Floats:
    """Edges as given, checked.

    Raises DataError: fewer than two, or not ascending, or not finite.
    """
    try:
        checked = np.asarray(list(edges), np.float64)
    except (TypeError, ValueError):
        raise DataError("edges must be a list of ascending numbers") from None
    if checked.ndim != 1 or len(checked) < 2 or not np.isfinite(checked).all() or (np.diff(checked) <= 0).any():
        raise DataError("edges must be two or more ascending finite numbers")
    return checked


def counts_between(values: Floats, edges: Floats, records: Ints | None = None) -> Ints:
    """Counts below the first edge, in each bin [a, b), and from the last edge on; without missing values.

    `records`: how often each value occurs.

    >>> counts_between(np.array([-1.0, 0.0, 2.0, 3.0, np.nan]), np.array([0.0, 1.0, 3.0])).tolist()
    [1, 1, 1, 1]
    """
    known = ~np.isnan(values)
    place = np.searchsorted(edges, values[known], side="right")
    return np.bincount(place, None if records is None else records[known], len(edges) + 1).astype(np.int64)


OF_TABLE = {"total_variation": "specks", "pmse": "pmse", "s_pmse": "s_pmse", "df": "df"}
OF_NUMBERS = ("range_coverage", "boundary_adherence")
NAMES = (*OF_TABLE, "coverage", "new_values", "missing_difference", *OF_NUMBERS)
QUANTILES = {
    "quantile 0.05": 0.05, "quantile 0.25": 0.25, "median": 0.5, "quantile 0.75": 0.75, "quantile 0.95": 0.95,
}  # fmt: skip


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def variable_figures(original: Ints, released: Ints) -> dict[str, float]:
    """Figures of one variable from its counts per level in both files, a missing value first.

    >>> found = variable_figures(np.array([0, 3, 1, 0]), np.array([1, 2, 0, 1]))
    >>> found["total_variation"], found["coverage"], round(found["new_values"], 4), found["missing_difference"]
    (0.5, 0.5, 0.3333, 0.25)
    """
    statistics = table_statistics(original, released)
    known, there = original[1:], released[1:]
    return {
        **{ours: statistics[name] for ours, name in OF_TABLE.items()},
        "coverage": _ratio(int(((known > 0) & (there > 0)).sum()), int((known > 0).sum())),
        "new_values": _ratio(int(there[known == 0].sum()), int(there.sum())),
        "missing_difference": float(released[0] / released.sum() - original[0] / original.sum()),
    }


def number_figures(original: Floats, released: Floats, records: Ints | None = None) -> dict[str, float]:
    """Figures of one number from its values in both files, NaN where missing; classes would hide what is new.

    `records`: how often each value of the release occurs.

    >>> number_figures(np.array([1.0, 3.0, 5.0]), np.array([3.0, 4.0, 7.0, np.nan]))["range_coverage"]
    0.5
    """
    known, there = original[~np.isnan(original)], released[~np.isnan(released)]
    size = None if records is None else records[~np.isnan(released)]
    known, ascending = np.sort(known), np.sort(there)
    levels, own = (values[np.append(True, values[1:] != values[:-1])] for values in (known, ascending))
    low, high = levels[[0, -1]].tolist()
    left_out = max(float(there.min()) - low, 0.0) + max(high - float(there.max()), 0.0)
    return {
        "coverage": float(_are_among(levels, own).mean()),
        "new_values": float(np.average(~_are_among(ascending if size is None else there, levels), weights=size)),
        "range_coverage": max(1 - left_out / (high - low), 0.0) if high > low else math.nan,
        "boundary_adherence": float(np.average((there >= low) & (there <= high), weights=size)),
    }


def _are_among(values: Floats, levels: Floats) -> Bools:
    """Whether each value is one of some ascending levels; fastest where the values ascend, too."""
    place = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
    return np.asarray(levels[place] == values)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def side_by_side(counts: Ints) -> dict[str, list[float]]:
    """Counts, shares and differences of a table; shape (2, L), or (1 + m, L) with means over the releases."""
    original, *releases = counts
    shares = np.mean([release / max(1, release.sum()) for release in releases], axis=0)
    own = original / max(1, original.sum())
    return {
        "original": original.tolist(),
        "released": np.mean(releases, axis=0).tolist(),
        "original_share": own.tolist(),
        "released_share": shares.tolist(),
        "difference": (shares - own).tolist(),
        "standardised_difference": np.mean([differences(original, release) for release in releases], axis=0).tolist(),
    }


def moments_of(values: Floats, records: Ints | None = None) -> dict[str, float]:
    """Number, missing share, mean, standard deviation (ddof 1) and quantiles (type 7) of one column.

    `records`: how often each value occurs.
    """
    there = ~np.isnan(values)
    known, size = values[there], None if records is None else records[there]
    whole = len(values) if records is None else int(records.sum())
    n = len(known) if size is None else int(size.sum())
    mean = float(np.average(known, weights=size))
    squares = float(np.average((known - mean) ** 2, weights=size)) * n
    quantiles = replace.Records(len(known), size).quantiles(known, np.array([*QUANTILES.values()]))
    return {
        "values": float(n),
        "missing share": 1 - n / whole,
        "mean": mean,
        "standard deviation": math.sqrt(squares / (n - 1)) if n > 1 else math.nan,
        **dict(zip(QUANTILES, quantiles.tolist(), strict=True)),
    }


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class DistributionComparison(PairResult):
    """The distribution of each variable before and after; tables and histograms are made when asked for.

    Attributes
    ----------
    mean_total_variation, largest_total_variation : float
        Over the variables.
    total_variation : dict of str to float
        By variable: half the sum of the differences of shares, 0 to 1; numbers in classes.
    pmse, s_pmse, df : dict of str to float
        By variable, as in `tabular_utility` with one variable per table.
    coverage : dict of str to float
        Share of the original's different values that a release has.
    new_values : dict of str to float
        Share of a release's values that the original does not have.
    range_coverage : dict of str to float
        By number: share of the original's range, from its smallest to its largest value, that a release spans.
    boundary_adherence : dict of str to float
        By number: share of a release's values within the original's range.
    missing_difference : dict of str to float
        Share of missing values in a release less that in the original.
    variables, numeric : tuple of str
        All of them, and the numbers among them.
    """

    measure: ClassVar[str] = "compare_distributions"
    figures: ClassVar[tuple[str, ...]] = ("mean_total_variation", "largest_total_variation", *NAMES)
    dropped: ClassVar[tuple[str, ...]] = ("pair", "coded", "tables")
    mean_total_variation: float = math.nan
    largest_total_variation: float = math.nan
    total_variation: dict[str, float] = field(default_factory=dict)
    pmse: dict[str, float] = field(default_factory=dict)
    s_pmse: dict[str, float] = field(default_factory=dict)
    df: dict[str, float] = field(default_factory=dict)
    coverage: dict[str, float] = field(default_factory=dict)
    new_values: dict[str, float] = field(default_factory=dict)
    missing_difference: dict[str, float] = field(default_factory=dict)
    range_coverage: dict[str, float] = field(default_factory=dict)
    boundary_adherence: dict[str, float] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    coded: Mapping[str, SharedCoding] = field(default_factory=dict, repr=False)
    tables: PairTables | None = field(default=None, repr=False)

    @cached_property
    def overview(self) -> Any:
        """A row per variable in a frame of the caller's engine, the most different first."""
        order = sorted(self.variables, key=lambda name: -self.total_variation[name])
        figures = {figure: [getattr(self, figure).get(name, math.nan) for name in order] for figure in NAMES}
        return self.pair.table({"variable": order, **figures})

    def table(self, *variables: str, release: int | None = None) -> Any:
        """Give the records of both files in each cell of one or two variables, with shares and differences.

        Parameters
        ----------
        *variables : str
            Numbers are in classes, a missing value is the last level.
        release : int, optional
            Counted from 1; else the means over all releases.
        """
        if len(variables) not in (1, 2) or len(set(variables)) < len(variables):
            raise ColumnError("a table is of one variable, or of two different ones")
        (crossed,) = cross_codings([[self._coded(name) for name in variables]], self.tables)
        order = np.lexsort([np.where(codes == 0, np.iinfo(np.int32).max, codes) for codes in crossed.codes[::-1]])
        heads = ("level",) if len(variables) == 1 else ("level_1", "level_2")
        columns: dict[str, list[Any]] = {}
        for head, name, codes in zip(heads, variables, crossed.codes, strict=True):
            labels = self._coded(name).labels()
            columns[head] = [labels[code] for code in codes[order]]
        return self.pair.table({**columns, **side_by_side(self._files(crossed.counts[:, order], release))})

    def histogram(
        self, variable: str, *, edges: Sequence[float] | None = None, bins: int = 20, release: int | None = None
    ) -> Any:
        """Give the records of both files in each bin of a number, with shares of those that have a value.

        Parameters
        ----------
        variable : str
        edges : sequence of float, optional
            Ascending; else round numbers that span all but the outermost values, so that no edge is a value
            because somebody has it. Values beyond them are in bins open to one side (from -inf, to inf).
        bins : int
            Bins at most, where no edges are given.
        release : int, optional
            Counted from 1; else the means over all releases.
        """
        if variable not in self.numeric:
            raise ColumnError(f"{variable!r} is not one of the numeric variables; table() shows categories")
        arguments.count(bins, "bins", "is a number of bins")
        values, records = self._numbers(variable)
        inner = round_edges(values, bins, records) if edges is None else checked_edges(edges)
        counts = np.array([counts_between(*of_file) for of_file in _by_file(values, [inner] * len(values), records)])
        ends = np.concatenate([[-math.inf], inner, [math.inf]])
        kept = np.ones(len(ends) - 1, np.bool_)
        kept[[0, -1]] = counts[:, [0, -1]].any(axis=0)
        columns = {"from": ends[:-1][kept].tolist(), "to": ends[1:][kept].tolist()}
        return self.pair.table({**columns, **side_by_side(self._files(counts[:, kept], release))})

    @cached_property
    def moments(self) -> Any:
        """Mean, standard deviation and quantiles of each number in the original and, on average, the releases."""
        rows: dict[str, list[Any]] = {name: [] for name in ("variable", "statistic", "original", "released")}
        for name in self.numeric:
            values, records = self._numbers(name)
            original, *releases = (moments_of(*of_file) for of_file in _by_file(values, records))
            for statistic, value in original.items():
                after = math.fsum(release[statistic] for release in releases) / len(releases)
                for column, entry in zip(rows, (name, statistic, value, after), strict=True):
                    rows[column].append(entry)
        return self.pair.table(rows)

    def _numbers(self, name: str) -> tuple[tuple[Floats, ...], tuple[Ints, ...] | None]:
        """Values of a number in every file, and how often each occurs where they are the different ones."""
        if self.tables is None:
            return self.pair.numbers(name), None
        return self.tables.numbers(name), self.tables.records(name)

    def _coded(self, name: str) -> SharedCoding:
        coding = self.coded.get(name)
        if coding is None:
            raise ColumnError(f"no variable {name!r} in this comparison; {nearest.did_you_mean(name, self.variables)}")
        return coding

    def _files(self, counts: Ints, release: int | None) -> Ints:
        if release is None:
            return counts
        if not 1 <= release <= self.m:
            raise DataError(f"release counts from 1 to {self.m}")
        return counts[[0, release]]


def _by_file(*parts: Sequence[Any] | None) -> Iterator[tuple[Any, ...]]:
    """Arguments of each file; None for all where a part is None."""
    files = len(parts[0] or ())
    return zip(*([None] * files if part is None else part for part in parts), strict=True)


# --- measure ------------------------------------------------------------------------------------------


def compare_distributions(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    bins: Bins = BINS,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> DistributionComparison:
    """Put the distributions of a release beside those of the original: figures, tables, histograms.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ, rows need not correspond.
    variables : sequence of str, optional
        All columns in common unless given, but for the id and the scenario's weight, household, person and
        identifiers.
    numeric : sequence of str, optional
        Variables that are numbers: else those that the scenario declares, else those stored as numbers with
        more different values than classes.
    bins : int or dict of str to int
        Classes that numbers are cut into for figures and tables, at the quantiles of all files pooled; those
        with no more values than that are taken value by value.
    scenario : Scenario, optional
    id : str, optional
        A column that is no variable.

    Returns
    -------
    DistributionComparison
        ``overview``, ``table``, ``histogram`` and ``moments``: exact, for the analyst's own eyes.

    Raises
    ------
    ColumnError
        No variable in common, types that do not compare.
    DataError
        A file without records, numbers that are none, `bins` below 2.

    Notes
    -----
    Only total variation, the pMSE, tables and histograms put numbers into classes; ``coverage`` and ``new_values``
    compare values, so that a measured number synthesised well may have few of the original's.
    Several releases: figures and shares are means over them. ``standardised_difference`` in a table is the
    released count less the expected one over the root of the latter, about normal under correct synthesis.

    References
    ----------
    Raab, G. M., Nowok, B. and Dibben, C. (2021). Assessing, visualizing and improving the utility of synthetic
    data. arXiv 2109.12717. SDMetrics (DataCebo): RangeCoverage, BoundaryAdherence, CategoryCoverage.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "no", "no", "no"]})
    >>> release = pl.DataFrame({"sex": ["f", "m", "m", "m"], "ill": ["no", "no", "no", "yes"]})
    >>> result = compare_distributions(survey, release)
    >>> result.total_variation
    {'sex': 0.25, 'ill': 0.0}
    >>> result.table("sex").select("level", "original", "released").rows()
    [('f', 2, 1.0), ('m', 2, 3.0)]
    """
    chosen = chosen_variables(original, released, variables, numeric, scenario, id, counted=True)
    coded, numbers, notes = coded_variables(chosen, bins)
    per_release = tuple(_of_release(coded, chosen, numbers, j, notes) for j in range(1, chosen.pair.m + 1))
    means = mean_figures(per_release, notes)
    by_name = {
        figure: {name: means[f"{figure}[{name}]"] for name in (numbers if figure in OF_NUMBERS else chosen.names)}
        for figure in NAMES
    }
    return DistributionComparison(
        chosen.pair, per_release, MISSING_RULE, notes,
        mean_total_variation=means["mean_total_variation"],
        largest_total_variation=means["largest_total_variation"], **by_name, variables=chosen.names,
        numeric=numbers, coded={coding.name: coding for coding in coded}, tables=chosen.tables,
    )  # fmt: skip


def _of_release(
    coded: Sequence[SharedCoding], chosen: Chosen, numbers: Sequence[str], j: int, notes: dict[str, str]
) -> dict[str, float]:
    by_variable = {coding.name: variable_figures(coding.counts[0], coding.counts[j]) for coding in coded}
    for name in numbers:
        values, records = chosen.values(name), chosen.records(name)
        by_variable[name] |= number_figures(values[0], values[j], None if records is None else records[j])
    if points := [name for name in numbers if math.isnan(by_variable[name]["range_coverage"])]:
        notes["range_coverage"] = f"the original has a single value, and no range: {', '.join(points)}"
    apart = [figures["total_variation"] for figures in by_variable.values()]
    if constant := [name for name, figures in by_variable.items() if math.isnan(figures["s_pmse"])]:
        notes["s_pmse"] = f"a single level, no degrees of freedom: {', '.join(constant)}"
    if empty := [name for name, row in by_variable.items() if math.isnan(row["coverage"] + row["new_values"])]:
        notes["coverage"] = f"a file has no value at all: {', '.join(empty)}"
    return {
        "mean_total_variation": math.fsum(apart) / len(apart),
        "largest_total_variation": max(apart),
        **{
            f"{figure}[{name}]": figures[figure]
            for figure in NAMES
            for name, figures in by_variable.items()
            if figure in figures
        },
    }
