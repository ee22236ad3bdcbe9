"""A1: how many records in the sample, and people in the population, share each record's key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from sdckit.cells import as_cells, table
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.result import FileFigure, mean_and_sum

UNIQUE = 1 + 1e-9  # the frequency of a unique is below
SIZE_BANDS = {
    "1": (1, 2), "2": (2, 3), "3": (3, 4), "4": (4, 5), "5-9": (5, 10), "10-24": (10, 25), "25-49": (25, 50),
    "50-99": (50, 100), "100+": (100, 1 << 62),
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class KeyFrequencies(CellsResult):
    """How often each key occurs.

    Attributes
    ----------
    n : int
        Records.
    n_cells : int
        Distinct key combinations.
    sample_uniques : int
        Records whose sample frequency is 1.
    sample_unique_rate : float
        The same as a share of the records.
    resting_on_missing : int
        Records that would be unique if other records' missing values matched nothing (0 where none is a
        wildcard).
    frequency_of_frequencies : dict of str to int
        Cells by their number of records: "1", "2", "3", "4", "5-9", ..., "100+".
    missing_rule : str
        What a missing key value was taken for, in words.
    records : frame
        ``cell_size``, ``sample_frequency``, ``population_frequency`` (with weights or a sampling
        fraction), ``sample_unique``.
    """

    measure: ClassVar[str] = "key_frequencies"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_cells", "sample_uniques", "sample_unique_rate", "resting_on_missing", "frequency_of_frequencies",
    )  # fmt: skip

    @cached_property
    def n_cells(self) -> int:
        """Distinct key combinations."""
        return self.cells.n_cells

    @cached_property
    def sample_uniques(self) -> int:
        """Records whose sample frequency is 1 (with wildcards: that no other record matches)."""
        return self.cells.values("sample_frequency").count_below([UNIQUE])[0]

    @property
    def sample_unique_rate(self) -> float:
        """Share of the records whose sample frequency is 1."""
        return self.sample_uniques / self.n

    @cached_property
    def resting_on_missing(self) -> int:
        """Records that would be unique if other records' missing values matched nothing."""
        return self.cells.count_resting([UNIQUE])[0]

    @cached_property
    def frequency_of_frequencies(self) -> dict[str, int]:
        """Cells by their number of records."""
        edges = [low for low, _ in SIZE_BANDS.values()] + [1 << 62]
        return dict(zip(SIZE_BANDS, self.cells.count_cells(edges), strict=True))

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return mean_and_sum("sample_unique_rate", "sample_uniques", "sample_frequency", below=UNIQUE)

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return self.cells.records(frequency_columns(self.cells), prefix=self.prefix)


def frequency_columns(cells: table.AnyCells) -> list[str]:
    """The record columns of A1 that exist for these cells."""
    known = ["population_frequency"] if "population_frequency" in cells.columns else []
    return ["cell_size", "sample_frequency", *known, "sample_unique"]


def key_frequencies(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    person: str | None = None,
    missing: MissingRule | None = None,
    alpha: float | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> KeyFrequencies:
    """Count the records, and estimate the people, that share each record's key.

    Parameters
    ----------
    data : data frame or Cells
        One row per record; pandas, Polars (eager or lazy), PyArrow, DuckDB or Spark.
    keys : sequence of str
        Variables that an intruder could know.
    weight : str, optional
        Column of sampling weights, persons that a record stands for; F is their sum.
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1]; F = f / fraction.
    person : str, optional
        Column that tells whose row it is; f and F then count distinct persons.
    missing : {"wildcard", "category", "error"} or dict, optional
        What a missing key value is: any value (default), a level of its own, an error; or per key.
    alpha : float, optional
        Weight in [0, 1] of a match through another record's missing value; default 1.
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
    id : str, optional
        Column to carry along in `.records`.
    prefix : str, optional
        Put before the names of the result columns.

    Returns
    -------
    KeyFrequencies
        ``n``, ``n_cells``, ``sample_uniques``, ``resting_on_missing``, ``frequency_of_frequencies``,
        ``missing_rule``, ``records``, ``by_group``, ``intervals``.

    Raises
    ------
    ColumnError
        A column is absent or named twice.
    DataError
        No records, a key without any value, weights that are not positive numbers; with `person`,
        missing key values under "wildcard" or a weight that varies within a person.
    ScenarioError
        No keys, several intruders.

    Notes
    -----
    As a wildcard, a missing value matches every value: two records match when on every key they are
    equal or one is missing. In the count of a record, a matching record with a missing key and another
    pattern counts alpha, every other one 1.

    A record with every key missing, whatever the rule of each, counts for no other record: two blank rows
    would hide every unique. In its own count all records match it as the rule says. With one key only it
    is the value that is unknown, and the rule has no exception. sdcMicro's ``freqCalc`` gives complete
    records no credit for blank ones, but partly missing records full credit, and the blank ones the count n
    whatever alpha.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice
    Guide. Templ, M., Kowarik, A. and Meindl, B. (2015). Journal of Statistical Software 67(4).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["m", "m", "m", "f"], "educ": ["high", "low", None, "low"]})
    >>> key_frequencies(survey, keys=["sex", "educ"]).records["sample_frequency"].to_list()
    [2, 2, 3, 1]
    >>> key_frequencies(survey, keys=["sex", "educ"], missing="category").sample_uniques
    4
    """
    asked = breakdown(data, by, KeyFrequencies, interval, seed, scenario, prefix, on_engine=True)
    cells = as_cells.tabulate_given(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, person=person,
        missing=missing, alpha=alpha, scenario=scenario, id=id,
    )  # fmt: skip
    return asked.of(KeyFrequencies(cells, prefix=prefix))
