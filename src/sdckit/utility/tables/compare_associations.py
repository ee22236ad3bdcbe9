"""Whether a release preserves associations: correlations, contingency tables, mixed associations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.cells.plans.pair_tables import PairTables
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data.frames import built
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import AnyInts, Bools, Codes, Floats, Ints, Values
from sdckit.numerics.threads import run
from sdckit.utility.chosen_variables import BINS, Bins, chosen_variables, coded_variables
from sdckit.utility.tables.table_counts import count_pairs, cross_codings

# Associations within one file: correlations, Cramér's V, correlation ratios.


NARROW = 1 << 16  # integers within a range of this width are ranked without sorting
FLAT = 1e-12  # a variance below this share of the mean square is rounding error


def pearson(x: Floats, y: Floats) -> float:
    """Correlation of two columns without missing values; NaN where one is constant.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])), 6)
    0.866025
    """
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return math.nan
    a, b = x - x.mean(), y - y.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1, 1))


def pearson_matrix(columns: Sequence[Floats]) -> Floats:
    """Pearson correlations, each over the records with both values; NaN where one is constant there.

    >>> pearson_matrix([np.array([1.0, 2.0, np.nan]), np.array([3.0, 1.0, 7.0])]).round(6).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    known = [~np.isnan(column) for column in columns]
    out: Floats
    scaled = [_scaled(column, here) for column, here in zip(columns, known, strict=True)]
    x = np.column_stack([values for values, _ in scaled])
    if all(here.all() for here in known):
        cross = x.T @ x
        root = np.sqrt(np.diag(cross))
        out = cross / np.outer(np.where(root > 0, root, np.nan), np.where(root > 0, root, np.nan))
    else:
        mask = np.column_stack(known).astype(np.float64)
        n, sums, squares = mask.T @ mask, x.T @ mask, (x**2).T @ mask
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares - sums**2 / n
            spread[spread <= FLAT * squares] = np.nan
            out = (x.T @ x - sums * sums.T / n) / np.sqrt(spread * spread.T)
    constant = np.array([flat for _, flat in scaled])
    out[constant, :] = out[:, constant] = np.nan
    out = np.clip((out + out.T) / 2, -1, 1)
    np.fill_diagonal(out, np.where(np.isnan(np.diag(out)), np.nan, 1.0))
    return out


def _scaled(values: Floats, known: Bools) -> tuple[Floats, bool]:
    """Values centred and scaled to a largest of 1, 0 where missing; and whether they are constant."""
    inside = values[known]
    if len(inside) < 2 or inside.min() == inside.max():
        return np.zeros(len(values)), True
    centred = np.where(known, values - inside.mean(), 0.0)
    return centred / np.abs(centred).max(), False


def spearman_matrix(columns: Sequence[Floats]) -> Floats:
    """Spearman correlations, each over the ranks among the records with both values, ties averaged.

    >>> spearman_matrix([np.array([1.0, 2.0, 9.0]), np.array([1.0, 4.0, 5.0])]).round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    places = run(_places, columns)
    if all(place.min(initial=1) > 0 for place in places):
        return pearson_matrix([_mid_ranks(np.bincount(place))[place] for place in places])
    out = np.full((len(columns), len(columns)), np.nan)
    pairs = list(itertools.combinations(range(len(columns)), 2))
    values = run(lambda pair: _rank_correlation(places[pair[0]], places[pair[1]]), pairs)
    for (i, j), value in zip(pairs, values, strict=True):
        out[i, j] = out[j, i] = value
    for j, place in enumerate(places):
        out[j, j] = 1.0 if place.max(initial=0) > 1 else np.nan
    return out


def _places(values: Floats) -> Codes:
    """Dense rank of each value, from 1; 0 where missing."""
    known = ~np.isnan(values)
    inside = values[known]
    out = np.zeros(len(values), np.int32)
    if len(inside) and inside.max() - inside.min() < NARROW and (inside == np.floor(inside)).all():
        shifted = (inside - inside.min()).astype(np.int64)
        out[known] = np.cumsum(np.bincount(shifted) > 0)[shifted]
    else:
        out[known] = np.unique(inside, return_inverse=True)[1] + 1
    return out


def _mid_ranks(size: Ints) -> Floats:
    """Average rank of each group of `size` tied values, group after group."""
    return np.cumsum(size) - (size - 1) / 2


def _rank_correlation(first: Codes, second: Codes) -> float:
    """Spearman correlation of two columns of dense ranks; 0 is missing."""
    shape = (int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1)
    if shape[0] * shape[1] > len(first):
        both = (first > 0) & (second > 0)
        x, y = first[both], second[both]
        return pearson(_mid_ranks(np.bincount(x))[x], _mid_ranks(np.bincount(y))[y])
    table = count_pairs(first, second, shape)[1:, 1:]  # few values: their contingency table is enough
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return math.nan
    middle = (rows.sum() + 1) / 2
    a, b = _mid_ranks(rows) - middle, _mid_ranks(columns) - middle
    return float(np.clip((a @ table @ b) / math.sqrt((rows @ a**2) * (columns @ b**2)), -1, 1))


def cramers_v(codes: Sequence[AnyInts], counts: Ints) -> float:
    """Cramér's V of a table, 0 to 1 (the root, not its square); NaN where a variable is constant.

    `codes` and `counts` (L,): the two levels of each cell, and its records.

    >>> cramers_v([np.array([0, 1]), np.array([1, 0])], np.array([3, 4]))
    1.0
    """
    first, second = codes
    rows, columns = np.bincount(first, counts), np.bincount(second, counts)
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum()))
    if smaller < 2:
        return math.nan
    n, used = counts.sum(), counts > 0
    expected = rows[first[used]] * columns[second[used]] / n
    squared = float(((counts[used] - expected) ** 2 / expected).sum())
    empty = float(n - expected.sum())  # the cells without a record
    return math.sqrt(min(1.0, (squared + empty) / (n * (smaller - 1))))


def correlation_ratios(categories: Sequence[AnyInts], values: Floats) -> list[float]:
    """Correlation ratio eta of a number within the levels of each category, 0 to 1 (the root, not its square).

    Records without a number are left out; NaN where the number or the category is constant.

    >>> correlation_ratios([np.array([0, 0, 1, 1]), np.array([3, 4, 3, 4])], np.array([1.0, 1.0, 5.0, 5.0]))
    [1.0, 0.0]
    """
    known = ~np.isnan(values)
    centred, constant = _scaled(values, known)
    if constant:
        return [math.nan] * len(categories)
    total, counted = float(centred @ centred), None if known.all() else known.astype(np.float64)
    return [_ratio(np.bincount(codes, counted), np.bincount(codes, centred), total) for codes in categories]


def _ratio(size: Values, sums: Values, total: float) -> float:
    """From the records and the centred sum of each level, and the sum of squares of all."""
    used = size > 0
    if used.sum() < 2 or not total:
        return math.nan
    return math.sqrt(min(1.0, float((sums[used] ** 2 / size[used]).sum()) / total))


Kind = Literal["association", "pearson", "spearman", "contingency"]
Part = Literal["original", "released", "difference"]
MISSING_RULE = "a missing number leaves the record out of its pairs, a missing category is a level of its own"
FIGURES = (
    "pearson_similarity", "spearman_similarity", "contingency_similarity", "mean_difference", "largest_difference",
    "frobenius_difference",
)  # fmt: skip


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def pairs_of(matrix: Floats) -> Floats:
    """The entries above the diagonal, without undefined ones."""
    entries = matrix[np.triu_indices(len(matrix), 1)]
    return entries[~np.isnan(entries)]


def release_figures(matrices: Mapping[str, Floats], release: int) -> dict[str, float]:
    """Figures of one release from the matrices of all files, the original first."""
    out = {}
    for kind in ("pearson", "spearman"):
        apart = pairs_of(np.abs(matrices[kind][release] - matrices[kind][0]))
        out[f"{kind}_similarity"] = float(np.mean(1 - apart / 2)) if len(apart) else math.nan
    alike = pairs_of(matrices["contingency"][release])
    out["contingency_similarity"] = float(alike.mean()) if len(alike) else math.nan
    apart = pairs_of(np.abs(matrices["association"][release] - matrices["association"][0]))
    out["mean_difference"] = float(apart.mean()) if len(apart) else math.nan
    out["largest_difference"] = float(apart.max()) if len(apart) else math.nan
    out["frobenius_difference"] = math.sqrt(2 * float(apart @ apart)) if len(apart) else math.nan
    return out


def _tables(coded: Sequence[SharedCoding], counted: PairTables | None) -> tuple[Floats, Floats, Ints]:
    """Contingency similarity and Cramér's V of every pair in each file, (files, p, p); records with both, (p, p)."""
    similarity = np.full((len(coded[0].codes), len(coded), len(coded)), np.nan)
    strength = similarity.copy()
    both = np.zeros((len(coded), len(coded)), np.int64)
    pairs = list(itertools.combinations(range(len(coded)), 2))
    sets = [[coded[i], coded[j]] for i, j in pairs]
    known = cross_codings(sets, counted) if counted is not None else [None] * len(pairs)

    def of_pair(at: int) -> tuple[Floats, list[float], int]:
        table = known[at] or cross_codings([sets[at]], None)[0]
        shares = table.counts / table.counts.sum(axis=1, keepdims=True)
        alike = np.maximum(0, 1 - np.abs(shares - shares[0]).sum(axis=1) / 2)
        strengths = [cramers_v(table.codes, counts) for counts in table.counts]
        return alike, strengths, int(table.counts[0][(table.codes[0] > 0) & (table.codes[1] > 0)].sum())

    for (i, j), (alike, v, n) in zip(pairs, run(of_pair, range(len(pairs))), strict=True):
        similarity[:, i, j] = similarity[:, j, i] = alike
        strength[:, i, j] = strength[:, j, i] = v
        both[i, j] = both[j, i] = n
    return similarity, strength, both


def all_matrices(
    coded: Sequence[SharedCoding], numbers: Mapping[str, Sequence[Floats]], counted: PairTables | None = None
) -> tuple[dict[str, Floats], Ints]:
    """Association matrices by kind in each file: of numbers (pearson, spearman), of all variables (the others).

    `counted`: tables of plans; `numbers` are their different values then. Also how many records of the original have a
    value of both variables of a pair.
    """
    contingency, association, both = _tables(coded, counted)
    files = len(contingency)
    columns = [[values[file] for values in numbers.values()] for file in range(files)]
    pearson = spearman = np.empty((files, 0, 0))
    if numbers and counted is not None:
        pearson, spearman = built(lambda: counted.correlations([*numbers]))
    elif numbers:
        pearson, spearman = (
            np.array([make(column) for column in columns]) for make in (pearson_matrix, spearman_matrix)
        )
    places = [j for j, variable in enumerate(coded) if variable.name in numbers]
    association[np.ix_(range(files), places, places)] = pearson

    others = [j for j in range(len(coded)) if j not in places]
    if counted is not None:
        categories, names = [coded[j] for j in others], [coded[i].name for i in places]
        by_level = built(lambda: _ratios(counted, categories, names))
        association[np.ix_(range(files), others, places)] = by_level
        association[np.ix_(range(files), places, others)] = by_level.swapaxes(1, 2)

    def ratios(task: tuple[int, int]) -> list[float]:
        file, i = task
        return correlation_ratios([coded[j].codes[file] for j in others], numbers[coded[i].name][file])

    tasks = list(itertools.product(range(files), places)) if counted is None else []
    for (file, i), etas in zip(tasks, run(ratios, tasks), strict=True):
        association[file, i, others] = association[file, others, i] = etas
    for file, j in itertools.product(range(files), others):
        association[file, j, j] = math.nan if (coded[j].counts[file] > 0).sum() < 2 else 1.0
    return {"pearson": pearson, "spearman": spearman, "contingency": contingency, "association": association}, both


def _ratios(counted: PairTables, categories: Sequence[SharedCoding], names: Sequence[str]) -> Floats:
    """Correlation ratios of categories and numbers in each file of plans; shape (files, categories, numbers)."""
    moments = {name: counted.moments(name) for name in names}
    out = np.full((len(counted.frames), len(categories), len(names)), np.nan)
    sums = counted.level_sums(categories, {name: [mean for mean, _ in of] for name, of in moments.items()})
    for file, by_category in enumerate(sums):
        for j, (size, total) in enumerate(by_category):
            for i, name in enumerate(names):
                out[file, j, i] = _ratio(size[i], total[i], moments[name][file][1])
    return out


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AssociationComparison(PairResult):
    """Associations before and after; means are over the pairs of variables where they are defined.

    Attributes
    ----------
    pearson_similarity, spearman_similarity : float
        Mean of 1 - |difference of the correlations| / 2, over the pairs of numbers: 1 equal, 0 reversed.
    contingency_similarity : float
        Mean of 1 less half the sum of the differences of shares, over the two-way tables: 1 equal.
    mean_difference, largest_difference, frobenius_difference : float
        Absolute differences of the mixed association matrix; the last is the root of the sum of squares over
        the whole matrix.
    variables, numeric : tuple of str
        All of them, and the numbers among them.
    matrices : dict of str to ndarray, float64
        ``"association"``, ``"pearson"``, ``"spearman"`` of each file, the original first; ``"contingency"``
        has the similarity of each file to the original.
    both : ndarray, int64, shape (p, p)
        Records of the original that have a value of both variables.
    """

    measure: ClassVar[str] = "compare_associations"
    figures: ClassVar[tuple[str, ...]] = FIGURES
    pearson_similarity: float = math.nan
    spearman_similarity: float = math.nan
    contingency_similarity: float = math.nan
    mean_difference: float = math.nan
    largest_difference: float = math.nan
    frobenius_difference: float = math.nan
    variables: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    matrices: dict[str, Floats] = field(default_factory=dict, repr=False)
    both: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64), repr=False)

    def names(self, kind: Kind = "association") -> tuple[str, ...]:
        """Rows and columns of a matrix."""
        self._check(kind)
        return self.numeric if kind in ("pearson", "spearman") else self.variables

    def matrix(self, kind: Kind = "association", *, of: Part = "difference") -> Floats:
        """Give one matrix for a heat map, the mean over the releases where `of` is not the original.

        ``"contingency"`` has no value of its own in a file: it gives the similarity, whatever `of` says.
        """
        self._check(kind)
        if of not in ("original", "released", "difference"):
            raise DataError(f"of is 'original', 'released' or 'difference', not {of!r}")
        original, *releases = self.matrices[kind]
        after: Floats = np.mean(releases, axis=0)
        if kind == "contingency" or of == "released":
            return after
        before: Floats = original
        return before if of == "original" else after - before

    def table(self, kind: Kind = "association") -> Any:
        """Give a row per pair in a frame of the caller's engine: before, after (mean over releases), difference.

        ``"contingency"`` has the similarity alone.
        """
        first, second = np.triu_indices(len(self.names(kind)), 1)
        return self._frame(kind, list(zip(first.tolist(), second.tolist(), strict=True)))

    def worst(self, n: int = 10, *, kind: Kind = "association") -> Any:
        """Give the n pairs that differ most, as rows of `table`."""
        matrix = self.matrix(kind)
        far = 1 - matrix if kind == "contingency" else np.abs(matrix)
        pairs = [(i, j) for i, j in itertools.combinations(range(len(matrix)), 2) if not math.isnan(far[i, j])]
        return self._frame(kind, sorted(pairs, key=lambda pair: -far[pair])[:n])

    def _frame(self, kind: Kind, pairs: Sequence[tuple[int, int]]) -> Any:
        names = self.names(kind)
        columns: dict[str, list[Any]] = {
            "variable_1": [names[i] for i, _ in pairs],
            "variable_2": [names[j] for _, j in pairs],
        }
        parts: Sequence[Part] = ("original", "released", "difference")
        for part in parts if kind != "contingency" else ("released",):
            matrix = self.matrix(kind, of=part)
            columns["similarity" if kind == "contingency" else part] = [float(matrix[pair]) for pair in pairs]
        return self.pair.table(columns)

    def _check(self, kind: str) -> None:
        if kind not in self.matrices:
            raise DataError(f"no matrix {kind!r}; there are {', '.join(self.matrices)}")


# --- measure ------------------------------------------------------------------------------------------


def compare_associations(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    bins: Bins = BINS,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> AssociationComparison:
    """Measure how far a release keeps the correlations and other associations between variables.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ, rows need not correspond.
    variables : sequence of str, optional
        Two or more; all columns in common unless given, but for the id and the scenario's weight, household,
        person and identifiers.
    numeric : sequence of str, optional
        Variables that are numbers: else those that the scenario declares, else those stored as numbers with
        more different values than classes.
    bins : int or dict of str to int
        Classes that numbers are cut into for the contingency similarity, at the quantiles of all files pooled;
        those with no more values than that are taken value by value.
    scenario : Scenario, optional
    id : str, optional
        A column that is no variable.

    Returns
    -------
    AssociationComparison
        ``table``, ``worst`` and ``matrix``, before and after.

    Raises
    ------
    ColumnError
        Fewer than two variables in common, types that do not compare.
    DataError
        A file without records, numbers that are none, `bins` below 2.

    Notes
    -----
    The mixed association is Pearson's correlation for two numbers (-1 to 1), the correlation ratio eta for a
    number and a category, Cramér's V for two categories (0 to 1; roots, not squares). A pair with a constant
    is undefined and left out of the means.

    References
    ----------
    Cramér, H. (1946). Mathematical methods of statistics, chapter 21. Hays, W. L. (1963). Statistics for
    psychologists, on the correlation ratio.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 5.0]})
    >>> release = survey.with_columns(b=pl.Series([5.0, 3.0, 2.0, 1.0]))
    >>> result = compare_associations(survey, release, numeric=["a", "b"])
    >>> result.spearman_similarity, round(result.largest_difference, 4)
    (0.0, 1.9654)
    """
    chosen = chosen_variables(original, released, variables, numeric, scenario, id, counted=True)
    if len(chosen.names) < 2:
        raise ColumnError(f"associations need two variables, there is one ({chosen.names[0]})")
    coded, declared, notes = coded_variables(chosen, bins)
    pair = chosen.pair
    numbers = {name: chosen.values(name) for name in declared}
    matrices, both = all_matrices(coded, numbers, chosen.tables)
    per_release = tuple(release_figures(matrices, j) for j in range(1, pair.m + 1))
    _undefined(pair, matrices, len(numbers), per_release, notes)
    return AssociationComparison(
        pair, per_release, MISSING_RULE, notes, **mean_figures(per_release, notes), variables=chosen.names,
        numeric=tuple(numbers), matrices=matrices, both=both,
    )  # fmt: skip


def _undefined(
    pair: Pair, matrices: Mapping[str, Floats], n_numbers: int, per_release: Sequence[Mapping[str, float]],
    notes: dict[str, str],
) -> None:  # fmt: skip
    """Add notes on undefined figures, and on pairs left out of the means."""
    for name in FIGURES:
        if all(math.isnan(figures[name]) for figures in per_release):
            few = n_numbers < 2 and name.startswith(("pearson", "spearman"))
            notes[name] = "fewer than two numbers" if few else "every pair has a constant variable"
    above = np.triu_indices(matrices["association"].shape[1], 1)
    gone = np.atleast_1d(np.isnan(matrices["association"][:, *above]).any(axis=0))
    if gone.any():
        notes["pairs"] = (
            f"{int(gone.sum())} of {len(gone)} pairs have a variable that is constant in one of the "
            f"{pair.m + 1} files: left out there"
        )
