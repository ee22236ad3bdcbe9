"""The figures of distances to the closest record, release by release and subgroup by subgroup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdckit.attacks.attack_files import AttackFiles
from sdckit.attacks.distances.closest_distances import (
    Exchange,
    Searches,
    adversarial_accuracy,
    exchange,
    hits,
    same_size,
    wins,
)
from sdckit.attacks.distances.compared_files import ComparedFiles
from sdckit.numerics.array_types import Floats
from sdckit.numerics.coding import Encoded

FIGURES = (
    "n_released", "dcr_released_to_original", "dcr_original_to_released", "dcr_within_original",
    "dcr_p5_released_to_original", "dcr_ratio", "nndr_released_to_original", "nndr_original_to_released", "copies",
    "hitting_rate", "identifiability", "adversarial_accuracy", "share_closer_to_original", "expected_share",
    "chance_low", "chance_high", "share_p_value", "strictly_closer", "equally_near", "dcr_released_to_control",
    "dcr_control_to_released", "nndr_control_to_released", "nndr_loss", "copies_of_control", "hitting_rate_control",
    "identifiability_control", "adversarial_accuracy_control", "adversarial_loss",
)  # fmt: skip
GROUP_FIGURES = (
    "n", "n_released", "dcr_original_to_released", "dcr_released_to_original", "hitting_rate", "identifiability",
    "share_closer_to_original",
)  # fmt: skip
UNEVEN = 2  # files that differ so many times in size are brought to one size again and again
DRAWS, DRAWN = (
    30,
    60_000,
)  # so often, but no more records in all: one draw of as many errs by a few tenths of 1 %
NORMAL = 1.959963984540054  # 95 % of a normal distribution lie so many standard deviations around its mean


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is not settled by the files: width of a hit, random divisions, generator."""

    hit_width: float
    resamples: int
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Closeness:
    """What one release gives.

    Attributes
    ----------
    figures : dict of str to float
    distance, ratio, hit, identifiable : ndarray, float64, shape (n,)
        Of each original.
    released : dict of str to ndarray, float64, shape (n_released,)
        ``distance``, ``ratio`` and ``share_original`` of each released record.
    """

    figures: dict[str, float]
    distance: Floats = field(repr=False)
    ratio: Floats = field(repr=False)
    hit: Floats = field(repr=False)
    identifiable: Floats = field(repr=False)
    released: dict[str, Floats] = field(repr=False)


def closeness(files: ComparedFiles, drawing: Drawing, notes: dict[str, str]) -> tuple[Closeness, ...]:
    """All figures of all releases; `notes` is told why some are undefined."""
    plain = _named(files, files.encoded())
    rarity = files.rarity()
    weighted = None if rarity is None else _named(files, files.encoded(rarity))
    shared = [Searches(plain[0])] + ([] if weighted is None else [Searches(weighted[0])])
    if weighted is None:
        notes["identifiability"] = "every variable is constant in the original"
    found = []
    for j in range(files.opened.m):
        # what is known of the original and the control by themselves is kept from release to release
        searches = [_with(shared[0], "released", plain[1][j])]
        if weighted is not None:
            searches.append(_with(shared[1], "released", weighted[1][j]))
        found.append(_closeness(files, j, searches, drawing, notes))
    _reasons(files, found, notes)
    return tuple(found)


def _named(files: ComparedFiles, encoded: Sequence[Encoded]) -> tuple[dict[str, Encoded], Sequence[Encoded]]:
    """The real people by name, and the releases."""
    real = {"original": encoded[0]}
    if files.opened.has_control:
        real["control"] = encoded[-1]
    return real, encoded[1 : files.opened.m + 1]


def _with(shared: Searches, name: str, file: Encoded) -> Searches:
    for real in shared.files:
        if shared.files[real].n > 1:
            shared.nearest(real, real)
        shared.index(real)
    return Searches({**shared.files, name: file}, dict(shared.memo))


def _closeness(
    files: ComparedFiles, j: int, searches: Sequence[Searches], drawing: Drawing, notes: dict[str, str]
) -> Closeness:
    plain = searches[0]
    ratio, distance = plain.ratio("original", "released"), plain.distance("original", "released")
    ratio_there = plain.ratio("released", "original")
    released = {"distance": plain.distance("released", "original"), "ratio": ratio_there}
    hit = _hit(files, 0, j, drawing.hit_width)
    identifiable = _identifiable(searches, "original")
    within = float(np.median(plain.distance("original", "original")))
    median = float(np.median(released["distance"]))
    figures = dict.fromkeys(FIGURES, math.nan)
    figures.update(
        n_released=float(files.opened.pair.sizes[j]), dcr_released_to_original=median,
        dcr_original_to_released=float(np.median(distance)), dcr_within_original=within,
        dcr_p5_released_to_original=float(np.quantile(released["distance"], 0.05)),
        dcr_ratio=median / within if within > plain.tolerance else math.nan,
        nndr_released_to_original=float(released["ratio"].mean()),
        nndr_original_to_released=float(ratio.mean()),
        copies=float((released["distance"] <= plain.tolerance).mean()), hitting_rate=float(hit.mean()),
        identifiability=float(identifiable.mean()),
    )  # fmt: skip
    released["share_original"] = np.full(files.opened.pair.sizes[j], math.nan)
    if files.opened.has_control:
        made = exchange(
            plain.files["original"], plain.files["control"], plain.files["released"], resamples=drawing.resamples,
            rng=drawing.rng,
        )  # fmt: skip
        released["share_original"] = made.share
        figures.update(_control_figures(files, j, searches, made, figures, drawing.hit_width))
    figures.update(_accuracies(files, plain, drawing.rng, notes))
    return Closeness(figures, distance, ratio, hit, identifiable, released)


def _control_figures(
    files: ComparedFiles, j: int, searches: Sequence[Searches], made: Exchange, own: dict[str, float],
    width: float,
) -> dict[str, float]:  # fmt: skip
    plain = searches[0]
    to_control = plain.distance("released", "control")
    away = wins(to_control, plain.distance("released", "original"), plain.tolerance)
    ratio, back = float(plain.ratio("control", "released").mean()), plain.distance("control", "released")
    return {
        "share_closer_to_original": float(made.share.mean()), "expected_share": made.expected,
        "chance_low": max(made.expected - NORMAL * made.spread, 0.0),
        "chance_high": min(made.expected + NORMAL * made.spread, 1.0), "share_p_value": made.p_value,
        "strictly_closer": float((away == 1).mean()), "equally_near": float((away == 0.5).mean()),
        "dcr_released_to_control": float(np.median(to_control)),
        "dcr_control_to_released": float(np.median(back)), "nndr_control_to_released": ratio,
        "nndr_loss": ratio - own["nndr_original_to_released"],
        "copies_of_control": float((to_control <= plain.tolerance).mean()),
        "hitting_rate_control": float(_hit(files, -1, j, width).mean()),
        "identifiability_control": float(_identifiable(searches, "control").mean()),
    }  # fmt: skip


def _hit(files: ComparedFiles, real: int, j: int, width: float) -> Floats:
    """1 where a real record (of the original, 0, or the control, -1) has a released one at hand."""
    numbers = [files.opened.numbers(name) for name in files.numbers]
    codes = [files.opened.codes(name).codes for name in files.categories]
    return hits(
        [(one[real], one[j + 1]) for one in numbers], [(one[real], one[j + 1]) for one in codes],
        files.ranges() * width,
    ).astype(np.float64)  # fmt: skip


def _identifiable(searches: Sequence[Searches], real: str) -> Floats:
    """1 where the closest released record is nearer than the closest other real one."""
    weighted = searches[-1]
    n = weighted.files[real].n
    if len(searches) == 1 or n < 2:
        return np.full(n, np.nan)
    others, released = weighted.distance(real, real), weighted.distance(real, "released")
    return (released < others - weighted.tolerance).astype(np.float64)


def _accuracies(
    files: ComparedFiles, plain: Searches, rng: np.random.Generator, notes: dict[str, str]
) -> dict[str, float]:
    found = _accuracy(plain, ["original"], rng, "adversarial_accuracy", notes)
    figures = {"adversarial_accuracy": found["original"]}
    if files.opened.has_control:
        both = _accuracy(plain, ["original", "control"], rng, "adversarial_loss", notes)
        figures["adversarial_accuracy_control"] = both["control"]
        figures["adversarial_loss"] = both["control"] - both["original"]
    return figures


def _accuracy(
    plain: Searches, real: Sequence[str], rng: np.random.Generator, figure: str, notes: dict[str, str]
) -> dict[str, float]:
    """Adversarial accuracy by file of real people, all of one size: of larger ones the mean of several draws."""
    names = [*real, "released"]
    sizes = [plain.files[name].n for name in names]
    smallest = min(sizes)
    draws = 1
    if max(sizes) >= UNEVEN * smallest:
        draws = max(1, min(DRAWS, DRAWN // smallest))
    if max(sizes) > smallest:
        often = "drawn at random" if draws == 1 else f"the mean of {draws} random draws"
        notes[figure] = f"on {smallest} records of each file, {often}: sizes differ"
    total = dict.fromkeys(real, 0.0)
    for _ in range(draws):
        even = same_size(plain, names, rng)
        for name in real:
            total[name] += adversarial_accuracy(even, name, "released")
    return {name: value / draws for name, value in total.items()}


def _reasons(files: ComparedFiles, found: Sequence[Closeness], notes: dict[str, str]) -> None:
    """Why figures are undefined."""
    two = "needs two records of each file"
    for name in FIGURES[: FIGURES.index("share_closer_to_original")]:
        if all(math.isnan(one.figures[name]) for one in found):
            notes.setdefault(name, "half of the originals have equals" if name == "dcr_ratio" else two)
    if files.opened.n == 1:
        notes["dcr_ratio"] = two
    if files.opened.has_control:
        same = _common(files)
        if same:
            notes["control"] = (
                f"{same} of {files.opened.n_control} records of the control file equal an original; were they in the "
                "file after all, every comparison would be too favourable"
            )


def _common(files: ComparedFiles) -> int:
    groups = files.opened.groups(files.variables)
    return int(groups.size[-1][groups.size[0] > 0].sum())


def group_figures(files: AttackFiles, by: Sequence[str], found: Sequence[Closeness]) -> dict[str, list[Any]]:
    """Figures of each release and subgroup, those whose originals are nearest to the release first."""
    if not by:
        return {"release": []}
    groups = files.groups(tuple(by))
    stacked = np.concatenate(groups.of_row)
    first = np.empty(groups.n_groups, np.int64)
    first[stacked[::-1]] = np.arange(len(stacked) - 1, -1, -1)
    labels = {name: np.array(files.codes(name).labels(), object) for name in by}
    codes = {name: np.concatenate(files.codes(name).codes)[first] for name in by}
    present = np.flatnonzero(np.sum(groups.size[: files.m + 1], axis=0) > 0)
    rows: list[dict[str, Any]] = []
    for j, one in enumerate(found):
        for g in present:
            mine, theirs = groups.of_row[0] == g, groups.of_row[j + 1] == g
            figures = (
                int(mine.sum()), int(theirs.sum()), _median(one.distance[mine]),
                _median(one.released["distance"][theirs]), _mean(one.hit[mine]), _mean(one.identifiable[mine]),
                _mean(one.released["share_original"][theirs]),
            )  # fmt: skip
            printed = {name: str(labels[name][codes[name][g]]) for name in by}
            rows.append({"release": j + 1, **printed, **dict(zip(GROUP_FIGURES, figures, strict=True))})
    rows.sort(key=lambda row: (row["release"], np.nan_to_num(row["dcr_original_to_released"], nan=math.inf)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan
