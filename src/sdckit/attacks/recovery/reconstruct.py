"""Reconstruction of changed values: all rules in turn, repeated until no further value is determined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery import derived_columns, group_agreement, indicators, reconstruction_rules
from sdckit.attacks.recovery.derived_columns import Household, Made, Predictor
from sdckit.attacks.recovery.group_figures import by_group_figures, by_group_rates, group_figures, rate_groups
from sdckit.attacks.recovery.reconstruction_rules import FEW_PARTS, Reconstruction, Source
from sdckit.attacks.recovery.touched_cells import SUPPRESSED, ChangedColumn, ReleasedColumn, apart, in_frame, of_levels
from sdckit.cells import as_cells, table
from sdckit.data.frames import open_frame
from sdckit.data.replace import take_rows, with_levels, with_some_numbers
from sdckit.data.scenarios.roles import Roles
from sdckit.errors import sure
from sdckit.numerics import grouping, risk_kernel
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.intervals import wilson

# Number of feasible values for a changed value that no rule determines.


EXPECTED = 15.0  # expected records from which on an absent value is ruled out for a value of a predictor
MOST_LEVELS = 500
SUPPORT_OF_RANGE = 50  # records with one value of a predictor needed to bound a suppressed number


def remaining_values(state: Reconstruction, predictors: Sequence[Predictor]) -> tuple[Floats, Floats]:
    """Number of feasible values of each `open` record before and after the attack; NaN where it cannot be counted."""
    numbers, rows = state.numbers, np.flatnonzero(state.open)
    if numbers is None or state.target.bounds is None:  # the release has named groups instead of numbers
        return _levels_left(state, rows, predictors)
    values = np.unique(numbers[~np.isnan(numbers)])

    def ends(*bounds: Floats | None) -> list[Floats]:
        return [own[rows] for own in bounds if own is not None]

    low, high = ends(state.target.low, state.target.high)
    before = _count(state, values, low, high)
    if state.narrower is not None:
        low, high = ends(state.low, state.high)
    blank = state.target.column.missing[rows]
    if blank.any():
        least, most = _ranges_beside(state, numbers, rows[blank], predictors)
        low[blank], high[blank] = np.fmax(low[blank], least), np.fmin(high[blank], most)
    return before, _count(state, values, low, high)


def _count(state: Reconstruction, values: Floats, low: Floats, high: Floats) -> Floats:
    """Count the integers in bounded ranges, otherwise the distinct known `values` in them."""
    counts = np.full(len(low), np.nan)
    bounded = np.isfinite(low) & np.isfinite(high)
    if state.target.column.whole:
        counts[bounded] = np.maximum(np.floor(high[bounded] + 1e-9) - np.ceil(low[bounded] - 1e-9) + 1, 1)
    use = ~bounded if state.target.column.whole else np.ones(len(low), np.bool_)
    if len(values):
        inside = np.searchsorted(values, high[use], "right") - np.searchsorted(values, low[use], "left")
        counts[use] = np.where(inside > 0, inside, np.nan)
    return counts


def _ranges_beside(
    state: Reconstruction, numbers: Floats, rows: Ints, predictors: Sequence[Predictor]
) -> tuple[Floats, Floats]:
    """Bounds for suppressed numbers in `rows`: the range of known numbers with the same value of a predictor."""
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for predictor in predictors:
        if state.name in predictor.columns or not predictor.joins or predictor.n_levels > MOST_LEVELS:
            continue
        codes = predictor.codes.astype(np.int32, copy=False)
        least, most, seen = grouping.extremes_of(codes, numbers, predictor.n_levels + 1)
        few = seen < SUPPORT_OF_RANGE
        few[0] = True
        least[few], most[few] = -np.inf, np.inf
        at = predictor.codes[rows]
        low, high = np.fmax(low, least[at]), np.fmin(high, most[at])
    return low, high


def _levels_left(state: Reconstruction, rows: Ints, predictors: Sequence[Predictor]) -> tuple[Floats, Floats]:
    """Count the categories, less those that never occur with a predictor value although many are expected."""
    counts = np.bincount(state.known)[1:]
    levels = np.flatnonzero(counts) + 1
    before = np.full(len(rows), float(len(levels)) if len(levels) else np.nan)
    if not 1 < len(levels) <= MOST_LEVELS or not len(rows):
        return before, before
    shares = counts[levels - 1] / counts.sum()
    possible = np.ones((len(rows), len(levels)), np.bool_)
    place = grouping.places_among(levels, int(levels.max()) + 1)
    known = state.known > 0
    for predictor in predictors:
        if state.name in predictor.columns or not predictor.joins or predictor.n_levels > MOST_LEVELS:
            continue
        cell = predictor.codes[known].astype(np.int64) * len(levels) + place[state.known[known]]
        seen = np.bincount(cell, minlength=(predictor.n_levels + 1) * len(levels)).reshape(-1, len(levels))
        never = (seen == 0) & (seen.sum(axis=1, keepdims=True) * shares >= EXPECTED)
        never[0] = False
        possible &= ~never[predictor.codes[rows]]
    return before, np.maximum(possible.sum(axis=1), 1).astype(np.float64)


def recover_cells(
    targets: Mapping[str, ChangedColumn], predictors: Sequence[Predictor], times: Ints
) -> list[Recovered]:
    """Reconstruct the changed values of distinct rows that stand for `times` records by the rules that need no others.

    These are the values that go with one value of a predictor, or of two. What they determine is what is determined at
    least: neither arithmetic nor order nor households are looked at, and nothing is put in to look again.
    """
    states = [Reconstruction.of(target, times) for target in targets.values()]
    for state in states:
        reconstruction_rules.by_columns(state, predictors, rules=len(predictors))
    reconstruction_rules.by_pairs(states, predictors)
    return [_added({}, state, predictors=(), mates=None) for state in states]


# Rows of one person in the order of time: what stays the same from one to the next tells what was taken out.


@dataclass(frozen=True, eq=False)
class Waves:
    """Rows in the order of persons and time: `order` (n,), and at each place the number of the person, -1 for none."""

    order: Ints
    who: Codes
    columns: tuple[str, ...]

    @classmethod
    def of(cls, columns: Mapping[str, ReleasedColumn], person: str | None, time: str | None) -> Waves | None:
        """Those of a file; None where nobody is said to have several rows, or has them."""
        if person is None or person not in columns or columns[person].n_levels == len(columns[person].codes):
            return None
        codes, when = columns[person].codes, None if time is None else columns.get(time)
        order = np.lexsort((np.arange(len(codes)) if when is None else when.in_order(-1.0), codes))
        return cls(order, codes[order] - 1, (person,) if when is None else (person, when.name))

    def neighbours(self, known: Bools) -> tuple[Ints, Ints]:
        """For each place the nearest known ones of the same person before and after it; -1 where there is none."""
        places, n = np.arange(len(known)), len(known)
        before = np.append(-1, np.maximum.accumulate(np.where(known, places, -1))[:-1])
        after = np.append(np.minimum.accumulate(np.where(known, places, n)[::-1])[::-1][1:], n)
        after[after == n] = -1
        return self._own(before), self._own(after)

    def _own(self, at: Ints) -> Ints:
        """Places of the same person; -1 for others."""
        return np.where((at >= 0) & (self.who[at] == self.who) & (self.who >= 0), at, -1)


def by_waves(state: Reconstruction, waves: Waves | None, columns: Mapping[str, ReleasedColumn]) -> None:
    """Reconstruct what waves on both sides have alike, and what lasts where another column says that it does."""
    if waves is None or state.target.perturbed or not state.open.any():
        return
    known = state.known[waves.order]
    before, after = waves.neighbours(known > 0)
    likely = np.where((before >= 0) & (after >= 0) & (known[before] == known[after]), known[before], np.int32(0))
    words = f"the waves before and after of {waves.columns[0]}"
    if _tells(state, likely, known):
        _put(state, waves, likely, waves.columns, words)
    last, following = waves.neighbours(np.ones(len(known), np.bool_))
    earlier = np.where(last >= 0, known[last], np.int32(0))
    later = np.where(following >= 0, known[following], np.int32(0))
    for name, words, at in _conditions(columns, waves.order):
        if name in (state.name, *waves.columns) or not _tells(state, np.where(at, earlier, np.int32(0)), known):
            continue
        likely = np.where(at & (earlier > 0), earlier, np.where((following >= 0) & at[following], later, np.int32(0)))
        _put(state, waves, likely, (name, *waves.columns), f"the wave before of {waves.columns[0]}, {words}")


def _conditions(columns: Mapping[str, ReleasedColumn], order: Ints) -> Iterator[tuple[str, str, Bools]]:
    """Values of a column that may say that nothing has changed: each of few, and a number above the least."""
    for name, column in columns.items():
        codes = column.codes[order]
        if column.n_levels <= FEW_PARTS:
            for code in range(1, column.n_levels + 1):
                yield name, f"by a value of {name}", codes == code
        if len(column.distinct) > 2 and (numbers := column.numbers) is not None:
            with np.errstate(invalid="ignore"):
                yield name, f"where {name} is above its least", numbers[order] > column.distinct[0]


def _tells(state: Reconstruction, likely: Codes, known: Codes) -> bool:
    """Whether the known values are told nearly without error, beyond what few records show."""
    judged = (likely > 0) & (known > 0)
    right = int(np.count_nonzero(judged & (likely == known)))
    wrong = int(np.count_nonzero(judged)) - right
    if group_agreement.judge_rule(right, wrong, state.usual_wrong) is None:
        return False
    return wilson(wrong, right + wrong, group_agreement.CONFIDENCE).high <= group_agreement.MOST_SURELY


def _put(state: Reconstruction, waves: Waves, likely: Codes, columns: tuple[str, ...], words: str) -> None:
    codes = np.zeros_like(likely)
    codes[waves.order] = likely
    state.restore_codes(codes > 0, codes, columns, words, "linked")


# All rules in turn.


Tell = Callable[[str], None]
ROUNDS = 3
FILE_ORDER = "the order of the rows"


@dataclass(frozen=True, eq=False)
class Recovered:
    """Reconstruction result of one column.

    `restored` (n,): changed values that are determined; their `codes` and `values`, 0 and NaN elsewhere. `source` (n,):
    index into `sources`, -1 for none. `before`, `after` (touched,): number of feasible values of the others, NaN where
    it cannot be counted, of the changed values in their order. `start`, `predictors`, `mates`: clues for a model, which
    take more room than all else. `right` (n,): determined values that are right, None without the original. `known`:
    what somebody is told who knows how the columns are made.
    """

    target: ChangedColumn
    restored: Bools
    codes: Codes
    values: Floats | None
    source: NDArray[np.int16]
    sources: tuple[Source, ...]
    before: Floats
    after: Floats
    start: Reconstruction | None
    predictors: Sequence[Predictor]
    mates: Household | None
    right: Bools | None = None
    known: Known | None = None

    def without_clues(self) -> Recovered:
        """The same once no model learns from it any more."""
        return replace(self, start=None, predictors=(), mates=None)

    @property
    def given(self) -> Bools:
        """Values that the release alone gives back; only right ones where the original is known."""
        return self.restored if self.right is None else self.right

    @property
    def beyond(self) -> Bools:
        """Values told rightly only to somebody who knows how the columns are made."""
        return np.zeros_like(self.restored) if self.known is None else self.known.told & ~self.given

    @property
    def narrowed(self) -> Bools:
        """Changed values that are not determined but have fewer feasible values than before."""
        fewer = np.zeros(len(self.restored), np.bool_)
        with np.errstate(invalid="ignore"):
            fewer[self.target.touched] = (self.after < self.before) | (np.isnan(self.before) & ~np.isnan(self.after))
        if self.known is not None:
            fewer = (fewer | self.known.narrowed) & ~self.known.told
        return np.asarray(self.target.touched & ~self.restored & fewer)


@dataclass(frozen=True, eq=False)
class Known:
    """What the relations of one column tell.

    `told` (n,): changed values told rightly, whether or not the release alone gives them, too: each is the original's
    value. `source` (n,): index into `sources`, -1 where nothing is told. `narrowed` (n,): changed values not told of
    which some possibilities are ruled out. `target`: the changes, if those to groups are among them.
    """

    told: Bools
    source: NDArray[np.int16]
    sources: tuple[Source, ...]
    narrowed: Bools
    target: ChangedColumn | None = None

    @classmethod
    def nothing(cls, n: int) -> Known:
        """Of n records nothing."""
        return cls(np.zeros(n, np.bool_), np.full(n, -1, np.int16), (), np.zeros(n, np.bool_))

    def beside(self, hits: Bools, source: Source) -> Known:
        """With the values that `hits` are told by a further source."""
        of = np.where(hits & (self.source < 0), np.int16(len(self.sources)), self.source)
        told, narrowed = self.told | hits, self.narrowed & ~hits
        return replace(self, told=told, source=of, sources=(*self.sources, source), narrowed=narrowed)

    def of(self, recovered: Recovered | None) -> Recovered:
        """What is recovered of the column, with what is known of it."""
        if self.target is None:
            return replace(sure(recovered), known=self)
        nothing = not_recovered(self.target)
        if recovered is None:
            return replace(nothing, known=self)
        before, after = nothing.before.copy(), nothing.after.copy()  # of what was changed to groups none is counted
        at = recovered.target.touched[self.target.touched]
        before[at], after[at] = recovered.before, recovered.after
        return replace(recovered, target=self.target, known=self, before=before, after=after)


def not_recovered(target: ChangedColumn) -> Recovered:
    """A column of which the release alone gives nothing back."""
    none, unknown = np.zeros(len(target.touched), np.bool_), np.full(np.count_nonzero(target.touched), np.nan)
    start = Reconstruction.of(target)
    return Recovered(
        target=target, restored=none, codes=start.codes, values=None, source=start.source,
        sources=(), before=unknown, after=unknown, start=start, predictors=(), mates=None,
        right=none,
    )  # fmt: skip


def recover(
    columns: Mapping[str, ReleasedColumn], touched: Mapping[str, ChangedColumn], *, household: str | None,
    pairs: bool = True, tell: Tell = lambda _: None, made: Made | None = None, person: str | None = None,
    time: str | None = None,
) -> dict[str, Recovered]:  # fmt: skip
    """Reconstruct the changed values column by column; later rounds use the values reconstructed before.

    `made`: predictors that `released_predictors` made of the columns; those of later rounds are added.
    `person`, `time`: columns that say whose row it is, and when it was.
    """
    recoveries: dict[str, Recovered] = {}
    now, left = dict(columns), dict(touched)
    renewed, n_predictors = frozenset(columns), 0
    made, n = {} if made is None else made, max((len(column.codes) for column in columns.values()), default=0)
    waves = Waves.of(columns, person, time)
    kept: dict[str, Reconstruction] = {}  # of columns that had no value put back: nothing of them is made anew
    for turn in range(ROUNDS):
        tell("reconstructing values from the release" if turn == 0 else "using reconstructed values")
        predictors, mates = _predictors(now, household, made)
        if len(predictors) != n_predictors or household in renewed:  # by which every rule is judged
            renewed, n_predictors = frozenset(columns), len(predictors)
        states = [kept.get(name) or Reconstruction.of(target) for name, target in left.items()]
        _by_rules(states, now, predictors, mates, renewed, waves)
        if pairs and turn == 0:
            reconstruction_rules.by_pairs(states, predictors, tell)
        added = apart(partial(_added, recoveries, predictors=predictors, mates=mates), states, n)
        recoveries |= {state.name: recovered for state, recovered in zip(states, added, strict=True)}
        fresh = [state for state in states if not state.target.perturbed and (~state.open & state.target.touched).any()]
        if not fresh:
            break
        for state in fresh:
            now[state.name] = _filled(now[state.name], state)
        renewed = frozenset(state.name for state in fresh)
        kept = {state.name: state for state in states if state.name not in renewed}
        for state in kept.values():
            state.narrower = None  # by numbers that may be others now
        left = {
            state.name: replace(state.target, column=now[state.name], touched=state.open)
            for state in states
            if state.open.any() and not state.target.perturbed
        }
    if missing := _in_bands(touched):
        named = {**columns, **{name: target.column for name, target in missing.items()}}
        by_band = recover(
            named, missing, household=household, pairs=pairs, tell=tell, made=made, person=person, time=time
        )
        for name, recovered in by_band.items():
            if recovered.restored.sum() > recoveries[name].restored.sum():
                recoveries[name] = recovered
    return {name: _named(recoveries[name], columns) for name in touched}


def _in_bands(touched: Mapping[str, ChangedColumn]) -> dict[str, ChangedColumn]:
    """The missing values of columns that have ranges, as ranges: which one it was tells enough."""
    missing = {}
    for name, target in touched.items():
        column = target.column
        blank = target.touched & column.missing
        if column.from_labels and not target.perturbed and blank.any() and column.has_ranges:
            missing[name] = ChangedColumn(replace(column, ends=None), blank, None, (SUPPRESSED,))
    return missing


def _named(recovered: Recovered, columns: Mapping[str, ReleasedColumn]) -> Recovered:
    """The same with sources that name columns of the frame."""
    sources = tuple(replace(source, columns=in_frame(source.columns, columns)) for source in recovered.sources)
    return replace(recovered, sources=sources)


def _predictors(
    columns: Mapping[str, ReleasedColumn], household: str | None, made: Made
) -> tuple[list[Predictor], Household | None]:
    predictors = derived_columns.released_predictors(columns, household, made)
    mates = Household.of(columns[household]) if household is not None else None
    if mates is not None:
        predictors.sort(key=lambda predictor: predictor.columns != (household,) or predictor.kind != "column")
    return [*predictors, *derived_columns.id_predictors(columns, household, made)], mates


def _by_rules(
    states: Sequence[Reconstruction], columns: Mapping[str, ReleasedColumn], predictors: Sequence[Predictor],
    household: Household | None, renewed: frozenset[str], waves: Waves | None,
) -> None:  # fmt: skip
    """Reconstruct each column in turn by every rule that reads one of the columns `renewed`, of all in a first round.

    The others say what they said before: nothing of a column that had no value put back then.
    """
    numeric = any(columns[name].numeric for name in renewed)
    only_changed = all(state.target.perturbed for state in states)
    orders = {} if only_changed else row_orders(columns)
    figures = [] if only_changed else group_figures(columns, None if household is None else household.name)
    rates = [] if only_changed else rate_groups(columns)
    new = {ordered_by(name) for name in renewed}
    others = predictors if household is None else predictors[1:]

    def search(state: Reconstruction) -> None:
        anew = state.name in renewed
        if state.target.perturbed:
            reconstruction_rules.by_columns(state, predictors, rules=len(predictors))
            return
        if anew or numeric:
            reconstruction_rules.by_numbers(state, columns, predictors, household, renewed)
        if household is not None and anew:
            reconstruction_rules.by_household(state, household)
            # the household column is the first predictor
            reconstruction_rules.by_mates(state, predictors[0], household, rules=len(predictors))
        by_group_figures(state, figures if anew else [figure for figure in figures if renewed & figure.columns])
        read = [predictor for predictor in others if anew or renewed.intersection(predictor.columns)]
        reconstruction_rules.by_columns(state, read, rules=len(predictors))
        use = {words: order for words, order in orders.items() if anew or words in new}
        use.pop(ordered_by(state.name), None)
        by_group_rates(state, columns, rates, renewed)
        indicators.by_indicators(state, columns)
        by_waves(state, waves, columns)
        reconstruction_rules.by_order(state, use, household)

    apart(search, states, len(states[0].open) if states else 0)


ORDERED_BY = "the order by "


def ordered_by(name: str) -> str:
    """What the order by a column is called.

    >>> ordered_by("stay")
    'the order by stay'
    """
    return f"{ORDERED_BY}{name}"


def row_orders(columns: Mapping[str, ReleasedColumn]) -> dict[str, Ints]:
    """Row orders to search for neighbours: file order, and the order by every id-like column."""
    n = len(next(iter(columns.values())).codes)
    orders = {FILE_ORDER: np.arange(n)}
    for name, column in columns.items():
        if column.n_levels >= derived_columns.ID_SHARE * n:
            orders[ordered_by(name)] = column.order
    return orders


def _added(
    recoveries: Mapping[str, Recovered], state: Reconstruction, *, predictors: Sequence[Predictor],
    mates: Household | None,
) -> Recovered:  # fmt: skip
    """Merge this round's reconstruction of a column into that of earlier rounds."""
    known = recoveries.get(state.name)
    left = remaining_values(state, predictors)
    fresh = state.target.touched & ~state.open
    if known is None:
        before, after = (np.full(np.count_nonzero(state.target.touched), np.nan) for _ in left)
        for own, counts in zip((before, after), left, strict=True):
            own[state.open[state.target.touched]] = counts
        return Recovered(
            target=state.target, restored=fresh, codes=state.codes, values=state.values, source=state.source,
            sources=tuple(state.sources), before=before, after=after, start=state, predictors=predictors, mates=mates,
        )  # fmt: skip
    sources = list(known.sources)
    place = np.full(len(state.sources) + 1, -1, np.int16)
    for i, source in enumerate(state.sources):
        if source.words not in [other.words for other in sources]:
            sources.append(source)
        place[i] = next(j for j, other in enumerate(sources) if other.words == source.words)
    after, still = known.after.copy(), state.open[known.target.touched]
    after[still] = np.fmin(after[still], left[1])
    return replace(
        known,
        restored=known.restored | fresh,
        codes=np.where(fresh, state.codes, known.codes),
        values=None if known.values is None or state.values is None else np.where(fresh, state.values, known.values),
        source=np.where(fresh, place[state.source], known.source),
        sources=tuple(sources),
        after=after,
    )


def _filled(column: ReleasedColumn, state: Reconstruction) -> ReleasedColumn:
    """The column with the reconstructed values inserted."""
    fresh = state.target.touched & ~state.open
    if state.values is None:
        return replace(column, codes=np.where(fresh, state.codes, column.codes).astype(np.int32))
    low, high = (np.where(fresh, state.values, end) for end in (column.low, column.high) if end is not None)
    lows, _ = derived_columns.numbered(low)
    highs, m = derived_columns.numbered(high)
    codes, n_levels = derived_columns.numbered(np.where(lows == 0, np.nan, lows * (m + 1.0) + highs))
    return replace(column, ends=of_levels(codes, n_levels, low, high), codes=codes, n_levels=n_levels)


# The release with reconstructed values inserted, and the re-identification risk in it.


@dataclass(frozen=True)
class Undone:
    """Re-identification risk: smallest equivalence class, sample uniques, expected re-identifications.

    `below_k`: records in classes smaller than each k. `above_risk`: records with a risk above the limit; None without
    a limit.
    """

    k: int
    uniques: int
    expected: float
    below_k: dict[int, int]
    above_risk: int | None

    def figures(self) -> dict[str, float]:
        """The risk as figures of a release whose values were put back."""
        return {"undone_k": float(self.k), "undone_uniques": float(self.uniques), "undone_expected": self.expected}


def put_back(frame: Any, recoveries: Mapping[str, Recovered], use: Mapping[str, Bools]) -> Any:
    """The release with reconstructed values inserted in the records of the masks `use`, by column."""
    out = frame
    for name, recovered in recoveries.items():
        hit = use[name]
        column = recovered.target.column
        if column.within or not hit.any():
            continue  # fields of structures stay as they are
        if recovered.values is None:
            first = grouping.first_of_groups(column.codes, column.n_levels + 1)
            rows = np.where(hit, first[recovered.codes], np.arange(len(hit)))
            native = take_rows(out, {name: rows})
        elif out[name].dtype.is_numeric():
            native = with_some_numbers(out, {name: (hit, recovered.values[hit])})
        elif column.coded.kind == "date":
            continue  # a date may be determined, but its print format is not known
        else:
            native = with_levels(out, {name: _labelled(recovered, hit)})
        out = open_frame(native)
    return out


def _labelled(recovered: Recovered, hit: Bools) -> tuple[list[str], Ints]:
    """Labels of the release followed by those of the reconstructed numbers, and the codes (n,) into them.

    Where values were taken out and nothing else, a number becomes the one range of the file that holds it.
    """
    assert recovered.values is not None
    column = recovered.target.column
    labels = column.labels()
    ends = sure(column.ends)[1:] if recovered.target.kinds == (SUPPRESSED,) else np.empty((0, 2))
    place = {label: i for i, label in enumerate(labels)}
    codes = column.codes.astype(np.int64) - 1
    values, of = np.unique(recovered.values[hit], return_inverse=True)
    texts = []
    for value in values:
        held = np.flatnonzero((ends[:, 0] <= value) & (value <= ends[:, 1]))
        texts.append(labels[held[0]] if len(held) == 1 else f"{value:.10g}")
    for text in texts:
        place.setdefault(text, len(place))
    codes[hit] = np.array([place[text] for text in texts])[of]
    return list(place), codes


def recognised(data: Any, roles: Roles, *, k: Sequence[int], risk: float | None) -> Undone:
    """Re-identification risk of a file on the key variables."""
    cells = risk_cells(data, roles)
    sizes, risks = cells.values("sample_frequency"), cells.values("risk")
    below = sizes.count_below([*k, 1 + 1e-9])
    return Undone(
        int(sizes.extremes()[0]), below[-1], risks.total(), dict(zip(k, below, strict=False)),
        None if risk is None else risks.count_above([risk])[0],
    )  # fmt: skip


def risk_cells(data: Any, roles: Roles) -> table.AnyCells:
    """The cells of a file with their individual risk ("risk")."""
    cells = as_cells.tabulate_roles(data, roles)
    if "population_frequency" in cells.columns and not cells.count_short():
        return cells.with_column("risk", risk_kernel.exact_risk, "sample_frequency", "population_frequency")
    return cells.with_column("risk", risk_kernel.census_risk, "sample_frequency")
