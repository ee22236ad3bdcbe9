"""A2: the largest k for which every record shares its key with k - 1 others, and who violates it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.result import FileFigure


@dataclass(frozen=True, eq=False, repr=False)
class KAnonymity(CellsResult):
    """k-anonymity of a file.

    Attributes
    ----------
    level : int
        The largest k that holds for every record.
    violations : dict of int to int
        For each k asked, the records with a sample frequency below k.
    violation_rates : dict of int to float
        The same as a share of the records.
    resting_on_missing : dict of int to int
        For each k asked, the records that reach k only through other records' missing values: below k if
        these matched nothing (alpha = 0). 0 where no missing value is a wildcard.
    records : frame
        ``sample_frequency``.
    """

    measure: ClassVar[str] = "k_anonymity"
    figures: ClassVar[tuple[str, ...]] = ("n", "level", "violations", "violation_rates", "resting_on_missing")
    k: tuple[int, ...]

    @cached_property
    def level(self) -> int:
        """The largest k that holds for every record."""
        return int(self.cells.values("sample_frequency").extremes()[0] + 1e-9)

    @cached_property
    def violations(self) -> dict[int, int]:
        """Records with a sample frequency below each k."""
        counts = self.cells.values("sample_frequency").count_below(self._limits)
        return dict(zip(self.k, counts, strict=True))

    @property
    def _limits(self) -> list[float]:
        return [k - 1e-9 for k in self.k]  # a sum of fractions of alpha may miss k by rounding

    @cached_property
    def violation_rates(self) -> dict[int, float]:
        """Share of the records with a sample frequency below each k."""
        return {k: count / self.n for k, count in self.violations.items()}

    @cached_property
    def resting_on_missing(self) -> dict[int, int]:
        """Records that reach each k only through other records' missing values."""
        return dict(zip(self.k, self.cells.count_resting(self._limits), strict=True))

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        limits = [*zip(self.k, self._limits, strict=True)][::-1]
        column = "sample_frequency"
        return (
            *(FileFigure(f"violation_rates[{k}]", column, below=limit) for k, limit in limits),
            *(FileFigure(f"violations[{k}]", column, "sum", below=limit) for k, limit in limits),
            FileFigure("level", column, "min", higher="safer"),
        )

    @property
    def records(self) -> Any:
        """``sample_frequency`` per record, in the caller's order and frame type."""
        return self.cells.records(["sample_frequency"], prefix=self.prefix)


def k_anonymity(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    k: Sequence[int] | int = (2, 3, 5),
    person: str | None = None,
    missing: MissingRule | None = None,
    alpha: float | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> KAnonymity:
    """Find the largest k for which the file is k-anonymous and count the records that violate given k.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    k : int or sequence of int
        Levels to test, 2 or more.
    person : str, optional
        Column that tells whose row it is; distinct persons are counted then.
    missing, alpha
        As in `key_frequencies`.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its key less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here; its threshold k is tested as well.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    KAnonymity
        ``level``, ``violations``, ``violation_rates``, ``resting_on_missing``, ``records``, ``by_group``,
        ``intervals``.

    Raises
    ------
    ColumnError, DataError, ScenarioError
        As `key_frequencies`; a k that is not a whole number of at least 2.

    References
    ----------
    Samarati, P. and Sweeney, L. (1998). Protecting privacy when disclosing information: k-anonymity
    and its enforcement through generalization and suppression. SRI-CSL-98-04.

    Examples
    --------
    >>> import polars as pl
    >>> result = k_anonymity(pl.DataFrame({"sex": ["f", "f", "m"]}), keys=["sex"], k=2)
    >>> result.level, result.violations
    (1, {2: 1})
    """
    levels = arguments.counts(k, "k", "counts records", at_least=2)
    broken = breakdown(data, by, KAnonymity, interval, seed, scenario, prefix, on_engine=True)
    if scenario is not None and scenario.limits.k is not None:
        levels = (*levels, scenario.limits.k)
    cells = tabulate_given(
        data, keys=keys, person=person, missing=missing, alpha=alpha, scenario=scenario, id=id, weighted=False
    )
    return broken.of(KAnonymity(cells, tuple(sorted(set(levels))), prefix=prefix))
