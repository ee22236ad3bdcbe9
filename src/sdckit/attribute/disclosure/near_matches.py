"""How many released records come closest to a record's key, and how many of them have its target.

Never a comparison of all records with all: rows that agree on a key are found by grouping, rows that differ
in r keys by grouping with each choice of r keys left out, numbers by a sorted search inside the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.numerics.array_types import AnyInts
from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes


@dataclass(frozen=True, eq=False)
class Side:
    """Records of one file, as seen by the search.

    Attributes
    ----------
    keys : tuple of ndarray
        Codes of each key.
    target : ndarray
        Code of the categories of the target together, and of what is missing in its numbers.
    low, high : ndarray, float64, shape (d, n)
        Interval of each number of the target; with `low` equal to `high` where a record is searched in.
    """

    keys: tuple[AnyInts, ...]
    target: AnyInts
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def n(self) -> int:
        """Records."""
        return len(self.target)

    def take(self, rows: NDArray[np.int64]) -> Side:
        """Some of the records."""
        ends = (np.take(one, rows, axis=1) for one in (self.low, self.high))
        return Side(tuple(codes[rows] for codes in self.keys), self.target[rows], *ends)


def count_matches(
    left: Side, right: Side, columns: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each record of `left` the records of `right` with its values in some keys; and with its target too."""
    keys = [np.concatenate([left.keys[j], right.keys[j]]) for j in columns]
    groups = group_codes(keys, left.n + right.n)
    mine, theirs = groups.of_row[: left.n], groups.of_row[left.n :]
    size = np.bincount(theirs, minlength=len(groups.size))[mine]
    cells = group_codes([groups.of_row, np.concatenate([left.target, right.target])], left.n + right.n)
    mine, theirs = cells.of_row[: left.n], cells.of_row[left.n :]
    k = len(cells.size)
    if len(left.low) == 0:
        return np.bincount(theirs, minlength=k)[mine], size
    # a record to be found is a point: its interval is its number
    points = zip(right.low, left.low, left.high, strict=True)
    boxes = [Dimension(value, value, value, low, high) for value, low, high in points]
    return count_in_boxes(boxes, theirs, mine, k), size


def nearest_matches(left: Side, right: Side, radius: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same among the records that differ in the fewest keys, `radius` at most.

    Where no record differs in fewer keys, those that agree outside a choice of r keys differ in all r of
    them, so no record is counted for two choices.
    """
    k = len(left.keys)
    hits, size = count_matches(left, right, range(k))
    for left_out in range(1, radius + 1):
        rows = np.flatnonzero(size == 0)
        if len(rows) == 0:
            break
        waiting = left.take(rows)
        for kept in combinations(range(k), k - left_out):
            more_hits, more = count_matches(waiting, right, kept)
            hits[rows] += more_hits
            size[rows] += more
    return hits, size
