"""Design matrices coded alike in every file, and columns that follow from others."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.cells.pair import open_pair
from sdckit.data.formula_text import read_formula
from sdckit.errors import DataError
from sdckit.utility.models.model_design import column_values, designs

ONE = pl.DataFrame(
    {"y": [1.0, 2, 3, 4], "x": [1, 2, None, 4], "g": ["b", "a", "b", "c"], "t": [True, False, None, True],
     "k": [1, 2, 1, 3], "n": [None] * 4},
    schema_overrides={"n": pl.String},
)  # fmt: skip
TWO = pl.DataFrame(
    {"y": [5.0, 6], "x": [3, 5], "g": ["b", "d"], "t": [True, True], "k": [2, 4], "n": [None] * 2},
    schema_overrides={"n": pl.String},
)
NUMBERS = ("y", "x", "k")


def opened(one=ONE, two=TWO):
    others = [name for name in one.columns if name not in NUMBERS]
    return open_pair(one, two, categories={"formula": others}, numeric={"numeric": NUMBERS})


def built(formula, one=ONE, two=TWO):
    pair = opened(one, two)
    usable = [np.ones(size, bool) for size in (pair.n, *pair.sizes)]
    names, _, files = designs(pair, read_formula(formula, one.columns), usable)
    return names, files


def test_columns_by_their_type():
    pair = opened()
    assert column_values(pair, "x")[1].tolist() == [3.0, 5.0]
    assert column_values(pair, "t")[0][[0, 1, 3]].tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(column_values(pair, "t")[0][2])
    first, second = column_values(pair, "g")
    assert first.categories.tolist() == second.categories.tolist() == ["b", "a", "c", "d"]  # b is in both
    assert first.tolist() == ["b", "a", "b", "c"]
    assert column_values(pair, "k", as_category=True)[1].tolist() == ["2", "4"]


def test_what_is_no_category():
    with pytest.raises(DataError, match="'n' has no value at all"):
        column_values(opened(), "n")
    wide = pl.DataFrame({"g": [str(i) for i in range(1200)]})
    pair = open_pair(wide, wide, categories={"formula": ["g"]})
    with pytest.raises(DataError, match="1200 categories; group them first"):
        column_values(pair, "g")


def test_the_same_terms_in_every_file():
    names, (one, two) = built("y ~ g + x")
    assert names == ("Intercept", "g[T.a]", "g[T.c]", "g[T.d]", "x")
    assert one.rows.tolist() == [0, 1, 3]  # x is missing in the third
    assert one.matrix.tolist() == [[1, 0, 0, 0, 1], [1, 1, 0, 0, 2], [1, 0, 1, 0, 4]]
    assert two.matrix.tolist() == [[1, 0, 0, 0, 3], [1, 0, 0, 1, 5]]
    assert one.outcome is None


def test_what_a_transformation_takes_from_the_data_is_the_originals():
    names, (one, two) = built("y ~ center(y)")
    assert names[1] == "center(y)"
    assert one.matrix[:, 1].tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert two.matrix[:, 1].tolist() == [2.5, 3.5]


def test_an_expression_on_the_left():
    _, (one, two) = built("log(y) ~ k")
    assert one.outcome.tolist() == np.log(ONE["y"]).to_list()
    assert two.outcome.tolist() == np.log(TWO["y"]).to_list()
    _, (one, _) = built("I(y > 2) ~ 1")
    assert one.outcome.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert one.matrix.tolist() == [[1.0]] * 4


def test_numbers_as_categories_have_the_levels_of_all_files():
    names, (one, two) = built("y ~ C(k)")
    assert names == ("Intercept", "C(k)[T.1]", "C(k)[T.3]", "C(k)[T.4]")
    assert (one.matrix.sum(axis=0).tolist(), two.matrix.sum(axis=0).tolist()) == ([4, 2, 1, 0], [2, 0, 0, 1])


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ log(x - 1)", "the original: .* is not a finite number in row 1; change the formula"),
        ("y ~ log(5 - y)", r"the release: log\(5 - y\) is not a finite number in rows 1, 2"),
        ("y ~ k + C(k)", "the release: a variable that stands in C.. and elsewhere"),
        ("y ~ log(g)", "the original: the formula cannot be evaluated"),
        ("y ~ x +", "the original: the formula cannot be evaluated"),
        ("y ~ 0", "no term on the right"),
        ("x + y ~ k", "the left side must be one number per record"),
        ("y ~ bs(y, df=3)", "the release: .*extrapolation='extend'"),
    ],
)
def test_what_is_refused(formula, words):
    with pytest.raises(DataError, match=words) as caught:
        built(formula)
    assert caught.value.__cause__ is None


def test_no_complete_record():
    with pytest.raises(DataError, match="the original: no record has a value in every column"):
        built("y ~ x", ONE.with_columns(y=pl.when(pl.col("x").is_null()).then(pl.col("y"))))
