"""A classification tree of membership, grown best first from columns that are coded or sorted once for many trees."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

# In one number each: a record and its membership (one in the low half, its membership in the high one), summed over
# the records of a level; and rank, row and membership of a record in a sorted column.
HALF = 32
LOW = (1 << HALF) - 1


@njit(cache=True, nogil=True, inline="always")
def _apart(ones_left, left, ones, n):  # type: ignore[no-untyped-def]
    """What a cut takes from the Gini index of the file, times half its records."""
    gap = float(ones_left * n - ones * left)
    return gap * gap / (float(left) * float(n - left) * float(n))


@njit(cache=True, nogil=True)
def _best_level(counts, first, ordered, n, ones, smallest):  # type: ignore[no-untyped-def]
    """The best cut of a node by a coded column: what it takes, the column, the place of its level."""
    best, column, cut = -1.0, -1, -1
    for j in range(len(ordered)):
        left, ones_left = 0, 0
        for place in range(first[j], first[j + 1]):
            if counts[place] == 0:
                continue
            if not ordered[j]:
                left, ones_left = 0, 0
            left += counts[place] & LOW
            ones_left += counts[place] >> HALF
            if left < smallest or n - left < smallest:
                continue
            found = _apart(ones_left, left, ones, n)
            if found > best:
                best, column, cut = found, j, place
    return best, column, cut


@njit(cache=True, nogil=True)
def _best_place(entries, ones, smallest):  # type: ignore[no-untyped-def]
    """The best cut of a node by a sorted column: what it takes, and how many records lie below."""
    n = len(entries)
    best, cut, ones_left = -1.0, -1, 0
    for i in range(smallest - 1):
        ones_left += entries[i] & 1
    for i in range(smallest - 1, n - smallest):
        ones_left += entries[i] & 1
        gap = float(ones_left * n - ones * (i + 1))
        # dividing only what can win
        if (
            gap * gap > best * (float(i + 1) * float(n - i - 1) * n)
            and entries[i] >> HALF != entries[i + 1] >> HALF
        ):
            found = _apart(ones_left, i + 1, ones, n)
            if found > best:
                best, cut = found, i + 1
    return best, cut


@njit(cache=True, nogil=True)
def _best(node, spans, tallies, slot, columns, order, smallest, cuts, gains):  # type: ignore[no-untyped-def]
    """Find and keep the best cut of a node; a gain below 0 where there is none."""
    start, stop, ones = spans[node]
    n = stop - start
    gains[node] = -1.0
    if n < 2 * smallest or ones in (0, n):
        return
    _, first, ordered = columns
    best, column, cut = _best_level(tallies[slot[node]], first, ordered, n, ones, smallest)
    for a in range(len(order)):
        found, place = _best_place(order[a, start:stop], ones, smallest)
        if found > best:
            best, column, cut = found, len(ordered) + a, place
    if best >= 0.0:
        gains[node], cuts[node, 0], cuts[node, 1] = best, column, cut


@njit(cache=True, nogil=True)
def _send(span, cut, columns, order, rows, goes):  # type: ignore[no-untyped-def]
    """Mark the records of a node that go to the left; gives their number."""
    start, stop, _ = span
    cells, _, ordered = columns
    j, at = cut
    left = 0
    if j >= len(ordered):
        entries = order[j - len(ordered)]
        for i in range(start, stop):
            goes[(entries[i] & LOW) >> 1] = i < start + at
        return at
    for i in range(start, stop):
        place = cells[rows[i], j]
        there = place <= at if ordered[j] else place == at
        goes[rows[i]] = there
        left += there
    return left


@njit(cache=True, nogil=True)
def _part(start, stop, order, rows, goes, held):  # type: ignore[no-untyped-def]
    """Put those who go to the left first, everybody else in the order they were in."""
    to, kept = start, 0
    for i in range(start, stop):
        row = rows[i]
        there = goes[row]
        rows[to], held[kept] = row, row
        to += there
        kept += 1 - there
    for i in range(kept):
        rows[to + i] = held[i]
    for a in range(len(order)):
        entries = order[a]
        to, kept = start, 0
        for i in range(start, stop):
            entry = entries[i]
            there = goes[(entry & LOW) >> 1]
            entries[to], held[kept] = entry, entry
            to += there
            kept += 1 - there
        for i in range(kept):
            entries[to + i] = held[i]


@njit(cache=True, nogil=True)
def _tally(cells, rows, member, counts):  # type: ignore[no-untyped-def]
    """Count records and members of each level among some rows; gives the members."""
    ones = 0
    counts[:] = 0
    for row in rows:
        one = 1 + (np.int64(member[row]) << HALF)
        ones += member[row]
        for j in range(cells.shape[1]):
            counts[cells[row, j]] += one
    return ones


@njit(cache=True, nogil=True)
def _split(node, n_nodes, spans, tallies, slot, columns, order, rows, member, work):  # type: ignore[no-untyped-def]
    """Make two nodes of one. The smaller one is counted, and the larger one has the rest."""
    goes, held, cuts = work
    start, stop, ones = spans[node]
    middle = start + _send(spans[node], cuts[node], columns, order, rows, goes)
    _part(start, stop, order, rows, goes, held)
    small, large = (n_nodes, n_nodes + 1) if middle - start <= stop - middle else (n_nodes + 1, n_nodes)
    spans[n_nodes, 0], spans[n_nodes, 1] = start, middle
    spans[n_nodes + 1, 0], spans[n_nodes + 1, 1] = middle, stop
    slot[small], slot[large] = n_nodes // 2 + 1, slot[node]
    mine = tallies[slot[small]]
    spans[small, 2] = _tally(columns[0], rows[spans[small, 0] : spans[small, 1]], member, mine)
    spans[large, 2] = ones - spans[small, 2]
    tallies[slot[large]] -= mine


@njit(cache=True, nogil=True)
def grow(columns, order, member, leaves, smallest):  # type: ignore[no-untyped-def]
    """Grow a tree and give each row the share of members in its leaf, and what each column took from the Gini index.

    `columns`: `cells` (n, n_coded), the place of each row's level in a table of all levels; `first` (n_coded + 1,),
    where the levels of each column begin; `ordered` (n_coded,), whether it is cut between levels or at one. `order`
    (n_sorted, n): rank and row of each record, ascending; overwritten. `member` (n,): 0 or 1. At most `leaves`
    leaves, each of at least `smallest` rows.
    """
    cells, first, ordered = columns
    n = len(member)
    for a in range(len(order)):
        for i in range(n):
            order[a, i] |= np.int64(member[(order[a, i] & LOW) >> 1])
    spans = np.empty((2 * leaves, 3), np.int64)
    cuts = np.empty((2 * leaves, 2), np.int64)
    gains, slot = np.full(2 * leaves, -1.0), np.zeros(2 * leaves, np.int64)
    tallies = np.zeros((leaves, first[-1]), np.int64)
    work = np.empty(n, np.uint8), np.empty(n, np.int64), cuts
    rows = np.arange(n)
    spans[0, 0], spans[0, 1] = 0, n
    spans[0, 2] = _tally(cells, rows, member, tallies[0])
    _best(0, spans, tallies, slot, columns, order, smallest, cuts, gains)
    taken = np.zeros(len(ordered) + len(order))
    is_leaf = np.zeros(2 * leaves, np.bool_)
    is_leaf[0] = True
    n_nodes = 1
    while n_nodes < 2 * leaves - 1:
        node = np.argmax(gains)
        if gains[node] < 0.0:
            break
        taken[cuts[node, 0]] += gains[node]
        _split(node, n_nodes, spans, tallies, slot, columns, order, rows, member, work)
        gains[node], is_leaf[node] = -1.0, False
        for child in (n_nodes, n_nodes + 1):
            is_leaf[child] = True
            _best(child, spans, tallies, slot, columns, order, smallest, cuts, gains)
        n_nodes += 2
    score = np.empty(n)
    for one in range(n_nodes):
        if is_leaf[one]:
            start, stop, ones = spans[one]
            score[rows[start:stop]] = ones / (stop - start)
    return score, taken
