"""What a relation must do to tell, and that a released value that tells by itself does not count for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sdckit.attacks.recovery.judged_relations import Halves, Judge, divergence

RNG = np.random.default_rng(5)
N = 2_000


def judge(truth: np.ndarray, released: np.ndarray, changed: np.ndarray | None = None) -> Judge:
    every = np.ones(len(truth), np.bool_)
    half = Halves.of(~np.isnan(truth), 0).judge
    return Judge(truth, every if changed is None else changed, released.astype(np.int32), half)


def test_halves_share_no_record_and_leave_out_what_is_unknown() -> None:
    known = RNG.random(N) < 0.8
    halves = Halves.of(known, 1)
    assert not set(halves.fit) & set(halves.judge)
    assert sorted([*halves.fit, *halves.judge]) == np.flatnonzero(known).tolist()
    drawn = np.random.default_rng(1).permutation(np.flatnonzero(known))  # the seed alone decides
    assert halves.fit.tolist() == sorted(drawn[: len(drawn) // 2])


@pytest.mark.parametrize(("wrong", "tells"), [(0, True), (0.05, True), (0.15, False)])
def test_nine_of_ten_must_be_hit(wrong: float, tells: bool) -> None:
    truth = RNG.integers(0, 4_000, N).astype(np.float64)
    fitted = np.where(RNG.random(N) < wrong, truth + 7, truth)
    assert judge(truth, np.floor(truth / 500)).tells(fitted, 0.5, 100) is tells


def test_a_narrow_band_tells_by_itself() -> None:
    truth = RNG.integers(0, 95, N).astype(np.float64)
    middle = np.floor(truth / 2) * 2 + 0.5  # of bands of two years, within half a year of both
    assert not judge(truth, np.floor(truth / 2)).tells(middle, 0.5, 1)
    assert judge(truth, np.floor(truth / 10)).tells(truth, 0.5, 1)


def test_what_nobody_else_is_released_with_is_compared_with_all() -> None:
    truth = (RNG.random(N) < 0.95).astype(np.float64)
    noise = np.arange(N)
    assert not judge(truth, noise).tells(np.ones(N), 0.25, 1)
    assert judge(truth, noise).tells(truth, 0.25, 1)


def test_of_few_changed_values_all_records_are_judged_as_if_hidden() -> None:
    truth = RNG.integers(0, 4_000, N).astype(np.float64)
    changed = np.arange(N) < 9
    released = np.where(changed, 0, truth)
    assert judge(truth, released, changed).tells(truth, 0.5, 100)
    assert not judge(truth, released, changed).tells(np.where(RNG.random(N) < 0.8, truth + 3, truth), 0.5, 100)


def test_chance_is_counted_over_what_was_tried() -> None:
    truth = RNG.integers(0, 3, 60).astype(np.float64)
    held = judge(truth, np.zeros(60))
    assert held.tells(truth, 0.25, 1)
    assert not held.tells(truth, 0.25, 10**12)
    assert not held.tells(np.full(60, math.nan), 0.25, 1)


def test_the_tail_is_bounded_from_above() -> None:
    from scipy.stats import binom

    for n, hits, chance in ((100, 95, 0.5), (40, 40, 0.2), (500, 470, 0.9)):
        assert binom.sf(hits - 1, n, chance) <= math.exp(-n * divergence(hits / n, chance)) * (1 + 1e-9)
