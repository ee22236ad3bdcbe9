"""Population uniques from the table of class sizes: the slide negative binomial model, corrected.

K classes of the population have 1 + Z members, Z negative binomial (alpha, beta); the file is a sample with
fraction pi. With d = (1 - beta)(1 - pi) and D = 1 - d a class is not seen, seen once, seen twice with

    p0 = (1 - pi) (beta/D)^alpha
    p1 = pi (beta/D)^alpha (1 + alpha d/D)
    p2 = alpha pi^2 (1 - beta) beta^alpha D^-(alpha + 2) (2 - (1 - alpha) d) / 2.

Everything is held in logarithms, and d in logits of d/(1 - pi), so that neither end loses digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sdckit.identity.population.size_models import SizeEstimate, SizeTable, estimate, settled, undefined
from sdckit.numerics.array_types import Floats

SCAN = np.linspace(-18.0, 18.0, 1500)  # logit of d/(1 - pi)
BISECTIONS = 100


class _Model:
    """The parts of the equations that depend on d alone, at one or many logits."""

    def __init__(self, logit: Floats, pi: float) -> None:
        self.pi = pi
        self.log_rest = -np.logaddexp(0, -logit)  # log(1 - beta)
        self.log_beta = -np.logaddexp(0, logit)
        self.d = np.exp(self.log_rest) * (1 - pi)
        self.log_D = np.log1p(-self.d)
        self.slope = self.log_beta - self.log_D  # log(beta/D), below 0
        self.odds = self.d / (1 - self.d)

    def log_once(self, alpha: Floats) -> Floats:
        """log(p1/pi)."""
        found: Floats = alpha * self.slope + np.log1p(alpha * self.odds)
        return found

    def log_twice(self, alpha: Floats) -> Floats:
        """log(p2)."""
        with np.errstate(divide="ignore"):
            found: Floats = (
                np.log(alpha / 2) + 2 * math.log(self.pi) + self.log_rest + alpha * self.slope
                - 2 * self.log_D + np.log(2 - (1 - alpha) * self.d)
            )  # fmt: skip
        return found

    def seen(self, alpha: Floats) -> Floats:
        """1 - p0."""
        found: Floats = 1 - (1 - self.pi) * np.exp(alpha * self.slope)
        return found

    def peak(self) -> Floats:
        """Alpha at which p1 is largest."""
        found: Floats = np.maximum(0.0, -1 / self.slope - 1 / self.odds)
        return found


def shlosser_classes(table: SizeTable, *, modified: bool = True) -> float:
    """Classes in the population by Shlosser's estimator, modified or plain.

    References
    ----------
    Haas, P. and Stokes, L. (1998). Estimating the number of classes in a finite population. Journal of
    the American Statistical Association 93, 1475-1487.
    """
    j, s, pi = table.size, table.classes, table.pi
    lost = np.exp(j * math.log1p(-pi))
    c = s @ lost
    e = s @ (j * pi * np.exp((j - 1) * math.log1p(-pi)))
    if not modified:
        return float(table.u + table.of(1) * c / e)
    lost_twice = np.exp(j * math.log1p(-pi * pi))
    a = s @ (j * pi * pi * np.exp((j - 1) * math.log1p(-pi * pi)))
    b = s @ (lost_twice - lost)
    return float(table.u + table.of(1) * a / b * (c / e) ** 2)


def snb(table: SizeTable) -> SizeEstimate:
    """Fit alpha and beta to the classes seen once and twice, the number of classes being Shlosser's.

    References
    ----------
    Chen, G. and Keller-McNulty, S. (1998). Estimation of identification disclosure risk in microdata.
    Journal of Official Statistics 14, 79-95. ARX 3 computes other figures: its number of classes has a
    term outside the sum's bracket, and its p2 is multiplied where it must be divided.
    """
    if (found := settled(table)) is not None:
        return found
    if table.of(2) == 0:
        return undefined("no_pairs")
    k = shlosser_classes(table)
    if k > table.population:
        return undefined("above_n", {"K": k})
    once, twice = math.log(table.of(1) / (k * table.pi)), math.log(table.of(2) / k)

    def branch(falling: bool) -> Callable[[Floats], tuple[Floats, Floats]]:
        def gap(logit: Floats) -> tuple[Floats, Floats]:
            model = _Model(logit, table.pi)
            alpha = _alpha_on_branch(model, once, falling=falling)
            return model.log_twice(alpha) - twice, alpha

        return gap

    roots = [root for falling in (True, False) for root in _roots(branch(falling))]
    return _from_roots(table, roots, lambda *_: k)


def snb3(table: SizeTable) -> SizeEstimate:
    """Fit alpha, beta and the number of classes to the classes seen, seen once and seen twice (our own variant)."""
    if (found := settled(table)) is not None:
        return found
    if table.of(2) == 0:
        return undefined("no_pairs")
    ratio = table.of(2) / table.of(1)
    once = math.log(table.of(1) / (table.u * table.pi))

    def gap(logit: Floats) -> tuple[Floats, Floats]:
        model = _Model(logit, table.pi)
        # p2/p1 = ratio is a quadratic in alpha with one positive root
        scale = 0.5 * table.pi * np.exp(model.log_rest - 2 * model.log_D)
        half = (scale * (2 - model.d) - ratio * model.odds) / 2
        square = scale * model.d
        root = np.sqrt(half * half + square * ratio)
        alpha = np.where(half > 0, ratio / (half + root), (root - half) / square)
        return model.log_once(alpha) - np.log(model.seen(alpha)) - once, alpha

    def classes(model: _Model, alpha: Floats) -> float:
        return float(table.u / model.seen(alpha)[0])

    return _from_roots(table, _roots(gap), classes)


def _alpha_on_branch(model: _Model, target: float, *, falling: bool) -> Floats:
    """Alpha with log(p1/pi) = target on one side of the peak, NaN where there is none; by bisection."""
    low = model.peak()
    top = model.log_once(low)
    if falling:
        high = np.maximum(low, 1.0)
        while (beyond := model.log_once(high) > target).any():
            high = np.where(beyond, 2 * high, high)
        exists = top >= target
    else:
        low, high = np.zeros_like(low), low
        exists = (high > 0) & (target > 0) & (top >= target)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = (model.log_once(middle) > target) == falling
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(exists, (low + high) / 2, np.nan)


def _roots(gap: Callable[[Floats], tuple[Floats, Floats]]) -> list[tuple[float, float]]:
    """Where a gap changes sign along the scan: (logit, alpha) of each root."""
    with np.errstate(all="ignore"):  # the ends of the scan may leave the range of numbers
        return _crossings(gap, gap(SCAN)[0])


def _crossings(gap: Callable[[Floats], tuple[Floats, Floats]], values: Floats) -> list[tuple[float, float]]:
    from scipy.optimize import brentq

    finite = np.isfinite(values[:-1]) & np.isfinite(values[1:])
    crossing = finite & (np.sign(values[:-1]) != np.sign(values[1:]))
    roots = []
    for i in np.flatnonzero(crossing).tolist():
        at = brentq(lambda t: float(gap(np.array([t]))[0][0]), SCAN[i], SCAN[i + 1], xtol=1e-13)
        roots.append((float(at), float(gap(np.array([at]))[1][0])))
    return roots


def _from_roots(
    table: SizeTable, roots: list[tuple[float, float]], classes: Callable[[_Model, Floats], float]
) -> SizeEstimate:
    solutions = []
    for logit, alpha in roots:
        model = _Model(np.array([logit]), table.pi)
        k = classes(model, np.array([alpha]))
        once = float(np.exp(alpha * model.log_D[0] - np.log1p(alpha * model.odds[0])))
        solutions.append((k, alpha, float(np.exp(model.log_beta[0])), float(model.log_beta[0]), once))
    if len(solutions) != 1:
        every = {f"{name}_{i}": one[at] for i, one in enumerate(solutions, 1)
                 for at, name in enumerate(("K", "alpha", "beta"))}  # fmt: skip
        return undefined("several" if solutions else "no_root", every)
    k, alpha, beta, log_beta, p_unique = solutions[0]
    parameters = {"K": k, "alpha": alpha, "beta": beta}
    if k > table.population:
        return undefined("above_n", parameters)
    return estimate(table, k * math.exp(alpha * log_beta), p_unique, parameters)
