"""E2: rounding to a base on every engine: exact multiples, no bias, nothing else touched."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit import round_to
from sdckit.errors import ColumnError, DataError
from sdckit.protect.recoding.round_to import multiples

DATA = {"x": [14, 15, None, -16, 20], "s": list("abcde")}
FRAMES = {
    "polars": lambda: pl.DataFrame(DATA),
    "pandas nullable": lambda: pd.DataFrame(DATA, index=[1, 1, 2, 3, 4]).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "pandas": lambda: pd.DataFrame(DATA),
    "pyarrow": lambda: pa.table(DATA),
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def values(frame, name="x"):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


@pytest.mark.parametrize(
    ("method", "expected"), [("nearest", [10, 20, None, -20, 20]), ("down", [10, 10, None, -20, 20])]
)
def test_multiples_of_ten(frame, method, expected):
    safe, change = round_to(frame, column="x", base=10, how=method)
    assert values(safe) == expected
    assert values(safe, "s") == DATA["s"]
    assert values(frame) == DATA["x"]
    assert (change.n, change.changed, change.secret, change.notes) == (5, {"x": 3}, {}, {})
    if isinstance(frame, (pa.Table, pl.DataFrame)):
        assert safe.schema == frame.schema
    else:
        assert safe.dtypes.equals(frame.dtypes)
        assert safe.index.tolist() == frame.index.tolist()


def test_at_random(frame):
    safe, change = round_to(frame, column="x", base=10, how="random", seed=3)
    new = values(safe)
    assert new[0] in {10, 20}
    assert new[1] in {10, 20}
    assert new[2] is None
    assert new[3] in {-20, -10}
    assert new[4] == 20
    assert change.secret == {"seed": 3}
    assert "seed" not in str(change.to_dict())
    assert new == values(round_to(FRAMES["polars"](), column="x", base=10, how="random", seed=3).data)


def test_a_seed_made_up_is_kept():
    many = pl.DataFrame({"x": range(200)})
    for seed in (None, np.random.default_rng(4)):
        new, change = round_to(many, column="x", base=10, how="random", seed=seed)
        kept = change.secret["seed"]
        assert round_to(many, column="x", base=10, how="random", seed=kept).data.equals(new)


def test_random_rounding_has_no_bias():
    rng = np.random.default_rng(5)
    for x in (0.0, 1.0, 3.7, 5.0, 9.99, -2.5):
        found = multiples(np.full(20_000, x), 10.0, "random", rng)
        p = (x - 10 * math.floor(x / 10)) / 10
        assert abs(found.mean() - x) <= 4.5 * 10 * math.sqrt(p * (1 - p) / 20_000)
        assert set(np.unique(found)) <= {10.0 * math.floor(x / 10), 10.0 * math.ceil(x / 10)}


def test_halves_go_to_the_even_multiple():
    halves = pl.DataFrame({"x": [5.0, 15.0, 25.0, -5.0]})
    assert round_to(halves, column="x", base=10).data["x"].to_list() == [0, 20, 20, 0]
    assert not np.signbit(round_to(halves, column="x", base=10).data["x"].to_numpy()).any()


@pytest.mark.parametrize("method", ["nearest", "down", "random"])
@pytest.mark.parametrize("base", [0.1, 0.25, 0.01, 3.0, 0.3, 1e-4])
def test_what_is_a_multiple_stays_the_same_double(method, base):
    steps = np.arange(-300, 300)
    exact = steps / round(1 / base) if round(1 / base) * base == pytest.approx(1) else steps * base
    assert multiples(exact, base, method, np.random.default_rng(0)).tolist() == exact.tolist()


def test_missing_and_infinite_values_stay():
    found = round_to(pl.DataFrame({"x": [math.inf, -math.inf, None, math.nan, 7.0]}), column="x", base=5)
    assert found.data["x"].to_list()[:3] == [math.inf, -math.inf, None]
    assert math.isnan(found.data["x"][3])
    assert found.change.changed == {"x": 1}


def test_whole_numbers_become_floats_only_where_they_must():
    frame = pl.DataFrame({"x": [1, 2, 5]})
    safe, change = round_to(frame, column="x", base=2.5)
    assert safe["x"].to_list() == [0, 2.5, 5]
    assert "whole numbers became floats" in change.notes["type"]
    assert round_to(frame, column="x", base=0.5).data.equals(frame)


def test_single_precision_counts_what_the_column_shows():
    frame = pl.DataFrame({"x": [0.1, 0.26]}, schema={"x": pl.Float32})
    safe, change = round_to(frame, column="x", base=0.1)
    assert safe.equals(pl.DataFrame({"x": [0.1, 0.3]}, schema={"x": pl.Float32}))
    assert change.changed == {"x": 1}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"base": 0}, DataError, "base is .* a number above 0"),
        ({"base": -1}, DataError, "base is .* a number above 0"),
        ({"base": math.nan}, DataError, "base is .* a number above 0"),
        ({"base": "5"}, DataError, "base is .* a number above 0"),
        ({"base": True}, DataError, "base is .* a number above 0"),
        ({"how": "up"}, DataError, "how 'up' is unknown; there are: nearest, down, random"),
        ({"column": "y"}, ColumnError, "column: no column 'y'"),
        ({"column": "s"}, DataError, "not numbers"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        round_to(pl.DataFrame(DATA), **{"column": "x", "base": 5, **options})


def test_numbers_that_floats_cannot_hold_are_refused():
    with pytest.raises(DataError, match=r"1 value is beyond 2\^53"):
        round_to(pl.DataFrame({"x": [2**60 + 1, 3]}), column="x", base=10)
