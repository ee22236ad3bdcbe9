"""A4: special uniques: records that few of the keys already single out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.cells import as_cells, packing
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import Cells
from sdckit.data import arguments, frames
from sdckit.data.missing_values.missing import MissingRule, describe_wildcards
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.population.size_models import records_of
from sdckit.identity.special_uniques.minimal_uniques import MinimalUniques, find_minimal_uniques
from sdckit.numerics.array_types import Bools, Floats, Ints, Values
from sdckit.numerics.grouping import first_of_groups
from sdckit.result import FileFigure, LetGo

# Kernel density of a score, for a plot.


BEYOND = 3  # bandwidths on both sides, as R's density draws


def bandwidth(values: Floats, size: Ints, quartiles: tuple[float, float]) -> float:
    """Silverman's rule of thumb (R's bw.nrd0) for values that `size` records each have.

    >>> round(bandwidth(np.arange(5.0), np.ones(5, np.int64), (1.0, 3.0)), 6)
    0.973585
    """
    n = int(size.sum())
    mean = float(values @ size) / n
    spread = math.sqrt(float((values - mean) ** 2 @ size) / (n - 1)) if n > 1 else 0.0
    low = min(spread, (quartiles[1] - quartiles[0]) / 1.34) or spread or abs(float(values[0])) or 1.0
    return float(0.9 * low * n**-0.2)


def kernel_density(values: Floats, size: Ints, width: float, points: int) -> tuple[Floats, Floats]:
    """Gaussian kernel density at equally far points: from three bandwidths below the smallest value to as far above.

    >>> at, found = kernel_density(np.array([0.0]), np.array([1]), 1.0, 7)
    >>> at.tolist(), found[3].round(6).item()
    ([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], 0.398942)
    """
    at: Floats = np.linspace(values.min() - BEYOND * width, values.max() + BEYOND * width, points)
    share = size / (size.sum() * width * math.sqrt(2 * math.pi))
    density = np.array([np.exp(-0.5 * ((point - values) / width) ** 2) @ share for point in at])
    return at, density


Scoring = Literal["elliot", "ihsn"]
MAX_KEYS = 63
PERSONS = "special uniques count records; make the file one row per person first, or leave person= out"
NO_ITEM = "takes part in no minimal unique; sample uniques, pairs and so DIS count it as a category"
NO_UNIQUES = "no record is a sample unique: every score is 0"
NO_PAIRS = "no record is in a pair, so that DIS is one and so is every score above nothing"


DIS_STEPS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)


# --- scores: numbers in, numbers out ------------------------------------------------------------------


def msu_score(size: int, n_keys: int, max_size: int, scoring: Scoring) -> float:
    """Score of a minimal sample unique of some size.

    Examples
    --------
    >>> [msu_score(k, 4, 4, "elliot") for k in (1, 2, 3, 4)]
    [6.0, 2.0, 1.0, 1.0]
    >>> msu_score(1, 4, 4, "ihsn"), msu_score(4, 4, 4, "ihsn")
    (1.75, 0.0)
    """
    if scoring == "elliot":
        return float(math.prod(n_keys - i for i in range(size, min(max_size, n_keys - 1) + 1)))
    return float((2 ** (n_keys - size) - 1) / math.comb(n_keys, size))


def dis_scores(score: Floats, n_keys: int, pairs: int, sampling_fraction: float) -> Floats:
    """Spread the data-intrusion-simulation risk of the file over its records by their scores.

    Examples
    --------
    >>> dis_scores(np.array([1.75, 3.25, 1.75, 2.75]), 4, 6, 0.01).round(9).tolist()
    [0.005120313, 0.010702061, 0.005120313, 0.008775093]
    """
    out, scored = np.zeros(len(score)), score > 0
    if not scored.any():
        return out
    q = 1 + (8 - n_keys) / 20
    low = score[scored].min()  # scaled by the smallest score, the powers stay within range
    total = float(np.sum((score[scored] / low) ** -q))
    spread = pairs * (1 - sampling_fraction) / sampling_fraction
    out[scored] = 1 / (1 + spread / ((score[scored] / low) ** q * total))
    return out


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Suda(CellsResult):
    """Special uniques of a file.

    Attributes
    ----------
    sample_uniques, pairs : int
        Records alone with their pattern, and records of which exactly two share one (U and P of DIS).
    dis : float
        Probability that a unique match of an intruder's file is a correct one.
    msu_counts : dict of int to int
        Minimal sample uniques by size.
    mean_dis_score : float
        Mean over the records of what each has of `dis` (0 for those without a minimal unique).
    unscored_uniques : int
        Records with minimal uniques whose score is 0: not safe, only not scored by this scale.
    contributions : dict of str to float
        Score of the minimal uniques that contain a variable as a share of all; they need not sum to 1.
    level_contributions : dict
        For each variable, the part of its contribution from records with each level; sums to 1.
    records : frame
        ``suda_score``, ``dis_score``, ``n_msu``, ``smallest_msu`` (0 where there is none).
    """

    measure: ClassVar[str] = "suda"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "sample_uniques", "pairs", "dis", "mean_dis_score", "msu_counts", "unscored_uniques", "contributions",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("cells", "found")
    cells: Cells
    found: MinimalUniques
    max_size: int
    scoring: Scoring
    sampling_fraction: float
    before: Suda | None = field(default=None, repr=False, kw_only=True)  # to be drawn beside, see `plot`

    @cached_property
    def missing_rule(self) -> str:
        """What a missing key value was taken for, in words: it matches nothing here, unlike in other measures."""
        cells = self.cells
        if "wildcard" not in cells.rules or not any(cells.n_missing):
            return cells.missing_rule
        return describe_wildcards(cells.keys, cells.rules, NO_ITEM)

    def _rule(self) -> str:
        return super()._rule() if isinstance(self.cells, LetGo) else self.missing_rule

    @cached_property
    def sample_uniques(self) -> int:
        """Records whose pattern no other record has, a missing value being a level."""
        return int(np.count_nonzero(self.cells.table.size == 1))

    @cached_property
    def pairs(self) -> int:
        """Records whose pattern exactly one other record has."""
        return 2 * int(np.count_nonzero(self.cells.table.size == 2))

    @cached_property
    def dis(self) -> float:
        """Data intrusion simulation: the chance that a unique match is correct; 0 without uniques."""
        hits = self.sample_uniques * self.sampling_fraction
        misses = self.pairs * (1 - self.sampling_fraction)
        return hits / (hits + misses) if hits else 0.0

    @cached_property
    def msu_counts(self) -> dict[int, int]:
        """Minimal sample uniques by size."""
        return {k + 1: int(n) for k, n in enumerate(self.found.by_size.sum(axis=0, dtype=np.int64))}

    @cached_property
    def unscored_uniques(self) -> int:
        """Records with a minimal unique and the score 0."""
        columns = self.cells.columns
        return int(np.count_nonzero((columns["n_msu"] > 0) & (columns["suda_score"] == 0)))

    @cached_property
    def _total(self) -> float:
        return float(sum(self._weights * self.found.by_size.sum(axis=0)))

    @cached_property
    def _weights(self) -> Floats:
        sizes = range(1, self.max_size + 1)
        return np.array([msu_score(k, len(self.cells.keys), self.max_size, self.scoring) for k in sizes])

    @cached_property
    def contributions(self) -> dict[str, float]:
        """Share of the score in minimal uniques that contain each variable; NaN where there is no score."""
        sums = dict.fromkeys(self.cells.keys, 0.0)
        for subset, count in self.found.subset_counts.items():
            for j in subset:
                sums[self.cells.keys[j]] += count * float(self._weights[len(subset) - 1])
        return {key: value / self._total if self._total else math.nan for key, value in sums.items()}

    @cached_property
    def level_contributions(self) -> dict[str, dict[str, float]]:
        """Share of each level in its variable's contribution; NaN where there is none. Names values."""
        by_level = (self._weights[:, None] * self.found.level_counts).sum(axis=0)
        out, start = {}, 0
        for key, codes, dense, levels in zip(
            self.cells.keys, self.cells.table.codes, _dense(self.cells), self.cells.levels, strict=True
        ):
            stop = start + int(dense.max(initial=0)) + 1
            share, (used, where) = by_level[start:stop], np.unique(codes, return_index=True)
            total = float(share.sum())
            out[key] = {
                name: float(share[code]) / total if total else math.nan
                for name, code in zip(levels.labels(used), dense[where].tolist(), strict=True)
            }
            start = stop
        return out

    def msus(self, limit: int = 1000) -> Any:
        """List minimal sample uniques, small ones first.

        Parameters
        ----------
        limit : int
            At most so many.

        Returns
        -------
        frame
            ``row`` (from 1), ``size`` and ``variables`` (names joined by " + "). Confidential: it points
            at records.

        Raises
        ------
        DataError
            The data is a plan: its records have no row numbers here.
        """
        if self.cells.source is None:
            words = "a plan's cells are brought here, its records are not"
            raise DataError(f"{words}; collect it first to list them")
        rows: list[tuple[int, int, str]] = []
        row_of_cell = first_of_groups(self.cells.table.of_row, self.cells.n_cells)
        for cell, subset in _list_msus(self.cells, self.found, self.max_size):
            if len(rows) == limit:
                break
            names = " + ".join(self.cells.keys[j] for j in subset)
            rows.append((int(row_of_cell[cell]) + 1, len(subset), names))
        columns = zip(*rows, strict=True) if rows else ([], [], [])
        named = dict(zip(("row", "size", "variables"), map(list, columns), strict=True))
        return frames.frame_of(named, self._backend())

    def dis_above(self, thresholds: Sequence[float] = DIS_STEPS) -> dict[float, int]:
        """Count the records whose ``dis_score`` is above each threshold.

        Parameters
        ----------
        thresholds : sequence of float
            From 0 to 1.

        Returns
        -------
        dict of float to int

        Raises
        ------
        DataError
            A threshold that is no number from 0 to 1.
        """
        limits = [arguments.within(threshold, "thresholds", "is a DIS score", 0, 1, "[]") for threshold in thresholds]
        return dict(zip(limits, self.cells.values("dis_score").count_above(limits), strict=True))

    def dis_histogram(self, edges: Sequence[float] = (*DIS_STEPS, 1.0)) -> tuple[int, ...]:
        """Records with a ``dis_score`` above ``edges[i]`` and at most ``edges[i + 1]``; those with 0 are in no bin.

        Raises
        ------
        DataError
            The edges do not ascend from 0 to 1.
        """
        given = list(edges)
        if len(given) < 2 or given != sorted(set(given)) or given[0] != 0 or given[-1] != 1:
            raise DataError("edges are ascending numbers, the first 0 and the last 1", argument="edges")
        above = [*self.dis_above(given[:-1]).values(), 0]
        return tuple(high - low for high, low in pairwise(above))

    def dis_density(self, points: int = 512) -> Any:
        """Density of ``dis_score`` over all records: Gaussian, with the bandwidth of R's ``density``.

        Parameters
        ----------
        points : int
            At how many scores, equally far from each other, 2 or more.

        Returns
        -------
        frame
            ``score``, ``density``. Confidential: where few records have a score, the density tells it. Below 0 and
            above 1 it is what the kernel smears out.

        Raises
        ------
        DataError
            `points` is no such number; no record has a score; the result was pickled.
        """
        arguments.count(points, "points", "counts the scores at which the density is taken", at_least=2)
        scores = self.cells.values("dis_score")
        values, size = scores.distribution()
        if not values.any():
            raise DataError("every DIS score is 0: there is no density to draw")
        low, high = scores.quantiles([0.25, 0.75])
        at, density = kernel_density(values, size, bandwidth(values, size, (low, high)), points)
        return frames.frame_of({"score": at.tolist(), "density": density.tolist()}, self._backend())

    def plot(
        self, *, internal: bool = False, density: bool = False, dis: bool = False, before: Suda | None = None
    ) -> Any:
        """Draw the minimal uniques by size, protected unless `internal`: a chart can be saved and passed on.

        Parameters
        ----------
        internal : bool
            Exact counts.
        density : bool
            Draw the density of the DIS scores instead; with ``internal=True`` only.
        dis : bool
            Draw the histogram of the DIS scores instead; with ``internal=True`` only.
        before : Suda, optional
            The same records before they were protected: their histogram is drawn beside, with ``dis=True``.

        Returns
        -------
        altair.Chart

        Raises
        ------
        DataError
            `density` or `dis` without ``internal=True``; both; `before` without `dis`, or of another number of
            records; a file of fewer than 50 records, unless internal.
        """
        if arguments.flag(dis, "dis") and arguments.flag(density, "density"):
            raise DataError("density and dis are two pictures; ask for one", argument="dis")
        if before is not None and (not dis or not isinstance(before, Suda) or before.n != self.n):
            says = f"before is a result of suda on the same {self.n:,} records, drawn beside with dis=True"
            raise DataError(says, argument="before")
        kind = "dis" if dis else "density" if arguments.flag(density, "density") else ""
        return (self if before is None else replace(self, before=before))._plot(kind, internal=internal)

    @cached_property
    def mean_dis_score(self) -> float:
        """Mean over the records of their ``dis_score``."""
        return self.cells.values("dis_score").total() / self.n

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("mean_dis_score", "dis_score"),
            FileFigure("dis", of="unique matches", base=""),
            FileFigure("sample_uniques", "cell_size", "sum", below=1.5),
        )

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type.

        Raises
        ------
        DataError
            The data is a plan, of which the cells came here and the records did not.
        """
        return records_of(self.cells, RECORDS, self.prefix)


RECORDS = ["suda_score", "dis_score", "n_msu", "smallest_msu"]


def _list_msus(cells: Cells, uniques: MinimalUniques, max_size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (cell, subset) for every minimal unique, by grouping again on each subset that has any."""
    codes, absent = cells.table.codes, _absent(cells)
    known: dict[int, list[frozenset[int]]] = {}
    for k in range(1, max_size + 1):
        for subset in combinations(range(len(codes)), k):
            if subset not in uniques.subset_counts:
                continue
            here = np.flatnonzero(~np.any([absent[j] for j in subset], axis=0))
            groups = packing.group_codes([codes[j][here] for j in subset], len(here))
            records = np.bincount(groups.of_row, cells.table.size[here])[groups.of_row]
            for cell in here[records == 1].tolist():
                smaller = known.setdefault(cell, [])
                if not any(other < set(subset) for other in smaller):
                    smaller.append(frozenset(subset))
                    yield cell, subset


def _dense(cells: Cells) -> list[Ints]:
    """Codes of each key; numbered anew where they are far apart, as counts by level would be mostly empty."""
    return [
        codes if codes.max(initial=0) < max(1 << 16, len(codes)) else np.unique(codes, return_inverse=True)[1]
        for codes in cells.table.codes
    ]


def _absent(cells: Cells) -> Bools:
    """Where a missing value is no item."""
    keys = zip(cells.table.codes, cells.levels, cells.rules, strict=True)
    return np.stack([(c == level.span) & (level.n_missing > 0) & (rule == "wildcard") for c, level, rule in keys])


# --- measure ------------------------------------------------------------------------------------------


def suda(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    max_size: int | None = None,
    scoring: Scoring = "elliot",
    sampling_fraction: float = 0.01,
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
    step: Callable[[str], None] | None = None,
) -> Suda:
    """Find special uniques: records that are alone on some of the keys already, and score how special.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        1 to 63 variables that an intruder could know.
    max_size : int, optional
        Largest key subset to search; default all sizes.
    scoring : {"elliot", "ihsn"}
        Score of a minimal unique of size k of n keys: (n - k)(n - k - 1)... down to the largest size, or
        (2^(n-k) - 1) k! (n-k)!/n!, the scale of the IHSN guide, on which those of all keys score 0.
    sampling_fraction : float
        Share of the population in the file, in (0, 1], for DIS.
    missing : {"wildcard", "category"} or dict, optional
        Default "wildcard": a missing value is no item and takes no part; as a category it is one.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its key less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives the keys and the missing rule where they are not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.
    step : callable, optional
        Is told in words what is being searched.

    Returns
    -------
    Suda
        ``msu_counts``, ``sample_uniques``, ``pairs``, ``dis``, ``contributions``, ``level_contributions``,
        ``msus()``, ``records``.

    Raises
    ------
    ColumnError, ScenarioError
        As `key_frequencies`.
    DataError
        As `key_frequencies`; several rows per person (a scenario with `person`); more than 63 keys,
        `max_size` out of range, a search that does not fit into memory (names the `max_size` that does).

    Notes
    -----
    Exact for every size asked. A minimal sample unique (MSU) is a set of keys on which the record is alone
    while it is not on any part of the set. DIS counts identical patterns, a missing value being a level.
    sdcMicro computes DIS in single precision and adds constant columns below three keys.

    References
    ----------
    Elliot, M. J., Manning, A. M. and Ford, R. W. (2002). A computational algorithm for handling the special
    uniques problem. Elliot, M. J. and Manning, A. M. (2003). Using DIS to modify the classification of
    special uniques. Manning, A. M., Haglin, D. J. and Keane, J. A. (2008). A recursive search algorithm for
    statistical disclosure assessment.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "job": ["a", "b", "a", "b", "b"]})
    >>> result = suda(survey, keys=["sex", "job"])
    >>> result.msu_counts, result.records["n_msu"].to_list()
    ({1: 0, 2: 3}, [1, 1, 1, 0, 0])
    """
    arguments.choice(scoring, "scoring", ("elliot", "ihsn"))
    arguments.share_above(sampling_fraction, "sampling_fraction", "is the share of the population in the file")
    asked = breakdown(data, by, Suda, interval, seed, scenario, prefix)
    given = as_cells.tabulate_given(data, keys=keys, missing=missing, scenario=scenario, id=id, weighted=False)
    if given.roles.person is not None:
        raise DataError(PERSONS)
    cells = given.in_memory(*asked.extra(given))
    n_keys = len(cells.keys)
    if n_keys > MAX_KEYS:
        raise DataError(f"{n_keys} keys are too many: special uniques are searched in at most {MAX_KEYS}")
    size = n_keys if max_size is None else max_size
    size = arguments.count(size, "max_size", "is the largest number of keys to combine", at_most=n_keys)
    uniques = find_minimal_uniques(
        np.stack(_dense(cells)), cells.table.size, max_size=size, absent=_absent(cells), step=step
    )
    cells = cells.with_cells(_columns(cells, uniques, size, scoring, sampling_fraction))
    return asked.of(_noted(Suda(cells, uniques, size, scoring, sampling_fraction, prefix=prefix)))


def _columns(
    cells: Cells, uniques: MinimalUniques, size: int, scoring: Scoring, sampling_fraction: float
) -> dict[str, Values]:
    weights = np.array([msu_score(k, len(cells.keys), size, scoring) for k in range(1, size + 1)])
    score = uniques.by_size @ weights
    counts = uniques.by_size.sum(axis=1, dtype=np.int64)
    smallest = np.where(counts > 0, np.argmax(uniques.by_size > 0, axis=1) + 1, 0)
    pairs = 2 * int(np.count_nonzero(cells.table.size == 2))
    dis = dis_scores(score, len(cells.keys), pairs, sampling_fraction)
    return {"suda_score": score, "dis_score": dis, "n_msu": counts, "smallest_msu": smallest.astype(np.int64)}


def _noted(result: Suda) -> Suda:
    if not result.sample_uniques:
        result.notes["dis"] = NO_UNIQUES
    elif not result.pairs:
        result.notes["dis"] = NO_PAIRS
    if result.unscored_uniques:
        several = result.unscored_uniques > 1
        some = f"{result.unscored_uniques} records are" if several else "1 record is"
        result.notes["unscored_uniques"] = (
            f"{some} unique on all keys only, which this scale scores 0: {'they are' if several else 'it is'} not safe"
        )
    if not result._total:
        result.notes["contributions"] = "no minimal unique has a score, so that there is nothing to share out"
    return result
