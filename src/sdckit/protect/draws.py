"""Random numbers of a protection method: the same from the same generator, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.threads import run

PIECE = 1 << 18  # numbers drawn by one generator: fixed, so that the draw is the same on every machine


def draw(
    rng: np.random.Generator, n: int, fill: Callable[[np.random.Generator, NDArray[np.float64]], object]
) -> NDArray[np.float64]:
    """Draw n numbers in pieces, each by a generator of its own, on threads.

    `fill`: ``fill(generator, piece)`` writes the numbers of a piece.

    >>> numbers = draw(np.random.default_rng(1), 3, lambda one, piece: one.random(out=piece))
    >>> numbers.shape
    (3,)
    """
    out = np.empty(n)
    starts = range(0, n, PIECE)
    work = list(zip(rng.spawn(len(starts)), starts, strict=True))
    run(lambda part: fill(part[0], out[part[1] : part[1] + PIECE]), work)
    return out


def key(rng: np.random.Generator) -> np.uint64:
    """The start of a sequence that a kernel counts on by itself."""
    return np.uint64(rng.integers(2**64, dtype=np.uint64))
