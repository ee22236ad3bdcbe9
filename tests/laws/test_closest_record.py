"""What must not change distances to the closest record, and what the share of chance must be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from draw import quiet
from sdckit import distance_to_closest_record

VALUE = st.one_of(st.integers(0, 4).map(float), st.none())
ROWS = st.lists(st.tuples(VALUE, st.sampled_from(["a", "b", None])), min_size=1, max_size=12)
ENDS = [(0.0, "a"), (4.0, "b")]  # every file has the same range, so that files can change places


def frame(rows):
    return pl.DataFrame([*rows, *ENDS], schema={"x": pl.Float64, "c": pl.String}, orient="row")


def measured(original, released, **options):
    with quiet():  # the control file may be the original
        return distance_to_closest_record(original, released, numeric=["x"], **options)


@settings(max_examples=30)
@given(ROWS, ROWS)
def test_directions_change_places_with_the_files(left, right):
    one, other = measured(frame(left), frame(right)), measured(frame(right), frame(left))
    for name in ("dcr", "nndr"):
        there, back = (f"{name}_{way}" for way in ("released_to_original", "original_to_released"))
        assert getattr(one, there) == pytest.approx(getattr(other, back))
        assert getattr(one, back) == pytest.approx(getattr(other, there))


@settings(max_examples=30)
@given(ROWS, ROWS, ROWS, st.randoms(use_true_random=False))
def test_no_order_matters_and_the_shares_of_two_files_add_up(left, right, control, random):
    files = [frame(rows) for rows in (left, right, control)]
    shuffled = []
    for one in files:
        order = list(range(one.height))
        random.shuffle(order)
        shuffled.append(one[order])
    first = measured(files[0], files[1], control=files[2], resamples=19)
    again = measured(shuffled[0], shuffled[1], control=shuffled[2], resamples=19)
    turned = measured(files[2], files[1], control=files[0], resamples=19)
    for name in ("share_closer_to_original", "strictly_closer", "identifiability", "hitting_rate", "nndr_loss"):
        assert getattr(again, name) == pytest.approx(getattr(first, name))
    assert first.share_closer_to_original + turned.share_closer_to_original == pytest.approx(1.0)
    assert first.expected_share + turned.expected_share == pytest.approx(1.0)
    assert first.nndr_loss == pytest.approx(-turned.nndr_loss)


@settings(max_examples=30)
@given(ROWS)
def test_a_copy_hits_everybody(rows):
    copy = measured(frame(rows), frame(rows))
    assert copy.copies == copy.hitting_rate == 1.0
    assert copy.dcr_released_to_original == copy.dcr_original_to_released == 0.0


def test_chance_covers_a_release_that_never_saw_the_file():
    rng = np.random.default_rng(12)
    inside = 0
    for seed in range(60):
        o, s, c = (pl.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n)}) for n in (30, 80, 45))
        result = distance_to_closest_record(o, s, control=c, seed=seed)
        inside += result.chance_low <= result.share_closer_to_original <= result.chance_high
    assert inside >= 53
