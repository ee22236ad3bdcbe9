"""Predictors as columns of a regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.synthesis.synthesis_design import (
    Seen,
    design_matrix,
    make_terms,
    seen,
    term_fields,
    term_of,
)
from sdckit.protect.synthesis.synthesis_formulas import read_predictors
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
    X = design_matrix(terms, {one.name: seen(one, one.held) for one in variables}, 4)
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
    terms = make_terms([variables[one] for one in predicted.columns], np.arange(300), predicted)
    held = {name: seen(one, one.held, told=True) for name, one in variables.items()}
    ours = design_matrix(terms, held, 300)
    theirs = np.asarray(Formula(formula).get_model_matrix(data.to_pandas(), context={"log": np.log}))
    rank = np.linalg.matrix_rank(theirs)
    assert np.linalg.matrix_rank(ours) == rank
    assert np.linalg.matrix_rank(np.hstack([ours, theirs])) == rank
    again = [term_of(term_fields(one)) for one in terms]
    np.testing.assert_array_equal(design_matrix(again, held, 300), ours)


def test_terms_that_do_not_vary_are_left_out_and_too_many_refused():
    data = pl.DataFrame({"a": [str(at % 40) for at in range(400)], "b": [str(at // 10) for at in range(400)]})
    variables = [read_variable(open_frame(data)[name]) for name in data.columns]
    predicted = read_predictors({"y": "~ a:b"}, ["y"], ["a", "b", "y"])["y"]
    terms = make_terms(variables, np.arange(400), predicted)
    assert len(terms) == len({(one.factors[0].level, one.factors[1].level) for one in terms}) < 31 * 31
    large = read_predictors({"y": "~ a * b + C(a):C(b)"}, ["y"], ["a", "b", "y"])["y"]
    full = [replace(one, n_missing=0) for one in variables]
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
