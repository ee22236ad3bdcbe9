"""B4: records that are unique on their key in the original, and unique again in the release."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import SharedGroups
from sdckit.cells.pair import Pair
from sdckit.cells.parted_pair import open_or_part
from sdckit.cells.record_result import Breakdown, IntervalKind, PairRecordResult, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import DataError
from sdckit.result import FileFigure

MISSING_RULE = "a missing key value is a level of its own"


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def unique_counts(groups: SharedGroups, release: int) -> dict[str, int]:
    """Uniques of the original, of a release (from 0), and of both."""
    original, released = groups.size[0], groups.size[release + 1]
    alone_there = released == 1
    return {
        "n_released": int(released.sum()),
        "original_uniques": int(np.count_nonzero(original == 1)),
        "released_uniques": int(np.count_nonzero(alone_there)),
        "released_uniques_in_original": int(np.count_nonzero(alone_there & (original > 0))),
        "original_uniques_in_released": int(np.count_nonzero((original == 1) & (released > 0))),
        "replicated": int(np.count_nonzero((original == 1) & alone_there)),
    }


def counts_of(pair: Pair, keys: Sequence[str]) -> list[Counter[str]]:
    """The same of each release of a pair, whose cells may be in parts."""
    counts: list[Counter[str]] = [Counter() for _ in range(pair.m)]
    for part in pair.parts():
        groups = part.groups(keys)
        for j, count in enumerate(counts):
            count.update(unique_counts(groups, j))
    return counts


def record_columns(groups: SharedGroups) -> dict[str, NDArray[Any]]:
    """For each original record: whether it is unique; share of releases with its key, and with it unique again."""
    alone = groups.size[0] == 1
    present = np.mean([alone & (size > 0) for size in groups.size[1:]], axis=0)
    replicated = np.mean([alone & (size == 1) for size in groups.size[1:]], axis=0)
    rows = groups.of_row[0]
    return {"unique_in_original": alone[rows], "present": present[rows], "replicated": replicated[rows]}


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ReplicatedUniques(PairRecordResult):
    """Uniques of the original that are uniques of the release.

    Attributes
    ----------
    n : int
        Records of the original.
    n_released : float
        Records of a release; this and all that follow are means over the releases.
    original_uniques : float
        Records alone with their key in the original.
    released_uniques : float
        Records alone with their key in the release.
    released_uniques_in_original : float
        Those of them whose key the original has, once or more often.
    replicated : float
        Keys that one record has in the original and one in the release.
    share : float
        ``replicated / n``, 0 to 1.
    records : frame
        ``unique_in_original``, and ``replicated``: the share of the releases in which the record's key is
        unique again.
    """

    measure: ClassVar[str] = "replicated_uniques"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_released", "original_uniques", "released_uniques", "released_uniques_in_original", "replicated",
        "share",
    )  # fmt: skip
    n_released: float = math.nan
    original_uniques: float = math.nan
    released_uniques: float = math.nan
    released_uniques_in_original: float = math.nan
    replicated: float = math.nan
    share: float = math.nan
    keys: tuple[str, ...] = ()

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("share", "replicated"),
            FileFigure("replicated", "replicated", "sum"),
            FileFigure("original_uniques", "unique_in_original", "sum"),
        )

    def told(self, column: str) -> NDArray[Any]:
        """Record-level values of a column: shares of the releases."""
        return record_columns(self.pair.groups(self.keys))[column]

    @cached_property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        columns = record_columns(self.pair.groups(self.keys))
        del columns["present"]
        return self.pair.records(columns, prefix=self.prefix)

    def released_rows(self, *, release: int = 1, replicated_only: bool = True) -> NDArray[np.int64]:
        """Row numbers (from 0) of a release, those that a custodian would leave out.

        Parameters
        ----------
        release : int
            Which of the releases, from 1.
        replicated_only : bool
            Records alone in both files; False: alone in the release with a key that the original has.

        Returns
        -------
        ndarray, int64

        Raises
        ------
        DataError
            There is no such release.
        """
        if isinstance(release, bool) or not isinstance(release, int) or not 1 <= release <= self.m:
            raise DataError(f"release counts from 1; give a whole number up to {self.m}")
        pair = self.pair if self.pair.times is None else self.pair.records_here()[0]
        groups = pair.groups(self.keys)
        original, released = groups.size[0], groups.size[release]
        out = (released == 1) & ((original == 1) if replicated_only else (original > 0))
        rows, order = np.flatnonzero(out[groups.of_row[release]]), pair.orders[release - 1]
        return rows if order is None else np.sort(order[rows])


# --- measure ------------------------------------------------------------------------------------------


def open_keys(
    original: Any, released: Any, keys: Sequence[str] | None, scenario: Scenario | None, id: str | None,
    broken: Breakdown,
) -> tuple[Pair, tuple[str, ...], dict[str, str]]:  # fmt: skip
    """Open the files by their keys, and say where a release is the original."""
    names = resolve_roles(scenario=scenario, keys=keys).keys
    pair = open_or_part(original, released, categories={"keys": names}, also=broken.also, id=id, records=broken.drawn)
    return pair, names, same_note(sum(pair.identical(names)), pair.m, "keys, row by row")


def replicated_uniques(
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
) -> ReplicatedUniques:
    """Count the records that are alone with their key in the original and again in the release.

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
    ReplicatedUniques
        ``original_uniques``, ``released_uniques``, ``replicated``, ``share``, ``records``, and
        ``released_rows()``, what to leave out.

    Raises
    ------
    ColumnError
        A key that a file does not have, listed twice, or of types that do not compare.
    DataError
        No release, or a file without records.

    Notes
    -----
    Values are compared, not the text they print as: 1 is 1.0.

    References
    ----------
    Nowok, B., Raab, G. M. and Dibben, C. (2016). synthpop: bespoke creation of synthetic data in R. Journal of
    Statistical Software 74(11). Jackson, J. et al. (2022). Using saturated count models for user-friendly
    synthesis of large confidential administrative databases. JRSS A 185.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [20, 30, 30, 40]})
    >>> result = replicated_uniques(survey, pl.DataFrame({"age": [20, 30, 40, 40]}), keys=["age"])
    >>> result.replicated, result.share, result.records["replicated"].to_list()
    (1.0, 0.25, [1.0, 0.0, 0.0, 0.0])
    """
    broken = breakdown(original, by, ReplicatedUniques, interval, seed, scenario, prefix)
    pair, names, notes = open_keys(original, released, keys, scenario, id, broken)
    counts = counts_of(pair, names)
    shown = set(ReplicatedUniques.figures)
    per_release = tuple(
        {**{name: count[name] for name in count if name in shown}, "share": count["replicated"] / pair.n}
        for count in counts
    )
    return broken.of(ReplicatedUniques.of(pair, per_release, MISSING_RULE, notes, keys=names, prefix=prefix))
