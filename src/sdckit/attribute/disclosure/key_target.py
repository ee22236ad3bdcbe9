"""Records of an original and its releases by key and target: the table that attribute disclosure reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import SharedGroups, group_files

PerFile = tuple[NDArray[np.int32], ...]


@dataclass(frozen=True, eq=False)
class KeyTarget:
    """The combinations of a key and a target level that occur in a file.

    Attributes
    ----------
    key, target : ndarray, int32, shape (K,)
        Group of keys and level of the target of each combination.
    count : tuple of ndarray, int64, shape (K,)
        Records of each file with it, the original first.
    key_size : tuple of ndarray, int64
        Records of each file in each group of keys.
    of_row : tuple of ndarray, int32
        Combination of each record, file by file.
    """

    key: NDArray[np.int32]
    target: NDArray[np.int32]
    count: tuple[NDArray[np.int64], ...]
    key_size: tuple[NDArray[np.int64], ...]
    of_row: PerFile

    def share(self, file: int) -> NDArray[np.float64]:
        """Share of the target level in its key, 0 where a file does not have the key; 0 is the original."""
        return shares(self.count[file], self.key_size[file][self.key])

    def sole(self, file: int) -> NDArray[np.bool_]:
        """Whether all records of a file with the key have this target level, and there is at least one."""
        count = self.count[file]
        found: NDArray[np.bool_] = (count > 0) & (count == self.key_size[file][self.key])
        return found


def shares(part: NDArray[Any], size: NDArray[Any]) -> NDArray[np.float64]:
    """Part of each size, 0 where there is nothing."""
    found: NDArray[np.float64] = np.divide(part, size, out=np.zeros(len(part)), where=size > 0)
    return found


def key_target(keys: SharedGroups, target: PerFile) -> KeyTarget:
    """Cross groups of keys with the levels of a target.

    Examples
    --------
    >>> keys = group_files([(np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32))])
    >>> table = key_target(keys, (np.array([1, 2, 1], np.int32), np.array([2, 1, 1], np.int32)))
    >>> sorted(table.count[1].tolist()), table.share(1)[table.of_row[0]].tolist()
    ([0, 1, 2], [0.0, 1.0, 1.0])
    """
    cells = group_files([keys.of_row, target])
    key, level = (codes_of_groups(cells, codes) for codes in (keys.of_row, target))
    return KeyTarget(key, level, cells.size, keys.size, cells.of_row)


def codes_of_groups(groups: SharedGroups, codes: PerFile) -> NDArray[np.int32]:
    """The code that all records of a group have in common."""
    out = np.zeros(groups.n_groups, np.int32)
    for rows, values in zip(groups.of_row, codes, strict=True):
        out[rows] = values
    return out
