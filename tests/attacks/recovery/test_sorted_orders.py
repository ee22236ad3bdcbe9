"""An order tells where the records stand in that of the values, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.recovery.sorted_orders import by_position, neighbours

RNG = np.random.default_rng(4)
N = 1_000
AGES = np.sort(RNG.integers(0, 95, N)).astype(np.float64)
FIT = np.arange(0, N, 2)


@pytest.mark.parametrize("direction", [1, -1])
def test_rows_sorted_by_a_number_tell_it_though_some_stand_elsewhere(direction: int) -> None:
    truth = AGES[::direction].copy()
    moved = RNG.permutation(N)[:20]
    truth[moved] = RNG.permutation(truth[moved])
    shares = [float((fitted == truth).mean()) for fitted in by_position(truth, np.arange(N), FIT)]
    assert len(shares) == 2
    assert max(shares) > 0.9


def test_the_order_is_that_of_the_rows_as_they_are_put() -> None:
    rows = RNG.permutation(N)
    truth = np.empty(N)
    truth[rows] = AGES
    fitted = next(by_position(truth, rows, FIT))
    np.testing.assert_array_equal(fitted, truth)
    assert list(by_position(truth, np.arange(N), FIT)) == []


def test_what_is_missing_is_passed_over() -> None:
    truth = AGES.copy()
    truth[::7] = np.nan
    fitted = next(by_position(truth, np.arange(N), np.flatnonzero(~np.isnan(truth))[::2]))
    np.testing.assert_array_equal(fitted, truth)


def test_groups_side_by_side_tell_their_value() -> None:
    region = np.repeat([3.0, 1.0, 7.0, 2.0], N // 4)
    (fitted,) = by_position(region, np.arange(N), FIT)
    known = ~np.isnan(fitted)
    assert known.mean() > 0.99
    np.testing.assert_array_equal(fitted[known], region[known])


def test_mates_side_by_side_are_no_order() -> None:
    of_home = np.repeat(RNG.integers(0, 50, N // 2), 2).astype(np.float64)
    assert list(by_position(of_home, np.arange(N), FIT)) == []
    assert list(by_position(np.full(N, 5.0), np.arange(N), FIT)) == []
    assert list(by_position(np.full(N, np.nan), np.arange(N), FIT[:1])) == []


def test_neighbours_by_hand() -> None:
    known = np.array([False, True, False, False, True, False])
    last, following = neighbours(known)
    assert last.tolist() == [6, 6, 1, 1, 1, 4]
    assert following.tolist() == [1, 4, 4, 4, 6, 6]
    homes = np.array([3, 3, 3, 5, 5, -1])
    last, following = neighbours(known, homes)
    assert last.tolist() == [6, 6, 6, 1, 1, 4]  # of the own household none
    assert following.tolist() == [4, 4, 4, 6, 6, 6]


@pytest.mark.parametrize("in_order", [True, False])
def test_mates_who_stand_together_make_no_order_that_tells(in_order: bool) -> None:
    """What all of a household share is told by mates; an order that others stand in tells as ever."""
    homes = np.repeat(np.arange(250), 4)
    kinds = np.random.default_rng(3).integers(0, 2, 250)
    truth = (np.sort(kinds) if in_order else kinds)[homes].astype(np.float64)

    def share(fitted: np.ndarray) -> float:
        told = ~np.isnan(fitted)
        return float((fitted[told] == truth[told]).mean())

    beside_others = [share(fitted) for fitted in by_position(truth, np.arange(N), FIT, homes)]
    assert any(right > 0.95 for right in beside_others) is in_order
    *_, counting_mates = by_position(truth, np.arange(N), FIT)
    assert share(counting_mates) > 0.6


@pytest.mark.parametrize(
    ("truth", "tells"),
    [
        (np.repeat([3.0, 1.0, 4.0, 0.0, 2.0], N // 5), True),  # a file in groups, whatever their order
        (np.repeat(RNG.integers(0, 2, N // 8), 8).astype(np.float64), False),  # eight rows of each person
        (np.repeat(np.arange(N // 8) % 20 == 0, 8).astype(np.float64), False),  # what is rare among them
        (np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], N // 5), False),  # a few people with many rows
    ],
)
def test_of_values_that_no_record_shows_only_few_runs_are_known(truth: np.ndarray, tells: bool) -> None:
    assert len(list(by_position(truth, np.arange(N), FIT))) >= 1
    assert len(list(by_position(truth, np.arange(N), FIT, shown=False))) == tells
