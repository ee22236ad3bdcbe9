"""Figures from nearest-neighbour distances between original, releases and control, by release and subgroup."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdckit.attacks.attack_files import AttackFiles
from sdckit.attacks.distances.nearest_searches import Searches, same_size, with_ranked
from sdckit.cells.packing import group_codes
from sdckit.cells.shared_coding import quantile_bins
from sdckit.data.drawn_rows import OF_GROUP, mean_interval, quantile_interval, share_interval
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.coding import Encoded, gower, stacked_ranges
from sdckit.numerics.grouping import first_of_groups
from sdckit.numerics.search import count_boxes, neighbours

# Figures from the distances of nearest neighbours.


def wins(distance: Floats, other: Floats, tolerance: float) -> Floats:
    """Compare distances: 1 where the first is larger, 0 where it is smaller, 1/2 for ties."""
    larger = np.where(distance > other + tolerance, 1.0, 0.5)
    return np.where(distance < other - tolerance, 0.0, larger)


def adversarial_accuracy(files: Searches, real: str, released: str) -> float:
    """Nearest-neighbour adversarial accuracy: 0 for copies, 1/2 ideal, 1 if the files are fully separable.

    Both files should have as many records: `same_size`.
    """
    if files.files[real].n < 2 or files.files[released].n < 2:
        return math.nan
    tolerance = files.tolerance
    sides = ((real, released), (released, real))
    halves = [wins(files.distance(a, b), files.distance(a, a), tolerance).mean() for a, b in sides]
    return float(sum(halves) / 2)


def hits(numbers: Sequence[tuple[Floats, Floats]], codes: Sequence[tuple[Codes, Codes]], reach: Floats) -> Bools:
    """Which records of the first file have a hit in the second: equal categories and every number within `reach`.

    `numbers` and `codes` hold (first file, second file) per variable, with NaN or a code of its own where missing.
    `reach` (numbers,): largest difference of each number; a missing number matches a missing one only.

    Examples
    --------
    >>> x = (np.array([1.0, 2.0, np.nan]), np.array([1.4, np.nan]))
    >>> hits([x], [], np.array([0.5])).tolist()
    [True, False, True]
    """
    n, n_other = (len(values) for values in (numbers[0] if numbers else codes[0]))
    columns = [np.concatenate(pair) for pair in codes]
    columns += [np.concatenate([np.isnan(values) for values in pair]).astype(np.int32) for pair in numbers]
    groups = group_codes(columns, n + n_other)
    mine, theirs = groups.of_row[:n], groups.of_row[n:]
    if not numbers:
        return np.bincount(theirs, minlength=len(groups.size))[mine] > 0
    boxes = []
    for (a, b), far in zip(numbers, reach.tolist(), strict=True):
        centre, point = np.nan_to_num(a), np.nan_to_num(b)
        slack = 1e-12 * (far + np.abs(centre))  # a difference of exactly the reach is inside, whatever its rounding
        boxes.append(count_boxes.Dimension(point, point, point, centre - far - slack, centre + far + slack))
    return count_boxes.count_in_boxes(boxes, theirs, mine, len(groups.size)) > 0


@dataclass(frozen=True, eq=False)
class Exchange:
    """Share of originals among the nearest real records of each released record, with its permutation distribution.

    Attributes
    ----------
    share : ndarray, float64, shape (n_released,)
        1 where the nearest are originals, 0 where they are controls, between where equally near.
    expected : float
        Share of originals among the real records.
    by_chance : ndarray, float64, shape (resamples,)
        Mean share under random permutations of the labels original and control.
    """

    share: Floats
    expected: float
    by_chance: Floats

    @property
    def spread(self) -> float:
        """Standard deviation of the mean share under the permutation distribution."""
        return float(np.sqrt(np.mean((self.by_chance - self.expected) ** 2))) if len(self.by_chance) else math.nan

    @property
    def p_value(self) -> float:
        """One-sided permutation p-value of the mean share."""
        n = len(self.by_chance)
        return float((1 + (self.by_chance >= self.share.mean() - 1e-12).sum()) / (1 + n)) if n else math.nan


def exchange(
    original: Encoded, control: Encoded, released: Encoded, *, resamples: int, rng: np.random.Generator,
    rows: Ints | None = None,
) -> Exchange:  # fmt: skip
    """Permutation test of whether released records are nearer to originals than to controls.

    If the release depends on neither file more than on the other, every division of the real records into two files
    of these sizes is equally likely. That holds for files of different sizes, too.
    `rows`: the released records looked at, where some were drawn.
    """
    n, together = original.n, _stacked(original, control)
    truth = np.arange(together.n) < n
    within = neighbours.prepare(together).within(released if rows is None else released.take(rows), 1)
    share, weight = within.balance(truth.astype(np.float64))
    if rows is not None:  # few have a weight, and which of them are originals depends on no order of the files
        near = np.sort(weight[weight > 0])
        originals = rng.hypergeometric(n, together.n - n, len(near), resamples)
        dealt = (near[rng.permutation(len(near)) < size].sum() for size in originals)
        return Exchange(share, n / together.n, np.fromiter(dealt, np.float64, resamples))
    # the mean share is linear in the labels: the sum of the weights of the records labelled original
    by_chance = np.array([weight[rng.permutation(truth)].sum() for _ in range(resamples)])
    return Exchange(share, n / together.n, by_chance)


def _stacked(a: Encoded, b: Encoded) -> Encoded:
    return Encoded(np.concatenate([a.numbers, b.numbers]), np.concatenate([a.codes, b.codes]), a.metric)


# Original, releases and control file, jointly encoded so that distances between any two are comparable.


CLASSES = 10  # of a number, for its entropy


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of the original, of each release and of the control file that are looked at, where people were drawn."""

    original: Ints
    released: tuple[Ints, ...]
    control: Ints

    def of(self, file: int) -> Ints:
        """The rows of a file: 0 the original, from 1 the releases, -1 the control file."""
        return (self.original, *self.released, self.control)[file]

    @property
    def real(self) -> dict[str, Ints]:
        """Those of original and control file by name."""
        return {"original": self.original, "control": self.control}


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """The files of one call and the variables compared, as numbers or categories."""

    opened: AttackFiles
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    drawn: Drawn | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """All compared variables, numbers first."""
        return (*self.numbers, *self.categories)

    def ranges(self) -> Floats:
        """Range of each number over the real records (original and control)."""
        real = [0, -1] if self.opened.has_control else [0]
        return stacked_ranges([[self.opened.numbers(name)[f] for f in real] for name in self.numbers])

    def encoded(self, weights: Sequence[float] | None = None) -> tuple[Encoded, ...]:
        """Original, releases and control encoded for Gower's distance; numbers are scaled by `ranges`."""
        return gower(
            [self.opened.numbers(name) for name in self.numbers],
            [self.opened.codes(name).codes for name in self.categories],
            weights=weights,
            ranges=self.ranges(),
        )

    def random(self, n: int, rng: np.random.Generator) -> tuple[Encoded, Encoded]:
        """The original, and n records drawn uniformly: numbers over its range, categories among its levels."""
        numbers = [self.opened.numbers(name)[0] for name in self.numbers]
        codes = [self.opened.codes(name).codes[0] for name in self.categories]
        levels = [np.unique(own[own > 0]) if own.any() else own[:1] for own in codes]  # a missing value is no level
        original, random = gower(
            [(own, _uniform(own, n, rng)) for own in numbers],
            [(own, rng.choice(level, n)) for own, level in zip(codes, levels, strict=True)],
            ranges=self.ranges(),
        )
        return original, random

    def rarity(self) -> list[float] | None:
        """Weight of each variable: inverse entropy in the original (numbers in ten quantile classes); 0 if constant.

        None where every variable is constant.
        """
        entropies = []
        for name in self.variables:
            if name in self.numbers:
                values = self.opened.numbers(name)[0]
                known = ~np.isnan(values)
                codes = quantile_bins([values], CLASSES).codes(values) if known.any() else np.zeros(len(values), int)
            else:
                codes = self.opened.codes(name).codes[0]
            share = np.bincount(codes) / len(codes)
            share = share[share > 0]
            entropies.append(float(-(share * np.log(share)).sum()))
        weights = [1 / entropy if entropy > 0 else 0.0 for entropy in entropies]
        return weights if any(weights) else None


def _uniform(values: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Numbers drawn uniformly between the smallest and the largest value, whole ones where all values are."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return np.full(n, np.nan)
    low, high = float(known.min()), float(known.max())
    whole = bool((known == np.floor(known)).all())
    drawn: Floats = low + rng.random(n) * (high - low + whole)
    return np.floor(drawn) if whole else drawn


FIGURES = (
    "n_released", "dcr_released_to_original", "dcr_original_to_released", "dcr_within_original",
    "dcr_p5_released_to_original", "dcr_ratio", "dcr_random_to_original", "baseline_protection",
    "nndr_released_to_original", "nndr_original_to_released", "copies",
    "hitting_rate", "identifiability", "adversarial_accuracy", "share_closer_to_original", "expected_share",
    "chance_low", "chance_high", "share_p_value", "strictly_closer", "equally_near", "dcr_released_to_control",
    "dcr_control_to_released", "nndr_control_to_released", "nndr_loss", "copies_of_control", "hitting_rate_control",
    "identifiability_control", "adversarial_accuracy_control", "adversarial_loss",
)  # fmt: skip
GROUP_FIGURES = (
    "n", "n_released", "dcr_original_to_released", "dcr_released_to_original", "hitting_rate", "identifiability",
    "share_closer_to_original",
)  # fmt: skip
BLOCK = 1_000_000  # released records among which hits are looked for at a time, where people were drawn
RANDOM = 2_000  # records drawn at random: how far they are from the original does not depend on how many there are
UNEVEN = 2  # ratio of file sizes from which on subsampling to equal size is repeated
# Most repetitions, and most records over all of them: one draw of as many errs by a few tenths of 1 %.
DRAWS, DRAWN = 30, 60_000
ALL_PAIRS = 1_000  # records of the largest file up to which the repetitions are looked up among the nearest;
ALIKE = 8  # three times as many, where it has at most so many times as many records as the smallest
OF_ONE_SIZE = "where people are drawn it needs files of one size"
NORMAL = 1.959963984540054  # 97.5 % quantile of the standard normal distribution


@dataclass(frozen=True, eq=False)
class Drawing:
    """Settings of the computation: width of a hit, number of permutations, random generator."""

    hit_width: float
    resamples: int
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Closeness:
    """Figures of one release, and its values by record.

    Attributes
    ----------
    figures : dict of str to float
    distance, ratio, hit, identifiable : ndarray, float64, shape (n,)
        Of each original.
    released : dict of str to ndarray, float64, shape (n_released,)
        ``distance``, ``ratio`` and ``share_original`` of each released record.
    intervals : dict of str to tuple of float
        95 % intervals, where people were drawn: all arrays are of those drawn then.
    """

    figures: dict[str, float]
    distance: Floats = field(repr=False)
    ratio: Floats = field(repr=False)
    hit: Floats = field(repr=False)
    identifiable: Floats = field(repr=False)
    released: dict[str, Floats] = field(repr=False)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)


def closeness(files: ComparedFiles, drawing: Drawing, notes: dict[str, str]) -> tuple[Closeness, ...]:
    """Compute all figures of all releases; reasons for undefined ones go to `notes`.

    Where people were drawn, what takes memory by the records is made, searched and let go of one after the other.
    """
    rarity, common = files.rarity(), _common(files) if files.opened.has_control else 0
    if rarity is None:
        notes["identifiability"] = "every variable is constant in the original"
    if files.drawn is not None:
        files.opened.let_go(files.numbers)
    hit = [
        {real: _hit(files, real, j, drawing.hit_width) for real in ([0, -1] if files.opened.has_control else [0])}
        for j in range(files.opened.m)
    ]
    at_random, tolerance = _at_random(files, drawing.rng.spawn(1)[0])
    weighted = [] if rarity is None else _searches(files, rarity)
    plain = _searches(files, None)
    per_release = []
    for j in range(files.opened.m):
        searches = [plain[j], *([weighted[j]] if weighted else [])]
        per_release.append(_closeness(files, j, searches, hit[j], drawing, notes))
        own = per_release[-1].figures
        own["dcr_random_to_original"] = at_random
        if at_random > tolerance:
            own["baseline_protection"] = min(1.0, own["dcr_released_to_original"] / at_random)
        else:
            notes["baseline_protection"] = "half of the records drawn at random equal an original"
    _reasons(files, per_release, common, notes)
    return tuple(per_release)


def _at_random(files: ComparedFiles, rng: np.random.Generator) -> tuple[float, float]:
    """Median distance of records drawn at random to the nearest original, and what differs by less is equal."""
    original, random = files.random(RANDOM, rng)
    away = Searches({"original": original, "random": random}).distance("random", "original")
    return float(np.median(away)), original.metric.tolerance


def _searches(files: ComparedFiles, rarity: Sequence[float] | None) -> list[Searches]:
    """The encoded files of each release; searched already for those drawn, and of weighted ones no rows are kept."""
    encoded = files.encoded(rarity)
    real = {"original": encoded[0]} | ({"control": encoded[-1]} if files.opened.has_control else {})
    releases = encoded[1 : files.opened.m + 1]
    if files.drawn is None:
        shared = Searches(real)  # searches within and between original and control are shared by all releases
        return [_with(shared, "released", release) for release in releases]
    searches = []
    for release, rows in zip(releases, files.drawn.released, strict=True):
        own = Searches({**real, "released": release}, {}, {**files.drawn.real, "released": rows})
        _search_in_turn(own, weighted=rarity is not None)
        searches.append(own if rarity is None else own.without_rows())
    return searches


def _with(shared: Searches, name: str, file: Encoded) -> Searches:
    for real in shared.files:
        if shared.files[real].n > 1:
            shared.nearest(real, real)
        shared.index(real)
    return Searches({**shared.files, name: file}, dict(shared.memo))


def _search_in_turn(some: Searches, *, weighted: bool) -> None:
    """Make the searches for those drawn in one file after the other, so that a single large index is kept at a time."""
    real = [name for name in some.files if name != "released"]  # weighted searches are for these alone
    pairs = [*((name, name) for name in (real if weighted else some.files)), *((name, "released") for name in real)]
    pairs += [] if weighted else [("released", name) for name in real]
    for base, file in some.files.items():
        for query, searched in pairs:
            if searched == base and not (query == base and file.n < 2):
                some.nearest(query, base)
        some.memo.pop((base,), None)


def _closeness(
    files: ComparedFiles, j: int, searches: Sequence[Searches], hit: Mapping[int, Floats], drawing: Drawing,
    notes: dict[str, str],
) -> Closeness:  # fmt: skip
    plain = searches[0]
    ratio, distance = plain.ratio("original", "released"), plain.distance("original", "released")
    ratio_there = plain.ratio("released", "original")
    released = {"distance": plain.distance("released", "original"), "ratio": ratio_there}
    identifiable = _identifiable(searches, "original")
    within = float(np.median(plain.distance("original", "original")))
    median = float(np.median(released["distance"]))
    figures = dict.fromkeys(FIGURES, math.nan)
    figures.update(
        n_released=float(files.opened.pair.sizes[j]), dcr_released_to_original=median,
        dcr_original_to_released=float(np.median(distance)), dcr_within_original=within,
        dcr_p5_released_to_original=float(np.quantile(released["distance"], 0.05)),
        dcr_ratio=median / within if within > plain.tolerance else math.nan,
        nndr_released_to_original=float(released["ratio"].mean()), nndr_original_to_released=float(ratio.mean()),
        copies=float((released["distance"] <= plain.tolerance).mean()), hitting_rate=float(hit[0].mean()),
        identifiability=float(identifiable.mean()),
    )  # fmt: skip
    released["share_original"] = np.full(len(ratio_there), math.nan)
    if files.opened.has_control:
        exchanged = exchange(
            plain.files["original"], plain.files["control"], plain.files["released"], resamples=drawing.resamples,
            rng=drawing.rng, rows=plain.drawn.get("released"),
        )  # fmt: skip
        released["share_original"] = exchanged.share
        figures.update(_control_figures(searches, exchanged, figures, hit[-1]))
    figures.update(_accuracies(files, plain, drawing.rng, notes))
    intervals = {} if files.drawn is None else _intervals(searches, released, hit)
    return Closeness(figures, distance, ratio, hit[0], identifiable, released, intervals)


def _intervals(
    searches: Sequence[Searches], released: Mapping[str, Floats], hit: Mapping[int, Floats]
) -> dict[str, tuple[float, float]]:
    """95 % intervals of the figures of rows drawn: of shares Wilson's, of medians by order, of means by their error."""
    plain, away = searches[0], released["distance"]
    shares = {
        "copies": (away <= plain.tolerance).astype(np.float64), "hitting_rate": hit[0],
        "identifiability": _identifiable(searches, "original"), "share_closer_to_original": released["share_original"],
    }  # fmt: skip
    medians = {
        "dcr_released_to_original": away, "dcr_original_to_released": plain.distance("original", "released"),
        "dcr_within_original": plain.distance("original", "original"),
    }  # fmt: skip
    means = {
        "nndr_released_to_original": released["ratio"], "nndr_original_to_released": plain.ratio("original", "released")
    }  # fmt: skip
    if -1 in hit:
        to_control = plain.distance("released", "control")
        ahead = wins(to_control, away, plain.tolerance)
        shares |= {
            "strictly_closer": (ahead == 1).astype(np.float64), "equally_near": (ahead == 0.5).astype(np.float64),
            "copies_of_control": (to_control <= plain.tolerance).astype(np.float64),
            "hitting_rate_control": hit[-1],
            "identifiability_control": _identifiable(searches, "control"),
        }  # fmt: skip
        medians |= {
            "dcr_released_to_control": to_control, "dcr_control_to_released": plain.distance("control", "released")
        }  # fmt: skip
        means["nndr_control_to_released"] = plain.ratio("control", "released")
    return {
        **{name: share_interval(values) for name, values in shares.items()},
        **{name: quantile_interval(values) for name, values in medians.items()},
        "dcr_p5_released_to_original": quantile_interval(away, 0.05),
        **{name: mean_interval(values) for name, values in means.items()},
    }


def _control_figures(
    searches: Sequence[Searches], exchanged: Exchange, own: dict[str, float], hit: Floats
) -> dict[str, float]:
    plain = searches[0]
    to_control = plain.distance("released", "control")
    away = wins(to_control, plain.distance("released", "original"), plain.tolerance)
    ratio, back = float(plain.ratio("control", "released").mean()), plain.distance("control", "released")
    return {
        "share_closer_to_original": float(exchanged.share.mean()), "expected_share": exchanged.expected,
        "chance_low": max(exchanged.expected - NORMAL * exchanged.spread, 0.0),
        "chance_high": min(exchanged.expected + NORMAL * exchanged.spread, 1.0), "share_p_value": exchanged.p_value,
        "strictly_closer": float((away == 1).mean()), "equally_near": float((away == 0.5).mean()),
        "dcr_released_to_control": float(np.median(to_control)),
        "dcr_control_to_released": float(np.median(back)), "nndr_control_to_released": ratio,
        "nndr_loss": ratio - own["nndr_original_to_released"],
        "copies_of_control": float((to_control <= plain.tolerance).mean()),
        "hitting_rate_control": float(hit.mean()),
        "identifiability_control": float(_identifiable(searches, "control").mean()),
    }  # fmt: skip


def _hit(files: ComparedFiles, real: int, j: int, width: float) -> Floats:
    """1 where a record of a real file (`real`: 0 original, -1 control) has a hit in release j; else 0."""
    numbers = [files.opened.numbers(name) for name in files.numbers]
    codes = [files.opened.codes(name).codes for name in files.categories]
    own: Any = slice(None) if files.drawn is None else files.drawn.of(real)
    reach, hit = files.ranges() * width, np.zeros(len((numbers or codes)[0][real][own]), np.bool_)
    n = len((numbers or codes)[0][j + 1])
    step = n if files.drawn is None else BLOCK  # for few records the release may pass by in blocks
    for start in range(0, n, step):
        some = slice(start, start + step)
        hit |= hits(
            [(number[real][own], number[j + 1][some]) for number in numbers],
            [(code[real][own], code[j + 1][some]) for code in codes], reach,
        )  # fmt: skip
    return hit.astype(np.float64)


def _identifiable(searches: Sequence[Searches], real: str) -> Floats:
    """1 where the nearest released record is closer than the nearest other real record; else 0."""
    weighted = searches[-1]
    n = weighted.files[real].n
    if len(searches) == 1 or n < 2:
        return np.full(len(weighted.drawn.get(real, range(n))), np.nan)
    others, released = weighted.distance(real, real), weighted.distance(real, "released")
    return (released < others - weighted.tolerance).astype(np.float64)


def _accuracies(
    files: ComparedFiles, plain: Searches, rng: np.random.Generator, notes: dict[str, str]
) -> dict[str, float]:
    names = [*(name for name in plain.files if name != "released"), "released"]
    sizes = [plain.files[name].n for name in names]
    worthwhile = max(ALL_PAIRS, min(3 * ALL_PAIRS, ALIKE * min(sizes)))
    if not plain.drawn and UNEVEN * min(sizes) <= max(sizes) <= worthwhile:
        plain = with_ranked(plain, names)
    accuracies = _accuracy(plain, ["original"], rng, "adversarial_accuracy", notes)
    figures = {"adversarial_accuracy": accuracies["original"]}
    if files.opened.has_control:
        both = _accuracy(plain, ["original", "control"], rng, "adversarial_loss", notes)
        figures["adversarial_accuracy_control"] = both["control"]
        figures["adversarial_loss"] = both["control"] - both["original"]
    return figures


def _accuracy(
    plain: Searches, real: Sequence[str], rng: np.random.Generator, figure: str, notes: dict[str, str]
) -> dict[str, float]:
    """Adversarial accuracy by real file, on subsamples of equal size (mean over several draws if sizes differ much)."""
    names = [*real, "released"]
    sizes = [plain.files[name].n for name in names]
    smallest = min(sizes)
    if plain.drawn and max(sizes) > smallest:
        notes[figure] = OF_ONE_SIZE
        return dict.fromkeys(real, math.nan)
    draws = max(1, min(DRAWS, DRAWN // smallest)) if max(sizes) >= UNEVEN * smallest else 1
    if max(sizes) > smallest:
        often = "drawn at random" if draws == 1 else f"the mean of {draws} random draws"
        notes[figure] = f"on {smallest} records of each file, {often}: sizes differ"
    total = dict.fromkeys(real, 0.0)
    for _ in range(draws):
        even = same_size(plain, names, rng)
        for name in real:
            total[name] += adversarial_accuracy(even, name, "released")
    return {name: value / draws for name, value in total.items()}


def _reasons(files: ComparedFiles, per_release: Sequence[Closeness], same: int, notes: dict[str, str]) -> None:
    """Note why figures are undefined, and how many of the control file equal an original."""
    two = "needs two records of each file"
    for name in FIGURES[: FIGURES.index("share_closer_to_original")]:
        if all(math.isnan(release.figures[name]) for release in per_release):
            notes.setdefault(name, "half of the originals have equals" if name == "dcr_ratio" else two)
    if files.opened.n == 1:
        notes["dcr_ratio"] = two
    if same:
        notes["control"] = (
            f"{same} of {files.opened.n_control} records of the control file equal an original; were they in the file "
            "after all, every comparison would be too favourable"
        )


def _common(files: ComparedFiles) -> int:
    groups = files.opened.groups(files.variables)
    return int(groups.size[-1][groups.size[0] > 0].sum())


def group_figures(
    files: AttackFiles, by: Sequence[str], per_release: Sequence[Closeness], drawn: Drawn | None = None
) -> dict[str, list[Any]]:
    """Figures by release and subgroup, sorted by the median distance of the originals to the release.

    Where rows were drawn, none of a subgroup of which fewer than `OF_GROUP` were, unless these are all of it.
    """
    if not by:
        return {"release": []}
    groups = files.groups(tuple(by))
    stacked = np.concatenate(groups.of_row)
    first = first_of_groups(stacked, groups.n_groups)
    labels = {name: np.array(files.codes(name).labels(), object) for name in by}
    codes = {name: np.concatenate(files.codes(name).codes)[first] for name in by}
    present = np.flatnonzero(np.sum(groups.size[: files.m + 1], axis=0) > 0)
    rows: list[dict[str, Any]] = []
    for j, release in enumerate(per_release):
        for g in present:
            mine, theirs = (_members(groups.of_row[file] == g, file, drawn) for file in (0, j + 1))
            figures = (
                int(mine.sum()), int(theirs.sum()), _median(release.distance[mine]),
                _median(release.released["distance"][theirs]), _mean(release.hit[mine]),
                _mean(release.identifiable[mine]), _mean(release.released["share_original"][theirs]),
            )  # fmt: skip
            printed = {name: str(labels[name][codes[name][g]]) for name in by}
            rows.append({"release": j + 1, **printed, **dict(zip(GROUP_FIGURES, figures, strict=True))})
    rows.sort(key=lambda row: (row["release"], np.nan_to_num(row["dcr_original_to_released"], nan=math.inf)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def _members(inside: Bools, file: int, drawn: Drawn | None) -> Bools:
    """Which rows of a file, or of those drawn, are a subgroup; none where these are too few of it."""
    if drawn is None:
        return inside
    members = inside[drawn.of(file)]
    enough = members.sum() >= min(OF_GROUP, inside.sum())
    return members if enough else np.zeros_like(members)


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan
