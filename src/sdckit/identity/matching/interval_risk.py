"""B3: share of original values that lie in an interval around the released value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.pair_result import mean_figures
from sdckit.cells.record_result import ColumnResult, IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Floats
from sdckit.numerics.outlying import deviation
from sdckit.result import FileFigure

Scale = Literal["sd", "rank"]
SCALES: tuple[Scale, ...] = ("sd", "rank")
MISSING_RULE = "a missing value says nothing: the record's other variables decide"
WHOLE = 1e-9  # 0.15 * 20 is 3 ranks, whatever the rounding


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def sd_interval(released: Floats, width: float) -> tuple[Floats, Floats]:
    """Bounds of the interval of `width` standard deviations (ddof 1) to either side of each value.

    Examples
    --------
    >>> low, high = sd_interval(np.array([1.0, 2.0, 3.0]), 0.5)
    >>> low.tolist(), high.tolist()
    ([0.5, 1.5, 2.5], [1.5, 2.5, 3.5])
    """
    known = released[~np.isnan(released)]
    reach = width * float(deviation(known)) if len(known) > 1 else math.nan
    return released - reach, released + reach


def rank_interval(released: Floats, width: float) -> tuple[Floats, Floats]:
    """Bounds of the interval that reaches `width` times n ranks to either side of each value.

    Examples
    --------
    >>> low, high = rank_interval(np.array([10.0, 40.0, 20.0, 30.0]), 0.25)
    >>> low.tolist(), high.tolist()
    ([10.0, 30.0, 10.0, 20.0], [20.0, 40.0, 30.0, 40.0])
    """
    known = np.sort(released[~np.isnan(released)])
    reach = int(width * len(known) + WHOLE)
    first = np.searchsorted(known, released, side="left")
    last = np.searchsorted(known, released, side="right") - 1
    low = known[np.clip(first - reach, 0, len(known) - 1)]
    high = known[np.clip(last + reach, 0, len(known) - 1)]
    gone = np.isnan(released)
    return np.where(gone, np.nan, low), np.where(gone, np.nan, high)


def inside_intervals(original: Floats, released: Floats, width: float, scale: Scale) -> Floats:
    """1 where the original value lies in its interval, bounds included, else 0; NaN where either is missing."""
    low, high = (sd_interval if scale == "sd" else rank_interval)(released, width)
    inside = ((original >= low) & (original <= high)).astype(np.float64)
    inside[np.isnan(original) | np.isnan(low)] = np.nan
    return inside


def inside_all(inside: Floats) -> Floats:
    """Whether all known variables (columns) of a row lie inside; NaN where none is known."""
    known = ~np.isnan(inside)
    return np.where(known.any(axis=1), ((inside == 1) | ~known).all(axis=1), np.nan)


def share(flags: Floats) -> float:
    """Mean of the known values; NaN where there is none."""
    known = flags[~np.isnan(flags)]
    return float(known.mean()) if len(known) else math.nan


def mean_known(columns: Floats) -> Floats:
    """Mean over the releases in which a record is known; NaN where it is known in none.

    Examples
    --------
    >>> mean_known(np.array([[1.0, np.nan], [0.0, np.nan]])).tolist()
    [0.5, nan]
    """
    known = (~np.isnan(columns)).sum(axis=0)
    out = np.full(len(known), np.nan)
    return np.divide(np.nansum(columns, axis=0), known, out=out, where=known > 0)  # type: ignore[no-any-return]


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class IntervalRisk(ColumnResult):
    """How many original values lie close to the released ones.

    Attributes
    ----------
    n : int
        Records.
    n_inside : float
        Records whose original values lie in the interval on all variables; this and all that follow are
        means over the releases.
    rate : float
        The same as a share of the records with a variable known in both files.
    variable_rates : dict of str to float
        For each variable the share of the records known in both files whose value lies in the interval.
    records : frame
        ``inside`` (all variables) and ``inside_<variable>``: 1 or 0, the mean over several releases; missing
        where a value is.
    """

    measure: ClassVar[str] = "interval_risk"
    figures: ClassVar[tuple[str, ...]] = ("n", "n_inside", "rate", "variable_rates")
    n_inside: float = math.nan
    rate: float = math.nan
    variable_rates: dict[str, float] = field(default_factory=dict)

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        known = "records with a variable known in both files"
        return (
            FileFigure("rate", "inside", of=known, base=""),
            FileFigure("n_inside", "inside", "sum"),
            *(
                FileFigure(f"variable_rates[{name}]", f"inside_{name}", of="records known in both files", base="")
                for name in self.variable_rates
            ),
        )


# --- measure ------------------------------------------------------------------------------------------


def interval_risk(
    original: Any,
    released: Any = None,
    *,
    numeric: Sequence[str] | None = None,
    width: float = 0.05,
    scale: Scale = "sd",
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> IntervalRisk:
    """Count the records whose original values all lie in a narrow interval around the released ones.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    numeric : sequence of str
        Numeric variables.
    width : float
        Half the width of the interval, not negative: in standard deviations, or as a share of the records.
    scale : {"sd", "rank"}
        Released value plus or minus `width` standard deviations of the release (ddof 1); or the released
        values whose ranks are at most `width` times n away.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives the numeric variables where they are not given here.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    IntervalRisk
        ``n_inside``, ``rate``, ``variable_rates``, ``records``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, or listed twice.
    DataError
        Files of different lengths without `id`; a variable without numbers, with infinite ones or, for
        "sd", with the same value everywhere in a release; a negative width; an unknown scale.
    ScenarioError
        No numeric variables.

    Notes
    -----
    Bounds are included. A missing value, in either file, leaves the decision to the record's other
    variables; a record without a variable known in both files is not counted.

    References
    ----------
    Mateo-Sanz, J. M., Sebe, F. and Domingo-Ferrer, J. (2004). Outlier protection in continuous microdata
    masking. Privacy in Statistical Databases, LNCS 3050. Domingo-Ferrer, J. and Torra, V. (2001). A
    quantitative comparison of disclosure control methods for microdata.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"income": [10.0, 20.0, 30.0]})
    >>> result = interval_risk(survey, pl.DataFrame({"income": [10.1, 24.0, 30.2]}), numeric=["income"])
    >>> result.n_inside, result.records["inside"].to_list()
    (2.0, [1.0, 0.0, 1.0])
    """
    names = numeric_names(numeric, scenario)
    arguments.choice(scale, "scale", SCALES)
    arguments.amount(width, "width", "is half the width of the interval")
    broken = breakdown(original, by, IntervalRisk, interval, seed, scenario, prefix)
    pair, notes = open_numbers(original, released, names, also=broken.also, id=id)
    if scale == "sd":
        _check_spread(pair, names)
        if pair.n == 1:
            notes["rate"] = "one record has no standard deviation"
    files = _files(pair, names)
    others = range(1, pair.m + 1)
    inside = [np.column_stack([inside_intervals(own[0], own[j], width, scale) for own in files]) for j in others]
    together = [inside_all(flags) for flags in inside]
    per_release = tuple(
        {
            "n_inside": math.nan if np.isnan(all_).all() else float(np.nansum(all_)),
            "rate": share(all_),
            **{f"variable_rates[{name}]": share(flags[:, j]) for j, name in enumerate(names)},
        }
        for flags, all_ in zip(inside, together, strict=True)
    )
    _note_missing(notes, pair, together)
    by_release = {"inside": np.stack(together)}
    by_release |= {f"inside_{name}": np.stack([flags[:, j] for flags in inside]) for j, name in enumerate(names)}
    columns = {name: mean_known(flags) for name, flags in by_release.items()}
    means = mean_figures(per_release, notes)
    rates = {name: means.pop(f"variable_rates[{name}]") for name in names}
    result = IntervalRisk(
        pair, per_release, MISSING_RULE, notes, columns=columns, n=pair.n, variable_rates=rates, prefix=prefix, **means,
    )  # fmt: skip
    return broken.of(result, by_release)


def numeric_names(
    numeric: Sequence[str] | str | None, scenario: Scenario | None, *, single: bool = False
) -> tuple[str, ...]:
    """The numeric variables given, or the scenario's."""
    scenario = arguments.scenario_or_none(scenario)
    names = arguments.names(numeric, "numeric", single=single)
    if names is None and scenario is not None:
        names = scenario.numeric
    if not names:
        words = "say which variables are numeric: numeric=[...] or a scenario that does"
        raise ScenarioError(words, argument="numeric")
    return names


def open_numbers(
    original: Any, released: Any, names: Sequence[str], *, also: Sequence[str], id: str | None
) -> tuple[Pair, dict[str, str]]:
    """Files with numbers that are compared row by row, and a note where releases are the original."""
    pair = open_pair(original, released, categories={}, numeric={"numeric": names}, also=also, aligned=True, id=id)
    others = range(1, pair.m + 1)
    same = [all(np.array_equal(own[0], own[j], equal_nan=True) for own in _files(pair, names)) for j in others]
    return pair, same_note(sum(same), pair.m)


def _files(pair: Pair, names: Sequence[str]) -> list[tuple[Floats, ...]]:
    return [pair.numbers(name) for name in names]


def _check_spread(pair: Pair, names: Sequence[str]) -> None:
    constant = [
        f"{label}: {name!r}"
        for name, files in zip(names, _files(pair, names), strict=True)
        for label, values in zip(pair.names[1:], files[1:], strict=True)
        if pair.n > 1 and float(np.nanmax(values)) == float(np.nanmin(values))
    ]
    if constant:
        words = "has the same value in every record: no standard deviation to measure by"
        raise DataError(f"{'; '.join(constant)} {words}; leave it out, or use scale='rank'")


def _note_missing(notes: dict[str, str], pair: Pair, together: Sequence[Floats]) -> None:
    unknown = [int(np.isnan(flags).sum()) for flags in together]
    if max(unknown) and "rate" not in notes:
        some = f"up to {max(unknown)} of {pair.n} records"
        notes["missing"] = f"{some} have no variable known in both files: not counted"
