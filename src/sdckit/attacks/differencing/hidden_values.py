"""Values that one release hides and another shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.earlier_releases import Earlier, set_among
from sdckit.attacks.differencing.opened_release import Combinations, OpenedRelease
from sdckit.data.ledger.digests import places
from sdckit.numerics.array_types import Bools

MOST_TRIED = 1_000_000  # digests of values that a hidden one may have


def shown_by_link(
    new: OpenedRelease, old: OpenedRelease, rows: NDArray[np.int64]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """By column, the records whose value is hidden in the new release and shown in the old, and the other way round."""
    back: dict[str, Bools] = {}
    bare: dict[str, Bools] = {}
    linked = rows >= 0
    for name in new.levels:
        if name in old.levels:
            here, there = new.levels[name].codes > 0, old.levels[name].codes[rows] > 0
            back[name], bare[name] = linked & ~here & there, linked & here & ~there
    return back, bare


def shown_by_match(
    new: OpenedRelease, one: Earlier, alike: Sequence[str]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """The same where nothing says whose rows belong together: of people alone in both with what else both show."""
    back: dict[str, Bools] = {}
    bare: dict[str, Bools] = {}
    columns = set_among(one, alike)
    part = one.sketch.get("counts", columns) if len(columns) > 1 else None
    for name in columns if part is not None else ():
        rest = tuple(other for other in columns if other != name)
        others = one.sketch.get("counts", rest)
        if others is None or part is None:
            continue
        combined = new.combinations(rest)
        alone = (combined.size == 1) & (others.of(new.digests(rest, one.digester)) == 1)
        rows = np.flatnonzero(alone[combined.of_row])
        hidden = Combinations(
            columns,
            tuple(
                np.zeros(len(rows), np.int32) if other == name else new.levels[other].codes[rows]
                for other in columns
            ),
            np.ones(len(rows), np.int64), np.zeros(0, np.int32),
        )  # fmt: skip
        was_hidden = part.of(new.digests_of(hidden, one.digester)) > 0
        is_hidden = new.levels[name].codes[rows] == 0
        back[name], bare[name] = np.zeros(new.n, np.bool_), np.zeros(new.n, np.bool_)
        back[name][rows[is_hidden & ~was_hidden]] = True
        bare[name][rows[~is_hidden & was_hidden]] = True
    return back, bare


def shown_by_id(
    new: OpenedRelease, one: Earlier, id: str, alike: Sequence[str]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """The same of people whose id a ledger has, where one key is hidden in one of the releases and all others agree."""
    back = {name: np.zeros(new.n, np.bool_) for name in alike}
    bare = {name: np.zeros(new.n, np.bool_) for name in alike}
    for place, people in one.sketch.parts.items():
        columns = place[2:]
        counts = one.sketch.get("counts", columns)
        if place[:2] != ("people", id) or counts is None or not set(columns) <= set(alike):
            continue
        at = places(people.digests, new.id_digests(one.digester))
        combined, own = new.combinations(columns), new.digests(columns, one.digester)
        there = counts.digests[people.numbers[at]]
        rows = np.flatnonzero((at >= 0) & (own[combined.of_row] != there).any(axis=1))
        for name in columns:
            shown = new.levels[name].codes[rows] > 0
            bare[name][_agreeing(new, one, columns, name, rows[shown], 0, there)] = True
            levels, hidden = len(new.levels[name].texts), rows[~shown]
            if len(hidden) * levels <= MOST_TRIED:
                for level in range(1, levels + 1):
                    back[name][_agreeing(new, one, columns, name, hidden, level, there)] = True
    return back, bare


def _agreeing(
    new: OpenedRelease, one: Earlier, columns: tuple[str, ...], name: str, rows: NDArray[np.int64], level: int,
    there: NDArray[np.uint8],
) -> NDArray[np.int64]:  # fmt: skip
    """The rows whose combination would be that of the earlier release, had they this level of a column."""
    changed = Combinations(
        columns,
        tuple(
            np.full(len(rows), level, np.int32) if other == name else new.levels[other].codes[rows]
            for other in columns
        ),
        np.ones(len(rows), np.int64), np.zeros(0, np.int32),
    )  # fmt: skip
    same = new.digests_of(changed, one.digester) == there[rows]
    found: NDArray[np.int64] = rows[same.all(axis=1)]
    return found
