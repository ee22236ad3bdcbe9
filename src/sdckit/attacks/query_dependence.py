"""How much less is known from many queries on the same people than from as many independent ones."""

from __future__ import annotations

import numpy as np

from sdckit.attacks.predicates import Predicates, Table, matches

__all__ = ["design_effect"]

MOST = 40  # a query true of more people than this isolates nobody in either half
DEALS = 400
PIECE = 4_000_000  # drawn at a time


def design_effect(
    pool: Table, n_first: int, queries: Predicates, factor: float, rng: np.random.Generator
) -> float:
    """Variance of the difference in successes between two files, divided by that of independent queries.

    The people of both files are dealt out anew, at random, to files of the same sizes, many times over.

    Parameters
    ----------
    pool : Table
        The people of both files (of one file where there is no other: its halves are compared).
    n_first : int
        How many belong to the first file.
    queries : Predicates
    factor : float
        What successes on the second file are multiplied by.
    rng : numpy.random.Generator

    Returns
    -------
    float
        At least 1.
    """
    if queries.n == 0:
        return 1.0
    count, rows = matches(pool, queries, MOST)
    useful = (count > 0) & (count <= MOST)
    size, rows = count[useful], rows[useful]
    if len(size) == 0 or n_first == 0:  # nothing was asked, or there is one person only
        return 1.0
    people, place = np.unique(rows[rows >= 0], return_inverse=True)
    begins = np.cumsum(size) - size
    piece = max(1, min(DEALS, PIECE // max(pool.n, len(place))))
    first, second = [], []
    for start in range(0, DEALS, piece):
        deals = min(piece, DEALS - start)
        # the n_first people with the smallest random numbers make the first file
        lots = rng.random((deals, pool.n))
        limit = np.partition(lots, n_first - 1, axis=1)[:, n_first - 1 : n_first]
        inside = np.add.reduceat((lots[:, people] <= limit)[:, place], begins, axis=1, dtype=np.int64)
        first.append((inside == 1).sum(axis=1))
        second.append((size - inside == 1).sum(axis=1))
    one, two = np.concatenate(first), factor * np.concatenate(second)
    share, other = one.mean() / queries.n, two.mean() / factor / queries.n
    independent = queries.n * (share * (1 - share) + factor**2 * other * (1 - other))
    return max(float((one - two).var(ddof=1) / independent), 1.0) if independent > 0 else 1.0
