"""E8: categories that stay with a known probability."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import mask_categorical
from sdckit.errors import ColumnError, DataError
from sdckit.protect.perturbation.mask_categorical import shares_of

JOBS = pl.DataFrame({"job": ["a", "b", "c", None] * 2000, "sex": ["f", "m"] * 4000, "id": range(8000)})


def test_the_shares_that_stay_and_go():
    data, change = mask_categorical(JOBS, columns=["job", "sex"], probability={"job": 0.7, "sex": 0.9}, seed=1)
    assert data.schema == JOBS.schema
    assert data["id"].equals(JOBS["id"])
    assert data["job"].is_null().equals(JOBS["job"].is_null())
    for before in "abc":
        after = data.filter(JOBS["job"] == before)["job"].to_numpy()
        for level in "abc":
            assert (after == level).mean() == pytest.approx(0.7 if level == before else 0.15, abs=0.035)
    assert change.changed["sex"] == (data["sex"] != JOBS["sex"]).sum() == pytest.approx(800, abs=100)
    assert change.parameters == {"columns": ["job", "sex"]}
    assert change.secret == {"seed": 1, "probability": {"job": 0.7, "sex": 0.9}}


def test_seeds_and_engines():
    first, second = (mask_categorical(JOBS, columns=["job"], probability=0.5, seed=seed).data for seed in (1, 2))
    assert not first.equals(second)
    frame = JOBS.to_pandas()
    again = mask_categorical(frame, columns=["job"], probability=0.5, seed=1).data
    assert pl.from_pandas(again)["job"].equals(first["job"])
    assert again.dtypes.equals(frame.dtypes)


def test_types_are_kept():
    frame = pl.DataFrame(
        {"x": pl.Series(["a", "b"] * 9, dtype=pl.Categorical), "y": [1, 2] * 9, "z": [True, False] * 9}
    )
    assert mask_categorical(frame, columns=["x", "y", "z"], probability=0.1, seed=1).data.schema == frame.schema


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"probability": 1}, DataError, r"probability .* in \(0, 1\)"),
        ({"probability": {"jib": 0.5}}, ColumnError, "exactly the columns"),
        ({"probability": "half"}, DataError, r"probability .* in \(0, 1\)"),
        ({"columns": ["jib"]}, ColumnError, "did you mean 'job'"),
        ({"columns": []}, ColumnError, "names no column"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        mask_categorical(JOBS, **{"columns": ["job"], "probability": 0.5, **options})


def test_one_level():
    with pytest.raises(DataError, match="fewer than two levels"):
        mask_categorical(pl.DataFrame({"x": ["a", None]}), columns=["x"], probability=0.5)


def test_shares():
    assert shares_of({"a": np.float64(0.2)}, ["a"], "x") == {"a": 0.2}
