"""Arrays carved out of one block do not overlap, are aligned, and keep the block alive."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from sdckit.numerics.grouping import ALIGNMENT, Arena, bytes_for

PIECES = [(3, np.int64), (0, np.float64), (7, np.uint8), (5, np.float64), (1, np.int32)]


def test_pieces_do_not_overlap():
    arena = Arena(bytes_for(*PIECES))
    pieces = [arena.take(n, dtype) for n, dtype in PIECES]
    for i, piece in enumerate(pieces):
        piece[:] = i
    for i, ((n, dtype), piece) in enumerate(zip(PIECES, pieces, strict=True)):
        assert (piece.shape, piece.dtype) == ((n,), np.dtype(dtype))
        assert (piece == i).all()


def test_pieces_are_aligned():
    arena = Arena(bytes_for(*PIECES))
    assert all(arena.take(n, dtype).ctypes.data % ALIGNMENT == 0 for n, dtype in PIECES if n)


def test_pieces_outlive_the_arena():
    piece = Arena(bytes_for((1000, np.int64))).take(1000, np.int64)
    piece[:] = 7
    gc.collect()
    assert piece.sum() == 7000


@pytest.mark.parametrize(("n", "dtype", "expected"), [(0, np.int64, 0), (1, np.uint8, 64), (9, np.float64, 128)])
def test_room_is_counted_in_whole_lines(n, dtype, expected):
    assert bytes_for((n, dtype)) == expected
