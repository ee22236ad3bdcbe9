"""All that a release gives back of its touched values: the rules in turn, until they say nothing new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.clues import (
    ID_SHARE,
    Clue,
    Household,
    column_clues,
    household_clues,
    id_clues,
    numbered,
)
from sdckit.attacks.recovery.majorities import by_majority
from sdckit.attacks.recovery.released_columns import ReleasedColumn
from sdckit.attacks.recovery.remaining import remaining_values
from sdckit.attacks.recovery.told_values import (
    Restoring,
    Source,
    by_columns,
    by_household,
    by_mates,
    by_numbers,
    by_order,
    by_pairs,
)
from sdckit.attacks.recovery.touched_cells import TouchedColumn
from sdckit.numerics.array_types import Codes, Floats

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
        tell("reading what the release gives back" if turn == 0 else "using what was given back")
        clues, mates = _clues(now, household)
        ones = [Restoring.of(target) for name, target in left.items()]
        _by_rules(ones, now, clues, mates)
        if pairs and turn == 0:
            by_pairs([one for one in ones if not one.target.perturbed], clues, tell)
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


def _clues(
    columns: Mapping[str, ReleasedColumn], household: str | None
) -> tuple[list[Clue], Household | None]:
    clues = list(column_clues(columns, household))
    mates = Household.of(columns[household]) if household is not None else None
    if mates is not None:
        clues.sort(key=lambda clue: clue.columns != (household,))
        clues += household_clues(columns, mates)
    return [*clues, *id_clues(columns, household)], mates


def _by_rules(
    ones: Sequence[Restoring], columns: Mapping[str, ReleasedColumn], clues: Sequence[Clue],
    household: Household | None,
) -> None:  # fmt: skip
    orders: dict[str, NDArray[np.int64]] | None = None
    for one in ones:
        if one.target.perturbed:
            by_majority(one, clues)
            continue
        by_numbers(one, columns, clues, household)
        if household is not None:
            by_household(one, household)
            by_mates(one, clues[0], household, rules=len(clues))  # the household's own column comes first
        others = clues if household is None else clues[1:]
        by_columns(one, others, rules=len(clues))
        orders = _orders(columns) if orders is None else orders
        by_order(one, {words: order for words, order in orders.items() if words != _by(one.name)})


def _by(name: str) -> str:
    return f"the order by {name}"


def _orders(columns: Mapping[str, ReleasedColumn]) -> dict[str, NDArray[np.int64]]:
    """The rows as they stand, and by every column that nearly numbers them."""
    n = len(next(iter(columns.values())).codes)
    found = {FILE_ORDER: np.arange(n)}
    for name, column in columns.items():
        if column.n_levels < ID_SHARE * n:
            continue
        keys = column.numbers
        if keys is None:
            rank = np.argsort(np.argsort(np.array(column.labels())))
            keys = np.concatenate([[-1.0], rank.astype(np.float64)])[column.codes]
        found[_by(name)] = np.argsort(keys, kind="stable")
    return found


def _added(
    known: Recovered | None, one: Restoring, clues: Sequence[Clue], mates: Household | None
) -> Recovered:
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
        values=None
        if known.values is None or one.values is None
        else np.where(fresh, one.values, known.values),
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
    lows, _ = numbered(low)
    highs, m = numbered(high)
    codes, n_levels = numbered(np.where(lows == 0, np.nan, lows * (m + 1.0) + highs))
    return replace(column, low=low, high=high, codes=codes, n_levels=n_levels)
