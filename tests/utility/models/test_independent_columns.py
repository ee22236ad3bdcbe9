"""Columns that follow from those before them."""

from __future__ import annotations

import numpy as np

from sdckit.utility.models.independent_columns import independent_columns


def test_independent_columns():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30, 3))
    follows = np.column_stack([x[:, 0], 1e6 * x[:, 1], x[:, 0] - 3 * x[:, 1], np.zeros(30), 1e-6 * x[:, 2]])
    assert independent_columns(follows).tolist() == [True, True, False, False, True]
    assert independent_columns(np.zeros((5, 2))).tolist() == [False, False]
    assert independent_columns(rng.normal(size=(2, 4))).tolist() == [True, True, False, False]
