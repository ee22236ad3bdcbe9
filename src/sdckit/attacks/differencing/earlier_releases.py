"""The releases that one is held against: files that are here, or what a ledger kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.opened_release import OpenedRelease
from sdckit.data.ledger.digests import Digester
from sdckit.data.ledger.sketch import Part, Sketch

ALIKE = 0.5  # of the records of each file have a value that the other file has, too: one coding


@dataclass(frozen=True, eq=False)
class Earlier:
    """One earlier release.

    `file` where it is here, with the `keys` that it has; `same_people` whether it is taken to be about the people of
    the new one.
    """

    name: str
    date: str
    same_people: bool
    sketch: Sketch
    digester: Digester
    file: OpenedRelease | None = None
    keys: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Records."""
        return next((part.total for place, part in self.sketch.parts.items() if place[0] == "counts"), 0)


def comparable_columns(new: OpenedRelease, one: Earlier) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of both releases whose values are coded alike, and those that are coded otherwise."""
    alike: list[str] = []
    other: list[str] = []
    for name, levels in new.levels.items():
        part = one.sketch.get("counts", (name,))
        if part is not None:
            (alike if _alike(new, name, levels.counts(), part, one.digester) else other).append(name)
    return tuple(alike), tuple(other)


def _alike(new: OpenedRelease, name: str, counts: NDArray[np.int64], part: Part, digester: Digester) -> bool:
    told = new.level_digests(name, digester)
    alone = digester.combinations([(told, np.arange(len(told), dtype=np.int32))], len(told))
    found = part.of(alone)
    here, there = counts[1:], part.total - found[0]
    if not here.sum() or not there:
        return True  # nothing but missing values in one of them: nothing contradicts
    return bool(here[found[1:] > 0].sum() >= ALIKE * here.sum() and found[1:].sum() >= ALIKE * there)


def link_rows(new: OpenedRelease, one: Earlier, *, aligned: bool) -> NDArray[np.int64] | None:
    """The record of an earlier file for each record of the new one, -1 for none; None where nothing says it."""
    old = one.file
    if old is None:
        return None
    if new.id is not None and old.id is not None:
        number = {text: code for code, text in enumerate(old.id.texts, 1)}
        row = np.full(len(old.id.texts) + 1, -1, np.int64)
        row[old.id.codes] = np.arange(old.n)
        row[0] = -1
        codes = np.array([0, *(number.get(text, 0) for text in new.id.texts)])
        linked: NDArray[np.int64] = row[codes[new.id.codes]]
        return linked
    return np.arange(new.n) if aligned and old.n == new.n else None


def set_among(one: Earlier, columns: Sequence[str]) -> tuple[str, ...]:
    """The widest set of columns counted in an earlier release that has no others than these; () without one."""
    return next((own for own in one.sketch.sets() if set(own) <= set(columns)), ())
