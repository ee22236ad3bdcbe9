"""Weights raked to known totals."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.recoding.weight_margins import raked, read_margins

RNG = np.random.default_rng(2)


def by_turns(weight, codes, totals, rounds=500):
    """Iterative proportional fitting, the textbook way."""
    now = weight.astype(float).copy()
    for _ in range(rounds):
        for one, total in zip(codes, totals, strict=True):
            now *= (total / np.bincount(one, now, len(total)))[one]
    return now


def test_persons_get_what_iterative_fitting_gives():
    weight, codes = RNG.uniform(5, 20, 300), [RNG.integers(0, 2, 300), RNG.integers(0, 4, 300)]
    totals = [np.array([1900.0, 2100.0]), np.array([900.0, 1000.0, 1050.0, 1050.0])]
    found = raked(weight, np.arange(300), codes, totals)
    assert found == pytest.approx(by_turns(weight, codes, totals), rel=1e-6)
    for one, total in zip(codes, totals, strict=True):
        assert np.bincount(one, found) == pytest.approx(total, rel=1e-9)


def test_households_keep_one_weight_and_meet_the_totals():
    unit = np.repeat(np.arange(100), RNG.integers(1, 5, 100))
    weight, codes = (
        RNG.uniform(5, 20, 100)[unit],
        [RNG.integers(0, 2, len(unit)), RNG.integers(0, 3, len(unit))],
    )
    totals = [np.array([1400.0, 1500.0]), np.array([900.0, 1000.0, 1000.0])]
    found = raked(weight, unit, codes, totals)
    assert all(np.ptp(found[unit == one]) == 0 for one in range(100))
    assert (found > 0).all()
    for one, total in zip(codes, totals, strict=True):
        assert np.bincount(one, found) == pytest.approx(total, rel=1e-9)


def test_weights_that_meet_them_already_stay():
    weight, code = np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])
    assert raked(weight, np.arange(3), [code], [np.array([3.0, 3.0])]).tolist() == weight.tolist()


def test_totals_that_cannot_be_met_are_refused():
    codes = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    with pytest.raises(DataError, match="no weights above 0"):
        raked(np.ones(4), np.arange(4), codes, [np.array([1.0, 3.0]), np.array([3.0, 1.0])])


FRAME = open_frame(pl.DataFrame({"sex": ["f", "m", "f"], "age": [1, 2, 1], "gap": ["a", None, "b"]}))


def test_levels_are_found_however_they_are_written():
    codes, totals = read_margins(FRAME, {"age": {"1": 4, 2.0: 6}, "sex": {"m": 5.0, "f": 5.0}})
    assert [one.tolist() for one in codes] == [[0, 1, 0], [0, 1, 0]]
    assert [one.tolist() for one in totals] == [[4.0, 6.0], [5.0, 5.0]]


@pytest.mark.parametrize(("given", "says"), [
    ({"sex": {"f": 1.0}}, "1 levels of the data have no total"),
    ({"sex": {"f": 1.0, "m": 1.0, "x": 1.0}}, "1 totals no records"),
    ({"gap": {"a": 1.0, "b": 1.0}}, "missing in 1 records"),
    ({"sex": {"f": 1.0, "m": 1.0}, "age": {1: 2.0, 2: 2.0}}, "add up to another sum"),
    ({"sex": {"f": -1.0, "m": 1.0}}, "above 0"),
    ({}, "it is empty"),
])  # fmt: skip
def test_margins_that_do_not_fit_are_refused(given, says):
    with pytest.raises(DataError, match=says):
        read_margins(FRAME, given)


def test_an_absent_margin_is_refused():
    with pytest.raises(ColumnError, match="no column 'sxe'"):
        read_margins(FRAME, {"sxe": {"f": 1.0}})
