"""A5: how many sample uniques are unique in the population too, by log-linear models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.cells.record_result import RecordResult, breakdown
from sdckit.cells.table import Cells
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, SdcWarning
from sdckit.identity.population import log_linear, size_models
from sdckit.identity.population.log_linear import MAX_GRID, FitStatistics, Formula, Grid, GridSums, Method, Term
from sdckit.identity.population.size_models import dissimilarity
from sdckit.numerics.array_types import Floats, Values
from sdckit.numerics.threads import run
from sdckit.result import FileFigure

# A log-linear model fitted to cells, and the risk of the sample uniques under it.


# Choose two-way interactions one at a time until the fit statistic accepts the model.


ACCEPT = 1.645  # z2 below this: the risk is not overestimated at the 5 % level of N(0, 1)


@dataclass(frozen=True)
class Step:
    """One step: the term added (None: main effects) and z2 with it."""

    term: Term | None
    z2: float


def generators(grid: Grid, terms: Sequence[Term]) -> tuple[Term, ...]:
    """Margins to fit: the interaction terms, and each key that is in none of them."""
    return log_linear.maximal([*terms, *((j,) for j in range(len(grid.shape)))])


def grid_statistics(grid: Grid, mu: Floats, counts: Floats, pi: float) -> FitStatistics:
    """B1 and B2 of a model fitted on the full grid."""
    at, _ = grid.place(grid.layout)
    return log_linear.fit_statistics(log_linear.sum_grid(mu, pi), mu[at], counts, pi)


def forward_search(grid: Grid, counts: Floats, pi: float) -> tuple[tuple[Term, ...], tuple[Step, ...]]:
    """Add the two-way term that brings z2 nearest to 0, until z2 is below 1.645 or no term is left.

    `grid` is small enough to be built, `counts` (K,) are the records of each cell that occurs, pi is below 1. Gives
    the interactions chosen, and z2 of main effects, then after each term. Terms whose fit does not converge are
    passed over. None is added after acceptance: overfitting lowers the risk estimated.
    """
    mu = log_linear.dense_main_effects(grid, counts)
    z2 = grid_statistics(grid, mu, counts, pi).z2
    terms: tuple[Term, ...] = ()
    path = [Step(None, z2)]
    waiting: list[Term] = list(combinations(range(len(grid.shape)), 2))

    def fitted(term: Term) -> tuple[Floats, float]:
        return log_linear.fit_terms(grid, generators(grid, (*terms, term)), counts, start=mu)

    def score(term: Term) -> float:
        expected, gap = fitted(term)
        z = grid_statistics(grid, expected, counts, pi).z2
        return abs(z) if gap <= log_linear.TOLERANCE and not math.isnan(z) else math.inf

    while waiting and z2 >= ACCEPT:
        scores = run(score, waiting)
        best = scores.index(min(scores))
        if math.isinf(scores[best]):
            break
        chosen = waiting.pop(best)
        mu = fitted(chosen)[0]
        terms = (*terms, chosen)
        z2 = grid_statistics(grid, mu, counts, pi).z2
        path.append(Step(chosen, z2))
    return terms, tuple(path)


# Sums over a product grid too large to visit: how many possible cells have each expected count.
# Under main effects the logarithm of an expected count is a sum with one summand per key, so its histogram
# over the grid is a convolution of one small histogram per key. Each summand is split between its two
# neighbours on a lattice so that its mean is kept; only curvature is lost, and bounded.


STEP = 1e-3  # of the lattice, in log expected counts


def expected_histogram(shares: Sequence[Floats], step: float = STEP) -> tuple[int, Floats]:
    """Possible cells by the logarithm of the product of their shares; levels that do not occur are left out.

    Gives `first` and `mass`: ``mass[i]`` counts cells near ``(first + i) * step``.
    """
    first, mass = 0, np.ones(1)
    for share in shares:
        place = np.log(share[share > 0]) / step
        below = np.floor(place).astype(np.int64)
        high = place - below
        low = int(below.min())
        weights = np.bincount(below - low, 1 - high) if len(below) else np.zeros(1)
        weights = np.append(weights, 0.0)
        weights[1:] += np.bincount(below - low, high, len(weights) - 1)
        wider = np.zeros(len(mass) + len(weights) - 1)
        # all masses are positive: adding shifted copies cancels nothing, as a Fourier transform would
        for shift in np.flatnonzero(weights).tolist():
            wider[shift : shift + len(mass)] += weights[shift] * mass
        first, mass = first + low, wider
    return first, mass


def sum_lattice(shares: Sequence[Floats], n: float, pi: float, step: float = STEP) -> GridSums:
    """Sum over all possible cells of n records under main effects, with a bound of the error.

    `shares` are those of the records at each level of each key; the error falls with the square of `step`.

    Examples
    --------
    >>> half = [np.array([0.5, 0.5])] * 3
    >>> sum_lattice(half, 8, 0.5).n_possible
    8.0
    """
    from scipy.ndimage import maximum_filter1d

    first, mass = expected_histogram(shares, step)
    reach = len(shares) + 1
    wide = np.arange(first - reach - 1, first + len(mass) + reach + 1)
    values = log_linear.grid_functions(np.exp(math.log(n) + wide * step), pi)
    curvature = np.abs(np.diff(values, 2, axis=1)) / step**2
    worst = maximum_filter1d(curvature, 2 * reach + 1, axis=1)[:, reach : reach + len(mass)]
    errors = reach * step**2 / 8 * (worst @ mass)
    return GridSums(values[:, reach + 1 : reach + 1 + len(mass)] @ mass, errors, float(mass.sum()))


RESAMPLES = 200
COVERAGE = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Expected sample counts of the cells that occur, and how well the model fits."""

    terms: tuple[Term, ...]  # interactions; empty for main effects
    mu: Floats  # (K,)
    statistics: FitStatistics
    gap: float = 0.0  # largest distance of a fitted margin, as a share of the records
    converged: bool = True
    dense: Floats | None = None  # of every possible cell, where the grid was built


def fit_model(grid: Grid, terms: Sequence[Term], counts: Floats, pi: float) -> FittedModel:
    """Fit main effects, which are always in, and the interactions asked for, over the full grid.

    `counts` (K,) are the records of each cell that occurs, pi is the sampling fraction.
    """
    if not terms:
        return _main_effects(grid, counts, pi)
    return _judged(grid, terms, *log_linear.fit_terms(grid, generators(grid, terms), counts), counts, pi)


def _judged(grid: Grid, terms: Sequence[Term], dense: Floats, gap: float, counts: Floats, pi: float) -> FittedModel:
    """A model fitted on the full grid, with how well it fits the counts at one sampling fraction."""
    mu = dense[grid.place(grid.layout)[0]]
    return FittedModel(
        tuple(terms), mu, grid_statistics(grid, dense, counts, pi), gap, gap <= log_linear.TOLERANCE, dense
    )


def _main_effects(grid: Grid, counts: Floats, pi: float) -> FittedModel:
    mu = log_linear.expected_main_effects(grid, counts)
    if pi >= 1:
        return FittedModel((), mu, FitStatistics())
    if grid.n_possible <= MAX_GRID:
        sums = log_linear.sum_grid(log_linear.dense_main_effects(grid, counts), pi)
    else:
        sums = sum_lattice(log_linear.shares_of(grid, counts), float(counts.sum()), pi)
    return FittedModel((), mu, log_linear.fit_statistics(sums, mu, counts, pi))


def expected_groups(grid: Grid, fitted: FittedModel, counts: Floats) -> Floats:
    """Expected number of the file's equivalence classes by size class, under a fitted model."""
    if fitted.dense is not None:
        return size_models.expected_by_cell(fitted.dense)
    if grid.n_possible <= MAX_GRID:
        return size_models.expected_by_cell(log_linear.dense_main_effects(grid, counts))
    first, mass = expected_histogram(log_linear.shares_of(grid, counts))
    return size_models.expected_by_cell(counts.sum() * np.exp((first + np.arange(len(mass))) * STEP), mass)


def unique_risk(mu: Floats, pi: float | Floats, own: Floats | None = None) -> tuple[Floats, Floats]:
    """Chance that a sample unique is population unique, and its expected correct match E[1/F].

    `mu` are expected sample counts, pi is the sampling fraction: mu/pi is the expected population count. `own` is the
    fraction of each cell that is known to be in the file, where it is another.

    Examples
    --------
    >>> p, r = unique_risk(np.array([0.1]), 0.1)
    >>> p.round(6).tolist(), r.round(6).tolist()
    ([0.40657], [0.659367])
    """
    x = (1 - (pi if own is None else own)) * mu / pi
    with np.errstate(invalid="ignore", divide="ignore"):
        match = np.where(x > 0, -np.expm1(-x) / x, 1.0)
    return np.exp(-x), match


def bootstrap_interval(
    grid: Grid, model: FittedModel, counts: Floats, pi: float, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of tau1 and tau2 with records resampled.

    A record keeps whether it is unique: drawing it twice does not make its key less rare. The
    model is fitted anew to each resample. Bias of the model is no part of the interval.
    """
    n = int(counts.sum())
    unique = counts == 1
    whole = grid.place(grid.layout)[0] if model.terms else None
    drawn = np.empty((RESAMPLES, 2))
    for b in range(RESAMPLES):
        again = rng.multinomial(n, counts / n).astype(np.float64)
        if whole is None:
            mu = log_linear.expected_main_effects(grid, again)
        else:
            margins = generators(grid, model.terms)
            mu = log_linear.fit_terms(grid, margins, again, start=model.dense, tolerance=1e-5)[0][whole]
        p, match = unique_risk(mu[unique], pi)
        drawn[b] = again[unique] @ p, again[unique] @ match
    low, high = np.quantile(drawn, COVERAGE, axis=0)
    return {name: (float(low[i]), float(high[i])) for i, name in enumerate(("tau1", "tau2"))}


UNJUDGED = (
    "the statistics of fit suppose one sampling fraction, so a model that uses the weights of the records is not "
    "judged; judge one of the counts with the same terms"
)
NO_INTERVAL = (
    "how far tau1 and tau2 of a model that uses the weights may be off is not judged: the bootstrap draws from models "
    "of counts"
)
Fit = Literal["fits", "close", "too simple", "overfitted", "not judged", "census"]


@dataclass(frozen=True, eq=False, repr=False)
class PopulationRisk(RecordResult):
    """Risk of the sample uniques under a log-linear model of the population.

    Attributes
    ----------
    n, sample_uniques : int
        Records, and those whose key no other record has (missing keys being a category).
    sampling_fraction : float
        Share of the population in the file.
    tau1, tau2 : float
        Sample uniques expected to be population unique; expected correct matches among sample uniques.
    tau1_rate, tau2_rate : float
        The same per record.
    tau1_per_unique, tau2_per_unique : float
        The same per sample unique.
    population_uniques : float
        tau1 over the sampling fraction: uniques expected in the whole population.
    b1, b2 : float
        Estimated error of tau1 and tau2; `b1_error`, `b2_error` bound their numerical error.
    z1, z2, robust_z1, robust_z2 : float
        B standardised: a flag whether the model fits, not an error bar. Above 1.645 the model is too simple.
    dissimilarity : float
        Share of the file's groups that are of another size than the model expects.
    fit : str
        "fits" (z2 between -1.645 and 1.645), "close" (z2 is above, but at most 3 % of the groups are of another size),
        "too simple", "overfitted", "not judged", or "census".
    recommended : bool
        Whether tau1 and tau2 are to be trusted before other estimates: the model fits, is close, or nothing is
        modelled.
    n_possible : int
        Cells of the full product of the levels.
    n_cells : int
        Cells of the file with at most `bound` records; all of them where `bound` is None.
    tau1_per_cell, tau2_per_cell : float
        tau1 and tau2 over `n_cells`: means, as ``gr1`` and ``gr2`` of sdcMicro are.
    method : str
        What is fitted, as asked for; `linear` the keys that enter as numbers.
    model : tuple of str
        Terms of the model.
    path : dict of str to float
        With `select`: z2 of main effects, then after each term added.
    interval : dict of str to tuple of float
        95 % bootstrap intervals of tau1 and tau2, where asked for; none of models that use weights.
    records : frame
        ``p_population_unique`` and ``expected_match`` of sample uniques; NaN for other records.
    cell_estimates : frame
        A row per cell of the file: its keys, ``records``, ``cell_fraction``, ``expected_records`` in the file,
        ``expected_population``, and the two chances.
    """

    measure: ClassVar[str] = "population_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "sample_uniques", "sampling_fraction", "tau1", "tau2", "tau1_rate", "tau2_rate", "tau1_per_unique",
        "tau2_per_unique", "population_uniques", "b1", "b2", "z1", "z2", "robust_z1", "robust_z2", "b1_error",
        "b2_error", "dissimilarity", "fit", "recommended", "n_possible", "n_cells", "bound",
        "tau1_per_cell", "tau2_per_cell", "method", "linear", "model", "path", "interval",
    )  # fmt: skip
    cells: Cells
    n: int
    sampling_fraction: float
    sample_uniques: int
    tau1: float
    tau2: float
    n_possible: int
    n_cells: int
    bound: int | None
    method: Method
    linear: tuple[str, ...]
    model: tuple[str, ...]
    path: dict[str, float]
    interval: dict[str, tuple[float, float]]
    b1: float
    b2: float
    z1: float
    z2: float
    robust_z1: float
    robust_z2: float
    b1_error: float
    b2_error: float
    dissimilarity: float
    fit: Fit
    prefix: str = ""
    notes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def tau1_rate(self) -> float:
        """tau1 per record."""
        return self.tau1 / self.n

    @cached_property
    def tau2_rate(self) -> float:
        """tau2 per record."""
        return self.tau2 / self.n

    @cached_property
    def tau1_per_unique(self) -> float:
        """tau1 per sample unique."""
        return self.tau1 / self.sample_uniques if self.sample_uniques else math.nan

    @cached_property
    def tau2_per_unique(self) -> float:
        """tau2 per sample unique."""
        return self.tau2 / self.sample_uniques if self.sample_uniques else math.nan

    @cached_property
    def tau1_per_cell(self) -> float:
        """tau1 per cell of the file with at most `bound` records."""
        return self.tau1 / self.n_cells if self.n_cells else math.nan

    @cached_property
    def tau2_per_cell(self) -> float:
        """tau2 per cell of the file with at most `bound` records."""
        return self.tau2 / self.n_cells if self.n_cells else math.nan

    @cached_property
    def population_uniques(self) -> float:
        """Uniques expected in the population: each is in the file with the sampling fraction as its chance."""
        return self.tau1 / self.sampling_fraction

    @property
    def recommended(self) -> bool:
        """Whether the model's figures are to be trusted before those of others."""
        return self.fit in ("fits", "close", "census")

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        unique: dict[str, Any] = {"among": "sample_unique", "of": "sample uniques", "base": "sample_uniques"}
        return (
            FileFigure("tau2_rate", "expected_match"),
            FileFigure("tau1_rate", "p_population_unique"),
            FileFigure("tau2", "expected_match", "sum"),
            FileFigure("tau1", "p_population_unique", "sum"),
            FileFigure("tau2_per_unique", "expected_match", **unique),
            FileFigure("tau1_per_unique", "p_population_unique", **unique),
            FileFigure("sample_uniques", "sample_unique", "sum"),
            FileFigure("dissimilarity", of="groups of the file", base="", higher="reference"),
        )

    def told(self, column: str) -> Values:
        """Record-level values of a column: 0 for a record that is no sample unique, NaN without a model."""
        cells = self.cells
        if column == "sample_unique":
            return (cells.table.size == 1)[cells.table.of_row]  # type: ignore[no-any-return]
        values = cells.columns[column]
        if not math.isnan(self.tau1):
            values = np.where(cells.table.size == 1, values, 0.0)
        of_record: Values = values[cells.table.of_row]
        return of_record

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return size_models.records_of(self.cells, ["p_population_unique", "expected_match"], self.prefix)

    @property
    def cell_estimates(self) -> Any:
        """A row per cell of the file, in the order of its first record and the caller's frame type."""
        if self.cells.source is None:
            raise DataError("a plan's cells are brought here, the values of its keys are not; collect it first")
        names = ("cell_fraction", "expected_records", "expected_population", "p_population_unique", "expected_match")
        return self.cells.of_cells(names, prefix=self.prefix)


def population_risk(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    interactions: int = 1,
    formula: Formula | None = None,
    select: bool = False,
    method: Method = "counts",
    linear: Sequence[str] = (),
    bound: int | None = None,
    interval: Literal["bootstrap"] | None = None,
    seed: int | None = None,
    by: Sequence[str] | str | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> PopulationRisk:
    """Estimate how many sample uniques are unique in the population, by a log-linear model.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    weight : str, optional
        Column of sampling weights; the sampling fraction is then records over their sum.
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1], instead of a weight.
    interactions : int
        Highest order of the model's terms: 1 main effects (keys independent), 2 all pairs, ...
    formula : str or sequence, optional
        Interaction terms instead: ``"age:educ + sex:labour"``, or a list of terms, each a text or a list
        of keys. Main effects are always in.
    select : bool
        Forward search instead: add two-way terms until z2 is below 1.645.
    method : {"counts", "ce", "pml", "weighted"}
        What is fitted: the counts; the counts with the inverse mean weight of each cell as offset (Clogg and Eliason);
        the weights, scaled to the records (pseudo maximum likelihood); the counts with the sum of weights as one more
        predictor. All but the first need a weight, and take the sampling fraction of each cell from it.
    linear : sequence of str
        Keys that enter the model as numbers, with one parameter each, not as categories.
    bound : int, optional
        Largest number of records of the cells that ``tau1_per_cell`` and ``tau2_per_cell`` are means over.
    interval : "bootstrap", optional
        95 % percentile intervals from 200 resamples of the records, the model fitted anew to each.
    seed : int, optional
        Of the bootstrap.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    PopulationRisk
        ``tau1``, ``tau2``, ``z1``, ``z2``, ``robust_z1``, ``robust_z2``, ``model``, ``records`` and more.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a formula naming something that is no key.
    DataError
        As `key_frequencies`; no sampling fraction and no weight; weights that sum to less than the records;
        interactions on a grid of more than 10 million possible cells; a method that needs a weight without one, or
        with `select` or `interval`; a linear key that is no number in every record.

    Warns
    -----
    SdcWarning
        The model did not converge (all figures NaN); `select` on a grid too large to search.

    Notes
    -----
    The expected sample count mu of a cell is fitted to the sample; its expected population count is
    mu/pi. sdcMicro's ``modRisk`` puts mu itself there, which takes the population to be as small as the sample.
    Cells are taken to be sampled with equal chances.

    References
    ----------
    Skinner, C. and Holmes, D. (1998). Estimating the re-identification risk per record in microdata.
    Journal of Official Statistics 14, 361-372. Skinner, C. and Shlomo, N. (2008). Assessing
    identification risk in survey microdata using log-linear models. JASA 103, 989-1001.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": [1, 1, 1, 1, 2, 2], "age": [1, 1, 2, 2, 1, 2]})
    >>> risk = population_risk(survey, keys=["sex", "age"], sampling_fraction=0.5)
    >>> risk.sample_uniques, round(risk.tau1, 6), round(risk.tau2, 6)
    (2, 0.735759, 1.264241)

    The expected counts of the cells, with age as a number:

    >>> linear = population_risk(survey, keys=["sex", "age"], sampling_fraction=0.5, linear=["age"])
    >>> linear.cell_estimates["expected_records"].round(6).to_list()
    [2.0, 2.0, 1.0, 1.0]
    """
    method, linear = arguments.choice(method, "method", log_linear.METHODS), arguments.names(linear, "linear") or ()
    if bound is not None:
        arguments.count(bound, "bound", "is the largest number of records of a cell")
    if interval is not None:
        arguments.choice(interval, "interval", ("bootstrap",))
    rng = arguments.seed(seed)
    asked = breakdown(data, by, PopulationRisk, scenario=scenario, prefix=prefix)
    if arguments.flag(select, "select") and (formula is not None or interactions != 1):
        raise DataError("select=True chooses the terms itself; leave formula= and interactions= out", argument="select")
    if (method != "counts" or linear) and (select or interval is not None):
        words = "select= and interval= are for models of counts by category; leave method= and linear= out"
        raise DataError(words, argument="method")
    cells = size_models.category_cells(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, scenario=scenario, id=id, broken=asked,
    )  # fmt: skip
    terms = log_linear.model_terms(cells.keys, interactions, formula)
    pi, grid = size_models.sampling_fraction_of(cells), log_linear.grid_of(cells)
    if terms and grid.n_possible > MAX_GRID:
        words = f"interactions need the full grid of {grid.n_possible:,} possible cells, at most {MAX_GRID:,}"
        raise DataError(f"{words}; recode or leave out keys, or fit main effects (interactions=1)")
    counts = cells.table.size.astype(np.float64)
    terms, path, notes = _selected(grid, counts, pi, terms) if select else (terms, (), {})
    if method != "counts" and cells.table.weight is None:
        raise DataError(f"method={method!r} uses the weights of the records: give weight=", argument="weight")
    if method == "counts" and not linear:
        fitted = fit_model(grid, terms, counts, pi)
    else:
        weights, values = cells.columns["population_frequency"], log_linear.level_values(cells, linear)
        dense, gap = log_linear.expected_counts(grid, terms, counts, weights, method=method, values=values)
        fitted = _judged(grid, terms, dense, gap, counts, pi)
    if method != "counts":
        fitted = replace(fitted, statistics=FitStatistics())
        notes = {**notes, "z1": UNJUDGED, "interval": NO_INTERVAL}
    judged = interval is not None and fitted.converged
    intervals = bootstrap_interval(grid, fitted, counts, pi, rng) if judged else {}
    names = {log_linear.term_name(cells.keys, step.term) if step.term else "main effects": step.z2 for step in path}
    within = cells.table.size <= (cells.n if bound is None else bound)
    result = _result(
        cells, grid, fitted, pi, method=method, linear=linear, n_cells=int(within.sum()), bound=bound, path=names,
        interval=intervals, prefix=prefix, notes=notes,
    )  # fmt: skip
    return asked.of(result)


def _selected(
    grid: Grid, counts: Any, pi: float, terms: tuple[Term, ...]
) -> tuple[tuple[Term, ...], tuple[Step, ...], dict[str, str]]:
    if pi >= 1:
        return terms, (), {"path": "a census needs no model: nothing to select"}
    if grid.n_possible > MAX_GRID:
        words = (
            f"the search needs the full grid of {grid.n_possible:,} possible cells, at most {MAX_GRID:,}; "
            "these are main effects: recode keys to search"
        )
        warnings.warn(words, SdcWarning, stacklevel=3)
        return terms, (), {"path": words}
    chosen, path = forward_search(grid, counts, pi)
    return chosen, path, {"path": _path_in_words(path)}


def _path_in_words(path: tuple[Step, ...]) -> str:
    first, last = path[0].z2, path[-1].z2
    if math.isnan(first):
        return "a forward search cannot judge main effects, so it added no pair of keys"
    if len(path) == 1:
        return f"a forward search added no pair of keys: z2 of main effects is {first:.4g}"
    pairs = "1 pair" if len(path) == 2 else f"{len(path) - 1} pairs"
    return f"a forward search added {pairs} of keys to main effects: z2 went from {first:.4g} to {last:.4g}"


def _result(
    cells: Cells, grid: Grid, fitted: FittedModel, pi: float, *, method: Method, notes: dict[str, str], **given: Any
) -> PopulationRisk:
    unique = cells.table.size == 1
    own = np.full(len(unique), pi) if method == "counts" else log_linear.fractions_of(cells, pi)
    selected = np.full(len(unique), pi) if method == "pml" else own  # weights are fitted: the population by one factor
    p, match = unique_risk(fitted.mu, selected, own)
    statistics = fitted.statistics
    if not fitted.converged:
        words = (
            f"the model did not converge: a margin still misses by {fitted.gap:.2g} of the records; "
            "leave out interactions between sparse keys"
        )
        warnings.warn(words, SdcWarning, stacklevel=3)
        notes = {**notes, "model": words}
        p, match, statistics = np.full_like(p, np.nan), np.full_like(match, np.nan), FitStatistics()
    apart = math.nan
    if fitted.converged and pi < 1 and method == "counts":
        observed = size_models.observed_sizes(size_models.size_table(cells.table.size, cells.n / pi))
        apart = dissimilarity(expected_groups(grid, fitted, cells.table.size.astype(np.float64)), observed)
    fit = fit_of(statistics.z2, apart, pi)
    tau1, tau2 = (float(risk[unique].sum()) if fitted.converged else math.nan for risk in (p, match))
    columns = {
        "p_population_unique": np.where(unique, p, np.nan), "expected_match": np.where(unique, match, np.nan),
        "cell_fraction": own, "expected_records": fitted.mu, "expected_population": fitted.mu / selected,
    }  # fmt: skip
    return PopulationRisk(
        cells=cells.with_cells(columns), n=cells.n, sampling_fraction=pi, sample_uniques=int(unique.sum()),
        tau1=tau1, tau2=tau2, method=method, **asdict(statistics), n_possible=grid.n_possible,
        model=log_linear.term_names(cells.keys, fitted.terms), dissimilarity=apart, fit=fit,
        notes={**_notes(fit, fitted, int(unique.sum()), searched="path" in notes), **notes}, **given,
    )  # fmt: skip


def fit_of(z2: float, apart: float, pi: float) -> Fit:
    """Judge a log-linear model by its misfit and by the share of the file's groups that are of another size.

    References
    ----------
    Skinner, C. and Shlomo, N. (2008): z2 as the criterion of choice. Agresti, A. (2013): a dissimilarity of at most
    3 % is a close fit, though tests reject it in large files.

    Examples
    --------
    >>> fit_of(0.3, 0.01, 0.1), fit_of(2.5, 0.02, 0.1), fit_of(150, 0.5, 0.1), fit_of(-4, 0.01, 0.1)
    ('fits', 'close', 'too simple', 'overfitted')
    """
    if pi >= 1:
        return "census"
    if math.isnan(z2):
        return "not judged"
    if abs(z2) < ACCEPT:
        return "fits"
    if z2 < 0:
        return "overfitted"
    return "close" if apart <= size_models.CLOSE else "too simple"


def _notes(fit: Fit, fitted: FittedModel, uniques: int, *, searched: bool) -> dict[str, str]:
    notes = {}
    if fit == "census":
        words = "sample uniques are population uniques, nothing is modelled"
        notes["z1"] = f"the file is the whole population: {words}"
    elif fit == "not judged" and fitted.converged:
        notes["z1"] = "the model leaves nothing to compare: its fit cannot be judged"
    elif fit == "close":
        notes["z2"] = (
            "z2 of 1.645 or more says that the model is too simple, yet it expects the file's groups closely: at most "
            "3 % of them are of another size"
        )
    elif fit == "too simple":
        notes["z2"] = (
            "the model is too simple for this file (z2 of 1.645 or more): tau1 and tau2 are probably too high, "
            "though a strong misfit can hide the direction; "
            + ("recode keys" if searched else "try select=True or interactions=2")
        )
    elif fit == "overfitted":
        notes["z2"] = "the model may be overfitted (z2 of -1.645 or less): tau1 and tau2 may be too low"
    if uniques == 0:
        notes["tau1_per_unique"] = "there is no sample unique to relate the risk to"
    return notes


# The log-linear model of the population, its terms searched for where that takes seconds.


QUICK_MODEL = 60_000_000  # possible cells times pairs of keys squared: at most some five seconds on two cores


def searched_risk(cells: Any, **given: Any) -> PopulationRisk:
    """Model the population by a forward search, or by main effects where searching would take long.

    `given`: subgroups and intervals, as `population_risk` takes them.

    The cells must know their sampling fraction or weights; the notes say how the model was chosen.
    """
    here = size_models.category_cells(cells)
    n_keys, possible = len(here.keys), log_linear.grid_of(here).n_possible
    if possible * (n_keys * (n_keys - 1) // 2) ** 2 <= QUICK_MODEL:
        return population_risk(here, select=True, **given)
    result = population_risk(here, **given)
    way_out = "population_risk(select=True) does it" if possible <= MAX_GRID else "recode keys to have it searched"
    result.notes["path"] = (
        f"these are main effects: to choose among pairs of {n_keys} keys on {possible:,} possible cells would "
        f"take long; {way_out}"
    )
    return result
