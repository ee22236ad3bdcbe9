"""Who may lend: agreement with the rule written as sorting, and every donor as likely as it should be."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.protect.synthesis.donors import draw_donors


def rule(i, categories, numbers, lends, k):
    """Chance of each record to be the donor of record i."""
    others = [j for j in range(len(lends)) if j != i and lends[j]]
    if not others:
        return {}
    agree = {j: sum(column[j] == column[i] for column in categories) for j in others}
    best = [j for j in others if agree[j] == max(agree.values())]

    def far(j):
        total = 0.0
        for column in numbers:
            a, b = column[i], column[j]
            if np.isnan(a) != np.isnan(b):
                return np.inf
            total += 0.0 if np.isnan(a) else (a - b) ** 2
        return total

    distances = sorted(map(far, best))[:k]
    ties = Counter(map(far, best))
    chance = {j: distances.count(far(j)) / ties[far(j)] / len(distances) for j in best}
    return {j: share for j, share in chance.items() if share}


@given(st.data())
def test_a_donor_is_one_the_rule_allows(data):
    n = data.draw(st.integers(1, 9))

    def columns(values, most):
        return [
            np.array(data.draw(st.lists(values, min_size=n, max_size=n)))
            for _ in range(data.draw(st.integers(0, most)))
        ]

    categories = columns(st.integers(0, 2), 3)
    numbers = columns(st.sampled_from([0.0, 1.0, 2.0, 5.0, np.nan]), 2)
    lends = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    k = data.draw(st.integers(1, 4))
    found = draw_donors(
        np.arange(n),
        categories,
        numbers,
        lends,
        k=k,
        rng=np.random.default_rng(data.draw(st.integers(0, 99))),
    )
    for i, j in enumerate(found.tolist()):
        allowed = rule(i, categories, numbers, lends, k)
        assert j in allowed if allowed else j == -1


def test_each_of_the_nearest_is_as_likely_and_ties_share_the_last_place():
    age = np.array([30.0, 31, 33, 33, 34, 30])
    alike = [np.array([0, 0, 0, 0, 0, 1])]
    asked = np.zeros(40_000, np.int64)
    found = draw_donors(asked, alike, [age], np.ones(6, bool), k=2, rng=np.random.default_rng(20_09))
    shares = np.bincount(found, minlength=6) / len(asked)
    assert rule(0, alike, [age], np.ones(6, bool), 2) == {1: 0.5, 2: 0.25, 3: 0.25}
    assert shares[[0, 4, 5]].tolist() == [0, 0, 0]
    assert shares[1:4] == pytest.approx([0.5, 0.25, 0.25], abs=0.01)


def test_the_same_seed_draws_the_same_whatever_the_number_of_threads(monkeypatch):
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, 500) for _ in range(2)], [rng.normal(size=500)]
    draws = [
        draw_donors(np.arange(500), *columns, np.ones(500, bool), k=3, rng=np.random.default_rng(5))
        for _ in range(2)
    ]
    monkeypatch.setattr("sdckit.protect.synthesis.donors.chunks", lambda n, minimum: [(0, 7), (7, n)])
    draws.append(draw_donors(np.arange(500), *columns, np.ones(500, bool), k=3, rng=np.random.default_rng(5)))
    assert draws[0].tolist() == draws[1].tolist() == draws[2].tolist()
