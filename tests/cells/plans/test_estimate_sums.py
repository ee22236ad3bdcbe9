"""Sums of estimates, where they can be checked by hand."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.cells.pair import open_files
from sdckit.cells.plans.estimate_sums import are_numbers, check_weights, distinct_values, estimate_sums
from sdckit.errors import DataError


def pair(weights=(1.0, 2.0, 1.0, 0.0)):
    original = pl.LazyFrame({"x": [1.0, 3.0, None, 9.0], "w": list(weights), "c": ["a", "b", "c", "d"]})
    return open_files(original, original)


def test_sums_are_weighted_and_leave_out_missing_values():
    (of,), _ = estimate_sums(pair(), ["x"], "w")
    assert (of.n, of.used, of.weights, of.squares, of.heaviest, of.median) == (3, 2, 3.0, 5.0, 2.0, 2.0)
    assert (of.total, of.mean) == (7.0, pytest.approx(7 / 3))
    assert of.about_mean == pytest.approx((4 / 3) ** 2 + 4 * (2 / 3) ** 2)
    assert (of.off, of.apart, of.tops["apart"](2).tolist()) == (2, (3.0, 2.0), [2.0, 1.0])


def test_different_values_come_with_their_records_and_weights():
    (of,), _ = distinct_values(pair(), ["x"], "w")
    assert (of.values.tolist(), of.records.tolist()) == ([1.0, 3.0, 9.0], [1.0, 1.0, 1.0])
    assert (of.weights.tolist(), of.squares.tolist()) == ([1.0, 2.0, 0.0], [1.0, 4.0, 0.0])


def test_weights_are_checked():
    assert are_numbers(pair(), ["x", "w"])
    assert not are_numbers(pair(), ["c"])
    check_weights(pair(), "w")
    with pytest.raises(DataError, match="negative"):
        check_weights(pair((1.0, -1.0, 1.0, 1.0)), "w")
