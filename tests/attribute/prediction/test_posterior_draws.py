"""The kinds of draws, levels and being missing among them, and what is no draw."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, poisson

from sdckit.attribute.prediction import bayesian_attribute_risk as home
from sdckit.attribute.prediction.bayesian_attribute_risk import (
    MOST_COUNTS,
    Evidence,
    Part,
    category_logs,
    evidence,
    kind_of,
    normal_logs,
    number_evidence,
    poisson_log_above,
    poisson_logs,
    posterior_of_guesses,
    rank_of_truth,
    read_array,
    read_missing,
    read_prior,
    with_missing,
)
from sdckit.cells.pair import open_pair
from sdckit.errors import DataError

SURVEY = pl.DataFrame({"x": [1.0, 2.0, 4.0], "c": ["a", "b", "b"]})
RELEASE = pl.DataFrame({"x": [2.0, 2.0, 3.0], "c": ["a", "c", "b"]})
PAIR = open_pair(SURVEY, RELEASE, categories={"target": ["c"]}, numeric={"numeric": ["x"]}, aligned=True)
MEAN = np.zeros((2, 3))


def test_numbers_are_guessed_beside_the_truth():
    found = evidence(PAIR, "x", {"mean": MEAN, "sd": [1.0, 2.0]}, [2.0, 9.0, 2.0], None)
    assert found.prior == pytest.approx(np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]]) / [[3], [2], [3]])
    assert found.truth.tolist() == [0, 0, 0]
    (part,) = found.parts
    assert part.log_guess(0, 3)[:, :, 0].tolist() == part.log_truth.tolist()
    assert len(part.log_released) == 1
    assert found.n_draws == 2
    counted = evidence(PAIR, "x", {"mean": MEAN, "sd": np.ones((2, 3))}, 1, None)
    assert counted.prior.shape == (3, 2)  # the median and the truth


def test_levels_are_those_of_all_files():
    found = evidence(PAIR, "c", {"probability": [[0.5, 0.25, 0.25]]}, 10, [2, 1, 1])
    assert found.truth.tolist() == [0, 1, 1]
    assert np.exp(found.parts[0].log_released[0]) == pytest.approx([0.5 * 0.25 * 0.25])
    assert found.prior[0].tolist() == [0.5, 0.25, 0.25]


def test_logs_as_they_are():
    logs = np.log(np.full((2, 3, 4), 0.25))
    given = {"log_guess": logs, "truth": [0, 3, 1], "log_released": np.zeros((1, 2))}
    found = evidence(PAIR, "c", given, 10, None)
    assert found.parts[0].log_guess(1, 2).shape == (2, 1, 4)
    assert found.truth.tolist() == [0, 3, 1]


def test_which_kind():
    assert kind_of({"sd": 1, "mean": 1}) == "normal"
    assert kind_of({"rate": 1, "missing": 1}) == "counts"
    assert kind_of({"probability": 1, "levels": 1}) == "categories"
    with pytest.raises(DataError, match=r"parameters of a model.*predictive\(original\)"):
        kind_of({"coefficients": 1, "model": "poisson"})
    for wrong in ({"mean": 1}, [1], {}, None, {"rate": 1, "sd": 1}):
        with pytest.raises(DataError, match=r"draws= takes a dict of arrays: \{'mean', 'sd'\} or .*'poisson'"):
            kind_of(wrong)


GOOD = {"log_guess": np.zeros((1, 3, 2)), "truth": [0, 0, 0], "log_released": np.zeros((1, 1))}
REFUSED = [
    ("x", {"mean": np.zeros((2, 2)), "sd": [1, 1]}, {}, r"shape \(2, 2\); it must be \(any, 3\)"),
    ("x", {"mean": MEAN, "sd": [1, 0]}, {}, "not above 0"),
    ("x", {"mean": MEAN + np.nan, "sd": [1, 1]}, {}, "has missing values"),
    ("x", {"mean": "m", "sd": [1, 1]}, {}, "no array of numbers"),
    ("x", {"mean": MEAN, "sd": [1, 1]}, {"guesses": 0}, "guesses .* 1 or more"),
    ("x", {"mean": MEAN, "sd": [1, 1]}, {"guesses": []}, "one at least"),
    ("x", {"mean": MEAN, "sd": [1, 1]}, {"guesses": ["a"]}, "give how many"),
    ("x", {"mean": MEAN, "sd": [1, 1]}, {"prior": [1, 1]}, "prior= is for categories"),
    ("c", {"probability": [[0.5, 0.5]]}, {}, r"it must be \(any, 3, 3\) or \(any, 3\)"),
    ("c", {"probability": [[0.5, 0.5, 0.5]]}, {}, "add up to 1"),
    ("c", {"probability": [[0.0, 0.5, 0.5]]}, {}, "rule out the true value of 1 record;"),
    ("c", {"probability": [[0.5, 0.5, 0.0]]}, {}, "the release could not have come from any of the draws"),
    ("c", {"probability": [[0.4, 0.3, 0.3]]}, {"prior": [1, 1]}, "prior= needs 3 numbers"),
    ("c", {**GOOD, "truth": [0, 0, 2]}, {}, "from 0 to 1"),
]


@pytest.mark.parametrize(("target", "draws", "more", "words"), REFUSED)
def test_bad_draws(target, draws, more, words):
    with pytest.raises(DataError, match=words):
        evidence(PAIR, target, draws, **{"guesses": 10, "prior": None, **more})


GAP = SURVEY.with_columns(c=pl.Series(["a", None, "b"]))
GAPPED = open_pair(GAP, RELEASE, categories={"target": ["c"]}, aligned=True)


def test_being_missing_is_the_last_level():
    found = evidence(GAPPED, "c", {"probability": [[0.4, 0.3, 0.2, 0.1]]}, None, None)
    assert (found.truth.tolist(), found.missing, found.n_missing) == ([0, 3, 1], 3, 1)
    assert np.exp(found.parts[0].log_truth[0]) == pytest.approx([0.4, 0.1, 0.3])
    with pytest.raises(DataError, match=r"\(any, 4\).*then the 4 levels, being missing the last"):
        evidence(GAPPED, "c", {"probability": [[0.4, 0.3, 0.3]]}, None, None)


def test_being_missing_apart_is_the_same_distribution():
    draws = {"probability": [[0.5, 0.3, 0.2]], "missing": [0.1]}
    found = evidence(GAPPED, "c", draws, None, None)
    assert (found.truth.tolist(), found.missing) == ([0, 3, 1], 3)
    together = [sum(part.log_guess(0, 3) for part in found.parts), sum(part.log_truth for part in found.parts)]
    assert np.exp(together[0][0, 0]) == pytest.approx([0.45, 0.27, 0.18, 0.1])
    assert np.exp(together[1][0]) == pytest.approx([0.45, 0.1, 0.27])
    released = np.exp(sum(part.log_released[0] for part in found.parts))
    assert released == pytest.approx([0.45 * 0.18 * 0.27])


def test_levels_by_their_names():
    by_name = {"probability": [[0.1, 0.2, 0.3, 0.4]], "levels": ["b", None, "z", "a"]}  # z is in no file
    gap = RELEASE.with_columns(c=pl.Series(["a", "b", "b"]))
    found = evidence(open_pair(GAP, gap, categories={"t": ["c"]}, aligned=True), "c", by_name, None, None)
    assert (found.truth.tolist(), found.missing) == ([3, 1, 0], 1)
    assert np.exp(found.parts[0].log_released[0]) == pytest.approx([0.4 * 0.1 * 0.1])
    numbers = pl.DataFrame({"c": [10.0, 9.0, 10.0]})
    pair = open_pair(numbers, numbers, categories={"t": ["c"]}, aligned=True)
    found = evidence(pair, "c", {"probability": [[0.2, 0.8]], "levels": ["10", "9"]}, None, None)
    assert found.truth.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("levels", "more", "words"),
    [
        (["a", "b", None], {}, "files have 1 level of 'c' that"),
        (["a", "b", "c"], {}, "files have 1 level of 'c' that"),
        (["a", "a", None], {}, "names a level twice"),
        (["a", "b", "c", None], {"missing": [0.1]}, "gives it apart"),
        (["a", "b", "c"], {"missing": [1.1]}, "from 0 to 1"),
        (["a", "b", "c"], {"missing": [0.0]}, "rule out the true value of 1 record;"),
    ],
)
def test_levels_that_do_not_fit(levels, more, words):
    draws = {"probability": [np.full(len(levels), 1 / len(levels))], "levels": levels, **more}
    with pytest.raises(DataError, match=words):
        evidence(GAPPED, "c", draws, None, None)


def test_names_of_numbers_are_numbers():
    numbers = pl.DataFrame({"c": [1, 2]})
    pair = open_pair(numbers, numbers, categories={"t": ["c"]}, aligned=True)
    with pytest.raises(DataError, match="does not list values of 'c', which are numbers"):
        evidence(pair, "c", {"probability": [[0.5, 0.5]], "levels": ["one", "two"]}, None, None)


# What is guessed of a number or a count, missing or not.


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
    [([0, MOST_COUNTS], None, {0, MOST_COUNTS}), ([0, 1, 2, 7], 2, {0, 2}), ([0, 1, 2, 7], [3, 1], {1, 3})],
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


NUMBERS_REFUSED = [
    ([1.5, 2.0], {"rate": [1.0]}, {}, "the original: 'y' holds other values than counts"),
    ([-1, 2], {"rate": [1.0]}, {}, "holds other values than counts"),
    ([1, 2], {"rate": [0.0]}, {}, "not above 0, or infinite"),
    ([1, 2], {"rate": [np.inf]}, {}, "not above 0, or infinite"),
    ([1, 2], {"rate": [1.0]}, {"guesses": [0.5]}, "counts are whole numbers"),
    ([1, 2], {"rate": [1.0]}, {"guesses": [1], "prior": [1, 1]}, "guessed with equal probabilities"),
    ([1, None], {"rate": [1.0]}, {}, "the original: 'y' is missing in 1 row; the release: .*of being missing too"),
    ([1, 2], {"rate": [[1.0, 1, 1]]}, {}, r"it must be \(any, 2\) or \(any\)"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "draws", "more", "words"), NUMBERS_REFUSED)
def test_bad_draws_of_posterior_numbers(values, draws, more, words):
    frame = pl.DataFrame({"y": values})
    with pytest.raises(DataError, match=words):
        number_evidence(pair_of(frame, frame), "y", draws, **{"guesses": None, "prior": None, **more})


# Arrays of draws as they are read, and being missing as a guess of its own.


EVIDENCE_GONE = np.array([[0.2, 0.5], [0.1, 0.4]])
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
    assert read_missing({"missing": EVIDENCE_GONE}, 2).tolist() == EVIDENCE_GONE.tolist()
    for wrong in ([-0.1], [1.5]):
        with pytest.raises(DataError, match="from 0 to 1"):
            read_missing({"missing": wrong}, 2)


def test_a_part_for_the_value_and_one_for_whether_there_is_one():
    missing = [np.array([False, True]), np.array([True, True]), np.array([False, False])]
    value, presence = with_missing(HELD, EVIDENCE_GONE, missing, 3)
    assert value.log_guess(1, 2)[0, 0].tolist() == [-1, -1, -1, 0]
    found = np.exp(presence.log_guess(0, 2))
    assert found[:, :, :3] == pytest.approx(np.repeat(1 - EVIDENCE_GONE[:, :, None], 3, axis=2))
    assert found[:, :, 3] == pytest.approx(EVIDENCE_GONE)
    assert np.exp(presence.log_truth) == pytest.approx(np.array([[0.8, 0.5], [0.9, 0.4]]))
    assert np.exp(presence.log_released[0]) == pytest.approx([0.1, 0.04])
    assert np.exp(presence.log_released[1]) == pytest.approx([0.4, 0.54])


def test_one_release_alone():
    both = Evidence(np.array([0, 3]), np.ones((2, 4)), (HELD, HELD), 3)
    assert [one.log_released[0].tolist() for one in both.of_release(0).parts] == [[-2, -2], [-2, -2]]
    assert len(both.of_release(1).parts[0].log_released) == 1
    assert (both.n_draws, both.n_missing) == (2, 1)
    assert Evidence(np.array([0]), np.ones((1, 3)), (HELD,)).n_missing == 0


# Posterior probabilities of guesses from weighted draws, and the rank of the truth.


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
