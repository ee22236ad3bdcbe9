"""Statistics of one file by plain formulas and counting; of several: names, weights, functions, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm

from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError
from sdckit.utility.models.model_design import sum_of_few
from sdckit.utility.models.statistics_of_file import (
    called_estimates,
    estimate_mean,
    estimate_quantile,
    estimate_total,
    named_estimates,
    proportions,
    quantile_of,
    quantile_of_few,
    weights_of,
)

ONE = pl.DataFrame({"x": [1.0, 2.0, 6.0, None], "g": ["a", "b", None, "b"], "w": [1.0, 2.0, 1.0, 0.0]})
TWO = pl.DataFrame({"x": [2.0, 4.0], "g": ["a", "c"], "w": [1.0, 1.0]})
RNG = np.random.default_rng(3)
X, W = np.round(RNG.normal(10, 3, 40), 1), RNG.uniform(1, 9, 40)
ONES = np.ones(40)


def opened(one=ONE, two=TWO, categories=(), numeric=("x", "w")):
    return open_pair(one, two, categories={"variables": categories}, numeric={"variables": numeric})


def test_the_variance_of_numbers_beyond_what_can_be_squared_is_infinite():
    assert estimate_mean(np.array([0.0, 2e300]), np.ones(2))[:2] == (1e300, math.inf)


def test_means_leave_missing_values_out():
    names, files = named_estimates(opened(), "mean", ["x"], None, 0.5, 0.95)
    assert names == ("x",)
    assert [one.value.tolist() for one in files] == [[3.0], [3.0]]
    assert [one.n_used for one in files] == [3, 2]
    assert files[0].variance[0] == pytest.approx(7 / 3)


def test_weights_and_totals():
    _, files = named_estimates(opened(), "total", ["x"], "w", 0.5, 0.95)
    assert [one.value[0] for one in files] == [11.0, 6.0]


def test_proportions_of_the_levels_of_all_files():
    names, files = named_estimates(opened(categories=["g"]), "proportion", ["g"], "w", 0.5, 0.95)
    assert names == ("g=a", "g=b", "g=c")
    assert files[0].value.tolist() == [pytest.approx(1 / 3), pytest.approx(2 / 3), 0.0]
    assert files[1].value.tolist() == [0.5, 0.0, 0.5]
    assert files[1].variance[1] == 0.0


def test_quantiles():
    _, files = named_estimates(opened(), "quantile", ["x"], None, 0.75, 0.95)
    assert [one.value[0] for one in files] == [4.0, 3.5]
    assert math.isinf(files[0].df[0])


def test_too_many_levels():
    wide = pl.DataFrame({"g": [str(i) for i in range(1200)]})
    pair = open_pair(wide, wide, categories={"variables": ["g"]})
    with pytest.raises(DataError, match="1200 different values: no proportions"):
        named_estimates(pair, "proportion", ["g"], None, 0.5, 0.95)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, None], "the release: weight 'w' is missing in row 2"),
        ([1.0, -1.0], "the release: weight 'w' is negative in row 2"),
        ([0.0, 0.0], "the release: weight 'w' is 0 in every row"),
    ],
)
def test_weights_that_are_none(weights, words):
    pair = opened(two=TWO.with_columns(w=pl.Series(weights)))
    with pytest.raises(DataError, match=words):
        weights_of(pair, "w")
    assert weights_of(pair, None) is None


@pytest.mark.parametrize(
    "statistic",
    [
        lambda frame: (frame["x"].mean(), 0.5),
        lambda frame: ([frame["x"].mean()], np.array([0.5])),
        lambda frame: (np.float64(frame["x"].mean()), np.array(0.5)),
    ],
)
def test_a_function_gives_numbers_or_arrays(statistic):
    names, files = called_estimates(opened(), statistic)
    assert names == ("estimate",)
    assert [(one.value[0], one.variance[0], one.n_used) for one in files] == [(3.0, 0.5, 4), (3.0, 0.5, 2)]


def test_a_function_gives_names():
    def by_mapping(frame):
        return {"a": 1.0, "b": frame["x"].max()}, {"b": 2.0, "a": 1.0}

    def by_series(frame):
        given = by_mapping(frame)
        return pd.Series(given[0]), pd.Series(given[1])

    for one in (by_mapping, by_series):
        names, files = called_estimates(opened(), one)
        assert names == ("a", "b")
        assert files[1].value.tolist() == [1.0, 4.0]
        assert files[1].variance.tolist() == [1.0, 2.0]
    names, _ = called_estimates(opened(), lambda frame: ([1.0, 2.0], [1.0, 1.0]))
    assert names == ("1", "2")


def test_a_function_that_fails_on_one_file_is_told_with_the_file():
    def secret(frame):
        if len(frame) == 2:
            raise RuntimeError("income of 123456")
        return 1.0, 1.0

    with pytest.raises(DataError, match=r"the release: the statistic failed \(RuntimeError\)") as caught:
        called_estimates(opened(), secret)
    assert "123456" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3.0, r"must give \(estimate, variance\)"),
        ((1.0, 2.0, 3.0), r"must give \(estimate, variance\)"),
        (("a", "b"), r"must give \(estimate, variance\)"),
        (([1.0, 2.0], [1.0]), r"must give \(estimate, variance\)"),
        (([], []), r"must give \(estimate, variance\)"),
        (({"a": 1.0}, {"b": 1.0}), r"must give \(estimate, variance\)"),
        ((math.nan, 1.0), "a missing or infinite number"),
        ((1.0, -1.0), "gives a negative variance"),
    ],
)
def test_a_function_that_gives_something_else(given, words):
    with pytest.raises(DataError, match=f"the original: the statistic .*{words}"):
        called_estimates(opened(), lambda frame: given)


def test_a_function_that_names_other_quantities():
    with pytest.raises(ColumnError, match="the release: the statistic does not name the same"):
        called_estimates(opened(), lambda frame: ({str(len(frame)): 1.0}, {str(len(frame)): 1.0}))


def test_a_mean():
    mean, variance, df = estimate_mean(X, ONES)
    assert (mean, df) == (pytest.approx(X.mean()), 39.0)
    assert variance == pytest.approx(X.var(ddof=1) / 40)


def test_a_weighted_mean_by_linearisation():
    mean, variance, _ = estimate_mean(X, W)
    assert mean == pytest.approx(np.average(X, weights=W))
    score = W * (X - mean) / W.sum()
    assert variance == pytest.approx(40 * score.var(ddof=1) + 40**2 * score.mean() ** 2 / 39, rel=1e-9)
    assert estimate_mean(X, 7 * W)[:2] == pytest.approx((mean, variance))


def test_a_total():
    total, variance, df = estimate_total(X, W)
    assert (total, df) == (pytest.approx(W @ X), 39.0)
    assert variance == pytest.approx(40 * (W * X).var(ddof=1))


def test_a_proportion_is_a_mean():
    share, variance, _ = estimate_mean((X > 10).astype(float), ONES)
    assert variance == pytest.approx(share * (1 - share) / 39)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_quantiles_of_one_file(share):
    assert quantile_of(X, None, share) == np.quantile(X, share)
    weighted = quantile_of(X, W, share)
    assert W[weighted >= X].sum() >= share * W.sum() > W[weighted > X].sum()
    assert quantile_of(X, ONES, share) == np.quantile(X, share, method="inverted_cdf")


def test_woodruffs_interval():
    found, variance, df = estimate_quantile(X, None, 0.25, 0.9)
    z = norm.ppf(0.95)
    reach = z * math.sqrt(0.25 * 0.75 / 39)
    low, high = np.quantile(X, [0.25 - reach, 0.25 + reach])
    assert (found, df) == (np.quantile(X, 0.25), math.inf)
    assert math.sqrt(variance) == pytest.approx((high - low) / (2 * z))
    weighted = estimate_quantile(X, W, 0.25, 0.9)
    assert weighted[0] == quantile_of(X, W, 0.25)
    assert weighted[1] > 0


def test_too_few_values():
    for one in (estimate_mean, estimate_total):
        value, variance, df = one(X[:1], ONES[:1])
        assert value == X[0]
        assert math.isnan(variance)
        assert math.isnan(df)
        assert all(map(math.isnan, one(X[:0], ONES[:0])))
    assert estimate_quantile(X[:1], None, 0.5, 0.9)[0] == X[0]
    assert math.isnan(estimate_quantile(X[:1], None, 0.5, 0.9)[1])
    assert all(map(math.isnan, estimate_quantile(X[:0], None, 0.5, 0.9)))
    assert math.isnan(estimate_mean(X, 0 * W)[0])


def test_a_record_without_weight_is_no_quantile():
    values, weights = np.array([-9.0, 1.0, 2.0, 3.0, 9.0]), np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    assert [quantile_of(values, weights, share) for share in (0.0, 0.5, 1.0)] == [1.0, 2.0, 3.0]
    assert math.isnan(quantile_of(values, 0 * weights, 0.5))
    assert all(map(math.isnan, estimate_quantile(values, 0 * weights, 0.5, 0.9)))
    assert quantile_of_few(values, 0 * weights, 0.5, 0.9) == (True, True)


def test_the_variances_are_right_under_repeated_sampling():
    rng = np.random.default_rng(4)
    samples, weights = rng.normal(size=(3000, 60)), np.tile([1.0, 3.0], 30)
    for one in (estimate_mean, estimate_total):
        found = np.array([one(sample, weights)[:2] for sample in samples])
        assert found[:, 1].mean() == pytest.approx(found[:, 0].var(ddof=1), rel=0.1)


@pytest.mark.parametrize("weighted", [False, True])
def test_proportions_are_means_of_0_and_1_by_level(weighted):
    rng = np.random.default_rng(4)
    for n in (1, 3, 6, 40, 90):
        levels = rng.choice(["a", "b", "c", "d", None], n, p=[0.6, 0.2, 0.1, 0.05, 0.05]).tolist()
        frame = pl.DataFrame({"g": [*levels[:-1], "a"]})
        weights = np.where(rng.random(n) < 0.1, 0.0, np.exp(rng.normal(0, 2, n)) + 1e-9) if weighted else None
        shared = open_pair(frame, frame, categories={"v": ["g"]}).codes("g")
        codes = shared.codes[0]
        known = codes > 0
        given = (np.ones(n) if weights is None else weights)[known]
        for level, (estimate, few, used) in enumerate(proportions(shared, 0, weights), 1):
            ones = (codes[known] == level).astype(float)
            assert estimate == pytest.approx(estimate_mean(ones, given), rel=1e-12, abs=1e-15, nan_ok=True)
            assert used == known.sum()
            assert few == sum_of_few(given, ones)
