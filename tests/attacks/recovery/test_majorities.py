"""Majorities vote perturbed values down, where they are nearly a rule."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from attacks.recovery.made import opened
from sdckit.attacks.recovery.clues import column_clues
from sdckit.attacks.recovery.majorities import by_majority
from sdckit.attacks.recovery.tells import majorities_of


@pytest.mark.parametrize("seed", range(8))
def test_votes_are_counted_as_by_hand(seed):
    rng = np.random.default_rng(seed)
    group, codes = rng.integers(0, 6, 80).astype(np.int32), rng.integers(0, 5, 80).astype(np.int32)
    found = majorities_of(group, codes, 6)
    for one in range(7):
        counts = Counter(codes[(group == one) & (codes > 0)].tolist())
        votes = [*sorted(counts.values(), reverse=True), 0, 0]
        assert (found.votes[one], found.next_votes[one]) == (votes[0], votes[1])
        assert found.size[one] == sum(votes)
        if votes[0] > votes[1]:
            assert counts[int(found.code[one])] == votes[0]


def voted(noise, share=0.1, n=3000, seed=1):
    """A column of which a share was drawn anew, beside one that agrees with it but for noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, n)
    other = np.where(rng.random(n) < noise, rng.integers(0, 6, n), x)
    changed = np.where(rng.random(n) < share, rng.integers(0, 6, n), x)
    whole = pl.DataFrame({"x": [f"v{one}" for one in x], "other": other})
    hidden = whole.with_columns(x=pl.Series([f"v{one}" for one in changed]))
    columns, one = opened(hidden, whole, "x")
    assert one.target.perturbed
    by_majority(one, list(column_clues(columns, None)))
    told = one.target.touched & ~one.open
    place = {label: code for code, label in enumerate(columns["x"].labels(), 1)}
    right = told & (one.codes == np.array([place[label] for label in whole["x"]]))
    return int(one.target.touched.sum()), int(told.sum()), int(right.sum())


def test_a_copy_puts_everything_back():
    touched, told, right = voted(0)
    assert touched == told == right > 0


def test_what_agrees_by_chance_puts_nothing_back():
    assert voted(1)[1] == 0
    assert voted(0.6)[1] == 0


def test_small_groups_and_nothing_else_decide_nothing():
    assert voted(0, n=25)[1] == 0
