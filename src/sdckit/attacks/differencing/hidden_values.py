"""Values that one release hides and another shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.earlier_releases import Earlier, set_among
from sdckit.attacks.differencing.opened_release import Combinations, OpenedRelease

__all__ = ["shown_by_link", "shown_by_match"]

Bools = NDArray[np.bool_]


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
