"""Drawing: every cell within one of what is expected in its parent, and independent given the separator."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from sdckit.protect.margins.consistent_margins import Clique
from sdckit.protect.margins.drawn_records import draw_cells, draw_records


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 400), st.integers(0, 10**6))
def test_counts_are_within_one_of_what_is_expected(n_parents, n_cells, n, seed):
    rng = np.random.default_rng(seed)
    table = rng.random((n_parents, n_cells)) * (rng.random((n_parents, n_cells)) < 0.7)
    parent = rng.integers(0, n_parents, n)
    cells = draw_cells(table, parent, rng)
    sums = table.sum(axis=1, keepdims=True)
    share = np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / n_cells)
    drawn = np.zeros_like(table)
    np.add.at(drawn, (parent, cells), 1)
    assert (np.abs(drawn - share * np.bincount(parent, minlength=n_parents)[:, None]) < 1 + 1e-6).all()


def test_down_a_tree():
    rng = np.random.default_rng(1)
    first = rng.integers(1, 50, (3, 4)).astype(float)
    second = rng.integers(1, 50, (4, 2)).astype(float)
    n = int(first.sum())
    cliques = [Clique((), (2, 0), first), Clique((0,), (0, 1), second), Clique((), (3,), np.array([1.0, 0.0]))]
    codes = draw_records(cliques, 4, n, rng)
    assert codes.shape == (4, n)
    counts = np.zeros((3, 4))
    np.add.at(counts, (codes[2], codes[0]), 1)
    assert (np.abs(counts - first) <= 1).all()
    assert (codes[3] == 0).all()
    # given variable 0 the others tell nothing of each other
    apart = [np.corrcoef(codes[2][codes[0] == v], codes[1][codes[0] == v])[0, 1] for v in range(4)]
    assert np.abs(apart).max() < 0.35
