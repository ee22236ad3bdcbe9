"""Synthesis and masks beside figures by hand, and beside statsmodels on the survey of 1974."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from statsmodels.datasets import fair

from sdckit import mask_categorical, mask_continuous, swap_records, synthesize

SMALL = pl.DataFrame({"y": [1.0, 2.0, 3.0, 6.0], "job": ["a", "a", "a", "b"]})


def survey():
    return pl.from_pandas(fair.load_pandas().data)


def test_a_normal_model_without_predictors_by_hand():
    """Mean 3, variance 14/3 on 3 degrees of freedom: mu ~ 3 + t3 sqrt(14/3/4), sigma^2 ~ 14 / chi2(3)."""
    change = synthesize(SMALL, columns=["y"], predictors=[], models="normal", posterior_draws=20_000, seed=1).change
    draws = change.secret["draws"]["y"]
    mu, sd = np.array(draws["coefficients"])[:, 0, 0], np.array(draws["scale"])
    t = (mu - 3) / np.sqrt(14 / 12)
    assert np.mean(np.abs(t) < 3.182) == pytest.approx(0.95, abs=0.01)  # the 97.5th percentile of t3
    assert np.mean(14 / sd**2 < 7.815) == pytest.approx(0.95, abs=0.01)  # the 95th of chi-squared with 3


def test_a_logistic_model_without_predictors_by_hand():
    """One of four: with half a record added to each side the odds are 1.5 to 3.5."""
    change = synthesize(SMALL, columns=["job"], predictors=[], models="logistic", posterior_draws=20_000, seed=1).change
    found = np.array(change.secret["draws"]["job"]["coefficients"])[:, 0, 0]
    assert found.mean() == pytest.approx(np.log(1.5 / 3.5), abs=0.03)
    assert found.var() == pytest.approx(1 / (4 * 0.3 * 0.7), rel=0.04)


def test_a_tree_of_two_leaves_by_hand():
    """Job splits y into 1..5 and 101..105; each value of a leaf is as likely."""
    frame = pl.DataFrame({"job": ["a", "b"] * 500, "y": [i % 5 + 1 + 100 * j for i in range(500) for j in (0, 1)]})
    data, _ = synthesize(frame, columns=["y"], min_leaf=500, seed=1)
    for job, base in (("a", 0), ("b", 100)):
        counts = np.bincount(data.filter(pl.col("job") == job)["y"].to_numpy() - base, minlength=6)
        assert counts[0] == 0
        assert np.allclose(counts[1:] / 500, 0.2, atol=0.06)


def test_posterior_means_are_the_estimates_of_statsmodels():
    """Linear regression of years married on age and children among 6,366 women."""
    from statsmodels.formula.api import ols

    data = survey()
    change = synthesize(
        data, columns=["yrs_married"], predictors=["age", "children"], models="normal", posterior_draws=4000, seed=1
    ).change
    draws = change.secret["draws"]["yrs_married"]
    scale = np.array([1.0, *(term["scale"] for term in draws["terms"])])
    ours = np.array(draws["coefficients"])[:, 0] / scale
    theirs = ols("yrs_married ~ age + children", data.to_pandas()).fit()
    assert [term["column"] for term in draws["terms"]] == ["age", "children"]
    assert np.allclose(ours.mean(axis=0)[1:], theirs.params.to_numpy()[1:], atol=0.002)
    assert np.allclose(ours.std(axis=0)[1:], theirs.bse.to_numpy()[1:], rtol=0.04)


def test_the_survey_synthesised_looks_like_the_survey():
    data = survey()
    made, _ = synthesize(data, seed=1)
    for name in data.columns:
        assert made[name].mean() == pytest.approx(data[name].mean(), abs=0.08 * data[name].std())
    ours, theirs = (frame.select(pl.corr("age", "yrs_married")).item() for frame in (made, data))
    assert ours == pytest.approx(theirs, abs=0.01)


def test_masks_by_hand():
    """Of 6,366 ratings of five levels 60 % stay in expectation; a reliability of 0.64 is a correlation of 0.8."""
    data = survey()
    changed = mask_categorical(data, columns=["rate_marriage"], probability=0.6, seed=1).change.n_changed
    assert changed == pytest.approx(0.4 * 6366, abs=4 * np.sqrt(6366 * 0.24))
    blurred = mask_continuous(data, columns=["age"], reliability=0.64, seed=1).data
    assert np.corrcoef(blurred["age"], data["age"])[0, 1] == pytest.approx(0.8, abs=0.015)


def test_a_swap_by_hand():
    """The only smith of the north has one possible partner: the only person of the south who owns."""
    people = pl.DataFrame(
        {
            "area": ["north", "north", "north", "south", "south", "south"],
            "job": ["smith", "clerk", "clerk", "clerk", "clerk", "clerk"],
            "tenure": ["own", "rent", "rent", "rent", "own", "rent"],
        }
    )
    found = swap_records(people, hierarchy=["area"], keys=["job"], k=2, swap_rate=0, similar=[["tenure"]], seed=1)
    assert found.data["area"].to_list() == ["south", "north", "north", "south", "north", "south"]
