"""Log-linear models of cells: closed forms, margins, what cannot be fitted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import as_cells
from sdckit.identity.population.forward_search import generators
from sdckit.identity.population.log_linear import (
    DIRECT,
    Grid,
    _renumber,
    dense_main_effects,
    expected_main_effects,
    fit_terms,
    grid_of,
    shares_of,
)


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
    np.testing.assert_allclose(
        dense[grid.place(grid.layout)[0]], expected_main_effects(grid, counts), rtol=1e-12
    )


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
    from sdckit.identity.population.log_linear import _fit_margin, _scale_margin, _sum_margin

    rng = np.random.default_rng(2)
    shape, mu = np.array([2, 3, 4]), rng.random(24)
    for strides in ([0, 0, 1], [4, 0, 1], [3, 1, 0], [12, 4, 1]):
        places = 1 + int((np.array(strides) * (shape - 1)).sum())
        total, again = np.empty(places), np.empty(places)
        _sum_margin(mu, shape, np.array(strides), total)
        _sum_margin.py_func(mu, shape, np.array(strides), again)
        np.testing.assert_allclose(total, again)
        kept = tuple(j for j in range(3) if strides[j] == 0)
        np.testing.assert_allclose(total, mu.reshape(2, 3, 4).sum(axis=kept).ravel())
        left, right = mu.copy(), mu.copy()
        _scale_margin(left, shape, np.array(strides), total)
        _scale_margin.py_func(right, shape, np.array(strides), total)
        np.testing.assert_allclose(left, right)
    target = np.array([1.0, 0.0])
    fitted = np.array([0.5, 0.0])
    assert _fit_margin.py_func(fitted, np.array([2]), np.array([1]), target, np.empty(2)) == 0.5
    assert fitted.tolist() == [1.0, 0.0]
