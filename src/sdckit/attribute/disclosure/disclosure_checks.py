"""Disclosures that may be common knowledge: one level of the target, or a level that goes with one of a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.disclosure.key_target import KeyTarget
from sdckit.cells.shared_coding import SharedCoding

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
    return [DisclosureCheck(release, target.label(most), "", "", records, records / float(total))]


def two_way(
    release: int,
    target: SharedCoding,
    keys: Sequence[SharedCoding],
    table: KeyTarget,
    key_codes: Sequence[NDArray[np.int32]],
    correct: NDArray[np.int64],
) -> list[DisclosureCheck]:
    """Levels of a key that nearly fix the target in the original, among the larger cells disclosed.

    `key_codes` are the levels, key by key, of each group of keys. `correct` is as in `one_way`.
    """
    large = np.flatnonzero(correct > TWO_WAY[0])
    group, level = table.key[large], table.target[large]
    width = np.int64(target.n_levels + 1)
    found = []
    for key, codes in zip(keys, key_codes, strict=True):
        pairs, place = np.unique(codes[group] * width + level, return_inverse=True)
        records = np.bincount(place, weights=correct[large], minlength=len(pairs))
        both = _records_of(pairs, width, key, target)
        share = both / key.counts[0][pairs // width]
        for at in np.flatnonzero(share > TWO_WAY[1]).tolist():
            key_code, code = divmod(int(pairs[at]), int(width))
            labels = target.label(code), key.name, key.label(key_code)
            found.append(DisclosureCheck(release, *labels, int(records[at]), float(share[at])))
    return found


def _records_of(
    pairs: NDArray[np.int64], width: np.int64, key: SharedCoding, target: SharedCoding
) -> NDArray[np.int64]:
    """The original's records with each pair of a key level and a target level; pairs ascend."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    of_row = key.codes[0] * width + target.codes[0]
    domain = (key.n_levels + 1) * int(width)
    if domain <= len(of_row):
        counts: NDArray[np.int64] = np.bincount(of_row, minlength=domain)[pairs]
        return counts
    at = np.minimum(np.searchsorted(pairs, of_row), len(pairs) - 1)
    return np.bincount(at[pairs[at] == of_row], minlength=len(pairs))
