"""A release compared with one earlier release of the same survey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.differencing import release_ledger
from sdckit.attacks.differencing.release_ledger import Combinations, Earlier, OpenedRelease
from sdckit.cells.packing import group_codes
from sdckit.data.ledger.digests import places, sorted_part
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Bools, Ints, Words

# Frequency counts of two releases: added and removed records, and people isolated by a difference of counts.


@dataclass(frozen=True)
class CountsCompared:
    """Comparison of the frequency counts of combinations in two releases.

    `differing`: combinations whose counts differ by 1 to `within`; `added` and `removed` records; uniques of the new
    release that the earlier one lacks, uniques of the earlier one that vanished, and combinations unique in both.
    """

    columns: tuple[str, ...]
    differing: int
    added: int
    removed: int
    new_uniques: int
    vanished_uniques: int
    kept_uniques: int


@dataclass(frozen=True)
class Relation:
    """Set relation between the records of two releases, judged by the columns coded alike."""

    columns: tuple[str, ...]
    added: int
    removed: int

    @property
    def word(self) -> str:
        """The relation: "same", "superset" (the new release has more), "subset" or "other"."""
        if self.added and self.removed:
            return "other"
        return "superset" if self.added else "subset" if self.removed else "same"


def _counts_in_both(new: OpenedRelease, earlier: Earlier, columns: Sequence[str]) -> tuple[Combinations, Ints, Ints]:
    """Combinations of the new release, their counts in the earlier one, and the counts of those found only there."""
    part = earlier.sketch.get("counts", columns)
    assert part is not None
    combined, digests = new.combinations(columns), new.digests(columns, earlier.digester)
    here, _ = sorted_part(digests, combined.size)
    gone = places(here.digests, part.digests) < 0
    return combined, part.of(digests), part.numbers[gone].astype(np.int64)


def relation_of(new: OpenedRelease, earlier: Earlier, alike: Sequence[str]) -> Relation | None:
    """Compare counts over the widest counted set of columns coded alike; None if none was counted."""
    columns = release_ledger.widest_counted_set(earlier, alike)
    if not columns:
        return None
    combined, before, gone = _counts_in_both(new, earlier, columns)
    change = combined.size - before
    return Relation(columns, int(change[change > 0].sum()), int(gone.sum() - change[change < 0].sum()))


def compare_counts(new: OpenedRelease, earlier: Earlier, alike: Sequence[str], *, within: int) -> CountsCompared | None:
    """Compare counts over the widest counted set of key variables coded alike; None if none was counted."""
    columns = release_ledger.widest_counted_set(earlier, alike)
    if not columns:
        return None
    combined, before, gone = _counts_in_both(new, earlier, columns)
    change = combined.size - before
    small = (change != 0) & (np.abs(change) <= within)
    alone = combined.size == 1
    return CountsCompared(
        columns, int(small.sum() + (gone <= within).sum()), int(change[change > 0].sum()),
        int(gone.sum() - change[change < 0].sum()), int((alone & (before == 0)).sum()), int((gone == 1).sum()),
        int((alone & (before == 1)).sum()),
    )  # fmt: skip


def told_by_difference(new: OpenedRelease, earlier: Earlier, keys: Sequence[str], target: str, *, within: int) -> int:
    """Number of people whose target value is disclosed by subtracting the counts of two releases.

    Considered are combinations of keys that gained or lost at most `within` records. All of these must share one
    value, and the combination must hold other values, too: otherwise one release alone discloses it. Valid only if
    one release contains the other, which the caller has checked.
    """
    both = tuple(sorted({*keys, target}))
    columns = tuple(sorted(set(keys) - {target}))
    if not columns or earlier.sketch.get("counts", both) is None or earlier.sketch.get("counts", columns) is None:
        return 0
    part = earlier.sketch.get("counts", both)
    assert part is not None
    combined, before, _ = _counts_in_both(new, earlier, columns)
    change = combined.size - before
    moved = np.flatnonzero((change != 0) & (np.abs(change) <= within) & (before > 0))
    if not len(moved):
        return 0
    # every level of each of these combinations: those of the earlier release are looked up, too
    n_levels = len(new.levels[target].texts) + 1
    fine = new.combinations(both)
    cell = np.full((len(moved), n_levels), 0, np.int64)
    number = np.full(len(combined.size), -1, np.int64)
    number[moved] = np.arange(len(moved))
    coarse = fine.among(columns)  # in the order of `combined`, as both are sorted by packed codes
    at, level = number[_matching(combined, coarse)[coarse.of_row]], fine.codes[both.index(target)]
    cell[at[at >= 0], level[at >= 0]] = fine.size[at >= 0]
    looked_up = Combinations(
        both,
        tuple(
            np.tile(np.arange(n_levels, dtype=np.int32), len(moved)) if name == target
            else np.repeat(combined.codes[columns.index(name)][moved], n_levels)
            for name in both
        ),
        np.ones(cell.size, np.int64), np.zeros(0, np.int32),
    )  # fmt: skip
    then = part.of(new.digests_of(looked_up, earlier.digester)).reshape(cell.shape)
    moved_by = cell - then
    # a value absent from the new release cannot be looked up: such a combination is left out
    whole = then.sum(axis=1) == before[moved]
    one_value = (moved_by != 0).sum(axis=1) == 1
    several = (np.maximum(cell, then) > 0).sum(axis=1) > 1
    hidden = moved_by[:, 0] != 0
    disclosed = whole & one_value & several & ~hidden
    return int(np.abs(moved_by[disclosed]).sum())


def _matching(among: Combinations, wanted: Combinations) -> Ints:
    """Index into `among` of each combination of `wanted` (same columns)."""
    k = len(among.size)
    joint = [np.concatenate(pair) for pair in zip(among.codes, wanted.codes, strict=True)]
    groups = group_codes(joint, k + len(wanted.size))
    number = np.empty(len(groups.size), np.int64)
    number[groups.of_row[:k]] = np.arange(k)
    return number[groups.of_row[k:]]


# Values suppressed in one release and shown in another.


MOST_TRIED = 1_000_000  # digests of candidate values tried for hidden ones


def shown_by_link(
    new: OpenedRelease, old: OpenedRelease, rows: NDArray[np.int64]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """By column: records whose value is missing in the new release and shown in the old, and the reverse."""
    back: dict[str, Bools] = {}
    bare: dict[str, Bools] = {}
    linked = rows >= 0
    for name in new.levels:
        if name in old.levels:
            here, there = new.levels[name].codes > 0, old.levels[name].codes[rows] > 0
            back[name], bare[name] = linked & ~here & there, linked & here & ~there
    return back, bare


def shown_by_match(
    new: OpenedRelease, earlier: Earlier, alike: Sequence[str]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """The same without a record linkage: for records unique in both releases on the other shared columns."""
    back: dict[str, Bools] = {}
    bare: dict[str, Bools] = {}
    columns = release_ledger.widest_counted_set(earlier, alike)
    part = earlier.sketch.get("counts", columns) if len(columns) > 1 else None
    for name in columns if part is not None else ():
        rest = tuple(other for other in columns if other != name)
        others = earlier.sketch.get("counts", rest)
        if others is None or part is None:
            continue
        combined = new.combinations(rest)
        alone = (combined.size == 1) & (others.of(new.digests(rest, earlier.digester)) == 1)
        rows = np.flatnonzero(alone[combined.of_row])
        hidden = Combinations(
            columns,
            tuple(
                np.zeros(len(rows), np.int32) if other == name else new.levels[other].codes[rows]
                for other in columns
            ),
            np.ones(len(rows), np.int64), np.zeros(0, np.int32),
        )  # fmt: skip
        was_hidden = part.of(new.digests_of(hidden, earlier.digester)) > 0
        is_hidden = new.levels[name].codes[rows] == 0
        back[name], bare[name] = np.zeros(new.n, np.bool_), np.zeros(new.n, np.bool_)
        back[name][rows[is_hidden & ~was_hidden]] = True
        bare[name][rows[~is_hidden & was_hidden]] = True
    return back, bare


def shown_by_id(
    new: OpenedRelease, earlier: Earlier, id: str, alike: Sequence[str]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """The same for ids kept in a ledger: one key is missing in one of the releases and all other keys agree."""
    back = {name: np.zeros(new.n, np.bool_) for name in alike}
    bare = {name: np.zeros(new.n, np.bool_) for name in alike}
    for place, people in earlier.sketch.parts.items():
        columns = place[2:]
        counts = earlier.sketch.get("counts", columns)
        if place[:2] != ("people", id) or counts is None or not set(columns) <= set(alike):
            continue
        at = places(people.digests, new.id_digests(earlier.digester))
        combined, own = new.combinations(columns), new.digests(columns, earlier.digester)
        there = counts.digests[people.numbers[at]]
        rows = np.flatnonzero((at >= 0) & (own[combined.of_row] != there).any(axis=1))
        for name in columns:
            shown = new.levels[name].codes[rows] > 0
            bare[name][_agreeing(new, earlier, columns, name, rows[shown], 0, there)] = True
            levels, hidden = len(new.levels[name].texts), rows[~shown]
            if len(hidden) * levels <= MOST_TRIED:
                for level in range(1, levels + 1):
                    back[name][_agreeing(new, earlier, columns, name, hidden, level, there)] = True
    return back, bare


def _agreeing(
    new: OpenedRelease, earlier: Earlier, columns: tuple[str, ...], name: str, rows: NDArray[np.int64], level: int,
    there: NDArray[np.uint8],
) -> NDArray[np.int64]:  # fmt: skip
    """Rows whose combination equals that of the earlier release once column `name` is set to `level`."""
    changed = Combinations(
        columns,
        tuple(
            np.full(len(rows), level, np.int32) if other == name else new.levels[other].codes[rows]
            for other in columns
        ),
        np.ones(len(rows), np.int64), np.zeros(0, np.int32),
    )  # fmt: skip
    same = new.digests_of(changed, earlier.digester) == there[rows]
    agreeing: NDArray[np.int64] = rows[same.all(axis=1)]
    return agreeing


# The same people under different recodings: intersect the candidate values of every release (composition attack).


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate values of the target (levels of the new release) for each record of the new release.

    `sets` (n, words): bit masks of levels; `alone` (n,): whether this release by itself leaves a single candidate.
    """

    sets: Words
    alone: Bools


def own_candidates(new: OpenedRelease, keys: Sequence[str], target: str) -> Candidates:
    """Candidate values from the new release by itself."""
    combined, levels = new.combinations(keys), new.levels[target]
    sets = release_ledger.candidate_sets(combined, levels.codes, len(levels.texts))
    return Candidates(sets[combined.of_row], (release_ledger.n_candidates(sets) == 1)[combined.of_row])


def certain_together(own: Candidates, seen: Sequence[Candidates]) -> tuple[Bools, Bools]:
    """Records with one candidate in the intersection but in no single release; and those with none (contradiction)."""
    joint, alone = own.sets.copy(), own.alone.copy()
    for other in seen:
        joint &= other.sets
        alone |= other.alone
    left = release_ledger.n_candidates(joint)
    return (left == 1) & ~alone, left == 0


def candidates_in_file(
    new: OpenedRelease, old: OpenedRelease, rows: NDArray[np.int64], keys: Sequence[str], target: str
) -> Candidates:
    """Candidate values from an earlier file; `rows` (n,) are its linked rows for the new records, -1 for none."""
    here, there = new.levels[target], old.levels[target]
    combined = old.combinations(keys)
    sets = release_ledger.candidate_sets(combined, there.codes, len(there.texts))
    number = {text: code for code, text in enumerate(here.texts)}
    to_here = np.array([number.get(text, -1) for text in there.texts], np.int64)
    row, level = release_ledger.set_members(sets)
    code = to_here[level]
    row, code = row[code >= 0], code[code >= 0]
    words = max(1, -(-len(here.texts) // 64))
    mine = np.zeros((len(sets), words), np.uint64)
    np.bitwise_or.at(mine.reshape(-1), row * words + code // 64, np.uint64(1) << (code % 64).astype(np.uint64))
    mine[combined.of_row[there.codes == 0]] = release_ledger.every_level(len(here.texts))
    linked = rows >= 0
    cell = combined.of_row[rows]  # unlinked records (-1) take the last row's cell, which is not used
    possible = np.where(linked[:, None], mine[cell], release_ledger.every_level(len(here.texts)))
    return Candidates(possible, linked & (release_ledger.n_candidates(sets) == 1)[cell])


def candidates_in_sketch(
    new: OpenedRelease, earlier: Earlier, id: str, own: Candidates, target: str
) -> Iterator[Candidates]:
    """Candidate values that a ledger keeps for the same ids, one set of keys after the other."""
    for place, people in earlier.sketch.parts.items():
        if place[:2] != ("people", id):
            continue
        keys = place[2:]
        counts, candidates = earlier.sketch.get("counts", keys), earlier.sketch.get("candidates", (*keys, target))
        if counts is None or candidates is None:
            continue
        at = places(people.digests, new.id_digests(earlier.digester))
        linked = np.flatnonzero(at >= 0)
        classes, of_linked = np.unique(people.numbers[at[linked]], return_inverse=True)
        class_sets = np.zeros((len(classes), own.sets.shape[1]), np.uint64)
        np.bitwise_or.at(class_sets, of_linked, own.sets[linked])
        digests = new.level_digests(target, earlier.digester)
        base = counts.digests[classes]
        row, level = release_ledger.set_members(class_sets)
        number = candidates.of(earlier.digester.joined(base[row], digests[level + 1]))
        words = own.sets.shape[1]
        sets = np.zeros_like(class_sets)
        hit = number > 0
        np.bitwise_or.at(
            sets.reshape(-1), row[hit] * words + level[hit] // 64,
            np.uint64(1) << (level[hit] % 64).astype(np.uint64),
        )  # fmt: skip
        hidden = candidates.of(earlier.digester.joined(base, np.repeat(digests[:1], len(base), axis=0))) > 0
        sets[hidden] = release_ledger.every_level(len(new.levels[target].texts))
        alone = np.zeros(len(classes), np.bool_)
        alone[row[number == 1]] = True
        possible = np.repeat(release_ledger.every_level(len(new.levels[target].texts))[None, :], new.n, axis=0)
        possible[linked] = sets[of_linked]
        certain = np.zeros(new.n, np.bool_)
        certain[linked] = alone[of_linked]
        yield Candidates(possible, certain)


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
    """Comparison of a release with one earlier release.

    Attributes
    ----------
    name, date : str
    source : str
        "file" if the earlier release itself was compared, "sketch" if only its digests in a ledger were.
    same_people : bool
        Whether it is assumed to cover the same people.
    linked : int
        Records of the release that are linked to a record of the earlier one; 0 if they cannot be linked.
    alike, otherwise : tuple of str
        Columns coded alike in both, and those coded otherwise.
    counted : tuple of str
        Keys whose combinations were counted in both.
    differing : int
        Combinations whose counts differ by 1 to ``within``.
    new_uniques, vanished_uniques, kept_uniques : int
        Sample uniques of the release that the earlier one lacks; uniques of the earlier one that the release lacks;
        combinations unique in both.
    relation : str
        "same", "superset" (the release has more records), "subset" or "other"; "" where no column is coded alike.
    added, removed : int
        Records found only in one of them, judged by the columns coded alike.
    certain_together, told_by_difference, given_back, unprotected : int
        As in `Differencing`, for this release alone.
    notes : tuple of str
        What could not be examined, and why.
    pending : bool
        Whether it has not gone out yet.
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
    pending: bool = False

    @property
    def related(self) -> str:
        """The relation in words."""
        return RELATIONS[self.relation].format(added=self.added, removed=self.removed) if self.relation else ""


def compare_with_earlier(
    new: OpenedRelease, earlier: Earlier, keys: tuple[str, ...], own: Mapping[str, Candidates],
    earlier_sets: dict[str, list[Candidates]], flags: dict[str, Bools], *, id: str | None, aligned: bool, within: int,
) -> EarlierRelease:  # fmt: skip
    """Compare the release with one earlier release and flag the records for which something is disclosed."""
    alike, otherwise = release_ledger.comparable_columns(new, earlier)
    if not alike and earlier.file is None and not _has_people(earlier, id):
        raise ColumnError(_nothing_alike(earlier, otherwise))
    rows = release_ledger.link_rows(new, earlier, aligned=aligned)
    figures: dict[str, Any] = {}
    counts = compare_counts(new, earlier, [name for name in alike if name in keys], within=within)
    if counts is not None:
        figures |= {
            "counted": counts.columns, "differing": counts.differing, "new_uniques": counts.new_uniques,
            "vanished_uniques": counts.vanished_uniques, "kept_uniques": counts.kept_uniques,
        }  # fmt: skip
    relation = relation_of(new, earlier, alike)
    if relation is not None:
        figures |= {"relation": relation.word, "added": relation.added, "removed": relation.removed}
    notes = []
    if not earlier.same_people:
        notes.append(OTHER_PEOPLE)
    else:
        if relation is not None and relation.word in ("superset", "subset"):
            figures["told_by_difference"] = _disclosed_by_difference(new, earlier, keys, own, alike, within=within)
        figures |= _hidden_values(new, earlier, rows, alike, flags, id=id)
        linked = _intersected(new, earlier, rows, own, earlier_sets, id=id)
        if linked is None:
            notes.append(NO_LINK)
        figures |= linked or {}
    linked_rows = 0 if rows is None else int((rows >= 0).sum())
    return EarlierRelease(
        earlier.name, earlier.date, "sketch" if earlier.file is None else "file", earlier.same_people,
        figures.pop("linked", linked_rows), alike, otherwise, notes=tuple(notes), **figures,
    )  # fmt: skip


def _has_people(earlier: Earlier, id: str | None) -> bool:
    return id is not None and any(place[:2] == ("people", id) for place in earlier.sketch.parts)


def _nothing_alike(earlier: Earlier, otherwise: Sequence[str]) -> str:
    if not otherwise:
        return f"the release has no column that {earlier.name!r} of the ledger has: a ledger of another survey?"
    return (
        f"no column is coded as in {earlier.name!r} of the ledger (coded otherwise: {', '.join(otherwise)}); recode "
        "the release alike, or give the earlier file"
    )


def _disclosed_by_difference(
    new: OpenedRelease,
    earlier: Earlier,
    keys: Sequence[str],
    own: Mapping[str, Candidates],
    alike: Sequence[str],
    *,
    within: int,
) -> int:
    shared = release_ledger.widest_counted_set(earlier, [name for name in keys if name in alike])
    return max(
        (told_by_difference(new, earlier, shared, target, within=within) for target in own if target in alike),
        default=0,
    )


def _hidden_values(
    new: OpenedRelease, earlier: Earlier, rows: NDArray[np.int64] | None, alike: Sequence[str], flags: dict[str, Bools],
    *, id: str | None,
) -> dict[str, int]:  # fmt: skip
    if rows is not None and earlier.file is not None:
        comparisons = [shown_by_link(new, earlier.file, rows)]
    else:
        comparisons = [shown_by_match(new, earlier, alike)]
        if new.id is not None and _has_people(earlier, id):
            comparisons.append(shown_by_id(new, earlier, str(id), alike))
    figures = {}
    for way, name in enumerate(("given_back", "unprotected")):
        hit = np.zeros(new.n, np.bool_)
        for both in comparisons:
            for one_column in both[way].values():
                hit |= one_column
        flags[name] |= hit
        figures[name] = int(hit.sum())
    return figures


def _intersected(
    new: OpenedRelease, earlier: Earlier, rows: NDArray[np.int64] | None, own: Mapping[str, Candidates],
    earlier_sets: dict[str, list[Candidates]], *, id: str | None,
) -> dict[str, int] | None:  # fmt: skip
    """Intersect the candidates with those of one earlier release; None if the records cannot be linked."""
    hits = np.zeros(new.n, np.bool_)
    if not own:
        return {}
    if earlier.file is not None:
        if rows is None:
            return None
        for target, seen in own.items():
            if target in earlier.file.levels and target not in earlier.keys and earlier.keys:
                possible = candidates_in_file(new, earlier.file, rows, earlier.keys, target)
                earlier_sets[target].append(possible)
                hits |= certain_together(seen, [possible])[0]
        return {"certain_together": int(hits.sum())}
    if new.id is None or not _has_people(earlier, id):
        return None
    for target, seen in own.items():
        some = list(candidates_in_sketch(new, earlier, str(id), seen, target))
        earlier_sets[target] += some
        hits |= certain_together(seen, some)[0]
    return {"certain_together": int(hits.sum()), "linked": _linked_people(new, earlier, str(id))}


def _linked_people(new: OpenedRelease, earlier: Earlier, id: str) -> int:
    part = next(part for place, part in earlier.sketch.parts.items() if place[:2] == ("people", id))
    return int((places(part.digests, new.id_digests(earlier.digester)) >= 0).sum())
