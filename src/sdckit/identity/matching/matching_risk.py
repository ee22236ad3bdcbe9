"""B1: whether the rows of a synthetic or perturbed file can be matched back to the original."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells import packing, pair_result
from sdckit.cells.pair import Pair
from sdckit.cells.parted_pair import PartedPair
from sdckit.cells.plans.lazy import TooMuchError
from sdckit.cells.record_result import IntervalKind, PairRecordResult, Piece, breakdown
from sdckit.data import arguments
from sdckit.data.columns import is_number
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import DataError, sure
from sdckit.identity.matching import matching_options
from sdckit.identity.matching.count_matches import Category, Interval, match, match_in_ball
from sdckit.identity.matching.matching_options import Asked, FilesToMatch, MatchBy, MatchedVariable
from sdckit.numerics import array_types, grouping
from sdckit.numerics.outlying import deviation
from sdckit.result import FileFigure

Bounds = Literal["closed", "open"]
Around = Literal["original", "released"]

RISK_STEPS = (0.0, 0.1, 0.2, 0.5, 1.0)  # a risk is 0 or 1 over a number of matches
NOT_IN_PARTS = (
    "the cells of these files do not fit here beside each other, and are not matched in parts by what needs all at once"
)
NO_UNIQUE_MATCH = "no record has exactly one match"
EXPECTED_OTHERWISE = "expected_match_risk_otherwise"


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Matched:
    """Matching results of each target (columns) in each release (rows)."""

    rows: NDArray[np.int64]  # (targets,) position of each in the original
    count: NDArray[np.int64]  # (m, targets) released records that match it
    true: NDArray[np.bool_]  # (m, targets) whether the record made from it is among them
    alike: NDArray[np.int64]  # (m, targets) released records that match it on the known variables alone
    times: NDArray[np.int64] | None = None  # (targets,) records that each stands for; None where it is one
    group: NDArray[np.int64] | None = None  # (targets,) subgroup of each, where it is one of a part

    @property
    def n(self) -> int:
        """Records that are targets."""
        return len(self.rows) if self.times is None else int(self.times.sum())

    def records(self, hit: NDArray[Any]) -> NDArray[Any]:
        """How many targets, or the sum of what they have; of each release where `hit` has a row for each."""
        return hit.sum(axis=-1) if self.times is None else hit @ self.times

    def of(self, rows: NDArray[np.int64]) -> Matched:
        """The same where the target of each row is known: the results of single records."""
        place = np.arange(len(rows), dtype=np.int64)
        return Matched(place, self.count[:, rows], self.true[:, rows], self.alike[:, rows])

    @cached_property
    def risk(self) -> NDArray[np.float64]:
        """Probability of picking the right record among the matches."""
        return self.true / np.maximum(self.count, 1)

    @cached_property
    def chance(self) -> NDArray[np.float64]:
        """The same for a pick among all records that match on the known variables."""
        return (self.count > 0) / np.maximum(self.alike, 1)

    def above(self, threshold: float) -> NDArray[np.bool_]:
        """Targets whose risk, the mean over the releases, is above a threshold."""
        return self.risk.mean(axis=0) > threshold  # type: ignore[no-any-return]

    @cached_property
    def unique_true(self) -> NDArray[np.bool_]:
        """Whether the right record is the only match."""
        return self.true & (self.count == 1)  # type: ignore[no-any-return]

    @cached_property
    def unique_false(self) -> NDArray[np.bool_]:
        """Whether a wrong record is the only match."""
        return ~self.true & (self.count == 1)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, repr=False)
class MatchingRisk(PairRecordResult):
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
    expected_by_chance : float
        Targets expected to be matched correctly if the released rows alike in `known` had been dealt out at
        random to the people alike in it: what the synthetic values add is the difference.
    baseline : float
        The same as a share of the targets, to compare with ``mean_match_risk``.
    expected_by_guessing : float
        Targets expected to be matched correctly by someone who knows nothing of them and draws any released row.
    guess_rate : float
        The same as a share of the targets: 1 over the released rows. `baseline` is the same where nothing is `known`
        and every target has a match.
    n_high_risk : float
        Targets whose match risk in a release is above `high_risk_limit`; `per_release` has those of each.
    n_high_risk_of_mean : int
        Targets whose match risk, the mean over the releases, is above it.
    high_risk_limit : float
    variables : tuple of MatchedVariable
        How each variable was matched: ``name``, ``role``, ``kind``, ``width``, ``relative``, and ``matched`` in
        words.
    read_otherwise : tuple of MatchedVariable
        Whole numbers that nothing declares and that would be matched otherwise as categories, or as numbers, and
        numbers among a scenario's keys, without a width, by which whoever knows them exactly finds more; empty where
        nothing is open, or where it makes no difference.
    expected_match_risk_otherwise, mean_match_risk_otherwise : float
        The expected match risk with these read so, of several readings the highest; NaN where there is no other. A
        limit takes the higher of this and `mean_match_risk`.
    records : frame
        For each target ``match_risk``, ``match_count`` and ``unique_true_match_rate``, means over the
        releases, and the number of releases in which its match risk is above the limit (``n_high_risk``) and in
        which the right record is its only match (``n_true_matches``).
    records_by_release : frame
        ``row``, ``release``, ``match_count``, ``true_match``, ``unique_true_match``, ``unique_false_match``
        and ``match_risk``.
    """

    measure: ClassVar[str] = "matching_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "expected_match_risk", "mean_match_risk", "true_match_rate", "false_match_rate", "unique_matches",
        "expected_by_chance", "baseline", "expected_by_guessing", "guess_rate", "n_high_risk", "n_high_risk_of_mean",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "matched", "before")
    matched: Matched = field(kw_only=True)
    expected_match_risk: float = math.nan
    mean_match_risk: float = math.nan
    true_match_rate: float = math.nan
    false_match_rate: float = math.nan
    unique_matches: float = math.nan
    expected_by_chance: float = math.nan
    baseline: float = math.nan
    expected_by_guessing: float = math.nan
    guess_rate: float = math.nan
    n_high_risk: float = math.nan
    n_high_risk_of_mean: int = 0
    high_risk_limit: float = 0.5
    variables: tuple[MatchedVariable, ...] = ()
    expected_match_risk_otherwise: float = math.nan
    mean_match_risk_otherwise: float = math.nan
    read_otherwise: tuple[MatchedVariable, ...] = ()
    before: MatchingRisk | None = field(default=None, repr=False)

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("mean_match_risk", "risk", of="targets"), FileFigure("expected_match_risk", "risk", "sum"),
            FileFigure("true_match_rate", "unique_true", of="targets"),
            FileFigure(
                "false_match_rate", "unique_false", among="unique", of="targets with a single match",
                base="unique_matches", higher="safer",
            ),
            FileFigure("unique_matches", "unique", "sum", higher="reference"),
            FileFigure("baseline", "chance", of="targets", higher="reference"),
            FileFigure("expected_by_chance", "chance", "sum", higher="reference"),
            FileFigure("guess_rate", "guess", of="targets", higher="reference"),
            FileFigure("expected_by_guessing", "guess", "sum", higher="reference"),
            FileFigure("n_high_risk", "risk", "sum", above=self.high_risk_limit),
        )  # fmt: skip

    def told(self, column: str) -> NDArray[Any]:
        """Record-level values of a column, a row for each release."""
        matched = self.matched
        if column == "unique":
            return matched.count == 1  # type: ignore[no-any-return]
        if column == "guess":
            return np.tile(1 / np.array(self.pair.sizes, np.float64)[:, None], (1, len(matched.rows)))
        return getattr(matched, column)  # type: ignore[no-any-return]

    def told_frame(self) -> tuple[Any, NDArray[np.int64] | None]:
        """The original, and the rows of it that are targets (None: all)."""
        return self.pair.original, self._rows()

    def _told_pieces(self, pair: PartedPair) -> Iterable[Piece]:  # noqa: ARG002 - its targets were merged
        return [(self.told, sure(self.matched.group), self.matched.times)]

    def drawn_units(self, roles: Sequence[str | None]) -> tuple[Any, NDArray[np.int64], Any]:
        """The units to resample: targets, as many as each stands for."""
        times = self.matched.times
        return super().drawn_units(roles) if times is None else (self.told, times, None)

    @cached_property
    def _in_records(self) -> MatchingRisk:
        """The same with a target for each record, where an engine counted equal ones; they are brought here then."""
        if self.pair.times is None:
            return self
        here, rows = self.pair.records_here()
        return replace(self, pair=here, matched=self.matched.of(rows))

    @cached_property
    def records(self) -> Any:
        """A row per target, in the caller's frame type."""
        if self._in_records is not self:
            return self._in_records.records
        return self.pair.records(self._columns(), rows=self._rows(), prefix=self.prefix)

    @property
    def records_by_release(self) -> Any:
        """A row per target and release; ``row`` and ``release`` count from 1."""
        matched, m = self._in_records.matched, self.m
        return self.pair.table(
            {
                "row": np.tile(matched.rows + 1, m),
                "release": np.repeat(np.arange(1, m + 1), self.n),
                "match_count": matched.count.ravel(),
                "true_match": matched.true.ravel(),
                "unique_true_match": matched.unique_true.ravel(),
                "unique_false_match": matched.unique_false.ravel(),
                "match_risk": matched.risk.ravel(),
            }
        )

    def high_risk(self, threshold: float, *, values: bool = False) -> Any:
        """The targets whose match risk is above a threshold, with their ``row`` (from 1).

        Parameters
        ----------
        threshold : float
            0 to 1.
        values : bool
            Whether to show what the original holds in the variables matched, too.

        Returns
        -------
        frame
            Confidential: it points at records.

        Raises
        ------
        DataError
            `threshold` is no number from 0 to 1.
        """
        arguments.flag(values, "values")
        if self._in_records is not self:
            return self._in_records.high_risk(threshold, values=values)
        high = np.flatnonzero(self.matched.above(_limit(threshold)))
        columns = {"row": self.matched.rows + 1, **self._columns()}
        chosen = {name: column[high] for name, column in columns.items()}
        rows = self.matched.rows[high]
        shown = [variable.name for variable in self.variables] if values else []
        return self.pair.records(chosen, rows=rows, prefix=self.prefix, show=shown)

    def details(self, *, threshold: float | None = None, show_cases: bool | int = False) -> Any:
        """Every figure as a frame (``figure``, ``value``), and those of a threshold.

        Parameters
        ----------
        threshold : float, optional
            Adds ``high_risk``: the targets whose match risk is above it; with several releases that of the
            mean, and for each release ``high_risk_1``, ``high_risk_2`` and so on.
        show_cases : bool or int
            True adds a line ``high_risk_row`` for each target counted in ``high_risk``: its row in the original, from
            1. A number n adds ``riskiest_row`` and ``riskiest_match_risk`` of the n targets of the largest mean match
            risk (of those above the threshold, if one is given), the riskiest first, equal ones in the order of
            their rows. Confidential: it points at records.

        Raises
        ------
        DataError
            `threshold` is no number from 0 to 1; `show_cases` is True without one, or a number below 1.
        """
        n_cases = 0 if isinstance(show_cases, bool | np.bool_) else arguments.count(
            show_cases, "show_cases", "is True or False, or counts the riskiest targets"
        )  # fmt: skip
        if show_cases and not n_cases and threshold is None:
            says = "show_cases=True shows the targets above a threshold; give threshold=, or how many of the riskiest"
            raise DataError(says, argument="show_cases")
        flat = self._flat()
        if threshold is not None:
            counts = self.high_risk_counts(threshold)
            flat.append(("high_risk", float(self.matched.records(self.matched.above(threshold)))))
            flat += [(f"high_risk_{j}", float(count)) for j, count in enumerate(counts, 1) if self.m > 1]
        matched = self._in_records.matched if show_cases else self.matched
        if n_cases:
            risk = matched.risk.mean(axis=0)
            order = np.argsort(-risk, kind="stable")
            kept = order[risk[order] > (-1.0 if threshold is None else threshold)][:n_cases]
            for row, own in zip((matched.rows[kept] + 1).tolist(), risk[kept].tolist(), strict=True):
                flat += [("riskiest_row", float(row)), ("riskiest_match_risk", own)]
        elif show_cases and threshold is not None:
            rows = matched.rows[matched.above(threshold)] + 1
            flat += [("high_risk_row", float(row)) for row in rows]
        names, values = zip(*flat, strict=True)
        return self.pair.table({"figure": list(names), "value": list(values)})

    def high_risk_counts(self, threshold: float) -> tuple[int, ...]:
        """Count for each release the targets whose match risk in it is above a threshold, as robosynth does.

        Parameters
        ----------
        threshold : float
            0 to 1.

        Returns
        -------
        tuple of int

        Raises
        ------
        DataError
            `threshold` is no number from 0 to 1.
        """
        return tuple(int(n) for n in self.matched.records(self.matched.risk > _limit(threshold)))

    def risk_counts(self) -> tuple[int, ...]:
        """Count the targets by their match risk in the first release: 0, to 0.1, to 0.2, to 0.5, and above, which is 1.

        Returns
        -------
        tuple of int
            They sum to ``n``.
        """
        place = np.searchsorted(RISK_STEPS, self.matched.risk[0], side="left")
        return tuple(np.bincount(place, self.matched.times, len(RISK_STEPS)).astype(np.int64).tolist())

    def plot(self, *, internal: bool = False, before: MatchingRisk | None = None) -> Any:
        """Draw the targets by their match risk, protected unless `internal`: a chart can be saved and passed on.

        Parameters
        ----------
        internal : bool
            Exact counts.
        before : MatchingRisk, optional
            The same targets in an earlier release, before rows were replaced (`replace_high_risk`): drawn beside.

        Returns
        -------
        altair.Chart

        Raises
        ------
        DataError
            `before` is about another number of targets.
        """
        if before is None:
            return super().plot(internal=internal)
        if not isinstance(before, MatchingRisk) or before.n != self.n:
            words = f"before is a matching risk of the same {self.n} targets, in an earlier release"
            raise DataError(words, argument="before")
        return replace(self, before=before).plot(internal=internal)

    def summary(self) -> Any:
        """The figures as a small frame (``figure``, ``value``) of the caller's engine."""
        return self.details() if self.read_otherwise else super().summary()

    def _flat(self) -> list[tuple[str, float]]:
        flat = super()._flat()
        names = (EXPECTED_OTHERWISE, "mean_match_risk_otherwise") if self.read_otherwise else ()
        return [*flat[:3], *((name, getattr(self, name)) for name in names), *flat[3:]]

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with how each variable was matched."""
        stated = [variable.stated for variable in self.variables]
        content = {**super().to_dict(), "variables": stated, "high_risk_limit": self.high_risk_limit}
        if not self.read_otherwise:
            return content
        figures = {name: getattr(self, f"{name}_otherwise") for name in ("expected_match_risk", "mean_match_risk")}
        return {**content, "otherwise": {**figures, "variables": [one.stated for one in self.read_otherwise]}}

    def _columns(self) -> dict[str, NDArray[Any]]:
        matched = self.matched
        return {
            "match_risk": matched.risk.mean(axis=0),
            "match_count": matched.count.mean(axis=0),
            "unique_true_match_rate": matched.unique_true.mean(axis=0),
            "n_high_risk": (matched.risk > self.high_risk_limit).sum(axis=0),
            "n_true_matches": matched.unique_true.sum(axis=0),
        }

    def _rows(self) -> NDArray[np.int64] | None:
        """Rows of the targets; None where they are all records in file order."""
        rows = self.matched.rows
        return None if len(rows) == self.pair.n and bool((np.diff(rows) > 0).all()) else rows


# --- measure ------------------------------------------------------------------------------------------


def matching_risk(
    original: Any,
    released: Any = None,
    *,
    known: Sequence[str] = (),
    synthetic: Sequence[str] = (),
    numeric: Sequence[str] | None = None,
    width: float | Sequence[float] | Mapping[str, float] | None = None,
    relative: bool | Sequence[bool] | Mapping[str, bool] | None = None,
    distance: Literal["box", "euclidean"] = "box",
    tol: float | None = None,
    bounds: Bounds = "closed",
    around: Around = "original",
    missing: MissingRule | None = None,
    rows: Any = None,
    high_risk: float | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
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
    numeric : sequence of str, optional
        Those of the variables that are numbers, an empty list for none. Default: those that the scenario
        declares; where it declares none, those stored as numbers in every file that have decimals in any or more
        than twenty different values in the original, synthetic ones released with values the original does not have
        and not `ordered` in the scenario, and the only one that `width` could be meant for; always those that a dict
        `width` names.
    width : float, sequence of float or dict of str to float, optional
        How far a number may be off: one figure for every number, one for each of them in the order of `known` and
        `synthetic`, or a dict: a known number that it does not name is matched exactly. So are a scenario's keys
        that are known, unless its ``[matching.width]`` or `numeric` names them. Default: the scenario's, else 0.10.
    relative : bool, sequence of bool or dict of str to bool, optional
        Whether the width is a share of the value (the default), or in the variable's unit.
    distance : {"box", "euclidean"}
        Whether every number must lie within its own interval, or all synthetic numbers together within a radius:
        the root of the sum of squared differences, each over the standard deviation of the original's values, is
        at most `width`, then one figure; known numbers are equal. Missing numbers match missing ones,
        and the others count.
    tol : float, optional
        Slack for rounding errors at the ends of an interval: the scenario's, else 1e-9.
    bounds : {"closed", "open"}
        ``low - tol <= value <= high + tol``; or what robosynth and IdentificationRiskCalculation compute,
        ``low + tol < value < high - tol``, where relative intervals of values of 0 or less are empty.
    around : {"original", "released"}
        Which value the interval is around.
    missing : {"category", "wildcard", "error"} or dict, optional
        Whether a missing value matches a missing value only (the default) or any value.
    rows : sequence of int or of bool, optional
        The targets: row numbers of the original, from 1, or a true or false per record; default all.
    high_risk : float, optional
        Match risk above which a target is counted in ``n_high_risk``: the scenario's, else 0.5, more likely
        right than wrong.
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
        Gives the variables where neither `known` nor `synthetic` does: its keys. Its table ``[matching]`` says
        which are known and which synthetic; of those in neither, what every release left as it was is known.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    MatchingRisk
        ``expected_match_risk``, ``true_match_rate``, ``false_match_rate``, ``unique_matches``, ``baseline``,
        ``expected_match_risk_otherwise`` where whole numbers could as well be categories, or who knows a scenario's
        keys exactly finds more, ``variables``, ``records``,
        ``records_by_release``, ``high_risk(threshold)``, ``high_risk_counts(threshold)``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, of types that do not compare, listed twice, or known and
        synthetic.
    DataError
        Files of different lengths without `id`; a numeric variable that holds no numbers; a width or tol
        below 0; a width that no variable uses; a dict of widths without a synthetic number.
    ScenarioError
        A scenario with several intruders.

    Notes
    -----
    With c matches of a target, T = 1 where the right row is among them: the expected match risk sums T/c, the
    true match rate counts c = T = 1, the false match rate is the share of T = 0 among c = 1. Figures are
    means over m releases. All released rows are candidates, also where `rows` names a few targets.

    By chance: let b released rows match the target on `known` (all where nothing is known). Were the right one any
    of these, T = 1 would have the probability c/b, and T/c the expectation 1/b where c > 0, 0 elsewhere.

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
    >>> result = matching_risk(survey, release, known=["sex"], synthetic=["income"], width=0.1)
    >>> result.records["match_count"].to_list(), result.expected_match_risk, result.true_match_rate
    ([1.0, 1.0, 1.0], 2.0, 0.6666666666666666)
    >>> [one.matched for one in result.variables], result.expected_by_chance
    (['exactly', 'within ± 10 % of the value'], 2.0)
    """
    broken = breakdown(original, by, MatchingRisk, interval, seed, scenario, prefix)
    of_scenario = matching_options.declared_matching(scenario)
    tol = of_scenario.tol if tol is None else tol
    limit = _limit(of_scenario.high_risk if high_risk is None else high_risk, "high_risk")
    arguments.amount(tol, "tol", "is the slack at the ends of an interval")
    arguments.choice(bounds, "bounds", ("closed", "open"))
    arguments.choice(around, "around", ("original", "released"))
    asked = Asked(
        known=known, synthetic=synthetic, numeric=numeric, width=width, relative=relative, missing=missing,
        scenario=scenario, known_exact=distance == "euclidean",
    )  # fmt: skip
    arguments.choice(distance, "distance", ("box", "euclidean"))
    if distance == "euclidean":
        matching_options.refuse_with_radius(width, relative, missing)
    files = matching_options.files_to_match(
        original, released, asked, id=id, also=broken.also,
        counted=distance == "box" and rows is None and not broken.whose,
    )  # fmt: skip
    pair, how = files.pair, files.by
    matching_options.refuse_missing(pair, how)
    widths = [len(way.widths) for way in (how, *(other for other, _ in files.readings))]
    matching_options.refuse_what_does_not_fit(pair, len(how.names), max(widths))
    options = (tol, bounds, around, distance)
    if isinstance(pair, PartedPair):
        matched = _matched_in_parts(files, pair, broken.by, options)
    else:
        targets = matching_options.target_rows(rows, len(pair.original))
        matches = [_match(pair, how, how.names, j, targets, options) for j in range(pair.m)]
        alike = [_match(pair, how, how.known, j, targets, options)[0] for j in range(pair.m)]
        matched = Matched(
            targets, np.stack([count for count, _ in matches]), np.stack([true for _, true in matches]),
            np.stack(alike), None if pair.times is None else pair.times[0],
        )  # fmt: skip
    per_release = tuple(_figures(matched, j, pair.sizes[j], limit) for j in range(pair.m))
    notes = files.notes | _notes(pair, how)
    nothing: tuple[MatchBy | None, list[float]] = (None, [])
    other, expected = nothing if isinstance(pair, PartedPair) else _other_reading(files, per_release, matched, options)
    if other is not None:
        per_release = tuple(
            {**figures, EXPECTED_OTHERWISE: risk, "mean_match_risk_otherwise": risk / matched.n}
            for figures, risk in zip(per_release, expected, strict=True)
        )
    described = {"bounds": bounds, "around": around, "distance": distance}
    means = pair_result.mean_figures(per_release, notes)
    if math.isnan(means["false_match_rate"]):
        notes["false_match_rate"] = NO_UNIQUE_MATCH
    result = MatchingRisk(
        pair, per_release, how.in_words, notes, matched=matched, n=matched.n, prefix=prefix,
        n_high_risk_of_mean=int(matched.records(matched.above(limit))), high_risk_limit=limit,
        variables=matching_options.matched_variables(how, **described),
        read_otherwise=tuple(
            variable for variable in matching_options.matched_variables(other or how, **described)
            if (variable.name in how.widths) != (variable.name in (other or how).widths)
        ), **means,  # type: ignore[arg-type]
    )  # fmt: skip
    return broken.of(result)


def _limit(threshold: Any, argument: str = "threshold") -> float:
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise DataError(f"{argument} is a match risk; give a number from 0 to 1", argument=argument)
    return float(threshold)


def _match(
    pair: Pair, by: MatchBy, names: Sequence[str], j: int, targets: NDArray[np.int64],
    options: tuple[float, str, str, str],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:  # fmt: skip
    """Matches of each target in one release by some variables, and whether the right row is one."""
    equal = [name for name in by.equal if name in names]
    tol, bounds, around, distance = options
    categories, intervals = [], []
    for name in equal:
        codes = pair.codes(name).codes
        categories.append(Category(codes[0][targets], codes[j + 1], by.rules[name] == "wildcard"))
    for name, (width, relative) in by.widths.items():
        if name not in names:
            continue
        values = pair.numbers(name)
        intervals.append(
            Interval(
                values[0][targets], values[j + 1], width, relative, tol, bounds == "closed",
                around == "original", by.rules[name] == "wildcard",
            )
        )  # fmt: skip
    known = None
    if "wildcard" not in by.rules.values():
        groups = pair.groups(equal)
        known = (groups.of_row[0][targets], groups.of_row[j + 1], groups.n_groups)
    if intervals and distance == "euclidean":
        spreads = [_spread(pair.numbers(name)[0]) for name in by.widths if name in names]
        return match_in_ball(categories, intervals, spreads, targets)
    if not categories and not intervals:
        return np.full(len(targets), pair.sizes[j]), np.ones(len(targets), np.bool_)
    return match(categories, intervals, targets, known, None if pair.times is None else pair.times[j + 1])


def _matched_in_parts(
    files: FilesToMatch, pair: PartedPair, by: Sequence[str], options: tuple[float, str, str, str]
) -> Matched:
    """The matches of cells in parts by equal values, one target for all that are alike in them and in their subgroup.

    Raises TooMuchError: numbers within intervals, or missing values that match any, which need all cells at once.
    """
    how = files.by
    if how.widths or "wildcard" in how.rules.values():
        raise TooMuchError(f"{NOT_IN_PARTS}: numbers within intervals, or missing values that match any")
    if any(_reads_differently(pair, how, other, options) for other, _ in files.readings):
        raise TooMuchError(f"{NOT_IN_PARTS}: numbers that may as well be categories; numeric=[...] says which they are")
    known = [_released_by(pair, how.known, j) for j in range(1, pair.m + 1)]
    found: list[tuple[NDArray[Any], array_types.Ints]] = []
    for part in pair.parts():
        groups, rows = part.groups(how.names), part.groups(how.names).of_row[0]
        counts = [size[rows] for size in groups.size[1:]]
        words = part.words(how.known, 0)
        alike = [_looked_up(words, *of_release) for of_release in known]
        group = [part.subgroup(by)] if by else []
        kept = part.kept(how.names).astype(np.int64)
        found.append(_merged(np.stack([*counts, *kept, *alike, *group]), part.by_file(0)))
    values, times = _merged(*map(np.hstack, zip(*found, strict=True)))
    m = pair.m
    true = values[m : 2 * m].astype(np.bool_)
    return Matched(np.arange(len(times)), values[:m], true, values[2 * m : 3 * m], times, values[3 * m] if by else None)


def _released_by(pair: PartedPair, known: Sequence[str], file: int) -> tuple[array_types.Ints, array_types.Ints]:
    """Combinations of the known variables in a release, ascending, and the records of each."""
    found = [grouping.sum_of_equal(part.words(known, file), part.by_file(file)) for part in pair.parts()]
    words, records = grouping.sum_of_equal(*map(np.concatenate, zip(*found, strict=True)))
    return words, records.astype(np.int64)


def _looked_up(words: array_types.Ints, known: array_types.Ints, records: array_types.Ints) -> array_types.Ints:
    at = np.minimum(np.searchsorted(known, words), len(known) - 1)
    return np.where(known[at] == words, records[at], 0)


def _merged(values: array_types.Ints, times: array_types.Ints) -> tuple[array_types.Ints, array_types.Ints]:
    """Rows (the second axis) that are alike in all values as one, with their records together."""
    groups = packing.group_codes(list(values), values.shape[1])
    k = len(groups.size)
    return values[:, grouping.first_of_groups(groups.of_row, k)], np.bincount(groups.of_row, times, k).astype(np.int64)


def _other_reading(
    files: FilesToMatch, per_release: Sequence[Mapping[str, float]], matched: Matched,
    options: tuple[float, str, str, str],
) -> tuple[MatchBy | None, list[float]]:  # fmt: skip
    """The other reading with the highest expected match risk, and that of each release; None if all say the same."""
    pair, here = files.pair, [figures["expected_match_risk"] for figures in per_release]
    readings: list[tuple[MatchBy | None, list[float]]] = []
    differing = [reading for reading in files.readings if _reads_differently(pair, files.by, reading[0], options)]
    for other, riskier in differing:
        if riskier and _most_by_equality(pair, files.by, other, matched) <= max(here):
            continue
        matches = [_match(pair, other, other.names, j, matched.rows, options) for j in range(pair.m)]
        expected = [float(matched.records(true / np.maximum(count, 1))) for count, true in matches]
        if max(expected) > max(here) or (expected != here and not riskier):
            readings.append((other, expected))
    return max(readings, key=lambda reading: max(reading[1]), default=(None, here))


def _most_by_equality(pair: Pair, by: MatchBy, other: MatchBy, matched: Matched) -> float:
    """The most records that may be found where numbers are to be equal: those whose numbers stayed, or are missing."""
    kept = np.ones((pair.m, len(matched.rows)), np.bool_)
    for name in by.widths.keys() - other.widths.keys():
        original, *releases = (values[matched.rows] for values in pair.numbers(name))
        kept &= [(released == original) | np.isnan(original + released) for released in releases]
    return max(float(matched.records(of_release)) for of_release in kept)


def _reads_differently(pair: Pair, by: MatchBy, other: MatchBy, options: tuple[float, str, str, str]) -> bool:
    """Whether an interval of one reading holds another value than the equal one that the other reading asks for."""
    tol, bounds, around, distance = options
    widths = by.widths | other.widths
    apart: set[str] = set() if distance == "euclidean" else set(by.widths) ^ set(other.widths)
    for name in apart:
        original, *releases = (np.unique(values[~np.isnan(values)]) for values in pair.numbers(name))
        for released in releases:
            centre, values = (original, released) if around == "original" else (released, original)
            interval = Interval(centre, values, *widths[name], tol, bounds == "closed", True, False)
            low, high = interval.bounds(centre)
            within = np.searchsorted(values, high, side="right") - np.searchsorted(values, low, side="left")
            if (within != np.isin(centre, values)).any():
                return True
    return distance == "euclidean"


def _spread(values: NDArray[np.float64]) -> float:
    """The standard deviation of the values present."""
    known = values[~np.isnan(values)]
    return float(deviation(known)) if len(known) > 1 else 0.0


def _figures(matched: Matched, j: int, n_released: int, limit: float) -> dict[str, float]:
    n, records = matched.n, matched.records
    expected, unique = float(records(matched.risk[j])), int(records(matched.count[j] == 1))
    chance = float(records(matched.chance[j]))
    return {
        "expected_match_risk": expected,
        "mean_match_risk": expected / n,
        "true_match_rate": int(records(matched.unique_true[j])) / n,
        "false_match_rate": int(records(matched.unique_false[j])) / unique if unique else math.nan,
        "unique_matches": float(unique),
        "expected_by_chance": chance,
        "baseline": chance / n,
        "expected_by_guessing": n / n_released,
        "guess_rate": 1 / n_released,
        "n_high_risk": float(records(matched.risk[j] > limit)),
    }


def _notes(pair: Pair, by: MatchBy) -> dict[str, str]:
    """Say where a release is the original."""
    same = np.array(pair.identical(by.equal) if by.equal else [True] * pair.m)
    for name in by.widths:
        first, *others = pair.numbers(name)
        same &= [np.array_equal(first, other, equal_nan=True) for other in others]
    return same_note(int(same.sum()), pair.m, "values, row by row, in the variables matched")
