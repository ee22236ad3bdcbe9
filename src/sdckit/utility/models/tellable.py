"""What of a fitted model may be told: which coefficients not at all, and which only in steps of five records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Bools, Floats
from sdckit.utility.models.carried_by_few import FEWEST, coefficients_of_few, largest_shares
from sdckit.utility.models.model_fits import Family
from sdckit.utility.models.steps import rounded_up


@dataclass(frozen=True)
class Tellable:
    """Of each coefficient: whether it, or its standard error, rests on few records; the step it is told in.

    A step of 0 is none: the outcome is no count.
    """

    few: Bools
    few_spread: Bools
    steps: Floats


def tellable(
    family: Family, outcome: Floats, matrix: Floats, weights: Floats | None, value: Floats
) -> Tellable:
    """Judge the coefficients of one file, whose fit gave the `value` of each.

    An outcome of two values, of categories or of events is counted by the coefficients: these are told in steps of
    what five records change, or log-odds to two digits would be exact counts.

    >>> x = np.column_stack([np.ones(100), np.arange(100) % 2])
    >>> found = tellable("logistic", (np.arange(100) % 10 > 5) * 1.0, x, None, np.array([-0.4, 0.0]))
    >>> found.few.tolist(), found.steps.round(2).tolist()
    ([False, False], [0.5, 0.5])
    """
    values = np.unique(outcome)
    if family == "multinomial":
        each = [_of_outcome(matrix, outcome, k) for k in range(1, len(values))]
        return Tellable(*(np.concatenate(part) for part in zip(*each, strict=True)))
    two = len(values) == 2
    few, spread = coefficients_of_few(
        matrix, outcome, weights, counted=[outcome == one for one in values] if two else []
    )
    if family == "linear":
        shares = largest_shares(matrix, weights) if two else np.zeros(len(few))
        return Tellable(few, spread, _steps(shares, float(values[-1] - values[0])))
    with np.errstate(over="ignore"):
        mean = np.exp(matrix @ np.nan_to_num(value))
        of_each = mean if family == "poisson" else mean / (1 + mean) ** 2
    return Tellable(few, spread, _steps(largest_shares(matrix, weights, np.nan_to_num(of_each))))


def _of_outcome(matrix: Floats, outcome: Floats, k: int) -> tuple[Bools, Bools, Floats]:
    one = outcome == k
    few, spread = coefficients_of_few(matrix, one.astype(np.float64), counted=(one, outcome == 0))
    share = float(one.mean()) / float((one | (outcome == 0)).mean())
    return few, spread, _steps(largest_shares(matrix), 1 / (share * (1 - share)) if 0 < share < 1 else 0.0)


def _steps(shares: Floats, unit: float = 1.0) -> Floats:
    """What five records change at most, as a round number."""
    return np.array([rounded_up(FEWEST * unit * one) for one in shares.tolist()])
