"""Which values of a variable are possible for the people of each combination of keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.opened_release import Combinations
from sdckit.cells.packing import group_codes
from sdckit.numerics.array_types import Words

MOST_LEVELS = 2_048
BITS = 64


def candidate_sets(combined: Combinations, target: NDArray[np.int32], n_levels: int) -> Words:
    """The levels of a target (codes (n,), 0 missing) that occur with each combination.

    A missing target value may be any; a combination with missing keys may be any that agrees with it in the others,
    so its values are possible for those, and theirs for it. Nobody who knows a person's keys is left with fewer.

    >>> both = Combinations(("x",), (np.array([1, 2, 0], np.int32),), np.array([1, 1, 1]), np.array([0, 1, 2]))
    >>> n_candidates(candidate_sets(both, np.array([1, 2, 2], np.int32), 2)).tolist()
    [2, 1, 2]
    """
    words = max(1, -(-n_levels // BITS))
    own = np.zeros((len(combined.size), words), np.uint64)
    known = target > 0
    level = (target[known] - 1).astype(np.uint64)
    flat = combined.of_row[known].astype(np.int64) * words + (level // BITS).astype(np.int64)
    np.bitwise_or.at(own.reshape(-1), flat, np.uint64(1) << (level % np.uint64(BITS)))
    own[combined.of_row[~known]] = every_level(n_levels)
    return _with_wildcards(own, combined.codes)


def every_level(n_levels: int) -> Words:
    """A set of all levels."""
    bits = np.zeros(max(1, -(-n_levels // BITS)) * BITS, np.uint8)
    bits[:n_levels] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def n_candidates(sets: Words) -> NDArray[np.int64]:
    """How many levels each set has."""
    counted: NDArray[np.int64] = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
    return counted


def listed(sets: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sets and the levels in them, from 0, pair by pair."""
    row, word = np.nonzero(sets)
    bits = np.unpackbits(
        sets[row, word].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
    )
    pair, bit = np.nonzero(bits)
    return row[pair], word[pair] * BITS + bit


def _with_wildcards(own: Words, codes: Sequence[NDArray[np.int32]]) -> Words:
    """Join the sets of combinations that may be the same but for missing keys."""
    shown = np.zeros(len(own), np.int64)
    for j, one in enumerate(codes):
        shown |= (one > 0).astype(np.int64) << j
    patterns = np.unique(shown)
    if len(patterns) == 1:
        return own
    rows = {pattern: np.flatnonzero(shown == pattern) for pattern in patterns.tolist()}
    joined = own.copy()
    for i, first in enumerate(patterns.tolist()):
        for second in patterns[i + 1 :].tolist():
            _join(joined, own, rows[first], rows[second], [
                one for j, one in enumerate(codes) if (first & second) >> j & 1
            ])  # fmt: skip
    return joined


def _join(
    joined: Words, own: Words, first: NDArray[np.int64], second: NDArray[np.int64],
    shared: Sequence[NDArray[np.int32]],
) -> None:  # fmt: skip
    """Give combinations of two patterns the sets of those that agree with them in the keys that both show."""
    both = np.concatenate([first, second])
    groups = group_codes([one[both] for one in shared], len(both))
    here, there = groups.of_row[: len(first)], groups.of_row[len(first) :]
    for rows, group, other, theirs in ((first, here, second, there), (second, there, first, here)):
        union = np.zeros((len(groups.size), own.shape[1]), np.uint64)
        np.bitwise_or.at(union, theirs, own[other])
        joined[rows] |= union[group]
