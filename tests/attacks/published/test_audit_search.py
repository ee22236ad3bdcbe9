"""Searches in whole numbers: what a solver's tolerance would blur."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.sparse import csr_array

from sdckit.attacks.published import audit_search
from sdckit.attacks.published.audit_search import search_levels


def searched(rows, lower, upper, groups, n):
    matrix, member = csr_array(np.array(rows, float)), csr_array(np.array(groups, float))
    return search_levels(
        matrix, np.array(lower, float), np.array(upper, float), np.zeros(n), np.ones(n), member
    ).tolist()


def test_every_answer_is_that_of_all_subsets():
    """Subset sums of large values that differ by one: which of them can be in."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = 10_000_000 + rng.choice(40, 9, replace=False)
        target = values[rng.random(9) < 0.5].sum()
        possible = np.zeros(9, np.bool_)
        for chosen in product([0, 1], repeat=9):
            if values @ np.array(chosen) == target:
                possible |= np.array(chosen, np.bool_)
        assert searched([values], [target], [target], np.eye(9), 9) == possible.astype(int).tolist()


def test_what_is_given_up_is_not_decided(monkeypatch):
    monkeypatch.setattr(audit_search, "WORK", -1)
    assert searched([[2, 3]], [2], [2], np.eye(2), 2) == [2, 2]
    monkeypatch.undo()
    monkeypatch.setattr(audit_search, "MOST_ENDS", 0)
    values = 10_000_000 + np.array([1, 2, 4, 8, 16, 32, 64, 128])
    assert set(searched([values], [40_000_003], [40_000_003], np.eye(8), 8)) <= {0, 2}


def test_a_group_is_possible_if_one_of_its_unknowns_is():
    assert searched([[2, 3, 9]], [5], [5], [[1, 0, 1], [0, 0, 1]], 3) == [1, 0]
