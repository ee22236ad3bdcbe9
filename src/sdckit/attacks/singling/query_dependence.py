"""How much less is known from many queries on the same people than from as many independent ones."""

from __future__ import annotations

import numpy as np

from sdckit.attacks.control_size import counted, isolated
from sdckit.attacks.singling.predicates import Predicates, Table, matches

FEW = 40  # a query true of more people than this isolates nobody in either half
LEAST = 0.1  # an expected number among fewer people varies less than a count

DEALS = 400
PIECE = 4_000_000  # drawn at a time


def design_effect(
    pool: Table, n_first: int, size: int, queries: Predicates, rng: np.random.Generator
) -> float:
    """Variance of the difference in successes between two files, divided by that of independent queries.

    The people of both files are dealt out anew, at random, to files of the same sizes, many times over.

    `pool` holds the people of both files, `n_first` of them of the first (of one file where there is no other:
    its halves are compared); a query must isolate one among `size` people of each. At least 1 where each file has
    just so many people.
    """
    n_second = pool.n - n_first
    if queries.n == 0 or n_first == 0 or n_second == 0:  # nothing was asked, or there is one person only
        return 1.0
    most = FEW + counted(pool.n, size)
    count, rows = matches(pool, queries, most)
    useful = (count > 0) & (count <= most)
    listed, rows = count[useful], rows[useful]
    if len(listed) == 0:
        return 1.0
    people, place = np.unique(rows[rows >= 0], return_inverse=True)
    begins = np.cumsum(listed) - listed
    piece = max(1, min(DEALS, PIECE // max(pool.n, len(place))))
    first, second = [], []
    for start in range(0, DEALS, piece):
        deals = min(piece, DEALS - start)
        # the n_first people with the smallest random numbers make the first file
        lots = rng.random((deals, pool.n))
        limit = np.partition(lots, n_first - 1, axis=1)[:, n_first - 1 : n_first]
        inside = np.add.reduceat((lots[:, people] <= limit)[:, place], begins, axis=1, dtype=np.int64)
        first.append(isolated(inside, n_first, size).sum(axis=1))
        second.append(isolated(listed - inside, n_second, size).sum(axis=1))
    one, two = np.concatenate(first), np.concatenate(second)
    share, other = one.mean() / queries.n, two.mean() / queries.n
    independent = queries.n * (share * (1 - share) + other * (1 - other))
    found = float((one - two).var(ddof=1) / independent) if independent > 0 else 1.0
    least = LEAST if max(n_first, n_second) > size else 1.0
    return max(found, least)
