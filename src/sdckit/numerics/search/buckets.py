"""Cells dealt into buckets: those that agree on some fields of their packed words stand together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import FEW, njit, sparing
from sdckit.numerics.hashing import spread
from sdckit.numerics.mean_inverse import mean_inverse
from sdckit.numerics.threads import chunks, run

CELLS_PER_BUCKET = 1 << 9
MAX_BUCKET_BITS = 10
TERMS = 32  # steps of the risk of one cell, about


@dataclass(frozen=True, eq=False)
class Weighed:
    """Cells and what they hold.

    All are (K,). `size`, `weight` and `risk`: records; the persons they stand for; the sum of their risks.
    """

    words: NDArray[np.uint64]
    size: NDArray[np.float64]
    weight: NDArray[np.float64]
    risk: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _weigh(size, weight, start, stop, out_size, out_risk):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        f = np.float64(size[i])
        out_size[i] = f
        out_risk[i] = mean_inverse(f, weight[i]) * f


def weigh(words: NDArray[np.uint64], size: NDArray[np.int64], weight: NDArray[np.float64] | None) -> Weighed:
    """Give cells their risk: E[1/F | f] of each record, 1/f without weights.

    >>> weigh(np.array([0, 1], np.uint64), np.array([1, 2]), np.array([215.0, 360.0])).risk.round(9).tolist()
    [0.025096439, 0.01084904]
    """
    out = Weighed(
        words,
        np.empty(len(words)),
        size.astype(np.float64) if weight is None else weight,
        np.empty(len(words)),
    )
    kernel = sparing(_weigh, TERMS * len(words))
    run(lambda part: kernel(size, out.weight, *part, out.size, out.risk), chunks(len(words)))
    return out


@njit(cache=True, nogil=True)
def _count(words, keep, shift, start, stop, counts):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        counts[spread(words[i] & keep) >> shift] += 1


@njit(cache=True, nogil=True)
def _deal(words, size, weight, risk, keep, shift, start, stop, position, to):  # type: ignore[no-untyped-def]
    to_words, to_size, to_weight, to_risk = to
    for i in range(start, stop):
        bucket = spread(words[i] & keep) >> shift
        at = position[bucket]
        position[bucket] = at + 1
        to_words[at], to_size[at], to_weight[at], to_risk[at] = words[i], size[i], weight[i], risk[i]


def deal(cells: Weighed, keep: int) -> tuple[Weighed, NDArray[np.int64]]:
    """Sort cells by the bucket that the bits to keep of their words fall into.

    `keep` has ones in those bits. In a bucket, cells keep their order. Also returns where each bucket begins, and
    the number of cells.

    >>> cells = weigh(np.array([5, 2, 7], np.uint64), np.array([1, 1, 1]), None)
    >>> dealt, edges = deal(cells, 0b10)
    >>> sorted(dealt.words[a:b].tolist() for a, b in zip(edges[:-1], edges[1:]))
    [[2, 7], [5]]
    """
    n, kept = len(cells.words), np.uint64(keep)
    bits = min(MAX_BUCKET_BITS, max(1, (n // CELLS_PER_BUCKET).bit_length()))
    shift, parts = np.uint64(64 - bits), chunks(n)
    if n <= FEW:
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
        lambda t: _deal(
            cells.words, cells.size, cells.weight, cells.risk, kept, shift, *parts[t], position[t], to
        ),
        range(len(parts)),
    )
    return out, edges
