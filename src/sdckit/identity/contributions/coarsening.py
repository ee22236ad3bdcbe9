"""Which levels of a key to merge first, and how much information a coarser key loses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.crosstab import Scale, numbers_of, scale_of
from sdckit.identity.contributions.declared import NOTHING, Declared
from sdckit.identity.contributions.recode_steps import along, grouped, in_bands, other
from sdckit.identity.contributions.round_bands import round_edges

if TYPE_CHECKING:
    from sdckit.cells.table import Cells
    from sdckit.data.columns import Coded
    from sdckit.data.hierarchy import Hierarchy


ENOUGH = 5  # records that a level must have to stand alone
MANY = 50  # records of which no figure tells how many they are
NEIGHBOURS = ("number", "date", "ordered")


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a key, a missing value apart: in their order where the key has one, else the rarest first."""

    codes: NDArray[np.int64]  # (L,)
    size: NDArray[np.int64]  # (L,) records of each level
    scale: Scale
    n_missing: int  # records without a value
    coded: Coded  # how the levels print
    hierarchy: Hierarchy | None = None
    file: str = ""  # how a recipe names the file of the hierarchy

    @property
    def ordered(self) -> bool:
        """Whether neighbours may be merged: numbers, dates and ordered categories."""
        return self.scale in NEIGHBOURS

    @property
    def entropy(self) -> float:
        """Bits that the key tells of a record, a missing value being a level."""
        return entropy(np.append(self.size, self.n_missing))

    @property
    def hide_the_rare(self) -> bool:
        """Whether a step to fewer levels is there however many levels are rare: two are frequent, or many records left.

        Beside one frequent level there is such a step only where the rare ones are two, and five records.
        """
        frequent = self.size[self.size >= ENOUGH]
        return len(frequent) >= 2 or int(self.size.sum() - frequent.sum()) >= MANY

    def labels(self) -> list[str]:
        """Printed form of the levels."""
        return self.coded.labels(self.codes)


@dataclass(frozen=True, eq=False)
class Grouping:
    """A coarser key."""

    rule: str  # how the levels were grouped, in words and without a value
    group: NDArray[np.int64]  # (L,) group of each level, in the order of `Levels`
    after: int  # number of groups
    plain_rule: str = ""  # without a number of levels, for documents: rare levels are not counted there
    step: Mapping[str, Any] | None = None  # the step of a recipe that does this; None where none does
    public: bool = False  # whether the step names nothing that few records of the data have

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


def levels_of(cells: Cells, key: str, declared: Declared = NOTHING) -> Levels:
    """Levels of a key of cells, as numbers, an ordered scale or codes: what is declared wins."""
    level = cells.levels[cells.keys.index(key)]
    codes, size = cells.level_sizes(key)
    known = codes < level.span
    n_missing = int(size[~known].sum())
    codes, size = codes[known], size[known]
    hierarchy = declared.hierarchies.get(key)
    scale: Scale = "codes"
    if hierarchy is None:
        named = {"numeric": key in declared.numeric, "ordered": key in declared.ordered}
        scale = scale_of(level, codes, size, **named)
    values = numbers_of(level, codes)
    if scale not in NEIGHBOURS:
        # by label where sizes tie: codes depend on the engine
        order = np.lexsort((np.array(level.labels(codes)), size))
    elif values is not None:
        order = np.argsort(values, kind="stable")
    elif level.kind == "category":
        order = np.arange(len(codes))  # codes follow the categories
    else:
        order = np.argsort(np.array(level.labels(codes)), kind="stable")
    return Levels(
        codes[order],
        size[order],
        scale,
        n_missing,
        level.without_rows(),
        hierarchy,
        declared.files.get(key, ""),
    )


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


def smaller_key(levels: Levels, key: str = "") -> Grouping | None:
    """The first step to a coarser key, as the kind of its levels allows.

    Numbers in bands with round edges, dates by the year or month, ordered categories in pairs of neighbours, codes
    one level up their hierarchy; of codes without one, the rarest as one. None where one level would be left.
    """
    if levels.hierarchy is not None and (found := _up(levels, levels.hierarchy, key)) is not None:
        return found
    if levels.scale == "number":
        return _rounded(levels, key)
    if levels.scale == "date":
        return _calendar(levels)
    if levels.scale == "ordered":
        found = bands(levels, 2)
        step = None if found is None else grouped(key, levels.coded, levels.labels(), found.group)
        return None if found is None else replace(found, step=step)
    found = pooled(levels)
    if found is None:
        return None
    return replace(found, step=other(key, levels.coded, levels.labels(), found.group))


def _rounded(levels: Levels, key: str) -> Grouping | None:
    values = numbers_of(levels.coded, levels.codes)
    assert values is not None
    edges = round_edges(values, levels.size)
    group, after = _numbered(np.searchsorted(edges, values, side="right"))
    if not 1 < after < len(values):
        return None
    return Grouping("bands with round edges", group, after, step=in_bands(key, edges), public=True)


def _calendar(levels: Levels) -> Grouping | None:
    days = np.array([label[:10] for label in levels.labels()])
    for length, rule in ((4, "years"), (7, "months")):
        group, after = _numbered([day[:length] for day in days.tolist()])
        if 1 < after < len(days):
            return Grouping(rule, group, after)
    return None


def _up(levels: Levels, hierarchy: Hierarchy, key: str) -> Grouping | None:
    """The lowest level of a hierarchy that merges anything; values that it does not have stay by themselves."""
    labels = levels.labels()
    for level in range(1, len(hierarchy.levels) + 1):
        above = {text_of(leaf): name for leaf, name in hierarchy.at(level).items()}
        names = [(text_of(label) in above, above.get(text_of(label), label)) for label in labels]
        group, after = _numbered(names)
        if 1 < after < len(labels):
            missed = not all(known for known, _ in names)
            step = along(key, levels.coded, levels.file, level, missed=missed)
            return Grouping(f"hierarchy, level {level}", group, after, step=step, public=True)
    return None


def text_of(value: object) -> str:
    """A value as files write it: 3.0 is 3."""
    text = str(value)
    try:
        return str(int(text)) if text.isdecimal() else str(float(text)).removesuffix(".0")
    except ValueError:
        return text


def _numbered(names: Sequence[Hashable] | NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Groups from 0 on in the order of first mention, and how many there are."""
    if isinstance(names, np.ndarray):  # ascending
        found, group = np.unique(names, return_inverse=True)
        return group.astype(np.int64), len(found)
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], np.int64), len(place)
