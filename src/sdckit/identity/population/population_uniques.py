"""A5: how many people are unique in the population, from the table of class sizes alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from sdckit.cells.table import Cells
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.population import size_models
from sdckit.identity.population.size_models import dankar, dissimilarity, pitman, snb, snb3, zayatz
from sdckit.result import Result

CAUTION = (
    "estimates from class sizes alone may miss by a factor of 2 to 6 at small sampling fractions: compare them, "
    "and prefer population_risk with interactions"
)
LEAST_SHARE = 0.1  # sampling fraction: below it, class sizes alone do not support extrapolation
REASONS = {
    "all_unique": "every record is unique: the likelihood has no finite maximum",
    "one_class": "all records share one key",
    "no_pairs": "no two records share a key with each other alone",
    "no_root": "the equations have no solution",
    "several": "the equations have several solutions, listed under parameters",
    "above_n": "the classes estimated exceed the population",
}


def closest(apart: Mapping[str, float], pi: float) -> str:
    """The model that comes closest to the sizes of the file's groups, if close enough; "" where there is none.

    In a small share of the population the sizes fix too little: models that fit them equally well differ by a factor
    of 2 and more there.

    Examples
    --------
    >>> apart = {"zayatz": 0.2, "pitman": 0.012, "snb": math.nan}
    >>> closest(apart, 0.3), closest(apart, 0.02), closest({"zayatz": 0.2}, 0.3)
    ('pitman', '', '')
    """
    near = {name: share for name, share in apart.items() if share <= size_models.CLOSE}
    return min(near, key=lambda name: near[name]) if near and pi >= LEAST_SHARE else ""


@dataclass(frozen=True, eq=False, repr=False)
class PopulationUniques(Result):
    """Expected population uniques by several models, side by side.

    Attributes
    ----------
    n, sample_uniques : int
        Records, and those whose key no other record has (missing keys being a category).
    population : float
        Records of the population: n over the sampling fraction.
    zayatz, pitman, snb, snb3, dankar : float
        Expected population uniques by each model; NaN where it has no solution. `zayatz` is too high at small
        sampling fractions; `snb3`, the number of classes fitted as well, is our own variant.
    shares : dict of str to float
        The same as shares of the population.
    dissimilarity : dict of str to float
        Share of the file's groups that are of another size than each model expects.
    recommended : str
        The model to be trusted before the others: it comes closest to the sizes of the file's groups, at most 3 % are
        of another size, and the file holds a tenth of the population. "" where there is none, or nothing to model.
    status : dict of str to str
        "ok", or what happened; for ``dankar`` the model it chose.
    parameters : dict of str to dict
        Of the fitted models.
    estimates : dict of str to SizeEstimate
        Everything about each model.
    """

    measure: ClassVar[str] = "population_uniques"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "sample_uniques", "population", "zayatz", "pitman", "snb", "snb3", "dankar", "shares", "dissimilarity",
        "recommended", "status", "parameters",
    )  # fmt: skip
    cells: Cells
    n: int
    sample_uniques: int
    population: float
    zayatz: float
    pitman: float
    snb: float
    snb3: float
    dankar: float
    estimates: dict[str, size_models.SizeEstimate]
    dissimilarity: dict[str, float]
    recommended: str
    notes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def shares(self) -> dict[str, float]:
        """Population uniques as a share of the population."""
        return {name: estimate.share for name, estimate in self.estimates.items()}

    @cached_property
    def status(self) -> dict[str, str]:
        """What happened in each model."""
        return {name: estimate.status for name, estimate in self.estimates.items()}

    @cached_property
    def parameters(self) -> dict[str, dict[str, float]]:
        """Parameters of the fitted models."""
        return {name: dict(estimate.parameters) for name, estimate in self.estimates.items() if estimate.parameters}

    @property
    def records(self) -> Any:
        """Refuse: the models speak of the file.

        Raises
        ------
        DataError
            Always; `population_risk` has figures per record.
        """
        raise DataError("population uniques are figures of the file; population_risk gives figures per record")


def population_uniques(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    scenario: Scenario | None = None,
) -> PopulationUniques:
    """Estimate the number of population uniques from how many classes of records have each size.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    weight : str, optional
        Column of sampling weights; the population is then their sum.
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1], instead of a weight.
    scenario : Scenario, optional
        Gives what is not given here.

    Returns
    -------
    PopulationUniques
        ``zayatz``, ``pitman``, ``snb``, ``snb3``, ``dankar``, ``shares``, ``status``, ``parameters``.

    Raises
    ------
    ColumnError, DataError, ScenarioError
        As `key_frequencies`; also neither sampling fraction nor weight, or weights that sum to less than
        the records.

    Notes
    -----
    A simple random sample is assumed. Without sample uniques every estimate is 0, with a census it is the
    number of sample uniques. ARX's slide negative binomial has two slips and gives other figures.

    References
    ----------
    Zayatz (1991); Hoshino (2001), J. Official Statistics 17; Chen and Keller-McNulty (1998), J. Official
    Statistics 14; Dankar et al. (2012), BMC Medical Informatics and Decision Making 12:66.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"town": [1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 7]})
    >>> found = population_uniques(survey, keys=["town"], sampling_fraction=0.5)
    >>> found.sample_uniques, round(found.zayatz, 3), found.status["dankar"]
    (3, 2.604, 'zayatz')
    """
    cells = size_models.category_cells(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, scenario=scenario
    )
    population = cells.n / size_models.sampling_fraction_of(cells)
    if abs(population - round(population)) <= 1e-9 * population:
        population = float(round(population))
    table = size_models.size_table(cells.table.size, population)
    estimates = {"zayatz": zayatz(table), "pitman": pitman(table), "snb": snb(table), "snb3": snb3(table)}
    observed = size_models.observed_sizes(table)
    expected = {name: size_models.expected_by_model(name, table, model) for name, model in estimates.items()}
    apart = {name: dissimilarity(by_model, observed) for name, by_model in expected.items()}
    estimates["dankar"] = dankar(table, estimates["zayatz"], estimates["pitman"], estimates["snb"])
    notes = {"estimates": CAUTION} if table.n < table.population else {}
    notes |= {name: REASONS[estimate.status] for name, estimate in estimates.items() if math.isnan(estimate.uniques)}
    uniques = {name: estimate.uniques for name, estimate in estimates.items()}
    return PopulationUniques(
        cells=cells, n=cells.n, sample_uniques=int(table.of(1)), population=population, **uniques,
        estimates=estimates, dissimilarity=apart, recommended=closest(apart, table.pi), notes=notes,
    )  # fmt: skip
