"""Bayesian attribute risk: the closed form of a Dirichlet synthesizer, other models, frames, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import betaln, gammaln, logsumexp
from scipy.stats import norm

from sdckit import Scenario, bayesian_attribute_risk
from sdckit.errors import ColumnError, DataError, ScenarioError

RNG = np.random.default_rng(5)
ILL = ["a"] * 6 + ["b"] * 3 + ["c"]
SURVEY = pl.DataFrame({"id": np.arange(10), "ill": ILL})
RELEASES = [SURVEY.with_columns(ill=pl.Series(list(text))) for text in ("aaaabbbccc", "aaaaaabbbc")]


def dirichlet_draws(h):
    return {"probability": RNG.dirichlet(np.array([6, 3, 1]) + 1.0, h)}


def closed_form(level, release):
    """log p(release | one record of this level, the others as they are), the parameters integrated out."""
    others = np.array([6, 3, 1]) + 1.0
    made = np.array([(release["ill"] == one).sum() for one in "abc"])
    found = []
    for guess in range(3):
        prior = others - np.eye(3)[level] + np.eye(3)[guess]
        found.append(
            gammaln(prior + made).sum() - gammaln((prior + made).sum())
            - gammaln(prior).sum() + gammaln(prior.sum())
        )  # fmt: skip
    return np.array(found)


def expected_probability(releases):
    out = []
    for level in (0, 1, 2):
        score = np.exp(sum(closed_form(level, one) for one in releases))
        out.append(score[level] / score.sum())
    return np.repeat(out, [6, 3, 1])


@pytest.mark.parametrize("releases", [RELEASES[:1], RELEASES])
def test_a_dirichlet_synthesizer_in_closed_form(releases):
    result = bayesian_attribute_risk(SURVEY, releases, target="ill", draws=dirichlet_draws(20_000))
    expected = expected_probability(releases)
    assert result.records["probability"].to_list() == pytest.approx(expected, abs=0.01)
    assert result.mean_probability == pytest.approx(expected.mean(), abs=0.01)
    assert (result.baseline, result.mean_guesses, result.n_draws) == (pytest.approx(1 / 3), 3.0, 20_000)
    assert result.effective_draws > 100
    for j, one in enumerate(releases):
        alone = expected_probability([one]).mean()
        assert result.per_release[j]["mean_probability"] == pytest.approx(alone, abs=0.01)
    assert ("releases" in result.notes) == (len(releases) > 1)


def test_normal_draws_are_their_own_logs():
    x = np.array([1.0, 2.0, 4.0])
    survey, release = pl.DataFrame({"x": x}), pl.DataFrame({"x": x + 0.3})
    mean, sd, grid = RNG.normal(2, 1, (50, 3)), RNG.uniform(1, 2, 50), np.array([0.0, 3.0])
    result = bayesian_attribute_risk(survey, release, target="x", draws={"mean": mean, "sd": sd}, guesses=grid)
    table = np.column_stack([x, np.tile(grid, (3, 1))])
    logs = {
        "log_guess": norm.logpdf(table[None], mean[:, :, None], sd[:, None, None]),
        "truth": np.zeros(3),
        "log_released": norm.logpdf(x + 0.3, mean, sd[:, None]).sum(axis=1)[None],
    }
    same = bayesian_attribute_risk(survey, release, target="x", draws=logs)
    assert same.to_dict() == {**result.to_dict(), "figures": pytest.approx(result.to_dict()["figures"]),
                              "by_release": [pytest.approx(result.per_release[0])]}  # fmt: skip
    assert result.notes["effective_draws"].startswith("the worst supported probability rests on")


def test_a_constant_model_tells_nothing():
    result = bayesian_attribute_risk(
        SURVEY, RELEASES[0], target="ill", draws={"probability": [[0.5, 0.3, 0.2]] * 3}, prior=[0.5, 0.3, 0.2]
    )
    assert result.gain == pytest.approx(0.0)
    assert result.records["probability"].to_list() == pytest.approx([0.5] * 6 + [0.3] * 3 + [0.2])
    assert result.share_first == 0.6
    assert result.mean_rank == pytest.approx(0.6 + 0.6 + 0.3)


KIDS = [0, 1, 2, 1, None]
MADE = [[1, None, 4, 0, 1], [0, 0, 1, None, 2]]
SHAPE, EXPOSURE = 2.0, 1.0  # the rate is Gamma a priori, the probability of being missing uniform


def gamma_log(shape, exposure, values):
    """log p(values), Poisson with a Gamma rate, by integration."""
    total = shape + sum(values)
    return (
        gammaln(total) - gammaln(shape) + shape * np.log(exposure) - total * np.log(exposure + len(values))
        - sum(gammaln(one + 1) for one in values)
    )  # fmt: skip


def log_release(others, guess, made):
    """log p(release | everybody's values, this record's being the guess), by integration."""
    file, there = [*others, guess], [one for one in made if one is not None]
    held = [one for one in file if one is not None]
    gone, lost = 1 + len(file) - len(held), len(made) - len(there)
    presence = betaln(gone + lost, 1 + len(held) + len(there)) - betaln(gone, 1 + len(held))
    return presence + gamma_log(SHAPE + sum(held), EXPOSURE + len(held), there)


def log_release_above(others, limit, made):
    """The same where the guess is any count above a limit: each in turn, as probable as the others make it."""
    held = [one for one in others if one is not None]
    every = range(limit + 1, 60)
    weight = np.array([gamma_log(SHAPE + sum(held), EXPOSURE + len(held), [one]) for one in every])
    logs = np.array([log_release(others, one, made) for one in every])
    return logsumexp(weight + logs) - logsumexp(weight)


def enumerated(releases):
    """Posterior of the true value of each record of `KIDS`, guess by guess: 0, 1, 2, more, missing."""
    found = []
    for i, own in enumerate(KIDS):
        others = KIDS[:i] + KIDS[i + 1 :]
        scores = [sum(log_release(others, one, made) for made in releases) for one in (0, 1, 2)]
        scores.append(sum(log_release_above(others, 2, made) for made in releases))
        scores.append(sum(log_release(others, None, made) for made in releases))
        found.append(np.exp(scores - logsumexp(scores))[4 if own is None else own])
    return found


def draws_of_counts(h):
    rng, held = np.random.default_rng(8), [one for one in KIDS if one is not None]
    return {
        "rate": rng.gamma(SHAPE + sum(held), 1 / (EXPOSURE + len(held)), h),
        "missing": rng.beta(1 + len(KIDS) - len(held), 1 + len(held), h),
    }


@pytest.mark.parametrize("releases", [MADE[:1], MADE])
def test_counts_that_may_be_missing_by_enumeration(releases):
    survey, files = pl.DataFrame({"y": KIDS}), [pl.DataFrame({"y": one}) for one in releases]
    result = bayesian_attribute_risk(survey, files, target="y", draws=draws_of_counts(100_000))
    found = result.records["probability"].to_list()
    assert found == pytest.approx(enumerated(releases), abs=0.004)
    assert max(found) - min(found) > 0.03  # they differ by more than the tolerance
    assert result.baseline == 0.2
    assert result.notes["missing"].startswith("the true value of 1 of 5 records is that it is missing")
    assert result.missing_rule == "a missing value is a level of its own"


def test_the_order_of_draws_does_not_matter():
    survey, made, draws = pl.DataFrame({"y": KIDS}), pl.DataFrame({"y": MADE[0]}), draws_of_counts(500)
    first, second = (
        bayesian_attribute_risk(survey, made, target="y", draws={name: one[order] for name, one in draws.items()})
        for order in (slice(None), RNG.permutation(500))
    )  # fmt: skip
    for name in ("probability", "rank", "effective_draws"):
        assert second.records[name].to_list() == pytest.approx(first.records[name].to_list())


@pytest.mark.parametrize(
    ("draws", "prior"),
    [
        ({"rate": [1.3] * 9, "missing": [0.2] * 9}, [5, 4, 3, 2, 1]),
        ({"probability": [[0.4, 0.3, 0.2, 0.1]] * 9, "missing": [0.2] * 9, "levels": [0, 1, 2, 4]}, [5, 4, 3, 2, 1]),
        ({"mean": np.ones((9, 5)), "sd": np.ones(9), "missing": np.full((9, 5), 0.2)}, None),
    ],
)  # fmt: skip
def test_a_synthesizer_that_ignores_the_data_leaves_the_prior(draws, prior):
    survey, made = pl.DataFrame({"y": KIDS}), [pl.DataFrame({"y": one}) for one in MADE]
    result = bayesian_attribute_risk(survey, made, target="y", draws=draws, prior=prior)
    assert result.records["probability"].to_list() == pytest.approx(result.records["baseline"].to_list())
    if prior is not None:
        assert result.records["baseline"].to_list() == pytest.approx(np.array([5, 4, 3, 4, 1]) / 15)
    assert result.gain == pytest.approx(0)
    assert result.effective_draws == pytest.approx(9)


def test_a_missing_category_is_a_level():
    survey = pl.DataFrame({"y": ["a", "b", None, "a"]})
    made = pl.DataFrame({"y": ["a", None, None, "b"]})
    share = RNG.dirichlet([3, 2, 2], 400)
    together = bayesian_attribute_risk(survey, made, target="y", draws={"probability": share})
    named = {"probability": share[:, [2, 1, 0]], "levels": [None, "b", "a"]}
    same = bayesian_attribute_risk(survey, made, target="y", draws=named)
    assert same.records["probability"].to_list() == pytest.approx(together.records["probability"].to_list())
    assert (together.mean_guesses, together.notes["missing"][:24]) == (3.0, "the true value of 1 of 4")


def test_frames_ids_and_pickles():
    draws = dirichlet_draws(200)
    given = {"target": "ill", "draws": draws, "id": "id", "prefix": "b_"}
    result = bayesian_attribute_risk(SURVEY, RELEASES[0], **given)
    shuffled = RELEASES[0][[3, 1, 0, 2, 9, 8, 7, 6, 5, 4]]
    same = bayesian_attribute_risk(SURVEY.to_pandas(), shuffled.to_arrow(), **given)
    assert same.to_dict() == result.to_dict()
    assert isinstance(same.records, pd.DataFrame)
    assert result.records.columns == ["id", "b_probability", "b_baseline", "b_rank", "b_effective_draws"]
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    with pytest.raises(DataError, match="let go of the data"):
        _ = kept.records


def test_the_target_of_the_scenario_and_an_identical_release():
    scenario = Scenario(keys=["id"], sensitive=["ill"])
    result = bayesian_attribute_risk(SURVEY, SURVEY, draws=dirichlet_draws(50), scenario=scenario)
    assert result.notes["released"] == "the release has the original's target, row by row"


def test_bad_input():
    draws = dirichlet_draws(5)
    with pytest.raises(ScenarioError, match="which variable is synthetic"):
        bayesian_attribute_risk(SURVEY, RELEASES[0], draws=draws)
    with pytest.raises(DataError, match="draws= takes a dict"):
        bayesian_attribute_risk(SURVEY, RELEASES[0], target="ill", draws={})
    with pytest.raises(ColumnError, match="no column 'sick'"):
        bayesian_attribute_risk(SURVEY, RELEASES[0], target="sick", draws=draws)
    with pytest.raises(DataError, match="the release has 3 rows, the original 10"):
        bayesian_attribute_risk(SURVEY, RELEASES[0][:3], target="ill", draws=draws)
