"""The smallest sets of keys on which one record differs from every other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_SETS = 200_000  # key sets tried of one size


def minimal_sets(disagree: Sequence[int], n_keys: int, max_size: int) -> tuple[list[tuple[int, ...]], int]:
    """Smallest sets of keys on which a record differs from every other.

    `disagree` has, for each other record, the keys on which it differs as bits. Gives the sets, by size, none of which
    holds another; and the size up to which all were found.

    Examples
    --------
    >>> minimal_sets([0b001, 0b110], 3, 3)
    ([(0, 1), (0, 2)], 3)
    """
    needed = _smallest(np.array(sorted(set(disagree)), np.uint64))
    if len(needed) and needed[0] == 0:
        return [], max_size
    if not len(needed):
        return [()], max_size
    found: list[tuple[int, ...]] = []
    held = np.empty(0, np.uint64)
    open_sets: list[tuple[int, ...]] = [()]
    for size in range(1, max_size + 1):
        longer = [(*one, j) for one in open_sets for j in range(one[-1] + 1 if one else 0, n_keys)]
        if len(longer) > MOST_SETS:
            return found, size - 1
        bits = np.array([sum(1 << j for j in one) for one in longer], np.uint64)
        known, meets = np.zeros(len(bits), np.bool_), np.ones(len(bits), np.bool_)
        for small in held:
            known |= bits & small == small
        for other in needed:
            meets &= bits & other != 0
        found += [longer[i] for i in np.flatnonzero(meets & ~known)]
        held = np.append(held, bits[meets & ~known])
        open_sets = [longer[i] for i in np.flatnonzero(~meets & ~known)]
    return found, max_size


def _smallest(masks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The masks that hold no other: a set that meets those meets all."""
    left = masks[np.argsort(np.bitwise_count(masks), kind="stable")]
    kept = []
    while len(left):
        kept.append(left[0])
        left = left[1:][left[1:] & left[0] != left[0]]
    return np.array(kept, np.uint64)
