"""Associations before and after, by hand and against pandas; the worst pairs; what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats.contingency import association

from releases import original, release
from sdckit import compare_associations
from sdckit.errors import ColumnError, DataError
from sdckit.utility.tables.compare_associations import (
    correlation_ratios,
    cramers_v,
    pearson,
    pearson_matrix,
    spearman_matrix,
)

NUMBERS = {"numeric": ["age", "income"]}
NAMES = ["sex", "age", "income", "ill"]
SURVEY, RELEASE = original(), release()


def test_numbers_against_pandas():
    result = compare_associations(SURVEY, RELEASE, variables=NAMES, **NUMBERS)
    for kind in ("pearson", "spearman"):
        before, after = (
            frame.select("age", "income").to_pandas().corr(method=kind).iloc[0, 1] for frame in (SURVEY, RELEASE)
        )
        assert result.matrix(kind, of="original")[0, 1] == pytest.approx(before)
        assert result.matrix(kind, of="released")[0, 1] == pytest.approx(after)
        assert result.matrix(kind)[0, 1] == pytest.approx(after - before)
        assert getattr(result, f"{kind}_similarity") == pytest.approx(1 - abs(after - before) / 2)
    assert result.names("pearson") == result.numeric == ("age", "income")
    assert result.names() == tuple(NAMES)


def test_the_mixed_matrix():
    result = compare_associations(SURVEY, RELEASE, variables=NAMES, **NUMBERS)
    matrix = result.matrix(of="original")
    assert np.array_equal(matrix, matrix.T)
    assert np.diag(matrix).tolist() == [1.0] * 4
    assert matrix[1, 2] == result.matrix("pearson", of="original")[0, 1]
    codes = np.unique(SURVEY["ill"].to_numpy(), return_inverse=True)[1]
    assert matrix[1, 3] == pytest.approx(correlation_ratios([codes], SURVEY["age"].to_numpy().astype(float))[0])
    both = SURVEY.group_by("sex", "ill").len()["len"].to_numpy()
    assert 0 <= matrix[0, 3] < 0.3
    assert both.sum() == 240
    apart = np.abs(result.matrix())[np.triu_indices(4, 1)]
    assert result.mean_difference == pytest.approx(apart.mean())
    assert result.largest_difference == apart.max()
    assert result.frobenius_difference == pytest.approx(np.linalg.norm(result.matrix()))


def test_contingency_by_hand():
    a = pl.DataFrame({"x": list("aabb"), "y": ["u", "v", None, None]})
    b = pl.DataFrame({"x": list("aabb"), "y": ["u", "u", "w", None]})
    result = compare_associations(a, b)
    assert result.contingency_similarity == 0.5
    assert result.table("contingency").columns == ["variable_1", "variable_2", "similarity"]
    assert result.table("contingency")["similarity"].to_list() == [0.5]
    assert math.isnan(result.pearson_similarity)
    assert result.notes["pearson_similarity"] == "fewer than two numbers"


def test_the_worst_first():
    result = compare_associations(SURVEY, RELEASE, id="pid", **NUMBERS)
    table, worst = result.table(), result.worst(3)
    assert (
        worst["difference"].abs().to_list()
        == sorted((abs(x) for x in table["difference"].to_list() if not math.isnan(x)), reverse=True)[:3]
    )
    alike = result.worst(2, kind="contingency")["similarity"].to_list()
    assert alike == sorted(result.table("contingency")["similarity"].to_list())[:2]
    assert (table["released"] - table["original"]).to_list() == pytest.approx(
        table["difference"].to_list(), nan_ok=True
    )


def test_equal_files():
    result = compare_associations(SURVEY, SURVEY, id="pid", **NUMBERS)
    assert result.pearson_similarity == result.spearman_similarity == result.contingency_similarity == 1.0
    assert result.largest_difference == 0.0
    assert result.notes["pairs"].startswith("5 of 15 pairs have a variable that is constant")  # the weight


def test_several_releases():
    result = compare_associations(SURVEY, [SURVEY, RELEASE], variables=NAMES, **NUMBERS)
    single = compare_associations(SURVEY, RELEASE, variables=NAMES, **NUMBERS)
    assert result.per_release[0]["largest_difference"] == 0.0
    assert result.pearson_similarity == pytest.approx((1 + single.pearson_similarity) / 2)
    np.testing.assert_allclose(result.matrix(), single.matrix() / 2, atol=1e-14)
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def test_missing_on_one_side():
    gaps = RELEASE.with_columns(age=pl.when(pl.col("age") > 40).then(None).otherwise(pl.col("age")))
    result = compare_associations(SURVEY, gaps, variables=NAMES, **NUMBERS)
    known = gaps.drop_nulls("age")
    expected = known.select("age", "income").to_pandas().corr().iloc[0, 1]
    assert result.matrix("pearson", of="released")[0, 1] == pytest.approx(expected)
    assert result.notes["missing"] == "missing values in some of the files only: age"


@pytest.mark.parametrize("engine", [pl.DataFrame, pd.DataFrame, pa.table, pl.LazyFrame])
def test_engines(engine):
    files = [engine(frame.select(NAMES).to_dict(as_series=False)) for frame in (SURVEY, RELEASE)]
    result = compare_associations(*files, **NUMBERS)
    (expected,) = compare_associations(SURVEY, RELEASE, variables=NAMES, **NUMBERS).per_release
    assert result.per_release[0] == pytest.approx(expected, rel=1e-12)
    assert len(result.table()) == 6


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: compare_associations(SURVEY, RELEASE, variables=["sex"]), ColumnError, "need two variables"),
        (lambda: compare_associations(SURVEY, RELEASE.select(q="sex")), ColumnError, "in common"),
        (lambda: compare_associations(SURVEY, RELEASE, id="pid", bins=0), DataError, "2 or more"),
        (lambda: compare_associations(SURVEY, RELEASE, id="pid").matrix("kendall"), DataError, "no matrix 'kendall'"),
        (lambda: compare_associations(SURVEY, RELEASE, id="pid").matrix(of="both"), DataError, "of is 'original'"),
    ],
)
def test_what_cannot_be(call, error, words):
    with pytest.raises(error, match=words):
        call()


# Correlations and other strengths against scipy and pandas, and where they are undefined.


def drawn(share, n=60):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) * [1, 1e6, 1e-6, 1] + [0, 1e9, 0, 5]
    x[:, 3] = np.round(x[:, 3])  # ties
    x[rng.random(x.shape) < share] = np.nan
    return x


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize(("matrix", "method"), [(pearson_matrix, "pearson"), (spearman_matrix, "spearman")])
def test_against_pandas(share, matrix, method):
    x = drawn(share)
    found = matrix(list(x.T))
    np.testing.assert_allclose(found, pd.DataFrame(x).corr(method=method), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_ranks_of_few_values(share):
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.integers(0, 4, 200), rng.integers(-2, 3, 200), rng.integers(0, 2, 200) * 1e7])
    x = x + np.roll(x, 1, axis=1) / [1, 1e7, 1]  # whole numbers, fractions, and far apart
    x = np.where(rng.random(x.shape) < share, np.nan, np.round(x, 2))
    expected = pd.DataFrame(x).corr(method="spearman")
    np.testing.assert_allclose(spearman_matrix(list(x.T)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("matrix", [pearson_matrix, spearman_matrix])
def test_undefined(matrix):
    x, y = np.array([1.0, 2.0, 3.0, np.nan]), np.array([np.nan, 4.0, 4.0, 6.0])
    found = matrix([x, y, np.full(4, 2.0)])
    assert np.isnan(found[0, 1])  # constant where both are known
    assert np.isnan(found[2]).all()
    assert found[0, 0] == found[1, 1] == 1.0
    assert np.isnan(matrix([np.array([1.0, 2.0]), np.array([3.0, 3.0])])[0, 1])


def test_correlation_of_two():
    assert pearson(np.array([1.0, 2.0]), np.array([5.0, 1.0])) == pytest.approx(-1)
    assert math.isnan(pearson(np.array([1.0, 1.0]), np.array([5.0, 1.0])))
    assert math.isnan(pearson(np.array([1.0]), np.array([5.0])))


def test_cramers_v_against_scipy():
    table = np.array([[5, 0, 3], [2, 7, 1]])
    cells = np.nonzero(table)
    assert cramers_v(cells, table[cells]) == pytest.approx(association(table, method="cramer"))
    padded = [np.array([3, 3, 5, 5]), np.array([0, 2, 0, 2])]
    assert cramers_v(padded, np.array([4, 0, 0, 2])) == 1.0
    assert math.isnan(cramers_v(padded, np.array([4, 1, 0, 0])))


def test_correlation_ratios():
    codes, values = np.array([1, 1, 4, 4, 4]), np.array([1.0, 3.0, 2.0, 6.0, np.nan])
    # means 2 and 4 around 3: 4 between of 14 in all
    found = correlation_ratios([codes, np.array([1, 1, 1, 1, 0])], values)
    assert found[0] == pytest.approx(math.sqrt(4 / 14))
    assert math.isnan(found[1])
    assert math.isnan(correlation_ratios([np.array([1, 2])], np.array([2.0, 2.0]))[0])
    assert math.isnan(correlation_ratios([np.array([1, 2])], np.array([2.0, np.nan]))[0])
