"""Bayesian attribute risk: the closed form of a Dirichlet synthesizer, other models, frames, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import gammaln
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
    result = bayesian_attribute_risk(
        survey, release, target="x", draws={"mean": mean, "sd": sd}, guesses=grid
    )
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
    assert result.notes["released"] == "1 of 1 releases have the original's target, row by row"


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
