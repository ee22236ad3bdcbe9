"""What is guessed of a number or a count, missing or not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, poisson

from sdckit.attribute.prediction.posterior_numbers import MOST_COUNTS, number_evidence
from sdckit.cells.pair import open_pair
from sdckit.errors import DataError

KIDS = pl.DataFrame({"y": [2, 0, None]})
MADE = pl.DataFrame({"y": [None, 5, 1]})
RATE, GONE = np.array([[1.0, 2.0, 3.0], [0.5, 0.6, 0.7]]), np.array([0.1, 0.3])


def pair_of(original, *released):
    return open_pair(original, list(released), categories={}, numeric={"target": ["y"]}, aligned=True)


def test_counts_are_guessed_one_by_one_then_more_then_missing():
    found = number_evidence(pair_of(KIDS, MADE), "y", {"rate": RATE, "missing": GONE}, None, None)
    assert found.truth.tolist() == [2, 0, 4]  # 0, 1, 2, more, missing
    assert (found.missing, found.prior.tolist()) == (4, [[0.2] * 5] * 3)
    every = np.exp(sum(part.log_guess(0, 3) for part in found.parts))
    assert every.sum(axis=2) == pytest.approx(np.ones((2, 3)))
    assert every[0, 1] == pytest.approx([*0.9 * poisson.pmf([0, 1, 2], 2.0), 0.9 * poisson.sf(2, 2.0), 0.1])
    own = np.exp(sum(part.log_truth for part in found.parts))
    assert own == pytest.approx(np.take_along_axis(every, found.truth[None, :, None], axis=2)[:, :, 0])
    released = np.exp(sum(part.log_released[0] for part in found.parts))
    assert released[1] == pytest.approx(0.3 * 0.7**2 * poisson.pmf(5, 0.6) * poisson.pmf(1, 0.7))


def test_blocks_of_records():
    found = number_evidence(pair_of(KIDS, MADE), "y", {"rate": RATE, "missing": GONE}, None, None)
    for part in found.parts:
        assert part.log_guess(1, 3).tolist() == part.log_guess(0, 3)[:, 1:].tolist()


def test_a_prior_of_counts():
    whole = KIDS.drop_nulls()
    found = number_evidence(pair_of(whole, whole), "y", {"rate": [1.0]}, None, [4, 3, 2, 1])
    assert found.prior[0].tolist() == [0.4, 0.3, 0.2, 0.1]
    with pytest.raises(DataError, match="prior= needs 4 numbers"):
        number_evidence(pair_of(whole, whole), "y", {"rate": [1.0]}, None, [1, 1])


@pytest.mark.parametrize(
    ("values", "guesses", "grid"),
    [
        ([0, MOST_COUNTS], None, {0, MOST_COUNTS}),
        ([0, 1, 2, 7], 2, {0, 2}),
        ([0, 1, 2, 7], [3, 1], {1, 3}),
    ],
)
def test_many_counts_are_guessed_beside_the_truth(values, guesses, grid):
    frame = pl.DataFrame({"y": values})
    found = number_evidence(pair_of(frame, frame), "y", {"rate": [1.0]}, guesses, None)
    assert found.truth.tolist() == [0] * len(values)
    assert (found.prior > 0).sum(axis=1).tolist() == [len(grid | {one}) for one in values]
    assert found.parts[0].log_guess(0, 1).shape == (1, 1, 1 + len(grid))


def test_the_largest_that_are_guessed_one_by_one():
    frame = pl.DataFrame({"y": [0, MOST_COUNTS - 1]})
    found = number_evidence(pair_of(frame, frame), "y", {"rate": [50.0]}, None, None)
    assert found.prior.shape == (2, MOST_COUNTS + 1)
    assert np.exp(found.parts[0].log_guess(0, 1)).sum() == pytest.approx(1)


def test_a_missing_number_has_no_number_among_its_guesses_that_is_the_truth():
    frame, made = pl.DataFrame({"y": [1.0, None, 3.0]}), pl.DataFrame({"y": [1.5, 2.0, None]})
    draws = {"mean": np.zeros((2, 3)), "sd": [1.0, 2.0], "missing": GONE}
    found = number_evidence(pair_of(frame, made), "y", draws, [1.0, 2.0], None)
    assert found.truth.tolist() == [0, 3, 0]
    # the truth, 1, 2, missing: the truth 1 is not guessed twice
    assert (found.prior > 0).tolist() == [[True, False, True, True], [False, True, True, True], [True] * 4]
    value, presence = found.parts
    assert value.log_truth == pytest.approx(norm.logpdf([[1, 0, 3]] * 2, 0, [[1], [2]]) * [1, 0, 1])
    assert np.exp(presence.log_truth[0]) == pytest.approx([0.9, 0.1, 0.9])
    assert value.log_released[0] == pytest.approx([norm.logpdf([1.5, 2.0], 0, sd).sum() for sd in (1, 2)])


REFUSED = [
    ([1.5, 2.0], {"rate": [1.0]}, {}, "the original: 'y' holds other values than counts"),
    ([-1, 2], {"rate": [1.0]}, {}, "holds other values than counts"),
    ([1, 2], {"rate": [0.0]}, {}, "not above 0, or infinite"),
    ([1, 2], {"rate": [np.inf]}, {}, "not above 0, or infinite"),
    ([1, 2], {"rate": [1.0]}, {"guesses": [0.5]}, "counts are whole numbers"),
    ([1, 2], {"rate": [1.0]}, {"guesses": [1], "prior": [1, 1]}, "guessed with equal probabilities"),
    ([1, None], {"rate": [1.0]}, {}, "the original: 'y' is missing in 1 rows; the release: .*of being missing too"),
    ([1, 2], {"rate": [[1.0, 1, 1]]}, {}, r"it must be \(any, 2\) or \(any\)"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "draws", "more", "words"), REFUSED)
def test_bad_draws(values, draws, more, words):
    frame = pl.DataFrame({"y": values})
    with pytest.raises(DataError, match=words):
        number_evidence(pair_of(frame, frame), "y", draws, **{"guesses": None, "prior": None, **more})
