"""A5: delta-presence, how certain it is that a person of the population is in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import AnyCells
from sdckit.data import arguments, columns
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.population import k_map, size_models
from sdckit.numerics.array_types import Floats, Ints
from sdckit.result import FileFigure, mean_and_sum


@dataclass(frozen=True, eq=False, repr=False)
class DeltaPresence(CellsResult):
    """Share of the people with each key that are in the file.

    Attributes
    ----------
    n, population : int
        Records of the file and of its population.
    minimum, maximum : float
        Smallest and largest share over all keys of the population.
    limits : tuple of float
        The limits asked for.
    holds : bool
        Whether every share lies within the limits.
    n_above, n_below : int
        People of the population with a key whose share is above, or below, the limits.
    records_above, rate_above : int and float
        Records of the file with such a key above the limit, and their share of its records.
    records : frame
        ``presence``: the share for each record of the file.
    """

    measure: ClassVar[str] = "delta_presence"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "population", "minimum", "maximum", "limits", "holds", "n_above", "n_below", "records_above",
        "rate_above",
    )  # fmt: skip
    cells: AnyCells
    population: int
    minimum: float
    maximum: float
    limits: tuple[float, float]
    holds: bool
    n_above: int
    n_below: int
    records_above: int

    @property
    def rate_above(self) -> float:
        """Share of the file's records with a key above the limit."""
        return self.records_above / self.n

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            *mean_and_sum("rate_above", "records_above", "presence", above=self.limits[1]),
            FileFigure("maximum", "presence", "max"),
        )

    @property
    def records(self) -> Any:
        """A row per record of the file, in the caller's order and frame type."""
        return size_models.records_of(self.cells, ["presence"], self.prefix)


def delta_presence(
    data: Any,
    population: Any = None,
    *,
    keys: Sequence[str] | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> DeltaPresence:
    """Find how surely an intruder who knows a person's key learns that the person is in the file.

    Parameters
    ----------
    data : data frame, Cells or Pair
        The file: those with a disease, say, whose being listed is what must stay hidden. Of a pair its
        original, in the population opened with it.
    population : data frame or Cells
        The people that the file is a part of, one row per person, with the same keys.
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    limits : pair of float
        Smallest and largest share allowed; a smallest share above 0 needs every key of the population
        in the file.
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
    DeltaPresence
        ``minimum``, ``maximum``, ``holds``, ``n_above``, ``n_below``, ``records_above``, ``records``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a key of different types in the two files.
    DataError
        As `key_frequencies`; a key that more records of the file have than of the population; limits
        that are no shares.

    References
    ----------
    Nergiz, M. E., Atzori, M. and Clifton, C. (2007). Hiding the presence of individuals from shared
    databases. SIGMOD, 665-676.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 40, 40, 40, 50]})
    >>> result = delta_presence(people[[0, 1, 2]], people, keys=["age"], limits=(0, 0.5))
    >>> result.minimum, result.maximum, result.holds, result.n_above
    (0.0, 1.0, False, 2)
    """
    low, high = _checked(limits)
    data, population = k_map.file_and_population(data, population)
    if population is None:
        raise DataError("population= is missing: give the file of the people that the data is a part of")
    asked = breakdown(data, by, DeltaPresence, interval, seed, scenario, prefix)
    cells = size_models.cells_of_people(data, keys, scenario, id, asked)
    everybody = k_map.population_cells(population, cells.keys)

    def shares(size: Ints, total: Ints) -> tuple[Floats, tuple[float, float, Ints]]:
        share: Floats = size / total
        above, below = share > high, share < low
        counts = len(total), total.sum(), total[above].sum(), size[above].sum(), total[below].sum()
        return share, (float(share.min()), float(share.max()), np.array(counts, np.int64))

    cells, parts = k_map.with_population(cells, everybody, shares, "presence")
    least, most, counts = zip(*parts, strict=True)
    n_keys, people, n_above, records_above, n_below = sum(counts).tolist()
    others = everybody.n_cells > n_keys  # keys of the population that nobody in the file has
    n_below += (everybody.n - people) * (low > 0)
    result = DeltaPresence(
        cells=cells, population=everybody.n, minimum=0.0 if others else min(least), maximum=max(most),
        limits=(low, high), holds=not (n_above or n_below), n_above=n_above, n_below=n_below,
        records_above=records_above, prefix=prefix,
    )  # fmt: skip
    return asked.of(result)


def _checked(limits: Sequence[float]) -> tuple[float, float]:
    pair = tuple(limits) if isinstance(limits, (tuple, list)) else ()
    if len(pair) != 2 or not all(map(columns.is_number, pair)) or not 0 <= pair[0] <= pair[1] <= 1:
        words = "limits are the smallest and largest share allowed; give two numbers from 0 to 1, in order"
        raise DataError(words, argument="limits")
    return float(pair[0]), float(pair[1])
