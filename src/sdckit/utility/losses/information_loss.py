"""F5: information loss in protected values, records and correlations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import Pair, open_files, open_pair, read_pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.cells.plans import count_cells, joined_sums, lazy
from sdckit.data import arguments, frames
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics.array_types import Codes, Floats
from sdckit.numerics.outlying import deviation, robust_estimate
from sdckit.result import LetGo

# Distances of values, records and correlations between two aligned files.


SINGULAR = 1e-12  # an eigenvalue of a correlation matrix below this is numerically 0


def relative_loss(original: Floats, released: Floats) -> tuple[float, int]:
    """Sum of the differences in per cent of the original value, and the number of terms.

    Cells whose original value is 0, or with a missing value in either file, are left out.

    >>> relative_loss(np.array([10.0, 0.0, -4.0]), np.array([11.0, 5.0, -4.0]))
    (10.0, 2)
    """
    known = ~(np.isnan(original) | np.isnan(released)) & (original != 0)
    x, y = original[known], released[known]
    return float((100 * np.abs(x - y) / np.abs(x)).sum()), int(known.sum())


def scaled_loss(original: Floats, released: Floats) -> tuple[float, int]:
    """Sum of the differences in standard deviations (ddof 1) of the original times √2, and the number of terms.

    NaN where the original has no spread.
    """
    present = original[~np.isnan(original)]
    spread = _spread(present) if len(present) > 1 else 0.0
    apart = np.abs(original - released)
    known = ~np.isnan(apart)
    if spread == 0:
        return math.nan, int(known.sum())
    return float((apart[known] / (math.sqrt(2) * spread)).sum()), int(known.sum())


def _spread(values: Floats) -> float:
    """Standard deviation (ddof 1) of two values or more; 0 where all are equal, whatever their mean is rounded to."""
    return float(deviation(values)) if values.min() < values.max() else 0.0


def covariances(values: Floats) -> Floats:
    """Covariance matrix (ddof 1) of complete rows; NaN for fewer than two."""
    if len(values) < 2:
        return np.full((values.shape[1],) * 2, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # infinite or none where no floating number says it
        covariance = np.atleast_2d(np.cov(values.T))
    constant = values.min(axis=0) == values.max(axis=0)  # their mean may be off in the last digit
    covariance[constant], covariance[:, constant] = 0.0, 0.0
    return covariance


def correlations(covariance: Floats) -> Floats:
    """The correlation matrix of a covariance matrix; NaN where a variable has no spread, or an infinite one."""
    size = np.sqrt(np.diag(covariance))
    size = np.where((size > 0) & (size < np.inf), size, np.nan)
    correlation: Floats = np.clip(covariance / np.outer(size, size), -1.0, 1.0)
    np.fill_diagonal(correlation, np.where(np.isnan(size), np.nan, 1.0))
    return correlation


def eigenvalue_loss(original: Floats, released: Floats) -> float:
    """Sum of the relative differences of the eigenvalues, largest first.

    NaN where one of the original is 0, or there is one variable only.

    >>> eigenvalue_loss(np.eye(2), np.array([[1.0, 0.5], [0.5, 1.0]]))
    1.0
    """
    if len(original) < 2 or not (np.isfinite(original).all() and np.isfinite(released).all()):
        return math.nan
    e, f = np.linalg.eigvalsh(original), np.linalg.eigvalsh(released)
    return math.nan if e[0] <= SINGULAR * e[-1] else float((np.abs(e - f) / e).sum())


def inverse_correlation_loss(original: Floats, released: Floats) -> float:
    """Distance, 0 to 1, of the diagonals of the inverse correlation matrices, scaled to length 1.

    NaN where a matrix is singular or there is one variable only.
    """
    units = []
    for matrix in (original, released):
        if len(matrix) < 2 or not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] <= SINGULAR:
            return math.nan
        diagonal = np.diag(np.linalg.inv(matrix))
        units.append(diagonal / np.linalg.norm(diagonal))
    return float(np.linalg.norm(units[0] - units[1]) / math.sqrt(2))


def angle_distance(original: Floats, released: Floats) -> Floats:
    """2/π times the arc tangent of the difference of each record, between 0 and 1.

    A value missing in one file counts as the largest difference between the files; in both, as none.

    >>> angle_distance(np.array([1.0, np.nan]), np.array([2.0, np.nan])).tolist()
    [0.5, 0.0]
    """
    gone = np.isnan(original), np.isnan(released)
    apart = np.abs(original - released)
    if (gone[0] != gone[1]).any() and not gone[0].all() and not gone[1].all():
        ends = [(float(np.nanmin(column)), float(np.nanmax(column))) for column in (original, released)]
        apart = np.where(gone[0] != gone[1], max(ends[0][1] - ends[1][0], ends[1][1] - ends[0][0]), apart)
    apart = np.where(gone[0] & gone[1], 0.0, apart)
    return np.arctan(apart) * (2 / math.pi)


def category_distance(original: Codes, released: Codes) -> Floats:
    """1 where the codes differ, else 0; a missing value (code 0) is a level."""
    return np.asarray(original != released, np.float64)


def rank_distance(original: Codes, released: Codes, n_levels: int) -> Floats:
    """Rank difference divided by the largest possible; 1 where one value is missing (code 0), 0 for both.

    >>> rank_distance(np.array([1, 1, 0], np.int32), np.array([3, 2, 2], np.int32), 3).tolist()
    [1.0, 0.5, 1.0]
    """
    apart = np.abs(original.astype(np.float64) - released) / max(n_levels - 1, 1)
    gone = original == 0, released == 0
    return np.where(gone[0] & gone[1], 0.0, np.where(gone[0] | gone[1], 1.0, apart))


# Information loss of one release, tables over several releases, and notes on undefined figures.


Ranks = Mapping[str, tuple[tuple[Codes, ...], int]]
SPREAD = "a variable has the same value in every record, or there are too few: leave it out"
CORRELATED = "needs two variables or more, in both files of different values and none following from others"
UNDEFINED = {
    "il1": "every original value is 0, or missing in one of the files",
    "il1_mean": "every original value is 0, or missing in one of the files",
    "il1s": SPREAD,
    "il1s_mean": SPREAD,
    "eigenvalues": CORRELATED,
    "robust_eigenvalues": f"{CORRELATED}, and enough complete records",
    "il_correl": CORRELATED,
    "covariance_difference": SPREAD,
    "correlation_difference": "needs two variables or more, each with different values in both files",
}
TOO_LARGE = "no floating number holds the squares of numbers this large; divide them first"
TOO_MANY = "needs the numbers of every record, which are more than may be brought from a plan"
CENTRES = ("mean", "median", "sd")


@dataclass(frozen=True, eq=False)
class Release:
    """Information loss of one release.

    `distance` (n,): mean distance of each record over the variables; empty where an engine added them up. `same`:
    whether every value is the original's.
    `n_incomplete`: records without a number in either file. `centres` (2, 3, p): means, medians and standard
    deviations of the numeric variables in the original and the release. `covariance` and `correlation` (p, p): of
    the records complete in both files.
    """

    figures: dict[str, float]
    distance: Floats
    same: bool
    n_incomplete: int
    centres: Floats
    covariance: tuple[Floats, Floats]
    correlation: tuple[Floats, Floats]
    notes: Mapping[str, str] = field(default_factory=dict)


def release_figures(
    pair: Pair, j: int, numeric: Sequence[str], categorical: Sequence[str], ranks: Ranks, *, robust: bool,
    seed: int | None,
) -> Release:  # fmt: skip
    """Measure the information loss of release `j` (from 0).

    The pair is aligned. `ranks`: codes of each file and number of levels of the ordered variables. `robust`:
    whether to compute the robust eigenvalues (NaN otherwise).
    """
    x, y = (_columns(pair, numeric, file) for file in (0, j + 1))
    distances = {
        **{name: angle_distance(x[:, i], y[:, i]) for i, name in enumerate(numeric)},
        **{name: category_distance(*_two_files(pair.codes(name).codes, j)) for name in categorical},
        **{name: rank_distance(*_two_files(codes, j), levels) for name, (codes, levels) in ranks.items()},
    }
    by_record = np.mean(list(distances.values()), axis=0)
    complete = ~(np.isnan(x) | np.isnan(y)).any(axis=1)
    pairs = x[complete], y[complete]
    same = np.array_equal(x, y, equal_nan=True) and not by_record.any()
    return _release(
        numeric, _sums(x, y), {name: float(distance.mean()) for name, distance in distances.items()},
        np.array([_centres(x), _centres(y)]), (covariances(pairs[0]), covariances(pairs[1])),
        _robust(*pairs, seed) if robust and len(numeric) > 1 else math.nan, float(by_record.mean()),
        distance=by_record, same=same, n_incomplete=int((~complete).sum()) if numeric else 0,
    )  # fmt: skip


def _release(
    numeric: Sequence[str], sums: Mapping[str, float], distances: Mapping[str, float], centres: Floats,
    covariance: tuple[Floats, Floats], robust: float, il_variables: float, **of_release: Any,
) -> Release:  # fmt: skip
    """What follows from sums, moments and the mean distance of each variable."""
    correlation = correlations(covariance[0]), correlations(covariance[1])
    figures = {
        **sums,
        "eigenvalues": eigenvalue_loss(*correlation),
        "robust_eigenvalues": robust,
        "il_correl": inverse_correlation_loss(*correlation) if numeric else math.nan,
        "il_variables": il_variables,
        **_differences(covariance, correlation),
        **{f"variable_distances[{name}]": distance for name, distance in distances.items()},
    }
    for i, name in enumerate(numeric):
        figures[f"mean_differences[{name}]"] = float(centres[1, 0, i] - centres[0, 0, i])
        figures[f"median_differences[{name}]"] = float(centres[1, 1, i] - centres[0, 1, i])
    return Release(figures=figures, centres=centres, covariance=covariance, correlation=correlation, **of_release)


def releases_of_plans(
    opened: Pair, roles: Mapping[str, Sequence[str]], orders: Mapping[str, tuple[str, ...]], *, robust: bool,
    seed: int | None,
) -> list[Release] | None:  # fmt: skip
    """The same of every release where the files are plans that their engine can join by the id; else None.

    Raises ColumnError, DataError: as `open_pair`.
    """
    numeric, ordered = tuple(roles["numeric"]), tuple(roles["ordered"])
    joined = joined_sums.join_pair(opened, numeric, (*roles["categorical"], *ordered))
    if joined is None:
        return None
    try:
        cells = joined.cells()
    except count_cells.TooManyCellsError:
        return None
    ranks = {name: _ranks(cells[name], name, orders.get(name)) for name in ordered}
    codes = {name: cells[name].codes(name).codes for name in roles["categorical"]}
    margins, apart = joined.sums()
    of_mcd, notes = _brought_robust(opened, numeric, seed) if robust and len(numeric) > 1 else (None, {})
    releases = []
    for j, release in enumerate(apart):
        x, y = margins[0], margins[j + 1]
        furthest = np.maximum(x.high - y.low, y.high - x.low)
        angles = (release.angles + release.n_single * np.arctan(furthest)) * (2 / math.pi) / opened.n
        distances = {
            **dict(zip(numeric, angles.tolist(), strict=True)),
            **{name: cells[name].mean(category_distance(*_two_files(own, j))) for name, own in codes.items()},
            **{
                name: cells[name].mean(rank_distance(*_two_files(own, j), levels))
                for name, (own, levels) in ranks.items()
            },
        }
        others = any(distances[name] for name in (*codes, *ranks))
        made = _release(
            numeric, _added_up(x, release), distances,
            np.array([[side.mean, side.median, side.spread] for side in (x, y)]),
            (release.covariance[0], release.covariance[1]), math.nan if of_mcd is None else of_mcd[j],
            float(np.mean(list(distances.values()))),
            distance=np.empty(0), same=not others and not release.n_other.any(),
            n_incomplete=opened.n - release.n_complete if numeric else 0, notes=notes,
        )  # fmt: skip
        releases.append(made)
    return releases


def _added_up(x: joined_sums.Margins, release: joined_sums.Apart) -> dict[str, float]:
    n_relative, n_both = int(release.n_relative.sum()), int(release.n_both.sum())
    spread = np.where(x.n > 1, x.spread, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(spread > 0, release.apart / (math.sqrt(2) * spread), np.nan)
    relative = 100 * math.fsum(release.relative.tolist()) if n_relative else math.nan
    apart = math.fsum(scaled.tolist()) if n_both else math.nan
    return {
        "il1": relative, "il1_mean": relative / n_relative if n_relative else math.nan,
        "il1s": apart, "il1s_mean": apart / n_both if n_both else math.nan,
    }  # fmt: skip


def _brought_robust(
    opened: Pair, numeric: Sequence[str], seed: int | None
) -> tuple[list[float] | None, dict[str, str]]:
    """The robust eigenvalues of every release, from the numbers of all records; none where these are too many."""
    try:
        here = read_pair(opened, {"numeric": numeric}, aligned=True)
    except lazy.TooMuchError:
        return None, {"robust_eigenvalues": TOO_MANY}
    files = [_columns(here, numeric, file) for file in range(here.m + 1)]
    out = []
    for released in files[1:]:
        complete = ~(np.isnan(files[0]) | np.isnan(released)).any(axis=1)
        out.append(_robust(files[0][complete], released[complete], seed))
    return out, {}


def _columns(pair: Pair, numeric: Sequence[str], file: int) -> Floats:
    if not numeric:
        return np.empty((pair.n, 0))
    return np.column_stack([pair.numbers(name)[file] for name in numeric])


def _two_files(codes: Sequence[Codes], j: int) -> tuple[Codes, Codes]:
    return codes[0], codes[j + 1]


def _sums(x: Floats, y: Floats) -> dict[str, float]:
    relative = [relative_loss(*columns) for columns in zip(x.T, y.T, strict=True)]
    scaled = [scaled_loss(*columns) for columns in zip(x.T, y.T, strict=True)]
    out: dict[str, float] = {}
    for name, parts in (("il1", relative), ("il1s", scaled)):
        cells = sum(count for _, count in parts)
        total = math.fsum(part for part, _ in parts) if cells else math.nan
        out |= {name: total, f"{name}_mean": total / cells if cells else math.nan}
    return out


def _centres(values: Floats) -> list[Floats]:
    """Means, medians and standard deviations (ddof 1) of the known values of each column."""
    known = [column[~np.isnan(column)] for column in values.T]
    return [
        np.array([column.mean() for column in known]),
        np.array([np.median(column) for column in known]),
        np.array([_spread(column) if len(column) > 1 else math.nan for column in known]),
    ]


def _robust(x: Floats, y: Floats, seed: int | None) -> float:
    """Eigenvalue loss of the correlations by the minimum covariance determinant."""
    estimates = [robust_estimate(values, seed) for values in (x, y)]
    matrices = [correlations(estimate[1]) for estimate in estimates if estimate is not None]
    return eigenvalue_loss(*matrices) if len(matrices) == 2 else math.nan


def _differences(covariance: tuple[Floats, Floats], correlation: tuple[Floats, Floats]) -> dict[str, float]:
    """Mean differences over the pairs of variables; NaN where one has no spread."""
    p = len(covariance[0])
    out = {"covariance_difference": math.nan, "correlation_difference": math.nan}
    if p == 0:
        return out
    size = np.sqrt(np.diag(covariance[0]))
    if np.isfinite(covariance[0]).all() and (size > 0).all():
        apart = np.abs(covariance[1] - covariance[0]) / np.outer(size, size)
        out["covariance_difference"] = float(apart[np.triu_indices(p)].mean())
    if p > 1:
        out["correlation_difference"] = float(np.abs(correlation[1] - correlation[0])[np.triu_indices(p, 1)].mean())
    return out


def variable_table(numeric: Sequence[str], releases: Sequence[Release]) -> dict[str, list[Any]]:
    """Mean, median and standard deviation of each variable, in the original and over the releases."""
    centres = np.mean([release.centres for release in releases], axis=0)
    out: dict[str, list[Any]] = {"variable": list(numeric)}
    for i, name in enumerate(CENTRES):
        out[f"{name}_original"] = centres[0, i].tolist()
        out[f"{name}_released"] = centres[1, i].tolist()
    return out


def paired_table(numeric: Sequence[str], releases: Sequence[Release]) -> dict[str, list[Any]]:
    """Covariance and correlation of each pair of variables, in the original and over the releases.

    The original's are means too: each release leaves out the records incomplete in it.
    """
    first, second = np.triu_indices(len(numeric))
    out: dict[str, list[Any]] = {
        "first": [numeric[i] for i in first.tolist()],
        "second": [numeric[i] for i in second.tolist()],
    }
    for name in ("covariance", "correlation"):
        matrices = np.mean([getattr(release, name) for release in releases], axis=0)
        out[f"{name}_original"] = matrices[0][first, second].tolist()
        out[f"{name}_released"] = matrices[1][first, second].tolist()
    return out


Ordered = Sequence[str] | Mapping[str, Sequence[Any]]
MISSING_RULE = (
    "a value missing in one file is as far away as any, one missing in both no difference (il_variables); cells with "
    "a missing value are left out elsewhere"
)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class InformationLoss(PairResult):
    """What protecting the values has changed; 0 throughout for an unchanged file.

    Attributes
    ----------
    n : int
        Records.
    il1 : float
        Sum over all cells of the difference in per cent of the original value, those of 0 left out. This
        and all that follow are means over the releases.
    il1_mean : float
        The same per cell summed.
    il1s : float
        Sum over all cells of the difference divided by √2 standard deviations of the original variable.
    il1s_mean : float
        The same per cell.
    eigenvalues, robust_eigenvalues : float
        Sum of the relative differences of the eigenvalues of the correlation matrix; of a robust correlation
        matrix (minimum covariance determinant).
    il_correl : float
        Distance between the inverse correlation matrices' diagonals, 0 to 1.
    il_variables : float
        Mean distance of a record's values from the original ones, 0 to 1, over all variables.
    covariance_difference, correlation_difference : float
        Mean over the pairs of variables of the difference of their covariances, in standard deviations of
        the original (variances included); of their correlations.
    variable_distances : dict of str to float
        What each variable has in `il_variables`.
    mean_differences, median_differences : dict of str to float
        Released minus original, of each numeric variable.
    variables, pairs : frame
        A row per numeric variable (means, medians, standard deviations); per pair (covariances,
        correlations); means over the releases.
    records : frame
        ``distance`` of each record.
    """

    measure: ClassVar[str] = "information_loss"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "il1", "il1_mean", "il1s", "il1s_mean", "eigenvalues", "robust_eigenvalues", "il_correl", "il_variables",
        "covariance_difference", "correlation_difference", "variable_distances", "mean_differences",
        "median_differences",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "distance", "brought")
    distance: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    tables: dict[str, dict[str, list[Any]]] = field(default_factory=dict, repr=False)
    n: int = 0
    il1: float = math.nan
    il1_mean: float = math.nan
    il1s: float = math.nan
    il1s_mean: float = math.nan
    eigenvalues: float = math.nan
    robust_eigenvalues: float = math.nan
    il_correl: float = math.nan
    il_variables: float = math.nan
    covariance_difference: float = math.nan
    correlation_difference: float = math.nan
    variable_distances: dict[str, float] = field(default_factory=dict)
    mean_differences: dict[str, float] = field(default_factory=dict)
    median_differences: dict[str, float] = field(default_factory=dict)
    prefix: str = field(default="", repr=False)
    brought: Callable[[], Any] | None = field(default=None, repr=False)  # measures plans by their records

    @cached_property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type; of plans their columns are brought for it."""
        if self.brought is not None and not isinstance(self.pair, LetGo):
            return self.brought().records
        return self.pair.records({"distance": self.distance}, prefix=self.prefix)

    @property
    def variables(self) -> Any:
        """A row per numeric variable."""
        return frames.frame_of(self.tables["variables"], self._backend())

    @property
    def pairs(self) -> Any:
        """A row per pair of numeric variables, a variable with itself included."""
        return frames.frame_of(self.tables["pairs"], self._backend())


# --- measure ------------------------------------------------------------------------------------------


def information_loss(
    original: Any,
    released: Any = None,
    *,
    numeric: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    ordered: Ordered = (),
    robust: bool = True,
    seed: int | np.random.Generator | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> InformationLoss:
    """Measure how far protected values, and what is computed from them, lie from the original ones.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    numeric : sequence of str
        Numeric variables.
    categorical : sequence of str
        Variables whose values are the same or not.
    ordered : sequence of str, or dict of str to sequence
        Variables whose levels have an order: ascending, or as the dict lists them.
    robust : bool
        Whether to compute `robust_eigenvalues`, which takes most of the time.
    seed : int or Generator, optional
        Of the subsets that the minimum covariance determinant starts from.
    scenario : Scenario, optional
        Gives the numeric variables where they are not given here.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    InformationLoss
        ``il1``, ``il1s``, ``eigenvalues``, ``robust_eigenvalues``, ``il_correl``, ``il_variables``,
        differences of means, medians, covariances and correlations, ``records``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, is listed twice or in two roles.
    DataError
        Files of different lengths without `id`; a variable without numbers or with infinite ones; a level
        that the order given does not list.
    ScenarioError
        No variables.

    Notes
    -----
    With x the original and x′ the released value, s the original's standard deviation (ddof 1), e and e′ the
    eigenvalues, largest first, and d the diagonal of the inverse correlation matrix:
    ``il1 = Σ 100 |x - x′|/|x|``, ``il1s = Σ |x - x′|/(√2 s)``, ``eigenvalues = Σ |e - e′|/e``,
    ``il_correl = ‖d/‖d‖ - d′/‖d′‖‖/√2``; `il_variables` is the mean of 0 or 1 for categories, of the
    places between ordered levels divided by the levels minus 1, and of ``(2/π) atan |x - x′|`` for numbers,
    which depends on their unit. Sums grow with the file: compare the means per cell. Correlations and
    eigenvalues use the records complete in both files.

    References
    ----------
    Yancey, W. E., Winkler, W. E. and Creecy, R. H. (2002). Disclosure risk assessment in perturbative
    microdata protection. LNCS 2316. Domingo-Ferrer, J. and Torra, V. (2001). Disclosure control methods and
    information loss for microdata. Mlodak, A. (2020). Information loss resulting from statistical disclosure
    control of output data. Wiadomosci Statystyczne 65(9). Templ, M. and Meindl, B. (2008). Robust statistics
    meets SDC. LNCS 5262.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"income": [10.0, 20.0, 40.0], "hours": [40.0, 38.0, 20.0]})
    >>> release = survey.with_columns(income=pl.Series([11.0, 20.0, 38.0]))
    >>> result = information_loss(survey, release, numeric=["income", "hours"], robust=False)
    >>> result.il1, result.mean_differences["hours"], result.records["distance"].round(3).to_list()
    (15.0, 0.0, [0.25, 0.0, 0.352])
    """
    arguments.text(prefix, "prefix")
    drawn = arguments.seed_number(seed)
    arguments.flag(robust, "robust")
    scenario = arguments.scenario_or_none(scenario)
    roles, orders = _roles(numeric, categorical, ordered, scenario)
    opened = open_files(original, released, id=id)
    releases = releases_of_plans(opened, roles, orders, robust=robust, seed=drawn)
    brought = None if releases is None else partial(_again, opened, roles, orders, prefix)
    if releases is None:
        opened, releases = _by_records(opened, roles, orders, robust=robust, seed=drawn)
    return _result(opened, roles, releases, robust=robust, prefix=prefix, brought=brought)


def _by_records(
    opened: Pair, roles: Mapping[str, Sequence[str]], orders: Mapping[str, tuple[str, ...]], *, robust: bool,
    seed: int | None,
) -> tuple[Pair, list[Release]]:  # fmt: skip
    pair = open_pair(
        opened, categories={"categorical": roles["categorical"], "ordered": roles["ordered"]},
        numeric={"numeric": roles["numeric"]}, aligned=True,
    )  # fmt: skip
    ranks = {name: _ranks(pair, name, orders.get(name)) for name in roles["ordered"]}
    return pair, [
        release_figures(pair, j, roles["numeric"], roles["categorical"], ranks, robust=robust, seed=seed)
        for j in range(pair.m)
    ]


def _again(
    opened: Pair, roles: Mapping[str, Sequence[str]], orders: Mapping[str, tuple[str, ...]], prefix: str
) -> InformationLoss:
    """The records of plans, measured one by one."""
    pair, releases = _by_records(opened, roles, orders, robust=False, seed=None)
    return _result(pair, roles, releases, robust=False, prefix=prefix)


def _result(
    pair: Pair, roles: Mapping[str, Sequence[str]], releases: Sequence[Release], *, robust: bool, prefix: str,
    brought: Callable[[], InformationLoss] | None = None,
) -> InformationLoss:  # fmt: skip
    numbers = roles["numeric"]
    notes = _notes(pair, roles, releases, robust=robust)
    per_release = tuple(release.figures for release in releases)
    means = mean_figures(per_release, notes)
    spread: dict[str, dict[str, float]] = {
        group: {name: means.pop(f"{group}[{name}]") for name in names}
        for group, names in (
            ("variable_distances", tuple(name for part in roles.values() for name in part)),
            ("mean_differences", numbers),
            ("median_differences", numbers),
        )
    }
    fields: dict[str, Any] = {**means, **spread}
    return InformationLoss(
        pair, per_release, MISSING_RULE, notes, distance=np.mean([release.distance for release in releases], axis=0),
        tables={"variables": variable_table(numbers, releases), "pairs": paired_table(numbers, releases)},
        n=pair.n, prefix=prefix, brought=brought, **fields,
    )  # fmt: skip


def _roles(
    numeric: Sequence[str] | None, categorical: Sequence[str], ordered: Ordered, scenario: Scenario | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Columns by role, and the level order of ordered ones where listed."""
    orders: dict[str, tuple[str, ...]] = {}
    if isinstance(ordered, Mapping):
        orders = {name: tuple(map(str, levels)) for name, levels in ordered.items()}
        ordered = tuple(ordered)
    names = arguments.names(numeric, "numeric")
    if names is None and scenario is not None:
        names = scenario.numeric
    roles = {
        "numeric": names or (),
        "categorical": arguments.names(categorical, "categorical") or (),
        "ordered": arguments.names(ordered, "ordered") or (),
    }
    every = [name for part in roles.values() for name in part]
    if not every:
        raise ScenarioError(
            "say which variables to compare: numeric=[...], categorical=[...] or ordered=[...]", argument="numeric"
        )
    if twice := sorted({name for name in every if every.count(name) > 1}):
        where = " and ".join(role for role, part in roles.items() if twice[0] in part)
        raise ColumnError(f"{twice[0]!r} is listed as {where}; a variable is one of them")
    return roles, orders


def _ranks(pair: Pair, name: str, levels: tuple[str, ...] | None) -> tuple[tuple[Codes, ...], int]:
    """Rank codes of an ordered variable in each file (0: missing), and the number of levels."""
    shared = pair.codes(name)
    if levels is None:
        return shared.codes, shared.n_levels
    place = {level: j + 1 for j, level in enumerate(levels)}
    labels = shared.labels()[1:]
    if unknown := sum(label not in place for label in labels):
        raise DataError(
            f"ordered: {'1 value' if unknown == 1 else f'{unknown} values'} of {name!r} "
            f"{'is' if unknown == 1 else 'are'} not among the levels listed for it",
            argument="ordered",
        )
    if len(place) < len(levels):
        raise DataError(f"ordered: a level of {name!r} is listed more than once", argument="ordered")
    rank = np.array([0, *(place[label] for label in labels)], np.int32)
    return tuple(rank[codes] for codes in shared.codes), len(levels)


def _notes(
    pair: Pair, roles: Mapping[str, Sequence[str]], releases: Sequence[Release], *, robust: bool
) -> dict[str, str]:
    notes = same_note(sum(release.same for release in releases), pair.m)
    for figure, reason in UNDEFINED.items():
        undefined = [release for release in releases if math.isnan(release.figures[figure])]
        if undefined:
            squared = figure not in ("il1", "il1_mean")
            too_large = squared and any(np.isinf(release.covariance).any() for release in undefined)
            notes[figure] = TOO_LARGE if too_large else reason if roles["numeric"] else "no numeric variables"
    notes |= releases[0].notes
    if not robust and roles["numeric"]:
        notes["robust_eigenvalues"] = "not asked for (robust=False)"
    if gone := max(release.n_incomplete for release in releases):
        notes["missing"] = (
            f"up to {gone} of {pair.n} records have a missing number in one of the files: not in correlations and "
            "eigenvalues"
        )
    return notes
