"""Distribution functions by hand and by comparing all with all; what is left out, and what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit import ecdf_utility
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.utility import ecdf_utility as ecdf_kernel, ecdf_utility as module
from sdckit.utility.ecdf_utility import ecdf_difference, ranks_of

SURVEY = pl.DataFrame({"age": [20, 30, 40, 50], "pay": [1.0, 2.0, 3.0, 4.0], "sex": list("ffmm")})
RELEASE = pl.DataFrame({"age": [20, 30, 40, 60], "pay": [4.0, 2.0, 3.0, 3.0], "sex": list("fmfm")})


def test_by_hand():
    result = ecdf_utility(SURVEY, RELEASE)
    # age: F_O - F_S is 0 up to 40, 1/4 at 50, 0 at 60; eight records, one of them 50
    assert result.max_difference == {"age": 0.25, "pay": 0.25}
    assert result.mean_squared_difference["age"] == 0.25**2 / 8
    # pay: 1/4 at 1 (one record) and 2 (two), 0 at 3 and 4
    assert result.mean_squared_difference["pay"] == 3 * 0.25**2 / 8
    # joint: (20, 1) is below all of the original, (20, 4) only below (20, 4) and (60, 4) there
    assert result.joint_max_difference == 0.25
    assert result.joint == result.variables == ("age", "pay")
    assert result.notes == {"variables": "no numbers, left out: sex"}
    assert result.table["variable"].to_list() == ["age", "pay"]


def test_the_joint_function_by_comparing():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(40, 3)), rng.normal(size=(25, 3))
    both = np.vstack([a, b])
    f_o = (a[:, None, :] <= both[None]).all(axis=2).mean(axis=0)
    f_s = (b[:, None, :] <= both[None]).all(axis=2).mean(axis=0)
    found = ecdf_utility(pl.DataFrame(a), pl.DataFrame(b))
    assert found.joint_max_difference == pytest.approx(np.abs(f_o - f_s).max(), rel=1e-14)
    assert found.joint_mean_squared_difference == pytest.approx(((f_o - f_s) ** 2).mean(), rel=1e-13)


def test_equal_files_and_files_apart():
    assert set(ecdf_utility(SURVEY, SURVEY).per_release[0].values()) == {0.0}
    far = ecdf_utility(SURVEY, RELEASE.with_columns(pl.col("age", "pay") + 100))
    assert far.joint_max_difference == far.max_difference["age"] == 1.0


def test_missing_values_leave_records_out():
    gaps = RELEASE.with_columns(pay=pl.Series([None, 2.0, 3.0, None]))
    result = ecdf_utility(SURVEY, gaps)
    assert result.max_difference == {"age": 0.25, "pay": 0.25}
    assert result.notes["missing"] == "records without a value, in the original, the release: pay (0, 2)"
    whole = ecdf_utility(SURVEY, gaps.drop_nulls())
    assert result.joint_max_difference == whole.joint_max_difference
    apart = gaps.with_columns(age=pl.Series([20, None, None, 60]))
    nothing = ecdf_utility(SURVEY, apart)
    assert math.isnan(nothing.joint_max_difference)
    assert nothing.notes["joint_max_difference"] == "a file has no record with a value of every variable"


def test_several_releases():
    result = ecdf_utility(SURVEY, [SURVEY, RELEASE[:3]], variables=["age"])
    assert [one["max_difference[age]"] for one in result.per_release] == [0.0, 0.25]
    assert result.max_difference == {"age": 0.125}
    assert result.by_release["joint_max_difference"].to_list() == [0.0, 0.25]
    assert result.to_dict()["figures"]["max_difference"] == {"age": 0.125}
    assert pickle.loads(pickle.dumps(result)).max_difference == {"age": 0.125}


def test_which_variables_are_joined(monkeypatch):
    assert ecdf_utility(SURVEY, RELEASE, joint=["pay"]).joint_max_difference == 0.25
    left = ecdf_utility(SURVEY, RELEASE, joint=False)
    assert left.joint == ()
    assert left.notes["joint_max_difference"] == "not asked for (joint=False)"
    monkeypatch.setattr(module, "POINTS", 2)
    three = [frame.with_columns(z=pl.col("pay") * 2) for frame in (SURVEY, RELEASE)]
    assert math.isnan(ecdf_utility(*three).joint_max_difference)
    assert "more than 2 distinct records" in ecdf_utility(*three).notes["joint_max_difference"]
    assert ecdf_utility(*three, joint=["age", "pay", "z"]).joint_max_difference == 0.25


def test_a_scenario_names_the_numbers():
    given = Scenario(keys=["sex"], numeric=["pay"], weight="age")
    assert ecdf_utility(SURVEY, RELEASE, scenario=given).variables == ("pay",)


@pytest.mark.parametrize("engine", [pl.DataFrame, pd.DataFrame, pa.table, pl.LazyFrame])
def test_engines(engine):
    files = [engine(frame.to_dict(as_series=False)) for frame in (SURVEY, RELEASE)]
    assert ecdf_utility(*files).per_release == ecdf_utility(SURVEY, RELEASE).per_release


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"variables": ["sex"]}, DataError, "'sex' .*not numbers"),
        ({"variables": ["income"]}, ColumnError, "no column 'income'"),
        ({"joint": ["sex"]}, ColumnError, "joint: 'sex' is not among the numeric variables"),
        ({"joint": []}, ColumnError, "joint= is empty"),
        ({"released": RELEASE.select("sex")}, ColumnError, "none of the variables in common is stored as num"),
        ({"released": RELEASE.select(other="sex")}, ColumnError, "no variable in common"),
        ({"released": RELEASE.with_columns(age=pl.lit(None, pl.Int64))}, DataError, "'age' has no value at all"),
        ({"released": []}, DataError, "empty list"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        ecdf_utility(SURVEY, **{"released": RELEASE, **given})


def test_no_number_in_common_says_who_called_them_numbers():
    texts = SURVEY.select("sex"), RELEASE.select("sex")
    with pytest.raises(ColumnError, match=r"is stored as numbers in every file; name them"):
        ecdf_utility(*texts)
    declared = Scenario(keys=["sex"], numeric=["pay"])
    with pytest.raises(ColumnError, match=r"is declared numeric in the scenario; name them"):
        ecdf_utility(*texts, scenario=declared)


# Dominance counts against a comparison of all with all, and nothing left out or counted twice.


def by_comparing(points, n):
    """(F_S - F_O) n n_s at every row, and the rows."""
    below = (points[:, :, None] <= points[:, None, :]).all(axis=0)
    n_s = points.shape[1] - n
    return n * below[n:].sum(axis=0) - n_s * below[:n].sum(axis=0)


def spread_out(points, n):
    difference, size = ecdf_difference(points, n)
    return sorted(np.repeat(difference, size).tolist())


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("levels", [2, 7, 400])
def test_every_pair(d, levels):
    rng = np.random.default_rng(10 * d + levels)
    n, n_s = 150, 90
    points = rng.integers(0, levels, (d, n + n_s)).astype(np.int32)
    assert spread_out(points, n) == sorted(by_comparing(points, n).tolist())


def test_divided_to_the_end(monkeypatch):
    """The kernel as plain Python, dividing wherever it can."""
    monkeypatch.setattr(ecdf_kernel, "SMALL", 1)
    for name in ("_sum_below", "_merge", "_compare", "_span"):
        monkeypatch.setattr(ecdf_kernel, name, getattr(ecdf_kernel, name).py_func)
    rng = np.random.default_rng(4)
    for levels in (2, 30):
        points = rng.integers(0, levels, (4, 40)).astype(np.int32)
        assert spread_out(points, 13) == sorted(by_comparing(points, 13).tolist())


def test_too_many_distinct_rows():
    points = np.arange(30, dtype=np.int32).reshape(3, 10)
    assert ecdf_difference(points, 5, most=9) is None
    assert ecdf_difference(points, 5, most=10) is not None
    assert ecdf_difference(points[:2], 5, most=1) is not None


def test_ranks():
    assert ranks_of([np.array([0.5]), np.array([-1.0, 0.5, 2.0])]).tolist() == [1, 0, 1, 2]


def test_a_plan_joins_numbers_as_they_are_measured_one_by_one():
    """Whole numbers above 2^53 that are one number as floats are one in the joint function, too."""
    large = [2**60, 2**60 + 1, 2**60 + 2, 5]
    files = [pl.DataFrame({"x": [large[at] for at in places]}) for places in ([0, 0, 1, 3], [2, 2, 2, 3])]
    for made in (ecdf_utility(*files), ecdf_utility(*(file.lazy() for file in files))):
        assert made.joint_max_difference == made.max_difference["x"] == 0.0
