"""Which categories some record has."""

from __future__ import annotations

import numpy as np

from sdckit.data.outgoing.in_use import in_use


def test_kept_in_order_and_renumbered():
    use = in_use(["a", "b", "c", "d"], np.array([3, 1, 3]))
    assert (use.kept, use.places.tolist(), use.all_used) == (["b", "d"], [1, 3], False)
    assert use.new_place[[1, 3]].tolist() == [0, 1]
    assert in_use(["a"], np.array([0])).all_used
    assert in_use(["a"], np.array([], np.int64)).kept == []
    assert in_use([], np.array([], np.int64)).all_used


def test_joined():
    assert in_use(["a", "b", "c"], np.array([0])).joined(in_use(["a", "b", "c"], np.array([2]))).kept == [
        "a",
        "c",
    ]
