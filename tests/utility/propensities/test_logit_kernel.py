"""The kernels of the logistic model, against the design written out."""

from __future__ import annotations

import numpy as np
import pytest

from designs import dense
from sdckit.utility.propensities import logit_kernel
from sdckit.utility.propensities.logit_kernel import (
    Design,
    column_sums,
    lower_gram,
    rows_with,
    sweep,
    written_out,
)
from sdckit.utility.propensities.propensity_design import design_of
from sdckit.utility.propensities.stacking import Atom, Stacked


def made(n=57, interactions=2, seed=3):
    rng = np.random.default_rng(seed)
    atoms = (
        Atom("a", "level", ("=1", "=2"), 0),
        Atom("x", "value", ("",), 0),
        Atom("x", "gap", (" (missing)",), 1),
        Atom("b", "level", ("=1",), 2),
        Atom("y", "value", ("",), 1),
    )
    codes = np.array([rng.integers(0, 3, n), rng.integers(0, 2, n), rng.integers(0, 2, n)], np.int32)
    values = rng.normal(size=(2, n))
    values[0, codes[1] == 1] = 0.0
    return design_of(Stacked(atoms, codes, values, np.ones(n), np.ones(n), ()), interactions)[0], rng


def gram(design, weight):
    """Of all columns, both triangles."""
    lower = lower_gram(design, weight, np.arange(design.n_columns))
    assert not np.triu(lower, 1).any()
    return lower + np.tril(lower, -1).T


@pytest.mark.parametrize("interactions", [1, 2, 3])
def test_sums_of_products(interactions):
    design, rng = made(interactions=interactions)
    x, weight = dense(design), rng.random(design.n_rows)
    weight[5] = 0.0
    found = gram(design, weight)
    assert found == pytest.approx((x * weight[:, None]).T @ x, abs=1e-12)


def test_sums_of_products_of_some_columns():
    design, rng = made()
    weight, kept = rng.random(design.n_rows), np.array([0, 2, 3, 7, 11])
    whole = gram(design, weight)
    found = lower_gram(design, weight, kept)
    assert found == pytest.approx(np.tril(whole[np.ix_(kept, kept)]), abs=1e-12)
    assert not np.triu(found, 1).any()


def test_rows_written_out():
    design, rng = made(interactions=3)
    rows = rng.permutation(design.n_rows)[:9]
    np.testing.assert_array_equal(written_out(design, rows), dense(design)[rows])


@pytest.mark.parametrize("interactions", [1, 3])
def test_scores_and_gradient(interactions):
    design, rng = made(interactions=interactions)
    x, beta = dense(design), rng.normal(size=design.n_columns)
    total, released = np.full(design.n_rows, 3.0), rng.integers(0, 4, design.n_rows).astype(float)
    score = np.full(design.n_rows, 0.5)
    likelihood, gradient, change = sweep(design, beta, total, released, score)
    p = 1 / (1 + np.exp(-x @ beta))
    assert score == pytest.approx(p, abs=1e-14)
    assert gradient == pytest.approx(x.T @ (released - total * p), abs=1e-11)
    assert change == pytest.approx(np.abs(p - 0.5).max())
    assert likelihood == pytest.approx(np.sum(released * np.log(p) + (total - released) * np.log(1 - p)))


def test_endless_scores_do_not_overflow():
    design = Design(
        np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([0]), np.array([1]),
        np.array([[-1], [0]]), np.array([0, 1]), 2,
    )  # fmt: skip
    score = np.full(2, 0.5)
    likelihood, _, _ = sweep(design, np.array([-2000.0, 4000.0]), np.ones(2), np.array([0.0, 1.0]), score)
    assert score.tolist() == [0.0, 1.0]
    assert likelihood == 0.0


def test_the_rows_may_be_cut_anywhere(monkeypatch):
    design, rng = made(n=500)
    weight = rng.random(500)
    whole = gram(design, weight)
    monkeypatch.setattr(logit_kernel, "ROWS", 100)
    monkeypatch.setattr(logit_kernel, "n_threads", lambda: 3)
    assert gram(design, weight) == pytest.approx(whole, rel=1e-12, abs=1e-12)


def test_compiled_and_plain_agree():
    design, rng = made(n=12)
    weight, out = rng.random(12), np.zeros((design.n_columns, design.n_columns))
    place = np.arange(design.n_columns)
    logit_kernel._add_gram.py_func(design.arrays, weight, 0, 12, place, out)
    assert out + np.tril(out, -1).T == pytest.approx(gram(design, weight), abs=1e-13)
    beta, scores = rng.normal(size=design.n_columns), [np.zeros(12), np.zeros(12)]
    gradients = [np.zeros(design.n_columns), np.zeros(design.n_columns)]
    for kernel, score, gradient in zip(
        (logit_kernel._add_scores, logit_kernel._add_scores.py_func), scores, gradients, strict=True
    ):
        kernel(design.arrays, beta, np.ones(12), weight, 0, 12, score, gradient)
    assert scores[0] == pytest.approx(scores[1], abs=1e-15)
    assert gradients[0] == pytest.approx(gradients[1], abs=1e-14)


def test_sums_and_rows_of_columns():
    design, rng = made(interactions=3)
    x, weight = dense(design), rng.random(design.n_rows)
    assert column_sums(design, weight) == pytest.approx(x.T @ weight, abs=1e-12)
    plain = design.indicators
    # a value takes part in every column that is something else than 0 and 1
    assert plain.tolist() == [set(column.tolist()) <= {0.0, 1.0} and column.any() for column in x.T]
    some = plain & (rng.random(design.n_columns) < 0.1)
    assert np.array_equal(rows_with(design, some), x[:, some].any(axis=1))


@pytest.mark.parametrize("interactions", [1, 3])
def test_kernels_find_what_a_design_written_out_does(monkeypatch, interactions):
    def found():
        design, rng = made(interactions=interactions)
        beta, weight, score = (
            rng.normal(size=design.n_columns),
            rng.random(design.n_rows),
            rng.random(design.n_rows),
        )
        total, released = rng.integers(0, 3, (2, design.n_rows)).astype(float)
        likelihood, gradient, change = sweep(design, beta, total, released, score)
        rows = written_out(design, np.arange(9))
        return (
            likelihood,
            change,
            *(one.ravel().tolist() for one in (gradient, score, gram(design, weight), rows)),
        )

    plain = found()
    monkeypatch.setattr(logit_kernel, "WRITTEN", -1)
    for one, other in zip(plain, found(), strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
