"""Terms of a model: orders, formulas, names that are no key."""

from __future__ import annotations

import pytest

from sdckit.errors import ColumnError, DataError
from sdckit.identity.population.model_terms import maximal, model_terms, term_name, term_names

KEYS = ["age", "yrs married", "a:b", "educ+"]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("age", ()),
        ("~ age + yrs married:age", ((0, 1),)),
        ("age:yrs married + yrs married:age", ((0, 1),)),
        ("age:yrs married + yrs married", ((0, 1),)),
        (["a:b", "age:yrs married"], ((0, 1),)),
        ([["age", "a:b"], ("educ+", "yrs married")], ((0, 2), (1, 3))),
        (["age:yrs married", ["age", "yrs married", "a:b"]], ((0, 1, 2),)),
        ("", ()),
        (["age:age"], ()),
    ],
)
def test_formulas(formula, terms):
    assert model_terms(KEYS, 1, formula) == terms


@pytest.mark.parametrize("formula", ["age +", "age ++ educ", "+ age"])
def test_a_term_left_empty(formula):
    with pytest.raises(DataError, match="a term is empty"):
        model_terms(KEYS, 1, formula)


def test_orders():
    assert model_terms(KEYS, 1, None) == ()
    assert len(model_terms(KEYS, 2, None)) == 6
    assert model_terms(KEYS, 4, None) == ((0, 1, 2, 3),)


@pytest.mark.parametrize("formula", ["age:yrs_married", ["agee"], [["age", "sex"]], "age*educ"])
def test_a_name_that_is_no_key(formula):
    with pytest.raises(ColumnError, match=r"formula: '.*' is no key; .*join keys with ':'"):
        model_terms(KEYS, 1, formula)
    with pytest.raises(ColumnError, match="did you mean 'yrs married'"):
        model_terms(KEYS, 1, "age:yrs maried")


@pytest.mark.parametrize("order", [0, -1, 1.5, True, "2"])
def test_orders_that_are_none(order):
    with pytest.raises(DataError, match="highest order of a term"):
        model_terms(KEYS, order, None)


def test_orders_that_do_not_fit():
    with pytest.raises(DataError, match="interactions=5 needs as many keys; there are 4"):
        model_terms(KEYS, 5, None)
    with pytest.raises(DataError, match="not both"):
        model_terms(KEYS, 2, "age")


def test_names():
    assert term_name(KEYS, (0, 1)) == "age:yrs married"
    assert term_names(KEYS, ((0, 1),)) == (*KEYS, "age:yrs married")
    assert maximal([(0,), (1,), (0, 1)]) == ((0, 1),)
