"""Arrays of draws as they are read, and being missing as a guess of its own."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attribute.prediction.posterior_evidence import (
    Evidence,
    read_array,
    read_missing,
    read_prior,
    with_missing,
)
from sdckit.attribute.prediction.posterior_guesses import Part
from sdckit.errors import DataError

GONE = np.array([[0.2, 0.5], [0.1, 0.4]])
HELD = Part(lambda a, b: np.full((2, b - a, 3), -1.0), np.full((2, 2), -1.0), [np.full(2, -2.0), np.zeros(2)])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("text", "no array of numbers"),
        ([[1, 2, 3]], r"shape \(1, 3\); it must be \(any, 2\) or \(any\): draws first, then records"),
        ([1, np.nan], "has missing values"),
    ],
)
def test_no_draws(given, words):
    with pytest.raises(DataError, match=words):
        read_array({"x": given}, "x", (None, 2), (None,))


def test_prior():
    assert read_prior([1, 3], 2).tolist() == [0.25, 0.75]
    for wrong in ([1], [1, 0], [1, np.inf], ["a", "b"]):
        with pytest.raises(DataError, match="prior= needs 2 numbers above 0"):
            read_prior(wrong, 2)


def test_probabilities_of_being_missing():
    assert read_missing({}, 2) is None
    assert read_missing({"missing": [0.5]}, 2).tolist() == [[0.5, 0.5]]
    assert read_missing({"missing": GONE}, 2).tolist() == GONE.tolist()
    for wrong in ([-0.1], [1.5]):
        with pytest.raises(DataError, match="from 0 to 1"):
            read_missing({"missing": wrong}, 2)


def test_a_part_for_the_value_and_one_for_whether_there_is_one():
    missing = [np.array([False, True]), np.array([True, True]), np.array([False, False])]
    value, presence = with_missing(HELD, GONE, missing, 3)
    assert value.log_guess(1, 2)[0, 0].tolist() == [-1, -1, -1, 0]
    found = np.exp(presence.log_guess(0, 2))
    assert found[:, :, :3] == pytest.approx(np.repeat(1 - GONE[:, :, None], 3, axis=2))
    assert found[:, :, 3] == pytest.approx(GONE)
    assert np.exp(presence.log_truth) == pytest.approx(np.array([[0.8, 0.5], [0.9, 0.4]]))
    assert np.exp(presence.log_released[0]) == pytest.approx([0.1, 0.04])
    assert np.exp(presence.log_released[1]) == pytest.approx([0.4, 0.54])


def test_one_release_alone():
    both = Evidence(np.array([0, 3]), np.ones((2, 4)), (HELD, HELD), 3)
    assert [one.log_released[0].tolist() for one in both.of_release(0).parts] == [[-2, -2], [-2, -2]]
    assert len(both.of_release(1).parts[0].log_released) == 1
    assert (both.n_draws, both.n_missing) == (2, 1)
    assert Evidence(np.array([0]), np.ones((1, 3)), (HELD,)).n_missing == 0
