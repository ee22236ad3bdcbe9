"""Posterior probabilities of guesses from weighted draws, and the rank of the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sdckit.attribute import posterior_guesses as home
from sdckit.attribute.posterior_guesses import (
    category_logs,
    normal_logs,
    posterior_of_guesses,
    rank_of_truth,
)

RNG = np.random.default_rng(11)


def test_logs():
    values, mean, sd = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 4)), RNG.uniform(0.5, 2, (5, 4))
    expected = norm.logpdf(values[None], mean[:, :, None], sd[:, :, None])
    assert normal_logs(values, mean, sd) == pytest.approx(expected)
    chance = np.array([[[0.25, 0.75]], [[1.0, 0.0]]])
    assert category_logs(chance, np.array([1])).tolist() == [[np.log(0.75)], [-np.inf]]


@pytest.mark.parametrize("block", [1, 10**6])
def test_by_plain_sums(block, monkeypatch):
    monkeypatch.setattr(home, "BLOCK", block)
    h, n, g, m = 6, 4, 3, 2
    guess, released = np.log(RNG.uniform(0.1, 1, (h, n, g))), np.log(RNG.uniform(0.1, 1, (m, h)))
    truth = np.array([0, 1, 2, 0])
    prior = np.array([0.5, 0.3, 0.2])
    own = np.take_along_axis(guess, truth[None, :, None], axis=2)[:, :, 0]
    found = posterior_of_guesses(
        lambda a, b: guess[:, a:b], own, list(released), np.broadcast_to(np.log(prior), (n, g))
    )
    for i in range(n):
        score, draws = prior.copy(), []
        for k in range(g):
            weight = np.exp(guess[:, i, k] - own[:, i])
            weight /= weight.sum()
            for one in np.exp(released):
                score[k] *= (weight * one).sum()
                draws.append((weight * one).sum() ** 2 / ((weight * one) ** 2).sum())
        assert found.probability[i] == pytest.approx(score / score.sum())
        assert found.draws[i] == pytest.approx(min(draws))


def test_what_no_draw_allows_has_no_probability():
    guess = np.log(np.array([[[0.5, 0.5, 1e-300]]]))
    guess[..., 2] = -np.inf
    found = posterior_of_guesses(lambda a, b: guess[:, a:b], guess[:, :, 0], [np.zeros(1)], np.zeros((1, 3)))
    assert found.probability.tolist() == [[0.5, 0.5, 0.0]]
    assert found.draws.tolist() == [1.0]


def test_impossible_guesses_have_no_rank():
    shares = np.array([[0.6, 0.0, 0.4], [0.5, 0.5, 0.0]])
    possible = np.array([[True, False, True], [True, True, False]])
    rank, first = rank_of_truth(shares, np.array([2, 1]), possible)
    assert rank.tolist() == [2.0, 1.5]
    assert first.tolist() == [0.0, 0.5]
