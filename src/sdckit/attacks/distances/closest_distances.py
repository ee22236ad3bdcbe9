"""Distances between the nearest records of several files, and what is made of them: numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.numerics.array_types import Floats
from sdckit.numerics.coding import Encoded
from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes
from sdckit.numerics.search.neighbours import Index, prepare


@dataclass(frozen=True, eq=False)
class Searches:
    """Files encoded together, each made ready once and each search done once."""

    files: Mapping[str, Encoded]
    memo: dict[tuple[str, ...], Index | Floats] = field(default_factory=dict, repr=False)

    def index(self, name: str) -> Index:
        """A file made ready."""
        if (name,) not in self.memo:
            self.memo[name,] = prepare(self.files[name])
        found = self.memo[name,]
        assert isinstance(found, Index)
        return found

    def nearest(self, query: str, base: str, most: int = 2) -> Floats:
        """Distances (n, 2) to the two nearest records of another file; within a file (n, 1) to the nearest other.

        One where the file has no more, or where `most` is 1 and two were not searched for before.
        """
        k = 1 if query == base else min(most, self.files[base].n)
        known = self.memo.get((query, base))
        if not isinstance(known, np.ndarray) or known.shape[1] < k:
            skip = np.arange(self.files[base].n) if query == base else None
            known = self.index(base).distances(self.files[query], k, skip=skip)
            self.memo[query, base] = known
        return known

    def ratio(self, query: str, base: str) -> Floats:
        """Nearest over second nearest distance of each record."""
        return distance_ratio(self.nearest(query, base), self.tolerance)

    def distance(self, query: str, base: str) -> Floats:
        """Distance of each record to its nearest; NaN where a file of one record is searched in itself."""
        if query == base and self.files[base].n == 1:
            return np.full(1, np.nan)
        return self.nearest(query, base, 1)[:, 0]

    @property
    def tolerance(self) -> float:
        """Distances that differ by no more are equal."""
        return next(iter(self.files.values())).metric.tolerance


def distance_ratio(nearest: Floats, tolerance: float) -> Floats:
    """Nearest over second nearest distance; 1 where both are equally near, 0 apart included.

    Examples
    --------
    >>> distance_ratio(np.array([[1.0, 4.0], [0.0, 2.0], [0.0, 0.0]]), 1e-12).tolist()
    [0.25, 0.0, 1.0]
    """
    if nearest.shape[1] == 1:
        return np.full(len(nearest), np.nan)
    first, second = nearest.T
    ratio: Floats = np.divide(first, second, out=np.ones(len(first)), where=second > tolerance)
    return ratio


def wins(distance: Floats, other: Floats, tolerance: float) -> Floats:
    """1 where the first distance is the larger, 0 where it is the smaller, 1/2 where they are equal."""
    larger = np.where(distance > other + tolerance, 1.0, 0.5)
    return np.where(distance < other - tolerance, 0.0, larger)


def adversarial_accuracy(files: Searches, real: str, released: str) -> float:
    """How often the nearest record tells a real from a released one: 0 for copies, 1/2 ideal, 1 for another world.

    Both files should have as many records: `same_size`.
    """
    if files.files[real].n < 2 or files.files[released].n < 2:
        return math.nan
    halves = [
        wins(files.distance(a, b), files.distance(a, a), files.tolerance).mean()
        for a, b in ((real, released), (released, real))
    ]
    return float(sum(halves) / 2)


def same_size(files: Searches, names: Sequence[str], rng: np.random.Generator) -> Searches:
    """Files of equal size: of the larger ones as many records as the smallest has, drawn at random."""
    sizes = [files.files[name].n for name in names]
    smallest = min(sizes)
    if max(sizes) == smallest:
        return files
    chosen = {}
    for name, size in zip(names, sizes, strict=True):
        rows = np.sort(rng.choice(size, smallest, replace=False)) if size > smallest else np.arange(size)
        chosen[name] = files.files[name].take(rows)
    whole = {name for name, size in zip(names, sizes, strict=True) if size == smallest}
    return Searches(chosen, {among: found for among, found in files.memo.items() if whole.issuperset(among)})


def hits(
    numbers: Sequence[tuple[Floats, Floats]],
    codes: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]],
    reach: Floats,
) -> NDArray[np.bool_]:
    """Which records of the first file have one of the second with all their categories, and no number farther away.

    Each variable has its values in both files, NaN and its own code where missing. `reach` is how far each number
    may be; a missing number is met by a missing one only.

    Examples
    --------
    >>> x = (np.array([1.0, 2.0, np.nan]), np.array([1.4, np.nan]))
    >>> hits([x], [], np.array([0.5])).tolist()
    [True, False, True]
    """
    n, n_other = (len(one) for one in (numbers[0] if numbers else codes[0]))
    columns = [np.concatenate(pair) for pair in codes]
    columns += [np.concatenate([np.isnan(one) for one in pair]).astype(np.int32) for pair in numbers]
    groups = group_codes(columns, n + n_other)
    mine, theirs = groups.of_row[:n], groups.of_row[n:]
    if not numbers:
        return np.bincount(theirs, minlength=len(groups.size))[mine] > 0
    boxes = []
    for (a, b), far in zip(numbers, reach.tolist(), strict=True):
        centre, point = np.nan_to_num(a), np.nan_to_num(b)
        slack = 1e-12 * (
            far + np.abs(centre)
        )  # a difference of exactly the reach is inside, whatever its rounding
        boxes.append(Dimension(point, point, point, centre - far - slack, centre + far + slack))
    return count_in_boxes(boxes, theirs, mine, len(groups.size)) > 0


@dataclass(frozen=True, eq=False)
class Exchange:
    """Of each released record the share of its nearest real ones that are originals, and what chance makes of it.

    Attributes
    ----------
    share : ndarray, float64, shape (n_released,)
        1 where the nearest are originals, 0 where they are controls, between where equally near.
    expected : float
        Share of originals among the real records.
    by_chance : ndarray, float64, shape (resamples,)
        Mean share when original and control are told apart at random.
    """

    share: Floats
    expected: float
    by_chance: Floats

    @property
    def spread(self) -> float:
        """Standard deviation of the mean share under chance."""
        return (
            float(np.sqrt(np.mean((self.by_chance - self.expected) ** 2)))
            if len(self.by_chance)
            else math.nan
        )

    @property
    def p_value(self) -> float:
        """Probability of a mean share so large under chance."""
        n = len(self.by_chance)
        return float((1 + (self.by_chance >= self.share.mean() - 1e-12).sum()) / (1 + n)) if n else math.nan


def exchange(
    original: Encoded, control: Encoded, released: Encoded, *, resamples: int, rng: np.random.Generator
) -> Exchange:
    """Find whether released records are nearest to originals or to controls, and compare with shuffled labels.

    If the release owes as much to the one file as to the other, any division of the real records into two
    files of these sizes is as likely as the actual one. That holds for files of different sizes, too.
    """
    n, together = original.n, _stacked(original, control)
    truth = np.arange(together.n) < n
    within = prepare(together).within(released, 1)
    share, weight = within.balance(truth.astype(np.float64))
    # whichever records are called originals, the mean share is the sum of what they weigh in it
    by_chance = np.array([weight[rng.permutation(truth)].sum() for _ in range(resamples)])
    return Exchange(share, n / together.n, by_chance)


def _stacked(a: Encoded, b: Encoded) -> Encoded:
    return Encoded(np.concatenate([a.numbers, b.numbers]), np.concatenate([a.codes, b.codes]), a.metric)
