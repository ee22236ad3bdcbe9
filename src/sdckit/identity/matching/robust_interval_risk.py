"""B3: share of original values close to the released ones, with wider intervals for outlying records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sdckit.cells.pair import Pair
from sdckit.cells.record_result import ColumnResult, IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.matching.interval_risk import mean_known, numeric_names, open_numbers
from sdckit.numerics.array_types import Bools, Floats
from sdckit.numerics.coding import differences
from sdckit.numerics.outlying import FIT_ROWS, deviation, robust_estimate
from sdckit.numerics.search.neighbours import prepare
from sdckit.result import FileFigure

Estimate = tuple[Floats, Floats]
UNIT = 0.05  # half-width of an interval is factor times this times the distance (Templ & Meindl)
COLUMNS = ("inside", "isolated", "robust_distance")
RISKS = ("n_inside", "rate", "n_isolated", "isolated_rate", "weighted_risk", "isolated_weighted_risk")
UNDEFINED = (
    "too few complete records, or variables that follow from each other: no robust distance; use fewer variables, or "
    "give center and covariance"
)
MISSING_RULE = "records with a missing value of a variable, in either file, are not measured"


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def standardised(values: Floats) -> Floats:
    """Columns minus their mean, divided by their standard deviation (ddof 1)."""
    made: Floats = (values - values.mean(axis=0)) / deviation(values)
    return made


def distances(values: Floats, estimate: Estimate) -> Floats:
    """Mahalanobis distance of each row from a centre, by a covariance.

    Examples
    --------
    >>> distances(np.array([[3.0, 4.0]]), (np.zeros(2), np.eye(2))).tolist()
    [5.0]
    """
    center, covariance = estimate
    root = np.linalg.cholesky(covariance)
    return np.sqrt((np.linalg.solve(root, (values - center).T) ** 2).sum(axis=0))  # type: ignore[no-any-return]


def nearest_other(values: Floats) -> Floats:
    """Euclidean distance of each row from the nearest other one; infinite for a single row.

    Examples
    --------
    >>> nearest_other(np.array([[0.0], [1.0], [5.0]])).tolist()
    [1.0, 1.0, 4.0]
    """
    n = len(values)
    if n == 1:
        return np.full(1, np.inf)
    (rows,) = differences([(column,) for column in values.T], power=2)
    return prepare(rows).nearest(rows, 1, skip=np.arange(n)).distance[:, 0] * rows.unit


def close_and_isolated(
    original: Floats, released: Floats, distance: Floats, factor: float, isolation: float
) -> tuple[Bools, Bools]:
    """Records with a variable inside its interval; those of them without another released record nearby."""
    reach = factor * UNIT * distance[:, None]
    near = (original >= released - reach) & (original <= released + reach)
    inside = np.logical_or.reduce(near, axis=1)
    isolated = inside & (nearest_other(released) > isolation)
    return inside, isolated


def measured(
    original: Floats, released: Floats, rows: Bools, given: Estimate | None, seed: int | None,
    factor: float, isolation: float,
) -> tuple[dict[str, float], dict[str, Floats]]:  # fmt: skip
    """Figures of a release, and the record columns: NaN for rows outside `rows`."""
    n = int(rows.sum())
    columns = {name: np.full(len(rows), np.nan) for name in COLUMNS}
    undefined = {"n_measured": float(n), **dict.fromkeys(RISKS, math.nan)}
    if n < 2:
        return undefined, columns
    x, y = standardised(original[rows]), standardised(released[rows])
    estimate = given if given is not None else robust_estimate(x, seed)
    if estimate is None:
        return undefined, columns
    distance = distances(x, estimate)
    inside, isolated = close_and_isolated(x, y, distance, factor, isolation)
    for name, values in zip(COLUMNS, (inside, isolated, distance), strict=True):
        columns[name][rows] = values
    counts = float(inside.sum()), float(isolated.sum())
    weighted = float(distance[inside].sum()) / n, float(distance[isolated].sum()) / n
    risks = (counts[0], counts[0] / n, counts[1], counts[1] / n, *weighted)
    return {"n_measured": float(n), **dict(zip(RISKS, risks, strict=True))}, columns


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RobustIntervalRisk(ColumnResult):
    """How many original values lie close to the released ones, measured by the record's robust distance.

    Attributes
    ----------
    n : int
        Records.
    n_measured : float
        Records complete in both files; this and all that follow are means over the releases.
    n_inside : float
        Of them those with a variable whose original value lies in the interval.
    rate : float
        ``n_inside / n_measured``.
    n_isolated : float
        Those inside whose nearest other released record is farther away than `isolation`.
    isolated_rate : float
        ``n_isolated / n_measured``.
    weighted_risk : float
        Sum of the robust distances of the records inside, divided by ``n_measured``: not a share.
    isolated_weighted_risk : float
        The same of those isolated.
    records : frame
        ``inside``, ``isolated`` (1 or 0, the mean over several releases) and ``robust_distance``; missing
        where the record was not measured.
    """

    measure: ClassVar[str] = "robust_interval_risk"
    figures: ClassVar[tuple[str, ...]] = ("n", "n_measured", *RISKS)
    n_measured: float = math.nan
    n_inside: float = math.nan
    rate: float = math.nan
    n_isolated: float = math.nan
    isolated_rate: float = math.nan
    weighted_risk: float = math.nan
    isolated_weighted_risk: float = math.nan

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        complete: dict[str, Any] = {"of": "records complete in both files", "base": "n_measured"}
        return (
            FileFigure("rate", "inside", **complete),
            FileFigure("n_inside", "inside", "sum"),
            FileFigure("isolated_rate", "isolated", **complete),
            FileFigure("n_isolated", "isolated", "sum"),
        )


# --- measure ------------------------------------------------------------------------------------------


def robust_interval_risk(
    original: Any,
    released: Any = None,
    *,
    numeric: Sequence[str] | None = None,
    factor: float = 0.01,
    isolation: float = 0.05,
    center: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> RobustIntervalRisk:
    """Count the records with a value close to the released one, outliers getting wider intervals.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    numeric : sequence of str
        Numeric variables.
    factor : float
        The interval of a record is its released value plus or minus ``factor * 0.05`` robust distances, in
        standard deviations; not negative.
    isolation : float
        How far the nearest other released record must be for a record to count as isolated: Euclidean
        distance in standard deviations, not negative.
    center, covariance : array, shapes (p,) and (p, p), optional
        Robust estimates of the standardised original; both or neither. The minimum covariance determinant
        unless given.
    seed : int or Generator, optional
        Of the subsets that the minimum covariance determinant starts from, and of the bootstrap.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    scenario : Scenario, optional
        Gives the numeric variables where they are not given here.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    RobustIntervalRisk
        ``rate``, ``isolated_rate``, ``weighted_risk``, ``isolated_weighted_risk``, ``records``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, or listed twice.
    DataError
        Files of different lengths without `id`; a variable without numbers, with infinite ones or with the
        same value everywhere; a negative factor or isolation; a centre without a covariance, of the wrong
        shape, or a covariance that is none.
    ScenarioError
        No numeric variables.

    Notes
    -----
    Each file is standardised by its own means and standard deviations (ddof 1); the robust distance is the
    original record's. Any variable inside its interval puts a record at risk, where `interval_risk` wants
    all. Only records complete in both files are measured. Where no robust distance is defined (few records,
    variables that determine each other) the figures are NaN, and the notes say so.

    References
    ----------
    Templ, M. and Meindl, B. (2008). Robust statistics meets SDC: new disclosure risk measures for continuous
    microdata masking. Privacy in Statistical Databases, LNCS 5262.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(1)
    >>> survey = pl.DataFrame({"income": rng.normal(size=200), "debt": rng.normal(size=200)})
    >>> result = robust_interval_risk(survey, survey, numeric=["income", "debt"], seed=1)
    >>> result.rate, result.notes["released"]
    (1.0, "the release has the original's values of these variables, row by row")
    """
    names = numeric_names(numeric, scenario)
    arguments.amount(factor, "factor", "is half the width of an interval")
    arguments.amount(isolation, "isolation", "is what widens the interval of a record far out")
    drawn = arguments.seed_number(seed)
    given = _given(center, covariance, len(names))
    broken = breakdown(original, by, RobustIntervalRisk, interval, seed, scenario, prefix)
    pair, notes = open_numbers(original, released, names, also=broken.also, id=id)
    files = [np.column_stack(columns) for columns in zip(*(pair.numbers(name) for name in names), strict=True)]
    complete = [~np.isnan(files[0] + file).any(axis=1) for file in files[1:]]
    _check_spread(pair, names, files, complete)
    measures = [
        measured(files[0], file, rows, given, drawn, factor, isolation)
        for file, rows in zip(files[1:], complete, strict=True)
    ]
    if any(math.isnan(figures["rate"]) for figures, _ in measures):
        notes["rate"] = UNDEFINED
    if given is None and max(int(rows.sum()) for rows in complete) > FIT_ROWS:
        notes["estimate"] = f"centre and covariance were estimated from {FIT_ROWS} records drawn"
    if gone := max(int((~rows).sum()) for rows in complete):
        some = f"up to {gone} of {pair.n} records"
        notes["missing"] = f"{some} have a missing value in one of the files: not measured"
    per_release = tuple(figures for figures, _ in measures)
    by_release = {name: np.stack([by_name[name] for _, by_name in measures]) for name in COLUMNS}
    columns = {name: mean_known(values) for name, values in by_release.items()}
    result = RobustIntervalRisk.of(pair, per_release, MISSING_RULE, notes, columns=columns, prefix=prefix)
    return broken.of(result, by_release)


def _given(center: ArrayLike | None, covariance: ArrayLike | None, p: int) -> Estimate | None:
    if center is None and covariance is None:
        return None
    if center is None or covariance is None:
        argument = "covariance" if center is None else "center"
        raise DataError("center and covariance belong together; give both or neither", argument=argument)
    try:
        estimate = np.asarray(center, np.float64), np.asarray(covariance, np.float64)
    except (TypeError, ValueError):
        raise DataError("center and covariance must be arrays of numbers") from None
    if estimate[0].shape != (p,) or estimate[1].shape != (p, p):
        words = f"center must have {p} numbers, one per variable, and covariance {p} rows and columns"
        raise DataError(words, argument="center")
    if not all(np.isfinite(part).all() for part in estimate) or not np.allclose(estimate[1], estimate[1].T):
        raise DataError("center and covariance must be finite, and the covariance symmetric")
    if np.linalg.eigvalsh(estimate[1])[0] <= 0:
        words = "covariance is not positive definite: some variables determine each other"
        raise DataError(words, argument="covariance")
    return estimate


def _check_spread(pair: Pair, names: Sequence[str], files: Sequence[Floats], complete: Sequence[Bools]) -> None:
    faults = []
    for label, released, rows in zip(pair.names[1:], files[1:], complete, strict=True):
        if rows.sum() > 1:
            for where, values in ((pair.names[0], files[0][rows]), (label, released[rows])):
                flat = np.flatnonzero(values.min(axis=0) == values.max(axis=0))
                faults += [f"{where}: {names[j]!r}" for j in flat.tolist()]
    if faults:
        words = f"{'; '.join(dict.fromkeys(faults))} has the same value in every complete record"
        raise DataError(f"{words}: no standard deviation to measure by; leave it out")
