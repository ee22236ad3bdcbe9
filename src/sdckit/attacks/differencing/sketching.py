"""The sketch of a release: which sets of columns are counted, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.candidates import MOST_LEVELS, candidate_sets, listed, n_candidates
from sdckit.attacks.differencing.opened_release import Combinations, OpenedRelease
from sdckit.data.ledger.digests import Digester
from sdckit.data.ledger.sketch import Part, Place, Sketch, sorted_part

MOST_DIGESTS = 2_000_000  # of one release; sets of many columns that lack one are left out first


def sketch_release(
    release: OpenedRelease, keys: Sequence[Sequence[str]], sensitive: Sequence[str], digester: Digester,
    *, id: str | None = None,
) -> Sketch:  # fmt: skip
    """Count every set of columns worth comparing, and keep the digests of its combinations with the counts.

    `keys` are those of each intruder. With an `id`, also which combination each id has, and which values of a
    sensitive variable are possible for each combination.
    """
    parts: dict[Place, Part] = {}
    places: dict[tuple[str, ...], NDArray[np.int64]] = {}
    own = list(dict.fromkeys(tuple(sorted(one)) for one in keys))
    taken = 0
    for columns, needed in _sets(keys, sensitive):
        combined = release.combinations(columns) if columns in own else release.whole.among(columns)
        if not needed and taken + len(combined.size) > MOST_DIGESTS:
            continue
        taken += len(combined.size)
        told = release.digests_of(combined, digester)
        parts[("counts", *columns)], places[columns] = sorted_part(told, combined.size)
    for columns in own if id is not None else ():
        _add_people(parts, release, columns, sensitive, digester, places[columns], str(id))
    return Sketch(parts)


def _sets(keys: Sequence[Sequence[str]], sensitive: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Sets of columns, each once, and whether it is always kept; the rest has the narrower ones first."""
    every = tuple(sorted({name for own in keys for name in own} | set(sensitive)))
    wide = [tuple(sorted(own)) for own in keys]
    wide += [tuple(sorted({*own, target})) for own in keys for target in sensitive]
    needed = [*((name,) for name in every), *wide, every]
    further = [*combinations(every, 2), *(rest for own in wide for rest in combinations(own, len(own) - 1))]
    further += combinations(every, len(every) - 1)
    seen: set[tuple[str, ...]] = set()
    for columns, always in [(one, True) for one in needed] + [(one, False) for one in further]:
        if columns and columns not in seen:
            seen.add(columns)
            yield columns, always


def _add_people(
    parts: dict[Place, Part], release: OpenedRelease, columns: tuple[str, ...], sensitive: Sequence[str],
    digester: Digester, place: NDArray[np.int64], id: str,
) -> None:  # fmt: skip
    """The combination of each id, and the values possible for each combination."""
    combined = release.combinations(columns)
    parts["people", id, *columns], _ = sorted_part(release.id_digests(digester), place[combined.of_row])
    base = release.digests_of(combined, digester)
    for target in sensitive:
        if target not in columns and len(release.levels[target].texts) <= MOST_LEVELS:
            parts["candidates", *columns, target] = _candidates(release, combined, base, target, digester)


def _candidates(
    release: OpenedRelease, combined: Combinations, base: NDArray[np.uint8], target: str, digester: Digester
) -> Part:
    levels = release.levels[target]
    sets = candidate_sets(combined, levels.codes, len(levels.texts))
    row, level = listed(sets)
    hidden = np.unique(combined.of_row[levels.codes == 0])  # any value: one that was never seen, too
    row, code = np.concatenate([row, hidden]), np.concatenate([level + 1, np.zeros(len(hidden), np.int64)])
    told = digester.joined(base[row], release.level_digests(target, digester)[code])
    part, _ = sorted_part(told, n_candidates(sets)[row])
    return part
