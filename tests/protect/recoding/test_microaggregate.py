"""E5: what is replaced by what, and what is said of it."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import microaggregate
from sdckit.errors import ColumnError, DataError
from sdckit.protect.recoding.microaggregate import METHODS, RULES, enough_each, optimal, ranked

FIRMS = pl.DataFrame(
    {
        "name": ["a", "b", "c", "d", "e", "f", "g", "h"],
        "area": ["n", "s", "n", "s", "n", "s", "s", "n"],
        "staff": [4, 90, 5, 80, 6, 100, 70, 45],
        "sales": [10.0, 900, 12, 700, 14, 800, 600, 400],
    }
)
NUMBERS = ["staff", "sales"]


def test_means_of_groups():
    data, change = microaggregate(FIRMS, columns=NUMBERS, k=3)
    # b is the farthest from the mean, in standard deviations; f and d are the nearest to it
    assert data["staff"].to_list() == [26, 90, 26, 90, 26, 90, 26, 26]
    assert data["sales"].to_list() == pytest.approx([207.2, 800, 207.2, 800, 207.2, 800, 207.2, 207.2])
    assert data.select("name", "area").equals(FIRMS.select("name", "area"))
    assert (change.method, change.n, change.changed) == ("microaggregate", 8, {"staff": 7, "sales": 7})
    assert change.parameters["how"] == "mdav"
    assert change.secret == {}


def test_columns_one_by_one():
    data, change = microaggregate(FIRMS, columns=NUMBERS, k=4, how="individual_ranking")
    assert data["staff"].to_list() == [15, 85, 15, 85, 15, 85, 85, 15]
    assert data.schema == FIRMS.schema  # whole means: the type stays
    assert change.notes == {"groups": "4 groups over all columns"}
    best, _ = microaggregate(FIRMS, columns=NUMBERS, k=2, how="univariate")
    plain, _ = microaggregate(FIRMS, columns=NUMBERS, k=2, how="individual_ranking")
    for name in NUMBERS:
        lost = [((one[name] - FIRMS[name]) ** 2).sum() for one in (best, plain)]
        assert lost[0] <= lost[1]


def test_medians():
    data, _ = microaggregate(FIRMS, columns=["sales"], k=4, how="individual_ranking", measure="median")
    assert data["sales"].to_list() == [13, 750, 13, 750, 13, 750, 750, 13]
    odd, _ = microaggregate(FIRMS[:3], columns=["sales"], k=3, measure="median")
    assert odd["sales"].to_list() == [12, 12, 12]


def test_along_the_file_or_a_column():
    data, change = microaggregate(FIRMS, columns=["sales"], k=4, how="simple")
    assert data["sales"].to_list() == [405.5] * 4 + [453.5] * 4
    data, change = microaggregate(FIRMS, columns=["sales"], k=4, how="single", sort_by="staff")
    assert data["sales"].to_list() == [109, 750, 109, 750, 109, 750, 750, 109]
    assert change.parameters["sort_by"] == "staff"
    assert microaggregate(FIRMS, columns=NUMBERS, how="single").change.parameters["sort_by"] == "staff"


def test_strata_do_not_mix():
    data, _ = microaggregate(FIRMS, columns=NUMBERS, k=4, strata=["area"])
    for area, own in (("n", [15.0, 109.0]), ("s", [85.0, 750.0])):
        found = data.filter(pl.col("area") == area).select(NUMBERS).unique().row(0)
        assert list(found) == own


def test_the_seed_of_the_robust_estimate_is_secret():
    frame = pl.DataFrame(np.random.default_rng(1).normal(size=(60, 2)), schema=["x", "y"])
    first, change = microaggregate(frame, columns=["x", "y"], how="rmd", seed=5)
    assert change.secret == {"seed": 5}
    assert first.equals(microaggregate(frame, columns=["x", "y"], how="rmd", seed=5).data)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "rmd"])
def test_missing_values_stay_and_no_mean_is_of_fewer_than_k(method):
    rng = np.random.default_rng(8)
    values = rng.lognormal(3, 1, (90, 3))
    values[rng.random((90, 3)) < 0.3] = np.nan
    frame = pl.DataFrame(values, schema=["x", "y", "z"], nan_to_null=True)
    data, change = microaggregate(frame, columns=["x", "y", "z"], k=4, how=method)
    for name in frame.columns:
        assert (data[name].is_null() == frame[name].is_null()).all()
        assert data[name].drop_nulls().value_counts()["count"].min() >= 4
        assert data[name].mean() == pytest.approx(frame[name].mean())
    assert "every mean is one of k" in change.notes["missing"]


def test_equal_values_stay_exactly():
    frame = pl.DataFrame({"x": [0.1] * 5, "y": [1.0, 2, 3, 4, 5]})
    data, change = microaggregate(frame, columns=["x", "y"], k=5)
    assert data["x"].to_list() == [0.1] * 5
    assert change.changed == {"x": 0, "y": 4}
    assert change.notes["constant"] == "all values are equal, nothing to change: x"


def test_pandas_keeps_its_index():
    frame = FIRMS.to_pandas().set_index(pd.Index(list("stuvwxyz")))
    before = frame.copy()
    data, _ = microaggregate(frame, columns=NUMBERS, k=4)
    assert data.index.tolist() == list("stuvwxyz")
    assert data["staff"].tolist() == microaggregate(FIRMS, columns=NUMBERS, k=4).data["staff"].to_list()
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"k": 1}, DataError, "whole number of 2 or more"),
        ({"k": 2.0}, DataError, "whole number of 2 or more"),
        ({"k": 9}, DataError, "k = 9 records to a group, and the data has 8 in all"),
        ({"k": 5, "strata": ["area"]}, DataError, "2 of 2 strata of area have fewer than k = 5"),
        ({"columns": ["name"]}, DataError, "'name' is .*, not numbers"),
        ({"columns": ["stuff"]}, ColumnError, "columns: no column 'stuff'.*staff"),
        ({"strata": ["aera"]}, ColumnError, "strata: no column 'aera'"),
        ({"sort_by": "age", "how": "single"}, ColumnError, "sort_by: no column 'age'"),
        ({"sort_by": "staff"}, DataError, "sort_by= is for how='single'"),
        ({"how": "best"}, DataError, "how 'best' is unknown; there are: mdav, "),
        ({"measure": "mode"}, DataError, "is unknown; there are: mean, median"),
        ({"columns": []}, ColumnError, "names no column"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        microaggregate(FIRMS, **{"columns": NUMBERS, **options})


def test_too_few_values_present():
    frame = pl.DataFrame({"s": ["a", "a", "a", "b", "b", "b"], "x": [1.0, 2, 3, None, 5, 6], "y": range(6)})
    with pytest.raises(DataError, match=r"'x' has fewer than k = 3 values present in 1 strata \(rows 5, 6\)"):
        microaggregate(frame, columns=["x", "y"], k=3, strata=["s"])
    empty = frame.with_columns(x=pl.when(pl.col("s") == "a").then(pl.col("x")))
    assert microaggregate(empty, columns=["x", "y"], k=3, strata=["s"]).data["x"].to_list()[:3] == [2, 2, 2]


def within(values, group):
    return sum(((values[group == g] - values[group == g].mean()) ** 2).sum() for g in np.unique(group))


@pytest.mark.parametrize("n", range(2, 14))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_optimum_over_all_groupings_of_neighbours(n, k):
    if n < k:
        return
    values = np.random.default_rng(10 * n + k).lognormal(1, 1, n)
    order = np.argsort(values)
    best = np.inf
    for cuts in itertools.product([0, 1], repeat=n - 1):
        group = np.empty(n, np.int64)
        group[order] = np.concatenate([[0], np.cumsum(cuts)])
        if np.bincount(group).min() >= k:
            best = min(best, within(values, group))
    found = optimal(values, k)
    assert np.bincount(found).min() >= k
    assert np.bincount(found).max() < 2 * k
    assert within(values, found) == pytest.approx(best)


def test_ranked():
    assert ranked(np.arange(3), 2).tolist() == [0, 0, 0]
    assert ranked(np.arange(7), 3).tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_enough_values_in_each_group():
    gap = np.nan
    group = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    whole = np.arange(9.0)
    assert (enough_each(whole, group, 3) == group).all()
    one_thin = np.array([1.0, 2, 3, 50, 60, gap, 55, 56, 57])
    assert enough_each(one_thin, group, 3).tolist() == [0, 0, 0, 2, 2, -1, 2, 2, 2]  # joins the nearest
    one_thin = np.array([1.0, gap, gap, 50, 60, gap, 2, 59, gap])
    assert enough_each(one_thin, group, 2).tolist() == [2, -1, -1, 1, 1, -1, 2, 2, -1]  # 30.5 is nearer than 55
    two_thin = np.array([1.0, gap, gap, 50, 60, gap, 2, gap, gap])
    assert enough_each(two_thin, group, 2).tolist() == [3, -1, -1, 1, 1, -1, 3, -1, -1]
    nothing = np.array([gap, gap, gap, 1, 2, 3, gap, gap, gap])
    assert enough_each(nothing, group, 3).tolist() == [-1] * 3 + [1] * 3 + [-1] * 3


def test_scale_and_origin_do_not_matter():
    values = np.random.default_rng(3).normal(size=(60, 3))
    moved = values * [1, 1000, 0.01] + [5, -7, 100]
    for name, rule in RULES.items():
        a, b = rule(values, 4, 1), rule(moved, 4, 1)
        assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())), name


def test_a_constant_or_empty_column_has_no_say():
    values = np.random.default_rng(4).normal(size=(40, 2))
    more = np.column_stack([values, np.full(40, 0.1), np.full(40, np.nan)])
    for name in ("mdav", "pca"):
        assert (RULES[name](values, 3, 1) == RULES[name](more, 3, 1)).all()


def test_a_singular_covariance():
    x = np.random.default_rng(5).normal(size=(30, 1))
    with pytest.raises(DataError, match=r"robust covariance .* is singular"):
        RULES["rmd"](np.column_stack([x, 2 * x]), 3, 1)


def test_the_most_outlying_first():
    values = np.random.default_rng(6).normal(size=(80, 2))
    values[17] += 50
    assert RULES["rmd"](values, 3, 1)[17] == 0
