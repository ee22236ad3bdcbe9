"""Which cells match which with wildcards: the pairs themselves, where sums of very many kinds are taken over them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sdckit.numerics.array_types import Ints, Words


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
    cells_of = dict(zip(present.tolist(), np.split(order, starts[1:]), strict=True))
    left = most
    pairs: list[tuple[Ints, Ints]] = []
    for here, there in combinations(cells_of, 2):
        clear = clear_of[here] & clear_of[there]
        pair = _joined(words, cells_of[here], cells_of[there], clear, entries, left)
        if pair is None:
            return None
        left -= sum(len(cells) + int(entries[cells].sum()) for cells in pair)
        pairs += [pair, pair[::-1]]
    cells = np.concatenate([cell for cell, _ in pairs] or [np.zeros(0, np.int64)])
    partners = np.concatenate([partner for _, partner in pairs] or [np.zeros(0, np.int64)])
    counted = entries[partners] > 0
    return (cells, partners) if counted.all() else (cells[counted], partners[counted])


def _joined(
    words: Words, here: Ints, there: Ints, clear: int, entries: Ints, most: int
) -> tuple[Ints, Ints] | None:  # fmt: skip
    """Pairs of cells of two patterns that agree on the fields which both have; None where they are too many.

    `most`: pairs and entries of both ways together, counted before a pair is listed.
    """
    keep = np.uint64(clear & 0xFFFFFFFFFFFFFFFF)
    theirs = words[there] & keep
    by_word = np.argsort(theirs)
    theirs, there = theirs[by_word], there[by_word]
    mine = words[here] & keep
    first = np.searchsorted(theirs, mine)
    n = np.searchsorted(theirs, mine, "right") - first
    edges, held = np.cumsum(n), np.append(0, np.cumsum(entries[there]))
    if int((n * (2 + entries[here]) + held[first + n] - held[first]).sum()) > most:
        return None
    return np.repeat(here, n), there[np.repeat(first - edges + n, n) + np.arange(edges[-1])]
