"""The fit of the logistic model: exact, of any rank, and finite where the coefficients are not."""

from __future__ import annotations

import numpy as np
import pytest

from designs import dense, plain_fit
from sdckit.utility.propensities import logit_fit
from sdckit.utility.propensities.logit_fit import fit_logit, lost_without, start_of
from sdckit.utility.propensities.propensity_design import design_of
from sdckit.utility.propensities.stacking import Atom, Stacked


def stacked(codes, values=(), original=None, released=None):
    n = len((*codes, *values)[0])
    atoms = [
        Atom(f"c{j}", "level", tuple(f"={i}" for i in range(1, int(max(one)) + 1)), j)
        for j, one in enumerate(codes)
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
    rows = stacked(
        [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]], original=[4, 3, 2, 5, 0, 0], released=[2, 0, 5, 0, 3, 3]
    )
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
