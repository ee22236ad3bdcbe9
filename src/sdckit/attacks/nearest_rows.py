"""The released rows nearest to what an intruder knows, drawn at random among those equally near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sdckit.attacks.attack_files import AttackFiles
from sdckit.numerics.array_types import Ints
from sdckit.numerics.coding import Encoded, gower
from sdckit.numerics.search.neighbours import Index, paired

MISSING_RULE = "a missing value is equal to a missing one and as far as can be from any other"
LISTED = 4_000_000  # rows listed at a time
FEW = 2  # among so many times k squared, k drawn at random are mostly different


def encode_files(
    files: AttackFiles, names: Sequence[str], numeric: Sequence[str], j: int
) -> tuple[Encoded, ...]:
    """Original, release j (from 0) and control file for Gower's distance on some columns.

    Differences of numbers are divided by the range in these files together. A missing value is 0 from a
    missing one and 1 from any other.
    """
    chosen = [0, j + 1, *([files.m + 1] if files.has_control else [])]
    own = [name for name in names if name in numeric]
    rest = [name for name in names if name not in numeric]
    return gower(
        [[files.numbers(name)[f] for f in chosen] for name in own],
        [[files.codes(name).codes[f] for f in chosen] for name in rest],
    )


def draw_nearest(index: Index, base: Encoded, query: Encoded, k: int, rng: np.random.Generator) -> Ints:
    """The k nearest rows of the base for each query, those equally far as the k-th drawn at random.

    Shape (n, k).

    Examples
    --------
    >>> from sdckit.numerics.search.neighbours import prepare
    >>> base, query = gower([(np.array([0.0, 4.0, 8.0]), np.array([5.0]))])
    >>> draw_nearest(prepare(base), base, query, 1, np.random.default_rng(1)).tolist()
    [[1]]
    """
    found = index.nearest(query, k)
    out = np.empty((query.n, k), np.int64)
    if k == 1:
        out[:, 0] = found.index
    within = found.n_closer + found.n_tied
    several = np.flatnonzero(within > 1 if k == 1 else within >= k)
    # who knows the same finds the same rows: they are listed once
    _, first, of_row, size = np.unique(
        np.column_stack([query.numbers[several], query.codes[several]]), axis=0, return_index=True,
        return_inverse=True, return_counts=True,
    )  # fmt: skip
    members = np.split(several[np.argsort(of_row.ravel(), kind="stable")], np.cumsum(size)[:-1])
    first = several[first]
    for piece in _pieces(np.arange(len(first)), within[first]):
        asked = query.take(first[piece])
        begins, listed = index.lists(asked, k)
        of_query = np.repeat(np.arange(len(piece)), np.diff(begins))
        away = paired(asked.take(of_query), base.take(listed))
        tied = away >= found.distance[first[piece], -1][of_query] - found.tolerance
        for i, group in enumerate(piece):
            rows, last = (one[begins[i] : begins[i + 1]] for one in (listed, tied))
            closer, equal = rows[~last], rows[last]
            out[members[group], : len(closer)] = closer
            need = k - len(closer)
            out[members[group], len(closer) :] = equal[some_of(len(equal), need, len(members[group]), rng)]
    return out


def some_of(n: int, k: int, times: int, rng: np.random.Generator) -> Ints:
    """K different ones of n, drawn at random again and again.

    Shape (times, k).

    Examples
    --------
    >>> sorted(some_of(3, 3, 1, np.random.default_rng(1))[0].tolist())
    [0, 1, 2]
    """
    if n < FEW * k * k:
        return np.argsort(rng.random((times, n)), axis=1)[:, :k]
    drawn = rng.integers(0, n, (times, k))
    while len(again := np.flatnonzero((np.diff(np.sort(drawn, axis=1)) == 0).any(axis=1))):
        drawn[again] = rng.integers(0, n, (len(again), k))
    return drawn


def _pieces(groups: Ints, sizes: Ints) -> Iterator[Ints]:
    """Cut queries so that the lists of each piece stay short."""
    if len(groups) == 0:
        return
    piece = np.cumsum(sizes) // LISTED
    yield from np.split(groups, np.flatnonzero(np.diff(piece)) + 1)
