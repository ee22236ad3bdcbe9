"""Predictors as columns of a regression."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_design import (
    Predicted,
    Seen,
    check_order,
    design_matrix,
    general_predictors,
    in_order,
    make_terms,
    order_by_predictors,
    read_predictors,
    seen,
    targets_in_order,
    term_fields,
    term_of,
)
from sdckit.protect.synthesis.synthesis_variables import Values, read_variable

FRAME = pl.DataFrame({"x": [1.0, None, 3.0, 5.0], "job": ["a", "b", "b", None]})


def opened(frame=FRAME):
    return [read_variable(open_frame(frame)[name]) for name in frame.columns]


def test_terms_and_their_matrix():
    variables = opened()
    terms = make_terms(variables, np.arange(4))
    assert [(t.column, t.kind, t.level) for t in terms] == [
        ("x", "number", None), ("x", "missing", None), ("job", "level", "a"), ("job", "level", None),
    ]  # fmt: skip
    X = design_matrix(terms, {variable.name: seen(variable, variable.held) for variable in variables}, 4)
    assert np.allclose(X[:, 0], 1)
    assert np.allclose(X[:, 1], [(1 - 3) / np.sqrt(8 / 3), 0, 0, (5 - 3) / np.sqrt(8 / 3)])
    assert np.allclose(X[:, 2], (np.array([0, 1, 0, 0]) - 0.25) / np.sqrt(0.25 * 0.75))
    assert np.allclose(X[:, 3:].mean(axis=0), 0)
    assert np.allclose(X[:, 3:].std(axis=0), 1)
    assert (X[:, 3] > 0).tolist() == [True, False, False, False]
    assert (X[:, 4] > 0).tolist() == [False, False, False, True]


def test_only_the_records_fitted_to_count():
    terms = make_terms(opened(), np.array([0, 2]))
    assert [(t.kind, t.level) for t in terms] == [("number", None), ("level", "b")]
    assert (terms[0].centre, terms[0].scale) == (2, 1)


def test_other_labels_are_matched_by_text():
    terms = make_terms(opened()[1:], np.arange(4))
    other = {"job": Seen(Values(np.array([0, 1]), None), ("z", "a"))}
    assert (design_matrix(terms, other, 2)[:, 1] > 0).tolist() == [False, True]


def test_rare_levels_share_the_baseline():
    jobs = [f"j{i:02d}" for i in range(40) for _ in range(40 - i)]
    terms = make_terms(opened(pl.DataFrame({"job": jobs})), np.arange(len(jobs)))
    assert [t.level for t in terms] == [f"j{i:02d}" for i in range(1, 31)]


# --- formulas -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "formula",
    ["~ x", "~ x * sex", "~ x:sex", "~ sex:job", "~ sex * job * x", "~ C(kids) * sex", "~ log(x + 9) + I(x ** 2):job",
     "~ (x + sex + job) ** 2", "~ sex / x"],
)  # fmt: skip
def test_a_formula_spans_what_the_library_of_formulas_does(formula):
    """The columns differ in coding only: the same space, by the rank of both and of the two side by side."""
    from formulaic import Formula

    rng = np.random.default_rng(6)
    data = pl.DataFrame(
        {"x": rng.normal(0, 1, 300), "sex": rng.choice(["f", "m"], 300), "job": rng.choice(["a", "b", "c"], 300),
         "kids": rng.integers(0, 4, 300)}
    )  # fmt: skip
    variables = {name: read_variable(open_frame(data)[name]) for name in data.columns}
    predicted = read_predictors({"y": formula}, ["y"], [*data.columns, "y"])["y"]
    terms = make_terms([variables[column] for column in predicted.columns], np.arange(300), predicted)
    held = {name: seen(one, one.held, categorical=True) for name, one in variables.items()}
    ours = design_matrix(terms, held, 300)
    theirs = np.asarray(Formula(formula).get_model_matrix(data.to_pandas(), context={"log": np.log}))
    rank = np.linalg.matrix_rank(theirs)
    assert np.linalg.matrix_rank(ours) == rank
    assert np.linalg.matrix_rank(np.hstack([ours, theirs])) == rank
    again = [term_of(term_fields(term)) for term in terms]
    np.testing.assert_array_equal(design_matrix(again, held, 300), ours)


def test_terms_that_do_not_vary_are_left_out_and_too_many_refused():
    data = pl.DataFrame({"a": [str(at % 40) for at in range(400)], "b": [str(at // 10) for at in range(400)]})
    variables = [read_variable(open_frame(data)[name]) for name in data.columns]
    predicted = read_predictors({"y": "~ a:b"}, ["y"], ["a", "b", "y"])["y"]
    terms = make_terms(variables, np.arange(400), predicted)
    assert len(terms) == len({(term.factors[0].level, term.factors[1].level) for term in terms}) < 31 * 31
    large = read_predictors({"y": "~ a * b + C(a):C(b)"}, ["y"], ["a", "b", "y"])["y"]
    full = [replace(variable, n_missing=0) for variable in variables]
    with pytest.raises(DataError, match="more than 1,000 columns"):
        make_terms(full, np.arange(400), large)


def test_a_product_with_a_missing_number_counts_as_its_mean():
    data = pl.DataFrame({"x": [1.0, None, 3.0, 4.0], "sex": ["f", "m", "m", "f"]})
    variables = {name: read_variable(open_frame(data)[name]) for name in data.columns}
    predicted = read_predictors({"y": "~ x:sex"}, ["y"], ["x", "sex", "y"])["y"]
    terms = make_terms(list(variables.values()), np.arange(4), predicted)
    made = design_matrix(terms, {name: seen(one, one.held) for name, one in variables.items()}, 4)
    assert made[1, 1:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(made[[0, 2, 3], 1:].mean(axis=0), 0, atol=1e-12)


# What predicts each variable, and the order that follows from it.


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
    asked = {names[at]: Predicted(tuple({names[other] for one, other in pairs if one == at})) for at, _ in pairs}
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


# The order of drawing, what predicts each variable, and joint variables together.


ORDER_FRAME = pl.DataFrame(
    {name: np.random.default_rng(at).integers(0, 9, 40) for at, name in enumerate("abcxy")}
).with_columns(flat=pl.lit(1))
VARIABLES = {name: read_variable(open_frame(ORDER_FRAME)[name]) for name in ORDER_FRAME.columns}


def ordered(given=None, *, targets=("a", "b", "c"), joint=(), helpers=("x",), fixed=False):
    order, predicting, formulas = in_order(targets, given, VARIABLES, joint=joint, helpers=helpers, fixed=fixed)
    return order, predicting, set(formulas)


def test_without_predictors_all_before_predict():
    assert ordered() == (("a", "b", "c"), {"a": ("x",), "b": ("x", "a"), "c": ("x", "a", "b")}, set())


def test_named_predictors_alone_predict_and_come_first():
    order, predicting, formulas = ordered({"a": ["c"], "b": "~ y * a"})
    assert order == ("c", "a", "b")
    assert predicting == {"c": ("x",), "a": ("c",), "b": ("y", "a")}
    assert formulas == {"b"}


def test_joint_variables_stand_together_and_share_what_predicts():
    assert ordered(joint=("a", "c"))[:2] == (("a", "c", "b"), {"a": ("x",), "c": ("x", "a"), "b": ("x", "a", "c")})
    order, predicting, _ = ordered({"a": ["b", "y"], "c": ["b", "y"]}, joint=("a", "c"))
    assert order == ("b", "a", "c")
    assert predicting == {"b": ("x",), "a": ("b", "y"), "c": ("b", "y", "a")}
    assert ordered({"a": "~ b*y", "c": "~ b*y"}, joint=("a", "c"))[1]["c"] == ("b", "y", "a")


@pytest.mark.parametrize(
    ("given", "options", "error", "says"),
    [
        ({"a": ["b"], "b": ["a"]}, {}, DataError, "predict each other in a circle"),
        ({"a": ["b"]}, {"fixed": True}, DataError, "'b' is drawn after it"),
        ({"a": ["flat"]}, {}, DataError, "'flat' does not vary"),
        ({"d": ["a"]}, {}, ColumnError, "'d' is not among the columns to synthesise"),
        ({"a": ["x"]}, {"joint": ("a", "c")}, DataError, "name the same for each of them"),
        ({"a": ["x"], "c": ["y"]}, {"joint": ("a", "c")}, DataError, "name the same for each of them"),
        ({"a": ["c"], "c": ["c"]}, {"joint": ("a", "c")}, ColumnError, "predict itself"),
        (None, {"joint": ("a", "c"), "fixed": True}, DataError, "name them one after the other"),
    ],
)
def test_what_is_refused_of_synthesis_order(given, options, error, says):
    with pytest.raises(error, match=says):
        ordered(given, **options)


def test_targets_are_what_varies_or_what_is_named():
    assert targets_in_order(None, None, {"x"}, VARIABLES, 40) == (
        ("a", "b", "c", "y"),
        {"left": "flat hold one value or none, and stay"},
    )
    assert targets_in_order(("a", "b"), ["b", "a"], set(), VARIABLES, 40)[0] == ("b", "a")
    with pytest.raises(ColumnError, match="order= names exactly"):
        targets_in_order(("a", "b"), ["b"], set(), VARIABLES, 40)


def test_all_others_predict_but_those_of_no_use():
    assert general_predictors(None, ("a",), {"b"}, VARIABLES, 40) == (
        ("c", "x", "y"),
        {"predictors": "flat predict nothing: one value, or a list of names"},
    )
    assert general_predictors(["x"], ("a",), set(), VARIABLES, 40) == (("x",), {})
    with pytest.raises(DataError, match="'flat' does not vary"):
        general_predictors(["flat"], ("a",), set(), VARIABLES, 40)
