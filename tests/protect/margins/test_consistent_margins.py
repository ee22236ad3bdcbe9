"""Consistency: no negative counts, one total, margins that agree; drawing within one of what is expected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.protect.margins.consistent_margins import (
    Clique,
    consistent,
    draw_cells,
    draw_records,
    expected_error,
    fit_margins,
    margin_of,
    on_simplex,
    separators,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30), st.floats(1, 1e5), st.integers(0, 99))
def test_the_projection_is_the_nearest_table_of_the_total(counts, total, seed):
    counts = np.array(counts)
    near = on_simplex(counts, total)
    assert (near >= 0).all()
    assert near.sum() == pytest.approx(total)
    other = np.random.default_rng(seed).dirichlet(np.ones(len(counts))) * total
    assert ((near - counts) ** 2).sum() <= ((other - counts) ** 2).sum() * (1 + 1e-9) + 1e-3


def test_fitting_reaches_margins_and_keeps_odds():
    table = np.array([[4.0, 1.0], [2.0, 3.0]])
    fitted, off = fit_margins(table, {(0,): np.array([3.0, 7.0]), (1,): np.array([6.0, 4.0])})
    assert off < 1e-7
    assert fit_margins(np.eye(2), {(0,): np.array([3.0, 7.0]), (1,): np.array([6.0, 4.0])})[1] == pytest.approx(3)
    assert fitted.sum(axis=1) == pytest.approx([3, 7])
    assert fitted.sum(axis=0) == pytest.approx([6, 4])
    assert fitted[0, 0] * fitted[1, 1] / fitted[0, 1] / fitted[1, 0] == pytest.approx(6)


def test_a_table_agrees_with_its_separator_and_its_new_margin_whatever_the_noise():
    rng = np.random.default_rng(1)
    parent = Clique((), (4, 1), on_simplex(rng.normal(20, 30, (3, 5)), 300.0))
    single = {v: on_simplex(rng.normal(60, 20, k), 300.0) for v, k in {4: 3, 1: 5, 2: 4}.items()}
    shared = margin_of(parent, (1, 4))
    assert shared == pytest.approx(parent.table.T)
    child = consistent(rng.normal(0, 40, (5, 3, 4)), (1, 4), (1, 4, 2), shared, single)
    assert (child.table >= 0).all()
    assert margin_of(child, (1, 4)) == pytest.approx(shared, abs=1e-4)
    assert margin_of(child, (2,)) == pytest.approx(single[2], abs=1e-4)
    assert separators([parent, child]).keys() == {(1,), (2,), (4,), (1, 4), (1, 2), (2, 4)}


def test_the_expected_error_follows_the_noise():
    rng = np.random.default_rng(1)
    clique = Clique((), (0,), np.full(50, 100.0))
    errors = [expected_error(clique, scale, rng, draws=40) for scale in (1, 10)]
    # 50 cells with a mean absolute error of .8 of the scale, of 2 x 5,000
    assert errors == pytest.approx([50 * 0.798 * scale / 10_000 for scale in (1, 10)], rel=0.1)


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
