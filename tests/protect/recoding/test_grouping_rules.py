"""Which records come together, rule by rule."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sdckit.errors import DataError
from sdckit.protect.recoding.grouping_rules import RULES, enough_each, optimal, ranked


def within(values, group):
    return sum(((values[group == g] - values[group == g].mean()) ** 2).sum() for g in np.unique(group))


@pytest.mark.parametrize("n", range(2, 14))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_optimum_over_all_groupings_of_neighbours(n, k):
    if n < k:
        return
    values = np.random.default_rng(10 * n + k).lognormal(1, 1, n)
    order = np.argsort(values)
    best = np.inf
    for cuts in itertools.product([0, 1], repeat=n - 1):
        group = np.empty(n, np.int64)
        group[order] = np.concatenate([[0], np.cumsum(cuts)])
        if np.bincount(group).min() >= k:
            best = min(best, within(values, group))
    found = optimal(values, k)
    assert np.bincount(found).min() >= k
    assert np.bincount(found).max() < 2 * k
    assert within(values, found) == pytest.approx(best)


def test_ranked():
    assert ranked(np.arange(3), 2).tolist() == [0, 0, 0]
    assert ranked(np.arange(7), 3).tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_enough_values_in_each_group():
    gap = np.nan
    group = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    whole = np.arange(9.0)
    assert (enough_each(whole, group, 3) == group).all()
    one_thin = np.array([1.0, 2, 3, 50, 60, gap, 55, 56, 57])
    assert enough_each(one_thin, group, 3).tolist() == [0, 0, 0, 2, 2, -1, 2, 2, 2]  # joins the nearest
    one_thin = np.array([1.0, gap, gap, 50, 60, gap, 2, 59, gap])
    assert enough_each(one_thin, group, 2).tolist() == [
        2,
        -1,
        -1,
        1,
        1,
        -1,
        2,
        2,
        -1,
    ]  # 30.5 is nearer than 55
    two_thin = np.array([1.0, gap, gap, 50, 60, gap, 2, gap, gap])
    assert enough_each(two_thin, group, 2).tolist() == [3, -1, -1, 1, 1, -1, 3, -1, -1]
    nothing = np.array([gap, gap, gap, 1, 2, 3, gap, gap, gap])
    assert enough_each(nothing, group, 3).tolist() == [-1] * 3 + [1] * 3 + [-1] * 3


def test_scale_and_origin_do_not_matter():
    values = np.random.default_rng(3).normal(size=(60, 3))
    moved = values * [1, 1000, 0.01] + [5, -7, 100]
    for name, rule in RULES.items():
        a, b = rule(values, 4, 1), rule(moved, 4, 1)
        assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())), name


def test_a_constant_or_empty_column_has_no_say():
    values = np.random.default_rng(4).normal(size=(40, 2))
    more = np.column_stack([values, np.full(40, 0.1), np.full(40, np.nan)])
    for name in ("mdav", "pca"):
        assert (RULES[name](values, 3, 1) == RULES[name](more, 3, 1)).all()


def test_a_singular_covariance():
    x = np.random.default_rng(5).normal(size=(30, 1))
    with pytest.raises(DataError, match=r"robust covariance .* is singular"):
        RULES["rmd"](np.column_stack([x, 2 * x]), 3, 1)


def test_the_most_outlying_first():
    values = np.random.default_rng(6).normal(size=(80, 2))
    values[17] += 50
    assert RULES["rmd"](values, 3, 1)[17] == 0
