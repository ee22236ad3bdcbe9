"""Guesses: what trees learn from the release, beside the most frequent value."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from attacks.recovery.made import blanked, opened
from sdckit.attacks.recovery.clues import Household, column_clues
from sdckit.attacks.recovery.guesses import Guessed, _of_a_mate, beyond, guess_values

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 8, 1500)


def guessed(x, share=0.2, **changes):
    whole = pl.DataFrame({"y": Y, "z": np.arange(1500) % 5, "x": x})
    hidden = blanked(whole, ["x"], share).with_columns(**changes)
    columns, one = opened(hidden, whole, "x")
    found = guess_values(one, list(column_clues(columns, None)), seed=3)
    return found, one, whole["x"]


def codes(one, truth):
    place = {label: code for code, label in enumerate(one.target.column.labels(), 1)}
    return np.array([place[str(value)] for value in truth])


def test_categories_that_follow_from_others():
    found, one, truth = guessed([f"v{y // 2}" for y in Y])
    assert not found.is_number
    assert found.rows.tolist() == np.flatnonzero(one.target.touched).tolist()
    right = found.right(codes(one, truth)[found.rows])
    assert right.mean() > 0.95
    assert found.expected > 0.95
    usual = found.right(codes(one, truth)[found.rows], usual=True)
    assert usual.mean() == pytest.approx(0.25, abs=0.08)
    assert found.expected_usual == pytest.approx(
        np.bincount(one.known[one.known > 0]).max() / (one.known > 0).sum()
    )


def test_numbers_are_right_when_near():
    found, _, truth = guessed(Y * 1000 + RNG.integers(0, 60, 1500))
    assert found.is_number
    assert found.right(truth.to_numpy()[found.rows]).mean() > 0.75
    assert found.right(truth.to_numpy()[found.rows], usual=True).mean() < 0.3
    near = Guessed(np.arange(3), np.array([100.0, 106.0, 0.4]), np.zeros(3), True, reach=10.0)
    assert near.right(np.array([104.9, 100.0, 0.0])).tolist() == [True, False, True]


def test_the_same_seed_gives_the_same():
    one, two = (guessed([f"v{y // 3}" for y in Y])[0] for _ in range(2))
    assert (one.model == two.model).all()


def test_too_little_to_learn_from():
    assert guessed([f"v{y}" for y in Y], share=0.99)[0] is None
    assert guessed([f"v{y}" for y in Y], share=1.1)[0] is None
    whole = pl.DataFrame({"x": ["a", "b"] * 100})
    columns, one = opened(blanked(whole, ["x"], 0.1), whole, "x")
    assert guess_values(one, list(column_clues(columns, None)), seed=1) is None  # nothing beside it


def test_one_value_is_guessed_always():
    found, _, _ = guessed(["a"] * 1500)
    assert len(set(found.model.tolist())) == 1
    assert (found.model == found.usual).all()


def test_infinite_numbers_are_not_learnt_from():
    x = np.where(np.arange(1500) % 100 == 7, np.inf, Y * 10.0 + RNG.random(1500))
    found, _, _ = guessed(x)
    assert np.isfinite(found.model).all()


def test_perturbed_values_are_guessed_for_half_of_them():
    whole = pl.DataFrame({"y": Y, "x": [f"v{y // 2}" for y in Y]})
    columns, one = opened(whole.with_columns(pl.col("x").shuffle(seed=1)), whole, "x")
    found = guess_values(one, list(column_clues(columns, None)), seed=1)
    assert found is not None
    assert len(found.rows) == one.target.touched.sum() // 2


def test_what_a_mate_has():
    home = np.array([0, 0, 1, 1, 1, 2, -1])
    whole = pl.DataFrame({"home": home, "x": ["a", "b", "c", "c", "d", "e", "f"]})
    _, one = opened(whole.with_columns(x=pl.when(pl.int_range(7) == 1).then(None).otherwise("x")), whole, "x")
    mates = Household("home", home.astype(np.int32), np.array([2, 3, 1]))
    found = _of_a_mate(one, mates)
    assert found[1] == one.known[0]
    assert found[0] == 0  # the only mate shows nothing
    assert found[2] in (one.known[3], one.known[4])
    assert found[5] == found[6] == 0


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_interval_holds_the_difference(answers):
    model, usual = (np.array(part) for part in zip(*answers, strict=True))
    difference, low, high = beyond(model, usual, 0.95)
    assert difference == pytest.approx(model.mean() - usual.mean())
    assert -1 <= low <= high <= 1
    wider = beyond(model, usual, 0.99)
    assert wider[1] <= low
    assert high <= wider[2]


def test_the_interval_covers_what_is_so():
    """Matched pairs drawn a thousand times: 95 of 100 intervals hold the true difference."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(1000):
        draws = rng.choice(4, 60, p=[0.4, 0.25, 0.1, 0.25])
        _, low, high = beyond((draws == 0) | (draws == 1), (draws == 0) | (draws == 2), 0.95)
        held += low <= 0.15 <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.025)
    assert all(np.isnan(one) for one in beyond(np.zeros(0, bool), np.zeros(0, bool), 0.95))
