"""Rows of one person in the order of time: what stays the same from one to the next tells what was taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery import group_agreement
from sdckit.attacks.recovery.reconstruction_rules import FEW_PARTS, Reconstruction
from sdckit.attacks.recovery.touched_cells import ReleasedColumn
from sdckit.numerics.array_types import Bools, Codes
from sdckit.numerics.intervals import wilson


@dataclass(frozen=True, eq=False)
class Waves:
    """Rows in the order of persons and time: `order` (n,), and at each place the number of the person, -1 for none."""

    order: NDArray[np.int64]
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

    def neighbours(self, known: Bools) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each place the nearest known ones of the same person before and after it; -1 where there is none."""
        places, n = np.arange(len(known)), len(known)
        before = np.append(-1, np.maximum.accumulate(np.where(known, places, -1))[:-1])
        after = np.append(np.minimum.accumulate(np.where(known, places, n)[::-1])[::-1][1:], n)
        after[after == n] = -1
        return self._own(before), self._own(after)

    def _own(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
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


def _conditions(columns: Mapping[str, ReleasedColumn], order: NDArray[np.int64]) -> Iterator[tuple[str, str, Bools]]:
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
