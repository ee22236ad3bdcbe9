"""Figures of many margins of a table of cells at once: fields of their packed words left out or coarsened.

Cells that agree on some fields are dealt into one bucket. Every margin that keeps those fields is then a
matter of the buckets, small enough for the processor's cache, so a bucket is read once for all of them. In it,
words are merged without a branch to guess: each writes its place into a table at its hash, and who finds
another's place there is merged into it. A cell that merges with no other keeps its risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.hashing import GOLDEN, spread
from sdckit.numerics.mean_inverse import mean_inverse
from sdckit.numerics.search.buckets import Weighed, deal
from sdckit.numerics.threads import run

__all__ = ["Branch", "Counted", "Sums", "margin_sums"]

STEP = np.uint64(0x2545F4914F6CDD1E)  # from the multiplier of one turn to that of the next
BATCHES = 16  # independent of the number of threads, and with it every sum


@dataclass(frozen=True, eq=False)
class Branch:
    """A field to leave out, and other fields to leave out with it.

    `partners`: fields to leave out together with it. `coarse` (2**bits,): new code of each code of the field, where
    the field is to be counted coarser as well.
    """

    field: int
    partners: Sequence[int] = ()
    coarse: NDArray[np.uint64] | None = None


@dataclass(frozen=True, eq=False)
class Sums:
    """What is counted of one margin.

    `below` (L,): records in merged cells of fewer records than each limit. `risk`: sum of the risks of all records.
    """

    below: NDArray[np.int64]
    risk: float


@dataclass(frozen=True, eq=False)
class Counted:
    """What is counted of a branch: its field coarser, left out, and left out together with each partner."""

    coarse: Sums | None
    alone: Sums
    together: tuple[Sums, ...]


# --- merging in a bucket ----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _merge(keys, size, weight, n, f, big_f, hashes, table, left):  # type: ignore[no-untyped-def]
    """Sums of equal keys in `f` and `big_f`, at the place of one of them; f is 0 at the others.

    `table` needs no clearing: a place that is read has been written in the same turn.
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
    total = 0.0
    for i in range(n):
        total += risk[i] if f[i] == size[i] else 0.0
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _records_below(f, n, limit):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(n):
        total += f[i] if f[i] < limit else 0.0
    return total


@njit(cache=True, nogil=True)
def _margin(keys, cells, n, limits, room, below):  # type: ignore[no-untyped-def]
    """Merge the cells of a bucket by their keys; the sum of all risks, and how many cells have grown."""
    _, size, weight, risk = cells
    f, big_f, hashes, table, left, grown, fresh = room
    _merge(keys, size, weight, n, f, big_f, hashes, table, left)
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
def _merged(keys, cells, n, n_grown, room, to):  # type: ignore[no-untyped-def]
    """The cells that `_margin` has left, one after the other; their number."""
    risk, (f, big_f, _, _, _, grown, fresh) = cells[3], room
    to_words, to_size, to_weight, to_risk = to
    k = np.uint64(0)
    for i in range(n):
        size = f[i]
        to_words[k], to_size[k], to_weight[k], to_risk[k] = keys[i], size, big_f[i], risk[i]
        f[i] = np.float64(k)  # where it went
        k += np.uint64(size > 0)
    for j in range(n_grown):
        to_risk[np.int64(f[grown[j]])] = fresh[j]
    return np.int64(k)


@njit(cache=True, nogil=True)
def _cells(n):  # type: ignore[no-untyped-def]
    return np.empty(n, np.uint64), np.empty(n), np.empty(n), np.empty(n)


@njit(cache=True, nogil=True)
def _room(n):  # type: ignore[no-untyped-def]
    places = 16
    while places < 4 * n:
        places *= 2
    return (
        np.empty(n), np.empty(n), np.empty(n, np.uint32), np.empty(places, np.uint32), np.empty(n, np.uint32),
        np.empty(n, np.uint32), np.empty(n),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _visit(edges, first, last, dealt, layout, plan, limits, below, risk):  # type: ignore[no-untyped-def]
    """Every margin of the buckets first..last; rows as in `margin_sums`."""
    shifts, masks = layout
    fields, starts, partners, coarse_starts, coarse = plan
    largest = 1
    for b in range(first, last):
        largest = max(largest, edges[b + 1] - edges[b])
    largest += 1  # what is appended without a branch is written before it is known to stay
    room, keys, halves, rest = _room(largest), np.empty(largest, np.uint64), _cells(largest), _cells(largest)
    for b in range(first, last):
        lo, hi = edges[b], edges[b + 1]
        whole = dealt[0][lo:hi], dealt[1][lo:hi], dealt[2][lo:hi], dealt[3][lo:hi]
        for a in range(len(fields)):
            row = starts[a] + 2 * a
            shift, mask = shifts[fields[a]], masks[fields[a]]
            cells, n = whole, hi - lo
            codes = coarse[coarse_starts[a] : coarse_starts[a + 1]]
            for step in range(2 + starts[a + 1] - starts[a]):  # coarser, left out, left out with each partner
                if step == 0:
                    if len(codes) == 0:
                        continue
                    for i in range(n):
                        word = cells[0][i]
                        keys[i] = (word & ~(mask << shift)) | (codes[(word >> shift) & mask] << shift)
                else:
                    if step > 1:
                        other = partners[starts[a] + step - 2]
                        shift, mask = shifts[other], masks[other]
                    clear = ~(mask << shift)
                    for i in range(n):
                        keys[i] = cells[0][i] & clear
                total, n_grown = _margin(keys, cells, n, limits, room, below[row + step])
                risk[row + step] += total
                if step < 2:
                    to = halves if step == 0 else rest
                    n = _merged(keys, cells, n, n_grown, room, to)
                    cells = to


# --- all of them ------------------------------------------------------------------------------------


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
    """Count the margins of cells that leave fields out.

    The cells are distinct, of whole records. `shifts` and `bits`: where each field begins in a word, and its width.
    `shared`: fields that no branch leaves out or coarsens: cells that agree on them are dealt into one bucket.
    `limits`: sizes to count smaller cells of.

    >>> from sdckit.numerics.search.buckets import weigh
    >>> cells = weigh(np.array([0b00, 0b01, 0b10], np.uint64), np.array([1, 1, 2]), None)
    >>> (found,) = margin_sums(cells, [Branch(0)], shifts=[0, 1], bits=[1, 1], shared=[1], limits=[2, 3])
    >>> found.alone.below.tolist(), found.alone.risk
    ([0, 4], 2.0)
    """
    dealt, edges = deal(cells, sum(((1 << bits[j]) - 1) << shifts[j] for j in shared))
    layout = np.array(shifts, np.uint64), np.array([(1 << b) - 1 for b in bits], np.uint64)
    tables = [np.empty(0, np.uint64) if one.coarse is None else one.coarse for one in branches]
    plan = (
        np.array([one.field for one in branches], np.int64),
        np.cumsum([0] + [len(one.partners) for one in branches]),
        np.array([other for one in branches for other in one.partners], np.int64),
        np.cumsum([0] + [len(table) for table in tables]),
        np.concatenate(tables),
    )
    batches, n_rows = _batches(edges), sum(2 + len(one.partners) for one in branches)
    below, risk = np.zeros((len(batches), n_rows, len(limits))), np.zeros((len(batches), n_rows))
    columns, sizes = (dealt.words, dealt.size, dealt.weight, dealt.risk), np.array(limits, np.float64)
    run(
        lambda t: _visit(edges, *batches[t], columns, layout, plan, sizes, below[t], risk[t]),
        range(len(batches)),
    )
    counts, totals = below.sum(axis=0).astype(np.int64), risk.sum(axis=0).tolist()
    rows = [Sums(count, total) for count, total in zip(counts, totals, strict=True)]
    out, row = [], 0
    for one in branches:
        after = row + 2 + len(one.partners)
        out.append(
            Counted(None if one.coarse is None else rows[row], rows[row + 1], tuple(rows[row + 2 : after]))
        )
        row = after
    return out
