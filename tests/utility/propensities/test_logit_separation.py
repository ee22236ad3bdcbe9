"""Rows that a combination of columns tells apart, against a linear programme on the whole design."""

from __future__ import annotations

import numpy as np
import pytest

from designs import dense
from sdckit.utility.propensities import logit_fit
from sdckit.utility.propensities.logit_fit import ALIASED, fit_logit, start_of
from sdckit.utility.propensities.logit_separation import separated_rows
from sdckit.utility.propensities.propensity_design import design_of
from sdckit.utility.propensities.stacking import Atom, Stacked


def few_in_each(n=120, seed=2):
    """Records in twelve groups, each with a slope of its own: in some of them a number tells all apart."""
    rng = np.random.default_rng(seed)
    atoms = (Atom("g", "level", tuple(f"={i}" for i in range(1, 12)), 0), Atom("x", "value", ("",), 0))
    codes, values = rng.integers(0, 12, n).astype(np.int32)[None], rng.normal(size=(1, n))
    released = (rng.random(n) < 1 / (1 + np.exp(-2 * values[0]))).astype(float)
    rows = Stacked(atoms, codes, values, 1 - released, released, ())
    return rows, design_of(rows, 2)[0]


def told_apart(rows):
    """All records of the groups in which some number parts the files, as each group has a line of its own."""
    found = np.zeros(len(rows.total), bool)
    for group in range(12):
        at = rows.codes[0] == group
        x, member = rows.values[0][at], rows.released[at] == 1
        if member.all() or not member.any():
            found[at] = True
        else:
            found[at] = x[member].min() > x[~member].max() or x[member].max() < x[~member].min()
    return found


@pytest.mark.parametrize("seed", range(6))
def test_rows_told_apart_are_found_and_no_others(seed):
    rows, design = few_in_each(seed=seed)
    start = start_of(design, rows.total)
    expected = told_apart(rows)
    assert 0 < expected.sum() < len(expected)
    for patience in (3, 20):
        near = logit_fit._climb(design, start, rows.released, _pull(design, rows), patience=patience)
        found = separated_rows(design, start.total, rows.released, near.score, start.kept, ALIASED)
        assert not found[~expected].any()
    np.testing.assert_array_equal(found, expected)


def _pull(design, rows):
    return dense(design).T @ (rows.released - rows.total * rows.share)


@pytest.mark.parametrize("seed", range(6))
def test_the_scores_of_all_others_are_those_of_a_model_without_them(seed):
    rows, design = few_in_each(seed=seed)
    apart = told_apart(rows)
    fit = fit_logit(design, start_of(design, rows.total), rows.released)
    assert fit.converged
    assert fit.certain[apart].all()
    np.testing.assert_allclose(fit.score[apart], rows.released[apart], atol=1e-8)
    left = np.where(apart, 0.0, rows.total)
    alone = fit_logit(design, start_of(design, left), np.where(apart, 0.0, rows.released))
    np.testing.assert_allclose(fit.score[~apart], alone.score[~apart], atol=1e-9)


def test_rows_that_nothing_tells_apart():
    rows, design = few_in_each(n=3000)
    start = start_of(design, rows.total)
    fit = fit_logit(design, start, rows.released)
    assert not separated_rows(design, start.total, rows.released, fit.score, start.kept, ALIASED).any()
    sure = np.full(design.n_rows, 0.5)
    assert not separated_rows(design, start.total, rows.released, sure, start.kept, ALIASED).any()
