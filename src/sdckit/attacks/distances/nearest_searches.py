"""Searches for nearest neighbours between files, made once each, and of samples of files of other sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.coding import Metric
from sdckit.numerics.search.neighbours import Index, pairwise, prepare

RANKS = 8  # of the nearest, times the ratio of file sizes: a sample has none of them for one record in 3,000
RANKED = 1_000_000  # distances that are ranked at a time


@dataclass(frozen=True, eq=False)
class Size:
    """An encoded file whose rows are no longer needed."""

    n: int
    metric: Metric


@dataclass(frozen=True, eq=False)
class Ranked:
    """The nearest rows of the base for each query: distances (n, k), ascending, and rows (n, k)."""

    away: Floats
    rows: Ints


@dataclass(frozen=True, eq=False)
class Searches:
    """Jointly encoded files with cached indexes and nearest-neighbour searches.

    `drawn`: the rows searched for. `ranked`: of two files, by their names, the nearest rows in each for the other, in
    which those of samples are looked up; of one file without the record itself.
    """

    files: Mapping[str, Any]  # Encoded; or Size, where no row is searched for or in any more
    memo: dict[tuple[str, ...], Index | Floats] = field(default_factory=dict, repr=False)
    drawn: Mapping[str, Ints] = field(default_factory=dict, repr=False)
    ranked: Mapping[tuple[str, str], Ranked] = field(default_factory=dict, repr=False)

    def index(self, name: str) -> Index:
        """The search index of a file."""
        if (name,) not in self.memo:
            self.memo[name,] = prepare(self.files[name])
        index = self.memo[name,]
        assert isinstance(index, Index)
        return index

    def nearest(self, query: str, base: str, most: int = 2) -> Floats:
        """Distances (n, 2) of each query record to its two nearest base records; within one file (n, 1).

        A single column, too, if the base has one record, or if `most` is 1 and no wider search is cached. Within one
        file a record is no neighbour of itself.
        """
        k = 1 if query == base else min(most, self.files[base].n)
        known = self.memo.get((query, base))
        if not isinstance(known, np.ndarray) or known.shape[1] < k:
            rows = self.drawn.get(query)
            queries = self.files[query] if rows is None else self.files[query].take(rows)
            skip = (np.arange(queries.n) if rows is None else rows) if query == base else None
            known = self.index(base).distances(queries, k, skip=skip)
            self.memo[query, base] = known
        return known

    def without_rows(self) -> Searches:
        """The searches that were made, and of the files only how many rows they have."""
        return Searches({name: Size(file.n, file.metric) for name, file in self.files.items()}, self.memo, self.drawn)

    def ratio(self, query: str, base: str) -> Floats:
        """Nearest-neighbour distance ratio (nearest over second nearest) of each query record."""
        return distance_ratio(self.nearest(query, base), self.tolerance)

    def distance(self, query: str, base: str) -> Floats:
        """Distance of each query record to its nearest; NaN within a file of one record."""
        if query == base and self.files[base].n == 1:
            return np.full(1, np.nan)
        return self.nearest(query, base, 1)[:, 0]

    @property
    def tolerance(self) -> float:
        """Largest difference of distances that are treated as equal."""
        tolerance: float = next(iter(self.files.values())).metric.tolerance
        return tolerance


def distance_ratio(nearest: Floats, tolerance: float) -> Floats:
    """Nearest-neighbour distance ratio; 1 where both distances are equal (also if both are 0).

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


def same_size(files: Searches, names: Sequence[str], rng: np.random.Generator) -> Searches:
    """Subsample the larger files at random to the size of the smallest."""
    sizes = [files.files[name].n for name in names]
    smallest = min(sizes)
    if max(sizes) == smallest:
        return files
    rows = {
        name: np.sort(rng.choice(size, smallest, replace=False)) if size > smallest else np.arange(size)
        for name, size in zip(names, sizes, strict=True)
    }
    if files.ranked:  # nothing is searched for any more
        sizes_left = {name: Size(smallest, files.files[name].metric) for name in names}
        looked_up: dict[tuple[str, ...], Index | Floats] = {
            (a, b): _looked_up(files, a, b, rows)[:, None] for a, b in files.ranked if {a, b} <= rows.keys()
        }
        return Searches(sizes_left, looked_up)
    chosen = {name: files.files[name].take(some) for name, some in rows.items()}
    whole = {name for name, size in zip(names, sizes, strict=True) if size == smallest}
    memo = {among: searched for among, searched in files.memo.items() if whole.issuperset(among)}
    return Searches(chosen, memo)


def with_ranked(files: Searches, names: Sequence[str]) -> Searches:
    """Rank the nearest within each of these files, and between the last of them and the others, for its samples.

    So many that of a sample as small as the smallest of the files hardly ever none is among them.
    """
    *real, last = names
    pairs = [(name, name) for name in names] + [(name, last) for name in real] + [(last, name) for name in real]
    smallest = min(files.files[name].n for name in names)
    return replace(files, ranked={(a, b): _ranked(files, a, b, RANKS * files.files[b].n // smallest) for a, b in pairs})


def _ranked(files: Searches, query: str, base: str, k: int) -> Ranked:
    n, n_base = files.files[query].n, files.files[base].n
    k = min(k, n_base)
    away, rows = np.empty((n, k)), np.empty((n, k), np.int64)
    step = max(1, RANKED // n_base)
    for start in range(0, n, step):
        some = np.arange(start, min(start + step, n))
        apart = _apart(files, query, base, some)
        near = np.argpartition(apart, k - 1, axis=1)[:, :k]
        order = np.take_along_axis(apart, near, 1).argsort(axis=1)
        rows[some] = np.take_along_axis(near, order, 1)
        away[some] = np.take_along_axis(apart, rows[some], 1)
    return Ranked(away, rows)


def _apart(files: Searches, query: str, base: str, some: Ints) -> Floats:
    """All distances of some rows; within one file infinite from a record to itself."""
    apart = pairwise(files.files[query].take(some), files.files[base])
    if query == base:
        apart[np.arange(len(some)), some] = np.inf
    return apart


def _looked_up(files: Searches, query: str, base: str, rows: Mapping[str, Ints]) -> Floats:
    """Distance of each sampled query record to the nearest sampled base record."""
    ranked, mine = files.ranked[query, base], rows[query]
    sampled = np.zeros(files.files[base].n, np.bool_)
    sampled[rows[base]] = True
    among = sampled[ranked.rows[mine]]
    nearest: Floats = ranked.away[mine, among.argmax(axis=1)]
    beyond = ~among.any(axis=1)
    if beyond.any():
        nearest[beyond] = _apart(files, query, base, mine[beyond])[:, sampled].min(axis=1)
    return nearest
