"""E6: noise on the columns named, and what is said of it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import add_noise
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import key
from sdckit.protect.perturbation.add_noise import (
    METHODS,
    additive,
    correlated,
    moments_kept,
    on_outliers,
    outlying,
    rotated,
)

RNG = np.random.default_rng(1)
N = 500
SURVEY = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "income": RNG.lognormal(8, 1, N) * (RNG.random(N) > 0.3),
        "rent": pl.Series(RNG.lognormal(6, 1, N)).set(pl.Series(RNG.random(N) < 0.1), None),
    }
)
MANY = 20_000
DICE = np.random.default_rng(11)
SCALE = np.array([[1.0, 0.8], [0.0, 0.6]]) * [2.0, 50.0]
DATA = list((DICE.normal(size=(MANY, 2)) @ SCALE + [100.0, -20.0]).T)
COVARIANCE = np.cov(DATA)


@pytest.mark.parametrize("method", METHODS)
def test_only_the_columns_named(method):
    data, change = add_noise(SURVEY, columns=["income", "rent"], how=method, seed=4)
    assert data.columns == SURVEY.columns
    assert data.select("name", "age").equals(SURVEY.select("name", "age"))
    assert (data["rent"].is_null() == SURVEY["rent"].is_null()).all()
    assert change.changed == {name: (data[name] != SURVEY[name]).sum() for name in ("income", "rent")}
    assert change.n_changed > 0
    assert change.secret["seed"] == 4
    assert "seed" not in json.dumps(change.to_dict())
    again, _ = add_noise(SURVEY.to_pandas(), columns=["income", "rent"], how=method, seed=4)
    assert np.allclose(again["income"], data["income"], rtol=1e-12)
    other, _ = add_noise(SURVEY, columns=["income", "rent"], how=method, seed=5)
    assert not other["income"].equals(data["income"])


@pytest.mark.parametrize("method", [name for name in METHODS if name != "romm"])
def test_zeros_may_be_kept(method):
    zero = SURVEY["income"] == 0
    plain, _ = add_noise(SURVEY, columns=["income"], how=method, noise=50, seed=1)
    kept, _ = add_noise(SURVEY, columns=["income"], how=method, noise=50, seed=1, keep_zeros=True)
    assert (kept["income"].filter(zero) == 0).all()
    assert (kept["income"] == plain["income"]).filter(~zero).all()
    if method != "outlier":
        assert (plain["income"].filter(zero) != 0).all()


def test_percent_of_the_standard_deviation():
    small, large = (
        add_noise(SURVEY, columns=["income"], noise=noise, seed=2).data["income"] - SURVEY["income"]
        for noise in (1, 20)
    )
    assert np.allclose(20 * small, large, rtol=1e-6, atol=1e-6)
    assert large.std() == pytest.approx(0.2 * SURVEY["income"].std(), rel=0.15)


def test_whole_numbers_become_fractions():
    data, change = add_noise(SURVEY, columns=["age"], seed=1)
    assert data.schema["age"] == pl.Float64
    assert change.notes == {"type": "age was Int64, is Float64"}


def test_no_outliers():
    frame = pl.DataFrame({"x": [1.0, 2.0] * 100})
    data, change = add_noise(frame, columns=["x"], how="outlier", seed=1)
    assert data.equals(frame)
    assert change.notes == {"changed": "no value is an outlier"}


def test_pandas_keeps_its_index():
    frame = SURVEY.to_pandas().set_index(pd.RangeIndex(N)[::-1])
    before = frame.copy()
    data, _ = add_noise(frame, columns=["rent"], seed=1)
    assert data.index.equals(frame.index)
    assert data.dtypes.equals(frame.dtypes)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"how": "restr"}, DataError, "'restr' adds no noise: .* turn back"),
        ({"how": "laplace"}, DataError, "how 'laplace' is unknown; there are: additive"),
        ({"noise": 0}, DataError, "give a number above 0"),
        ({"noise": "10"}, DataError, "give a number above 0"),
        ({"noise": float("inf")}, DataError, "give a number above 0"),
        ({"noise": 100, "how": "romm"}, DataError, "'romm' is below 100 percent"),
        ({"noise": 100, "how": "correlated2"}, DataError, "'correlated2' is below 100"),
        ({"keep_zeros": True, "how": "romm"}, DataError, "'romm' cannot keep zeros"),
        ({"keep_zeros": 1}, DataError, "keep_zeros is True or False"),
        ({"columns": ["name"]}, DataError, "'name' is .*, not numbers"),
        ({"columns": ["one"]}, DataError, "'one' is constant, so its noise would be none"),
        ({"columns": ["incom"]}, ColumnError, "columns: no column 'incom'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        add_noise(SURVEY.with_columns(one=pl.lit(1)), **{"columns": ["income"], **options})


def rng(seed=1):
    return np.random.default_rng(seed)


def noise(made):
    return np.array(made) - np.array(DATA)


def test_additive():
    found = np.cov(noise(additive(DATA, 0.3, rng())))
    assert np.diagonal(found) == pytest.approx(0.09 * np.diagonal(COVARIANCE), rel=0.05)
    assert abs(found[0, 1]) < 0.02 * 0.09 * 100


def test_correlated():
    assert np.cov(noise(correlated(DATA, 0.3, rng()))) == pytest.approx(0.09 * COVARIANCE, rel=0.06)
    one = correlated(DATA[:1], 0.3, rng())
    assert (one[0] == additive(DATA[:1], 0.3, rng())[0]).all()


def test_means_and_covariances_kept_in_expectation():
    made = moments_kept(DATA, 0.6, rng())
    assert np.cov(made) == pytest.approx(COVARIANCE, rel=0.04)
    assert np.mean(made, axis=1) == pytest.approx(np.mean(DATA, axis=1), abs=1.5)
    kept = [np.corrcoef(a, b)[0, 1] for a, b in zip(made, DATA, strict=True)]
    assert kept == pytest.approx([0.8, 0.8], abs=0.01)  # the square root of 1 - 0.36


def test_missing_values_stay():
    gaps = [np.where(DICE.random(1000) < 0.2, np.nan, one[:1000]) for one in DATA]
    for kind in (additive, correlated, moments_kept, rotated):
        for before, after in zip(gaps, kind(gaps, 0.3, rng()), strict=True):
            assert (np.isnan(before) == np.isnan(after)).all()
    made, _, _ = on_outliers(gaps, 0.3, rng())
    assert (np.isnan(made) == np.isnan(gaps)).all()
    with pytest.raises(DataError, match="fewer than two records are complete"):
        correlated([np.array([1.0, 2, np.nan]), np.array([np.nan, np.nan, 1.0])], 0.1, rng())


def test_outliers_only():
    columns, n = [one[:2000].copy() for one in DATA], 2000
    columns[0][5], columns[1][5] = 100.0, 300.0  # far from the others in the second only
    made, count, said = on_outliers(columns, 0.5, rng())
    far, _ = outlying(columns, int(key(rng()) >> np.uint64(33)))
    assert said is None
    assert far[0][5]
    assert far[1][5]
    changed = [(a != b) for a, b in zip(made, columns, strict=True)]
    assert all((one == where).all() for one, where in zip(changed, far, strict=True))
    assert count == sum(one.sum() for one in far)
    assert 0.02 * n < far[0].sum() < 0.06 * n
    away = np.abs(columns[1] - np.median(columns[1]))[far[1]]
    assert np.std((made[1] - columns[1])[far[1]] / away) == pytest.approx(0.5, rel=0.25)


def test_a_singular_covariance_is_said():
    _, _, said = on_outliers([DATA[0][:99], 2 * DATA[0][:99]], 0.1, rng())
    assert "single columns only" in said


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_rotations_keep_moments_exactly(share):
    made = rotated(DATA, share, rng())
    assert np.mean(made, axis=1) == pytest.approx(np.mean(DATA, axis=1), rel=1e-12)
    assert np.cov(made) == pytest.approx(COVARIANCE, rel=1e-11)
    assert noise(made).std(axis=1) == pytest.approx(share * np.std(DATA, axis=1), rel=0.05)


def test_rotations_with_gaps():
    first, second = DATA[0][:9].copy(), DATA[1][:9].copy()
    second[:4] = np.nan
    made = rotated([first, second], 0.3, rng())
    for rows in (slice(0, 4), slice(4, 9)):
        assert made[0][rows].mean() == pytest.approx(first[rows].mean())
        assert made[0][rows].var() == pytest.approx(first[rows].var())
    assert np.cov(made[0][4:], made[1][4:]) == pytest.approx(np.cov(first[4:], second[4:]))
    second[4] = 1.0
    first[3] = np.nan  # all missing: no matter
    assert np.isnan(rotated([first, second], 0.3, rng())[0][3])
    first[5] = np.nan
    with pytest.raises(DataError, match="1 records miss values"):
        rotated([first, second], 0.3, rng())
