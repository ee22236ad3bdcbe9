"""A5: how many people of the population share each record's key, when the population is at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from sdckit.cells import as_cells, pair, shared_coding
from sdckit.cells.plans.key_sizes import KeySizes
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import AnyCells, Cells
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.identity.population import log_linear, size_models
from sdckit.numerics.array_types import Ints, Values
from sdckit.result import FileFigure

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class KMap(CellsResult):
    """k-map of a file against its population.

    Attributes
    ----------
    n : int
        Records.
    level : int or float
        The largest k that holds for every record; NaN without a population file.
    violations : dict of int to float
        For each k asked, the records whose key fewer than k people of the population have; without a
        population file the number expected under independent keys.
    violation_rates : dict of int to float
        The same as a share of the records.
    records : frame
        ``population_frequency``; without a population file ``p_below_<k>`` for each k.
    """

    measure: ClassVar[str] = "k_map"
    figures: ClassVar[tuple[str, ...]] = ("n", "level", "violations", "violation_rates")
    cells: AnyCells
    level: float
    violations: dict[int, float]
    columns: tuple[str, ...]

    @cached_property
    def violation_rates(self) -> dict[int, float]:
        """Share of the records that violate each k."""
        return {k: count / self.n for k, count in self.violations.items()}

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        levels = [*self.violations][::-1]
        if self.columns != ("population_frequency",):
            source: dict[int, dict[str, Any]] = {k: {"column": f"p_below_{k}"} for k in levels}
        else:
            source = {k: {"column": "population_frequency", "below": k - 0.5} for k in levels}
        rates = [FileFigure(f"violation_rates[{k}]", **source[k]) for k in levels]
        counts = [FileFigure(f"violations[{k}]", how="sum", **source[k]) for k in levels]
        smallest = FileFigure("level", "population_frequency", "min", higher="safer")
        return (*rates, *counts, *([] if math.isnan(self.level) else [smallest]))

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return size_models.records_of(self.cells, self.columns, self.prefix)


def file_and_population(data: Any, population: Any) -> tuple[Any, Any]:
    """The file and its population: as given, or of a pair its original, and the pair itself as population."""
    if not isinstance(data, pair.Pair):
        return data, population
    if population is not None:
        raise DataError("the files are fixed by the pair given; leave population= out")
    return data.original, None if data.population is None else data


def population_cells(population: Any, keys: Sequence[str]) -> Cells | KeySizes:
    """Cells of a population file by the keys of the other file; a pair counts its population once."""
    if isinstance(population, pair.Pair):
        return population.once(("population", tuple(keys)), lambda: population_cells(population.population, keys))
    try:
        if as_cells.is_cells(population):
            size_models.check_records_counted(population)
        return as_cells.cells_or_sizes(population, keys)
    except (ColumnError, DataError) as error:
        raise type(error)(f"population: {error}", argument="population") from None


def with_population(
    cells: AnyCells, population: Cells | KeySizes, run: Callable[[Ints, Ints], tuple[Values, T]], name: str
) -> tuple[AnyCells, list[T]]:
    """Add a column to cells, made from their records and from those of the population with their key, part by part.

    Raises DataError: the population has fewer records of a cell.
    """

    def of_part(part: AnyCells) -> tuple[AnyCells, tuple[int, T]]:
        here = part.in_memory()
        size, frequency = here.table.size, _frequency(here, population)
        column, outcome = run(size, np.maximum(frequency, size))
        return part.with_cells({name: column}), (int(np.count_nonzero(size > frequency)), outcome)

    made, by_part = cells.by_parts(of_part)
    if short := sum(few for few, _ in by_part):
        words = "the data must be a part of the population, with the keys coded alike in both"
        raise DataError(f"in {counted(short, 'cell')} the population has fewer records than the data: {words}")
    return made, [outcome for _, outcome in by_part]


def _frequency(cells: Cells, population: Cells | KeySizes) -> Ints:
    """The people with the key of each cell."""
    if isinstance(population, KeySizes):
        return population.of(cells)
    at = shared_coding.matching_cells(cells, population)
    return np.where(at >= 0, population.table.size[at], 0)


def k_map(
    data: Any,
    population: Any = None,
    *,
    keys: Sequence[str] | None = None,
    k: Sequence[int] | int = (2, 3, 5),
    weight: str | None = None,
    sampling_fraction: float | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> KMap:
    """Find the largest k for which at least k people of the population share each record's key.

    Parameters
    ----------
    data : data frame, Cells or Pair
        Of a pair its original, in the population opened with it.
    population : data frame or Cells, optional
        The population that `data` is a part of, one row per person, with the same keys. Without it the
        records expected to violate each k are estimated, the keys taken as independent.
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    k : int or sequence of int
        Levels to test, 2 or more.
    weight, sampling_fraction : str and float, optional
        How large the population is, where it is not given.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its key less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    KMap
        ``level``, ``violations``, ``violation_rates``, ``records``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a key of different types in the two files.
    DataError
        As `key_frequencies`; a key that more records of `data` have than of the population.

    Notes
    -----
    Types of storage do not matter: 3 matches 3.0, a category the text it stands for. Without a population
    file P(F < k | f) is the chance that a Poisson count with mean (1 - pi) mu/pi is below k - f.

    References
    ----------
    Sweeney, L. (2001). Computational Disclosure Control: Theory and Practice. Thesis, MIT. El Emam, K. and
    Dankar, F. (2008). Protecting privacy using k-anonymity. JAMIA 15, 627-637.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 40, 40, 40, 50]})
    >>> result = k_map(people[[0, 1, 2]], people, keys=["age"], k=3)
    >>> result.level, result.violations
    (2, {3: 2})
    """
    levels = arguments.counts(k, "k", "counts people of the population", at_least=2)
    data, population = file_and_population(data, population)
    broken = breakdown(data, by, KMap, interval, seed, scenario, prefix)
    if population is None:
        own = size_models.category_cells(
            data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, scenario=scenario, id=id, broken=broken
        )
        return broken.of(_by_model(own, levels, prefix))

    def below(size: Ints, frequency: Ints) -> tuple[Ints, tuple[int, ...]]:
        return frequency, (int(frequency.min()), *(int(size[frequency < level].sum()) for level in levels))

    cells = size_models.cells_of_people(
        data, keys, scenario, id, broken, weight=weight, sampling_fraction=sampling_fraction
    )
    cells, parts = with_population(cells, population_cells(population, cells.keys), below, "population_frequency")
    smallest, *few = zip(*parts, strict=True)
    violations: dict[int, float] = dict(zip(levels, map(sum, few), strict=True))
    return broken.of(KMap(cells, min(smallest), violations, ("population_frequency",), prefix=prefix))


def _by_model(cells: Cells, levels: tuple[int, ...], prefix: str) -> KMap:
    from scipy.special import pdtr

    pi, f = size_models.sampling_fraction_of(cells), cells.table.size
    unseen = (1 - pi) / pi * log_linear.expected_main_effects(log_linear.grid_of(cells), f.astype(np.float64))
    columns, violations = {}, {}
    for k in levels:
        others = k - 1 - f  # people of the population outside the file that the key may still have
        p = np.where(others >= 0, pdtr(np.maximum(others, 0), unseen), 0.0)
        columns[f"p_below_{k}"], violations[k] = p, float(p @ f)
    notes = {
        "level": "no population file: violations are expected numbers, the keys taken as independent "
        "(population_risk says how well that fits)"
    }
    return KMap(cells.with_cells(columns), math.nan, violations, tuple(columns), prefix=prefix, notes=notes)
