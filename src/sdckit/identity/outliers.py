"""A7: values so extreme that they are recognised as such."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sdckit.cells import as_cells, record_result, table
from sdckit.data import arguments, frames
from sdckit.data.columns import first_rows, float_values, to_arrow
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.matching.interval_risk import numeric_names
from sdckit.numerics.array_types import Bools, Codes, Floats, Values
from sdckit.numerics.outlying import FIT_ROWS, mad_limits, percentile_limits, robust_distances
from sdckit.numerics.threads import run
from sdckit.result import FileFigure, LetGo

Method = Literal["percentile", "mad", "robust_mahalanobis"]
METHODS = get_args(Method)
JOINT_SHARE = 0.975  # of the chi-squared distribution that a squared distance would follow
Flags = dict[str, Bools]


# --- kernel -----------------------------------------------------------------------------------------


def distance_limit(n_variables: int) -> float:
    """Square root of the 97.5 % quantile of chi-squared.

    Examples
    --------
    >>> round(distance_limit(2), 4)
    2.7162
    """
    from scipy.stats import chi2

    return math.sqrt(float(chi2.ppf(JOINT_SHARE, n_variables)))


def joint_distances(values: Floats, group: Codes, n_groups: int, seed: int | None) -> tuple[Floats, int]:
    """Robust distance of each complete row within its group (NaN for others); number of groups without one."""
    out = np.full(len(values), np.nan)
    complete = np.flatnonzero(~np.isnan(values).any(axis=1))
    order = complete[np.argsort(group[complete], kind="stable")]
    edges = np.searchsorted(group[order], np.arange(n_groups + 1))
    undefined = 0
    for g in range(n_groups):
        rows = order[edges[g] : edges[g + 1]]
        distance = robust_distances(values[rows], seed)
        if distance is None:
            undefined += 1
        else:
            out[rows] = distance
    return out, undefined


# --- result -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Outliers(record_result.RecordResult):
    """Records with extreme values.

    Attributes
    ----------
    n : int
        Records.
    n_outliers : int or NaN
        Records with an extreme value of any variable (or, jointly, an extreme distance); NaN where no distance
        is defined.
    rate_outliers : float
        The same as a share of the records.
    counts : dict of str to int
        Extreme values of each variable, 0 where all are equal; empty for the joint method.
    n_missing : dict of str to int
        Missing values of each variable: they are never outliers.
    limits : dict of str to tuple of float
        Lower and upper limit of each variable, NaN where there is none; empty for groups and jointly.
    records : frame
        ``outlier`` and ``outlier_<variable>``; for the joint method ``outlier`` and ``robust_distance``.
    """

    measure: ClassVar[str] = "outliers"
    figures: ClassVar[tuple[str, ...]] = ("n", "n_outliers", "rate_outliers", "counts", "n_missing")
    dropped: ClassVar[tuple[str, ...]] = ("source", "flags", "distance")
    method: str
    n: int
    n_missing: dict[str, int]
    limits: dict[str, tuple[float, float]]
    flags: Flags = field(repr=False)
    source: Any = field(repr=False)
    distance: Floats | None = field(default=None, repr=False)
    defined: bool = True
    brought: bool = False
    id: str | None = None
    prefix: str = ""
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def _any(self) -> Bools:
        flagged: Bools = np.logical_or.reduce(list(self.flags.values()))
        return flagged

    @cached_property
    def n_outliers(self) -> float:
        """Records with an extreme value; NaN where no distance is defined."""
        return int(self._any.sum()) if self.defined else math.nan

    @property
    def rate_outliers(self) -> float:
        """Share of the records with an extreme value; NaN where no distance is defined."""
        return self.n_outliers / self.n

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (FileFigure("rate_outliers", "outlier"), FileFigure("n_outliers", "outlier", "sum"))

    def told(self, column: str) -> Values:  # noqa: ARG002 - there is only one
        """Whether each record is an outlier; NaN where no distance is defined."""
        return self._any if self.defined else np.full(self.n, math.nan)

    def told_frame(self) -> tuple[Any, None]:
        """The caller's frame, and None: each of its rows is a record of the result."""
        return self.source, None

    @cached_property
    def counts(self) -> dict[str, int]:
        """Extreme values of each variable; empty for the joint method."""
        return {} if self.distance is not None else {name: int(flag.sum()) for name, flag in self.flags.items()}

    def _backend(self) -> Any:
        return "pyarrow" if isinstance(self.source, LetGo) else self.source.implementation

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type.

        Raises
        ------
        DataError
            The result was pickled, or the data is a plan and no id says which record is which.
        """
        source = self.source
        held = source.columns  # raises on a pickled result, which holds a placeholder here
        if self.brought and self.id is None:
            raise DataError("a plan has no order of rows; give id= to tell the records apart")
        columns: dict[str, Values] = {"outlier": self._any}
        if self.distance is not None:
            columns["robust_distance"] = self.distance
        else:
            columns |= {f"outlier_{name}": flag for name, flag in self.flags.items()}
        named: dict[str, Any] = {name: to_arrow(source[name]) for name in held if name == self.id}
        table.check_result_names(list(named), [self.prefix + name for name in columns])
        named |= {self.prefix + name: values for name, values in columns.items()}
        return frames.result_frame(named, source)


# --- measure ----------------------------------------------------------------------------------------


def outliers(
    data: Any,
    *,
    numeric: Sequence[str] | str | None = None,
    upper_quantile: float | None = 0.95,
    lower_quantile: float | None = None,
    by: Sequence[str] | str | None = None,
    method: Method = "percentile",
    seed: int | np.random.Generator | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> Outliers:
    """Find records whose values are extreme, in the file or among the records of their group.

    Parameters
    ----------
    data : data frame
    numeric : str or sequence of str
        Numeric variables.
    upper_quantile, lower_quantile : float, optional
        Shares in (0, 1): values at or above the upper quantile, at or below the lower one, are extreme.
        Of the percentile method only.
    by : str or sequence of str, optional
        Columns that tell groups apart, a missing value being a value: limits are those of a record's group, and
        ``by_group`` has the figures of each. There is no ``interval=``: how many values are extreme follows from
        the limits, which are quantiles of this file.
    method : {"percentile", "mad", "robust_mahalanobis"}
        Quantiles of type 7; the median plus or minus three robust standard deviations; the distance from
        the minimum covariance determinant estimate above the root of the 97.5 % quantile of chi-squared.
    seed : int or Generator, optional
        Of the subsets that the minimum covariance determinant starts from.
    scenario : Scenario, optional
        Gives the numeric variables where they are not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    Outliers
        ``n_outliers``, ``counts``, ``n_missing``, ``limits``, ``records``.

    Raises
    ------
    ColumnError
        A column is absent or named twice.
    DataError
        No records; a variable that is not numeric, has infinite values or no value; an unknown method;
        shares out of range.
    ScenarioError
        No numeric variables.

    Notes
    -----
    A missing value is never an outlier; jointly, only complete records are measured, and of more than 20,000
    in a group the estimate is made from 20,000 drawn with the seed. Where all values of a
    group are equal (for "mad": more than half of them) no value is extreme, although each would be at its
    own quantile; the notes count such groups.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide,
    section on outliers. Rousseeuw, P. and Van Driessen, K. (1999). A fast algorithm for the minimum
    covariance determinant estimator. Technometrics 41, 212-223.

    Examples
    --------
    >>> import polars as pl
    >>> result = outliers(pl.DataFrame({"income": [10, 12, 11, 13, 90]}), numeric="income", upper_quantile=0.9)
    >>> result.n_outliers, result.records["outlier"].to_list()
    (1, [False, False, False, False, True])
    """
    drawn = arguments.seed_number(seed)
    names = numeric_names(numeric, scenario, single=True)
    asked = record_result.breakdown(data, by, Outliers, prefix=prefix)
    groups = asked.by
    _check(method, lower_quantile, upper_quantile)
    arguments.column_or_none(id, "id")
    wanted: dict[str, Sequence[str]] = {"numeric": names, "by": groups, "id": () if id is None else (id,)}
    frame, brought = as_cells.columns_in_memory(data, wanted)
    values = dict(zip(names, run(lambda name: _numbers(frame[name]), names), strict=True))
    group, n_groups = as_cells.groups_of(frame, groups) if groups else (np.zeros(len(frame), np.int32), 1)
    notes = {"plan": f"{len(frame)} records were brought here from a plan"} if brought else {}
    shared: dict[str, Any] = {
        "method": method, "n": len(frame), "source": frame, "brought": brought, "id": id, "prefix": prefix,
        "n_missing": {name: int(np.isnan(column).sum()) for name, column in values.items()},
    }  # fmt: skip
    for name, missing in shared["n_missing"].items():
        if missing:
            several = missing > 1
            some = f"{missing} values of {name} are" if several else f"1 value of {name} is"
            notes[f"missing {name}"] = f"{some} missing; {'they are no outliers' if several else 'it is no outlier'}"
    if method == "robust_mahalanobis":
        distance, undefined = joint_distances(np.stack(list(values.values()), axis=1), group, n_groups, drawn)
        if undefined:
            notes["undefined"] = (
                f"in {undefined} of {n_groups} groups there are too few complete records, or a variable does not "
                "vary or follows from the others: no distance"
            )
        if int(np.bincount(group[~np.isnan(distance)], minlength=1).max()) > FIT_ROWS:
            drawn_from = f"{FIT_ROWS} records drawn of the group"
            notes["estimate"] = f"centre and covariance were estimated from {drawn_from}"
        with np.errstate(invalid="ignore"):
            flags = {"outlier": distance > distance_limit(len(names))}
        defined = undefined < n_groups
        return asked.of(Outliers(defined=defined, limits={}, flags=flags, distance=distance, notes=notes, **shared))
    flags, limits = {}, {}
    for name, column in values.items():
        low, high = (
            mad_limits(column, group, n_groups)
            if method == "mad"
            else percentile_limits(column, group, n_groups, lower=lower_quantile, upper=upper_quantile)
        )
        flags[name] = _beyond(column, low[group], high[group], strict=method == "mad")
        open_ended = int((np.isnan(low) & np.isnan(high)).sum())
        if not groups:
            limits[name] = (float(low[0]), float(high[0]))
        if open_ended:
            what = "more than half of the values are equal" if method == "mad" else "all values are equal"
            notes[f"limits {name}"] = f"in {open_ended} of {n_groups} groups {what}: no limit, no outlier"
    return asked.of(Outliers(limits=limits, flags=flags, notes=notes, **shared))


def _beyond(values: Floats, low: Floats, high: Floats, *, strict: bool) -> Bools:
    with np.errstate(invalid="ignore"):
        return (values < low) | (values > high) if strict else (values <= low) | (values >= high)


def _check(method: str, lower: float | None, upper: float | None) -> None:
    arguments.choice(method, "method", METHODS)
    if lower is None and upper is None:
        raise DataError(
            "give upper_quantile=, lower_quantile= or both: with neither no value is extreme", argument="upper_quantile"
        )
    for name, value in (("lower_quantile", lower), ("upper_quantile", upper)):
        if value is not None:
            arguments.level(value, name, "is a share of the values")
    if lower is not None and upper is not None and lower >= upper:
        raise DataError("lower_quantile= must be below upper_quantile=", argument="lower_quantile")


def _numbers(series: Any) -> Floats:
    values = float_values(series, "numeric variable")
    if np.isinf(values).any():
        rows = f"{first_rows(np.isinf(values))}, counting from 1"
        raise DataError(f"numeric variable {series.name!r} has infinite values ({rows}); make them missing")
    if np.isnan(values).all():
        raise DataError(f"numeric variable {series.name!r} has no value in any record; leave it out")
    return values
