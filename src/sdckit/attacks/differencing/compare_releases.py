"""A release compared with one earlier release of the same survey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from sdckit.attacks.differencing import linked_releases, linking_columns, release_ledger
from sdckit.attacks.differencing.release_ledger import MOST_ALIKE, Combinations, Earlier, OpenedRelease
from sdckit.cells.packing import group_codes
from sdckit.data.packaged import sentences
from sdckit.errors import ColumnError, sure
from sdckit.numerics import grouping
from sdckit.numerics.array_types import Bools, Ints, Words

# Frequency counts of two releases: added and removed records, and people isolated by a difference of counts.


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


@dataclass(frozen=True)
class CountsCompared(Relation):
    """Comparison of the frequency counts of combinations in two releases.

    `differing`: combinations whose counts differ by 1 to `within`; `added` and `removed` records; uniques of the new
    release that the earlier one lacks, uniques of the earlier one that vanished, and combinations unique in both.
    """

    differing: int
    new_uniques: int
    vanished_uniques: int
    kept_uniques: int


def _counts_there(
    new: OpenedRelease, old: OpenedRelease, columns: Sequence[str], wanted: Combinations
) -> tuple[Ints, Ints]:
    """Counts in the earlier release of combinations of levels of the new one, and of those it has besides."""
    there = old.combinations(columns)
    codes = [
        np.concatenate([own, linked_releases.codes_in(new.levels[name], old.levels[name])[other]])
        for name, own, other in zip(there.columns, wanted.codes, there.codes, strict=True)
    ]
    k = len(wanted.size)
    groups = group_codes(codes, k + len(there.size))
    sizes = np.bincount(groups.of_row[k:], there.size, len(groups.size)).astype(np.int64)
    besides = np.bincount(groups.of_row[:k], minlength=len(groups.size)) == 0
    return sizes[groups.of_row[:k]], sizes[besides]


def compare_counts(
    new: OpenedRelease, old: OpenedRelease, alike: Sequence[str], *, within: int = 0
) -> CountsCompared | None:
    """Compare counts over the columns coded alike; None if there are none."""
    if not alike:
        return None
    combined = new.combinations(alike)
    before, gone = _counts_there(new, old, alike, combined)
    change = combined.size - before
    small = (change != 0) & (np.abs(change) <= within)
    alone = combined.size == 1
    return CountsCompared(
        combined.columns, int(change[change > 0].sum()), int(gone.sum() - change[change < 0].sum()),
        int(small.sum() + (gone <= within).sum()), int((alone & (before == 0)).sum()), int((gone == 1).sum()),
        int((alone & (before == 1)).sum()),
    )  # fmt: skip


def told_by_difference(new: OpenedRelease, old: OpenedRelease, keys: Sequence[str], target: str, *, within: int) -> int:
    """Number of people whose target value is disclosed by subtracting the counts of two releases.

    Considered are combinations of keys that gained or lost at most `within` records. All of these must share one
    value, and the combination must hold other values, too: otherwise one release alone discloses it. Valid only if
    one release contains the other, which the caller has checked.
    """
    both = tuple(sorted({*keys, target}))
    columns = tuple(sorted(set(keys) - {target}))
    if not columns:
        return 0
    combined = new.combinations(columns)
    before, _ = _counts_there(new, old, columns, combined)
    change = combined.size - before
    moved = np.flatnonzero((change != 0) & (np.abs(change) <= within) & (before > 0))
    if not len(moved):
        return 0
    # every level of each of these combinations: those of the earlier release are looked up, too
    n_levels = len(new.levels[target].texts) + 1
    fine = new.combinations(both)
    cell = np.full((len(moved), n_levels), 0, np.int64)
    number = grouping.places_among(moved, len(combined.size))
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
    then = _counts_there(new, old, both, looked_up)[0].reshape(cell.shape)
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
    return grouping.first_of_groups(groups.of_row[:k], len(groups.size))[groups.of_row[k:]]


# Values suppressed in one release and shown in another.


def shown_by_link(
    new: OpenedRelease, old: OpenedRelease, rows: Ints, codings: Codings
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """By column: records whose value is missing in the new release and shown in the old, and the reverse."""
    back: dict[str, Bools] = {}
    bare: dict[str, Bools] = {}
    linked = rows >= 0
    for name in new.levels:
        there = next(iter(codings[name]), name)
        if there in old.levels:
            here, shown = new.levels[name].codes > 0, old.levels[there].codes[rows] > 0
            back[name], bare[name] = linked & ~here & shown, linked & here & ~shown
    return back, bare


def shown_by_match(
    new: OpenedRelease, old: OpenedRelease, alike: Sequence[str]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """The same without a record linkage: for records unique in both releases on the other shared columns."""
    back: dict[str, Bools] = {}
    bare: dict[str, Bools] = {}
    columns = tuple(sorted(alike))
    for name in columns if len(columns) > 1 else ():
        rest = tuple(other for other in columns if other != name)
        combined = new.combinations(rest)
        alone = (combined.size == 1) & (_counts_there(new, old, rest, combined)[0] == 1)
        rows = np.flatnonzero(alone[combined.of_row])
        codes = [new.levels[other].codes[rows] * (other != name) for other in columns]
        hidden = Combinations(columns, tuple(codes), np.ones(len(rows), np.int64), np.zeros(0, np.int32))
        was_hidden = _counts_there(new, old, columns, hidden)[0] > 0
        is_hidden = new.levels[name].codes[rows] == 0
        back[name], bare[name] = np.zeros(new.n, np.bool_), np.zeros(new.n, np.bool_)
        back[name][rows[is_hidden & ~was_hidden]] = True
        bare[name][rows[~is_hidden & was_hidden]] = True
    return back, bare


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


def candidates_there(
    new: OpenedRelease, old: OpenedRelease, rows: Ints, keys: Sequence[str], target: tuple[str, str],
    coding: linked_releases.Coding,
) -> Candidates:  # fmt: skip
    """Candidate values from an earlier release; `rows` (n,) are its linked rows for the new records, -1 for none.

    `target`: the sensitive variable here, and as it is called there.
    """
    here, there = (release.levels[name] for release, name in zip((new, old), target, strict=True))
    every = release_ledger.every_level(len(here.texts))
    combined = old.combinations(keys)
    sets = release_ledger.candidate_sets(combined, there.codes, len(there.texts))
    mine = linked_releases.translated(sets, coding.there, coding.here, len(here.texts))
    alone = release_ledger.n_candidates(mine if coding.whole else sets) == 1
    if not coding.whole:  # a hidden value may be one that only the new release has
        mine[combined.of_row[there.codes == 0]] = every
    linked = rows >= 0
    cell = combined.of_row[rows]  # unlinked records (-1) take the last row's cell, which is not used
    return Candidates(np.where(linked[:, None], mine[cell], every), linked & alone[cell])


def certain_there(
    new: OpenedRelease, old: OpenedRelease, rows: Ints, keys: tuple[Sequence[str], Sequence[str]],
    target: tuple[str, str], coding: linked_releases.Coding,
) -> Bools:  # fmt: skip
    """Records with one candidate left in the coding of the earlier release, and more than one in each release.

    Or, where both have bands that cross, with one overlap of two of them.
    """
    levels = [release.levels[name] for release, name in zip((new, old), target, strict=True)]
    combined = [release.combinations(own) for release, own in zip((new, old), keys, strict=True)]
    here, there = (
        release_ledger.candidate_sets(cells, own.codes, len(own.texts))
        for cells, own in zip(combined, levels, strict=True)
    )
    ways = [(linked_releases.translated(here, coding.here, coding.there, len(levels[1].texts)), there)]
    if coding.crossed:
        overlap, n = np.arange(1, len(coding.here) + 1), len(coding.here)
        both = zip((here, there), (coding.here, coding.there), strict=True)
        first, second = (linked_releases.translated(sets, codes, overlap, n) for sets, codes in both)
        ways.append((first, second))
    cells = combined[0].of_row, combined[1].of_row[rows]
    certain = np.zeros(new.n, np.bool_)
    for first, second in ways:
        alone = [release_ledger.n_candidates(sets) == 1 for sets in (first, second)]
        left = release_ledger.n_candidates(first[cells[0]] & second[cells[1]])
        certain |= (rows >= 0) & (left == 1) & ~alone[0][cells[0]] & ~alone[1][cells[1]]
    return certain


def told_by_overlaps(
    new: OpenedRelease, old: OpenedRelease, rows: Ints, keys: tuple[Sequence[str], Sequence[str]], target: str
) -> tuple[Bools, list[str]]:
    """Records whose sensitive value the counts of both releases tell by ranges of a key that overlap; and the keys.

    Of the same people with the same values, the counts by ranges with other limits tell those of every overlap, and
    with the sensitive variable its values there: as if the overlaps had been released. The other keys that both have
    alike part them, where nothing is missing in these.
    """
    certain = np.zeros(new.n, np.bool_)
    crossed: list[str] = []
    unchanged = {}
    for name in ({*keys[0], target} & {*old.levels}) if sure(old.size).sum() == new.n and (rows >= 0).all() else ():
        here, there = new.levels[name], old.levels[name]
        unchanged[name] = bool((linked_releases.codes_in(here, there)[there.codes[rows]] == here.codes).all())
    if not unchanged.get(target):
        return certain, crossed
    shown = [name for name in keys[0] if name in keys[1] and name in unchanged and (new.levels[name].codes > 0).all()]
    for name in shown:
        if unchanged[name]:
            continue
        coding = linked_releases.coding_of(new.levels[name], old.levels[name], rows, alike=False, crossing=True)
        before = old.levels[name].codes[rows]
        if coding is None or not coding.crossed or (before == 0).any():
            continue
        values = new.levels[target].codes
        parted = [new.levels[other].codes for other in shown if unchanged[other]]
        cells = group_codes([*parted, new.levels[name].codes, before], new.n)
        both = group_codes([cells.of_row, values], new.n)
        cell_of = cells.of_row[grouping.first_of_groups(both.of_row, len(both.size))]
        certain |= (np.bincount(cell_of, minlength=len(cells.size)) == 1)[cells.of_row] & (values > 0)
        crossed.append(name)
    return certain, crossed


NO_LEVELS = "the ledger keeps no levels of it (an earlier version added it), so only counts were compared"
OTHER_PEOPLE = "it is about other people, so nothing is told of anybody together with it"
SAYS = sentences("attacks/differencing/differencing.toml")
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
        Records of the release that are linked to a record of the earlier one, by an id, the order of the rows, or
        ``linked_by``; 0 if they cannot be linked.
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
    compared : tuple of str
        Columns that could be compared with one of the earlier release, in one coding or another.
    linked_by : tuple of str
        Columns that both releases show and that tell which records are the same person's.
    right : float or None
        Where these do so only together, the share of the links that are right, by estimate; ``linked`` are then the
        people alone with their values of them in both, and the members of households alone with what all of their
        members are.
    together : str
        How the columns link where only several do, in words: of each person, or of all members of a household.
    searched : bool
        Whether it was looked for several columns that link together, in all that both releases show.
    unsearched : str
        Why it was not, where the files are too large for it.
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
    compared: tuple[str, ...] = ()
    linked_by: tuple[str, ...] = ()
    right: float | None = None
    together: str = ""
    searched: bool = False
    unsearched: str = ""
    notes: tuple[str, ...] = ()
    pending: bool = False

    @property
    def related(self) -> str:
        """The relation in words."""
        return RELATIONS[self.relation].format(added=self.added, removed=self.removed) if self.relation else ""

    @property
    def linked_words(self) -> str:
        """The columns that link it, in words."""
        return ", ".join(self.linked_by) + self.together


Codings = Mapping[str, Mapping[str, linked_releases.Coding]]  # of each column here: by the name of a column there


@dataclass(frozen=True)
class Comparison:
    """What the comparisons of one release share: its keys, candidates, and what was found of its records so far."""

    new: OpenedRelease
    keys: tuple[str, ...]
    own: Mapping[str, Candidates]
    sensitive: tuple[str, ...]
    id: str | None
    aligned: bool
    within: int
    said_new: tuple[str, ...]
    sets: dict[str, list[Candidates]]
    certain: dict[str, Bools]
    flags: dict[str, Bools]
    joined: list[linked_releases.Joined]
    open: tuple[str, ...] = ()  # columns that go out and lead to nobody alone
    numbers: tuple[str, ...] = ()  # and all of them, numbers of which may lie near
    crossed: set[str] = field(default_factory=set)  # in groups that overlap those of an earlier release, as compared


def compare_with_earlier(shared: Comparison, earlier: Earlier) -> EarlierRelease:
    """Compare the release with one earlier release and flag the records for which something is disclosed."""
    new, keys = shared.new, shared.keys
    alike, otherwise = release_ledger.comparable_columns(new, earlier)
    old = linked_releases.open_sketch(new, earlier)
    rows = linked_releases.link_rows(new, earlier, shared.id, aligned=shared.aligned)
    link = None
    figures: dict[str, Any] = {}
    if old is not None and earlier.same_people:
        link, searched = linked_releases.released_link(new, earlier, old, rows, alike), False
        if link is None:
            link, searched, why = linking_columns.link_by_columns(new, earlier, old, rows, shared.open, shared.numbers)
            figures["unsearched"] = "" if searched else why
        figures["searched"] = searched
        rows = link.rows if rows is None and link is not None else rows
    if not alike and earlier.order is None and rows is None and not {*new.levels} <= {*shared.said_new}:
        raise ColumnError(_nothing_alike(earlier, otherwise))
    wrong = 1 - link.right if link is not None and link.rows is rows and link.right is not None else 0.0
    codings, crossed = _codings(shared, earlier, old, rows if earlier.same_people else None, alike, wrong)
    otherwise = tuple(name for name in new.levels if name in otherwise or name in crossed)
    alike = tuple(name for name in alike if name not in crossed)
    figures["compared"] = tuple(name for name, others in codings.items() if others)
    notes = [] if earlier.same_people else [OTHER_PEOPLE]
    if old is None:
        notes.append(NO_LEVELS)
    else:
        figures |= _counted(shared, old, alike)
    if old is not None and earlier.same_people:
        if figures.get("relation") in ("superset", "subset"):
            own = [name for name in keys if name in alike]
            told = (
                told_by_difference(new, old, own, target, within=shared.within)
                for target in shared.own if target in alike
            )  # fmt: skip
            figures["told_by_difference"] = max(told, default=0)
        figures |= _hidden_values(shared, old, rows, codings, alike)
        if rows is not None:
            figures |= {"linked": int((rows >= 0).sum()), **_intersected(shared, earlier, old, rows, codings)}
        if (link is None or link.right is not None) and new.shows_homes and not earlier.sketch.named("homes"):
            notes.append(SAYS["no_homes"])
        in_part = link is not None and link.rows is rows and linked_in_part(link.right, figures["linked"], new.n)
        if shared.own and (rows is None or in_part):
            notes.append(SAYS["no_link"] if rows is None else SAYS["linked_in_part"])
        if link is not None:
            known = tuple(dict.fromkeys(key for own in earlier.sketch.named("keys") for key in own))
            learnt = next(iter(earlier.sketch.named("sensitive")), ())
            shared.joined.append(linked_releases.Joined(earlier.name, old, link, known, learnt))
            figures |= {"linked_by": link.columns, "right": link.right, "together": link.together}
    return EarlierRelease(
        earlier.name, earlier.date, "sketch" if earlier.order is None else "file", earlier.same_people,
        figures.pop("linked", 0), alike, otherwise, notes=tuple(notes), **figures,
    )  # fmt: skip


def linked_in_part(right: float | None, linked: int, n: int) -> bool:
    """Whether several columns together link records, which have a share that is `right`, and not most of `n`."""
    return right is not None and linked < MOST_ALIKE * n


def _counted(shared: Comparison, old: OpenedRelease, alike: Sequence[str]) -> dict[str, Any]:
    """Compare the counts over the keys coded alike, and over all columns coded alike."""
    figures: dict[str, Any] = {}
    counts = compare_counts(shared.new, old, [name for name in alike if name in shared.keys], within=shared.within)
    if counts is not None:
        names = ("differing", "new_uniques", "vanished_uniques", "kept_uniques")
        figures |= {"counted": counts.columns, **{name: getattr(counts, name) for name in names}}
    relation = compare_counts(shared.new, old, alike)
    if relation is not None:
        figures |= {"relation": relation.word, "added": relation.added, "removed": relation.removed}
    return figures


def _codings(
    shared: Comparison, earlier: Earlier, old: OpenedRelease | None, rows: Ints | None,
    alike: Sequence[str], wrong: float,
) -> tuple[Codings, set[str]]:  # fmt: skip
    """The columns of the earlier release that each column of the new one can be compared with, its namesake first.

    And the columns that both have in bands that cross, or in codes that stand for other values there. Without linked
    rows only columns of one name can be compared. Of sensitive variables all are looked for, of keys one. `wrong`: the
    share of rows linked to other people.
    """
    found: dict[str, dict[str, linked_releases.Coding]] = {}
    crossed = set()
    learnt = next(iter(earlier.sketch.named("sensitive")), ())
    for name, here in shared.new.levels.items():
        found[name] = {}
        if old is None:
            continue
        others = [other for other in old.levels if other != name and rows is not None]
        if name in shared.sensitive:
            others.sort(key=lambda other: other not in learnt)
        for other in ([name] if name in old.levels else []) + others:
            if found[name] and not (name in shared.sensitive and other in learnt):
                continue
            coding = linked_releases.coding_of(
                here, old.levels[other], rows, alike=other == name and name in alike,
                crossing=other == name and name in shared.own, wrong=wrong,
            )  # fmt: skip
            if coding is not None and (coding.crossed or (other == name and coding.renames(here, old.levels[name]))):
                crossed.add(name)
            if coding is not None and (coding.whole or not coding.crossed):
                found[name][other] = coding
                shared.crossed.update([name] * coding.crossed)
    return found, crossed


def _nothing_alike(earlier: Earlier, otherwise: Sequence[str]) -> str:
    if not otherwise:
        return f"the release has no column that {earlier.name!r} of the ledger has: a ledger of another survey?"
    return (
        f"no column is coded as in {earlier.name!r} of the ledger (coded otherwise: {', '.join(otherwise)}); recode "
        "the release alike, or give the earlier file"
    )


def _hidden_values(
    shared: Comparison, old: OpenedRelease, rows: Ints | None, codings: Codings, alike: Sequence[str]
) -> dict[str, int]:
    comparisons = []
    if rows is not None:
        comparisons.append(shown_by_link(shared.new, old, rows, codings))
    if rows is None or (rows < 0).any():
        comparisons.append(shown_by_match(shared.new, old, alike))
    figures = {}
    for way, name in enumerate(("given_back", "unprotected")):
        by_column = (hits for both in comparisons for hits in both[way].values())
        hit = reduce(np.logical_or, by_column, np.zeros(shared.new.n, np.bool_))
        shared.flags[name] |= hit
        figures[name] = int(hit.sum())
    return figures


def _intersected(
    shared: Comparison, earlier: Earlier, old: OpenedRelease, rows: Ints, codings: Codings
) -> dict[str, int]:
    """Intersect the candidates with those of one earlier release, by each set of keys that it was added with."""
    hits, new = np.zeros(shared.new.n, np.bool_), shared.new
    learnt = next(iter(earlier.sketch.named("sensitive")), ())
    for target, own in shared.own.items():
        seen = []
        for other, coding in codings[target].items():
            if other not in learnt or not release_ledger.can_intersect(new.n, len(old.levels[other].texts)):
                continue
            for keys in earlier.sketch.named("keys"):
                if other in keys:
                    continue
                seen.append(candidates_there(new, old, rows, keys, (target, other), coding))
                sizes = (len(new.levels[target].texts), len(old.levels[other].texts))
                if coding.whole and (coding.crossed or sizes[0] != sizes[1]):  # in either what is certain is told
                    certain = certain_there(new, old, rows, (shared.keys, keys), (target, other), coding)
                    shared.certain[target] |= certain
                    hits |= certain
                if other == target:
                    certain, crossed = told_by_overlaps(new, old, rows, (shared.keys, keys), target)
                    certain &= ~own.alone & ~seen[-1].alone
                    shared.certain[target] |= certain
                    hits |= certain
                    shared.crossed.update(crossed)
        shared.sets[target] += seen
        hits |= certain_together(own, seen)[0]
    return {"certain_together": int(hits.sum())}
