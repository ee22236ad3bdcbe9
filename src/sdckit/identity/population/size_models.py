"""Population uniques from the table of class sizes alone: Zayatz, Pitman's sampling formula, Dankar's rule.

Symbols: n records of N in the population, pi = n/N, s_j classes of j records, u classes in all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.plans.cells_in_parts import PartedCells
from sdckit.cells.record_result import WHOLE, Breakdown
from sdckit.cells.table import AnyCells, Cells
from sdckit.data import special
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints

MIN_ALPHA = 1e-4  # below it the digamma form of Pitman's equations loses digits
DANKAR_FRACTION = 0.1


@dataclass(frozen=True, eq=False)
class SizeTable:
    """Number of equivalence classes of each size."""

    size: Floats  # sizes j that occur, ascending
    classes: Floats  # s_j
    n: float  # records in the file
    population: float  # and in the population

    @property
    def pi(self) -> float:
        """Sampling fraction."""
        return self.n / self.population

    @property
    def u(self) -> float:
        """Classes."""
        return float(self.classes.sum())

    def of(self, j: int) -> float:
        """Classes of j records."""
        return float(self.classes[self.size == j].sum())


@dataclass(frozen=True)
class SizeEstimate:
    """An estimate of the number of population uniques.

    Attributes
    ----------
    uniques : float
        Expected population uniques; NaN where the model has no solution.
    share : float
        The same as a share of the population.
    p_unique : float
        Chance that a sample unique is population unique; for Pitman the average.
    status : str
        "ok", or what happened: "census", "no_uniques", "ewens", "all_unique", "one_class", "no_pairs",
        "no_root", "several", "above_n"; for Dankar's rule the model used.
    parameters : mapping of str to float
        Of the fitted model.
    """

    uniques: float
    share: float
    p_unique: float
    status: str
    parameters: Mapping[str, float] = field(default_factory=dict)


def size_table(sizes: Ints, population: float) -> SizeTable:
    """Count classes by size.

    Examples
    --------
    >>> size_table(np.array([1, 3, 1]), 50).classes.tolist()
    [2.0, 1.0]
    """
    size, classes = np.unique(sizes, return_counts=True)
    return SizeTable(size.astype(float), classes.astype(float), float(sizes.sum()), float(population))


def undefined(status: str, parameters: Mapping[str, float] | None = None) -> SizeEstimate:
    """An estimate without solution; its status gives the reason."""
    return SizeEstimate(math.nan, math.nan, math.nan, status, parameters or {})


def estimate(
    table: SizeTable, uniques: float, p_unique: float, parameters: Mapping[str, float], status: str = "ok"
) -> SizeEstimate:
    """An estimate with its share of the population."""
    return SizeEstimate(float(uniques), float(uniques) / table.population, float(p_unique), status, parameters)


def settled(table: SizeTable) -> SizeEstimate | None:
    """The estimate where no model is needed: a census, or no sample uniques."""
    if table.of(1) == 0:
        return estimate(table, 0.0, math.nan, {}, "no_uniques")
    if table.n >= table.population:
        return estimate(table, table.of(1), 1.0, {}, "census")
    return None


# --- Zayatz ------------------------------------------------------------------------------------


def zayatz(table: SizeTable) -> SizeEstimate:
    """Bayes with the sample's distribution of class sizes as the prior of the population's.

    References
    ----------
    Zayatz, L. (1991). Estimation of the percent of unique population elements on a microdata file using
    the sample. Bureau of the Census, SRD 91/08. Dankar, F., El Emam, K., Neisa, A. and Roffey, T. (2012).
    Estimating the re-identification risk of clinical data sets. BMC Medical Informatics 12, 66.
    """
    if (trivial := settled(table)) is not None:
        return trivial
    p = table.of(1) * table.pi / float(table.classes @ _chance_of_one(table))
    return estimate(table, table.of(1) * p / table.pi, p, {})


def _chance_of_one(table: SizeTable) -> Floats:
    """P(one record sampled | class of j), without replacement, in beta functions: exact for large N."""
    j, n, N = table.size, table.n, table.population
    chance = np.full(len(j), n / N)
    several = (j > 1) & (N - j >= n - 1)
    k = j[several]
    log_chance = special.betaln(N - k + 1, k) - special.betaln(N - n - k + 2, k - 1) + np.log(n * k / (k - 1))
    chance[j > 1] = 0.0
    chance[several] = np.exp(log_chance)
    return chance


# --- Pitman --------------------------------------------------------------------------------------


def pitman(table: SizeTable) -> SizeEstimate:
    """Maximum likelihood in Pitman's sampling formula; the number of singletons expected at N records.

    References
    ----------
    Hoshino, N. (2001). Applying Pitman's sampling formula to microdata disclosure risk assessment.
    Journal of Official Statistics 17, 499-520.
    """
    if (trivial := settled(table)) is not None:
        return trivial
    if table.u == table.n:
        return undefined("all_unique")
    if table.u == 1:
        return undefined("one_class")
    if _score(table, MIN_ALPHA) < 0:
        alpha, theta, status = 0.0, _ewens_theta(table), "ewens"
    else:
        grid = np.linspace(MIN_ALPHA, 1 - 1e-6, 101)
        scores = [_score(table, a) for a in grid]
        below = next((i for i, score in enumerate(scores) if score < 0), None)
        if below is None:
            return undefined("no_root")
        alpha = _root(lambda a: _score(table, a), float(grid[below - 1]), float(grid[below]))
        theta, status = _theta(table, alpha), "ok"
    uniques = _singletons(theta, alpha, table.population)
    parameters = {"alpha": alpha, "theta": theta, "log_likelihood": log_likelihood(table, theta, alpha)}
    return estimate(table, uniques, min(1.0, table.pi * uniques / table.of(1)), parameters, status)


def log_likelihood(table: SizeTable, theta: float, alpha: float) -> float:
    """Logarithm of Pitman's sampling formula without the terms that no parameter enters."""
    several = table.size > 1
    j, s = table.size[several], table.classes[several]
    if alpha > 0:
        t = theta / alpha
        classes = (table.u - 1) * math.log(alpha) + special.gammaln(t + table.u) - special.gammaln(t + 1)
    else:
        classes = (table.u - 1) * math.log(theta)
    records = special.gammaln(theta + table.n) - special.gammaln(theta + 1)
    return float(classes - records + s @ (special.gammaln(j - alpha) - special.gammaln(1 - alpha)))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-13, rtol=1e-13))


def _bracket(falling: Callable[[float], float]) -> tuple[float, float]:
    """Two positive numbers that bracket the root of a falling function."""
    high = low = 1.0
    while falling(high) > 0:
        high *= 4
    while falling(low) < 0:
        low /= 4
    return low, high


def _theta(table: SizeTable, alpha: float) -> float:
    """Theta that solves its equation at a given alpha > 0, found by its distance from -alpha."""

    def score(distance: float) -> float:
        theta, t = distance - alpha, distance / alpha  # t is theta/alpha + 1
        over_classes = (special.digamma(t + table.u - 1) - special.digamma(t)) / alpha
        return float(over_classes - special.digamma(theta + table.n) + special.digamma(theta + 1))

    return _root(score, *_bracket(score)) - alpha


def _score(table: SizeTable, alpha: float) -> float:
    """Derivative of the log likelihood in alpha, at the best theta for it."""
    t = _theta(table, alpha) / alpha
    several = table.size > 1
    spread = table.classes[several] @ (special.digamma(table.size[several] - alpha) - special.digamma(1 - alpha))
    return float((table.u - 1) / alpha - t / alpha * (special.digamma(t + table.u) - special.digamma(t + 1)) - spread)


def _ewens_theta(table: SizeTable) -> float:
    def score(theta: float) -> float:
        return float((table.u - 1) / theta - special.digamma(theta + table.n) + special.digamma(theta + 1))

    return _root(score, *_bracket(score))


def _singletons(theta: float, alpha: float, population: float) -> float:
    """Classes of one expected in the whole population; exact, in beta functions."""
    ratio = special.betaln(population + theta + alpha - 1, 1 - alpha) - special.gammaln(1 - alpha)
    return float(population * np.exp(ratio + special.gammaln(theta + 1) - special.gammaln(theta + alpha)))


# --- Dankar's rule ---------------------------------------------------------------------------------


def dankar(table: SizeTable, by_zayatz: SizeEstimate, by_pitman: SizeEstimate, by_snb: SizeEstimate) -> SizeEstimate:
    """Choose between the others as ARX does, by the sampling fraction and by which is smaller.

    References
    ----------
    Dankar, F., El Emam, K., Neisa, A. and Roffey, T. (2012), as read in ARX.
    """
    if (trivial := settled(table)) is not None:
        return trivial
    if table.pi <= DANKAR_FRACTION + 1e-12:
        name, chosen = ("zayatz", by_zayatz) if math.isnan(by_pitman.uniques) else ("pitman", by_pitman)
    else:
        snb = by_snb.uniques <= by_zayatz.uniques  # False where there is none
        name, chosen = ("snb", by_snb) if snb else ("zayatz", by_zayatz)
    return SizeEstimate(chosen.uniques, chosen.share, chosen.p_unique, name, {})


# Goodness of fit of a population model: equivalence classes of the file by size, expected and observed.


LARGEST = 99  # sizes computed one by one; larger ones are pooled
SIZES = np.arange(1, LARGEST + 1, dtype=float)
EDGES = (1, 2, 3, 4, 5, 10, 25, 50, 100)  # smallest size of each size class
CLOSE = 0.03  # an index of dissimilarity up to this: a close fit, whatever the sample size (Agresti)
BIN = 0.005  # of log expected counts, when cells are counted by them


def dissimilarity(expected: Floats, observed: Floats) -> float:
    """Share of the groups that would have to be of another size for the model to be exact.

    References
    ----------
    Agresti, A. (2013). Categorical Data Analysis, 3rd ed., section 4.5.2; the index is Gini's.

    Examples
    --------
    >>> dissimilarity(np.array([70.0, 20.0, 10.0]), np.array([80.0, 15.0, 5.0]))
    0.1
    """
    groups = float(observed.sum())
    if not groups or not np.isfinite(expected).all():
        return math.nan
    return float(np.abs(expected - observed).sum() / (2 * groups))


def pooled_sizes(one_by_one: Floats, larger: float) -> Floats:
    """Number of groups by size class (`EDGES`), from those of sizes 1 to 99 and of all larger ones."""
    return np.append(np.add.reduceat(one_by_one, np.array(EDGES[:-1]) - 1), max(0.0, larger))


def observed_sizes(table: SizeTable) -> Floats:
    """Number of groups of the file by size class.

    Examples
    --------
    >>> from sdckit.identity.population.size_models import size_table
    >>> observed_sizes(size_table(np.array([1, 1, 3, 7, 200]), 1000)).tolist()
    [2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    """
    at = np.searchsorted(EDGES, table.size, side="right") - 1
    return np.bincount(at, table.classes, len(EDGES)).astype(float)


def expected_by_model(name: str, table: SizeTable, estimate: SizeEstimate) -> Floats:
    """Number of the file's groups by size class that a model expects; NaN where it has no solution."""
    if not math.isfinite(estimate.uniques) or estimate.status in ("census", "no_uniques"):
        return np.full(len(EDGES), np.nan)
    if name == "zayatz":
        return _by_zayatz(table)
    if name == "pitman":
        return _by_pitman(table, estimate.parameters["theta"], estimate.parameters["alpha"])
    return _by_slide(table, **{part: estimate.parameters[part] for part in ("K", "alpha", "beta")})


def _by_zayatz(table: SizeTable) -> Floats:
    """Binomial thinning: population sizes drawn from the file's own, each member sampled with the fraction pi."""
    from scipy.stats import binom

    seen = table.classes @ -np.expm1(table.size * np.log1p(-table.pi))
    kept = np.array([table.classes @ binom.pmf(size, table.size, table.pi) for size in SIZES])
    scale = table.u / seen
    return pooled_sizes(scale * kept, table.u - scale * float(kept.sum()))


def _by_pitman(table: SizeTable, theta: float, alpha: float) -> Floats:
    """C(n, j) (1 - alpha)_(j-1) (theta + alpha)_(n-j) / (theta + 1)_(n-1), with rising factorials."""
    n = table.n
    j = SIZES[: int(min(LARGEST, n))]
    log = special.gammaln(n + 1) - special.gammaln(j + 1) - special.gammaln(n - j + 1)
    log += special.gammaln(j - alpha) - special.gammaln(1 - alpha)
    log += special.gammaln(theta + alpha + n - j) - special.gammaln(theta + alpha)
    log += special.gammaln(theta + 1) - special.gammaln(theta + n)
    if alpha > 0:
        grown = (
            special.gammaln(theta + 1)
            + special.gammaln(theta + n + alpha)
            - special.gammaln(theta + n)
            - special.gammaln(theta + alpha)
        )
        groups = (math.exp(grown) - theta) / alpha
    else:
        groups = theta * float(special.digamma(theta + n) - special.digamma(theta))
    one_by_one = np.zeros(LARGEST)
    one_by_one[: len(j)] = np.exp(log)
    return pooled_sizes(one_by_one, groups - float(one_by_one.sum()))


def _by_slide(table: SizeTable, K: float, alpha: float, beta: float) -> Floats:
    """A group of 1 + Z members, Z negative binomial; thinned, Z is negative binomial with beta/D."""
    from scipy.stats import nbinom

    pi = table.pi
    rest = nbinom(alpha, beta / (1 - (1 - beta) * (1 - pi)))
    chance = (1 - pi) * rest.pmf(SIZES) + pi * rest.pmf(SIZES - 1)
    seen = 1 - (1 - pi) * rest.pmf(0)
    return pooled_sizes(K * chance, K * float(seen - chance.sum()))


def expected_by_cell(mu: Floats, mass: Floats | None = None) -> Floats:
    """The same where the count of every possible cell is Poisson with its own expectation.

    `mu` are expected counts, `mass` how many cells have each; without it they are put together by their logarithm.
    """
    mu, mass = _binned(mu) if mass is None else (mu, mass)
    log, groups = np.log(mu), float(mass @ -np.expm1(-mu))
    one_by_one = np.array([mass @ np.exp(j * log - mu - special.gammaln(j + 1)) for j in SIZES])
    return pooled_sizes(one_by_one, groups - float(one_by_one.sum()))


def _binned(mu: Floats) -> tuple[Floats, Floats]:
    mu = mu[mu > 0]
    place = np.floor(np.log(mu) / BIN).astype(np.int64)
    place -= place.min(initial=0)
    mass = np.bincount(place).astype(float)
    total = np.bincount(place, mu)
    used = mass > 0
    return total[used] / mass[used], mass[used]


# Population uniques from the table of class sizes: the slide negative binomial model, corrected.
# K classes of the population have 1 + Z members, Z negative binomial (alpha, beta); the file is a sample
# with fraction pi. With d = (1 - beta)(1 - pi) and D = 1 - d a class is not seen, seen once, seen twice
# with
# p0 = (1 - pi) (beta/D)^alpha p1 = pi (beta/D)^alpha (1 + alpha d/D) p2 = alpha pi^2 (1 - beta) beta^alpha
# D^-(alpha + 2) (2 - (1 - alpha) d) / 2.
# Everything is held in logarithms, and d in logits of d/(1 - pi), so that neither end loses digits.


SCAN = np.linspace(-18.0, 18.0, 1500)  # logit of d/(1 - pi)
BISECTIONS = 100
ROUNDING = 1e-12  # by which a peak may miss what it is to reach


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
        log_p1: Floats = alpha * self.slope + np.log1p(alpha * self.odds)
        return log_p1

    @np.errstate(divide="ignore")
    def log_twice(self, alpha: Floats) -> Floats:
        """log(p2)."""
        first = np.log(alpha / 2) + 2 * math.log(self.pi) + self.log_rest + alpha * self.slope
        log_p2: Floats = first - 2 * self.log_D + np.log(2 - (1 - alpha) * self.d)
        return log_p2

    def seen(self, alpha: Floats) -> Floats:
        """1 - p0."""
        p_seen: Floats = 1 - (1 - self.pi) * np.exp(alpha * self.slope)
        return p_seen

    def peak(self) -> Floats:
        """Alpha at which p1 is largest."""
        return np.maximum(0.0, -1 / self.slope - 1 / self.odds)


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
    if (trivial := settled(table)) is not None:
        return trivial
    if table.of(2) == 0:
        return undefined("no_pairs")
    k = shlosser_classes(table)
    if k > table.population:
        return undefined("above_n", {"K": k})
    once, twice = math.log(table.of(1) / (k * table.pi)), math.log(table.of(2) / k)

    def gap(logit: Floats, *, falling: bool) -> tuple[Floats, Floats]:
        model = _Model(logit, table.pi)
        alpha = _alpha_on_branch(model, once, falling=falling)
        return model.log_twice(alpha) - twice, alpha

    scan = _with_meetings(once, table.pi)
    roots = [root for falling in (True, False) for root in _roots(partial(gap, falling=falling), scan)]
    return _from_roots(table, roots, lambda *_: k)


def snb3(table: SizeTable) -> SizeEstimate:
    """Fit alpha, beta and the number of classes to the classes seen, seen once and seen twice (our own variant)."""
    if (trivial := settled(table)) is not None:
        return trivial
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


def _with_meetings(target: float, pi: float) -> Floats:
    """The scan, and where both branches end in the peak: between its points a root may lie beyond the last of them."""

    def left(logit: Floats) -> Floats:
        model = _Model(logit, pi)
        return model.log_once(model.peak()) - target

    return np.sort([*SCAN, *(logit for logit, _ in _roots(lambda at: (left(at), at)))])


def _alpha_on_branch(model: _Model, target: float, *, falling: bool) -> Floats:
    """Alpha with log(p1/pi) = target on one side of the peak, NaN where there is none; by bisection."""
    low = model.peak()
    top = model.log_once(low)
    if falling:
        high = np.maximum(low, 1.0)
        while (beyond := model.log_once(high) > target).any():
            high = np.where(beyond, 2 * high, high)
        exists = top >= target - ROUNDING
    else:
        low, high = np.zeros_like(low), low
        exists = (high > 0) & (target > 0) & (top >= target - ROUNDING)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = (model.log_once(middle) > target) == falling
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(exists, (low + high) / 2, np.nan)


@np.errstate(all="ignore")  # the ends of the scan may leave the range of numbers
def _roots(gap: Callable[[Floats], tuple[Floats, Floats]], scan: Floats = SCAN) -> list[tuple[float, float]]:
    """Where a gap changes sign along the scan: (logit, alpha) of each root."""
    from scipy.optimize import brentq

    values = gap(scan)[0]
    finite = np.isfinite(values[:-1]) & np.isfinite(values[1:])
    crossing = finite & (np.sign(values[:-1]) != np.sign(values[1:]))
    roots = []
    for i in np.flatnonzero(crossing).tolist():
        at = brentq(lambda t: float(gap(np.array([t]))[0][0]), scan[i], scan[i + 1], xtol=1e-13)
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
        every = {f"{name}_{i}": solution[at] for i, solution in enumerate(solutions, 1)
                 for at, name in enumerate(("K", "alpha", "beta"))}  # fmt: skip
        return undefined("several" if solutions else "no_root", every)
    k, alpha, beta, log_beta, p_unique = solutions[0]
    parameters = {"K": k, "alpha": alpha, "beta": beta}
    if k > table.population:
        return undefined("above_n", parameters)
    return estimate(table, k * math.exp(alpha * log_beta), p_unique, parameters)


# How large the population behind a file is, and its cells with every missing key a category.


def category_cells(
    data: Any, *, keys: Sequence[str] | None = None, weight: str | None = None, sampling_fraction: float | None = None,
    scenario: Scenario | None = None, id: str | None = None, broken: Breakdown = WHOLE,
) -> Cells:  # fmt: skip
    """Tabulate a file for a model of its classes: in memory, a missing key value being a level.

    `broken`: subgroups and intervals, whose columns a plan has to bring.
    """
    cells = _by_category(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, scenario=scenario, id=id, weighted=True,
    )  # fmt: skip
    return cells.in_memory(*broken.extra(cells))


def cells_of_people(
    data: Any, keys: Sequence[str] | None, scenario: Scenario | None, id: str | None, broken: Breakdown, *,
    weight: str | None = None, sampling_fraction: float | None = None,
) -> AnyCells:  # fmt: skip
    """The same without weights, which are checked; in parts where cells do not fit, and no records are drawn."""
    cells = _by_category(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, scenario=scenario, id=id, weighted=False
    )
    in_parts = isinstance(cells, PartedCells) and broken.rng is None
    return cells if in_parts else cells.in_memory(*broken.extra(cells))


def _by_category(data: Any, **given: Any) -> AnyCells:
    cells = tabulate_given(data, default_missing="category", **given)
    check_records_counted(cells)
    return cells.as_categories()


def check_records_counted(cells: AnyCells) -> None:
    """Raise where cells count persons."""
    if cells.roles.person is not None:
        words = "models of population uniqueness count records; make the file one row per person first"
        raise DataError(f"{words}, or leave person= out")


def sampling_fraction_of(cells: Cells) -> float:
    """Share of the population in the file: as given, or records over the sum of weights."""
    if cells.roles.sampling_fraction is not None:
        return cells.roles.sampling_fraction
    if cells.table.weight is None:
        raise DataError("say how large the population is: sampling_fraction= (records over it) or weight=")
    population = math.fsum(cells.table.weight.tolist())
    if population < cells.n * (1 - 1e-9):
        words = "weights must count persons; weights scaled to mean 1 do not (multiply them by population over records)"
        raise DataError(f"the weights sum to less than the number of records: {words}")
    return min(1.0, cells.n / population)


def records_of(cells: AnyCells, names: Sequence[str], prefix: str) -> Any:
    """Figures per record, where the records are at hand; a plan of those whose cells are in parts."""
    if isinstance(cells, Cells) and cells.source is None:
        words = "a plan's cells are brought here, its records are not"
        raise DataError(f"{words}; collect it first for figures per record")
    return cells.records(names, prefix=prefix)
