"""Whether a release keeps how variables go together: correlations, contingency, mixed associations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.cells.pair import Pair, PairResult, mean_figures
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats
from sdckit.numerics.threads import run
from sdckit.utility.chosen_variables import chosen_variables
from sdckit.utility.coded_variables import BINS, Bins, coded_variables
from sdckit.utility.tables.association_matrices import (
    correlation_ratios,
    cramers_v,
    pearson_matrix,
    spearman_matrix,
)
from sdckit.utility.tables.table_counts import cross

Kind = Literal["association", "pearson", "spearman", "contingency"]
Part = Literal["original", "released", "difference"]
MISSING_RULE = "a missing number leaves the record out of its pairs, a missing category is a level of its own"
FIGURES = (
    "pearson_similarity", "spearman_similarity", "contingency_similarity", "mean_difference", "largest_difference",
    "frobenius_difference",
)  # fmt: skip


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def pairs_of(matrix: Floats) -> Floats:
    """The entries above the diagonal, undefined ones left out."""
    found = matrix[np.triu_indices(len(matrix), 1)]
    return found[~np.isnan(found)]


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


def _tables(coded: Sequence[SharedCoding]) -> tuple[Floats, Floats]:
    """For every pair its contingency similarity and Cramér's V in each file; shape (files, p, p)."""
    files = len(coded[0].codes)
    similarity = np.full((files, len(coded), len(coded)), np.nan)
    strength = similarity.copy()

    def of_pair(pair: tuple[int, int]) -> tuple[Floats, list[float]]:
        a, b = (coded[j] for j in pair)
        found = cross([a.codes, b.codes], [a.n_levels + 1, b.n_levels + 1])
        shares = found.counts / found.counts.sum(axis=1, keepdims=True)
        return np.maximum(0, 1 - np.abs(shares - shares[0]).sum(axis=1) / 2), [
            cramers_v(found.codes, counts) for counts in found.counts
        ]

    pairs = list(itertools.combinations(range(len(coded)), 2))
    for (i, j), (alike, v) in zip(pairs, run(of_pair, pairs), strict=True):
        similarity[:, i, j] = similarity[:, j, i] = alike
        strength[:, i, j] = strength[:, j, i] = v
    return similarity, strength


def all_matrices(coded: Sequence[SharedCoding], numbers: Mapping[str, Sequence[Floats]]) -> dict[str, Floats]:
    """Matrices of each kind in each file: of the numbers (pearson, spearman), of all variables (the others)."""
    contingency, association = _tables(coded)
    files = len(contingency)
    columns = [[values[file] for values in numbers.values()] for file in range(files)]
    empty = np.empty((files, 0, 0))
    out = {
        "pearson": np.array([pearson_matrix(one) for one in columns]) if numbers else empty,
        "spearman": np.array([spearman_matrix(one) for one in columns]) if numbers else empty,
        "contingency": contingency,
    }
    places = [j for j, one in enumerate(coded) if one.name in numbers]
    association[np.ix_(range(files), places, places)] = out["pearson"]

    others = [j for j in range(len(coded)) if j not in places]

    def ratios(task: tuple[int, int]) -> list[float]:
        file, i = task
        return correlation_ratios([coded[j].codes[file] for j in others], numbers[coded[i].name][file])

    tasks = list(itertools.product(range(files), places))
    for (file, i), found in zip(tasks, run(ratios, tasks), strict=True):
        association[file, i, others] = association[file, others, i] = found
    for file, j in itertools.product(range(files), others):
        constant = (coded[j].counts[file] > 0).sum() < 2
        association[file, j, j] = math.nan if constant else 1.0
    return {**out, "association": association}


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
        pairs = [
            (i, j) for i, j in itertools.combinations(range(len(matrix)), 2) if not math.isnan(far[i, j])
        ]
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
    chosen = chosen_variables(
        original, released, variables=variables, numeric=numeric, scenario=scenario, id=id
    )
    if len(chosen.names) < 2:
        raise ColumnError(f"associations need two variables, there is one ({chosen.names[0]})")
    coded, declared, notes = coded_variables(chosen, bins)
    pair = chosen.pair
    numbers = {name: pair.numbers(name) for name in declared}
    matrices = all_matrices(coded, numbers)
    per_release = tuple(release_figures(matrices, j) for j in range(1, pair.m + 1))
    _undefined(pair, matrices, len(numbers), per_release, notes)
    return AssociationComparison(
        pair, per_release, MISSING_RULE, notes, **mean_figures(per_release, notes), variables=chosen.names,
        numeric=tuple(numbers), matrices=matrices,
    )  # fmt: skip


def _undefined(
    pair: Pair,
    matrices: Mapping[str, Floats],
    n_numbers: int,
    per_release: Sequence[Mapping[str, float]],
    notes: dict[str, str],
) -> None:
    """Say which figures are undefined, and which pairs are left out of the means."""
    for name in FIGURES:
        if all(math.isnan(one[name]) for one in per_release):
            few = n_numbers < 2 and name.startswith(("pearson", "spearman"))
            notes[name] = "fewer than two numbers" if few else "every pair has a constant variable"
    above = np.triu_indices(matrices["association"].shape[1], 1)
    gone = np.atleast_1d(np.isnan(matrices["association"][:, *above]).any(axis=0))
    if gone.any():
        notes["pairs"] = (
            f"{int(gone.sum())} of {len(gone)} pairs have a variable that is constant in one of the "
            f"{pair.m + 1} files: left out there"
        )
