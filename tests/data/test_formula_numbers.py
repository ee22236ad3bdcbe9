"""Numbers that a formula computes, beside the same arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.data.formula_numbers import check_expression, evaluate
from sdckit.errors import DataError

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
