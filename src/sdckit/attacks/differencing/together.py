"""The same people under other recodings: the values possible for them in every release intersect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.candidates import candidate_sets, every_level, listed, n_candidates
from sdckit.attacks.differencing.earlier_releases import Earlier
from sdckit.attacks.differencing.opened_release import OpenedRelease
from sdckit.data.ledger.digests import places
from sdckit.numerics.array_types import Bools, Words


@dataclass(frozen=True, eq=False)
class Seen:
    """For each record of the new release the values (of those of the new release) that an earlier one leaves possible.

    `sets` (n, words); `alone` (n,) where the earlier release leaves one only.
    """

    sets: Words
    alone: Bools


def own_candidates(new: OpenedRelease, keys: Sequence[str], target: str) -> Seen:
    """The same of the new release by itself."""
    combined, levels = new.combinations(keys), new.levels[target]
    sets = candidate_sets(combined, levels.codes, len(levels.texts))
    return Seen(sets[combined.of_row], (n_candidates(sets) == 1)[combined.of_row])


def certain_together(own: Seen, seen: Sequence[Seen]) -> tuple[Bools, Bools]:
    """Whose value is certain from all releases together and from none alone; and for whom they contradict."""
    joint, alone = own.sets.copy(), own.alone.copy()
    for one in seen:
        joint &= one.sets
        alone |= one.alone
    left = n_candidates(joint)
    return (left == 1) & ~alone, left == 0


def seen_in_file(
    new: OpenedRelease, old: OpenedRelease, rows: NDArray[np.int64], keys: Sequence[str], target: str
) -> Seen:
    """What an earlier file leaves possible; `rows` are its records for those of the new one, -1 for none."""
    here, there = new.levels[target], old.levels[target]
    combined = old.combinations(keys)
    sets = candidate_sets(combined, there.codes, len(there.texts))
    number = {text: code for code, text in enumerate(here.texts)}
    to_here = np.array([number.get(text, -1) for text in there.texts], np.int64)
    row, level = listed(sets)
    code = to_here[level]
    row, code = row[code >= 0], code[code >= 0]
    words = max(1, -(-len(here.texts) // 64))
    mine = np.zeros((len(sets), words), np.uint64)
    np.bitwise_or.at(
        mine.reshape(-1), row * words + code // 64, np.uint64(1) << (code % 64).astype(np.uint64)
    )
    mine[combined.of_row[there.codes == 0]] = every_level(len(here.texts))
    linked = rows >= 0
    cell = combined.of_row[rows]  # of the last record where there is none: not looked at
    found = np.where(linked[:, None], mine[cell], every_level(len(here.texts)))
    return Seen(found, linked & (n_candidates(sets) == 1)[cell])


def seen_in_sketch(new: OpenedRelease, one: Earlier, id: str, own: Seen, target: str) -> Iterator[Seen]:
    """What a ledger kept of the values possible for the same ids, one set of keys after the other."""
    for place, people in one.sketch.parts.items():
        if place[:2] != ("people", id):
            continue
        keys = place[2:]
        counts, candidates = one.sketch.get("counts", keys), one.sketch.get("candidates", (*keys, target))
        if counts is None or candidates is None:
            continue
        at = places(people.digests, new.id_digests(one.digester))
        linked = np.flatnonzero(at >= 0)
        classes, of_linked = np.unique(people.numbers[at[linked]], return_inverse=True)
        asked = np.zeros((len(classes), own.sets.shape[1]), np.uint64)
        np.bitwise_or.at(asked, of_linked, own.sets[linked])
        told = new.level_digests(target, one.digester)
        base = counts.digests[classes]
        row, level = listed(asked)
        number = candidates.of(one.digester.joined(base[row], told[level + 1]))
        words = own.sets.shape[1]
        sets = np.zeros_like(asked)
        hit = number > 0
        np.bitwise_or.at(
            sets.reshape(-1), row[hit] * words + level[hit] // 64,
            np.uint64(1) << (level[hit] % 64).astype(np.uint64),
        )  # fmt: skip
        hidden = candidates.of(one.digester.joined(base, np.repeat(told[:1], len(base), axis=0))) > 0
        sets[hidden] = every_level(len(new.levels[target].texts))
        alone = np.zeros(len(classes), np.bool_)
        alone[row[number == 1]] = True
        found = np.repeat(every_level(len(new.levels[target].texts))[None, :], new.n, axis=0)
        found[linked] = sets[of_linked]
        certain = np.zeros(new.n, np.bool_)
        certain[linked] = alone[of_linked]
        yield Seen(found, certain)
