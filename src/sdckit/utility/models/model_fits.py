"""Regressions of one file by statsmodels: coefficients and covariance, and models without a finite estimate."""

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sdckit.errors import DataError, SdcError
from sdckit.numerics.array_types import Bools, Floats
from sdckit.utility.comparison import FileEstimates, rounded_up
from sdckit.utility.models import model_design
from sdckit.utility.models.model_design import Mass

Family = Literal["linear", "logistic", "poisson", "multinomial"]
FAMILIES: tuple[Family, ...] = get_args(Family)
ITERATIONS = 100
RELATIVE = 1e-12  # relative change of the deviance at which a fit has converged
MOVES = 0.1  # change of a linear predictor by a further Newton step from which no estimate is finite
SINGULAR = 1e-14


def fit_family(
    family: Family, outcome: Floats, matrix: Floats, weights: Floats | Mass | None, *, n_outcomes: int, label: str
) -> FileEstimates:
    """Fit a model to one file.

    `outcome` (n,): 0 and 1 for "logistic"; 0 to J - 1 for "multinomial". `matrix` (n, p): a column that follows
    from those before it gets no coefficient (NaN). `weights` (n,): of a survey; the covariance is the sandwich
    then, scaled by n/(n-1); of rows that stand for several records their `Mass`, but not for "multinomial".
    `n_outcomes`: J; 1 for other families than "multinomial". Raises DataError: the outcomes are separated perfectly, or
    the model cannot be fitted; names the file by its `label`.
    """
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    separated = DataError(
        f"{label}: a {family} coefficient has no finite estimate: a term, or several together, tell the outcome of "
        "some records perfectly (separation); leave the term out or group its categories"
    )
    mass = model_design.as_mass(matrix, weights)
    kept = model_design.independent_columns(matrix * np.sqrt(mass.records)[:, None])
    design = matrix[:, kept]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of separation and convergence: reported below, with the file
            if family == "linear":
                value, covariance, df, step = _linear(outcome, design, mass)
            elif family == "multinomial":
                value, covariance, df, step = _multinomial(outcome, design)
            else:
                value, covariance, df, step = _generalised(family, outcome, design, mass)
    except (PerfectSeparationError, np.linalg.LinAlgError):
        raise separated from None  # the columns are independent: nothing else is singular
    except SdcError:
        raise  # of an engine that adds up residuals
    except Exception as error:  # noqa: BLE001 - a library's messages may show values
        raise DataError(f"{label}: the {family} model could not be fitted ({type(error).__name__})") from None
    if not step < MOVES:
        raise separated
    return _placed(value, covariance, df, kept, max(n_outcomes - 1, 1), mass.n)


def _placed(value: Floats, covariance: Floats, df: float, kept: Bools, blocks: int, n: int) -> FileEstimates:
    """Coefficients at the positions of their terms, NaN for a term without one."""
    at = np.flatnonzero(np.tile(kept, blocks))
    p = len(kept) * blocks
    values, full = np.full(p, np.nan), np.full((p, p), np.nan)
    values[at] = value
    full[np.ix_(at, at)] = covariance
    variance = np.diag(full).copy()
    return FileEstimates(values, variance, np.where(np.isnan(variance), np.nan, df), n, full)


Fit = tuple[Floats, Floats, float, float]  # coefficients, covariance, degrees of freedom, last step


def _linear(outcome: Floats, design: Floats, mass: Mass) -> Fit:
    from statsmodels.regression.linear_model import WLS

    n, p = mass.n, design.shape[1]
    fit = WLS(outcome, design, weights=mass.total).fit()
    value = np.asarray(fit.params)
    if n <= p:
        return value, np.full((p, p), np.nan), np.nan, 0.0
    total, squares, _ = mass.residuals(outcome, design @ value)
    if not mass.weighted:
        return value, np.asarray(fit.normalized_cov_params) * (total.sum() / (n - p)), float(n - p), 0.0
    information = design.T @ (mass.total[:, None] * design)
    return value, _sandwich(information, np.sqrt(squares)[:, None] * design, n), float(n - p), 0.0


def _generalised(family: Family, outcome: Floats, design: Floats, mass: Mass) -> Fit:
    from statsmodels.genmod.families import Binomial, Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    kind = Binomial() if family == "logistic" else Poisson()
    mean_weight = mass.total.sum() / mass.n
    given = mass.total / mean_weight
    fit = GLM(outcome, design, family=kind, var_weights=given).fit(maxiter=ITERATIONS, tol=0.0, rtol=RELATIVE)
    value, mean = np.asarray(fit.params), np.asarray(fit.mu)
    spread = mean * (1 - mean) if family == "logistic" else mean
    information = design.T @ ((given * spread)[:, None] * design)
    step = _step(information, design.T @ (given * (outcome - mean)), design)
    if not step < MOVES:
        return value, np.full(information.shape, np.nan), np.inf, step
    if not mass.weighted:
        return value, np.linalg.inv(information), np.inf, step
    score = (np.sqrt(mass.squares) / mean_weight * (outcome - mean))[:, None] * design
    return value, _sandwich(information, score, mass.n), np.inf, step


def _multinomial(outcome: Floats, design: Floats) -> Fit:
    from statsmodels.discrete.discrete_model import MNLogit

    model = MNLogit(outcome, design)
    fit = model.fit(method="newton", maxiter=ITERATIONS, disp=0, tol=1e-10)
    value = np.asarray(fit.params).ravel(order="F")
    information = -np.asarray(model.hessian(value))
    move = _solved(information, np.asarray(model.score(value)))
    steps = design @ move.reshape(-1, design.shape[1]).T
    step = float(np.abs(steps).max()) if np.isfinite(move).all() else np.inf
    covariance = np.linalg.inv(information) if step < MOVES else np.full(information.shape, np.nan)
    return value, covariance, np.inf, step


def _step(information: Floats, score: Floats, design: Floats) -> float:
    """Largest change of a linear predictor by a further Newton step; infinite where there is none."""
    move = _solved(information, score)
    return float(np.abs(design @ move).max(initial=0.0)) if np.isfinite(move).all() else np.inf


def _solved(information: Floats, score: Floats) -> Floats:
    """The Newton step; NaN where the information is singular."""
    size = np.sqrt(np.diag(information))
    if not (np.isfinite(size).all() and (size > 0).all()):
        return np.full(len(score), np.nan)
    scaled = information / np.outer(size, size)
    if np.linalg.eigvalsh(scaled)[0] < SINGULAR:
        return np.full(len(score), np.nan)
    return np.asarray(np.linalg.solve(scaled, score / size) / size)


def _sandwich(information: Floats, score: Floats, n: int) -> Floats:
    root = score @ np.linalg.inv(information)
    return np.asarray(root.T @ root * (n / (n - 1) if n > 1 else np.nan))


# What may be published of a fitted model: which coefficients not at all, and which only rounded.


@dataclass(frozen=True)
class Tellable:
    """For each coefficient: whether it, or its standard error, rests on few records; the step it is rounded to.

    A step of 0 is none: the outcome is no count.
    """

    few: Bools
    few_spread: Bools
    steps: Floats


def tellable(family: Family, outcome: Floats, matrix: Floats, weights: Floats | Mass | None, value: Floats) -> Tellable:
    """Judge the coefficients of one file, `value` being those fitted.

    An outcome of two values, of categories or of events is counted by the coefficients: these are told in steps of
    what five records change, or log-odds to two digits would be exact counts.

    >>> x = np.column_stack([np.ones(100), np.arange(100) % 2])
    >>> found = tellable("logistic", (np.arange(100) % 10 > 5) * 1.0, x, None, np.array([-0.4, 0.0]))
    >>> found.few.tolist(), found.steps.round(2).tolist()
    ([False, False], [0.5, 0.5])
    """
    values = np.unique(outcome)
    if family == "multinomial":
        judged = [_of_outcome(matrix, outcome, k) for k in range(1, len(values))]
        return Tellable(*(np.concatenate(part) for part in zip(*judged, strict=True)))
    within = isinstance(weights, Mass) and weights.within is not None
    two = len(values) == 2 and not within  # of means that rows have, two say nothing
    few, spread = model_design.coefficients_of_few(
        matrix, outcome, weights, counted=[outcome == level for level in values] if two else []
    )
    if family == "linear":
        shares = model_design.largest_shares(matrix, weights) if two else np.zeros(len(few))
        return Tellable(few, spread, _steps(shares, float(values[-1] - values[0])))
    with np.errstate(over="ignore"):
        mean = np.exp(matrix @ np.nan_to_num(value))
        of_each = mean if family == "poisson" else mean / (1 + mean) ** 2
    return Tellable(few, spread, _steps(model_design.largest_shares(matrix, weights, np.nan_to_num(of_each))))


def _of_outcome(matrix: Floats, outcome: Floats, k: int) -> tuple[Bools, Bools, Floats]:
    chosen = outcome == k
    few, spread = model_design.coefficients_of_few(matrix, chosen.astype(np.float64), counted=(chosen, outcome == 0))
    share = float(chosen.mean()) / float((chosen | (outcome == 0)).mean())
    return few, spread, _steps(model_design.largest_shares(matrix), 1 / (share * (1 - share)) if 0 < share < 1 else 0.0)


def _steps(shares: Floats, unit: float = 1.0) -> Floats:
    """Largest change by five records, as a round number."""
    return np.array([rounded_up(model_design.FEWEST * unit * share) for share in shares.tolist()])
