"""Ranks and their partners."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics import compiling
from sdckit.protect.perturbation.rank_swap_kernel import partners, ranked_rows


def ranked(values, seed=1):
    values = np.asarray(values, float)
    return ranked_rows(values.copy(), np.arange(len(values)), np.uint64(seed))


@pytest.mark.parametrize("scale", [1e-320, 1e-5, 1.0, 1e300])
def test_numbers_in_ascending_order(scale):
    values = np.random.default_rng(1).normal(size=5000) * scale
    values[:3] = [0.0, -1.7e308, 1.7e308]
    assert (values[ranked(values)] == np.sort(values)).all()
    whole = np.arange(-50, 50)[::-1].astype(float)
    assert ranked(whole).tolist() == list(range(99, -1, -1))


def test_equal_numbers_in_any_order():
    values = np.array([2.0, 0.0, 2.0, -0.0, 2.0, -1.0])
    seen = {tuple(ranked(values, seed).tolist()) for seed in range(200)}
    assert {order[0] for order in seen} == {5}
    assert {frozenset(order[1:3]) for order in seen} == {frozenset({1, 3})}
    assert len(seen) == 12
    counts = np.bincount([ranked(np.ones(4), seed)[0] for seed in range(2000)], minlength=4)
    assert counts.min() > 400


@pytest.mark.parametrize(
    ("n", "window"), [(1, 3), (2, 1), (3, 2), (10, 1), (11, 1), (12, 2), (101, 3), (1000, 70), (30, 500)]
)
def test_a_permutation_within_the_window(n, window):
    stayed = 0
    for seed in range(60):
        lent = partners(n, window, np.uint64(seed))
        assert sorted(lent.tolist()) == list(range(n))
        assert np.abs(lent - np.arange(n)).max() <= window
        stayed += (lent == np.arange(n)).sum()
    if window == 1:
        assert stayed == 60 * (n % 2)
    elif n > 1:
        assert stayed <= (0 if window > 10 else 20)


def test_partners_are_drawn_from_the_whole_window():
    lent = np.array([partners(40, 6, np.uint64(seed))[0] for seed in range(600)])
    assert set(lent.tolist()) == set(range(1, 7))
    assert np.bincount(lent)[1:].min() > 60
    assert (partners(500, 20, np.uint64(5)) == partners(500, 20, np.uint64(5))).all()
    assert (partners(500, 20, np.uint64(5)) != partners(500, 20, np.uint64(6))).any()


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize(("n", "window"), [(1, 1), (7, 2), (300, 1), (300, 40)])
def test_few_are_swapped_alike_without_compiling(monkeypatch, n, window):
    values = np.random.default_rng(n).integers(0, 9, n)
    plain = ranked(values), partners(n, window, np.uint64(5))
    monkeypatch.setattr(compiling, "STEPS", -1)
    assert plain[0].tolist() == ranked(values).tolist()
    assert plain[1].tolist() == partners(n, window, np.uint64(5)).tolist()
