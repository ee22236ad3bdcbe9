"""Formulas of derived columns: what they compute, and that nothing but arithmetic is read."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.data.derived_formula import derived_columns, quoted, read_derived
from sdckit.errors import ScenarioError
from tree import SRC

X = np.array([1.0, 2.5, np.nan, -4.0])
SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def computed(text: str, **columns: np.ndarray) -> list[float]:
    (made,) = read_derived({"y": text})
    return made.values(columns or {"x": X}).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 1", [2.0, 3.5, None, -3.0]),
        ("-(x - 1) * 2", [-0.0, -3.0, None, 10.0]),
        ("1 / (x - 1)", [None, 1 / 1.5, None, -0.2]),
        ("round(x)", [1.0, 2.0, None, -4.0]),
        ("round(x / 3, 2)", [0.33, 0.83, None, -1.33]),
        ("round(100 * x, -2)", [100.0, 200.0, None, -400.0]),
        ("sqrt(x)", [1.0, 2.5**0.5, None, None]),
        ("0 * log10(x) + abs(x)", [1.0, 2.5, None, None]),
        ("x ** 0.5", [1.0, 2.5**0.5, None, None]),
        ("x + 1 / 0", [None] * 4),
        ("x + 10 ** 400", [None] * 4),
    ],
)
def test_what_is_computed(text: str, expected: list[float | None]) -> None:
    expected_numbers = np.array([np.nan if value is None else value for value in expected])
    np.testing.assert_allclose(computed(text), expected_numbers)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(SIGNS)), st.integers(1, 99)), min_size=1, max_size=6))
def test_chains_go_from_left_to_right(chain: list[tuple[str, int]]) -> None:
    text, value = "x", 7.0
    for sign, number in chain:
        text, value = f"({text}) {sign} {number}", SIGNS[sign](value, number)
    assert computed(text, x=np.array([7.0]))[0] == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "x +", "x y", "x; x", "__import__('os')", "x.real", "x[0]", "lambda: x", "x if x else 1", "[x]", "x == 1",
        "x and x", "x // 2", "x % 2", "'x'", "True + x", "1j * x", "round(x, y)", "round(x, 99)", "round()", "max(x)",
        "round(x, digits=2)", "f(x)", "(x := 1)", "x\ny", "_quoted_name_0 + `a b`", "+".join("x" * 900),
        "(" * 300 + "x" + ")" * 300, "1e999 * x", "x + \0", "sqrt(*x)",
    ],
)  # fmt: skip
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(ScenarioError, match=r"^derived: y: "):
        read_derived({"y": text})


def test_names_that_are_no_identifiers() -> None:
    (made,) = read_derived({"y": "`gross wage (EUR)`-`class` * größe"})
    assert made.inputs == ("gross wage (EUR)", "class", "größe")
    one = np.ones(1)
    assert made.values({"gross wage (EUR)": 5 * one, "class": 2 * one, "größe": one}).tolist() == [3.0]
    for name in ("wage", "gross wage", "if", "größe", "1st"):
        assert derived_columns({"y": f"2 * {quoted(name)}"}) == (name,)
    assert quoted("wage") == "wage"


def test_each_follows_those_that_it_names() -> None:
    order = [made.column for made in read_derived({"c": "b + a", "b": "2 * a", "a": "x"})]
    assert order == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("derived", "says"),
    [
        ({"a": "a + 1"}, "no column follows from itself"),
        ({"a": "b", "b": "c", "c": "a"}, "derived: .* from .* no column follows from itself"),
        ({"a": "3"}, "derived: a: its formula names no column"),
        ({"a": 3}, 'derived: a: a formula is text; write a = "wage'),
        ({}, "with one column at least"),
        ("a = b", "derived is a table"),
        (None, "derived is a table"),
    ],
)
def test_what_is_refused(derived: object, says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        read_derived(derived)
    assert derived_columns(derived) == ()


def test_no_text_is_run() -> None:
    source = (SRC / "data" / "derived_formula.py").read_text(encoding="utf-8")
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert not names & {"eval", "exec", "compile", "getattr", "__import__"}
