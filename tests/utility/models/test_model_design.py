"""Design matrices coded alike in every file, and columns that follow from others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from formulaic import Formula
from hypothesis import given, settings, strategies as st

from sdckit.cells.pair import open_pair
from sdckit.data.formula_text import read_formula
from sdckit.errors import DataError
from sdckit.utility.models.model_design import (
    FEWEST,
    coefficients_of_few,
    column_values,
    common_levels,
    designs,
    independent_columns,
    is_dominated,
    largest_shares,
    names_apart,
    off_mode,
    published_names,
    published_text,
    sum_of_few,
)

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
        ("y ~ log(x - 1)", "the original: .* is not a finite number in row 1, or beyond 1e150; change the formula"),
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


# No sum of told coefficients, with any multipliers, is the value of a few records; what many carry is
# told.


N = 60


def design(*columns):
    return np.column_stack([np.ones(N), *columns]).astype(float)


def lone(*rows):
    return np.isin(np.arange(N), rows).astype(float)


def outcome(seed=0):
    return np.random.default_rng(seed).normal(100, 10, N)


def part_of(matrix, told, group, weights=None):
    """The largest part of a sum of told coefficients that rests on a group: reckoned without the kernel."""
    return float(parts_of(matrix, told, [group], weights)[0])


def parts_of(matrix, told, groups, weights=None):
    """The same of several groups of one size."""
    weights = np.ones(len(matrix)) if weights is None else weights
    sums = np.linalg.pinv(matrix.T @ (weights[:, None] * matrix)) @ (matrix * weights[:, None]).T
    if not told.any():
        return np.zeros(len(groups))
    u, size, _ = np.linalg.svd(sums[told].T, full_matrices=False)
    basis = u[:, size > 1e-9 * size[0]]
    return np.linalg.norm(basis[np.array(groups)], 2, axis=(1, 2)) ** 2


AGE = np.random.default_rng(9).integers(20, 70, N).astype(float)
SEX = (np.arange(N) % 2).astype(float)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "column",
    [
        lambda flag: flag,
        lambda flag: 1 - flag,
        lambda flag: 1e6 * flag + SEX * 1e-3,
        lambda flag: flag * AGE,
        lambda flag: SEX + flag,
        lambda flag: np.where(flag, 500.0, AGE),
    ],
)
def test_a_column_of_few_is_withheld_and_nothing_gives_it_back(k, column):
    rows = list(range(3, 3 + 2 * k, 2))
    matrix = design(column(lone(*rows)), SEX, AGE)
    few, wide = coefficients_of_few(matrix, outcome())
    assert few.any()
    assert not few.all()
    assert (wide >= few).all()
    assert part_of(matrix, ~few, rows) <= 0.93


def test_intercept_and_flag_of_one_person():
    matrix = design(lone(7))
    few, _ = coefficients_of_few(matrix, outcome())
    assert few.tolist() == [False, True]
    assert part_of(matrix, np.array([True, True]), [7]) == pytest.approx(1)
    assert part_of(matrix, ~few, [7]) == pytest.approx(0, abs=1e-9)


def test_two_flags_whose_difference_is_a_person():
    group = (np.arange(N) < 20).astype(float)
    matrix = design(group, group + lone(40))
    few, _ = coefficients_of_few(matrix, outcome())
    assert part_of(matrix, ~few, [40]) <= 0.5
    assert few[1:].all()


def test_a_rare_base_under_another_contrast():
    """Deviations from the mean of five groups, the first of two persons: its mean is a sum of all of them."""
    of = np.repeat(np.arange(5), [2, 14, 14, 15, 15])
    columns = [(of == j).astype(float) - (of == 0) for j in range(1, 5)]
    matrix = design(*columns)
    few, _ = coefficients_of_few(matrix, outcome())
    assert part_of(matrix, ~few, [0, 1]) <= 0.93
    assert part_of(matrix, np.ones(5, bool), [0, 1]) == pytest.approx(1)


def test_what_five_carry_is_told():
    few, wide = coefficients_of_few(design(lone(1, 2, 3, 4, 5), SEX, AGE), outcome())
    assert not few.any()
    assert not wide.any()


def test_weights_make_a_record_lone():
    weights = np.ones(N)
    weights[3] = 1000.0
    matrix = design(lone(3, 4, 5, 6, 7, 8))
    assert not coefficients_of_few(matrix, outcome())[0].any()
    few, _ = coefficients_of_few(matrix, outcome(), weights)
    assert few.tolist() == [False, True] or few.all()
    assert part_of(matrix, ~few, [3], weights) <= 0.5


def test_records_without_weight_carry_nothing():
    weights = np.ones(N)
    weights[2:6] = 0.0
    few, _ = coefficients_of_few(design(lone(1, 2, 3, 4, 5)), outcome(), weights)
    assert few.tolist() == [False, True]


def test_a_column_that_follows_from_others_is_none_of_them():
    few, _ = coefficients_of_few(design(AGE, 2 * AGE), outcome())
    assert not few.any()


def test_one_large_value_dominates():
    y = np.where(np.arange(N) == 11, 1e9, outcome())
    few, wide = coefficients_of_few(design(SEX), y)
    assert few.tolist() == [False, True]  # the intercept is the mean of the other sex
    assert wide.all()


def test_a_large_residual_withholds_the_spread():
    """s² is its square; the slopes it hardly moves."""
    x = np.linspace(-1, 1, N)
    y = np.where(np.arange(N) == 30, 1000.0, 1e4 * x)
    few, wide = coefficients_of_few(np.column_stack([x]), y)
    assert not few.any()
    assert wide.all()


def test_values_that_are_not_zero_for_few():
    y = lone(3, 9, 30) * np.array([500.0])
    assert coefficients_of_few(design(SEX), y)[0].all()


@pytest.mark.parametrize("ones", [1, 3, 4])
def test_a_group_with_few_of_an_outcome(ones):
    """Log-odds of 2 in 30 are a count of 2."""
    group = (np.arange(N) < 30).astype(float)
    y = np.where(np.arange(N) < 30, np.arange(N) < ones, np.arange(N) % 2).astype(float)
    for turned in (y, 1 - y):
        few, _ = coefficients_of_few(design(group), turned, counted=(turned == 0, turned == 1))
        assert few[1]
    enough = np.where(np.arange(N) < 30, np.arange(N) < 8, np.arange(N) % 2).astype(float)
    assert not coefficients_of_few(design(group), enough, counted=(enough == 0, enough == 1))[0].any()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 2))
def test_every_group_of_four_of_random_designs(seed, flags):
    """All groups, all sums: none of four has more than nine tenths (and what is negligible), none alone a half."""
    rng = np.random.default_rng(seed)
    n = 22
    columns = [np.ones(n), rng.normal(size=n)]
    columns += [rng.choice(["a", "b", "c"], n, p=[0.6, 0.25, 0.15]) == label for label in ("b", "c")]
    columns += [rng.random(n) < 0.08 for _ in range(flags)]
    matrix = np.column_stack(columns).astype(float)
    matrix = matrix[:, independent_columns(matrix)]
    few, _ = coefficients_of_few(matrix, rng.normal(size=n))
    assert parts_of(matrix, ~few, [[i] for i in range(n)]).max() <= 0.5 + 1e-6
    assert parts_of(matrix, ~few, list(combinations(range(n), FEWEST - 1))).max() <= 0.93


def test_dominance_leaves_the_largest_a_tenth_of_doubt():
    assert is_dominated(np.array([100.0, 50, 5, 4]))
    assert not is_dominated(np.array([100.0, 50, 5, 5]))
    assert not is_dominated(np.zeros(9))
    assert is_dominated(np.array([3.0, 1.0]))


@pytest.mark.parametrize(
    ("values", "few"),
    [
        (np.arange(50.0), False),
        (np.arange(4.0), True),
        (np.r_[np.zeros(46), 1, 2, 3, 4], True),
        (np.r_[np.zeros(45), 1, 2, 3, 4, 5], False),
        (np.r_[np.arange(49.0), 1e6], True),
        (np.full(50, 3.0), False),
    ],
)
def test_sums(values, few):
    assert sum_of_few(np.ones(len(values)), values)[0] is few


def test_off_mode_of_nothing_in_common():
    assert off_mode(np.arange(7.0)).all()
    assert off_mode(np.r_[np.zeros(5), 1.0]).tolist() == [False] * 5 + [True]


@pytest.mark.parametrize("weights", [None, np.full(N, 7.0), np.arange(1.0, N + 1)])
def test_largest_shares_are_those_of_the_fit(weights):
    matrix = design(SEX, AGE)
    w = np.ones(N) if weights is None else weights
    for spread in (None, np.linspace(0.1, 0.25, N)):
        v = np.ones(N) if spread is None else spread
        sums = np.linalg.inv(matrix.T @ ((w * v)[:, None] * matrix)) @ (matrix * w[:, None]).T
        assert largest_shares(matrix, weights, spread) == pytest.approx(np.abs(sums).max(axis=1))


def test_equal_weights_change_nothing():
    matrix = design(lone(1, 2, 3, 4), SEX, np.where(lone(9), 500.0, AGE))
    same = [coefficients_of_few(matrix, outcome(), weights)[0].tolist() for weights in (None, np.full(N, 0.01))]
    assert same[0] == same[1]


# Columns that follow from those before them.


def test_independent_columns():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30, 3))
    follows = np.column_stack([x[:, 0], 1e6 * x[:, 1], x[:, 0] - 3 * x[:, 1], np.zeros(30), 1e-6 * x[:, 2]])
    assert independent_columns(follows).tolist() == [True, True, False, False, True]
    assert independent_columns(np.zeros((5, 2))).tolist() == [False, False]
    assert independent_columns(rng.normal(size=(2, 4))).tolist() == [True, True, False, False]


# Levels of a few records are in no name, whatever the label looks like; what was written by hand is kept.


NAMES_N = 80
MARKERS = ("ZQX", "z]:k[T.a", "a]", "77", "x:sex[T.f]", "'a'", "é ~")
rng = np.random.default_rng(2)


def frame(marker: str) -> pd.DataFrame:
    k = rng.choice(["a", "b", "c"], NAMES_N)
    return pd.DataFrame(
        {
            "sex": pd.Categorical(rng.choice(["f", "m"], NAMES_N)),
            "k": pd.Categorical([marker, *k[1:]], [marker, "a", "b", "c"]),
            "a b": rng.normal(size=NAMES_N),
            "age": rng.normal(50, 9, NAMES_N),
        }
    )


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize(
    "terms",
    [
        "k", "C(k):sex", "sex:k", "0 + k:age", "C(k, contr.sum) * sex", "C(k, contr.helmert)", "C(k, contr.diff)",
        "k:bs(age, df=4)", "C(k, contr.treatment(base='b')):sex:`a b`",
    ],
)  # fmt: skip
def test_a_level_of_one_record(marker, terms):
    data = frame(marker)
    built = Formula(terms).get_model_matrix(data, output="pandas")
    names = list(map(str, built.columns))
    told = published_names(names, built.model_spec, common_levels(data, list(data.columns)))
    assert len(told) == len(names)
    for name, shown in zip(names, told, strict=True):
        if f"[{marker}]" in name or f".{marker}]" in name:
            assert marker not in shown.replace("(k, contr.treatment(base='b'))", "").replace("k[T.a]", "")
            assert "rare" in shown
    assert any(shown == name for name, shown in zip(names, told, strict=True))


def test_names_of_numbers_and_contrasts_stay():
    data = frame("ZQX")
    terms = "age + `a b` + np.log(age) + bs(age, df=4) + poly(age, 2) + C(sex, contr.poly) + I(age > 40) + C(age > 60)"
    built = Formula(terms).get_model_matrix(data, output="pandas")
    names = tuple(map(str, built.columns))
    assert published_names(names, built.model_spec, common_levels(data, list(data.columns))) == names


def test_a_base_named_in_the_formula():
    text = "y ~ C(k, contr.treatment(base=\"ZQX\")) + C(sex, contr.treatment(base='f'))"
    assert published_text(text, frozenset({"f"})) == text.replace('"ZQX"', "'rare'")


def test_equal_names_are_numbered():
    assert names_apart(["k[rare]", "k[rare]", "x"]) == ["k[rare]", "k[rare] (2)", "x"]
