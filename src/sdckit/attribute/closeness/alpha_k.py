"""C2: (alpha, k)-anonymity, the largest share of one sensitive value in a class, and the size of the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import VIOLATED, ClassResult, Columns, Spread, open_classes
from sdckit.cells.record_result import IntervalKind
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario

OR_SMALL = "small_or_alpha"  # column of a variable: its alpha, infinite in a class that is too small


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def largest_shares(spread: Spread) -> NDArray[np.float64]:
    """Share of the most frequent sensitive value of each class."""
    return np.maximum.reduceat(spread.count, spread.edges[:-1]) / spread.total


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AlphaK(ClassResult):
    """(alpha, k)-anonymity of each sensitive variable.

    Attributes
    ----------
    n : int
        Records.
    variables : tuple of str
        The sensitive variables.
    k : int
        Records of the smallest class.
    alpha : dict of str to float
        Largest share of one value in a class, by variable, above 0 to 1.
    small : int
        Records in a class of fewer than the k asked for.
    violations : dict
        ``violations[variable][alpha]``: records in a class of fewer than the k asked for, or with one value
        in a share above alpha.
    records : frame
        ``alpha_<variable>``: the figure of a record's class.
    table : frame
        A row per cell, the worst first; for the session only.
    """

    measure: ClassVar[str] = "alpha_k"
    figures: ClassVar[tuple[str, ...]] = ("n", "k", "alpha", "small", *VIOLATED)
    largest: ClassVar[dict[str, str]] = {"alpha": "alpha"}
    judged: ClassVar[dict[str, str]] = {"": OR_SMALL}
    k: int = 0
    asked: int = 2

    @cached_property
    def alpha(self) -> dict[str, float]:
        """Largest share of one value in a class, by variable."""
        return self._largest("alpha")

    @cached_property
    def small(self) -> int:
        """Records in a class smaller than the k asked for."""
        return self.cells.values("class_size").count_below([self.asked])[0]


# --- measure ------------------------------------------------------------------------------------------


def alpha_k(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    limits: Sequence[float] | float = (0.5, 0.8),
    k: int | None = None,
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> AlphaK:
    """Measure the largest share of one sensitive value among the records of one key, beside how many they are.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    sensitive : str or sequence of str
        Variables that they would learn; a missing value is one more value.
    limits : float or sequence of float
        Shares alpha to count violations of, above 0.
    k : int, optional
        Records that a class must have; default the scenario's threshold, else 2.
    missing : {"category", "wildcard", "error"} or dict, optional
        What a missing *key* value is; default a category. As a wildcard, the class of a record is all
        records that match it.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its class less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    AlphaK
        ``k``, ``alpha``, ``small``, ``violations``, ``records``, ``table``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a sensitive variable that is a key.
    DataError
        As `key_frequencies`; a sensitive variable without any value; a limit not above 0; k that is no whole
        number of 1 or more.
    ScenarioError
        No sensitive variable.

    Notes
    -----
    A class of one value has alpha = 1, and so has every sample unique.

    References
    ----------
    Wong, R., Li, J., Fu, A. and Wang, K. (2006). (alpha, k)-anonymity: an enhanced k-anonymity model for
    privacy preserving data publishing. KDD 2006.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": list("ffffm"), "health": ["yes", "no", "yes", "yes", "no"]})
    >>> result = alpha_k(survey, keys=["sex"], sensitive="health")
    >>> result.alpha["health"], result.k, result.violations["health"]
    (1.0, 1, {0.5: 5, 0.8: 1})
    """
    scenario = arguments.scenario_or_none(scenario)
    if k is None:
        k = (scenario.limits.k if scenario else None) or 2
    asked = arguments.count(k, "k", "counts records of a class")
    classes = open_classes(
        AlphaK, data, keys=keys, sensitive=sensitive, limits=limits, limit="alpha", missing=missing, by=by,
        interval=interval, seed=seed, scenario=scenario, id=id, prefix=prefix,
    )  # fmt: skip

    def of_classes(name: str, spread: Spread) -> tuple[Columns, int]:
        largest, total = largest_shares(spread), spread.total
        judged = np.where(total < asked, np.inf, largest)  # a class that is too small violates every limit
        return {f"alpha_{name}": largest, f"{OR_SMALL}_{name}": judged, "class_size": total}, int(total.min())

    classes, smallest = classes.measured(of_classes)
    return classes.result(["alpha"], k=min(smallest[classes.variables[0]]), asked=asked)
