"""Which levels of a key to merge first, and how much information a coarser key loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.margins import level_sizes

if TYPE_CHECKING:
    from sdckit.cells.table import Cells

__all__ = ["Grouping", "Levels", "bands", "entropy", "joined", "levels_of", "pooled", "smaller_key"]

ENOUGH = 5  # records that a level must have to stand alone
ORDERED = ("integer", "number", "date")


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a key, a missing value apart: by value where the key is ordered, else the rarest first."""

    codes: NDArray[np.int64]  # (L,)
    size: NDArray[np.int64]  # (L,) records of each level
    ordered: bool  # whether neighbours may be merged: whole numbers, numbers and dates
    n_missing: int  # records without a value

    @property
    def entropy(self) -> float:
        """Bits that the key tells of a record, a missing value being a level."""
        return entropy(np.append(self.size, self.n_missing))


@dataclass(frozen=True, eq=False)
class Grouping:
    """A coarser key."""

    rule: str  # how the levels were grouped, in words and without a value
    group: NDArray[np.int64]  # (L,) group of each level, in the order of `Levels`
    after: int  # number of groups
    plain_rule: str = ""  # without a number of levels, for documents: rare levels are not counted there

    def codes(self, levels: Levels) -> NDArray[np.int64]:
        """New code of each level: that of the first level of its group."""
        first = np.empty(self.after, np.int64)
        first[self.group[::-1]] = levels.codes[::-1]
        return first[self.group]

    def entropy_lost(self, levels: Levels) -> float:
        """Bits that the coarser key no longer tells of a record."""
        size = np.bincount(self.group, levels.size, self.after)
        return max(0.0, levels.entropy - entropy(np.append(size, levels.n_missing)))


def entropy(size: NDArray[np.integer] | NDArray[np.floating]) -> float:
    """Entropy in bits of a distribution of records.

    Examples
    --------
    >>> entropy(np.array([2, 1, 1, 0]))
    1.5
    """
    share = size[size > 0] / size.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def levels_of(cells: Cells, key: str) -> Levels:
    """Levels of a key of cells."""
    level = cells.levels[cells.keys.index(key)]
    codes, size = level_sizes(cells, key)
    known = codes < level.span
    n_missing = int(size[~known].sum())
    codes, size = codes[known], size[known]
    ordered = level.kind in ORDERED
    if not ordered:
        # by label where sizes tie: codes depend on the engine
        order = np.lexsort((np.array(level.labels(codes)), size))
    elif level.levels is None:
        order = np.arange(len(codes))  # codes follow the values
    else:
        values = level.levels() if callable(level.levels) else level.levels
        order = np.argsort(values.to_numpy(zero_copy_only=False)[codes], kind="stable")
    return Levels(codes[order], size[order], ordered, n_missing)


def bands(levels: Levels, width: int) -> Grouping | None:
    """So many neighbouring levels in one band; None where one band would be left."""
    group = np.arange(len(levels.codes), dtype=np.int64) // width
    after = int(group[-1]) + 1 if len(group) else 0
    words = "neighbouring levels in pairs" if width == 2 else f"neighbouring levels in bands of {width}"
    return Grouping(words, group, after) if after > 1 else None


def pooled(levels: Levels) -> Grouping | None:
    """The rarest levels as one, two at least, until it and every level left has 5 records.

    None where one level would be left.
    """
    small = int(np.count_nonzero(levels.size < ENOUGH))
    reach = int(np.searchsorted(np.cumsum(levels.size), ENOUGH)) + 1
    number = max(2, small, reach)
    if number >= len(levels.size):
        return None
    group = np.maximum(np.arange(len(levels.size), dtype=np.int64) - (number - 1), 0)
    plain, after = "the rarest levels as one", len(levels.size) - number + 1
    return Grouping(f"the {number} rarest levels as one", group, after, plain)


def joined(levels: Levels, one: int, other: int) -> Grouping | None:
    """Two levels, by their places, as one; None where one level would be left."""
    if len(levels.codes) <= 2:
        return None
    group = np.arange(len(levels.codes), dtype=np.int64)
    low, high = min(one, other), max(one, other)
    group[high] = low
    group[high + 1 :] -= 1
    return Grouping("two levels as one", group, len(levels.codes) - 1)


def smaller_key(levels: Levels) -> Grouping | None:
    """The first step to a coarser key: pairs of neighbours, or the rarest levels of a category pooled."""
    return bands(levels, 2) if levels.ordered else pooled(levels)
