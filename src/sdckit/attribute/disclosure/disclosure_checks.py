"""Disclosures that may be common knowledge: one level of the target, or a level that goes with one of a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.shared_coding import SharedCoding

__all__ = ["DisclosureCheck", "one_way", "two_way"]

# The defaults of synthpop's `disclosure`: more records than the first, and a larger share than the second.
ONE_WAY = (50, 0.90)
TWO_WAY = (4, 0.80)


@dataclass(frozen=True)
class DisclosureCheck:
    """One thing to look at before the figures are believed.

    Attributes
    ----------
    release : int
        Which release, from 1.
    target_level : str
        Level of the target, as it prints.
    key, key_level : str
        Level of a key that it goes with; "" where one level of the target alone stands out.
    records : int
        Records correctly disclosed with it.
    share : float
        Its share of all records correctly disclosed; or, with a key level, of the original's records that
        have this key level.
    """

    release: int
    target_level: str
    key: str
    key_level: str
    records: int
    share: float


def one_way(
    release: int, target: SharedCoding, level: NDArray[np.int32], correct: NDArray[np.int64]
) -> list[DisclosureCheck]:
    """Whether one level of the target makes up nearly all that is correctly disclosed.

    `level` and `correct` are the target level, and the records correctly disclosed, of each combination of
    key and target.
    """
    by_level = np.bincount(level, weights=correct, minlength=target.n_levels + 1)
    most, total = int(by_level.argmax()), by_level.sum()
    if by_level[most] <= ONE_WAY[0] or by_level[most] <= ONE_WAY[1] * total:
        return []
    records = int(by_level[most])
    return [DisclosureCheck(release, target.labels()[most], "", "", records, records / float(total))]


def two_way(
    release: int,
    target: SharedCoding,
    keys: Sequence[SharedCoding],
    level: NDArray[np.int32],
    key_levels: Sequence[NDArray[np.int32]],
    correct: NDArray[np.int64],
) -> list[DisclosureCheck]:
    """Levels of a key that nearly fix the target in the original, among the larger cells disclosed.

    `key_levels` are the levels, key by key, of each combination of key and target.
    """
    large = correct > TWO_WAY[0]
    found = []
    for key, codes in zip(keys, key_levels, strict=True):
        width = target.n_levels + 1
        records = np.bincount(codes[large] * np.int64(width) + level[large], weights=correct[large])
        of_original = np.bincount(key.codes[0], minlength=key.n_levels + 1)
        for pair in np.flatnonzero(records).tolist():
            key_code, code = divmod(pair, width)
            both = np.count_nonzero((key.codes[0] == key_code) & (target.codes[0] == code))
            share = float(both / of_original[key_code])
            if share > TWO_WAY[1]:
                labels = target.labels()[code], key.name, key.labels()[key_code]
                found.append(DisclosureCheck(release, *labels, int(records[pair]), share))
    return found
