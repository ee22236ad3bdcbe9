"""Numbers that moved a little from one file to another of the same people: who lies nearest to whom in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sdckit.attacks.differencing.linked_releases import MOST_CHANCE, mostly_beyond
from sdckit.attacks.differencing.several_columns import FEWEST, LinkedTogether, Search, beyond_chance, enough, scattered
from sdckit.attacks.equal_records import on_a_scale
from sdckit.numerics.array_types import Bools, Floats, Ints, Words
from sdckit.numerics.coding import hash_words

APART, BEYOND = 100.0, 50.0  # of two blocks on the axis that keeps them apart; what is farther is in another block
MOST_TRIED = 1 << 16  # rows of both files by which columns are tried
MOST_MIDDLES = 3  # numbers in the middle of which that is done
NEARER = 0.25  # share of different people who lie nearer than those who count as near


def link_by_near_values(
    equal: Mapping[str, tuple[Ints, Ints]], numbers: Mapping[str, tuple[Floats, Floats]]
) -> tuple[LinkedTogether | None, bool]:
    """Find columns by whose near and equal values most people are linked rightly; and whether the answer is sure.

    `equal` has the codes of columns in both files, as `link_by_several`; `numbers` their numbers, NaN for none, whose
    place comes after those in the columns linked; one may be in both. Of all rows of both files two are a pair if they
    have the same values of some columns and each is the other's nearest in some numbers, which are put on the scale of
    the ranks of their own file. Where people are others, a row's nearest one is of its own file or of the other by the
    shares of both files around it: with A and B pairs within the files there are at most 2 √(A·B) across them (Cauchy
    and Schwarz). What is beyond is right, as where values are equal. Then columns that do not link, or are left out,
    must be equal or nearer than those of different people.

    >>> rng = np.random.default_rng(1)
    >>> sex, first = np.arange(200) % 2, rng.normal(size=(4, 200))
    >>> second = first + rng.normal(scale=0.02, size=(4, 200))
    >>> numbers = {str(at): (first[at], second[at, ::-1]) for at in range(4)}
    >>> linked, _ = link_by_near_values({"sex": (sex, sex[::-1])}, numbers)
    >>> len(linked.here) > 150, float(np.mean(linked.there == 199 - linked.here)) > 0.95
    (True, True)
    """
    names = [*equal, *numbers]
    file = np.repeat(np.array([0, 1], np.uint64), [len(own) for own in next(iter(numbers.values()))])
    places = [np.concatenate([on_a_scale(own, own) for own in both]) for both in numbers.values()]
    whole = _NearSearch([scattered(codes, at) for at, codes in enumerate(equal.values())], places, file)
    sure = len(file) <= MOST_TRIED
    for search in [whole] if sure else whole.middles():
        chosen = search.best(range(len(names)))
        if not enough(search.pairs(chosen)):
            continue
        if _confirmed(search, chosen, names) and enough(whole.pairs(chosen)):
            first, second = whole.linked(chosen)
            there, hidden = second - int((file == 0).sum()), np.full(len(first), -1)
            return LinkedTogether(tuple(sorted(chosen)), first, there, whole.right(chosen), hidden), True
        sure = False
    return None, sure


class _NearSearch(Search):
    """Sets of columns, by the pairs that are equal on some and each other's nearest on the others."""

    def __init__(self, words: Sequence[Words], places: Sequence[Floats], file: Words, rows: Bools | None = None):
        rows = np.ones(len(file), np.bool_) if rows is None else rows
        self.equal, self.places = [word[rows] for word in words], [place[rows] for place in places]
        spots = [hash_words(place.view(np.uint64) + np.uint64(at)) for at, place in enumerate(self.places)]
        super().__init__([*self.equal, *spots], file[rows], None)
        self.drawn = 0

    def middles(self) -> Iterator[_NearSearch]:
        """Of many rows those in the middle of a number, of the numbers of most values: one that stays has all pairs."""
        share = MOST_TRIED / len(self.file)
        for place in sorted(self.places, key=lambda place: -len(np.unique(place)))[:MOST_MIDDLES]:
            middle = np.abs(place - 0.5) <= share / 2
            if middle.sum() <= MOST_TRIED * 4:
                yield _NearSearch(self.equal, self.places, self.file, middle)

    def best(self, columns: Sequence[int]) -> frozenset[int]:
        """The set of the best score that putting columns in and out leads to, from all, and from all numbers."""
        every = frozenset(columns)
        starts = every, every - {*range(len(self.equal))}
        return max((self._climbed(start, columns) for start in starts), key=self.score)

    def pairs(self, columns: frozenset[int], *, every: bool = False) -> tuple[int, int, int]:
        """Pairs of rows that are each other's nearest: within the first file, across, within the second."""
        if columns not in self.memo or every:
            first, second = self.nearest(columns)
            files = (self.file[first] + self.file[second]).astype(np.int64)
            within, across, other = np.bincount(files, minlength=3).tolist()
            self.memo[columns] = (within, across, other)
        return self.memo[columns]

    def linked(self, columns: frozenset[int]) -> tuple[Ints, Ints]:
        """The rows of each pair across the files."""
        first, second = self.nearest(columns)
        across = self.file[first] != self.file[second]
        return np.minimum(first, second)[across], np.maximum(first, second)[across]

    def nearest(self, columns: frozenset[int]) -> tuple[Ints, Ints]:
        """The rows of each pair: alone at one place, or each at its own, and none nearer or as near to either."""
        from scipy.spatial import KDTree  # slow to load

        spot = self.total(columns)
        order = np.argsort(spot)
        begins = np.flatnonzero(np.diff(spot[order], prepend=~spot[order[:1]]))
        size = np.diff(begins, append=len(order))
        rows, twos = order[begins], begins[size == 2]
        near = sorted(at for at in columns if at >= len(self.equal))
        if not near:
            return order[twos], order[twos + 1]
        block = np.unique(self.total(columns - {*near})[rows], return_inverse=True)[1]
        points = np.column_stack([APART * block, *(self.places[at - len(self.equal)][rows] for at in near)])
        tree = KDTree(points, balanced_tree=False, compact_nodes=False)
        distance, at = tree.query(points, k=3, distance_upper_bound=BEYOND)
        own, other = np.arange(len(rows)), np.minimum(at[:, 1], len(rows) - 1)
        alone = (at[:, 0] == own) & (distance[:, 1] < distance[:, 2]) & (size == 1) & (size[other] == 1)
        other = np.where(alone, other, -1)
        mutual = (own < other) & (other[other] == own)
        first = np.concatenate([order[twos], rows[mutual]])
        return first, np.concatenate([order[twos + 1], rows[other[mutual]]])


def _confirmed(search: _NearSearch, chosen: frozenset[int], names: Sequence[str]) -> bool:
    """Whether linked people agree beyond chance on most columns, each left out of those that link.

    Chance is how often pairs within one file agree, or linked people each beside another one's partner.
    """
    beyond, by_name = [], {name: at for at, name in enumerate(names)}
    for name, column in by_name.items():  # of what is a number, too, the number
        first, second = search.nearest(frozenset(at for at in chosen if names[at] != name))
        across = search.file[first] != search.file[second]
        if across.sum() < FEWEST:
            continue
        others = np.roll(second[across], 1)  # of pairs in no order
        pairs = [(first[across], second[across]), (first[across], others), (first[~across], second[~across])]
        values = [*search.equal, *search.places][column]
        apart = [np.abs(values[here] - values[there]) for here, there in pairs if len(here) >= FEWEST]
        least = 0 if column < len(search.equal) else min(np.quantile(gaps, NEARER) for gaps in apart[1:])
        agreed, *chances = [(float((gaps <= least).mean()), len(gaps)) for gaps in apart]
        by_chance = max(chances)
        if by_chance[0] < MOST_CHANCE:
            beyond.append(beyond_chance(agreed, by_chance, errors=1))
    return mostly_beyond(beyond)
