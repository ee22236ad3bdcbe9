"""Which cells match which with wildcards: the pairs themselves, where sums of very many kinds are taken over them."""

from itertools import combinations

import numpy as np

from sdckit.numerics.array_types import Ints, Words
from sdckit.numerics.coding import GOLDEN

BLOCK = 1 << 15  # words that stay in the cache
FEW = 1000  # words that are searched at once, without asking before whether they may be there
NONE = np.zeros(0, np.int64)


def matching_pairs(
    words: Words, pattern: Words, clear_of: dict[int, int], entries: Ints, most: int
) -> tuple[Ints, Ints] | None:
    """Cells (P,) and the cells of other patterns that match each (P,); None where these have too many entries.

    `words` (K,), `pattern` (K,) and `clear_of`: as for `wildcards.match_packed`. `entries` (K,): entries of each cell,
    0 for one that counts for no other. `most`: pairs, and entries of the matching cells, at most.

    >>> words, lacks = np.array([0b01, 0b10, 0b11], np.uint64), np.array([0, 0, 1], np.uint64)
    >>> cells, partners = matching_pairs(words, lacks, {0: 0b11, 1: 0b10}, np.ones(3, np.int64), 9)
    >>> cells.tolist(), partners.tolist()
    ([1, 2], [2, 1])
    >>> matching_pairs(words, lacks, {0: 0b11, 1: 0b10}, np.ones(3, np.int64), 1)
    """
    order = np.argsort(pattern, kind="stable")
    present, starts = np.unique(pattern[order], return_index=True)
    pieces = np.split(order, starts[1:])
    cells_of = dict(zip(present.tolist(), ((cells, words[cells]) for cells in pieces), strict=True))
    left = most
    pairs: list[tuple[Ints, Ints]] = []
    largest_first = sorted(cells_of, key=lambda lacking: -len(cells_of[lacking][0]))
    for here, there in combinations(largest_first, 2):
        (own, mine), (others, theirs) = cells_of[here], cells_of[there]
        pair = _joined(own, mine, others, theirs, clear_of[here] & clear_of[there], entries, left)
        if pair is None:
            return None
        if len(pair[0]):
            left -= sum(len(cells) + int(entries[cells].sum()) for cells in pair)
            pairs += [pair, pair[::-1]]
    cells = np.concatenate([cell for cell, _ in pairs] or [NONE])
    partners = np.concatenate([partner for _, partner in pairs] or [NONE])
    counted = entries[partners] > 0
    return (cells, partners) if counted.all() else (cells[counted], partners[counted])


def _joined(
    here: Ints, mine: Words, there: Ints, theirs: Words, clear: int, entries: Ints, most: int
) -> tuple[Ints, Ints] | None:  # fmt: skip
    """Pairs of cells of two patterns that agree on the fields which both have; None where they are too many.

    `mine` and `theirs`: their words; the second are not more. `most`: pairs and entries of both ways together, counted
    before a pair is listed.
    """
    keep = np.uint64(clear & 0xFFFFFFFFFFFFFFFF)
    theirs = theirs & keep
    by_word = np.argsort(theirs)
    theirs, there = theirs[by_word], there[by_word]
    if len(mine) > FEW:
        may = _may_be_among(mine, theirs, keep)
        here, mine = here[may], mine[may]
    mine = mine & keep
    first = np.searchsorted(theirs, mine)
    n = np.searchsorted(theirs, mine, "right") - first
    if not n.any():
        return NONE, NONE
    edges, held = np.cumsum(n), np.append(0, np.cumsum(entries[there]))
    if int((n * (2 + entries[here]) + held[first + n] - held[first]).sum()) > most:
        return None
    return np.repeat(here, n), there[np.repeat(first - edges + n, n) + np.arange(n.sum())]


def _may_be_among(mine: Words, theirs: Words, keep: np.uint64) -> Ints:
    """Places of `mine` whose kept bits may be among `theirs`: most are not, and a search of each takes far longer."""
    bits = min(22, max(15, len(theirs).bit_length() + 6))  # small enough for a cache
    marked = np.zeros(1 << bits, np.bool_)
    shift = np.uint64(64 - bits)
    marked[(theirs * GOLDEN) >> shift] = True
    places: list[Ints] = []
    for first in range(0, len(mine), BLOCK):
        hashed = mine[first : first + BLOCK] & keep
        hashed *= GOLDEN
        hashed >>= shift
        places.append(first + np.flatnonzero(marked[hashed.view(np.int64)]))
    return np.concatenate(places)
