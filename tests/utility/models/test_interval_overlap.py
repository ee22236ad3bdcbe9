"""Overlaps by hand, intervals without length, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from sdckit import interval_overlap
from sdckit.errors import DataError, SdcWarning
from sdckit.utility.models.interval_overlap import shared_part


def test_by_hand():
    assert interval_overlap([0, 4], [2, 4]) == 0.75  # half of the one, all of the other
    assert interval_overlap((0, 1), (2, 3)) == -1.0
    assert interval_overlap((0, 1), (2, 3), version="drechsler_reiter") == 0.0
    assert interval_overlap((0, 1), (1, 2)) == 0.0
    assert isinstance(interval_overlap((0, 1), (0, 1)), float)


def test_several_at_once():
    known, found = np.array([[0, 4], [0, 1]]), [[2, 4], [3, 4]]
    assert interval_overlap(known, found).tolist() == [0.75, -2.0]
    assert interval_overlap(known, found, version="drechsler_reiter").tolist() == [0.75, 0.0]


@pytest.mark.parametrize("other", [[1, 1], [0, math.inf], [math.nan, 1], [-math.inf, math.inf]])
def test_an_interval_without_length(other):
    for ends in (([0, 2], other), (other, [0, 2]), (other, other)):
        with pytest.warns(SdcWarning, match="1 of 1 pairs of intervals is undefined"):
            assert math.isnan(interval_overlap(*ends))


def test_the_shared_posterior_probability_of_normal_posteriors():
    """Karr et al. (2006): the probability of the common part, here of two normal posteriors with sd 1 and 2."""
    posteriors = norm(0, 1), norm(1.5, 2)
    for level in (0.8, 0.95):
        one, other = (posterior.interval(level) for posterior in posteriors)
        low, high = max(one[0], other[0]), min(one[1], other[1])
        expected = sum(posterior.cdf(high) - posterior.cdf(low) for posterior in posteriors) / 2 / level
        assert interval_overlap(one, other, version="posterior", level=level) == pytest.approx(expected, rel=1e-12)
    drawn = (posterior.rvs((200_000, 1), random_state=at) for at, posterior in enumerate(posteriors))
    assert interval_overlap(*drawn, draws=True, version="posterior") == pytest.approx([expected], abs=0.005)


def test_equal_posteriors_share_all_and_distant_ones_nothing():
    draws = np.arange(1000.0)
    assert interval_overlap((0, 1), (0, 1), version="posterior", level=0.8) == pytest.approx(1)
    assert interval_overlap(draws, draws, draws=True, version="posterior", level=0.8) == pytest.approx(1)
    found = interval_overlap([[0, 1], [0, 1]], [[1, 2], [7, 8]], version="posterior")
    assert found.tolist() == [0.0, 0.0]
    assert interval_overlap(draws, draws + 1000, draws=True, version="posterior") == 0
    with pytest.warns(SdcWarning, match="1 of 1 pairs of intervals is undefined"):
        assert math.isnan(interval_overlap(np.zeros(20), np.arange(20.0), draws=True, version="posterior"))


def test_the_kernel_leaves_the_defined_ones_alone():
    found = shared_part(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]]), "snoke")
    assert found[0] == 1.0
    assert math.isnan(found[1])


@pytest.mark.parametrize(
    ("known", "found", "options", "words"),
    [
        ([0, 1], [0, 1], {"version": "karr"}, "version 'karr' is unknown"),
        ([0, 1, 2], [0, 1], {}, r"confidential has shape \(3,\)"),
        ([0, 1], [[0, 1]], {}, "one interval of the release for each"),
        ([0, 1], [1, 0], {}, "released: the upper end lies below the lower one in interval 1"),
        ([[0, 1], [3, 2]], [[0, 1], [0, 1]], {}, "confidential: .* in interval 2"),
        (["a", "b"], [0, 1], {}, "confidential must be a lower and an upper end"),
        (1.0, [0, 1], {}, r"confidential has shape \(\)"),
    ],
)
def test_what_is_refused(known, found, options, words):
    with pytest.raises(DataError, match=words):
        interval_overlap(known, found, **options)


def test_draws_are_compared_by_their_credible_intervals():
    rng = np.random.default_rng(1)
    one, other = rng.normal(0, 1, (400, 2)), rng.normal([0, 9], 1, (300, 2))
    found = interval_overlap(one, other, draws=True, level=0.9)
    ends = [np.quantile(drawn, [0.05, 0.95], axis=0).T for drawn in (one, other)]
    np.testing.assert_allclose(found, interval_overlap(*ends))
    assert found[0] > 0.9
    assert found[1] < 0
    for wrong in (np.zeros(19), np.full(30, np.nan), np.zeros((30, 1, 1))):
        with pytest.raises(DataError, match="20 draws or more"):
            interval_overlap(wrong, one[:, 0], draws=True)
