"""Distance to the closest record (DCR), compared between training records and a control file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks.attack_files import AttackFiles, all_variables, file_notes, numeric_columns, open_attack, subgroups
from sdckit.attacks.distances import closeness_figures
from sdckit.attacks.distances.closeness_figures import Closeness, ComparedFiles, Drawing, Drawn
from sdckit.cells import pair, pair_result
from sdckit.data import arguments
from sdckit.data.drawn_rows import KEY_BYTES, draw_rows, drawn_note, people_drawn
from sdckit.data.scenarios.scenario import Scenario
from sdckit.numerics.array_types import Ints, Values
from sdckit.result import json_ready

MISSING_RULE = "a missing value is 0 from a missing one, and from any other as far as two values can be"
MOST_RESAMPLES = 100_000
NO_CONTROL = "no control file: no figure tells copying from resemblance that holds for anybody"
NEED_CONTROL = (
    "share_closer_to_original", "expected_share", "chance_low", "chance_high", "share_p_value", "strictly_closer",
    "equally_near", "dcr_released_to_control", "dcr_control_to_released", "nndr_control_to_released", "nndr_loss",
    "copies_of_control", "hitting_rate_control", "identifiability_control", "adversarial_accuracy_control",
    "adversarial_loss",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DistanceToClosestRecord(pair_result.PairResult):
    """Distances between released and real records; every name says from which file to which. Means over releases.

    Attributes
    ----------
    n, n_released, n_control : float
        Records of the original, of a release, of the control file.
    dcr_released_to_original, dcr_original_to_released, dcr_within_original : float
        Median distance of a record of the first file to the closest of the second, 0 to 1; within the
        original, to the closest other record.
    dcr_p5_released_to_original : float
        The 5th percentile: how near the nearest twentieth of the released records come.
    dcr_ratio : float
        ``dcr_released_to_original / dcr_within_original``; below 1 released records are nearer to real ones
        than these are to each other.
    dcr_random_to_original : float
        Median distance of 2,000 records drawn uniformly, over the range of each number and among the levels of each
        category of the original, to the closest original.
    baseline_protection : float
        ``dcr_released_to_original / dcr_random_to_original``, at most 1: 1 no nearer than random records are.
    nndr_released_to_original, nndr_original_to_released : float
        Mean ratio of the distances to the closest and the second closest record; 1 where both are as near.
    copies : float
        Share of the released records that an original equals.
    hitting_rate : float
        Share of the originals with a released record of their categories and no number farther than
        `hit_width`.
    identifiability : float
        Share of the originals whose closest released record is nearer than their closest other original,
        rare values weighing more.
    adversarial_accuracy : float
        How often the closest record tells real from released: 0 copies, 0.5 ideal, 1 another world.
    share_closer_to_original : float
        Share of the released records whose closest real record is an original rather than a control.
    expected_share, chance_low, chance_high, share_p_value : float
        That share if the release owes no more to the original than to the control, the range of 95 % around
        it, and the probability of so large a share.
    strictly_closer, equally_near : float
        Share of the released records nearer to an original than to any control; as near to both.
    dcr_released_to_control, dcr_control_to_released, nndr_control_to_released : float
    copies_of_control, hitting_rate_control, identifiability_control, adversarial_accuracy_control : float
        The same figures for people who were never in the file.
    nndr_loss, adversarial_loss : float
        Control minus original: above 0, the release is nearer to the original. Adversarial accuracies are
        subtracted on files of one size.
    verdict : str
        What the figures mean.
    records : frame
        Of each original: ``distance`` to the closest released record, ``ratio`` to the second closest, ``hit``,
        ``identifiable``; means over the releases.
    released_records : frame
        Of each ``row`` of each ``release``: ``distance`` to the closest original, ``ratio``, ``share_original``.
    by_group : frame
        Figures of each subgroup of `by`, those nearest to the release first.
    n_drawn : int or None
        People, released records and people of the control file looked at, at most; None where all are.
    intervals : dict of str to tuple of float
        95 % intervals of shares, medians and means, where some were drawn; with several releases the means of their
        ends.
    """

    measure: ClassVar[str] = "distance_to_closest_record"
    figures: ClassVar[tuple[str, ...]] = ("n", "n_control", *closeness_figures.FIGURES)
    dropped: ClassVar[tuple[str, ...]] = ("pair", "found", "groups", "drawn")
    n: int
    n_control: int
    n_released: float
    dcr_released_to_original: float
    dcr_original_to_released: float
    dcr_within_original: float
    dcr_p5_released_to_original: float
    dcr_ratio: float
    dcr_random_to_original: float
    baseline_protection: float
    nndr_released_to_original: float
    nndr_original_to_released: float
    copies: float
    hitting_rate: float
    identifiability: float
    adversarial_accuracy: float
    share_closer_to_original: float
    expected_share: float
    chance_low: float
    chance_high: float
    share_p_value: float
    strictly_closer: float
    equally_near: float
    dcr_released_to_control: float
    dcr_control_to_released: float
    nndr_control_to_released: float
    nndr_loss: float
    copies_of_control: float
    hitting_rate_control: float
    identifiability_control: float
    adversarial_accuracy_control: float
    adversarial_loss: float
    verdict: str
    found: tuple[Closeness, ...] = field(repr=False)
    groups: dict[str, list[Any]] = field(repr=False)
    prefix: str = field(default="", repr=False)
    n_drawn: int | None = None
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    drawn: Drawn | None = field(default=None, repr=False)

    @property
    def records(self) -> Any:
        """A row per original, in the caller's order and frame type."""
        write = self.pair.records
        names = ("distance", "ratio", "hit", "identifiable")
        columns = {name: np.mean([getattr(release, name) for release in self.found], axis=0) for name in names}
        return write(columns, rows=None if self.drawn is None else self.drawn.original, prefix=self.prefix)

    @property
    def released_records(self) -> Any:
        """A row per released record."""
        rows = [np.arange(size) for size in self.pair.sizes[: self.m]]  # the control file stands behind them
        if self.drawn is not None:
            rows = [order[own] for order, own in zip(self.pair.orders, self.drawn.released, strict=True)]  # type: ignore[index]
        columns: dict[str, Values] = {
            "release": np.repeat(np.arange(1, len(rows) + 1), [*map(len, rows)]),
            "row": np.concatenate(rows) + 1,
        }
        for name in ("distance", "ratio", "share_original"):
            columns[name] = np.concatenate([release.released[name] for release in self.found])
        return self.pair.table(columns)

    @property
    def by_group(self) -> Any:
        """A row per release and subgroup, the smallest distance of its originals first."""
        return self.pair.table(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with the verdict; not those of subgroups, which name values."""
        sampled = {"n_drawn": self.n_drawn, "intervals": json_ready(self.intervals)} if self.intervals else {}
        return {**super().to_dict(), "verdict": self.verdict, **sampled}


def distance_to_closest_record(
    original: Any,
    released: Any = None,
    *,
    control: Any = None,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    by: Sequence[str] | str | None = None,
    hit_width: float = 1 / 30,
    resamples: int = 99,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
    targets: int | None = None,
) -> DistanceToClosestRecord:
    """Measure how near released records come to real ones, and whether nearer to those in the file than to others.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ from the original's.
    control : data frame, optional
        People of the same population who were never in the file; left out where a pair holds them. Without them
        no distance tells copying from resemblance.
    variables : sequence of str, optional
        Variables compared. Unless given: the scenario's keys, sensitive and numeric ones; without a scenario
        all columns that the files share but `id` and `by`.
    numeric : sequence of str, optional
        Those whose differences count; those that the scenario calls numeric, else all numbers, dates and times,
        unless given. The others are equal or not.
    by : sequence of str or str, optional
        Columns of all files whose combinations are subgroups.
    hit_width : float
        How far a number may be for a hit, as a share of its range; above 0, up to 1.
    resamples : int
        Random divisions of the real records into original and control, 19 to 100,000.
    seed : int, Generator or None
        For these divisions, for whom `targets` draws, for records drawn at random, and for those drawn where files
        differ in size.
    scenario : Scenario, optional
        Gives variables and numbers where they are not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.
    targets : int, optional
        So many people drawn by a hash of `id`, 1,000 or more with `by`, and so many rows of each release and of the
        control file drawn by their values. Each is searched in whole files; all figures are of them, with 95 %
        intervals, and the same ones in whatever order rows come. No subgroup has figures of which fewer than 1,000 are
        drawn, unless these are all of it.

    Returns
    -------
    DistanceToClosestRecord

    Raises
    ------
    ColumnError
        A variable that a file does not have, of types that do not compare, or listed twice.
    DataError
        A file without records, an infinite number; `hit_width` or `resamples` out of range; `targets` without `id`.

    Notes
    -----
    The distance is Gower's: the mean over the variables of |x - y| / range (at most 1) or 0 and 1 for
    categories, the range being that of the real people, original and control together. Distances that
    differ by 1e-12 are equal. ``share_closer_to_original`` divides a released record that is as near to
    several real ones among them, so no order of the rows matters.

    References
    ----------
    Park, N. et al. (2018). Data synthesis based on generative adversarial networks. VLDB 11. Platzer, M. and
    Reutterer, T. (2021). Holdout-based empirical assessment of mixed-type synthetic data. Frontiers in Big
    Data 4. Yale, A. et al. (2020). Generation and evaluation of privacy preserving synthetic health data.
    Neurocomputing 416. Yoon, J., Drumright, L. and van der Schaar, M. (2020). Anonymization through data
    synthesis using generative adversarial networks. IEEE J. Biomedical and Health Informatics 24.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [20, 40, 60], "sex": ["f", "m", "f"]})
    >>> release = pl.DataFrame({"age": [24, 40], "sex": ["f", "m"]})
    >>> result = distance_to_closest_record(survey, release)
    >>> result.copies, result.dcr_released_to_original, result.dcr_within_original
    (0.5, 0.025, 0.5)
    """
    groups_by, rng = subgroups(by, closeness_figures.GROUP_FIGURES), arguments.seed(seed)
    drawing = Drawing(
        arguments.share_above(hit_width, "hit_width", "is a share of the range of a number"),
        arguments.count(resamples, "resamples", "counts random divisions", at_least=19, at_most=MOST_RESAMPLES),
        rng,
    )
    arguments.text(prefix, "prefix")
    arguments.scenario_or_none(scenario)
    some = people_drawn(targets, groups_by)
    notes: dict[str, str] = {}
    opened = pair.open_files(original, released, control, id=id)
    names = all_variables(opened, variables, scenario, notes, without=groups_by)
    files = open_attack(opened, roles={"variables": names}, by=groups_by, least=1, by_id=some is not None)
    numbers = numeric_columns(files, names, numeric, scenario)
    if numbers:
        notes["numeric"] = f"compared as numbers: {', '.join(numbers)}"
    file_notes(files, names, notes)
    drawn = None if some is None else _draw(files, some, rng)
    largest = max(files.n, files.n_control, *files.pair.sizes)
    if some is not None:
        notes |= drawn_note(some, largest)
    categories = tuple(name for name in names if name not in numbers)
    closeness = closeness_figures.closeness(ComparedFiles(files, numbers, categories, drawn), drawing, notes)
    per_release = tuple(release.figures for release in closeness)
    if not files.has_control:
        notes.update(dict.fromkeys(NEED_CONTROL, NO_CONTROL))
    figures = pair_result.mean_figures(per_release, notes)
    return DistanceToClosestRecord(
        pair=files.pair, per_release=per_release, missing_rule=MISSING_RULE, notes=notes, n=files.n,
        n_control=files.n_control, **figures, verdict=verdict(figures), found=closeness, drawn=drawn, n_drawn=some,
        groups=closeness_figures.group_figures(files, groups_by, closeness, drawn), prefix=prefix,
        intervals={} if some is None or some >= largest else _mean_intervals(closeness),
    )  # fmt: skip


def _draw(files: AttackFiles, k: int, rng: np.random.Generator) -> Drawn:
    """Originals by the hash of their id; rows of releases and control file, which have none, by their values."""

    def some(n: int) -> Ints:
        return np.sort(rng.choice(n, min(k, n), replace=False)).astype(np.int64)

    own, _ = draw_rows(files.pair.original.get_column(str(files.pair.id)), k, rng.bytes(KEY_BYTES))
    releases = tuple(some(size) for size in files.pair.sizes)  # in the order of their values
    control = np.empty(0, np.int64) if files.others is None else files.others[some(files.n_control)]
    return Drawn(own, releases, control)


def _mean_intervals(closeness: Sequence[Closeness]) -> dict[str, tuple[float, float]]:
    out = {}
    for name in closeness[0].intervals:
        low, high = np.mean([release.intervals[name] for release in closeness], axis=0).tolist()
        out[name] = (low, high)
    return out


def verdict(figures: dict[str, float]) -> str:
    """Say what the distances mean.

    Examples
    --------
    >>> verdict({"share_closer_to_original": math.nan, "copies": 0.0})[:36]
    'Distances alone do not tell whether '
    """
    share = figures["share_closer_to_original"]
    if math.isnan(share):
        start = "Distances alone do not tell whether the release copies people or resembles anybody of their kind"
        return f"{start}: give control=, people who were never in the file."
    expected, high = figures["expected_share"], figures["chance_high"]
    start = f"{share:.1%} of the released records are nearest to an original, where {expected:.1%} are expected"
    if share > high:
        return f"{start} and up to {high:.1%} are chance: the release is nearer to the people in it than to others."
    return (
        f"{start} and up to {high:.1%} are chance: no sign that the release is nearer to the people in it. That "
        "speaks of the file as a whole; single records may be copied all the same."
    )
