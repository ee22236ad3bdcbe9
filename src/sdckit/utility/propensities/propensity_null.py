"""What the mean squared error of a propensity model would be if the release were synthesised correctly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Floats
from sdckit.numerics.threads import run
from sdckit.utility.propensities.score_figures import mean_squared_error
from sdckit.utility.propensities.stacking import Stacked

NULLS = ("fitted", "proper", "permutation")
NOTHING = 1e-8  # a pMSE below this: the model found next to nothing
ZERO = 1e-14  # a pMSE below this is 0 but for rounding


@dataclass(frozen=True)
class Null:
    """Mean and standard deviation of the pMSE under correct synthesis.

    `reason`: why they are undefined; "" where they are not.
    """

    expected: float
    sd: float
    reason: str = ""


def analytic_null(rank: int, n: int, n_released: int, *, proper: bool) -> Null:
    """The distribution for a logistic model (Snoke et al. 2018).

    `rank`: parameters of the model, the intercept included. `n` and `n_released`: records. `proper`: whether the
    parameters of the synthesis were drawn from their posterior first.

    >>> analytic_null(11, 100, 100, proper=False).expected, analytic_null(11, 100, 100, proper=True).expected
    (0.00625, 0.0125)
    """
    if rank <= 1:
        return Null(math.nan, math.nan, "no variable varies: there is nothing to tell the files apart by")
    c = n_released / (n + n_released)
    unit = (1 - c) ** (1 if proper else 2) * c / (n + n_released)
    return Null((rank - 1) * unit, math.sqrt(2 * (rank - 1)) * unit)


def permuted(stacked: Stacked, rng: np.random.Generator) -> Floats:
    """Released records of each row after the records' memberships were dealt anew.

    `stacked` is in an order that depends on values only.

    >>> two = np.array([2.0, 2.0])
    >>> stacked = Stacked((), np.empty((0, 2), np.int32), np.empty((0, 2)), two, two, ())
    >>> float(permuted(stacked, np.random.default_rng(1)).sum())
    4.0
    """
    n = len(stacked.total)
    row = np.repeat(np.arange(n), stacked.total.astype(np.int64))
    drawn = rng.choice(len(row), int(stacked.released.sum()), replace=False, shuffle=False)
    return np.bincount(row[drawn], minlength=n).astype(np.float64)


def resampled_null(
    stacked: Stacked,
    scores: Callable[[Floats], Floats],
    resamples: int,
    rng: np.random.Generator,
    *,
    together: int = 1,
) -> tuple[Null, int]:
    """The same by permutation, and how many permutations the model found nothing in.

    `stacked` is in an order that depends on values only; `scores` takes released records of each row to their
    scores, of `together` permutations at a time, on a thread each.
    """
    total = stacked.total

    def measured(released: Floats) -> float:
        return mean_squared_error(scores(released), total - released, released)

    found: list[float] = []
    while len(found) < resamples:
        found += run(measured, [permuted(stacked, rng) for _ in range(min(together, resamples - len(found)))])
    nothing = sum(one < NOTHING for one in found)
    if max(found) < ZERO:
        return Null(math.nan, math.nan, "the model finds nothing in any permutation"), nothing
    factor = 1 - stacked.share  # a permutation also varies the original: its pMSE is too large by 1 / (1 - c)
    return Null(factor * float(np.mean(found)), factor * float(np.std(found, ddof=1))), nothing


def null_figures(pmse: float, null: Null) -> dict[str, float]:
    """Expected pMSE, and the observed one as a ratio and in standard deviations.

    >>> null_figures(0.75, Null(0.25, 0.125))
    {'expected_pmse': 0.25, 'ratio': 3.0, 'standardised': 4.0}
    """
    known = null.expected > 0
    return {
        "expected_pmse": null.expected,
        "ratio": pmse / null.expected if known else math.nan,
        "standardised": (pmse - null.expected) / null.sd if null.sd > 0 else math.nan,
    }
