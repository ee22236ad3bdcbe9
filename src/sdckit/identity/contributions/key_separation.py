"""Which share of the records, and of their pairs, a set of keys tells apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import Cells
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.population.size_models import records_of
from sdckit.identity.special_uniques.risky_cells import count_table, dense_cells, sets_up_to
from sdckit.numerics.threads import run
from sdckit.result import FileFigure

STEP = 5  # counts that a protected document tells are rounded to it, smaller ones hidden


def separation_of(counts: NDArray[np.int64], n: int) -> float:
    """Share of the pairs of n records that are in different cells, by the records of these; NaN of one record.

    >>> separation_of(np.array([2, 1, 0, 1]), 4)
    0.8333333333333334
    """
    together = int((counts * (counts - 1)).sum())  # pairs in one cell, twice
    return 1 - together / (n * (n - 1)) if n > 1 else math.nan


def rounded(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts as a protected document may know them: to the nearest 5, those below 5 as 0.

    >>> rounded(np.array([4, 5, 7, 8])).tolist()
    [0, 5, 5, 10]
    """
    return np.where(counts < STEP, 0, (counts + STEP // 2) // STEP * STEP)


@dataclass(frozen=True)
class KeySet:
    """A set of keys, and what it tells apart.

    Attributes
    ----------
    variables : tuple of str
    n_cells : int
        Combinations of values that occur.
    distinction : float
        They as a share of the records: so many are left where one is kept of each combination.
    separation : float
        Share of the pairs of records that differ in at least one of the keys.
    rounded_separation : float
        The same by counts rounded to 5, those below 5 as 0: what the words of a protected document follow from.
    """

    variables: tuple[str, ...]
    n_cells: int
    distinction: float
    separation: float
    rounded_separation: float


@dataclass(frozen=True, eq=False, repr=False)
class KeySeparation(CellsResult):
    """What all keys of a file, and sets of them, tell apart.

    Attributes
    ----------
    n_cells : int
        Combinations of all keys that occur.
    distinction, separation : float
        Of all keys: combinations as a share of the records; share of the pairs of records that differ in a key.
    table : tuple of KeySet
        Every set of up to `max_dim` keys, by their number, and all keys last.
    records : frame
        ``separated``, the share of the other records that differ from this one in a key, and ``cell_share``, one
        over the records of its combination; their means are separation and distinction.
    """

    measure: ClassVar[str] = "key_separation"
    figures: ClassVar[tuple[str, ...]] = ("n", "n_cells", "distinction", "separation", "table_figures")
    cells: Cells
    table: tuple[KeySet, ...]

    @property
    def n_cells(self) -> int:
        """Combinations of all keys that occur."""
        return self.table[-1].n_cells

    @property
    def distinction(self) -> float:
        """Combinations of all keys as a share of the records."""
        return self.table[-1].distinction

    @property
    def separation(self) -> float:
        """Share of the pairs of records that differ in at least one key."""
        return self.table[-1].separation

    @cached_property
    def table_figures(self) -> dict[str, dict[str, float]]:
        """The table by the names of the variables."""
        names = ("n_cells", "distinction", "separation")
        return {" x ".join(row.variables): {name: getattr(row, name) for name in names} for row in self.table}

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (FileFigure("separation", "separated"), FileFigure("distinction", "cell_share"))

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return records_of(self.cells, ["separated", "cell_share"], self.prefix)


def key_separation(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    max_dim: int = 2,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> KeySeparation:
    """Compute the share of the records, and of their pairs, that sets of keys tell apart.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know; a missing value is a category here.
    max_dim : int
        Largest number of keys in a set; all keys together are always looked at.
    by, interval, seed, scenario, id, prefix
        As in `risky_cells`.

    Returns
    -------
    KeySeparation
        ``distinction`` and ``separation`` of all keys, ``table`` of `KeySet`, ``records``, ``by_group``.

    Raises
    ------
    ColumnError, DataError
        As `risky_cells`.

    References
    ----------
    Motwani, R. and Xu, Y. (2007). Efficient algorithms for masking and finding quasi-identifiers. Proceedings of
    the Conference on Very Large Data Bases (VLDB), 83-93.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "a", "a"]})
    >>> result = key_separation(survey, keys=["sex", "job"])
    >>> [(row.variables, row.distinction, round(row.separation, 4)) for row in result.table]
    [(('sex',), 0.5, 0.6667), (('job',), 0.5, 0.5), (('sex', 'job'), 0.75, 0.8333)]
    """
    asked = breakdown(data, by, KeySeparation, interval, seed, scenario, prefix)
    cells = tabulate_given(data, keys=keys, scenario=scenario, id=id, default_missing="category", weighted=False)
    if cells.roles.person is not None:
        raise DataError("distinct persons cannot be counted from cells; leave person= out for key separation")
    sets = [names for names in sets_up_to(cells.keys, max_dim) if len(names) < len(cells.keys)]
    here = cells.in_memory(*asked.extra(cells))
    codes, levels = dense_cells(here)
    size, place = here.table.size, {key: j for j, key in enumerate(here.keys)}
    every = [*sets, tuple(here.keys)]

    def told_apart(names: tuple[str, ...]) -> KeySet:
        counts = count_table(codes, levels, size, [place[name] for name in names])[1]
        n_cells, both = int(np.count_nonzero(counts)), [separation_of(c, here.n) for c in (counts, rounded(counts))]
        return KeySet(names, n_cells, n_cells / here.n, *both)

    table = tuple(run(told_apart, every))
    others = max(here.n - 1, 1)
    columns = {"separated": (here.n - size) / others if here.n > 1 else np.full(1, np.nan), "cell_share": 1 / size}
    return asked.of(KeySeparation(here.with_cells(columns), table, prefix=prefix))
