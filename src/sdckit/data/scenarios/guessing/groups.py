"""Records with the same id, and how other columns behave within them; plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_WORTH = 0.9  # share of the ids that may be numbered, from which it is looked at closely

_Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """The records by id."""

    codes: _Numbers  # the ids, in file order
    order: NDArray[np.intp]  # brings the records of an id together
    starts: NDArray[np.intp]  # of each id, among the ordered records
    together: bool  # the records of each id stand together in the file

    @classmethod
    def of(cls, codes: _Numbers) -> Groups:
        """Group records by equal numbers.

        >>> groups = Groups.of(np.array([2.0, 2.0, 1.0]))
        >>> groups.n, groups.n_several, groups.together
        (2, 1, True)
        """
        order = np.argsort(codes, kind="stable")
        by_id = codes[order]
        starts = np.flatnonzero(np.concatenate([[True], by_id[1:] != by_id[:-1]]))
        runs = 1 + int((codes[1:] != codes[:-1]).sum())
        return cls(codes, order, starts, runs == len(starts))

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Records of each id."""
        return np.diff(np.append(self.starts, len(self.codes)))

    @property
    def n(self) -> int:
        """How many ids there are."""
        return len(self.starts)

    @cached_property
    def n_several(self) -> int:
        """How many of them have several records."""
        return int((self.sizes > 1).sum())

    @property
    def largest(self) -> int:
        """Records of the largest."""
        return int(self.sizes.max())

    def share_constant(self, values: _Numbers) -> float:
        """Give the share of the ids with several records whose records are all equal.

        >>> Groups.of(np.array([1.0, 1, 2, 2, 3])).share_constant(np.array([5.0, 5, 6, 7, 8]))
        0.5
        """
        ordered = values[self.order]
        low, high = np.minimum.reduceat(ordered, self.starts), np.maximum.reduceat(ordered, self.starts)
        several = self.sizes > 1
        return float((low == high)[several].mean()) if several.any() else np.nan

    def constant(self, values: _Numbers) -> bool:
        """Tell whether the records of every id are equal; False where no id has several."""
        return self.share_constant(values) == 1

    def counted_by(self, numbers: _Numbers) -> float:
        """Give the share of the records whose number is how many records their id has.

        >>> Groups.of(np.array([1.0, 1, 2])).counted_by(np.array([2.0, 2, 1]))
        1.0
        """
        return float((numbers[self.order] == np.repeat(self.sizes, self.sizes)).mean())

    def numbered_by(self, numbers: _Numbers) -> float:
        """Give the share of the ids whose records are numbered from 1 (or 0) on without a gap.

        >>> Groups.of(np.array([1.0, 1, 2])).numbered_by(np.array([2.0, 1, 1]))
        1.0
        """
        known = np.where(np.isnan(numbers), -1, numbers)
        by_id = known[self.order]
        low, high = np.minimum.reduceat(by_id, self.starts), np.maximum.reduceat(by_id, self.starts)
        may = ((low == 0) | (low == 1)) & (high - low == self.sizes - 1)
        if may.mean() < _WORTH:  # most are not: the sorting is spared
            return float(may.mean())
        ordered = known[np.lexsort((known, self.codes))]
        off = ordered - (np.arange(len(ordered)) - np.repeat(self.starts, self.sizes))
        low, high = np.minimum.reduceat(off, self.starts), np.maximum.reduceat(off, self.starts)
        return max(float(((low == first) & (high == first)).mean()) for first in (0, 1))

    def repeated(self, keys: Sequence[_Numbers]) -> float:
        """Give the share of the records that repeat another of the same id in all keys.

        >>> Groups.of(np.array([1.0, 1, 2])).repeated([np.array([1.0, 1, 1])])
        0.3333333333333333
        """
        columns = [self.codes, *(np.where(np.isnan(key), -np.inf, key) for key in keys)]
        order = np.lexsort(columns)
        same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in columns])
        return float(same.sum() / len(self.codes))
