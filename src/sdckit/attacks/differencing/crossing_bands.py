"""Bands that cross: codes of one column in two releases that are the same values, grouped by other limits."""

import math
from dataclasses import dataclass

import numpy as np

from sdckit.data.hierarchy import read_band
from sdckit.data.ledger.digests import Levels
from sdckit.numerics.array_types import Bools, Floats, Ints

EVIDENCE = math.log(1e6)  # of a rule between levels: the chance that it is one by accident, at most
LEAST_BANDS, MOST_LONG = 5, 0.9  # in a row, of that share: growth by one step here and there has left out some step
MOSTLY = 0.5  # of the levels, for labels to be ranges
MOST_RANGES = 1 << 12  # levels that are read as numbers or ranges


@dataclass(frozen=True, eq=False)
class Crossing:
    """Pairs of codes, from 1, of levels here and there that have values in common.

    `sure`: whether values that were grouped otherwise are the only explanation; else some may have changed.
    """

    here: Ints
    there: Ints
    sure: bool


def crossing_of(
    here: Levels, there: Levels, used: tuple[Ints, Ints], people: Ints, alike: tuple[Ints, Ints], wrong: float = 0.0
) -> Crossing | None:
    """How two groupings of the same values cross; None if they do not, or nobody can tell.

    `used`: the pairs of codes that joined people have, how many `people` have each, and the pairs `alike` in text;
    `wrong`: the share of people that are joined wrongly, by estimate.

    Labels tell, where both are ranges. Else the people do: bands of one line with other limits overlap in a forest, so
    that no way along overlapping bands leads back to where it began (and so the counts of both releases tell how many
    are in each overlap). Changed values lead back sooner or later.
    """
    read = (ends_of_bands(levels) for levels in (here, there))
    ends = [own for own in read if own is not None and (own[:, 0] < own[:, 1]).mean() >= MOSTLY]
    if len(ends) == len(used):
        return _by_labels(ends, used)
    if ends and 2 * len(alike[0]) >= min(len(here.texts), len(there.texts)):
        return None  # of a ledger only equal labels are known, and these are most of them
    changed = ~np.isin(_joint(used, there), _joint(alike, there))
    if not changed.any() or min(np.bincount(own).max() for own in used) < 2:
        return None  # one is nested in the other
    kept, tree = _forest(used, people)
    if people[~kept].sum() > wrong * people.sum() or not _no_accident(used, people, changed & kept, alike):
        return None
    every = [len(np.unique(own)) for own in used] == [len(here.texts), len(there.texts)]
    first_of = [np.unique(own, return_index=True)[1] for own in used]
    bands = np.min([np.bincount(tree[first], minlength=tree.max() + 1) for first in first_of], axis=0)
    in_long = people[bands[tree] >= LEAST_BANDS].sum() >= MOST_LONG * people.sum()
    return Crossing(*used, sure=bool(every and kept.all() and in_long))


def _joint(pairs: tuple[Ints, Ints], there: Levels) -> Ints:
    return pairs[0] * (len(there.texts) + 1) + pairs[1]


def _by_labels(ends: list[Floats], used: tuple[Ints, Ints]) -> Crossing | None:
    """The ranges that overlap, if these of both releases cross and every person is in two that do."""
    whole = all((own[:, :2] == np.rint(own[:, :2])).all() for own in ends)
    first, second = (spans_of(own, whole=whole) for own in ends)
    for own in (first, second):
        low, high = own[np.argsort(own[:, 0])].T
        if (low[1:] <= high[:-1]).any():
            return None
    overlap = (first[:, None, 0] <= second[:, 1]) & (second[:, 0] <= first[:, None, 1])
    if not overlap[used[0] - 1, used[1] - 1].all():
        return None
    partners = [overlap.sum(axis=axis) for axis in (0, 1)]
    crosses = all(own.min() > 0 and own.max() > 1 for own in partners)
    here, there = np.nonzero(overlap)
    return Crossing(here + 1, there + 1, sure=True) if crosses else None


def _forest(used: tuple[Ints, Ints], people: Ints) -> tuple[Bools, Ints]:
    """Which pairs are of the forest of overlaps that has most people, and the tree of each pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    # SciPy 1.15 takes no graph whose places are numbers of 64 bits.
    first, second = (np.unique(own, return_inverse=True)[1].astype(np.int32) for own in used)
    second = second + first.max() + np.int32(1)
    n = int(second.max()) + 1
    overlaps = coo_array((-people.astype(np.float64), (first, second)), (n, n)).tocsr()
    forest = minimum_spanning_tree(overlaps).tocoo()
    kept = np.isin(first.astype(np.int64) * n + second, forest.row.astype(np.int64) * n + forest.col)
    return kept, connected_components(overlaps, directed=False)[1][first].astype(np.int64)


def _no_accident(used: tuple[Ints, Ints], people: Ints, changed: Bools, alike: tuple[Ints, Ints]) -> bool:
    """Whether those whose code is another one keep to so few pairs that changes of any kind would not."""
    free = people[changed].sum() - changed.sum()
    if free <= 0:
        return False
    highest = [int(max(own.max(), equal.max(initial=0))) for own, equal in zip(used, alike, strict=True)]
    shares = [
        np.bincount(own[changed], people[changed], most + 1) / people[changed].sum()
        for own, most in zip(used, highest, strict=True)
    ]
    possible = 1 - shares[0][alike[0]] @ shares[1][alike[1]]
    keeping = shares[0][used[0][changed]] @ shares[1][used[1][changed]]
    return bool(free * math.log(possible / keeping) >= EVIDENCE)


def ends_of_bands(levels: Levels) -> Floats | None:
    """Ends of what each level covers, and whether each is part of it (n, 4); None where one is no number or range."""
    if len(levels.texts) > MOST_RANGES:
        return None
    bands = [read_band(text) for text in levels.texts]
    return None if None in bands or not bands else np.array([band[:4] for band in bands if band], np.float64)


def spans_of(bands: Floats, *, whole: bool) -> Floats:
    """Least and greatest number that each level covers (n, 2), of `whole` numbers or of any."""
    low, high, has_low, has_high = bands.T
    inner = (low + 1, high - 1) if whole else (np.nextafter(low, np.inf), np.nextafter(high, -np.inf))
    return np.column_stack([np.where(has_low, low, inner[0]), np.where(has_high, high, inner[1])])
