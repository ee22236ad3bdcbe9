"""Log-linear models of cells: closed forms, margins, what cannot be fitted."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import as_cells
from sdckit.errors import ColumnError, DataError
from sdckit.identity.population.log_linear import (
    DIRECT,
    FitStatistics,
    Grid,
    _add_functions,
    _coefficients,
    _correct,
    _renumber,
    dense_main_effects,
    expected_main_effects,
    fit_statistics,
    fit_terms,
    grid_functions,
    grid_of,
    maximal,
    model_terms,
    shares_of,
    sum_grid,
    term_name,
    term_names,
)
from sdckit.identity.population.population_risk import generators


def gridded(file):
    with quiet():
        cells = as_cells(file.frame(), keys=file.keys, missing="category")
    return grid_of(cells), cells.table.size.astype(float), cells


def table_of(grid, values):
    """A table of every possible cell in the order of the keys."""
    shape = [grid.shape[j] for j in grid.layout]
    return values.reshape(shape).transpose(np.argsort(grid.layout))


@given(files())
def test_main_effects_by_hand(file):
    grid, counts, cells = gridded(file)
    n = len(file.rows)
    mu = expected_main_effects(grid, counts)[cells.table.of_row]
    for row, found in zip(file.rows, mu, strict=True):
        shares = [sum(other[j] == value for other in file.rows) / n for j, value in enumerate(row)]
        assert found == pytest.approx(n * np.prod(shares), rel=1e-12)
    dense = dense_main_effects(grid, counts)
    assert len(dense) == grid.n_possible
    assert dense.sum() == pytest.approx(n, rel=1e-12)
    np.testing.assert_allclose(dense[grid.place(grid.layout)[0]], expected_main_effects(grid, counts), rtol=1e-12)


@given(files(min_keys=2), st.data())
def test_a_fit_has_the_margins_asked_for(file, data):
    grid, counts, _ = gridded(file)
    keys = range(len(grid.shape))
    term = tuple(sorted(data.draw(st.sets(st.sampled_from(list(keys)), min_size=2))))
    mu, gap = fit_terms(grid, generators(grid, (term,)), counts)
    assert gap <= 1e-8  # one interaction is decomposable: proportional fitting ends at once
    fitted, margin = table_of(grid, mu), np.zeros(grid.shape)
    np.add.at(margin, grid.codes, counts)
    for kept in generators(grid, (term,)):
        others = tuple(j for j in keys if j not in kept)
        np.testing.assert_allclose(fitted.sum(axis=others), margin.sum(axis=others), atol=1e-7 * counts.sum())


def test_two_pairs_that_share_a_key_have_a_closed_form():
    rng = np.random.default_rng(3)
    codes = tuple(rng.integers(0, levels, 400) for levels in (4, 2, 3))
    grid = Grid(codes, (4, 2, 3))
    counts = np.ones(400)
    found = table_of(grid, fit_terms(grid, ((0, 1), (1, 2)), counts)[0])
    table = np.zeros(grid.shape)
    np.add.at(table, codes, 1)
    closed = table.sum(2)[:, :, None] * table.sum(0)[None] / table.sum((0, 2))[None, :, None]
    np.testing.assert_allclose(found, closed, rtol=1e-12)


def test_the_whole_interaction_returns_the_table_and_a_start_is_left_alone():
    grid = Grid((np.array([0, 0, 1]), np.array([0, 1, 1])), (2, 2))
    counts = np.array([5.0, 1.0, 2.0])
    start = dense_main_effects(grid, counts)
    before = start.copy()
    mu, gap = fit_terms(grid, ((0, 1),), counts, start=start)
    assert sorted(mu.tolist()) == pytest.approx([0, 1, 2, 5])
    assert gap <= 1e-8
    assert (start == before).all()


def test_too_few_rounds_leave_a_gap():
    rng = np.random.default_rng(1)
    codes = tuple(rng.integers(0, 3, 60) for _ in range(3))
    grid = Grid(codes, (3, 3, 3))
    _, gap = fit_terms(grid, ((0, 1), (0, 2), (1, 2)), np.ones(60), max_cycles=1)
    assert gap > 1e-8


def test_one_key():
    grid = Grid((np.array([0, 1]),), (2,))
    counts = np.array([3.0, 1.0])
    assert fit_terms(grid, ((0,),), counts)[0].tolist() == pytest.approx([3, 1])
    assert shares_of(grid, counts)[0].tolist() == [0.75, 0.25]


@pytest.mark.parametrize("far", [7, DIRECT + 7])
def test_levels_are_numbered_without_gaps(far):
    dense, levels = _renumber(np.array([0, far, 3, far]))
    assert (dense.tolist(), levels) == ([0, 2, 1, 2], 3)


def test_compiled_and_plain_kernels_agree():
    from sdckit.identity.population.log_linear import _fit_margin, _walk_margin

    rng = np.random.default_rng(2)
    shape, mu = np.array([2, 3, 4]), rng.random(24)
    for strides in ([0, 0, 1], [4, 0, 1], [3, 1, 0], [12, 4, 1]):
        places = 1 + int((np.array(strides) * (shape - 1)).sum())
        total, again = np.zeros(places), np.zeros(places)
        _walk_margin(mu, shape, np.array(strides), total, False)
        _walk_margin.py_func(mu, shape, np.array(strides), again, False)
        np.testing.assert_allclose(total, again)
        kept = tuple(j for j in range(3) if strides[j] == 0)
        np.testing.assert_allclose(total, mu.reshape(2, 3, 4).sum(axis=kept).ravel())
        left, right = mu.copy(), mu.copy()
        _walk_margin(left, shape, np.array(strides), total, True)
        _walk_margin.py_func(right, shape, np.array(strides), total, True)
        np.testing.assert_allclose(left, right)
    target = np.array([1.0, 0.0])
    fitted = np.array([0.5, 0.0])
    assert _fit_margin.py_func(fitted, np.array([2]), np.array([1]), target, np.empty(2)) == 0.5
    assert fitted.tolist() == [1.0, 0.0]


# Terms of a model: orders, formulas, names that are no key.


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


# B1 and B2 against their definition, with derivatives of the risk functions in high precision.


def by_definition(mu, pi):
    """a = -l e^-m h'(l) and b = l e^-m h''(l) / (2 pi) for both risk functions of l = mu/pi."""
    with mpmath.workdps(60):
        mu, pi = mpmath.mpf(mu), mpmath.mpf(pi)
        lam = mu / pi
        functions = (lambda v: mpmath.exp(-(1 - pi) * v), lambda v: -mpmath.expm1(-(1 - pi) * v) / ((1 - pi) * v))
        found = []
        for h in functions:
            found.append(float(-lam * mpmath.exp(-mu) * mpmath.diff(h, lam)))
            found.append(float(lam * mpmath.exp(-mu) * mpmath.diff(h, lam, 2) / (2 * pi)))
    return found


@pytest.mark.parametrize("pi", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("x", [1e-9, 9e-5, 1.1e-4, 9e-3, 1.1e-2, 0.4, 3.0, 40.0])
def test_coefficients(x, pi):
    mu = x * pi / (1 - pi)
    for kernel in (_coefficients, _coefficients.py_func):
        assert kernel(mu, pi) == pytest.approx(by_definition(mu, pi), rel=2e-9)


def test_nothing_expected_contributes_nothing():
    assert _coefficients.py_func(0.0, 0.1) == (0.0, 0.0, 0.0, 0.0)
    assert not grid_functions(np.zeros(3), 0.1).any()
    one_cell = sum_grid(np.array([5.0]), 0.1)
    assert math.isnan(fit_statistics(one_cell, np.array([5.0]), np.array([5.0]), 0.1).robust_z1)


counts = st.lists(st.tuples(st.floats(1e-6, 5), st.integers(0, 20)), min_size=2, max_size=30)


@given(counts, st.sampled_from([0.1, 0.4]))
def test_sums_over_cells_one_by_one(cells, pi):
    mu, f = (np.array(column, float) for column in zip(*cells, strict=True))
    parts, variance, scale = [], np.zeros(2), np.zeros(2)
    for m, n in cells:
        a1, b1, a2, b2 = _coefficients.py_func(m, pi)
        parts.append([a * (n - m) + b * ((n - m) ** 2 - n) for a, b in ((a1, b1), (a2, b2))])
        scale += [a * (n + m) + b * ((n - m) ** 2 + n + m * m) for a, b in ((a1, b1), (a2, b2))]
        variance += [a * a * m + 2 * b * b * m * m for a, b in ((a1, b1), (a2, b2))]
    parts = np.array(parts)
    seen = f > 0
    found = fit_statistics(sum_grid(mu, pi), mu[seen], f[seen], pi)
    b, spread = parts.sum(0), parts.std(0, ddof=1) * math.sqrt(len(cells))
    assert (found.b1, found.b2) == pytest.approx(b, abs=1e-9 * scale.max())
    assert (found.z1, found.z2) == pytest.approx(b / np.sqrt(variance), abs=1e-7 * (scale / np.sqrt(variance)).max())
    if (spread > 1e-6 * scale).all():
        expected = b / spread
        assert (found.robust_z1, found.robust_z2) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_compiled_and_plain_kernels_agree_of_fit_statistics():
    mu, f = np.array([0.0, 1e-6, 0.3, 4.0]), np.array([0.0, 1.0, 2.0, 3.0])
    plain = np.zeros((6, 4))
    _add_functions.py_func(mu, 0.2, plain)
    np.testing.assert_allclose(grid_functions(mu, 0.2), plain, rtol=1e-12)
    np.testing.assert_allclose(grid_functions(mu, 0.2, columns=1)[:, 0], plain.sum(1), rtol=1e-12)
    np.testing.assert_allclose(sum_grid(mu, 0.2).values, plain.sum(1), rtol=1e-12)
    np.testing.assert_allclose(_correct.py_func(mu, f, 0.2), _correct(mu, f, 0.2), rtol=1e-12)


def test_a_census_leaves_nothing_to_estimate():
    found = fit_statistics(sum_grid(np.ones(3), 1.0), np.ones(3), np.ones(3), 1.0)
    assert all(math.isnan(value) for value in vars(found).values())
    assert isinstance(found, FitStatistics)


def test_z_is_standard_normal_when_the_model_is_right():
    """Poisson counts around known expectations: mean 0, standard deviation 1 (400 draws: 0.05 and 0.035 of error)."""
    rng = np.random.default_rng(11)
    mu, pi = rng.gamma(0.4, 0.6, 4000), 0.1
    sums, z = sum_grid(mu, pi), []
    for _ in range(400):
        f = rng.poisson(mu).astype(float)
        found = fit_statistics(sums, mu[f > 0], f[f > 0], pi)
        z.append([found.z1, found.z2, found.robust_z1, found.robust_z2])
    assert np.abs(np.mean(z, 0)).max() < 0.3
    assert np.abs(np.std(z, 0) - 1).max() < 0.15
