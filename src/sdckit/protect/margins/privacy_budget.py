"""The budget of a differentially private release, and the only doors through which the data leave: OpenDP's noise.

All measurements are accounted in ρ (zero-concentrated differential privacy), which adds up, and converted to ε at δ
once. One unit is a person with up to `rows` records: counts move by `rows` at most in the Euclidean norm, so does
every score.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.errors import DataError
from sdckit.numerics.array_types import Ints

SPLIT = {"one-way": 0.1, "choosing": 0.2, "cliques": 0.7}
LEAST, MOST = 1e-3, 100  # of ε
SLACK = 1e-12  # of ρ, for what OpenDP's accounting rounds up in every measurement
CONVERTED = 256  # conversions between ρ and ε that are remembered: each takes OpenDP milliseconds, and says the same


@dataclass(frozen=True)
class Spent:
    """One measurement: its kind, the variables it is of, its scale (standard deviation or of the score), its ρ."""

    kind: str
    variables: tuple[str, ...]
    scale: float
    rho: float


def opendp() -> Any:
    """The modules of OpenDP that are used.

    Raises DataError: it is not installed.
    """
    try:
        from opendp import combinators, domains, measurements, measures, metrics
        from opendp.mod import enable_features
    except ImportError:
        raise DataError(
            'noise for protect="dp" is drawn by OpenDP, which is not installed: install sdckit[dp]', argument="protect"
        ) from None
    enable_features("contrib")
    return SimpleNamespace(c=combinators, d=domains, m=measurements, measures=measures, metrics=metrics)


def check_promise(epsilon: object, delta: object) -> tuple[float, float]:
    """ε and δ in their range; above 100 ε promises nothing, and beyond both ends OpenDP's conversion fails.

    Raises DataError: one is out of it.
    """
    return (
        arguments.within(epsilon, "epsilon", "bounds what one person changes", LEAST, MOST),
        arguments.within(delta, "delta", "is the chance that the bound does not hold", 0, 1, ends="()"),
    )


def _counts_space(dp: Any) -> Any:
    return dp.d.vector_domain(dp.d.atom_domain(T="i64"))


@lru_cache(maxsize=CONVERTED)
def epsilon_of(rho: float, delta: float) -> float:
    """ε at δ of a composition that spends ρ, by OpenDP's conversion; never below the true one.

    >>> round(epsilon_of(0.02436, 1e-6), 3)
    1.0
    """
    dp = opendp()
    unit = dp.m.make_gaussian(_counts_space(dp), dp.metrics.l2_distance(T="f64"), scale=1.0)
    return float(dp.c.make_zCDP_to_approxDP(unit).map(math.sqrt(2 * rho)).epsilon(delta=delta))


@lru_cache(maxsize=CONVERTED)
def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ, to a part in 10¹², that is no more than ε at δ.

    >>> round(rho_of(1, 1e-6), 5), round(rho_of(3, 1e-6), 5)
    (0.02436, 0.18507)
    """
    from scipy.optimize import brentq

    high = epsilon
    while epsilon_of(high, delta) < epsilon:
        high *= 2
    low = high
    while epsilon_of(low, delta) > epsilon:
        low /= 4
    rho = low if low == high else float(brentq(lambda x: epsilon_of(x, delta) - epsilon, low, high, xtol=1e-14 * high))
    rho *= 1 - SLACK
    while epsilon_of(rho * (1 + SLACK / 2), delta) > epsilon:
        rho *= 1 - SLACK
    return rho


def scale_of(rho: float, rows: int) -> float:
    """Scale of the noise that spends ρ, of counts as of choices: r²/(2 scale²) = ρ."""
    return rows / math.sqrt(2 * rho)


def cost_of(scale: float, rows: int) -> float:
    """The ρ that noise of a scale spends, where a person has up to so many rows; inverse of `scale_of`."""
    return rows**2 / (2 * scale**2)


def noisy_counts(
    counts: Ints, rho: float, rows: int, variables: tuple[str, ...], kind: str = "cliques"
) -> tuple[Ints, Spent]:
    """Counts with discrete Gaussian noise, and what they cost."""
    dp, scale = opendp(), scale_of(rho, rows)
    noisy = dp.m.make_gaussian(_counts_space(dp), dp.metrics.l2_distance(T="f64"), scale=scale)
    spent = _accounted(float(noisy.map(float(rows))), rho)
    table = np.array(noisy(counts.ravel().tolist()), np.int64).reshape(counts.shape)
    return table, Spent(kind, variables, scale, spent)


def noisy_choice(scores: Ints, rho: float, rows: int) -> tuple[int, Spent]:
    """The place of a score near the largest, and what it cost.

    The metric is not `monotonic`: a record more may raise one score and lower another.
    """
    dp, scale = opendp(), scale_of(rho, rows)
    noisy = dp.m.make_noisy_max(
        _counts_space(dp), dp.metrics.linf_distance(T="i64"), dp.measures.zero_concentrated_divergence(), scale=scale
    )
    spent = _accounted(float(noisy.map(rows)), rho)
    return int(noisy(scores.tolist())), Spent("choosing", (), scale, spent)


def _accounted(spent: float, rho: float) -> float:
    """What OpenDP accounts for a measurement, before it is made; refused where that is not what was planned."""
    if not spent <= rho * (1 + SLACK / 4):
        raise DataError("this version of OpenDP accounts noise differently from what was planned; install sdckit[dp]")
    return spent
