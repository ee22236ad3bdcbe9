"""The kinds of draws, levels and being missing among them, and what is no draw."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.attribute.prediction.posterior_draws import evidence, kind_of
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
        with pytest.raises(
            DataError, match=r"draws= takes a dict of arrays: \{'mean', 'sd'\} or .*'poisson'"
        ):
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
    ("c", {"probability": [[0.0, 0.5, 0.5]]}, {}, "rule out the true value of 1 records"),
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
    together = [
        sum(part.log_guess(0, 3) for part in found.parts),
        sum(part.log_truth for part in found.parts),
    ]
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
        (["a", "b", None], {}, "1 levels of 'c' in the files are not among"),
        (["a", "b", "c"], {}, "1 levels of 'c' in the files are not among"),
        (["a", "a", None], {}, "names a level twice"),
        (["a", "b", "c", None], {"missing": [0.1]}, "gives it apart"),
        (["a", "b", "c"], {"missing": [1.1]}, "from 0 to 1"),
        (["a", "b", "c"], {"missing": [0.0]}, "rule out the true value of 1 records"),
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
