"""Counts of two releases beside each other: what appeared, what vanished, and whom a difference isolates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.attacks.differencing.earlier_releases import Earlier, set_among
from sdckit.attacks.differencing.opened_release import Combinations, OpenedRelease
from sdckit.data.ledger.digests import places
from sdckit.data.ledger.sketch import sorted_part
from sdckit.numerics.array_types import Ints


@dataclass(frozen=True)
class CountsCompared:
    """Combinations of some columns in two releases.

    `differing`: their counts differ by 1 to the number asked; `added` and `removed` records; combinations of one record
    that are `new`, `vanished` (in no other number there), or of one record in both.
    """

    columns: tuple[str, ...]
    differing: int
    added: int
    removed: int
    new_uniques: int
    vanished_uniques: int
    kept_uniques: int


@dataclass(frozen=True)
class Relation:
    """How the records of two releases lie to each other, as far as columns coded alike tell."""

    columns: tuple[str, ...]
    added: int
    removed: int

    @property
    def word(self) -> str:
        """One of "same", "superset" (the new release has more), "subset" and "other"."""
        if self.added and self.removed:
            return "other"
        return "superset" if self.added else "subset" if self.removed else "same"


def _both(new: OpenedRelease, one: Earlier, columns: Sequence[str]) -> tuple[Combinations, Ints, Ints]:
    """The combinations of the new release, the counts of the same in the earlier one, and those it has besides."""
    part = one.sketch.get("counts", columns)
    assert part is not None
    combined, told = new.combinations(columns), new.digests(columns, one.digester)
    here, _ = sorted_part(told, combined.size)
    gone = places(here.digests, part.digests) < 0
    return combined, part.of(told), part.numbers[gone].astype(np.int64)


def relation_of(new: OpenedRelease, one: Earlier, alike: Sequence[str]) -> Relation | None:
    """Compare the widest combinations of columns coded alike; None where none are counted."""
    columns = set_among(one, alike)
    if not columns:
        return None
    combined, before, gone = _both(new, one, columns)
    change = combined.size - before
    return Relation(columns, int(change[change > 0].sum()), int(gone.sum() - change[change < 0].sum()))


def compare_counts(
    new: OpenedRelease, one: Earlier, alike: Sequence[str], *, within: int
) -> CountsCompared | None:
    """Compare the combinations of keys coded alike, as many of them as are counted; None where none are."""
    columns = set_among(one, alike)
    if not columns:
        return None
    combined, before, gone = _both(new, one, columns)
    change = combined.size - before
    small = (change != 0) & (np.abs(change) <= within)
    alone = combined.size == 1
    return CountsCompared(
        columns, int(small.sum() + (gone <= within).sum()), int(change[change > 0].sum()),
        int(gone.sum() - change[change < 0].sum()), int((alone & (before == 0)).sum()), int((gone == 1).sum()),
        int((alone & (before == 1)).sum()),
    )  # fmt: skip


def told_by_difference(
    new: OpenedRelease, one: Earlier, keys: Sequence[str], target: str, *, within: int
) -> int:
    """People whose value of a target a difference tells: of `within` or fewer added to, or taken from, a combination.

    All of them must have one value, and the combination must hold others, too: else either release tells it alone.
    Counts only where one release is the other with some people more; the caller has seen that it is.
    """
    both = tuple(sorted({*keys, target}))
    columns = tuple(sorted(set(keys) - {target}))
    if not columns or one.sketch.get("counts", both) is None or one.sketch.get("counts", columns) is None:
        return 0
    part = one.sketch.get("counts", both)
    assert part is not None
    combined, before, _ = _both(new, one, columns)
    change = combined.size - before
    moved = np.flatnonzero((change != 0) & (np.abs(change) <= within) & (before > 0))
    if not len(moved):
        return 0
    # Of each of these combinations every value there is: those of the earlier release are asked for, too.
    n_levels = len(new.levels[target].texts) + 1
    fine = new.combinations(both)
    cell = np.full((len(moved), n_levels), 0, np.int64)
    number = np.full(len(combined.size), -1, np.int64)
    number[moved] = np.arange(len(moved))
    coarse = fine.among(columns)  # in the order of `combined`, as both go by the words of the codes
    at, level = number[_matching(combined, coarse)[coarse.of_row]], fine.codes[both.index(target)]
    cell[at[at >= 0], level[at >= 0]] = fine.size[at >= 0]
    asked = Combinations(
        both,
        tuple(
            np.tile(np.arange(n_levels, dtype=np.int32), len(moved)) if name == target
            else np.repeat(combined.codes[columns.index(name)][moved], n_levels)
            for name in both
        ),
        np.ones(cell.size, np.int64), np.zeros(0, np.int32),
    )  # fmt: skip
    then = part.of(new.digests_of(asked, one.digester)).reshape(cell.shape)
    moved_by = cell - then
    # A value that the new release has nowhere cannot be asked for: such a combination is left out.
    whole = then.sum(axis=1) == before[moved]
    one_value = (moved_by != 0).sum(axis=1) == 1
    several = (np.maximum(cell, then) > 0).sum(axis=1) > 1
    hidden = moved_by[:, 0] != 0
    told = whole & one_value & several & ~hidden
    return int(np.abs(moved_by[told]).sum())


def _matching(among: Combinations, wanted: Combinations) -> Ints:
    """The number of each combination among others of the same columns."""
    from sdckit.cells.packing import group_codes

    k = len(among.size)
    joint = [np.concatenate(pair) for pair in zip(among.codes, wanted.codes, strict=True)]
    groups = group_codes(joint, k + len(wanted.size))
    number = np.empty(len(groups.size), np.int64)
    number[groups.of_row[:k]] = np.arange(k)
    return number[groups.of_row[k:]]
