"""What predicts each variable, and the order that follows from it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_formulas import (
    Predicted,
    check_order,
    order_by_predictors,
    read_predictors,
)

PRESENT = ["age", "sex", "my income", "job"]


def terms(formula):
    found = read_predictors({"job": formula}, ["job"], PRESENT)["job"]
    return found.columns, [[(one.text, one.kind) for one in term] for term in found.terms or ()]


@pytest.mark.parametrize(
    ("formula", "columns", "expected"),
    [
        ("~ age * sex", ("age", "sex"),
         [[("age", "column")], [("sex", "column")], [("age", "column"), ("sex", "column")]]),
        ("job ~ C(age):`my income`", ("age", "my income"), [[("C(age)", "levels"), ("my income", "column")]]),
        ("~ log(`my income` + 1) + sex - age", ("my income", "sex", "age"),
         [[("log(`my income` + 1)", "number")], [("sex", "column")]]),
        ("~ 1", (), []),
    ],
)  # fmt: skip
def test_formulas(formula, columns, expected):
    found = terms(formula)
    assert found[0] == columns
    assert sorted(found[1]) == sorted(expected)


def test_names():
    assert read_predictors({"job": ["sex"], "age": []}, ["job", "age"], PRESENT) == {
        "job": Predicted(("sex",)),
        "age": Predicted(()),
    }


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"jib": ["age"]}, ColumnError, "'jib' is not among the columns to synthesise; did you mean 'job'"),
        ({"job": ["agge"]}, ColumnError, "predictors of 'job': no column 'agge'; did you mean 'age'"),
        ({"job": "~ agge"}, ColumnError, "no column 'agge'"),
        ({"job": ["job"]}, ColumnError, "it cannot predict itself"),
        ({"job": "~ job:age"}, ColumnError, "it cannot predict itself"),
        ({"job": "age"}, DataError, "neither a list nor a formula"),
        ({"job": "sex ~ age"}, DataError, "left side is 'sex'"),
        ({"job": "~ age +"}, DataError, "cannot be read"),
        ({"job": "~ age - 1"}, DataError, "the constant cannot be left out"),
        ({"job": "~ bs(age)"}, DataError, "not computed record by record"),
        ({"job": "~ C(age, contr.sum)"}, DataError, r"write C\(age\)"),
    ],
)
def test_what_is_refused(given, error, says):
    with pytest.raises(error, match=says):
        read_predictors(given, ["job", "age"], PRESENT)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_an_order_has_every_predictor_first_or_names_a_circle(pairs):
    names = list("abcdef")
    asked = {
        names[at]: Predicted(tuple({names[other] for one, other in pairs if one == at})) for at, _ in pairs
    }
    try:
        order = order_by_predictors(names, asked)
    except DataError as error:
        circle = str(error).removeprefix("predictors: ").split(" predict")[0].split(" -> ")
        assert circle[0] == circle[-1]
        assert all(one in asked[other].columns for one, other in itertools.pairwise(circle))
        return
    assert sorted(order) == names
    check_order(order, asked)
    for name, one in asked.items():
        assert all(order.index(other) < order.index(name) for other in one.columns)


def test_without_needs_the_order_is_the_given_one():
    assert order_by_predictors(["c", "a", "b"], {}) == ("c", "a", "b")
    assert order_by_predictors(["c", "a", "b"], {"c": Predicted(("b",))}) == ("a", "b", "c")


def test_a_given_order_is_checked():
    with pytest.raises(DataError, match="predictors of 'a': 'b' is drawn after it"):
        check_order(["a", "b"], {"a": Predicted(("b",))})
