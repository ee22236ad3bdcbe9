"""What a document may say of coefficients that count records."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.utility.models.model_fits import fit_family
from sdckit.utility.models.tellable import tellable

N = 200
SEX = (np.arange(N) % 2).astype(float)
X = np.column_stack([np.ones(N), SEX])


def judged(family, outcome, weights=None):
    n_outcomes = len(np.unique(outcome)) if family == "multinomial" else 2
    value = fit_family(family, outcome, X, weights, n_outcomes=n_outcomes, label="it").value
    return tellable(family, outcome, X, weights, value)


def yes(of_f: int, of_m: int) -> np.ndarray:
    rank = np.arange(N) // 2
    return np.where(SEX == 0, rank < of_f, rank < of_m).astype(float)


def test_a_continuous_outcome_has_no_steps():
    y = np.random.default_rng(1).normal(size=N)
    assert judged("linear", y).steps.tolist() == [0, 0]


@pytest.mark.parametrize("family", ["linear", "logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_is_what_five_records_change(family, weighted):
    """Held against the fit itself, five records changed."""
    if weighted and family == "multinomial":
        return
    weights = np.where(np.arange(N) % 3 == 0, 2.0, 1.0) if weighted else None
    coefficients = [
        fit_family(family, yes(of_f, 50), X, weights, n_outcomes=2, label="it").value for of_f in (40, 45)
    ]
    moved = np.abs(coefficients[1] - coefficients[0])
    steps = judged(family, yes(40, 50), weights).steps
    assert (steps >= 0.8 * moved).all()
    assert (steps <= 6 * moved.max()).all()


def test_few_of_an_outcome_of_several():
    outcome = np.where(np.arange(N) < 4, 2.0, yes(40, 50))
    found = judged("multinomial", outcome)
    assert found.few.tolist() == [False, False, True, True]
    base = np.where(np.arange(N) < 4, 0.0, 1 + yes(40, 50))
    assert judged("multinomial", base).few.all()


def test_few_of_an_outcome_in_one_group():
    assert judged("logistic", yes(3, 50)).few.tolist() == [True, False]
    assert judged("linear", yes(3, 50)).few.tolist() == [True, False]
    assert judged("logistic", yes(50, 97)).few[1]
