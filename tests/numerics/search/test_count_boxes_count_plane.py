"""The pieces of counting on a line and in a plane."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.search.count_boxes import _add_ranks_below, _ones_before, _search, build_plane, count_line

VALUES = np.array([1.0, 2.0, 2.0, 2.0, 5.0])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_searching_is_numpy_searchsorted(n):
    bounds, at = np.array([-np.inf, 0, 1, 1.5, 2, 3, 5, 6, np.inf]), np.empty(9, np.int64)
    for above, side in ((False, "left"), (True, "right")):
        _search(VALUES[:n], bounds, above, at)
        assert at.tolist() == np.searchsorted(VALUES[:n], bounds, side=side).tolist()


def test_a_line():
    count = np.full(4, -1)
    count_line(VALUES, VALUES, np.array([2.0, 2.1, 3.0, 0.0]), np.array([2.0, 4.9, 1.0, 9.0]), 0, 3, count)
    assert count.tolist() == [3, 0, 0, -1]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 300])
def test_ranks_of_a_stretch(n):
    rng = np.random.default_rng(n)
    points = rng.permutation(n).astype(float), rng.permutation(n).astype(float)
    both = np.stack(points)
    lined = both[:, np.argsort(points[0])]
    words, zeros, above, below = build_plane(lined, lined, 0, np.argsort(lined[1]))
    assert above.tolist() == below.tolist() == np.sort(both, axis=1).tolist()
    ranks = points[1][np.argsort(points[0])].astype(np.int64)
    a, b = np.sort(rng.integers(0, n + 1, (2, 64)), axis=0)
    bound, count = rng.integers(0, n + 1, 64), np.zeros(64, np.int64)
    expected = [int((ranks[i:j] < top).sum()) for i, j, top in zip(a, b, bound, strict=True)]
    _add_ranks_below(words, zeros, a, b, bound, 1, 64, count)
    assert count.tolist() == expected


def test_ones_before_a_bit():
    words = np.array([[0b1011, 0], [1 << 63, 3], [0, 4]], np.uint64)
    assert [_ones_before(words, i) for i in (0, 1, 2, 3, 4, 64, 127, 128)] == [0, 1, 2, 2, 3, 3, 3, 4]
