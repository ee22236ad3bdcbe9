"""Which cells match which with wildcards: the pairs themselves, where sums of very many kinds are taken over them."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sdckit.numerics.array_types import Codes, Ints, Words
from sdckit.numerics.coding import GOLDEN
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

BLOCK = 1 << 15  # words that stay in the cache
FEW = 1000  # words that are searched at once, without asking before whether they may be there
SETS = 64  # of cells by their codes in a key: codes that share one are told apart afterwards
SLICE = 256  # cells, at least, that a thread compares with all others
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


@njit(cache=True, nogil=True)
def _mark(cells, sets):  # type: ignore[no-untyped-def]
    """Set a bit for each cell (K, q) in the sets (q, s, words) of its codes, and in all of a key that it lacks."""
    for i in range(len(cells)):
        word, bit = i >> 6, np.uint64(1) << np.uint64(i & 63)
        for c in range(cells.shape[1]):
            if cells[i, c] >= 0:
                sets[c, cells[i, c] % sets.shape[1], word] |= bit
            else:
                for s in range(sets.shape[1]):
                    sets[c, s, word] |= bit


@njit(cache=True, nogil=True)
def _agree(mine, theirs):  # type: ignore[no-untyped-def]
    """Whether two cells agree in every key that both have."""
    alike, c = True, 0
    while alike and c < len(mine):
        alike = mine[c] == theirs[c] or mine[c] < 0 or theirs[c] < 0
        c += 1
    return alike


@njit(cache=True, nogil=True)
def _match_each(cells, sets, entries, first, last, n, begins, partners):  # type: ignore[no-untyped-def]
    """Find the cells with entries that match each of the cells first to last, and list them where room is made.

    `cells` and `sets`: as for `_mark`. Filled: `n` (K, 2), how many match each cell and their entries; `partners`,
    which, from `begins` (K,) on.
    """
    own = np.empty(cells.shape[1], np.int64)
    for i in range(first, last):
        pairs, held = 0, 0
        for c in range(len(own)):
            own[c] = cells[i, c] % sets.shape[1] if cells[i, c] >= 0 else -1
        for word in range(sets.shape[2]):
            rest = ~np.uint64(0)
            for c in range(len(own)):
                if own[c] >= 0:
                    rest &= sets[c, own[c], word]
                    if rest == 0:
                        break
            j = 64 * word
            while rest != 0 and j < len(cells):
                if rest & np.uint64(1) and entries[j] > 0 and j != i and _agree(cells[i], cells[j]):
                    if len(partners) > 0:
                        partners[begins[i] + pairs] = j
                    pairs += 1
                    held += entries[j]
                rest >>= np.uint64(1)
                j += 1
        n[i, 0], n[i, 1] = pairs, held


def _numbered(codes: Ints, missing: int | None) -> tuple[float, Codes]:
    """The share of pairs of cells that agree in a key, and its codes in use from 0 on, -1 where any value matches."""
    present, column, size = np.unique(codes, return_inverse=True, return_counts=True)
    share = np.where(present == missing, 0.0, size / len(codes))
    column[codes == missing] = -1
    return 1 - float(share.sum() ** 2 - (share**2).sum()), column.astype(np.int32)


def compared_pairs(
    codes: Sequence[Ints], missing: Sequence[int | None], entries: Ints, most: int
) -> tuple[Ints, Ints] | None:
    """As `matching_pairs`, for cells of any patterns, words or not: each is compared with all others, 64 at a time.

    `codes` (K,): the cells key by key. `missing`: per key, the code that stands for any value, None where none does.

    >>> cells, partners = compared_pairs([np.array([0, 0, 1]), np.array([0, 2, 2])], [None, 2], np.ones(3, np.int64), 9)
    >>> cells.tolist(), partners.tolist()
    ([0, 1], [1, 0])
    """
    columns = sorted(map(_numbered, codes, missing), key=lambda column: column[0])
    cells, parts = np.stack([column for _, column in columns], axis=1), chunks(len(entries), minimum=SLICE)
    sets = np.zeros((cells.shape[1], SETS, (len(cells) + 63) // 64), np.uint64)
    _mark(cells, sets)
    n, begins = np.zeros((len(cells), 2), np.int64), np.zeros(len(cells), np.int64)
    run(lambda part: _match_each(cells, sets, entries, *part, n, begins, NONE), parts)
    if n.sum() > most:
        return None
    begins, partners = np.cumsum(n[:, 0]) - n[:, 0], np.empty(n[:, 0].sum(), np.int64)
    run(lambda part: _match_each(cells, sets, entries, *part, n, begins, partners), parts)
    return np.repeat(np.arange(len(cells)), n[:, 0]), partners
