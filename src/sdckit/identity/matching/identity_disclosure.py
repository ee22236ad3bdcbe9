"""B5: shares of records that are unique in the original, in the release, and in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from numpy.typing import NDArray

from sdckit.cells.record_result import IntervalKind, PairRecordResult, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.identity.matching.replicated_uniques import MISSING_RULE, counts_of, open_keys, record_columns
from sdckit.result import FileFigure

# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class IdentityDisclosure(PairRecordResult):
    """How far the uniques of the original can be found in the release.

    Attributes
    ----------
    n : int
        Records of the original: the denominator of all shares but `unique_in_released`.
    n_released : float
        Records of a release; this and all that follow are means over the releases.
    unique_in_original : float
        UiO, the share of the original's records alone with their key.
    unique_in_released : float
        UiS, the share of the release's records alone with their key.
    unique_in_original_in_released : float
        UiOiS, the share of the original's records that are alone there and whose key the release has.
    replicated_uniques : float
        repU, the share of the original's records that are alone there and whose key one released record has.
    records : frame
        ``unique_in_original``, and as shares of the releases ``unique_in_original_in_released`` and
        ``replicated_unique``.
    """

    measure: ClassVar[str] = "identity_disclosure"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_released", "unique_in_original", "unique_in_released", "unique_in_original_in_released",
        "replicated_uniques",
    )  # fmt: skip
    n_released: float = math.nan
    unique_in_original: float = math.nan
    unique_in_released: float = math.nan
    unique_in_original_in_released: float = math.nan
    replicated_uniques: float = math.nan
    keys: tuple[str, ...] = ()

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("replicated_uniques", "replicated"),
            FileFigure("unique_in_original_in_released", "present"),
            FileFigure("unique_in_original", "unique_in_original"),
            FileFigure("unique_in_released", of="released records", base="n_released"),
        )

    def told(self, column: str) -> NDArray[Any]:
        """Record-level values of a column: shares of the releases."""
        return record_columns(self.pair.groups(self.keys))[column]

    @cached_property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        flags = record_columns(self.pair.groups(self.keys))
        columns = {
            "unique_in_original": flags["unique_in_original"],
            "unique_in_original_in_released": flags["present"],
            "replicated_unique": flags["replicated"],
        }
        return self.pair.records(columns, prefix=self.prefix)


# --- measure ------------------------------------------------------------------------------------------


def identity_disclosure(
    original: Any,
    released: Any = None,
    *,
    keys: Sequence[str] | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> IdentityDisclosure:
    """Measure which share of the original's unique records a release still shows.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ from the original's.
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its key less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives the keys where they are not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    IdentityDisclosure
        ``unique_in_original``, ``unique_in_released``, ``unique_in_original_in_released``,
        ``replicated_uniques``, all 0 to 1, and ``records``.

    Raises
    ------
    ColumnError, DataError
        As `replicated_uniques`.

    Notes
    -----
    Always ``replicated_uniques <= unique_in_original_in_released <= unique_in_original``. Percentages of
    synthpop's `disclosure` are these shares times 100.

    References
    ----------
    Raab, G. M., Nowok, B. and Dibben, C. (2024). Practical privacy metrics for synthetic data. Privacy in
    Statistical Databases.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [20, 30, 30, 40]})
    >>> result = identity_disclosure(survey, pl.DataFrame({"age": [20, 30, 40, 40]}), keys=["age"])
    >>> result.unique_in_original, result.unique_in_original_in_released, result.replicated_uniques
    (0.5, 0.5, 0.25)
    """
    broken = breakdown(original, by, IdentityDisclosure, interval, seed, scenario, prefix)
    pair, names, notes = open_keys(original, released, keys, scenario, id, broken)
    per_release = tuple(
        {
            "n_released": counts["n_released"],
            "unique_in_original": counts["original_uniques"] / pair.n,
            "unique_in_released": counts["released_uniques"] / counts["n_released"],
            "unique_in_original_in_released": counts["original_uniques_in_released"] / pair.n,
            "replicated_uniques": counts["replicated"] / pair.n,
        }
        for counts in counts_of(pair, names)
    )
    return broken.of(IdentityDisclosure.of(pair, per_release, MISSING_RULE, notes, keys=names, prefix=prefix))
