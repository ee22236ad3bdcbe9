"""Posterior probabilities of guesses from weighted draws, and the rank of the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, poisson

from sdckit.attribute.prediction import posterior_guesses as home
from sdckit.attribute.prediction.posterior_guesses import (
    Part,
    category_logs,
    normal_logs,
    poisson_log_above,
    poisson_logs,
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


def test_logs_of_counts():
    values, rate = np.array([[0.0, 3, 50], [1, 2, 9]]), RNG.uniform(0.01, 20, (4, 2))
    assert poisson_logs(values, rate) == pytest.approx(poisson.logpmf(values[None], rate[:, :, None]))
    assert poisson_log_above(6, rate) == pytest.approx(poisson.logsf(6, rate))


def test_far_out_in_the_tail():
    rate = np.array([1e-6, 1e-3, 0.5])
    # above 99 nothing but the first terms matters: all of them in logs
    terms = poisson.logpmf(np.arange(100, 130)[:, None], rate)
    assert poisson_log_above(99, rate) == pytest.approx(np.logaddexp.reduce(terms, axis=0), rel=1e-12)
    assert (terms[0] < np.log(home.FAINT)).all()


def by_plain_sums(parts, prior):
    """Posterior and effective draws, loop by loop; a part is (guess, own, releases), none of them logs."""
    score, draws = np.array(prior), np.full(prior.shape, np.inf)
    for guess, own, releases in parts:
        for i, k in np.ndindex(*score.shape):
            weight = guess[:, i, k] / own[:, i]
            weight = weight / weight.sum()
            for one in releases:
                score[i, k] *= (weight * one).sum()
                draws[i, k] = min(draws[i, k], (weight * one).sum() ** 2 / ((weight * one) ** 2).sum())
    return score / score.sum(axis=1, keepdims=True), draws.min(axis=1)


@pytest.mark.parametrize("block", [1, 10**6])
@pytest.mark.parametrize("n_parts", [1, 2])
def test_by_plain_sums(block, n_parts, monkeypatch):
    monkeypatch.setattr(home, "BLOCK", block)
    n, g, m = 4, 3, 2
    truth, prior = np.array([0, 1, 2, 0]), np.tile([0.5, 0.3, 0.2], (n, 1))
    plain, parts = [], []
    for h in (6, 9)[:n_parts]:
        guess, released = RNG.uniform(0.1, 1, (h, n, g)), RNG.uniform(0.1, 1, (m, h))
        own = np.take_along_axis(guess, truth[None, :, None], axis=2)[:, :, 0]
        plain.append((guess, own, released))
        logs = np.log(guess)
        parts.append(Part(lambda a, b, logs=logs: logs[:, a:b], np.log(own), list(np.log(released))))
    found = posterior_of_guesses(parts, np.log(prior))
    expected, draws = by_plain_sums(plain, prior)
    assert found.probability == pytest.approx(expected)
    assert found.draws == pytest.approx(draws)
    assert found.probability.sum(axis=1) == pytest.approx(np.ones(n))
    again = [
        Part(lambda a, b, one=one: one.log_guess(a, b)[::-1], one.log_truth[::-1], [r[::-1] for r in one.log_released])
        for one in parts
    ]  # fmt: skip
    assert posterior_of_guesses(again, np.log(prior)).probability == pytest.approx(found.probability)


def test_weights_and_release_may_favour_draws_far_apart():
    # the guess needs the second draw, the release the first: both by factors no float holds
    guess = np.array([[[0.0, 0.0]], [[0.0, 900.0]]])
    part = Part(lambda a, b: guess[:, a:b], guess[:, :, 0], [np.array([0.0, -890.0])])
    found = posterior_of_guesses([part], np.array([[0.0, 888.0]]))
    odds = 888 + np.logaddexp(-900, -890) - np.log(0.5)
    assert found.probability[0] == pytest.approx([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))])
    assert found.draws[0] == pytest.approx(1.0, abs=1e-3)


def test_what_no_draw_allows_has_no_probability():
    guess = np.log(np.array([[[0.5, 0.5, 1e-300]]]))
    guess[..., 2] = -np.inf
    part = Part(lambda a, b: guess[:, a:b], guess[:, :, 0], [np.zeros(1)])
    found = posterior_of_guesses([part], np.zeros((1, 3)))
    assert found.probability.tolist() == [[0.5, 0.5, 0.0]]
    assert found.draws.tolist() == [1.0]


def test_impossible_guesses_have_no_rank():
    shares = np.array([[0.6, 0.0, 0.4], [0.5, 0.5, 0.0]])
    possible = np.array([[True, False, True], [True, True, False]])
    rank, first = rank_of_truth(shares, np.array([2, 1]), possible)
    assert rank.tolist() == [2.0, 1.5]
    assert first.tolist() == [0.0, 0.5]
