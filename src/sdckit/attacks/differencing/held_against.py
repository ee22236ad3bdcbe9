"""One release held against one that went out before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing.counts_compared import compare_counts, relation_of, told_by_difference
from sdckit.attacks.differencing.earlier_releases import Earlier, comparable_columns, link_rows, set_among
from sdckit.attacks.differencing.hidden_values import shown_by_id, shown_by_link, shown_by_match
from sdckit.attacks.differencing.opened_release import OpenedRelease
from sdckit.attacks.differencing.together import Seen, certain_together, seen_in_file, seen_in_sketch
from sdckit.data.ledger.digests import places
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Bools

NO_LINK = (
    "nothing says which records are the same person's (an id in both, or rows in the same order with the file itself), "
    "so it was not looked for"
)
OTHER_PEOPLE = "it is about other people, so nothing is told of anybody together with it"
RELATIONS = {
    "same": "both have the same records", "superset": "the release has its records and {added} more",
    "subset": "the release has all of its records but {removed}",
    "other": "records only in the release: {added}, only in the earlier one: {removed}",
}  # fmt: skip


@dataclass(frozen=True)
class EarlierRelease:
    """What a release and one earlier release say beside each other.

    Attributes
    ----------
    name, date : str
    source : str
        "file" where the earlier release itself was compared, "sketch" where only what a ledger kept of it.
    same_people : bool
        Whether it was taken to be about the same people.
    linked : int
        Records of the release whose record there is known; 0 where nothing says it.
    alike, otherwise : tuple of str
        Columns coded alike in both, and those coded otherwise.
    counted : tuple of str
        Keys whose combinations were counted in both.
    differing : int
        Combinations whose counts differ by 1 to ``within``.
    new_uniques, vanished_uniques, kept_uniques : int
        Combinations that one record has in the release and none there; one there and none in the release; one in each.
    relation : str
        "same", "superset" (the release has more records), "subset" or "other"; "" where no column is coded alike.
    added, removed : int
        Records that only one of them has, as far as the columns coded alike tell.
    certain_together, told_by_difference, given_back, unprotected : int
        As in `Differencing`, for this release alone.
    notes : tuple of str
        What could not be looked for, and why.
    """

    name: str
    date: str
    source: str
    same_people: bool
    linked: int
    alike: tuple[str, ...]
    otherwise: tuple[str, ...]
    counted: tuple[str, ...] = ()
    differing: int = 0
    new_uniques: int = 0
    vanished_uniques: int = 0
    kept_uniques: int = 0
    relation: str = ""
    added: int = 0
    removed: int = 0
    certain_together: int = 0
    told_by_difference: int = 0
    given_back: int = 0
    unprotected: int = 0
    notes: tuple[str, ...] = ()

    @property
    def related(self) -> str:
        """The relation in words."""
        return (
            RELATIONS[self.relation].format(added=self.added, removed=self.removed) if self.relation else ""
        )


def hold_against(
    new: OpenedRelease, one: Earlier, keys: tuple[str, ...], own: Mapping[str, Seen], sees: dict[str, list[Seen]],
    flags: dict[str, Bools], *, id: str | None, aligned: bool, within: int,
) -> EarlierRelease:  # fmt: skip
    """Hold the release against one earlier release, and note of which records something is given away."""
    alike, otherwise = comparable_columns(new, one)
    if not alike and one.file is None and not _has_people(one, id):
        raise ColumnError(_nothing_alike(one, otherwise))
    rows = link_rows(new, one, aligned=aligned)
    figures: dict[str, Any] = {}
    counts = compare_counts(new, one, [name for name in alike if name in keys], within=within)
    if counts is not None:
        figures |= {
            "counted": counts.columns, "differing": counts.differing, "new_uniques": counts.new_uniques,
            "vanished_uniques": counts.vanished_uniques, "kept_uniques": counts.kept_uniques,
        }  # fmt: skip
    relation = relation_of(new, one, alike)
    if relation is not None:
        figures |= {"relation": relation.word, "added": relation.added, "removed": relation.removed}
    notes = []
    if not one.same_people:
        notes.append(OTHER_PEOPLE)
    else:
        if relation is not None and relation.word in ("superset", "subset"):
            figures["told_by_difference"] = _told(new, one, keys, own, alike, within=within)
        figures |= _hidden(new, one, rows, alike, flags, id=id)
        linked = _together(new, one, rows, own, sees, id=id)
        if linked is None:
            notes.append(NO_LINK)
        figures |= linked or {}
    linked_rows = 0 if rows is None else int((rows >= 0).sum())
    return EarlierRelease(
        one.name, one.date, "sketch" if one.file is None else "file", one.same_people,
        figures.pop("linked", linked_rows), alike, otherwise, notes=tuple(notes), **figures,
    )  # fmt: skip


def _has_people(one: Earlier, id: str | None) -> bool:
    return id is not None and any(place[:2] == ("people", id) for place in one.sketch.parts)


def _nothing_alike(one: Earlier, otherwise: Sequence[str]) -> str:
    if not otherwise:
        return f"the release has no column that {one.name!r} of the ledger has: a ledger of another survey?"
    return (
        f"no column is coded as in {one.name!r} of the ledger (coded otherwise: {', '.join(otherwise)}); recode the "
        "release alike, or give the earlier file"
    )


def _told(
    new: OpenedRelease,
    one: Earlier,
    keys: Sequence[str],
    own: Mapping[str, Seen],
    alike: Sequence[str],
    *,
    within: int,
) -> int:
    shared = set_among(one, [name for name in keys if name in alike])
    return max(
        (told_by_difference(new, one, shared, target, within=within) for target in own if target in alike),
        default=0,
    )


def _hidden(
    new: OpenedRelease, one: Earlier, rows: NDArray[np.int64] | None, alike: Sequence[str], flags: dict[str, Bools],
    *, id: str | None,
) -> dict[str, int]:  # fmt: skip
    if rows is not None and one.file is not None:
        looked = [shown_by_link(new, one.file, rows)]
    else:
        looked = [shown_by_match(new, one, alike)]
        if new.id is not None and _has_people(one, id):
            looked.append(shown_by_id(new, one, str(id), alike))
    found = {}
    for way, name in enumerate(("given_back", "unprotected")):
        hit = np.zeros(new.n, np.bool_)
        for both in looked:
            for one_column in both[way].values():
                hit |= one_column
        flags[name] |= hit
        found[name] = int(hit.sum())
    return found


def _together(
    new: OpenedRelease, one: Earlier, rows: NDArray[np.int64] | None, own: Mapping[str, Seen],
    sees: dict[str, list[Seen]], *, id: str | None,
) -> dict[str, int] | None:  # fmt: skip
    """Intersect with one earlier release; None where nothing says whose records belong together."""
    hits = np.zeros(new.n, np.bool_)
    if not own:
        return {}
    if one.file is not None:
        if rows is None:
            return None
        for target, seen in own.items():
            if target in one.file.levels and target not in one.keys and one.keys:
                found = seen_in_file(new, one.file, rows, one.keys, target)
                sees[target].append(found)
                hits |= certain_together(seen, [found])[0]
        return {"certain_together": int(hits.sum())}
    if new.id is None or not _has_people(one, id):
        return None
    for target, seen in own.items():
        some = list(seen_in_sketch(new, one, str(id), seen, target))
        sees[target] += some
        hits |= certain_together(seen, some)[0]
    return {"certain_together": int(hits.sum()), "linked": _linked_people(new, one, str(id))}


def _linked_people(new: OpenedRelease, one: Earlier, id: str) -> int:
    part = next(part for place, part in one.sketch.parts.items() if place[:2] == ("people", id))
    return int((places(part.digests, new.id_digests(one.digester)) >= 0).sum())
