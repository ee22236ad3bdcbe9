"""What a formula names, and what it may not say."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.data.formula_text import check_expression, evaluate, read_formula
from sdckit.errors import ColumnError, DataError

COLUMNS = ["y", "x", "g", "log", "np", "age in years", "a~b", "ärger"]


@pytest.mark.parametrize(
    ("formula", "columns", "outcome", "categories"),
    [
        ("y ~ x", ("y", "x"), "y", ()),
        ("y~1", ("y",), "y", ()),
        ("log(y) ~ x:g + np.sqrt(x)**2 - 1", ("y", "x", "g"), None, ()),
        ("`age in years` ~ C(`a~b`) + ärger", ("age in years", "a~b", "ärger"), "age in years", ("a~b",)),
        ("y ~ C(g, contr.treatment(base='b')) + I(x / 2)", ("y", "g", "x"), "y", ("g",)),
        ("y ~ C(g) + g", ("y", "g"), "y", ()),
        ("y ~ bs(x, df=4, extrapolation='extend') + poly(x, 2)", ("y", "x"), "y", ()),
        ("y ~ log + log(x) + np", ("y", "log", "x", "np"), "y", ()),
        ("I(y > 2) ~ (x + g)**2", ("y", "x", "g"), None, ()),
    ],
)
def test_columns(formula, columns, outcome, categories):
    found = read_formula(formula, COLUMNS)
    assert (found.columns, found.outcome_column, found.categories) == (columns, outcome, categories)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ xx", "no column 'xx' in the original; did you mean 'x'"),
        ("Y ~ x", "did you mean 'y'"),
        ("y ~ `age in year`", "did you mean 'age in years'"),
        ("y ~ lambda", "no column 'lambda'"),
    ],
)
def test_columns_that_are_not_there(formula, words):
    with pytest.raises(ColumnError, match=words):
        read_formula(formula, COLUMNS)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (3, "formula must be text"),
        ("y", "formula must be 'outcome ~ terms'"),
        ("y ~ ", "formula must be 'outcome ~ terms'"),
        ("y ~ x ~ g", "formula must be 'outcome ~ terms'"),
        ("y ~ lgo(x)", "no function 'lgo'; did you mean 'log'"),
        ("y ~ open('secret')", "no function 'open'"),
        ("y ~ __import__('os')", "no function '__import__'"),
        ("y ~ x.max()", ".max is not allowed"),
        ("y ~ np.load('secret')", ".load is not allowed"),
        ("y ~ (x).__class__", ".__class__ is not allowed"),
        ("y ~ x | g", "'|' has no meaning"),
        ("y ~ x[0]", r"'\[' has no meaning"),
        ("y ~ {x}", "'{' has no meaning"),
        ("y ~ log(x", "a bracket or quote is not closed"),
        ("y ~ C(g, 'b)", "formula"),
        ("y ~ (x + g + np) ** 60", "expands to more than 2,000 terms"),
        ("y ~ ((x + g) ^ 9) ^ 9", "expands to more than 2,000 terms"),
        ("y ~ " + " * ".join("xgy" * 4), "expands to more than 2,000 terms"),
        ("y ~ x + " + " + " * 10_000 + "g", "expands to more than 2,000 terms"),
        ("y ~ I(9 ** 9 ** 9)", "a number in it is too large"),
        ("y ~ I(9 ** (9 * 9999999))", "a number in it is too large"),
        ("y ~ bs(x, df=999999999)", "a number in it is too large"),
        ("y ~ x + " + "9" * 400, "a number in it is too large"),
        ("y ~ (x + g) ** 60 +", "cannot be read"),
    ],
)
def test_what_is_refused(formula, words):
    with pytest.raises(DataError, match=words):
        read_formula(formula, COLUMNS)


# Numbers that a formula computes, beside the same arithmetic by hand.


X, Y = np.array([1.0, 4.0, np.nan]), np.array([2.0, 0.0, 3.0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", X),
        ("log(x + 1)", np.log(X + 1)),
        ("np.sqrt(x) * y", np.sqrt(X) * Y),
        ("I(x ** 2 - y / 2)", X**2 - Y / 2),
        ("-x // 2 + y % 2", -X // 2 + Y % 2),
        ("x > 2", [0.0, 1.0, np.nan]),
        ("x / y", [0.5, np.nan, np.nan]),  # what is infinite is no number
        ("maximum(x, `y`)", [2.0, 4.0, np.nan]),
        ("3", [3.0, 3.0, 3.0]),
    ],
)
def test_values(text, expected):
    np.testing.assert_allclose(evaluate(text, {"x": X, "y": Y}), expected)


@pytest.mark.parametrize(
    "text",
    ["bs(x)", "scale(x)", "poly(x, 2)", "x.mean()", "__import__('os')", "x and y", "'a'", "log(x, base=2)",
     "np.load(x)", "x < y < 3", "[x]", "x if y else 1", "x +"],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(DataError, match=r"not computed record by record|cannot be read"):
        check_expression(text)
