"""C3: correct attribution probability, how often a record's target is read off the released records with its key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from sdckit.attribute.disclosure import target_roles
from sdckit.cells.packing import SharedGroups, group_codes, group_files
from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.parted_pair import PartedPair, open_or_part
from sdckit.cells.record_result import IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import AnyInts, Bools, Floats, Ints, Values
from sdckit.numerics.grouping import sum_of_equal
from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes
from sdckit.result import FileFigure

# For each record the number of released records nearest in the keys, and of those with its target.
# Never a comparison of all records with all: rows that agree on a key are found by grouping, rows that
# differ in r keys by grouping with each choice of r keys left out, numbers by a sorted search inside the
# group.


@dataclass(frozen=True, eq=False)
class Side:
    """Records of one file, as the search takes them.

    Attributes
    ----------
    keys : tuple of ndarray
        Codes of each key.
    target : ndarray
        Code of the categories of the target together, and of what is missing in its numbers.
    low, high : ndarray, float64, shape (d, n)
        Interval of each number of the target; with `low` equal to `high` where a record is searched in.
    """

    keys: tuple[AnyInts, ...]
    target: AnyInts
    low: Floats
    high: Floats

    @property
    def n(self) -> int:
        """Records."""
        return len(self.target)

    def take(self, rows: Ints) -> Side:
        """Some of the records."""
        ends = (np.take(bounds, rows, axis=1) for bounds in (self.low, self.high))
        return Side(tuple(codes[rows] for codes in self.keys), self.target[rows], *ends)


def count_matches(left: Side, right: Side, columns: Sequence[int]) -> tuple[Ints, Ints]:
    """For each record of `left`, the records of `right` that agree on some keys, and those with its target, too."""
    keys = [np.concatenate([left.keys[j], right.keys[j]]) for j in columns]
    groups = group_codes(keys, left.n + right.n)
    mine, theirs = groups.of_row[: left.n], groups.of_row[left.n :]
    size = np.bincount(theirs, minlength=len(groups.size))[mine]
    cells = group_codes([groups.of_row, np.concatenate([left.target, right.target])], left.n + right.n)
    mine, theirs = cells.of_row[: left.n], cells.of_row[left.n :]
    k = len(cells.size)
    if len(left.low) == 0:
        return np.bincount(theirs, minlength=k)[mine], size
    # a record searched for is a point: its interval has length 0
    points = zip(right.low, left.low, left.high, strict=True)
    boxes = [Dimension(value, value, value, low, high) for value, low, high in points]
    return count_in_boxes(boxes, theirs, mine, k), size


def nearest_matches(left: Side, right: Side, radius: int) -> tuple[Ints, Ints]:
    """The same for the records of `right` that differ in the fewest keys, at most `radius`.

    Where no record differs in fewer keys, those that agree outside a choice of r keys differ in all r of
    them, so no record is counted for two choices.
    """
    k = len(left.keys)
    hits, size = count_matches(left, right, range(k))
    for left_out in range(1, radius + 1):
        rows = np.flatnonzero(size == 0)
        if len(rows) == 0:
            break
        waiting = left.take(rows)
        for kept in combinations(range(k), k - left_out):
            more_hits, more = count_matches(waiting, right, kept)
            hits[rows] += more_hits
            size[rows] += more
    return hits, size


# Checked options of the correct attribution probability, and the files in the form the search takes.


@dataclass(frozen=True)
class Width:
    """Half-width of the interval around a true value within which a number counts as hit."""

    half: float
    relative: bool
    tol: float

    def around(self, values: Floats) -> tuple[Floats, Floats]:
        """Lower and upper bound, both included.

        Examples
        --------
        >>> [end.tolist() for end in Width(0.5, True, 0.0).around(np.array([-2.0, 0.0, 2.0]))]
        [[-3.0, 0.0, 1.0], [-1.0, 0.0, 3.0]]
        """
        half = self.half * np.abs(values) if self.relative else self.half
        return values - half - self.tol, values + half + self.tol


def widths_by_name(
    width: float | Mapping[str, float] | None, relative: bool | Mapping[str, bool], tol: float, target: Sequence[str]
) -> dict[str, Width]:
    """Width of each numeric target; other targets are categories."""
    if width is not None and not isinstance(width, Mapping):
        if len(target) > 1:
            words = "width is for one number; with several targets give width={name: width}"
            raise ColumnError(words, argument="width")
        width = {target[0]: width}
    given = dict(width or {})
    if unknown := [name for name in given if name not in target]:
        raise ColumnError(f"width: {unknown[0]!r} is not a target", argument="width")
    says = "is how far a value may be off (0.1: within 10 % of the true value where relative=True)"
    given = {name: arguments.amount(number, "width", says) for name, number in given.items()}
    tol = arguments.amount(tol, "tol", "is what rounding may add to a width")
    if isinstance(relative, Mapping) and (unknown := [name for name in relative if name not in given]):
        raise ColumnError(f"relative: {unknown[0]!r} has no width", argument="relative")
    if not isinstance(relative, Mapping):
        relative = dict.fromkeys(given, arguments.flag(relative, "relative"))
    kinds = {name: arguments.flag(flag, "relative") for name, flag in relative.items()}
    return {name: Width(half_width, kinds.get(name, True), tol) for name, half_width in given.items()}


def target_groups(pair: Pair, target: Sequence[str], widths: Mapping[str, Width]) -> SharedGroups:
    """Group the files by the categorical targets and by which numeric targets are missing."""
    columns = [pair.codes(name).codes for name in target if name not in widths]
    columns += [
        tuple(np.isnan(values).astype(np.int32) for values in pair.numbers(name, "numeric target")) for name in widths
    ]
    return group_files(columns)


def sides(
    pair: Pair, keys: Sequence[str], targets: SharedGroups, widths: Mapping[str, Width]
) -> tuple[Side, tuple[Side, ...]]:
    """The original with an interval around each number, and every file, the original first, with its numbers."""
    codes = list(zip(*(pair.codes(name).codes for name in keys), strict=True))
    n = (pair.n, *pair.sizes)
    # missing numbers are told apart by their group; 0 stands in for them on both sides
    numbers = [[np.nan_to_num(number) for number in pair.numbers(name, "numeric target")] for name in widths]
    ends = [width.around(values[0]) for width, values in zip(widths.values(), numbers, strict=True)]
    low, high = (np.array([end[side] for end in ends]).reshape(len(widths), n[0]) for side in (0, 1))
    files = []
    for file, rows in enumerate(n):
        values = np.array([number[file] for number in numbers]).reshape(len(widths), rows)
        files.append(Side(codes[file], targets.of_row[file], values, values))
    return Side(codes[0], targets.of_row[0], low, high), tuple(files)


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Targeted:
    """TCAP of a release, and which original records are in a class that an intruder would target.

    Of each original record: its chance of a right guess in `right`, and in `chosen` whether it is in such a class.
    """

    rate: float
    n: int
    right: Floats
    chosen: Bools


def targeted(table: target_roles.KeyTarget, file: int, tau: float) -> Targeted:
    """Find the classes of a release with a dominant target level, and how often that level is right.

    Where several levels are the most frequent one of a class, the guess is drawn among them.
    """
    count, size = table.count[file], table.key_size[file]
    most = np.zeros(len(size), np.int64)
    np.maximum.at(most, table.key, count)
    chosen = (size > 0) & (most >= tau * size * (1 - 1e-12))
    guessed = (count == most[table.key]) & chosen[table.key]
    ties = np.bincount(table.key[guessed], minlength=len(size))
    n_targeted = int(table.key_size[0][chosen].sum())
    right = float(np.sum(table.count[0][guessed] / ties[table.key[guessed]]))
    chance = np.where(guessed, 1 / np.maximum(ties[table.key], 1), 0.0)
    rows, rate = table.of_row[0], right / n_targeted if n_targeted else math.nan
    return Targeted(rate, n_targeted, chance[rows], chosen[table.key][rows])


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class CorrectAttributionProbability(target_roles.BeforeAfter):
    """Chance that a guess drawn from the released records with a record's key is right.

    Attributes
    ----------
    n : int
        Records of the original.
    n_released : float
        Records of a release; this and all that follow are means over the releases.
    average : float
        Mean over all records, 0 for those whose key the release does not have.
    average_matched : float
        Mean over the records whose key it has; NaN where there is none.
    matched : float
        Their share of all records.
    original_average : float
        The same guess drawn from the original itself: a reference, not a ceiling.
    baseline : float
        A guess drawn from the target's distribution in the original, without any key.
    differential : float
        ``average - baseline``: what the release adds for an intruder who knows the keys.
    tcap : float
        Of the original records in a class where one target level has a share of `tau` or more in the
        release, the share for whom it is the true one; NaN where there is no such class.
    n_targeted : float
        Their number, the denominator of `tcap`.
    records : frame
        ``cap``, ``cap_original``, and ``matched`` (a share of the releases).
    """

    measure: ClassVar[str] = "correct_attribution_probability"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_released", "average", "average_matched", "matched", "original_average", "baseline", "differential",
        "tcap", "n_targeted",
    )  # fmt: skip
    target: tuple[str, ...] = ()
    n_released: float = math.nan
    average: float = math.nan
    average_matched: float = math.nan
    matched: float = math.nan
    original_average: float = math.nan
    baseline: float = math.nan
    differential: float = math.nan
    tcap: float = math.nan
    n_targeted: float = math.nan
    tau: float = 1.0

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        figures = [
            FileFigure("average", "cap"),
            FileFigure("average_matched", "cap", among="matched", of="records whose key the release has", base=""),
            FileFigure("matched", "matched", higher="reference"),
            FileFigure("original_average", "cap_original", higher="reference"),
            FileFigure("baseline", "baseline", higher="reference"),
            FileFigure("differential", "differential"),
        ]
        if not math.isnan(self.n_targeted):  # undefined for a numeric target
            figures += [
                FileFigure("tcap", "right", among="targeted", of="records in targeted classes", base="n_targeted"),
                FileFigure("n_targeted", "targeted", "sum"),
            ]
        return tuple(figures)

    def sides(self) -> tuple[Floats, Floats]:
        """The value of each record with the original, and with the release (mean over the releases)."""
        values = dict(self.columns.items())  # raises on a pickled result, which holds a placeholder here
        return self.pair.by_record(values["cap_original"]), self.pair.by_record(values["cap"])

    def cap_histogram(self, edges: Sequence[float]) -> tuple[Ints, Ints]:
        """Count the records by their value with the original, and with the release.

        Parameters
        ----------
        edges : sequence of float
            Ascending, from 0 to 1; bins ``[a, b)``, the last one closed.

        Returns
        -------
        original, released : ndarray, int64
            Records per bin; each sums to `n`.

        Raises
        ------
        DataError
            The edges do not ascend from 0 to 1.
        """
        limits = np.asarray(edges, np.float64)
        ascending = limits.ndim == 1 and len(limits) > 1 and bool(np.all(np.diff(limits) > 0))
        if not ascending or limits[0] != 0 or limits[-1] != 1:
            raise DataError("edges are ascending numbers, the first 0 and the last 1")
        columns = dict(self.columns.items())  # raises on a pickled result, which holds a placeholder here
        times = None if self.pair.times is None else self.pair.times[0]
        clipped = (np.clip(columns[name], 0, 1) for name in ("cap_original", "cap"))
        counts = (np.histogram(values, limits, weights=times)[0].astype(np.int64) for values in clipped)
        return tuple(counts)  # type: ignore[return-value]


# --- measure ------------------------------------------------------------------------------------------


def correct_attribution_probability(
    original: Any,
    released: Any = None,
    *,
    keys: Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    width: float | Mapping[str, float] | None = None,
    relative: bool | Mapping[str, bool] = True,
    tol: float = 1e-9,
    radius: int = 0,
    tau: float = 1.0,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> CorrectAttributionProbability:
    """Measure how often a guess from the released records with the same keys hits the true target.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ from the original's.
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    target : str or sequence of str
        Variable that they would learn; several are learnt together, all of them or nothing.
    width : float or dict of str to float, optional
        Makes a target a number: a guess is right within this distance of the true value, ends included.
        Without it a target is right when it is equal.
    relative : bool or dict of str to bool
        Whether a width is a share of the true value (0.1: 10 % of it) or in the target's own unit.
    tol : float
        What rounding may add to a width.
    radius : int
        Keys in which a released record may differ where none has all of them: the records that differ in
        the fewest are taken, 0 to the number of keys.
    tau : float
        Share of one target level in a released class from which `tcap` counts it, above 0, up to 1.
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
        Gives the keys, and the target where it has one sensitive variable.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    CorrectAttributionProbability
        ``average``, ``average_matched``, ``original_average``, ``baseline``, ``differential``, ``tcap``,
        ``n_targeted``, ``records``.

    Raises
    ------
    ColumnError
        A column that a file does not have or of types that do not compare; a target among the keys; a width
        for a variable that is no target.
    DataError
        No release, a file without records, a numeric target without any number; an option out of range.
    ScenarioError
        No keys or no target.

    Notes
    -----
    A value near 1 is no disclosure where the target is nearly constant: read `average` beside `baseline`. The
    TCAP is that of Taub and Elliot: its denominator are the original records in targeted classes, not all
    records whose key is released (`attribute_disclosure` has both). A numeric target has no TCAP.

    References
    ----------
    Elliot, M. (2014). Final report on the disclosure risk associated with the synthetic data produced by the
    SYLLS team. Taub, J., Elliot, M., Pampaka, M. and Smith, D. (2018). Differential correct attribution
    probability for synthetic data. Privacy in Statistical Databases. Taub, J. and Elliot, M. (2019). The synthetic
    data challenge. Baillargeon, M. and Charest, A.-S. (2020). A closer look at the CAP risk measure.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "yes", "no", "yes"]})
    >>> release = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "no", "no", "no"]})
    >>> result = correct_attribution_probability(survey, release, keys=["sex"], target="ill")
    >>> result.average, result.baseline, result.differential, result.records["cap"].to_list()
    (0.5, 0.625, -0.125, [0.5, 0.5, 1.0, 0.0])
    """
    names, learnt = target_roles.known_and_learnt(keys, target, scenario, several=True)
    widths = widths_by_name(width, relative, tol, learnt)
    says = "is the number of keys in which a record may differ"
    distance = arguments.count(radius, "radius", says, at_least=0, at_most=len(names))
    says = "is the share of one target level from which a class is targeted"
    share = arguments.share_above(tau, "tau", says)
    categories = {"keys": names, "target": [name for name in learnt if name not in widths]}
    broken = breakdown(original, by, CorrectAttributionProbability, interval, seed, scenario, prefix)
    if widths or distance:
        numeric = {"numeric target": list(widths)}
        pair = open_pair(original, released, categories=categories, numeric=numeric, also=broken.also, id=id)
    else:
        pair = open_or_part(original, released, categories=categories, also=broken.also, id=id, records=broken.drawn)
    told: Columns | Callable[[Any], Columns] | None
    if isinstance(pair, PartedPair):
        pair, attribution, per_release, columns, told = _of_parts(pair, names, learnt, share)
    else:
        if widths:
            attribution = _numeric(pair, names, learnt, widths, distance)
        else:
            attribution = _categorical(pair, names, learnt, distance, share)
        per_release = [_figures(attribution, j, pair) for j in range(pair.m)]
        caps = [target_roles.shares(*counts) for counts in attribution.released]
        columns = {
            "cap": np.mean(caps, axis=0),
            "cap_original": attribution.original,
            "matched": np.mean([size > 0 for _, size in attribution.released], axis=0),
        }
        told = _by_release(attribution, caps) if broken.wanted else None
    notes = _notes(pair, (*names, *learnt), attribution, per_release, share)
    result = CorrectAttributionProbability.of(
        pair, per_release, target_roles.MISSING_RULE, notes, target=learnt, tau=share, columns=columns, prefix=prefix
    )
    return broken.of(result, told)


cap = correct_attribution_probability


Columns = dict[str, Values]


@dataclass(frozen=True, eq=False)
class _Attribution:
    """Per original record: its share in the original, that of a blind guess; per release: hits, matches and guess."""

    original: Floats
    released: list[tuple[Ints, Ints]]
    baseline: float
    blind: Floats
    targeted: list[Targeted]


def _by_release(attribution: _Attribution, caps: Sequence[Floats]) -> Columns:
    """The values of each record, release by release."""
    by_release = {
        "cap": np.stack(caps), "cap_original": attribution.original, "baseline": attribution.blind,
        "matched": np.stack([size > 0 for _, size in attribution.released]),
        "differential": np.stack(caps) - attribution.blind,
    }  # fmt: skip
    if attribution.targeted:
        by_release["right"] = np.stack([classes.right for classes in attribution.targeted])
        by_release["targeted"] = np.stack([classes.chosen for classes in attribution.targeted])
    return by_release


def _categorical(pair: Pair, keys: Sequence[str], target: Sequence[str], radius: int, tau: float) -> _Attribution:
    groups, targets = pair.groups(keys), _levels(pair, target)
    if len(target) == 1:
        table = target_roles.key_and_target(pair, keys, pair.codes(target[0]), groups)
    else:
        table = target_roles.key_target(groups, targets.of_row)
    rows = table.of_row[0]
    files = range(1, pair.m + 1)
    released = [(table.count[j][rows], table.key_size[j][groups.of_row[0]]) for j in files]
    if radius and any((size == 0).any() for _, size in released):
        mine, (_, *others) = sides(pair, keys, targets, {})
        released = [nearest_matches(mine, other, radius) for other in others]
    margin = targets.size[0] / pair.n
    return _Attribution(
        table.share(0)[rows], released, float(margin @ margin), margin[targets.of_row[0]],
        [targeted(table, j, tau) for j in files],
    )  # fmt: skip


def _of_parts(
    pair: PartedPair, keys: Sequence[str], target: Sequence[str], tau: float
) -> tuple[Pair, _Attribution, list[dict[str, float]], Columns, Callable[[Any], Columns]]:
    """The same of cells in parts: their sums, and the values of the cells in files, with the pair that counts them.

    And a function that tells the values of the cells of a part, release by release.
    """
    releases = range(pair.m)
    aside = pair.aside({"cap": float, "cap_original": float, "matched": float, "times": np.int64})
    sums: list[dict[str, Any]] = [dict.fromkeys(("cap", "original", "matched", "targeted"), 0) for _ in releases]
    margins, right = [], np.zeros(pair.m)
    for part in pair.parts():
        own, times = _categorical(part, keys, target, 0, tau), part.by_file(0)
        if len(target) > 1:
            margins.append(sum_of_equal(part.words(target, 0), times))
        caps = [target_roles.shares(*counts) for counts in own.released]
        matched = [size > 0 for _, size in own.released]
        for j, of_release in enumerate(sums):
            found = int(matched[j] @ times)
            classes = own.targeted[j]
            right[j] += classes.rate * classes.n if classes.n else 0.0
            more = {"cap": caps[j] @ times, "original": own.original @ times, "matched": found, "targeted": classes.n}
            for name, value in more.items():
                of_release[name] += value
        aside.add({
            "cap": np.mean(caps, axis=0), "cap_original": own.original, "matched": np.mean(matched, axis=0),
            "times": times,
        })  # fmt: skip
    if margins:
        words, records = sum_of_equal(*map(np.concatenate, zip(*margins, strict=True)))
        margin = records / pair.n
    else:
        margin = pair.codes(target[0]).counts[0] / pair.n
    baseline = float(margin @ margin)
    empty = np.empty(0)
    targets = [
        Targeted(right[j] / of_release["targeted"] if of_release["targeted"] else math.nan, int(of_release["targeted"]),
                 empty, empty.astype(bool))
        for j, of_release in enumerate(sums)
    ]  # fmt: skip
    figures = [
        _of_means(
            pair.sizes[j],
            of_release["cap"] / pair.n,
            of_release["cap"] / of_release["matched"] if of_release["matched"] else math.nan,
            of_release["matched"] / pair.n,
            of_release["original"] / pair.n,
            baseline,
            targets[j],
        )
        for j, of_release in enumerate(sums)
    ]
    columns = aside.columns()
    counted = replace(pair, times=(columns.pop("times"),))

    def told(part: Any) -> Columns:
        own = _categorical(part, keys, target, 0, tau)
        levels = np.searchsorted(words, part.words(target, 0)) if margins else part.codes(target[0]).codes[0]
        caps = [target_roles.shares(*counts) for counts in own.released]
        return _by_release(replace(own, blind=margin[levels]), caps)

    return counted, _Attribution(empty, [], baseline, empty, targets), figures, columns, told


def _levels(pair: Pair, target: Sequence[str]) -> SharedGroups:
    """The levels of a target, or of several columns together."""
    if len(target) > 1:
        return pair.groups(target)
    coding = pair.codes(target[0])
    return SharedGroups(coding.codes, tuple(coding.counts), coding.times)


def _numeric(
    pair: Pair, keys: Sequence[str], target: Sequence[str], widths: Mapping[str, Width], radius: int
) -> _Attribution:
    mine, (itself, *others) = sides(pair, keys, target_groups(pair, target, widths), widths)
    released = [nearest_matches(mine, other, radius) for other in others]
    original = target_roles.shares(*count_matches(mine, itself, range(len(keys))))
    blind = target_roles.shares(*count_matches(mine, itself, []))
    return _Attribution(original, released, float(blind.mean()), blind, [])


def _figures(attribution: _Attribution, release: int, pair: Pair) -> dict[str, float]:
    hits, size = attribution.released[release]
    caps, is_matched = target_roles.shares(hits, size), size > 0
    return _of_means(
        pair.sizes[release], pair.mean(caps), pair.mean(caps, is_matched), pair.mean(is_matched),
        pair.mean(attribution.original), attribution.baseline,
        attribution.targeted[release] if attribution.targeted else None,
    )  # fmt: skip


def _of_means(
    n_released: int, average: float, average_matched: float, matched: float, original: float, baseline: float,
    classes: Targeted | None,
) -> dict[str, float]:  # fmt: skip
    return {
        "n_released": n_released,
        "average": average,
        "average_matched": average_matched,
        "matched": matched,
        "original_average": original,
        "baseline": baseline,
        "differential": average - baseline,
        "tcap": math.nan if classes is None else classes.rate,
        "n_targeted": math.nan if classes is None else classes.n,
    }


def _notes(
    pair: Pair, used: Sequence[str], attribution: _Attribution, per_release: Sequence[Mapping[str, float]], tau: float
) -> dict[str, str]:
    notes = target_roles.identical_note(pair, used)
    if all(math.isnan(figures["average_matched"]) for figures in per_release):
        notes["average_matched"] = "no record's key is in a release"
    if not attribution.targeted:
        notes["tcap"] = notes["n_targeted"] = (
            "a numeric target has no levels; attribute_disclosure(numeric=[...]) cuts it into classes"
        )
    elif not any(classes.n for classes in attribution.targeted):
        notes["tcap"] = f"no released class of a record has a target level with a share of {tau:g} or more"
    return notes
