"""Random numbers of a protection method: any draw can be repeated by the seed in its log, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.numerics.threads import run

__all__ = ["draw", "key", "open_rng"]

PIECE = 1 << 18  # numbers drawn by one generator: fixed, so that the draw is the same on every machine


def open_rng(seed: arguments.Seed) -> tuple[np.random.Generator, int]:
    """A generator, and the seed that makes the same one again.

    Without a seed one is made up. A generator given is asked for one number, the seed.

    Raises `DataError`: anything else, or a negative number.

    >>> rng, seed = open_rng(None)
    >>> again, _ = open_rng(seed)
    >>> rng.random() == again.random()
    True
    """
    if seed is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return np.random.default_rng(entropy), entropy
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**63))
    return arguments.seed(seed), int(seed)


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
