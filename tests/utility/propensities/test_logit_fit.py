"""The fit of the logistic model: exact, of any rank, and finite where the coefficients are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from designs import dense, plain_fit
from sdckit.utility.propensities import logit_fit, logit_fit as logit_curvature, logit_fit as logit_kernel
from sdckit.utility.propensities.classifiers import Atom, Stacked
from sdckit.utility.propensities.logit_fit import (
    ALIASED,
    Curvature,
    Design,
    column_sums,
    fit_logit,
    independent_columns,
    lost_without,
    lower_gram,
    rows_with,
    separated_rows,
    start_of,
    sweep,
    written_out,
)
from sdckit.utility.propensities.propensity import design_of


def stacked(codes, values=(), original=None, released=None):
    n = len((*codes, *values)[0])
    atoms = [
        Atom(f"c{j}", "level", tuple(f"={i}" for i in range(1, int(max(one)) + 1)), j) for j, one in enumerate(codes)
    ]
    atoms += [Atom(f"v{j}", "value", ("",), j) for j in range(len(values))]
    return Stacked(
        tuple(atoms), np.array(codes, np.int32).reshape(len(codes), n), np.array(values, float).reshape(len(values), n),
        np.ones(n) if original is None else np.array(original, float),
        np.ones(n) if released is None else np.array(released, float), (),
    )  # fmt: skip


def fitted(rows, interactions=1):
    design, terms = design_of(rows, interactions)
    start = start_of(design, rows.total)
    return design, terms, start, fit_logit(design, start, rows.released)


@pytest.mark.parametrize("interactions", [1, 2])
def test_against_iterated_least_squares(interactions):
    rng = np.random.default_rng(8)
    n = 400
    codes = [rng.integers(0, 4, n), rng.integers(0, 3, n)]
    values = [rng.normal(size=n)]
    member = (rng.random(n) < 1 / (1 + np.exp(-(values[0] * 1.5 + codes[0] - 2)))).astype(float)
    rows = stacked(codes, values, 1 - member, member)
    design, _, start, fit = fitted(rows, interactions)
    x = dense(design)
    assert fit.converged
    assert start.rank == np.linalg.matrix_rank(x)
    assert fit.score == pytest.approx(plain_fit(x, np.ones(n), member), abs=1e-11)
    assert np.abs(x.T @ (member - fit.score)).max() < 1e-9
    assert not fit.certain.any()


def test_columns_that_are_combinations_of_others():
    rng = np.random.default_rng(9)
    n = 200
    one, x = rng.integers(0, 3, n), rng.normal(size=n)
    member = (rng.random(n) < 0.3 + 0.2 * one).astype(float)
    alone = fitted(stacked([one], [x], 1 - member, member))
    twice = fitted(stacked([one, 2 - one], [x, 3 * x], 1 - member, member))
    assert twice[2].rank == alone[2].rank == 4
    assert twice[3].score == pytest.approx(alone[3].score, abs=1e-12)
    assert twice[2].kept.tolist() == [0, 1, 2, 5]


def test_told_apart_for_sure():
    rows = stacked([[0, 1, 2]], original=[5, 4, 0], released=[3, 0, 6])
    _, _, _, fit = fitted(rows)
    assert fit.converged
    assert fit.score == pytest.approx([3 / 8, 0, 1], abs=1e-11)
    assert fit.certain.tolist() == [False, True, True]


def test_told_apart_by_a_number():
    values = [np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])]
    member = np.array([0, 0, 0, 1.0, 1.0, 1.0])
    _, _, _, fit = fitted(stacked([], values, 1 - member, member))
    assert fit.score == pytest.approx(member, abs=1e-9)
    assert fit.certain.all()


def test_all_told_apart():
    _, _, _, fit = fitted(stacked([[0, 1, 2]], original=[5, 0, 2], released=[0, 3, 0]))
    assert fit.score.tolist() == [0.0, 1.0, 0.0]
    assert fit.converged
    assert fit.certain.all()


def test_what_is_left_may_tell_more_apart():
    """Without level 2 of the first variable, level 1 of the second is from one file only."""
    rows = stacked([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]], original=[4, 3, 2, 5, 0, 0], released=[2, 0, 5, 0, 3, 3])
    design, _, start, fit = fitted(rows)
    assert start.rank == 4
    assert fit.score == pytest.approx([1 / 3, 0, 5 / 7, 0, 1, 1], abs=1e-12)
    assert fit.coefficients[2:].tolist() == [np.inf, -np.inf]
    x = np.vstack([dense(design)] * 2)
    member = np.repeat([0.0, 1.0], 6)
    weight = np.concatenate([rows.original, rows.released])
    plain = plain_fit(x[weight > 0], weight[weight > 0], member[weight > 0], stop=1e-12)
    both = np.tile(fit.score, 2)[weight > 0]
    assert both == pytest.approx(plain, abs=1e-8)


def test_a_number_and_a_level_that_one_file_has():
    rng = np.random.default_rng(6)
    level, x = rng.integers(0, 3, 300), rng.normal(size=300)
    member = (rng.random(300) < 1 / (1 + np.exp(-x))).astype(float)
    member[level == 2] = 1.0
    rows = stacked([level], [x], 1 - member, member)
    design, _, _, fit = fitted(rows, 2)
    assert fit.converged
    assert fit.score[level == 2].tolist() == [1.0] * int((level == 2).sum())
    rest = level < 2
    plain = plain_fit(dense(design)[rest], np.ones(300)[rest], member[rest])
    assert fit.score[rest] == pytest.approx(plain, abs=1e-11)


def test_few_steps_are_said(monkeypatch):
    monkeypatch.setattr(logit_fit, "STEPS", 2)
    values = [np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])]
    member = np.array([0, 0, 0, 1.0, 1.0, 1.0])
    _, _, _, fit = fitted(stacked([], values, 1 - member, member))
    assert (fit.steps, fit.converged) == (2, False)
    assert fit.still > 1e-12


def test_what_is_lost_without_a_variable():
    rng = np.random.default_rng(4)
    n = 300
    one, other, x = rng.integers(0, 3, n), rng.integers(0, 2, n), rng.normal(size=n)
    member = (rng.random(n) < 1 / (1 + np.exp(-(x + (one == 1))))).astype(float)
    rows = stacked([one, other], [x], 1 - member, member)
    design, terms, start, fit = fitted(rows, 2)
    made_of = terms.variables(rows)
    found = lost_without(start, fit, made_of, rows.share)
    matrix = dense(design)

    def explained(columns):
        part = matrix[:, columns]
        rest = member - part @ np.linalg.lstsq(part, member, rcond=None)[0]
        return 1 - rest @ rest / (n * rows.share * (1 - rows.share))

    everything = explained(list(range(matrix.shape[1])))
    for name, value in found.items():
        without = explained([j for j, names in enumerate(made_of) if name not in names])
        assert value == pytest.approx(everything - without, abs=1e-10)
    assert list(found) == ["c0", "c1", "v0"]
    assert found["v0"] > found["c0"] > found["c1"]


def test_told_apart_by_a_number_within_a_level():
    """Few records of a level with a slope of their own: no column of categories tells them apart."""
    rng = np.random.default_rng(12)
    level, x, y = rng.integers(0, 3, 400), rng.normal(size=400), rng.normal(size=400)
    level[:4] = 3
    member = (rng.random(400) < 0.5).astype(float)
    member[:4] = [0, 1, 0, 1]
    rows = stacked([level], [x, y], 1 - member, member)
    _, _, _, fit = fitted(rows, 2)
    assert fit.converged
    assert fit.score[:4] == pytest.approx(member[:4], abs=1e-7)
    design = design_of(rows, 2)[0]
    inner = plain_fit(dense(design)[4:], np.ones(396), member[4:])
    assert fit.score[4:] == pytest.approx(inner, abs=0.05)  # the slopes of x and y are shared


# Independent columns and steps, against numpy's rank and inverse.


def rank(x):
    return np.linalg.matrix_rank(x) if x.size else 0  # NumPy before 2.4 refuses a matrix without columns


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=6))
def test_independent_columns_are_as_many_as_the_rank(rows):
    x = np.array(rows, float)
    kept, root = independent_columns(np.tril(x.T @ x), 1e-10)  # what is above is not read
    assert len(kept) == rank(x) == rank(x[:, kept])
    for j in range(x.shape[1]):  # each column is kept unless those before it give it
        before = rank(x[:, :j])
        assert (j in kept) == (rank(x[:, : j + 1]) > before)
    part = x[:, kept] / np.linalg.norm(x[:, kept], axis=0)
    assert root @ root.T == pytest.approx(part.T @ part)


def test_a_step_is_nothing_where_nothing_curves():
    curvature = Curvature.of(np.diag([2.0, 0.0, 4.0]), np.arange(3), 3)
    assert curvature.solve(np.array([1.0, 5.0, 1.0])).tolist() == pytest.approx([0.5, 0.0, 0.25])
    assert sorted(np.diag(curvature.inverse())) == pytest.approx([0.25, 0.5])
    assert Curvature.of(np.zeros((2, 2)), np.arange(2), 2).solve(np.ones(2)).tolist() == [0.0, 0.0]


def test_steps_and_the_inverse():
    x = np.random.default_rng(3).normal(size=(30, 4))
    kept = np.array([0, 2, 3, 4])
    curvature, gradient = Curvature.of(np.tril(x.T @ x), kept, 5), np.arange(5.0)
    assert curvature.solve(gradient)[kept] == pytest.approx(np.linalg.solve(x.T @ x, gradient[kept]))
    assert curvature.solve(gradient)[1] == 0.0
    order = np.searchsorted(kept, curvature.at)
    assert curvature.inverse() == pytest.approx(np.linalg.inv(x.T @ x)[np.ix_(order, order)])


def test_a_root_that_is_known_gives_the_same_steps_and_inverse():
    x = np.random.default_rng(4).normal(size=(300, 150))
    cross, gradient = x.T @ x, np.arange(150.0)
    kept, root = independent_columns(cross, 1e-10)
    known = Curvature(root.T, np.sqrt(np.diag(cross)), kept, 150)
    assert known.solve(gradient) == pytest.approx(np.linalg.solve(cross, gradient))
    assert known.inverse() == pytest.approx(np.linalg.inv(cross))


def test_nothing_has_no_inverse():
    assert Curvature.of(np.zeros((2, 2)), np.arange(2), 2).inverse().shape == (0, 0)


def test_columns_that_others_give_have_no_step_of_their_own():
    x = np.random.default_rng(3).normal(size=(30, 2))
    x = np.column_stack([x, x.sum(axis=1)])
    curvature, gradient = Curvature.of(x.T @ x, np.arange(3), 3), x.T @ np.ones(30)
    assert len(curvature.at) == 2
    assert x.T @ x @ curvature.solve(gradient) == pytest.approx(gradient)


@pytest.mark.parametrize("block", [1, 3, 64])
def test_blocks_are_cut_anywhere(block, monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(90, 30))
    follow = [4, 5, 11, 20, 29]
    for j in follow:
        x[:, j] = x[:, :j] @ rng.integers(-1, 2, j)
    monkeypatch.setattr(logit_curvature, "BLOCK", block)
    kept, root = independent_columns(x.T @ x, 1e-10)
    np.testing.assert_array_equal(kept, np.setdiff1d(np.arange(30), follow))
    part = x[:, kept] / np.linalg.norm(x[:, kept], axis=0)
    assert root @ root.T == pytest.approx(part.T @ part, abs=1e-12)
    assert not np.triu(root, 1).any()


# Rows that a combination of columns tells apart, against a linear programme on the whole design.


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


# The kernels of the logistic model, against the design written out.


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
        beta, weight, score = (rng.normal(size=design.n_columns), rng.random(design.n_rows), rng.random(design.n_rows))
        total, released = rng.integers(0, 3, (2, design.n_rows)).astype(float)
        likelihood, gradient, change = sweep(design, beta, total, released, score)
        rows = written_out(design, np.arange(9))
        return (likelihood, change, *(one.ravel().tolist() for one in (gradient, score, gram(design, weight), rows)))

    plain = found()
    monkeypatch.setattr(logit_kernel, "WRITTEN", -1)
    for one, other in zip(plain, found(), strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)


def test_a_file_beside_itself_is_not_fitted(monkeypatch):
    rng = np.random.default_rng(7)
    n = 400
    codes = [np.tile(rng.integers(0, width, n), 2) for width in (3, 5)]
    numbers, times = np.tile(rng.normal(size=n), 2), np.tile(rng.integers(1, 4, n).astype(float), 2)
    released = np.where(np.arange(2 * n) < n, 0.0, times)
    design, _ = design_of(stacked(codes, [numbers], times - released, released), 1)
    start = start_of(design, times)
    with monkeypatch.context() as patch:
        patch.setattr(logit_fit, "_is_twice", lambda *_: False)
        slow = fit_logit(design, start, released)
    steps = []
    monkeypatch.setattr(logit_fit, "_climb", lambda *_, **__: steps.append(1) or slow)
    fast = fit_logit(design, start, released)
    assert not steps
    assert fast.converged
    assert fast.score.tolist() == [0.5] * (2 * n)
    assert slow.score == pytest.approx(fast.score, abs=1e-14)
    assert slow.likelihood == pytest.approx(fast.likelihood, rel=1e-14)
    assert np.nan_to_num(slow.coefficients, nan=9.0) == pytest.approx(np.nan_to_num(fast.coefficients, nan=9.0))
    one_other = numbers.copy()
    one_other[-1] += 1.0
    changed, _ = design_of(stacked(codes, [one_other], times - released, released), 1)
    fit_logit(changed, start_of(changed, times), released)
    assert steps == [1]


@pytest.mark.parametrize("n", [900, 9000])
def test_without_kernels_to_the_last_bit_the_same(n, monkeypatch):
    rng = np.random.default_rng(5)
    codes = [rng.integers(0, width, n) for width in (4, 6, 9)]
    member = rng.integers(0, 3, n).astype(float)
    design, _ = design_of(stacked(codes, [rng.normal(size=n)], 1 + rng.integers(0, 2, n), member), 2)
    kept = np.flatnonzero(np.arange(design.n_columns) % 5)
    weight, beta = rng.random(n) * (rng.random(n) < 0.9), rng.normal(size=design.n_columns)
    total, former = member + rng.integers(0, 2, n), rng.random(n)
    outcomes = []
    for few in (False, True):
        monkeypatch.setattr(logit_fit, "is_few", lambda *_, few=few: few)
        score = former.copy()
        outcomes.append([lower_gram(design, weight, kept), *sweep(design, beta, total, member, score), score])
    assert design.written is None
    assert all(np.array_equal(kernels, terms) for kernels, terms in zip(*outcomes, strict=True))
