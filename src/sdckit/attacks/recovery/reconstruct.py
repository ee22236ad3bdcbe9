"""All that a release gives back of its touched values: the rules in turn, until they say nothing new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery import derived_columns, reconstruction_rules
from sdckit.attacks.recovery.derived_columns import Clue, Household
from sdckit.attacks.recovery.reconstruction_rules import Restoring, Source
from sdckit.attacks.recovery.touched_cells import ReleasedColumn, TouchedColumn, majorities_of
from sdckit.cells.as_cells import tabulate_roles
from sdckit.data.frames import open_frame
from sdckit.data.replace import take_rows, with_levels, with_some_numbers
from sdckit.data.scenarios.roles import Roles
from sdckit.numerics.array_types import Bools, Codes, Floats
from sdckit.numerics.risk_kernel import census_risk, exact_risk

# Values changed into others (PRAM, swaps, draws): what most records of a group say of those that differ.


OF_THE_USUAL = 1 / 3  # of what the most frequent value leaves wrong may a majority leave wrong
SUPPORT = 3
FEWEST = 30  # records that a majority is judged by


def by_majority(one: Restoring, clues: Sequence[Clue]) -> None:
    """Put back the value that most records of a group have, where that is nearly a rule.

    Nobody sees which values were changed: all of them take part in the vote, each judged by the votes of the others.
    """
    codes = one.target.column.codes
    one.known = codes
    if one.numbers is not None:
        one.numbers = one.target.column.numbers
    for clue in clues:
        if one.name in clue.columns or not clue.groups:
            continue
        group = clue.codes
        found = majorities_of(group, codes, clue.n_levels)
        told = (group > 0) & (codes > 0) & (found.size[group] >= SUPPORT)
        if np.count_nonzero(told) < FEWEST:
            continue
        same = found.code[group] == codes
        lead = found.votes[group] - same - found.next_votes[group]
        right = np.where(same, np.where(lead > 0, 1.0, np.where(lead == 0, 0.5, 0.0)), 0.0)
        if 1.0 - float(right[told].mean()) > one.usual_wrong * OF_THE_USUAL:
            continue
        differs = told & ~same & (found.votes > found.next_votes)[group]
        one.tell_codes(differs, found.code[group], clue.columns, f"most records alike in {clue.words}", clue.kind)


# How many values remain possible for a touched one that nothing tells for certain.


EXPECTED = 15.0  # records expected of a value that none has: it does not occur with the clue
MOST_LEVELS = 500
SUPPORT_OF_RANGE = 50  # records whose range bounds that of a value suppressed beside them


def remaining_values(one: Restoring, clues: Sequence[Clue]) -> tuple[Floats, Floats]:
    """Values possible for each record before and after reading the release; NaN where they cannot be counted.

    Only of the touched values that were not put back.
    """
    numeric = one.numbers is not None  # not where numbers of the original are groups by name in the release
    if numeric and one.low is not None and one.high is not None and one.target.low is not None:
        assert one.target.high is not None
        before = _count(one, one.target.low, one.target.high)
        low, high = _ranges_beside(one, clues)
        return before, _count(one, np.fmax(one.low, low), np.fmin(one.high, high))
    return _levels_left(one, clues)


def _count(one: Restoring, low: Floats, high: Floats) -> Floats:
    """Whole numbers in bounded ranges, else the different known values in them."""
    found = np.full(len(low), np.nan)
    bounded = np.isfinite(low) & np.isfinite(high)
    if one.target.column.whole:
        found[bounded] = np.maximum(np.floor(high[bounded] + 1e-9) - np.ceil(low[bounded] - 1e-9) + 1, 1)
    assert one.numbers is not None
    values = np.unique(one.numbers[~np.isnan(one.numbers)])
    use = ~bounded if one.target.column.whole else np.ones(len(low), np.bool_)
    if len(values):
        inside = np.searchsorted(values, high[use], "right") - np.searchsorted(values, low[use], "left")
        found[use] = np.where(inside > 0, inside, np.nan)
    return np.where(one.open, found, np.nan)


def _ranges_beside(one: Restoring, clues: Sequence[Clue]) -> tuple[Floats, Floats]:
    """For suppressed numbers, the range of those known with the same value of a clue."""
    n = len(one.open)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    blank = one.open & one.target.column.missing
    assert one.numbers is not None
    known = ~np.isnan(one.numbers)
    if not blank.any():
        return low, high
    for clue in clues:
        if one.name in clue.columns or not clue.joins or clue.n_levels > MOST_LEVELS:
            continue
        least, most = np.full(clue.n_levels + 1, np.inf), np.full(clue.n_levels + 1, -np.inf)
        np.minimum.at(least, clue.codes[known], one.numbers[known])
        np.maximum.at(most, clue.codes[known], one.numbers[known])
        few = np.bincount(clue.codes[known], minlength=clue.n_levels + 1) < SUPPORT_OF_RANGE
        few[0] = True
        least[few], most[few] = -np.inf, np.inf
        low = np.where(blank, np.fmax(low, least[clue.codes]), low)
        high = np.where(blank, np.fmin(high, most[clue.codes]), high)
    return low, high


def _levels_left(one: Restoring, clues: Sequence[Clue]) -> tuple[Floats, Floats]:
    """Categories less those that never stand with a clue though many would be expected."""
    n = len(one.open)
    before = np.full(n, np.nan)
    counts = np.bincount(one.known)[1:]
    levels = np.flatnonzero(counts) + 1
    before[one.open] = float(len(levels)) if len(levels) else np.nan
    rows = np.flatnonzero(one.open)
    if not 1 < len(levels) <= MOST_LEVELS or not len(rows):
        return before, before
    shares = counts[levels - 1] / counts.sum()
    possible = np.ones((len(rows), len(levels)), np.bool_)
    place = np.zeros(int(levels.max()) + 1, np.int64)
    place[levels] = np.arange(len(levels))
    known = one.known > 0
    for clue in clues:
        if one.name in clue.columns or not clue.joins or clue.n_levels > MOST_LEVELS:
            continue
        cell = clue.codes[known].astype(np.int64) * len(levels) + place[one.known[known]]
        seen = np.bincount(cell, minlength=(clue.n_levels + 1) * len(levels)).reshape(-1, len(levels))
        never = (seen == 0) & (seen.sum(axis=1, keepdims=True) * shares >= EXPECTED)
        never[0] = False
        possible &= ~never[clue.codes[rows]]
    after = before.copy()
    after[rows] = np.maximum(possible.sum(axis=1), 1)
    return before, after


Tell = Callable[[str], None]
ROUNDS = 3
FILE_ORDER = "the order of the rows"


@dataclass(frozen=True, eq=False)
class Recovered:
    """What was found out of one column.

    `restored` (n,): the touched values that are told for certain; `codes` and `values` say which, 0 and NaN elsewhere.
    `source` (n,): place in `sources`, -1 where nothing told. `before`, `after` (n,): values possible for the others,
    NaN where they cannot be counted. `clues`, `mates`: what a model may learn from.
    """

    target: TouchedColumn
    restored: NDArray[np.bool_]
    codes: Codes
    values: Floats | None
    source: NDArray[np.int16]
    sources: tuple[Source, ...]
    before: Floats
    after: Floats
    start: Restoring
    clues: Sequence[Clue]
    mates: Household | None

    @property
    def narrowed(self) -> NDArray[np.bool_]:
        """The touched values that are not told, but of which some are ruled out."""
        with np.errstate(invalid="ignore"):
            fewer = (self.after < self.before) | (np.isnan(self.before) & ~np.isnan(self.after))
        return np.asarray(self.target.touched & ~self.restored & fewer)


def recover(
    columns: Mapping[str, ReleasedColumn], touched: Mapping[str, TouchedColumn], *, household: str | None,
    pairs: bool = True, tell: Tell = lambda _: None,
) -> dict[str, Recovered]:  # fmt: skip
    """Put back what can be, column by column; what one rule restored, the others use in the next round."""
    found: dict[str, Recovered] = {}
    now, left = dict(columns), dict(touched)
    for turn in range(ROUNDS):
        tell("reconstructing values from the release" if turn == 0 else "using reconstructed values")
        clues, mates = _clues(now, household)
        ones = [Restoring.of(target) for name, target in left.items()]
        _by_rules(ones, now, clues, mates)
        if pairs and turn == 0:
            reconstruction_rules.by_pairs([one for one in ones if not one.target.perturbed], clues, tell)
        for one in ones:
            found[one.name] = _added(found.get(one.name), one, clues, mates)
        fresh = [one for one in ones if not one.target.perturbed and (~one.open & one.target.touched).any()]
        if not fresh:
            break
        for one in fresh:
            now[one.name] = _filled(now[one.name], one)
        left = {
            one.name: replace(one.target, column=now[one.name], touched=one.open)
            for one in ones
            if one.open.any() and not one.target.perturbed
        }
    return {name: found[name] for name in touched}


def _clues(columns: Mapping[str, ReleasedColumn], household: str | None) -> tuple[list[Clue], Household | None]:
    clues = list(derived_columns.column_clues(columns, household))
    mates = Household.of(columns[household]) if household is not None else None
    if mates is not None:
        clues.sort(key=lambda clue: clue.columns != (household,))
        clues += derived_columns.household_clues(columns, mates)
    return [*clues, *derived_columns.id_clues(columns, household)], mates


def _by_rules(
    ones: Sequence[Restoring], columns: Mapping[str, ReleasedColumn], clues: Sequence[Clue],
    household: Household | None,
) -> None:  # fmt: skip
    orders: dict[str, NDArray[np.int64]] | None = None
    for one in ones:
        if one.target.perturbed:
            by_majority(one, clues)
            continue
        reconstruction_rules.by_numbers(one, columns, clues, household)
        if household is not None:
            reconstruction_rules.by_household(one, household)
            reconstruction_rules.by_mates(
                one, clues[0], household, rules=len(clues)
            )  # the household's own column comes first
        others = clues if household is None else clues[1:]
        reconstruction_rules.by_columns(one, others, rules=len(clues))
        orders = _orders(columns) if orders is None else orders
        reconstruction_rules.by_order(one, {words: order for words, order in orders.items() if words != _by(one.name)})


def _by(name: str) -> str:
    return f"the order by {name}"


def _orders(columns: Mapping[str, ReleasedColumn]) -> dict[str, NDArray[np.int64]]:
    """The rows as they stand, and by every column that nearly numbers them."""
    n = len(next(iter(columns.values())).codes)
    found = {FILE_ORDER: np.arange(n)}
    for name, column in columns.items():
        if column.n_levels < derived_columns.ID_SHARE * n:
            continue
        keys = column.numbers
        if keys is None:
            rank = np.argsort(np.argsort(np.array(column.labels())))
            keys = np.concatenate([[-1.0], rank.astype(np.float64)])[column.codes]
        found[_by(name)] = np.argsort(keys, kind="stable")
    return found


def _added(known: Recovered | None, one: Restoring, clues: Sequence[Clue], mates: Household | None) -> Recovered:
    """What earlier rounds and this one found together."""
    before, after = remaining_values(one, clues)
    fresh = one.target.touched & ~one.open
    if known is None:
        return Recovered(
            target=one.target, restored=fresh, codes=one.codes, values=one.values, source=one.source,
            sources=tuple(one.sources), before=before, after=after, start=one, clues=clues, mates=mates,
        )  # fmt: skip
    sources = list(known.sources)
    place = np.full(len(one.sources) + 1, -1, np.int16)
    for i, source in enumerate(one.sources):
        if source.words not in [other.words for other in sources]:
            sources.append(source)
        place[i] = next(j for j, other in enumerate(sources) if other.words == source.words)
    return replace(
        known,
        restored=known.restored | fresh,
        codes=np.where(fresh, one.codes, known.codes),
        values=None if known.values is None or one.values is None else np.where(fresh, one.values, known.values),
        source=np.where(fresh, place[one.source], known.source),
        sources=tuple(sources),
        after=np.where(one.open, np.fmin(known.after, after), known.after),
    )


def _filled(column: ReleasedColumn, one: Restoring) -> ReleasedColumn:
    """The column with what was put back."""
    fresh = one.target.touched & ~one.open
    if one.values is None:
        return replace(column, codes=np.where(fresh, one.codes, column.codes).astype(np.int32))
    assert column.low is not None
    assert column.high is not None
    low, high = np.where(fresh, one.values, column.low), np.where(fresh, one.values, column.high)
    lows, _ = derived_columns.numbered(low)
    highs, m = derived_columns.numbered(high)
    codes, n_levels = derived_columns.numbered(np.where(lows == 0, np.nan, lows * (m + 1.0) + highs))
    return replace(column, low=low, high=high, codes=codes, n_levels=n_levels)


# The release with what it gives back put back, and who can be recognised in that.


@dataclass(frozen=True)
class Undone:
    """Who can be recognised: the smallest class, records alone with their keys, those expected to be re-identified.

    `below_k`: records in classes smaller than each k. `above_risk`: records whose risk is above the limit; None
    without one.
    """

    k: int
    uniques: int
    expected: float
    below_k: dict[int, int]
    above_risk: int | None


def put_back(frame: Any, found: Mapping[str, Recovered], use: Mapping[str, Bools]) -> Any:
    """The release with the values restored in the records of `use`, by column."""
    out = frame
    for name, one in found.items():
        hit = use[name]
        if not hit.any():
            continue
        column = one.target.column
        if one.values is None:
            first = np.zeros(column.n_levels + 1, np.int64)
            present = np.flatnonzero(column.codes)
            first[column.codes[present]] = present
            rows = np.where(hit, first[one.codes], np.arange(len(hit)))
            native = take_rows(out, {name: rows})
        elif out[name].dtype.is_numeric():
            native = with_some_numbers(out, {name: (hit, one.values[hit])})
        elif column.coded.kind == "date":
            continue  # a day may be restored, but how the file writes it is not known
        else:
            native = with_levels(out, {name: _labelled(one, hit)})
        out = open_frame(native)
    return out


def _labelled(one: Recovered, hit: Bools) -> tuple[list[str], NDArray[np.int64]]:
    """Labels of the release and, behind them, the numbers restored."""
    assert one.values is not None
    column = one.target.column
    labels = column.labels()
    place = {label: i for i, label in enumerate(labels)}
    codes = column.codes.astype(np.int64) - 1
    values, of = np.unique(one.values[hit], return_inverse=True)
    texts = [f"{value:.10g}" for value in values]
    for text in texts:
        place.setdefault(text, len(place))
    codes[hit] = np.array([place[text] for text in texts])[of]
    return list(place), codes


def recognised(data: Any, roles: Roles, *, k: Sequence[int], risk: float | None) -> Undone:
    """Count who can be recognised in a file."""
    cells = tabulate_roles(data, roles)
    sizes = cells.values("sample_frequency")
    if "population_frequency" in cells.columns and not cells.count_short():
        cells = cells.with_column("risk", exact_risk, "sample_frequency", "population_frequency")
    else:
        cells = cells.with_column("risk", census_risk, "sample_frequency")
    risks = cells.values("risk")
    below = sizes.count_below([*k, 1 + 1e-9])
    return Undone(
        int(sizes.extremes()[0]), below[-1], risks.total(), dict(zip(k, below, strict=False)),
        None if risk is None else risks.count_above([risk])[0],
    )  # fmt: skip
