"""The forward search: where it starts, what it adds, when it stops."""

from __future__ import annotations

import math

import numpy as np

from sdckit.identity.population.forward_search import ACCEPT, forward_search, generators, grid_statistics
from sdckit.identity.population.log_linear import Grid, fit_terms


def drawn(depends, n=3000, seed=5):
    """Three keys of which the first two depend on each other, or none."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 12, n), rng.integers(0, 10, n)
    b = np.where(rng.random(n) < (0.7 if depends else 0), a, rng.integers(0, 12, n))
    rows, counts = np.unique(np.stack([a, b, c]), axis=1, return_counts=True)
    return Grid(tuple(rows), (12, 12, 10)), counts.astype(float)


def test_keys_that_do_not_depend_need_no_term():
    grid, counts = drawn(False)
    terms, path = forward_search(grid, counts, 0.1)
    assert terms == ()
    assert [step.term for step in path] == [None]
    assert path[0].z2 < ACCEPT


def test_the_term_that_is_there_is_found_first():
    grid, counts = drawn(True)
    terms, path = forward_search(grid, counts, 0.1)
    assert terms[0] == (0, 1)
    assert path[0].z2 > ACCEPT > path[-1].z2
    tried = []
    for term in ((0, 1), (0, 2), (1, 2)):
        mu, _ = fit_terms(grid, generators(grid, (term,)), counts)
        tried.append(abs(grid_statistics(grid, mu, counts, 0.1).z2))
    assert abs(path[1].z2) == min(tried)


def test_all_terms_may_not_be_enough():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 6, (2, 900))
    rows, counts = np.unique(np.stack([a, b, (a + b) % 6]), axis=1, return_counts=True)
    terms, path = forward_search(Grid(tuple(rows), (6, 6, 6)), counts.astype(float), 0.1)
    assert len(terms) == 3 or path[-1].z2 < ACCEPT
    assert len(path) == len(terms) + 1


def test_one_key_has_nothing_to_add():
    terms, path = forward_search(Grid((np.array([0, 1]),), (2,)), np.array([1.0, 3.0]), 0.5)
    assert terms == ()
    assert math.isfinite(path[0].z2)


def test_margins_to_fit():
    grid = Grid((np.zeros(1, int),) * 3, (1, 1, 1))
    assert generators(grid, ((0, 2),)) == ((0, 2), (1,))
