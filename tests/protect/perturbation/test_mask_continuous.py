"""E8: numbers blurred to a known reliability."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import mask_continuous
from sdckit.errors import ColumnError, DataError

N = 20_000
X = np.random.default_rng(1).gamma(2, 100, N)
FRAME = pl.DataFrame({"x": X, "k": np.arange(N), "gone": [None, *X[1:]]})


def test_the_reliability_is_reached():
    data, change = mask_continuous(FRAME, columns=["x", "gone"], reliability={"x": 0.8, "gone": 0.5}, seed=1)
    assert X.var(ddof=1) / data["x"].var() == pytest.approx(0.8, abs=0.02)
    assert np.corrcoef(data["x"], X)[0, 1] ** 2 == pytest.approx(0.8, abs=0.02)
    assert data["gone"].null_count() == 1
    assert data["k"].equals(FRAME["k"])
    assert change.secret["noise_sd"]["x"] == pytest.approx(0.5 * X.std(ddof=1))
    assert change.changed == {"x": N, "gone": N - 1}
    assert "reliability" not in str(change.to_dict()["parameters"])


def test_noise_of_a_given_size():
    data, _ = mask_continuous(FRAME, columns=["x"], sd=3, seed=1)
    assert (data["x"] - FRAME["x"]).std() == pytest.approx(3, rel=0.03)
    constant = pl.DataFrame({"x": [1.0, 1.0]})
    assert mask_continuous(constant, columns=["x"], sd=1, seed=1).data["x"].n_unique() == 2


def test_seeds_and_types():
    first, again, other = (mask_continuous(FRAME, columns=["x"], sd=3, seed=seed).data for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    whole = mask_continuous(FRAME, columns=["k"], reliability=0.9, seed=1)
    assert whole.data.schema["k"] == pl.Float64
    assert "k was Int64" in whole.change.notes["type"]
    single = FRAME.with_columns(pl.col("x").cast(pl.Float32))
    assert mask_continuous(single, columns=["x"], sd=1, seed=1).data.schema == single.schema
    frame = FRAME.to_pandas()
    assert np.allclose(mask_continuous(frame, columns=["x"], sd=3, seed=1).data["x"], first["x"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, DataError, "one of reliability= and sd="),
        ({"reliability": 0.5, "sd": 1}, DataError, "one of reliability= and sd="),
        ({"reliability": 1.0}, DataError, r"reliability .* in \(0, 1\)"),
        ({"sd": 0}, DataError, "sd is the noise's"),
        ({"sd": {"y": 1}}, ColumnError, "exactly the columns"),
        ({"columns": ["y"], "sd": 1}, ColumnError, "no column 'y'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        mask_continuous(FRAME, **{"columns": ["x"], **options})


def test_bad_columns():
    with pytest.raises(DataError, match="is constant"):
        mask_continuous(pl.DataFrame({"x": [1, 1]}), columns=["x"], reliability=0.5)
    with pytest.raises(DataError, match="not numbers"):
        mask_continuous(pl.DataFrame({"x": ["a"]}), columns=["x"], sd=1)
