"""Distances to the closest record against SDMetrics; canaries, linkage and Bayesian risk against independent sums.

Where sdckit deliberately differs from SDMetrics, and what is compared instead:

- It divides differences by the range of whatever file is searched, so distances to a training and to a holdout
  file are on two scales. Here one range serves both, that of the real people together; the parts of the
  survey compared have the same ranges.
- A number that is constant there counts 0 or 1; here it contributes nothing. None is constant in these parts.
- Its share of overfitting counts ties as farther from the training file; `strictly_closer` is that share.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu, norm

from golden.rebuild import rebuild
from sdckit import bayesian_attribute_risk, canaries, distance_to_closest_record, probabilistic_linkage

CASE = json.loads((Path(__file__).parent / "portable" / "distances_fair.json").read_text(encoding="utf-8"))
VARIABLES = [*CASE["numeric"], *CASE["categorical"]]
TOLERANCE = 1e-10

file = cache(rebuild)


def parts():
    survey = file("fair_na")
    return survey.iloc[:300], file("fair_syn1").iloc[:250], survey.iloc[2000:2300]


def test_distances_of_the_affairs_survey():
    original, released, control = parts()
    given = {"variables": VARIABLES, "numeric": CASE["numeric"], "seed": 1}
    result = distance_to_closest_record(original, released, control=control, **given)
    expected = CASE["released_to_original"]
    distance = result.released_records["distance"].to_numpy()
    assert distance.sum() == pytest.approx(expected["sum"], rel=TOLERANCE)
    assert np.arange(1, 251) @ distance == pytest.approx(expected["sum_by_row"], rel=TOLERANCE)
    assert distance[:6].tolist() == pytest.approx(expected["first"], rel=TOLERANCE)
    assert result.dcr_released_to_original == pytest.approx(expected["median"], rel=TOLERANCE)
    assert result.dcr_released_to_control == pytest.approx(CASE["released_to_control"]["median"], rel=TOLERANCE)
    assert result.strictly_closer == CASE["strictly_closer"]
    turned = distance_to_closest_record(control, released, **given)
    found = turned.released_records["distance"].to_numpy()
    assert found.sum() == pytest.approx(CASE["released_to_control"]["sum"], rel=TOLERANCE)


def test_canaries_in_the_affairs_survey():
    survey = file("fair").drop(columns=["weight", "household", "a4", "any"])
    made = canaries(survey, n=30, seed=4)
    half = made.data.iloc[::2]
    result = made.exposure(half)
    distance, planted = result.records["distance"].to_numpy(), result.records["planted"].to_numpy() == 1
    test = mannwhitneyu(distance[planted].round(9), distance[~planted].round(9), alternative="less")
    assert result.auc == pytest.approx(1 - test.statistic / 900)
    assert result.p_value == pytest.approx(test.pvalue)
    assert result.recovered == 0.5


def test_a_normal_synthesizer_in_closed_form():
    values = np.array([-1.2, -0.7, -0.3, 0.0, 0.1, 0.4, 0.8, 1.1, 1.5, 2.6])
    made = values[::-1] + np.array([0.3, -0.2] * 5)
    n, grid = len(values), np.array([-2.0, 0.5, 3.0])
    rng = np.random.default_rng(7)
    draws = {"mean": np.repeat(rng.normal(values.mean(), n**-0.5, (40_000, 1)), n, axis=1), "sd": np.ones(40_000)}
    result = bayesian_attribute_risk(
        pl.DataFrame({"y": values}), pl.DataFrame({"y": made}), target="y", draws=draws, guesses=grid
    )
    # the mean of the release is normal around the mean of the file as guessed, with the variance 2 / n
    guesses = np.column_stack([values, np.tile(grid, (n, 1))])
    means = values.mean() + (guesses - values[:, None]) / n
    density = norm.pdf(made.mean(), means, (2 / n) ** 0.5)
    expected = density[:, 0] / density.sum(axis=1)
    assert result.records["probability"].to_list() == pytest.approx(expected, abs=5e-3)


def expectation_maximisation(agree, u, prior):
    """Fellegi and Sunter's m and prior by EM on all pairs, each variable equal or not; u is known."""
    m = np.full(len(u), 0.9)
    for _ in range(2000):
        odds = np.full(agree.shape[1:], prior / (1 - prior))
        for a, one, other in zip(agree, m, u, strict=True):
            odds = odds * np.where(a, one / other, (1 - one) / (1 - other))
        match = odds / (1 + odds)
        m, prior = np.array([match[a].sum() for a in agree]) / match.sum(), match.mean()
    return m, prior


def test_agreement_weights_by_an_independent_em():
    survey = file("fair").iloc[::100].reset_index(drop=True)
    names, i = ["age", "educ", "occupation", "occupation_husb", "yrs_married", "religious"], np.arange(64)
    known = survey[names].astype(int).assign(affairs=(survey["affairs"] * 1000).round().astype(int))
    masked = known.copy()
    for j, name in enumerate(known):
        masked[name] = np.where((i * 7 + j * 5) % 11 == 0, np.roll(known[name], 9), known[name])
    names = list(known)
    result = probabilistic_linkage(known, masked, variables=names, numeric=[], seed=1)
    agree = np.array([known[name].to_numpy()[:, None] == masked[name].to_numpy()[None] for name in names])
    u = agree.mean(axis=(1, 2))
    m, _ = expectation_maximisation(agree, u, 1 / 64)
    levels = result.levels.query("agreement == 'equal'")
    assert levels["u"].tolist() == pytest.approx(u.tolist())
    assert levels["m"].tolist() == pytest.approx(m.tolist(), abs=5e-3)  # EM stops at changes of 1e-4
