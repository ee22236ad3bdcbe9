"""What a formula names, and what it may not say."""

from __future__ import annotations

import pytest

from sdckit.data.formula_text import read_formula
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
    ],
)
def test_what_is_refused(formula, words):
    with pytest.raises(DataError, match=words):
        read_formula(formula, COLUMNS)
