"""Carve arrays out of one large block of memory.

A fresh array of a few megabytes costs more in page faults than in work; one large block is backed by
huge pages where the system has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64


def bytes_for(*arrays: tuple[int, DTypeLike]) -> int:
    """Bytes that an arena needs to hold arrays of these (length, dtype)."""
    return sum(-(-n * np.dtype(dtype).itemsize // ALIGNMENT) * ALIGNMENT for n, dtype in arrays)


class Arena:
    """A block of memory handed out piece by piece; the pieces keep the block alive.

    >>> arena = Arena(bytes_for((3, np.int64), (2, np.float64)))
    >>> arena.take(3, np.int64).shape, arena.take(2, np.float64).dtype.name
    ((3,), 'float64')
    """

    def __init__(self, n_bytes: int) -> None:
        self._block = np.empty(n_bytes + ALIGNMENT, np.uint8)
        self._used = -self._block.ctypes.data % ALIGNMENT

    def take(self, n: int, dtype: DTypeLike) -> NDArray[Any]:
        """An uninitialised array of `n` elements."""
        start, size = self._used, n * np.dtype(dtype).itemsize
        self._used += -(-size // ALIGNMENT) * ALIGNMENT
        return self._block[start : start + size].view(dtype)
