"""B1: whether the rows of a synthetic or perturbed file can be matched back to the original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.matching.interval_risk import values_note
from sdckit.identity.matching.matching_kernel import Category, Interval, match
from sdckit.identity.matching.matching_options import MatchBy, match_by, target_rows

__all__ = ["MatchingRisk", "matching_risk"]

Bounds = Literal["closed", "open"]
Around = Literal["original", "released"]
NO_UNIQUE_MATCH = "no record has exactly one match"


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Matched:
    """What was found for each target (columns) in each release (rows)."""

    rows: NDArray[np.int64]  # (targets,) position of each in the original
    count: NDArray[np.int64]  # (m, targets) released records that match it
    true: NDArray[np.bool_]  # (m, targets) whether the record made from it is among them

    @cached_property
    def risk(self) -> NDArray[np.float64]:
        """Chance of hitting the right one among the matches."""
        return self.true / np.maximum(self.count, 1)

    @cached_property
    def unique_true(self) -> NDArray[np.bool_]:
        """The right one is the only match."""
        return self.true & (self.count == 1)  # type: ignore[no-any-return]

    @cached_property
    def unique_false(self) -> NDArray[np.bool_]:
        """A wrong one is the only match."""
        return ~self.true & (self.count == 1)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, repr=False)
class MatchingRisk(PairResult):
    """How well rows of a release can be matched back to their originals.

    Attributes
    ----------
    n : int
        Targets: the records that were looked for.
    expected_match_risk : float
        Targets expected to be matched correctly by someone who picks at random among the matches.
    mean_match_risk : float
        The same as a share of the targets.
    true_match_rate : float
        Share of the targets whose only match is the right one.
    false_match_rate : float
        Share of the single matches that are wrong; NaN where there is no single match.
    unique_matches : float
        Targets with a single match.
    records : frame
        For each target ``match_risk``, ``match_count`` and ``unique_true_match_rate``, means over the
        releases.
    records_by_release : frame
        ``row``, ``release``, ``match_count``, ``true_match``, ``unique_true_match``, ``unique_false_match``
        and ``match_risk``.
    """

    measure: ClassVar[str] = "matching_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "expected_match_risk", "mean_match_risk", "true_match_rate", "false_match_rate", "unique_matches",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "matched")
    matched: Matched = field(kw_only=True)
    n: int = 0
    expected_match_risk: float = math.nan
    mean_match_risk: float = math.nan
    true_match_rate: float = math.nan
    false_match_rate: float = math.nan
    unique_matches: float = math.nan
    prefix: str = field(default="", repr=False)

    @cached_property
    def records(self) -> Any:
        """A row per target, in the caller's frame type."""
        return self.pair.records(self._columns(), rows=self._rows(), prefix=self.prefix)

    @property
    def records_by_release(self) -> Any:
        """A row per target and release; ``row`` and ``release`` count from 1."""
        found, m = self.matched, self.m
        return self.pair.table(
            {
                "row": np.tile(found.rows + 1, m),
                "release": np.repeat(np.arange(1, m + 1), self.n),
                "match_count": found.count.ravel(),
                "true_match": found.true.ravel(),
                "unique_true_match": found.unique_true.ravel(),
                "unique_false_match": found.unique_false.ravel(),
                "match_risk": found.risk.ravel(),
            }
        )

    def high_risk(self, threshold: float) -> Any:
        """The targets whose match risk is above a threshold, with their ``row`` (from 1).

        Parameters
        ----------
        threshold : float
            0 to 1.

        Returns
        -------
        frame
            Confidential: it points at records.

        Raises
        ------
        DataError
            `threshold` is no number from 0 to 1.
        """
        high = np.flatnonzero(self._above(threshold))
        columns = {"row": self.matched.rows + 1, **self._columns()}
        chosen = {name: values[high] for name, values in columns.items()}
        return self.pair.records(chosen, rows=self.matched.rows[high], prefix=self.prefix)

    def summary(self, *, threshold: float | None = None) -> Any:
        """The figures as a small frame (``figure``, ``value``).

        Parameters
        ----------
        threshold : float, optional
            Adds ``high_risk``: the targets whose match risk is above it.
        """
        found = super().summary()
        if threshold is None:
            return found
        flat = [*self._flat(), ("high_risk", float(self._above(threshold).sum()))]
        names, values = zip(*flat, strict=True)
        return self.pair.table({"figure": list(names), "value": list(values)})

    def _above(self, threshold: float) -> NDArray[np.bool_]:
        if not arguments.is_number(threshold) or not 0 <= threshold <= 1:
            raise DataError("threshold is a match risk; give a number from 0 to 1", argument="threshold")
        return self._columns()["match_risk"] > threshold

    def _columns(self) -> dict[str, NDArray[np.float64]]:
        found = self.matched
        return {
            "match_risk": found.risk.mean(axis=0),
            "match_count": found.count.mean(axis=0),
            "unique_true_match_rate": found.unique_true.mean(axis=0),
        }

    def _rows(self) -> NDArray[np.int64] | None:
        """The targets; None where they are all records in their order."""
        rows = self.matched.rows
        return None if len(rows) == self.pair.n and bool((np.diff(rows) > 0).all()) else rows


# --- measure ------------------------------------------------------------------------------------------


def matching_risk(
    original: Any,
    released: Any = None,
    *,
    known: Sequence[str] = (),
    synthetic: Sequence[str] = (),
    numeric: Sequence[str] = (),
    width: float | Mapping[str, float] = 0.10,
    relative: bool | Mapping[str, bool] = True,
    tol: float = 1e-9,
    bounds: Bounds = "closed",
    around: Around = "original",
    missing: MissingRule | None = None,
    rows: Any = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> MatchingRisk:
    """Measure how well someone who knows a person's values can find the row made from them in a release.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    known : sequence of str
        Variables left as they were, known to the intruder.
    synthetic : sequence of str
        Variables that were replaced or perturbed, whose original values the intruder knows.
    numeric : sequence of str
        Those of the variables that are numbers; numbers stored for categories do not belong here.
    width : float or dict of str to float
        How far a synthetic numeric value may be off. A known numeric variable is matched exactly unless
        a dict names it.
    relative : bool or dict of str to bool
        Whether the width is a share of the value, or in the variable's unit.
    tol : float
        Slack for rounding errors at the ends of an interval.
    bounds : {"closed", "open"}
        ``low - tol <= value <= high + tol``; or what robosynth and IdentificationRiskCalculation compute,
        ``low + tol < value < high - tol``, where relative intervals of values of 0 or less are empty.
    around : {"original", "released"}
        Which value the interval is around.
    missing : {"category", "wildcard", "error"} or dict, optional
        Whether a missing value matches a missing value only (the default) or any value.
    rows : sequence of int or of bool, optional
        The targets: row numbers of the original, from 1, or a true or false per record; default all.
    scenario : Scenario, optional
        Gives the variables where neither `known` nor `synthetic` does: its keys, those that it calls
        numeric as synthetic numbers.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    MatchingRisk
        ``expected_match_risk``, ``true_match_rate``, ``false_match_rate``, ``unique_matches``, ``records``,
        ``records_by_release``, ``high_risk(threshold)``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, of types that do not compare, listed twice, or known and
        synthetic.
    DataError
        Files of different lengths without `id`; a numeric variable that holds no numbers; a width or tol
        below 0.
    ScenarioError
        A scenario with several intruders.

    Notes
    -----
    With c matches of a target, T = 1 where the right row is among them: the expected match risk sums T/c, the
    true match rate counts c = T = 1, the false match rate is the share of T = 0 among c = 1. Figures are
    means over m releases. All released rows are candidates, also where `rows` names a few targets.

    References
    ----------
    Reiter, J. P. and Mitra, R. (2009). Estimating risks of identification disclosure in partially synthetic
    data. Journal of Privacy and Confidentiality 1(1).
    Hornby, R. and Hu, J. (2021). Identification risks evaluation of partially synthetic data with the
    IdentificationRiskCalculation R package. Transactions on Data Privacy 14, 37-52.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "income": [100.0, 105.0, 300.0]})
    >>> release = survey.with_columns(income=pl.Series([104.0, 130.0, 310.0]))
    >>> result = matching_risk(survey, release, known=["sex"], synthetic=["income"], numeric=["income"])
    >>> result.records["match_count"].to_list(), result.expected_match_risk, result.true_match_rate
    ([1.0, 1.0, 1.0], 2.0, 0.6666666666666666)
    """
    arguments.text(prefix, "prefix")
    by = match_by(
        known=known, synthetic=synthetic, numeric=numeric, width=width, relative=relative, missing=missing,
        scenario=scenario,
    )  # fmt: skip
    arguments.amount(tol, "tol", "is the slack at the ends of an interval")
    arguments.choice(bounds, "bounds", ("closed", "open"))
    arguments.choice(around, "around", ("original", "released"))
    roles = {"known": by.known, "synthetic": by.synthetic}
    equal = {role: [name for name in some if name in by.equal] for role, some in roles.items()}
    pair = open_pair(
        original, released, categories=equal, numeric={"numeric": by.numeric}, aligned=True, id=id
    )
    _refuse_missing(pair, by)
    targets = target_rows(rows, pair.n)
    found = [_match(pair, by, j, targets, (tol, bounds, around)) for j in range(pair.m)]
    matched = Matched(targets, np.stack([count for count, _ in found]), np.stack([true for _, true in found]))
    per_release = tuple(_figures(matched, j) for j in range(pair.m))
    notes = _notes(pair, by)
    means = mean_figures(per_release, notes)
    if math.isnan(means["false_match_rate"]):
        notes["false_match_rate"] = NO_UNIQUE_MATCH
    return MatchingRisk(
        pair, per_release, by.in_words, notes, matched=matched, n=len(targets), prefix=prefix, **means
    )


def _match(
    pair: Pair, by: MatchBy, j: int, targets: NDArray[np.int64], options: tuple[float, str, str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Matches of each target in one release, and whether the right row is one."""
    tol, bounds, around = options
    categories, intervals = [], []
    for name in by.equal:
        codes = pair.codes(name).codes
        categories.append(Category(codes[0][targets], codes[j + 1], by.rules[name] == "wildcard"))
    for name, (width, relative) in by.widths.items():
        values = pair.numbers(name)
        intervals.append(
            Interval(
                values[0][targets], values[j + 1], width, relative, tol, bounds == "closed",
                around == "original", by.rules[name] == "wildcard",
            )
        )  # fmt: skip
    known = None
    if "wildcard" not in by.rules.values():
        groups = pair.groups(by.equal)
        known = (groups.of_row[0][targets], groups.of_row[j + 1], groups.n_groups)
    return match(categories, intervals, targets, known)


def _figures(matched: Matched, j: int) -> dict[str, float]:
    n = len(matched.rows)
    expected, unique = float(matched.risk[j].sum()), int((matched.count[j] == 1).sum())
    return {
        "expected_match_risk": expected,
        "mean_match_risk": expected / n,
        "true_match_rate": int(matched.unique_true[j].sum()) / n,
        "false_match_rate": int(matched.unique_false[j].sum()) / unique if unique else math.nan,
        "unique_matches": float(unique),
    }


def _refuse_missing(pair: Pair, by: MatchBy) -> None:
    """Keep the promise of missing='error'."""
    for name, rule in by.rules.items():
        if rule != "error":
            continue
        gaps = (
            [np.isnan(values) for values in pair.numbers(name)]
            if name in by.widths
            else [codes == 0 for codes in pair.codes(name).codes]
        )
        for label, gap in zip(pair.names, gaps, strict=True):
            if gap.any():
                words = f"{label}: {name!r} is missing in {int(gap.sum())} records, and missing='error'"
                raise DataError(f"{words}; complete it or choose 'category' or 'wildcard'")


def _notes(pair: Pair, by: MatchBy) -> dict[str, str]:
    """Say where a release is the original."""
    same = np.array(pair.identical(by.equal) if by.equal else [True] * pair.m)
    for name in by.widths:
        first, *others = pair.numbers(name)
        same &= [np.array_equal(first, other, equal_nan=True) for other in others]
    return values_note(int(same.sum()), pair.m, "values, row by row, in the variables matched")
