"""People whose true keys fewer than k records of a release match."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import open_pair
from sdckit.cells.record_result import IntervalKind, PairRecordResult, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.identity.matching.count_matches import Category, match
from sdckit.identity.matching.matching_options import refuse_what_does_not_fit
from sdckit.numerics.array_types import Bools, Codes, Ints, Values
from sdckit.result import FileFigure

MISSING_RULE = "a missing key value matches any value; a record that lacks all of several keys matches no other"
DEFAULT_K = 3


@dataclass(frozen=True, eq=False, repr=False)
class FewMatches(PairRecordResult):
    """People who are left with few records of a release, for a reader who knows their true keys.

    Attributes
    ----------
    n : int
        Records of the original.
    k : int
        Fewer matches than this are few.
    few_matches : float
        Share of the records that fewer than k released records match, their own among them; this and all that follow
        are means over the releases.
    unique_matches : float
        Share of the records that no released record matches but their own.
    fewest_matches : float
        The smallest number of matches of a record that its own is among; NaN where no record's is.
    records : frame
        ``match_count``, and as shares of the releases ``own_match`` (its own record is among them) and ``few_matches``.
    """

    measure: ClassVar[str] = "few_matches"
    figures: ClassVar[tuple[str, ...]] = ("n", "few_matches", "unique_matches", "fewest_matches")
    dropped: ClassVar[tuple[str, ...]] = ("pair", "counted", "own")
    counted: Ints = field(kw_only=True)  # (m, rows) released records that match each row of the original
    own: Bools = field(kw_only=True)  # (m, rows) whether its own is among them
    k: int = DEFAULT_K
    few_matches: float = math.nan
    unique_matches: float = math.nan
    fewest_matches: float = math.nan

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return FileFigure("few_matches", "few_matches"), FileFigure("unique_matches", "unique_match")

    def told(self, column: str) -> Values:
        """Record-level values of a column: means over the releases."""
        values = {"match_count": self.counted, "own_match": self.own, **_flags(self.counted, self.own, self.k)}
        return values[column].mean(axis=0)  # type: ignore[no-any-return]

    @cached_property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        columns = {name: self.told(name) for name in ("match_count", "own_match", "few_matches")}
        return self.pair.records(columns, prefix=self.prefix)


def few_matches(
    original: Any,
    released: Any = None,
    *,
    keys: Sequence[str] | None = None,
    k: int | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> FewMatches:
    """Measure which share of the people fewer than k records of a release match, for a reader who knows their keys.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    keys : sequence of str
        Variables that an intruder could know, compared for equality; a missing value, in either file, matches any,
        but a released record that lacks all of several keys matches nobody else.
    k : int, optional
        2 or more: fewer matches than this are few. Default: the scenario's limit k, else 3.
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
        Gives keys and k where they are not given here.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    FewMatches
        ``few_matches`` and ``unique_matches``, 0 to 1, ``fewest_matches``, and ``records``.

    Raises
    ------
    ColumnError
        A key that a file does not have, listed twice, or of types that do not compare.
    DataError
        Files of different lengths without `id`, k below 2, or too many patterns of missing values.

    Notes
    -----
    k-anonymity counts from the released record: where a value of its own was suppressed, all values are counted that it
    may have had. A reader who knows the person's true value sets aside the records that show another, and is left with
    fewer. Where k-anonymity holds with missing values as a category, no record has fewer than k matches: all of its
    class match whoever it matches. A record whose own is not among the matches (its keys were perturbed) is not
    counted, since a match of it is wrong.

    A record that lacks all of several keys counts for no other, as in `key_frequencies`: k of them would match
    everybody, and hide nobody.

    The original is to be recoded as the release is (`assess` and `check` do so): a value that no longer occurs matches
    missing values only.

    References
    ----------
    Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6). Reiter, J. P. and
    Mitra, R. (2009). Estimating risks of identification disclosure in partially synthetic data. Journal of Privacy and
    Confidentiality 1(1).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["m", "f", "m", "f"]})  # k = 4 in the release; for who knows a woman, 2 are left
    >>> release = pl.DataFrame({"sex": ["m", None, "m", None]})
    >>> result = few_matches(survey, release, keys=["sex"], k=3)
    >>> result.few_matches, result.fewest_matches, result.records["match_count"].to_list()
    (0.5, 2.0, [4.0, 2.0, 4.0, 2.0])
    """
    broken = breakdown(original, by, FewMatches, interval, seed, scenario, prefix)
    names = resolve_roles(scenario=scenario, keys=keys).keys
    declared = scenario.limits.k if scenario is not None and k is None else k
    k = arguments.count(DEFAULT_K if declared is None else declared, "k", "counts records", at_least=2)
    pair = open_pair(
        original, released, categories={"keys": names}, also=broken.also, id=id, aligned=True, counted=not broken.whose
    )
    refuse_what_does_not_fit(pair, len(names))
    codes = [pair.codes(name).codes for name in names]
    rows = np.arange(len(codes[0][0]), dtype=np.int64)
    times = (None,) * (pair.m + 1) if pair.times is None else pair.times
    others = range(1, pair.m + 1)
    matches = [match([Category(own[0], own[j], True) for own in codes], [], rows, times=times[j]) for j in others]
    counted, own = (np.stack(values) for values in zip(*matches, strict=True))
    if len(names) > 1:  # the missing values of a single key match any, as in frequencies
        counted -= [_of_blank([of_key[j] for of_key in codes], times[j]) for j in others]
    weights = np.ones(len(rows), np.int64) if times[0] is None else times[0]
    per_release = tuple(_figures(counted[j], own[j], weights, k) for j in range(pair.m))
    notes = same_note(sum(pair.identical(names)), pair.m, "keys, row by row")
    result = FewMatches.of(pair, per_release, MISSING_RULE, notes, counted=counted, own=own, k=k, prefix=prefix)
    return broken.of(result)


def _of_blank(codes: Sequence[Codes], times: Ints | None) -> Ints:
    """For each person, the released records without any key that do not count: all, or none where theirs is one."""
    blank = np.logical_and.reduce([of_key == 0 for of_key in codes])
    n_blank = int(np.count_nonzero(blank) if times is None else times[blank].sum())
    return np.where(blank, 0, n_blank)


def _flags(counted: Ints, own: Bools, k: int) -> dict[str, Bools]:
    """Whether few records, or their own alone, match people who are among their matches."""
    return {"few_matches": own & (counted < k), "unique_match": own & (counted == 1)}


def _figures(counted: Ints, own: Bools, weights: Ints, k: int) -> dict[str, float]:
    n, flags = weights.sum(), _flags(counted, own, k)
    return {
        "few_matches": float(weights[flags["few_matches"]].sum() / n),
        "unique_matches": float(weights[flags["unique_match"]].sum() / n),
        "fewest_matches": float(counted[own].min()) if own.any() else math.nan,
    }
