"""Membership inference: by the distance to the nearest released record, and by a calibrated ratio of densities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sdckit.attacks import attack_files, attack_rates
from sdckit.attacks.attack_files import AttackFiles, Outcome
from sdckit.attacks.distances.density_ratio import FOLDS, KernelRows, calibrated_scores, kernel_rows
from sdckit.cells.pair import open_files
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.intervals import excess
from sdckit.numerics.search.neighbours import prepare
from sdckit.result import json_ready

Score = Literal["distance", "ratio", "both"]
SCORES: tuple[Score, ...] = get_args(Score)
JUDGED = 0.01  # the false-positive rate that a limit is about
MOST = 5_000  # people scored in either file
FEWEST_OTHERS = 100  # in the control file: with fewer nothing is said of the ratio
FEWEST_ALARMS = 5  # false alarms expected in half of the others: a lower rate is not judged
ROUNDING = 1e-9  # of a number of false alarms that is whole but for the last digits


@dataclass(frozen=True)
class Detection:
    """How many members an intruder tells apart who calls a share of the others members by mistake.

    Attributes
    ----------
    fpr
        The share of the others: the false-positive rate.
    tpr
        The share of the members called at it: the true-positive rate.
    distance_tpr
        The true-positive rate of whoever goes by the distance to the nearest released record.
    cut
        The score above which one half of the others has at most `fpr` of its people.
    called, n_members, false_alarms, n_others
        Members above the cut, of so many; people of the other half above it, of so many.
    excess, low, high
        (a - c) / (1 - c) of the two shares, with its score interval.
    """

    fpr: float
    tpr: float
    distance_tpr: float
    cut: float
    called: int
    n_members: int
    false_alarms: int
    n_others: int
    excess: float
    low: float
    high: float


def roc(members: Floats, others: Floats) -> tuple[Floats, Floats]:
    """The steps of a ROC curve: false- and true-positive rates, the highest score called first, ties in one step.

    >>> [rates.tolist() for rates in roc(np.array([3.0, 1.0]), np.array([2.0, 1.0]))]
    [[0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0]]
    """
    cuts = np.unique(np.concatenate([members, others]))[::-1]
    called = [1 - np.searchsorted(np.sort(scores), cuts, "left") / len(scores) for scores in (others, members)]
    return np.concatenate([[0.0], called[0]]), np.concatenate([[0.0], called[1]])


def rate_at(members: Floats, others: Floats, fpr: float) -> float:
    """True-positive rate at a false-positive rate, by linear interpolation between the steps of the curve.

    >>> rate_at(np.array([3.0, 1.0]), np.array([2.0, 1.0]), 0.75)
    0.75
    """
    false, true = roc(members, others)
    last = int(np.searchsorted(false, fpr, "right")) - 1
    if last + 1 >= len(false):
        return float(true[last])
    share = (fpr - false[last]) / (false[last + 1] - false[last])
    return float(true[last] + share * (true[last + 1] - true[last]))


@dataclass(frozen=True, eq=False)
class Scored:
    """Calibrated ratios of the people of the original in `rows`, and of those of the control file.

    `other_rows`: those of the control file. `near`, `other_near`: the negative distance of the same people to their
    nearest record, (releases, people). `half`: the others by whom the cut of the interval is drawn.
    """

    rows: Ints
    other_rows: Ints
    members: Floats
    others: Floats
    near: Floats
    other_near: Floats
    half: Bools


class _Ratio:
    """The calibrated ratio of any people of the original and the control file.

    The control file is cut into folds. A person of it is scored against the other folds; a member draws a fold and is
    scored without it: both are held against references of one size, none of which holds them.
    """

    def __init__(self, files: AttackFiles, names: Sequence[str], numbers: Sequence[str], rng: np.random.Generator):
        rest = [name for name in names if name not in numbers]
        rows = kernel_rows([files.numbers(name) for name in numbers], [files.codes(name).codes for name in rest])
        self._original, *self._releases, self._control = rows
        self._folds = rng.permutation(np.arange(files.n_control) % FOLDS)
        self._drawn = rng.integers(0, FOLDS, files.n)

    def of_members(self, rows: Ints) -> Floats:
        """Scores of people of the original."""
        return self._scores(self._original.take(rows), self._drawn[rows])

    def of_others(self, rows: Ints) -> Floats:
        """Scores of people of the control file."""
        return self._scores(self._control.take(rows), self._folds[rows])

    def _scores(self, people: KernelRows, own: Ints) -> Floats:
        scores = calibrated_scores(people, self._releases, self._control, fold=own, folds=self._folds)
        with np.errstate(over="ignore"):  # what is too large is the last step
            return np.round(scores, 12)  # they are rounded sums: equal ones are one step of the curve


def scored_people(
    files: AttackFiles, names: Sequence[str], numbers: Sequence[str], ratio: _Ratio, rng: np.random.Generator
) -> Scored:
    """Score as many people as can be, by the ratio and by the distance."""
    rows, others = (np.sort(rng.permutation(n)[:MOST]) for n in (files.n, files.n_control))
    near: list[list[Floats]] = [[], []]
    for j in range(files.m):
        own, release, other = attack_files.encode_files(files, names, numbers, j)
        index, step = prepare(release), release.metric.tolerance
        for place, query in zip(near, (own.take(rows), other.take(others)), strict=True):
            # distances are rounded sums: equal ones are one step of the curve
            place.append(-np.round(index.nearest(query, 1).distance[:, 0] / step) * step)
    half = np.zeros(len(others), np.bool_)
    half[rng.permutation(len(others))[: len(others) // 2]] = True
    scores = ratio.of_members(rows), ratio.of_others(others)
    return Scored(rows, others, *scores, np.array(near[0]), np.array(near[1]), half)


def detections(scored: Scored, fpr: Sequence[float], level: float) -> tuple[Detection, ...]:
    """The detection at each false-positive rate that the others are enough for.

    Members counted against the others that made the cut would come out ahead by chance alone: the cut of the interval
    is that of one half, and the other half is counted.
    """
    out = []
    first, second = scored.others[scored.half], scored.others[~scored.half]
    n, n_others = len(scored.members), len(second)
    for rate in sorted(fpr):
        expected = rate * len(first) + ROUNDING
        if expected < FEWEST_ALARMS:
            continue
        cut = float(np.sort(first)[::-1][int(expected)])
        called, alarms = int((scored.members > cut).sum()), int((second > cut).sum())
        by_distance = [rate_at(*pair, rate) for pair in zip(scored.near, scored.other_near, strict=True)]
        rates = rate_at(scored.members, scored.others, rate), float(np.mean(by_distance))
        three = excess(called, n, alarms, n_others, level)
        out.append(Detection(rate, *rates, cut, called, n, alarms, n_others, *three))
    return tuple(out)


def group_detections(
    files: AttackFiles, by: Sequence[str], scored: Scored, rates: Sequence[Detection], level: float
) -> dict[tuple[str, ...], dict[str, float]]:
    """The figures of each subgroup, by its labels: its people above the cuts of the file."""
    of_row = files.groups(tuple(by)).of_row
    own, other = of_row[0][scored.rows], of_row[-1][scored.other_rows[~scored.half]]
    second = scored.others[~scored.half]
    out = {}
    for number, labels in files.pair.group_labels(by, control=True).items():
        members, others = scored.members[own == number], second[other == number]
        figures: dict[str, float] = {}
        for rate in rates:
            called, alarms = int((members > rate.cut).sum()), int((others > rate.cut).sum())
            counted = called, len(members), alarms, len(others)
            three = excess(*counted, level) if len(members) and len(others) else (math.nan,) * 3
            share = called / len(members) if len(members) else math.nan
            figures |= dict(zip(group_names(rate.fpr), (share, *three), strict=True))
        out[labels] = figures
    return out


def group_names(fpr: float) -> tuple[str, ...]:
    """Columns of the table of subgroups at a false-positive rate.

    >>> group_names(0.01)
    ('tpr_0.01', 'excess_0.01', 'excess_0.01_low', 'excess_0.01_high')
    """
    start = f"excess_{fpr:g}"
    return f"tpr_{fpr:g}", start, f"{start}_low", f"{start}_high"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Membership(attack_rates.AttackResult):
    """Result of `membership`.

    Attributes
    ----------
    success_rate, control_rate : float
        Share of attacked people of the original, and of the control file, who are taken for members.
    baseline_rate : float
        The same for somebody who calls as many members at random.
    auc : float
        Chance that a member is nearer to the release than somebody who is not, half of it where equally near.
    ratio_auc : float
        The same of whoever goes by the calibrated ratio: how much likelier a person is under the release than under
        the control file. NaN where it was not asked for, or the control file has fewer than 100 people.
    tpr_multiple : float
        True-positive rate of the ratio at a false-positive rate of 1 %, as a multiple of it: 1 for guessing.
    detections : tuple of Detection
        ``fpr``, ``tpr``, ``distance_tpr``, ``excess`` with ``low`` and ``high`` at each rate that the control file is
        large enough for.
    judged : Detection or None
        That at 1 %, whether it was asked for or not.
    tpr, distance_tpr : dict of float to float
        True-positive rates by false-positive rate: of the ratio, and of the distance.
    strongest : {"distance", "ratio"}
        The score that finds more members at the lowest rate judged, else the one with the larger AUC.
    risk, verdict
        As for every attack; see `AttackResult`.
    """

    measure: ClassVar[str] = "membership"
    figures: ClassVar[tuple[str, ...]] = (*attack_rates.FIGURES, "auc", "ratio_auc", "tpr_multiple")
    dropped: ClassVar[tuple[str, ...]] = (*attack_rates.AttackResult.dropped, "scored")
    success_name: ClassVar[str] = "called_member"
    auc: float
    ratio_auc: float
    tpr_multiple: float
    detections: tuple[Detection, ...]
    judged: Detection | None
    strongest: str
    scored: Scored | None

    @property
    def tpr(self) -> dict[float, float]:
        """True-positive rate of the ratio, by false-positive rate."""
        return {rate.fpr: rate.tpr for rate in self.detections}

    @property
    def distance_tpr(self) -> dict[float, float]:
        """True-positive rate of the distance, by false-positive rate."""
        return {rate.fpr: rate.distance_tpr for rate in self.detections}

    @property
    def group_figures(self) -> tuple[str, ...]:
        """Columns of `by_group`; with the ratio the people above its cuts of the file, ``tpr_0.01`` and so on."""
        return (*attack_rates.FIGURES, *(name for rate in self.detections for name in group_names(rate.fpr)))

    @property
    def records(self) -> Any:
        """As of every attack, and ``ratio_score``: the calibrated ratio in logarithms, NaN of who was not scored."""
        score = np.full(self.n, math.nan)
        if self.scored is not None:
            score[self.scored.rows] = self.scored.members
        return self.pair.records({**self.record_columns(), "ratio_score": score}, prefix=self.prefix)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON."""
        detections = json_ready([asdict(detection) for detection in self.detections])
        return {**super().to_dict(), "detections": detections, "strongest": self.strongest}


NOT_OF_TARGETS = "of people drawn by their id only distances are compared"


def membership(
    original: Any,
    released: Any = None,
    *,
    control: Any = None,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    n_attacks: int = 500,
    targets: int | None = None,
    score: Score = "both",
    fpr: Sequence[float] = (0.01, 0.1),
    by: Sequence[str] | str | None = None,
    level: float = 0.95,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> Membership:
    """Take people for members of the file where a released row is near to them.

    As many people are drawn from the original as from the control file. Whoever is at most as far from their
    nearest released row as the median of all of them is called a member.

    Distance alone finds few. The calibrated ratio scores a person by the logarithm of their kernel density in the
    release less that in the control file, both as products over the variables: of a category 0.8 where equal, else
    0.2 shared by its other levels; of a number exp(-|a - c| / (0.2 range)), its range between the 1st and the 99th
    percentile of all files together; a missing value is a level. The control file is cut into 5 folds, and nobody
    is scored against a fold that holds them. Up to 5,000 people of either file are scored.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; rows need not belong to rows of the original.
    control : data frame
        People of the same population who were never used to make the release; left out where a pair holds them.
    variables : sequence of str, optional
        What the intruder knows of the people; all columns that the files share unless given.
    numeric : sequence of str, optional
        Those whose differences count; all numbers, dates and times unless given. The others are equal or not.
    n_attacks : int
        People drawn from each of the two files; as many as the smaller one has where there are fewer.
    targets : int, optional
        So many people of either file, in place of `n_attacks`, drawn by a hash of `id` keyed by the seed, so that the
        figures do not depend on the order of rows, nor on the engine that holds them. With `by` 1,000 or more; with
        ``score="distance"`` only.
    score : {"both", "distance", "ratio"}
        What an intruder goes by: the distance to the nearest released record; how much likelier a person is under
        the release than under the control file (the calibrated ratio); or both, side by side. ``success_rate`` and
        what is made of it are of the distance unless it is "ratio".
    fpr : sequence of float
        Shares of the others whom an intruder takes for members by mistake, above 0 and below 1: the share of the
        members called at each. One is judged where half of the control file makes 5 such mistakes: 1,000 people for
        1 %.
    by : sequence of str or str, optional
        Subgroups, each attacked `n_attacks` times by the same cut; see ``by_group``.
    level : float
        Confidence of the intervals.
    seed : int or numpy.random.Generator, optional
        Draws the people.
    scenario : Scenario, optional
        Gives the variables where they are not given: keys, sensitive and numeric ones.
    id, prefix : str, optional
        Column of the original carried along in ``records``; text before the names of result columns.

    Returns
    -------
    Membership
        ``success_rate``, ``baseline_rate``, ``control_rate``, ``auc``, ``risk`` with intervals, ``verdict``,
        ``ratio_auc``, ``tpr_multiple``, ``detections``, ``strongest``, ``records``, ``by_group``.

    Raises
    ------
    ColumnError
        A column that a file does not have.
    DataError
        No control file; fewer than two records in a file; a number out of range.

    References
    ----------
    Shokri, R., Stronati, M., Song, C. and Shmatikov, V. (2017). Membership inference attacks against machine
    learning models. IEEE Symposium on Security and Privacy. Yeom, S., Giacomelli, I., Fredrikson, M. and Jha, S.
    (2018). Privacy risk in machine learning. IEEE Computer Security Foundations Symposium.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 70), "pay": range(900, 950)})
    >>> others = people.select(pl.col("age") + 0.5, pl.col("pay") + 0.5)
    >>> found = membership(people, people, control=others, seed=1)
    >>> found.success_rate, found.control_rate, found.auc
    (1.0, 0.0, 1.0)
    >>> numbered = people.with_row_index("id")
    >>> drawn = membership(numbered, people, control=others, seed=1, id="id", score="distance", targets=20)
    >>> drawn.notes["targets"]
    'of 20 people drawn by their id'
    """
    settings = attack_files.options(n_attacks, level, by, seed, scenario, prefix, targets)
    arguments.choice(score, "score", SCORES)
    if targets is not None and score != "distance":
        raise DataError("targets= are compared by distance: give score='distance'", argument="targets")
    given = arguments.several(fpr, "fpr", "is a list of false-positive rates")
    rates = tuple(arguments.within(rate, "fpr", "is a share of the others", 0, 1, "()") for rate in given)
    attack_files.subgroups(by, [name for rate in rates for name in group_names(rate)])
    notes: dict[str, str] = {}
    opened = open_files(original, released, control, id=id)
    if opened.control is None:
        raise DataError("control= is missing: members show only beside people who are none", argument="control")
    names = attack_files.all_variables(opened, variables, scenario, notes)
    files = attack_files.open_attack(opened, roles={"variables": names}, by=settings.by, by_id=settings.by_id)
    numbers = attack_files.numeric_columns(files, names, numeric, scenario)
    attack_files.file_notes(files, names, notes)
    people = attack_files.draw_targets(files, settings, notes, balanced=True)
    if settings.by_id:
        notes["tpr_multiple"] = NOT_OF_TARGETS
    whole = people.parts[0]
    enough = score != "distance" and files.n_control >= FEWEST_OTHERS
    ratio = _Ratio(files, names, numbers, settings.rng) if enough else None
    if score == "ratio" and ratio is None:
        raise DataError(f"the ratio needs {FEWEST_OTHERS} people in the control file", argument="score")

    def attack(j: int) -> Outcome:
        if score == "ratio" and ratio is not None:
            members, others, tolerance = -ratio.of_members(people.members), -ratio.of_others(people.others), 0.0
        else:
            own, release, other = attack_files.encode_files(files, names, numbers, j)
            index, tolerance = prepare(release), release.metric.tolerance
            members = index.nearest(own.take(people.members), 1).distance[:, 0]
            others = index.nearest(other.take(people.others), 1).distance[:, 0]
        drawn = members[whole.members], others[whole.others]
        cut = _median(np.concatenate(drawn)) + tolerance
        called, others_called = members <= cut, others <= cut
        chance = np.zeros(len(called))
        for part in people.parts:
            both = np.concatenate([called[part.members], others_called[part.others]])
            chance[part.members] = both.mean() if len(both) else np.nan
        return Outcome(called, others_called, chance, {"auc": _area(*drawn, tolerance)})

    scored = None if ratio is None else scored_people(files, names, numbers, ratio, settings.rng)
    if scored is None and score != "distance":
        few = f"not judged: the control file has {files.n_control} people, {FEWEST_OTHERS} are needed"
        notes |= dict.fromkeys(("ratio_auc", "tpr_multiple"), few)
    figures = _ratio_figures(scored, rates, settings.level, notes)
    result = attack_files.attacked(Membership, people, files, attack, settings, notes, **figures)
    groups = result.groups
    if scored is not None and settings.by:
        more = group_detections(files, settings.by, scored, result.detections, settings.level)
        groups = tuple(replace(group, figures={**group.figures, **more[group.labels]}) for group in groups)
    return replace(result, groups=groups, verdict=" ".join([result.verdict, *_told(result)]))


def _told(result: Membership) -> list[str]:
    """What the ratio came to, in sentences."""
    return [
        f"By the calibrated ratio {rate.tpr:.1%} of the members are told where {100 * rate.fpr:g}% of the others are "
        f"taken for members, by the distance {rate.distance_tpr:.1%}; excess over the others {rate.excess:.1%} "
        f"(between {rate.low:.1%} and {rate.high:.1%})."
        for rate in result.detections[:1]
    ]


def _ratio_figures(scored: Scored | None, fpr: Sequence[float], level: float, notes: dict[str, str]) -> dict[str, Any]:
    """The figures of the calibrated ratio; undefined where nobody was scored."""
    if scored is None:
        nothing: dict[str, Any] = dict.fromkeys(("ratio_auc", "tpr_multiple"), math.nan)
        return {**nothing, "detections": (), "judged": None, "strongest": "distance", "scored": None}
    rates, judged = detections(scored, fpr, level), next(iter(detections(scored, [JUDGED], level)), None)
    area = _area(-scored.members, -scored.others, 0.0)
    near = zip(scored.near, scored.other_near, strict=True)
    ahead = rates[0].tpr > rates[0].distance_tpr if rates else area > np.mean([_area(-a, -b, 0.0) for a, b in near])
    if lost := {*fpr, JUDGED} - {rate.fpr for rate in (*rates, *filter(None, [judged]))}:
        given = " and ".join(f"{rate:g}" for rate in sorted(lost))
        notes["tpr_multiple"] = (
            f"not judged at a false-positive rate of {given}: half of the control file makes fewer than "
            f"{FEWEST_ALARMS} false alarms"
        )
    return {
        "ratio_auc": area, "tpr_multiple": math.nan if judged is None else judged.tpr / judged.fpr,
        "detections": rates, "judged": judged, "strongest": "ratio" if ahead else "distance", "scored": scored,
    }  # fmt: skip


def _median(values: Floats) -> float:
    """Lower median of the distances."""
    return float(np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2])


def _area(members: Floats, others: Floats, tolerance: float) -> float:
    """Area under the ROC curve: probability that a member is nearer than a non-member, ties counted half."""
    ordered = np.sort(others)
    farther = len(ordered) - np.searchsorted(ordered, members + tolerance, "right")
    nearer = np.searchsorted(ordered, members - tolerance, "left")
    return float((farther + (len(ordered) - nearer)).sum() / 2 / (len(members) * len(ordered)))
