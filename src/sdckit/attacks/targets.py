"""Whom an attack is tried on: records of the original and of the control file, also by subgroup."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.attack_files import AttackFiles, Options
from sdckit.attacks.attack_rates import Group, Tally, rates
from sdckit.numerics.array_types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Part:
    """The whole file, or a subgroup: which of the attacks are on it.

    `labels` are empty for the whole file; the slices are positions among the attacked records of the original and
    of the control file.
    """

    labels: tuple[str, ...]
    members: slice
    others: slice


@dataclass(frozen=True, eq=False)
class Targets:
    """Attacked records, those drawn from the whole file first, then subgroup by subgroup.

    `members` are rows of the original, `others` of the control file (empty without one).
    """

    members: Ints
    others: Ints
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of it in one release.

    For each attacked record its success; for those of the original also the chance that guessing succeeds.
    """

    members: NDArray[np.bool_]
    others: NDArray[np.bool_]
    baseline: Floats


def draw_targets(
    files: AttackFiles, asked: Options, notes: dict[str, str], *, balanced: bool = False
) -> Targets:
    """Draw records to attack: as many as asked for from the whole file, and from each subgroup.

    `notes` is told where a file has fewer records than attacks are asked for; `balanced` draws as many from the
    original as from the control file.
    """
    if balanced and asked.n_attacks > (least := min(files.n, files.n_control)):
        notes["n_attacks"] = (
            f"{asked.n_attacks} attacks asked for, the smaller file has {least} records: as many of either file"
        )
    elif asked.n_attacks > files.n:
        notes["n_attacks"] = f"{asked.n_attacks} attacks asked for, {files.n} records there are: all attacked"
    elif files.has_control and asked.n_attacks > files.n_control:
        notes["n_control"] = (
            f"{asked.n_attacks} attacks asked for, the control file has {files.n_control} records"
        )
    pools = [((), np.arange(files.n), np.arange(files.n_control)), *_groups(files, asked.by)]
    members: list[Ints] = []
    others: list[Ints] = []
    parts = []
    at = [0, 0]
    for labels, own, control in pools:
        sizes = [min(asked.n_attacks, len(own)), min(asked.n_attacks, len(control))]
        if balanced:
            sizes = [min(sizes)] * 2
        members.append(np.sort(asked.rng.choice(own, sizes[0], replace=False)))
        others.append(
            np.sort(asked.rng.choice(control, sizes[1], replace=False)) if sizes[1] else control[:0]
        )
        parts.append(Part(labels, slice(at[0], at[0] + sizes[0]), slice(at[1], at[1] + sizes[1])))
        at = [at[0] + sizes[0], at[1] + sizes[1]]
    return Targets(np.concatenate(members), np.concatenate(others), tuple(parts))


def _groups(files: AttackFiles, by: Sequence[str]) -> list[tuple[tuple[str, ...], Ints, Ints]]:
    if not by:
        return []
    of_row = files.groups(tuple(by)).of_row
    control = of_row[-1] if files.has_control else of_row[0][:0]
    return [
        (labels, np.flatnonzero(of_row[0] == number), np.flatnonzero(control == number))
        for number, labels in group_labels(files, by).items()
    ]


def group_labels(files: AttackFiles, by: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Printed values of each subgroup that the original has, by its number."""
    numbers, first = np.unique(files.groups(tuple(by)).of_row[0], return_index=True)
    columns = []
    for name in by:
        coding = files.codes(name)
        labels = coding.labels()
        columns.append([labels[code] for code in coding.codes[0][first].tolist()])
    return dict(zip(numbers.tolist(), zip(*columns, strict=True), strict=True))


def tallied(
    targets: Targets, files: AttackFiles, attack: Callable[[int], Outcome], asked: Options,
    notes: dict[str, str],
) -> tuple[tuple[dict[str, float], ...], tuple[Group, ...], tuple[tuple[Ints, NDArray[np.bool_]], ...]]:  # fmt: skip
    """Attack each release: its figures, those of its subgroups, and who was attacked with success."""
    per_release, groups, hits = [], [], []
    for j in range(files.m):
        found = attack(j)
        for part in targets.parts:
            own, other = found.members[part.members], found.others[part.others]
            control = Tally(len(other), float(other.sum())) if files.has_control else None
            base = found.baseline[part.members]
            quiet = notes if not part.labels else {}
            figures = rates(
                Tally(len(own), float(own.sum())),
                float(base.mean()) if len(base) else float("nan"),
                control, asked.level, quiet,
            )  # fmt: skip
            if part.labels:
                groups.append(Group(j + 1, part.labels, figures))
            else:
                per_release.append(figures)
                hits.append((targets.members[part.members], own))
    return tuple(per_release), tuple(groups), tuple(hits)
