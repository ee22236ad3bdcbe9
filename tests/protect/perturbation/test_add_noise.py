"""E6: noise on the columns named, and what is said of it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import add_noise
from sdckit.errors import ColumnError, DataError
from sdckit.protect.perturbation.add_noise import METHODS

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


@pytest.mark.parametrize("method", METHODS)
def test_only_the_columns_named(method):
    data, change = add_noise(SURVEY, columns=["income", "rent"], method=method, seed=4)
    assert data.columns == SURVEY.columns
    assert data.select("name", "age").equals(SURVEY.select("name", "age"))
    assert (data["rent"].is_null() == SURVEY["rent"].is_null()).all()
    assert change.changed == {name: (data[name] != SURVEY[name]).sum() for name in ("income", "rent")}
    assert change.n_changed > 0
    assert change.secret["seed"] == 4
    assert "seed" not in json.dumps(change.to_dict())
    again, _ = add_noise(SURVEY.to_pandas(), columns=["income", "rent"], method=method, seed=4)
    assert np.allclose(again["income"], data["income"], rtol=1e-12)
    other, _ = add_noise(SURVEY, columns=["income", "rent"], method=method, seed=5)
    assert not other["income"].equals(data["income"])


@pytest.mark.parametrize("method", [name for name in METHODS if name != "romm"])
def test_zeros_may_be_kept(method):
    zero = SURVEY["income"] == 0
    plain, _ = add_noise(SURVEY, columns=["income"], method=method, noise=50, seed=1)
    kept, _ = add_noise(SURVEY, columns=["income"], method=method, noise=50, seed=1, keep_zeros=True)
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
    data, change = add_noise(frame, columns=["x"], method="outlier", seed=1)
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
        ({"method": "restr"}, DataError, "'restr' adds no noise: .* turn back"),
        ({"method": "laplace"}, DataError, "method 'laplace' is unknown; there are: additive"),
        ({"noise": 0}, DataError, "give a number above 0"),
        ({"noise": "10"}, DataError, "give a number above 0"),
        ({"noise": float("inf")}, DataError, "give a number above 0"),
        ({"noise": 100, "method": "romm"}, DataError, "'romm' is below 100 percent"),
        ({"noise": 100, "method": "correlated2"}, DataError, "'correlated2' is below 100"),
        ({"keep_zeros": True, "method": "romm"}, DataError, "'romm' cannot keep zeros"),
        ({"keep_zeros": 1}, DataError, "keep_zeros is True or False"),
        ({"columns": ["name"]}, DataError, "'name' is .*, not numbers"),
        ({"columns": ["one"]}, DataError, "'one' is constant, so its noise would be none"),
        ({"columns": ["incom"]}, ColumnError, "columns: no column 'incom'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        add_noise(SURVEY.with_columns(one=pl.lit(1)), **{"columns": ["income"], **options})
