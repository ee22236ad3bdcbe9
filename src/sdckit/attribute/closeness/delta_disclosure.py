"""C2: the largest factor by which the share of a sensitive value differs between a class and the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import ROUNDING, VIOLATED, ClassResult, Columns, Spread, open_classes
from sdckit.cells.record_result import IntervalKind
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.numerics.compiling import njit

# --- kernel: numbers in, numbers out ------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _log_ratios(edges, level, count, log_share, largest):  # type: ignore[no-untyped-def]
    """Largest |ln(q/p)| over the values of each class, into `largest` (K,).

    `edges` (K + 1,): the entries of each class in `level` and `count`; `log_share`: ln p of each level in the file.
    """
    for cell in range(len(edges) - 1):
        start, stop = edges[cell], edges[cell + 1]
        total = 0.0
        for e in range(start, stop):
            total += count[e]
        furthest = 0.0
        for e in range(start, stop):
            furthest = max(furthest, abs(np.log(count[e] / total) - log_share[level[e]]))
        largest[cell] = furthest


def log_ratios(spread: Spread) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Largest |ln(q/p)| over the values that occur in each class, and whether it lacks a value of the file."""
    largest = np.empty(spread.n_cells)
    _log_ratios(spread.edges, spread.level, spread.count, np.log(spread.share), largest)
    return largest, np.diff(spread.edges) < len(spread.share)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class DeltaDisclosure(ClassResult):
    """delta-disclosure privacy of each sensitive variable.

    Attributes
    ----------
    n : int
        Records.
    variables : tuple of str
        The sensitive variables.
    delta : dict of str to float
        Largest |ln(q/p)| over classes and values (natural logarithm); infinite where a class lacks a value.
    delta_present : dict of str to float
        The same over the values that each class has.
    incomplete : dict of str to int
        Cells whose class lacks a value of the file.
    violations : dict
        ``violations[variable][kind][delta]``: records in a class that is not below delta.
    records : frame
        ``delta_<variable>``, ``delta_present_<variable>``: the figures of a record's class.
    table : frame
        A row per cell, the worst first; for the session only.
    """

    measure: ClassVar[str] = "delta_disclosure"
    figures: ClassVar[tuple[str, ...]] = ("n", "delta", "delta_present", "incomplete", *VIOLATED)
    largest: ClassVar[dict[str, str]] = {"delta": "delta", "delta_present": "delta_present"}
    judged: ClassVar[dict[str, str]] = largest
    slack: ClassVar[float] = -ROUNDING  # reaching the limit already violates it
    incomplete: dict[str, int] = field(default_factory=dict)

    @cached_property
    def delta(self) -> dict[str, float]:
        """Largest |ln(q/p)|, by variable."""
        return self._largest("delta")

    @cached_property
    def delta_present(self) -> dict[str, float]:
        """The same over the values that occur in each class, by variable."""
        return self._largest("delta_present")


# --- measure ------------------------------------------------------------------------------------------


def delta_disclosure(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    limits: Sequence[float] | float = (1.0, 2.0),
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> DeltaDisclosure:
    """Measure by which factor the share of a sensitive value changes, up or down, once the key is known.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    sensitive : str or sequence of str
        Variables that they would learn; a missing value is one more value.
    limits : float or sequence of float
        Values delta to count violations of, above 0.
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
    DeltaDisclosure
        ``delta``, ``delta_present``, ``incomplete``, ``violations``, ``records``, ``table``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a sensitive variable that is a key.
    DataError
        As `key_frequencies`; a sensitive variable without any value; a limit not above 0.
    ScenarioError
        No sensitive variable.

    Notes
    -----
    A class keeps delta where |ln(q/p)| is below delta, strictly, for every value of the file, with its share
    p there and q in the class. A value that a class lacks has q = 0 and is learnt to be impossible: delta is
    infinite. pyCANON leaves such values out; that is `delta_present`.

    References
    ----------
    Brickell, J. and Shmatikov, V. (2008). The cost of privacy: destruction of data-mining utility in
    anonymized data publishing. KDD 2008.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "health": ["yes", "no", "yes", "yes"]})
    >>> result = delta_disclosure(survey, keys=["sex"], sensitive="health")
    >>> result.delta["health"], round(result.delta_present["health"], 4), result.incomplete["health"]
    (inf, 0.6931, 1)
    """
    classes = open_classes(
        DeltaDisclosure, data, keys=keys, sensitive=sensitive, limits=limits, limit="delta", missing=missing, by=by,
        interval=interval, seed=seed, scenario=scenario, id=id, prefix=prefix,
    )  # fmt: skip
    classes, by_part = classes.measured(_of_classes)
    incomplete = {name: sum(parts) for name, parts in by_part.items()}
    for name, lacking in incomplete.items():
        if lacking:
            classes.notes[f"delta {name}"] = (
                f"infinite: {lacking} classes lack a value that the file has; see delta_present"
            )
    return classes.result(["delta", "delta_present"], incomplete=incomplete)


def _of_classes(name: str, spread: Spread) -> tuple[Columns, int]:
    """Columns of a variable, and the classes that lack one of its values."""
    present, lacks = log_ratios(spread)
    columns = {f"delta_{name}": np.where(lacks, np.inf, present), f"delta_present_{name}": present}
    return columns, int(np.count_nonzero(lacks))
