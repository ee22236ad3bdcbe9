"""Risk figures of many margins of a contingency table at once: fields of packed words left out or recoded.

Cells that agree on some fields are put into one bucket. Every margin that keeps those fields can be computed bucket by
bucket, and a bucket fits into the processor's cache, so it is read once for all margins. Within a bucket, words are
merged without unpredictable branches: each writes its index into a table at its hash, and is merged into the word
whose index it finds there, if that is equal. A cell that merges with no other keeps its risk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.coding import GOLDEN, spread
from sdckit.numerics.compiling import is_few, njit, sparing
from sdckit.numerics.risk_kernel import mean_inverse
from sdckit.numerics.threads import chunks, run

# Cells sorted into buckets by the hash of some fields of their packed words.


CELLS_PER_BUCKET = 1 << 9
MAX_BUCKET_BITS = 10
TERMS = 32  # steps of the risk of one cell, about


@dataclass(frozen=True, eq=False)
class Weighed:
    """Cells with their frequencies and risks.

    All are (K,). `size`, `weight` and `risk`: sample frequency, population frequency, and sum of the records' risks.
    """

    words: NDArray[np.uint64]
    size: NDArray[np.float64]
    weight: NDArray[np.float64]
    risk: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _weigh(size, weight, start, stop, out_size, out_risk):  # type: ignore[no-untyped-def]
    """Write the size as a float and the sum of the records' risks of cells start to stop into the outputs (K,)."""
    for i in range(start, stop):
        f = np.float64(size[i])
        out_size[i] = f
        out_risk[i] = mean_inverse(f, weight[i]) * f


def weigh(words: NDArray[np.uint64], size: NDArray[np.int64], weight: NDArray[np.float64] | None) -> Weighed:
    """Compute the risks of cells: E[1/F | f] for each record, 1/f without weights.

    >>> weigh(np.array([0, 1], np.uint64), np.array([1, 2]), np.array([215.0, 360.0])).risk.round(9).tolist()
    [0.025096439, 0.01084904]
    """
    out = Weighed(
        words, np.empty(len(words)), size.astype(np.float64) if weight is None else weight, np.empty(len(words))
    )
    kernel = sparing(_weigh, TERMS * len(words))
    run(lambda part: kernel(size, out.weight, *part, out.size, out.risk), chunks(len(words)))
    return out


@njit(cache=True, nogil=True)
def _count(words, keep, shift, start, stop, counts):  # type: ignore[no-untyped-def]
    """Add cells start to stop to the `counts` of their buckets; `keep`: bit mask of the fields that choose these."""
    for i in range(start, stop):
        counts[spread(words[i] & keep) >> shift] += 1


@njit(cache=True, nogil=True)
def _deal(words, size, weight, risk, keep, shift, start, stop, position, to):  # type: ignore[no-untyped-def]
    """Scatter cells start to stop into their buckets in `to`; `position`: next free index of each bucket."""
    to_words, to_size, to_weight, to_risk = to
    for i in range(start, stop):
        bucket = spread(words[i] & keep) >> shift
        at = position[bucket]
        position[bucket] = at + 1
        to_words[at], to_size[at], to_weight[at], to_risk[at] = words[i], size[i], weight[i], risk[i]


def deal(cells: Weighed, keep: int) -> tuple[Weighed, NDArray[np.int64]]:
    """Sort cells by bucket, the hash of some fields of their words; within a bucket they keep their order.

    `keep`: bit mask of those fields. Also returns the edges of the buckets (buckets + 1,).

    >>> cells = weigh(np.array([5, 2, 7], np.uint64), np.array([1, 1, 1]), None)
    >>> dealt, edges = deal(cells, 0b10)
    >>> sorted(dealt.words[a:b].tolist() for a, b in zip(edges[:-1], edges[1:]))
    [[2, 7], [5]]
    """
    n, kept = len(cells.words), np.uint64(keep)
    bits = min(MAX_BUCKET_BITS, max(1, (n // CELLS_PER_BUCKET).bit_length()))
    shift, parts = np.uint64(64 - bits), chunks(n)
    if is_few(_count, n):
        bucket = spread.py_func(cells.words & kept) >> shift
        order = np.argsort(bucket, kind="stable")
        edges = np.searchsorted(bucket[order], np.arange((1 << bits) + 1, dtype=np.uint64))
        return Weighed(cells.words[order], cells.size[order], cells.weight[order], cells.risk[order]), edges
    counts = np.zeros((len(parts), 1 << bits), np.int64)
    run(lambda t: _count(cells.words, kept, shift, *parts[t], counts[t]), range(len(parts)))
    edges = np.zeros((1 << bits) + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=edges[1:])
    position = edges[:-1] + np.cumsum(counts, axis=0) - counts
    out = Weighed(np.empty(n, np.uint64), np.empty(n), np.empty(n), np.empty(n))
    to = (out.words, out.size, out.weight, out.risk)
    run(
        lambda t: _deal(cells.words, cells.size, cells.weight, cells.risk, kept, shift, *parts[t], position[t], to),
        range(len(parts)),
    )
    return out, edges


STEP = np.uint64(0x2545F4914F6CDD1E)  # increment of the hash multiplier from one round to the next
Room = tuple[NDArray[Any], ...]
Plan = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]
EVERY = (1 << 64) - 1
BATCHES = 16  # independent of the number of threads, so that sums are, too


@dataclass(frozen=True, eq=False)
class Branch:
    """A field to leave out, alone and together with each of its partners.

    `partners`: indices of these fields. `coarse` (2**bits,): new code of each code of the field, if figures with the
    field recoded are wanted as well.
    """

    field: int
    partners: Sequence[int] = ()
    coarse: NDArray[np.uint64] | None = None


@dataclass(frozen=True, eq=False)
class Sums:
    """Risk figures of one margin.

    `below` (L,): records in cells of a frequency below each limit. `risk`: sum of the risks of all records.
    """

    below: NDArray[np.int64]
    risk: float


@dataclass(frozen=True, eq=False)
class Counted:
    """Risk figures of a branch: its field recoded, left out, and left out together with each partner."""

    coarse: Sums | None
    alone: Sums
    together: tuple[Sums, ...]


# --- merging in a bucket ----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _merge(keys, size, weight, n, f, big_f, hashes, table, left):  # type: ignore[no-untyped-def]
    """Sum `size` and `weight` (n,) over equal keys (n,) into `f` and `big_f`, at the index of one of them.

    `f` is 0 at the others. `hashes`, `table` and `left` are working memory. `table` needs no clearing: a slot that is
    read has been written in the same round.
    """
    bits = 4
    while (1 << bits) < 4 * n:
        bits += 1
    shift = np.uint64(64 - bits)
    for i in range(n):
        f[i], big_f[i], hashes[i] = size[i], weight[i], np.uint32(spread(keys[i], GOLDEN + STEP) >> shift)
    for i in range(n):
        table[hashes[i]] = np.uint32(i)
    waiting = np.uint64(0)
    for i in range(n):
        left[waiting] = np.uint32(i)
        waiting += np.uint64(table[hashes[i]] != np.uint32(i))
    turn = 1
    while waiting > 0:
        n_left, waiting = waiting, np.uint64(0)
        for j in range(n_left):
            i = left[j]
            r = table[hashes[i]]
            same = keys[r] == keys[i]
            taken = np.float64(same and r != i)
            f[r] += taken * f[i]
            big_f[r] += taken * big_f[i]
            f[i] -= taken * f[i]
            left[waiting] = i
            waiting += np.uint64(not same)
        turn += 1
        for j in range(waiting):
            i = left[j]
            hashes[i] = np.uint32(spread(keys[i], GOLDEN + STEP * np.uint64(turn)) >> shift)
            table[hashes[i]] = i


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _risk_unmerged(f, size, risk, n):  # type: ignore[no-untyped-def]
    """Sum of the risks of the cells that merged with no other."""
    total = 0.0
    for i in range(n):
        total += risk[i] if f[i] == size[i] else 0.0
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _records_below(f, n, limit):  # type: ignore[no-untyped-def]
    """Number of records in cells of a frequency below a limit."""
    total = 0.0
    for i in range(n):
        total += f[i] if f[i] < limit else 0.0
    return total


@njit(cache=True, nogil=True)
def _margin(cells, n, limits, keys, sums, places, spots, below):  # type: ignore[no-untyped-def]
    """Merge the n cells of a bucket by their keys; return the sum of all risks, and how many cells have grown.

    `cells` (3, n): size, weight, risk; `sums`, `places` and `spots`: working memory; `below` (L,): records in cells of
    a frequency below each limit, updated.
    """
    size, risk, f, big_f, fresh, grown = cells[0], cells[2], sums[0], sums[1], sums[2], places[2]
    _merge(keys, size, cells[1], n, f, big_f, places[0], spots, places[1])
    total = _risk_unmerged(f, size, risk, n)
    for k in range(len(limits)):
        below[k] += _records_below(f, n, limits[k])
    n_grown = np.uint64(0)
    for i in range(n):
        grown[n_grown] = np.uint32(i)
        n_grown += np.uint64(f[i] > size[i])
    for j in range(n_grown):
        i = grown[j]
        fresh[j] = mean_inverse(f[i], big_f[i]) * f[i]
        total += fresh[j]
    return total, n_grown


@njit(cache=True, nogil=True)
def _keep(keys, risk, n, n_grown, sums, grown, words, cells):  # type: ignore[no-untyped-def]
    """Write the merged cells of `_margin` without gaps into `words` and `cells`; return their number."""
    f, big_f, fresh = sums[0], sums[1], sums[2]
    to_size, to_weight, to_risk = cells[0], cells[1], cells[2]
    k = np.uint64(0)
    for i in range(n):
        size = f[i]
        words[k], to_size[k], to_weight[k], to_risk[k] = keys[i], size, big_f[i], risk[i]
        f[i] = np.float64(k)  # where it went
        k += np.uint64(size > 0)
    for j in range(n_grown):
        to_risk[np.int64(f[grown[j]])] = fresh[j]
    return np.int64(k)


@njit(cache=True, nogil=True)
def _visit(edges, first, last, dealt, plan, limits, room, below, risk):  # type: ignore[no-untyped-def]
    """Compute every margin of the buckets first to last; `below` and `risk` have a row for each step, updated."""
    routes, marks, coarse = plan
    all_words, size, weight, all_risk = dealt
    n_cells, words, cells, keys, sums, places, spots = room
    for b in range(first, last):
        lo = edges[b]
        n_cells[0] = edges[b + 1] - lo
        for i in range(n_cells[0]):
            words[0, i] = all_words[lo + i]
            cells[0, 0, i], cells[0, 1, i], cells[0, 2, i] = size[lo + i], weight[lo + i], all_risk[lo + i]
        for r in range(len(routes)):
            source, to, start = routes[r, 0], routes[r, 1], routes[r, 2]
            clear, shift, mask = marks[r, 0], marks[r, 1], marks[r, 2]
            n, kept, figures = n_cells[source], words[source], cells[source]
            for i in range(n):
                keys[i] = kept[i] & clear
            if start >= 0:
                for i in range(n):
                    keys[i] |= coarse[np.uint64(start) + ((kept[i] >> shift) & mask)] << shift
            total, n_grown = _margin(figures, n, limits, keys, sums, places, spots, below[r])
            risk[r] += total
            if to > 0:
                n_cells[to] = _keep(keys, figures[2], n, n_grown, sums, places[2], words[to], cells[to])


def _room(n: int) -> Room:
    """Working memory for buckets of up to n cells: three tables (number of cells, words, sizes, weights, risks).

    Then that of merging. Allocated outside the kernel, where the code for it takes long to compile.
    """
    return (
        np.empty(3, np.int64), np.empty((3, n), np.uint64), np.empty((3, 3, n)), np.empty(n, np.uint64),
        np.empty((3, n)), np.empty((3, n), np.uint32), np.empty(max(16, 1 << (4 * n - 1).bit_length()), np.uint32),
    )  # fmt: skip


# --- all of them ------------------------------------------------------------------------------------


def _plan(branches: Sequence[Branch], shifts: Sequence[int], bits: Sequence[int]) -> Plan:
    """The steps of all branches: recode a field, leave it out, and leave each partner out as well.

    For each step: the table that it reads, the one it writes (0: none) and where its new codes begin (-1: none); then
    the bit mask of the other fields, and first bit and mask of its field; the new codes of all steps.
    """
    routes, marks, codes = [], [], [np.empty(0, np.uint64)]

    def add(field: int, source: int, to: int, start: int) -> None:
        ones = (1 << bits[field]) - 1
        routes.append((source, to, start))
        marks.append((~(ones << shifts[field]) & EVERY, shifts[field], ones))

    for branch in branches:
        source = 0
        if branch.coarse is not None:
            add(branch.field, 0, 1, sum(map(len, codes)))
            codes.append(branch.coarse)
            source = 1
        add(branch.field, source, 2, -1)
        for other in branch.partners:
            add(other, 2, 0, -1)
    return np.array(routes, np.int64), np.array(marks, np.uint64), np.concatenate(codes)


def _batches(edges: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Runs of buckets with about as many cells each."""
    marks = np.linspace(0, edges[-1], BATCHES + 1).astype(np.int64)
    cuts = np.unique(np.searchsorted(edges, marks[1:-1]))
    cuts = np.concatenate([[0], cuts[(cuts > 0) & (cuts < len(edges) - 1)], [len(edges) - 1]])
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def margin_sums(
    cells: Weighed,
    branches: Sequence[Branch],
    *,
    shifts: Sequence[int],
    bits: Sequence[int],
    shared: Sequence[int],
    limits: Sequence[int],
) -> list[Counted]:
    """Risk figures of margins in which fields are left out or recoded.

    The cells are distinct, of whole records. `shifts` and `bits`: first bit and width of each field. `shared`: fields
    that no branch leaves out or recodes, by which cells are put into buckets. `limits`: frequencies below which records
    are counted.

    >>> from sdckit.numerics.wildcard_matches.submargins import weigh
    >>> cells = weigh(np.array([0b00, 0b01, 0b10], np.uint64), np.array([1, 1, 2]), None)
    >>> (sums,) = margin_sums(cells, [Branch(0)], shifts=[0, 1], bits=[1, 1], shared=[1], limits=[2, 3])
    >>> sums.alone.below.tolist(), sums.alone.risk
    ([0, 4], 2.0)
    """
    dealt, edges = deal(cells, sum(((1 << bits[j]) - 1) << shifts[j] for j in shared))
    plan, batches = _plan(branches, shifts, bits), _batches(edges)
    n_steps = len(plan[0])
    below, risk = np.zeros((len(batches), n_steps, len(limits))), np.zeros((len(batches), n_steps))
    columns, sizes = (dealt.words, dealt.size, dealt.weight, dealt.risk), np.array(limits, np.float64)

    def visit(t: int) -> None:
        first, last = batches[t]
        largest = int(np.diff(edges[first : last + 1]).max())
        room = _room(largest + 1)  # branch-free appending writes one element beyond the end
        _visit(edges, first, last, columns, plan, sizes, room, below[t], risk[t])

    run(visit, range(len(batches)))
    counts, totals = below.sum(axis=0).astype(np.int64), risk.sum(axis=0).tolist()
    rows = iter([Sums(count, total) for count, total in zip(counts, totals, strict=True)])
    return [
        Counted(None if branch.coarse is None else next(rows), next(rows), tuple(next(rows) for _ in branch.partners))
        for branch in branches
    ]
