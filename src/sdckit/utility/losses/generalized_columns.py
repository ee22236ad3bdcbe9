"""Generalised columns: the level that each value went up to in its hierarchy, and what that lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.data.columns import code_column
from sdckit.data.hierarchy import Hierarchy, leaves_as, read_band, value_as
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats, Ints, Values

SUPPRESSED, UNKNOWN = -1, -2
ANY = "\x00"  # no value of a file
MOST_CELLS = 4_000_000  # of a table of counts


@dataclass(frozen=True, eq=False)
class Lattice:
    """A hierarchy as numbers: `node` (L + 1, V) names each of V leaves at each level, the leaves themselves first.

    `size` has the leaves below each node, `share` what a node covers of the domain beyond a single value, 0 to 1.
    """

    node: Ints
    size: Floats
    share: Floats

    @property
    def height(self) -> int:
        """Levels above the leaves."""
        return len(self.node) - 1


def levels_of(fits: Bools, known: Bools) -> Ints:
    """The level that each value is at: that of all together if there is one, else the lowest of each.

    `fits` (L + 1, P): whether a value is called as its leaf is at each level. `known` (P,): it is not suppressed;
    `SUPPRESSED` stands for those that are, `UNKNOWN` for one that is no generalisation of its leaf.

    >>> fits = np.array([[False, True, False], [True, True, False], [True, False, True]])
    >>> levels_of(fits, np.array([True, True, False])).tolist()
    [1, 1, -1]
    >>> levels_of(fits, np.array([True, True, True])).tolist()
    [1, 0, 2]
    """
    levels = np.where(known, UNKNOWN, SUPPRESSED)
    together = np.flatnonzero((fits | ~known).all(axis=1))
    if len(together):
        levels[known] = together[0]
        return levels
    at = known & fits.any(axis=0)
    levels[at] = fits.argmax(axis=0)[at]
    return levels


def entropy_bits(leaf: Ints, node: Ints, level: Ints, times: Ints, lattice: Lattice) -> float:
    """Non-uniform entropy (Gionis & Tassa): bits that are lost about the values of all records together.

    Each entry is a leaf and what was made of it, in `times` records; a suppressed one may be any leaf.
    """
    of_leaf = np.bincount(leaf, times, lattice.node.shape[1])
    below = np.full(len(leaf), times.sum(), np.float64)
    for at in np.unique(level[level >= 0]):
        here = level == at
        below[here] = np.bincount(lattice.node[at], of_leaf, len(lattice.size))[node[here]]
    return float(-(times * np.log2(of_leaf[leaf] / below)).sum()) + 0.0


def entropy_in_steps(leaf: Ints, level: int, times: Ints, suppressed: Ints, lattice: Lattice) -> float:
    """Bits as ARX counts them: every record is generalised first, then the suppressed ones lose their node.

    `suppressed` of the `times` records of each entry are.
    """
    of_leaf = np.bincount(leaf, times, lattice.node.shape[1])
    node = lattice.node[level]
    of_node = np.bincount(node, of_leaf, len(lattice.size))
    bits = -(times * np.log2(of_leaf[leaf] / of_node[node[leaf]])).sum()
    gone = np.bincount(node[leaf], suppressed, len(lattice.size))
    gone = gone[gone > 0]
    return float(bits - (gone * np.log2(gone / gone.sum())).sum()) + 0.0


# --- a column: its hierarchy as numbers, and what it lost -----------------------------------------------


@dataclass(frozen=True, eq=False)
class Column:
    """What was made of a column: distinct pairs of a leaf and a node, each with its level and how often it occurs.

    `of_record`: the pair of each record, -1 where the original has no value.
    """

    lattice: Lattice
    leaf: Ints
    node: Ints
    level: Ints
    times: Ints
    of_record: Ints

    @cached_property
    def together(self) -> int | None:
        """The level that every value is at which is not suppressed; None where there are several."""
        levels = np.unique(self.level[self.level >= 0])
        return 0 if not len(levels) else int(levels[0]) if len(levels) == 1 else None

    def of_pairs(self, of_node: Floats, suppressed: float) -> Floats:
        """A number for each pair: that of its node, or `suppressed`."""
        return np.where(self.level == SUPPRESSED, suppressed, of_node[np.maximum(self.node, 0)])

    def of_records(self, of_pair: Values, otherwise: float) -> Values:
        """What each pair has, by record; `otherwise` where the original has no value."""
        return np.where(self.of_record < 0, otherwise, of_pair[self.of_record])

    def mean(self, of_pair: Floats) -> float:
        """Mean over the records with an original value; 0 without any."""
        return float((of_pair * self.times).sum() / max(int(self.times.sum()), 1))

    @cached_property
    def loss(self) -> float:
        """Iyengar's loss, 0 to 1."""
        return self.mean(self.of_pairs(self.lattice.share, 1.0))

    @cached_property
    def lost_levels(self) -> float:
        """Mean share of the levels that values went up; 1 where suppressed."""
        return self.mean(np.where(self.level == SUPPRESSED, 1.0, self.level / self.lattice.height))

    @cached_property
    def highest(self) -> float:
        """The highest level of a value; that of its hierarchy where none is left."""
        return float(self.level.max(initial=0) if (self.level >= 0).any() else self.lattice.height)

    @cached_property
    def entropy(self) -> float:
        """Bits lost, as the paper has it."""
        return entropy_bits(self.leaf, self.node, self.level, self.times, self.lattice)

    @cached_property
    def most_entropy(self) -> float:
        """Bits that all of its values have."""
        gone = np.full(len(self.leaf), SUPPRESSED)
        return entropy_bits(self.leaf, gone, gone, self.times, self.lattice)


def lattice_of(
    hierarchy: Hierarchy, edges: Sequence[float] | None = None, kinds: tuple[str, str] = ("text", "text")
) -> tuple[Lattice, list[dict[Any, int]]]:
    """A hierarchy as numbers, and for each level the number of each name.

    `kinds`: those of the column of values, and of the column of names. With `edges` (one level of bands over numbers)
    the share of a node is that of its width.
    """
    names: list[dict[Any, int]] = []
    node, size, n = [], list[float](), 0
    above = ([value_as(value, kinds[1]) for value in values] for values in hierarchy.levels)
    for values in (leaves_as(hierarchy, kinds[0]), *above):
        own = {value: n + at for at, value in enumerate(dict.fromkeys(values))}
        numbers = np.array([own[value] for value in values], np.int64)
        size += np.bincount(numbers - n, minlength=len(own)).tolist()
        node.append(numbers)
        names.append(own)
        n += len(own)
    sizes = np.array(size, np.float64)
    share = (sizes - 1) / max(len(hierarchy.leaves) - 1, 1)
    if edges is not None:
        numbers = np.array([float(leaf) for leaf in hierarchy.leaves])
        for number in names[1].values():
            inside = numbers[node[1] == number]
            low = max((edge for edge in edges if edge <= inside.min()), default=numbers.min())
            high = min((edge for edge in edges if edge > inside.max()), default=numbers.max())
            ends = max(low, numbers.min()), min(high, numbers.max())
            share[number] = (ends[1] - ends[0]) / max(float(np.ptp(numbers)), 1e-300)
    return Lattice(np.array(node), sizes, share), names


def read_column(pair: Pair, name: str, j: int, hierarchy: Hierarchy | None, edges: Sequence[float] | None) -> Column:
    """What release `j` (from 0) made of a column.

    Without a hierarchy, it is what each value of the original became in the release, and one name for all above it;
    no edges (an empty sequence) are read from the labels of the release. The original of a recoded pair is the one
    before.
    """
    raw = pair.original if pair.raw is None or name not in pair.raw.columns else pair.raw
    (before, values), (after, names_after) = map(_labelled, (raw[name], pair.released[j][name]))
    n_before, n_after, order = len(values), len(names_after), pair.orders[j]
    after = after if order is None else after[order]
    known = before < n_before
    if not known.any():
        raise DataError(f"column {name!r} has no value in the original; leave it out", argument="hierarchies")
    numbers = np.where(known, before * (n_after + 1) + after, -1)
    pairs, of_record, times = _counted(numbers, (n_before + 1) * (n_after + 1))
    first, second = pairs // (n_after + 1), pairs % (n_after + 1)
    gone = second == n_after
    kinds = _kind(raw[name]), _kind(pair.released[j][name])
    texts = [values[at] for at in first], ["" if at == n_after else names_after[at] for at in second]
    alone = hierarchy is None
    if hierarchy is None:
        hierarchy = _observed(name, texts, gone)
        edges = edges if edges is None or len(edges) else _edges_of(names_after)
    lattice, names = lattice_of(hierarchy, edges, kinds)
    leaves = [value_as(text, kinds[0]) for text in texts[0]]
    kept, coarser = ([value_as(text, kind) for text in texts[1]] for kind in kinds)
    if not all(value in names[0] for value in leaves):
        says = f"column {name!r}: a value of the original is in no line of its hierarchy; complete it"
        raise DataError(says, argument="hierarchies")
    leaf = np.array([names[0][value] for value in leaves], np.int64)
    levels = [[own.get(value, -1) for value in (coarser if at else kept)] for at, own in enumerate(names)]
    number = np.array(levels, np.int64)
    fits = (number == lattice.node[:, leaf]) & ~gone
    # ARX writes a suppressed value as the top of its hierarchy.
    at_top = fits[-1] & (len(names[-1]) == 1)
    level = levels_of(fits, ~gone & ~at_top if not (at_top | gone).all() else ~gone)
    if alone:  # what kept its name and shares it with no other value was not made coarser
        level[fits[0] & (level == 1) & (lattice.size[lattice.node[1, leaf]] == 1)] = 0
    if (level == UNKNOWN).any():
        says = f"column {name!r}: a value of {pair.names[j + 1]} is no generalisation of that in the original"
        raise DataError(f"{says}; name the right hierarchy, or leave the column out", argument="hierarchies")
    return Column(lattice, leaf, lattice.node[np.maximum(level, 0), leaf], level, times, of_record)


def _kind(series: Any) -> str:
    """The kind of a column, as `value_as` takes it."""
    return "number" if series.dtype.is_numeric() else "boolean" if str(series.dtype) == "Boolean" else "text"


def _labelled(series: Any) -> tuple[Ints, list[str]]:
    """A column as codes from 0 on, one more than the last where a value is missing, and the labels of the codes."""
    coded = code_column(series)
    codes = coded.codes()
    distinct = _counted(codes, coded.span + 1)[0]
    present = distinct[distinct < coded.span]
    if coded.span > MOST_CELLS:
        number = np.where(codes == coded.span, len(present), np.searchsorted(present, codes))
    else:
        places = np.full(coded.span + 1, len(present))
        places[present] = np.arange(len(present))
        number = places[codes]
    return number, coded.labels(present)


def _counted(numbers: Ints, most: int) -> tuple[Ints, Ints, Ints]:
    """Distinct numbers from 0 on, the place of each record among them (-1 for a negative one), and their counts."""
    if most > MOST_CELLS:
        distinct, places, times = np.unique(numbers, return_inverse=True, return_counts=True)
        below = int((distinct < 0).sum())
        return distinct[below:], places - below, times[below:]
    counts = np.bincount(numbers + 1, minlength=most + 1)[1:]
    distinct = np.flatnonzero(counts)
    place = np.full(most + 1, -1)
    place[distinct + 1] = np.arange(len(distinct))
    return distinct, place[numbers + 1], counts[distinct]


def _observed(name: str, texts: tuple[list[str], list[str]], gone: Bools) -> Hierarchy:
    """What each value of the original became, and above it one name for all, as a hierarchy."""
    became: dict[str, str] = {}
    for before, after, away in zip(*texts, gone.tolist(), strict=True):
        if not away and became.setdefault(before, after) != after:
            raise DataError(f"column {name!r}: one value became several; give its hierarchy", argument="hierarchies")
    leaves = tuple(dict.fromkeys(texts[0]))
    return Hierarchy(leaves, (tuple(became.get(leaf, leaf) for leaf in leaves), (ANY,) * len(leaves)))


def _edges_of(labels: Sequence[str]) -> list[float] | None:
    """Edges of bands by their labels; None where one is no band.

    >>> _edges_of(["under 18", "18-39", "40+"])
    [-inf, 18.0, 40.0, inf]
    """
    bands = [band for label in labels if (band := read_band(label)) is not None]
    if len(bands) < len(labels):
        return None
    starts = {band.low if band.has_low else math.nextafter(band.low, math.inf) for band in bands}
    return [*sorted(starts), math.inf]
