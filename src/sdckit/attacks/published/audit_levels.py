"""Levels that release, original and tables speak of: the finest ones, and which of them each label stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.attacks.published.counted_tables import MISSING, Column
from sdckit.data.band_labels import range_of_label
from sdckit.data.hierarchy import Hierarchy
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools


@dataclass(frozen=True, eq=False)
class Levels:
    """The finest levels of one variable, and what each label stands for: `holds` has a row of levels per label."""

    name: str
    finest: tuple[str, ...]
    holds: Mapping[str, Bools]

    def of(self, labels: Sequence[str]) -> Bools:
        """(labels, levels): which levels each label may stand for."""
        return np.array([self.holds[label] for label in labels], np.bool_).reshape(
            len(labels), len(self.finest)
        )

    def number(self, label: str) -> float:
        """The number that a level is; NaN where it is none."""
        found = range_of_label(label) if label != MISSING else None
        return found[0] if found is not None and found[0] == found[1] else np.nan


def finest_levels(name: str, columns: Sequence[Column], hierarchy: Hierarchy | None = None) -> Levels:
    """Find the finest levels of a variable among the labels of several columns, and what the coarser ones hold.

    A label holds others where its range of numbers holds theirs ("30-39" holds "31"), or where the hierarchy says so.

    Raises `DataError`: two ranges overlap, and neither holds the other.
    """
    labels = list(dict.fromkeys(label for one in columns for label in one.labels))
    known = [label for label in labels if label != MISSING]
    below = _by_hierarchy(known, hierarchy) if hierarchy is not None else _by_ranges(name, known)
    finest = [label for label in labels if not below.get(label)]
    place = {label: i for i, label in enumerate(finest)}
    holds = {}
    for label in labels:
        own = np.zeros(len(finest), np.bool_)
        own[[place[one] for one in below.get(label) or [label]]] = True
        holds[label] = own
    return Levels(name, tuple(finest), holds)


def _by_hierarchy(labels: Sequence[str], hierarchy: Hierarchy) -> dict[str, list[str]]:
    """What each coarser name holds, of the labels that are there."""
    leaves, present = [str(leaf) for leaf in hierarchy.leaves], set(labels)
    found: dict[str, list[str]] = {}
    chains = list(zip(leaves, *([str(one) for one in level] for level in hierarchy.levels), strict=True))
    for chain in chains:
        at = next((one for one in chain if one in present), None)
        for above in chain:
            if at is not None and above != at and above in present and at not in found.setdefault(above, []):
                found[above].append(at)
    finest = {label for label in labels if label not in found}
    return {label: [one for one in below if one in finest] for label, below in found.items()}


def _by_ranges(name: str, labels: Sequence[str]) -> dict[str, list[str]]:
    """What each range of numbers holds; two spellings of one range are held by the first of them."""
    ranges = {label: read for label in labels if (read := range_of_label(label)) is not None}
    found: dict[str, list[str]] = {}
    first: dict[tuple[float, float], str] = {}
    for label, own in ranges.items():
        if own in first:
            found[label] = [first[own]]
        first.setdefault(own, label)
    wide = {label: own for label, own in ranges.items() if own[0] < own[1] and label not in found}
    single = [(label, own) for label, own in ranges.items() if label not in found]
    for label, (low, high) in wide.items():
        inside = [other for other, own in single if other != label and low <= own[0] and own[1] <= high]
        across = [
            own for other, own in single
            if other != label and own[0] <= high and own[1] >= low
            and not (low <= own[0] and own[1] <= high) and not (own[0] <= low and high <= own[1])
        ]  # fmt: skip
        if across:
            raise DataError(
                f"column {name!r}: ranges of the release and of the tables overlap, and neither holds the other; give "
                "tables with bands that fit those of the release",
                argument="tables",
            )
        if inside:
            found[label] = inside
    finest = {label for label in labels if label not in found}
    out = {}
    for label, below in found.items():
        kept = [one for one in below if one in finest] or [
            one for one in found.get(below[0], []) if one in finest
        ]
        out[label] = kept
    return out
