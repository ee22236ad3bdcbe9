"""Two releases joined: which rows and codings belong together, and what the keys of both tell of a record."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdckit.attacks.differencing import crossing_bands, release_ledger
from sdckit.attacks.differencing.crossing_bands import EVIDENCE
from sdckit.attacks.differencing.release_ledger import ALIKE, BITS, Earlier, OpenedRelease
from sdckit.attacks.recovery.reconstruct import risk_cells
from sdckit.cells.crosstab import crosstab, wildcard_crosstab
from sdckit.cells.packing import group_codes
from sdckit.data import methods, pa
from sdckit.data.columns import checked_weight, code_column
from sdckit.data.ledger.digests import LINKING, Levels, canonical, codes_of, places
from sdckit.data.scenarios.roles import Roles
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Bytes, Codes, Floats, Ints, Values, Words

# An earlier release as its sketch has it: a row for each combination, with the texts of the levels that are known.


def open_sketch(new: OpenedRelease, earlier: Earlier) -> OpenedRelease | None:
    """The combinations of an earlier release, as a release; None if the ledger kept none.

    Levels that the new release has under the same column have its texts, others a digest for a text.
    """
    columns = max(earlier.sketch.named("cells"), default=("",), key=len)[1:]
    codes = codes_of(earlier.sketch, columns)
    if not columns or codes is None:
        return None
    levels = {}
    for name, of_row in zip(columns, codes, strict=True):
        part = sure(earlier.sketch.get("counts", (name,)))
        known = new.levels.get(name, Levels(name, np.zeros(0, np.int32), ()))
        missing, *at = _places_of(known, part, earlier)
        texts = [f"\0{digest.tobytes().hex()}" for digest in part.digests]
        named = [*zip(known.texts, at, strict=True)]
        unknown = len(texts) - sum(place >= 0 for place in (missing, *at))
        if unknown and name in new.levels and earlier.file is not None and len(texts) <= crossing_bands.MOST_RANGES:
            own = canonical(code_column(earlier.file[name]))  # a file at hand tells the ranges of its labels
            named += zip(own.texts, _places_of(own, part, earlier)[1:], strict=True)
        for text, place in named:
            if place >= 0:
                texts[place] = text
        number = np.arange(1, len(texts) + 1)
        if missing >= 0:
            number = np.where(number == missing + 1, 0, number - (number > missing + 1))
            texts.pop(missing)
        levels[name] = Levels(name, number[of_row].astype(np.int32), tuple(texts))
    counts = sure(earlier.sketch.get("counts", columns))
    return OpenedRelease(None, len(codes[0]), levels, None, size=counts.numbers)


def _places_of(levels: Levels, part: Any, earlier: Earlier) -> list[int]:
    """Where a sketch has a missing value and each level of a column, -1 for nowhere."""
    digests = earlier.digester.levels(levels)
    alone = earlier.digester.combinations([(digests, np.arange(len(digests), dtype=np.int32))], len(digests))
    return [int(place) for place in places(part.digests, alone)]


def link_rows(new: OpenedRelease, earlier: Earlier, id: str | None, *, aligned: bool) -> Ints | None:
    """The combination of the earlier release that the person of each new record has, -1 for none; None if unknown."""
    if new.id is not None:
        for kind, name, part in _linking_parts(earlier):
            if kind != "links":
                rows = _looked_up(new.linking_digests(new.id, earlier.digester), new.id, part)
                if name == id or (rows >= 0).mean() >= ALIKE:
                    return rows
    return earlier.order if aligned and earlier.order is not None and len(earlier.order) == new.n else None


def _linking_parts(earlier: Earlier) -> Iterator[tuple[str, str, Any]]:
    for (kind, *names), part in earlier.sketch.parts.items():
        if kind in LINKING and len(part.numbers):
            yield kind, names[0], part


def _looked_up(digests: Bytes, column: Levels, part: Any) -> Ints:
    at = places(part.digests, digests)
    return np.where((at >= 0) & (column.codes > 0), part.numbers[at].astype(np.int64), -1)


@dataclass(frozen=True, eq=False)
class Link:
    """Rows of an earlier release that anybody can find: `rows` (n,), -1 for none; the columns that tell them.

    `right`: where only several columns together do, the share of rows that are the same person's, by estimate, and
    `together` in words how they do, `homes` whether households by all of their members.
    """

    rows: Ints
    columns: tuple[str, ...]
    right: float | None = None
    together: str = ""
    homes: bool = False

    @property
    def words(self) -> str:
        """The columns, in words."""
        return ", ".join(self.columns) + self.together


TOGETHER, OF_HOMES = " together", " of all members of a household together"
NEAR = " ({} by near values)"
CHANCE = 0.1  # agreement beyond chance, at least, of rows that belong together


def released_link(
    new: OpenedRelease, earlier: Earlier, old: OpenedRelease, known: Ints | None, alike: Sequence[str]
) -> Link | None:
    """Link the records by columns that both releases show and that tell people apart; None where none does.

    `known` are the rows by an id, if any: a column whose equal values are those of others is no link.
    """
    rows, columns = np.full(new.n, -1, np.int64), []
    for column in new.links.values():
        for kind, name, part in _linking_parts(earlier):
            if kind == "people":
                continue
            found = _looked_up(new.linking_digests(column, earlier.digester), column, part)
            enough = 1 if name == column.name else ALIKE * min(len(column.texts), len(part.numbers))
            if (found >= 0).sum() >= enough and _belong_together(new, old, found, known, alike):
                rows = np.where(rows >= 0, rows, found)
                columns.append(column.name)
    return Link(rows, tuple(dict.fromkeys(columns))) if columns else None


def _belong_together(
    new: OpenedRelease, old: OpenedRelease, rows: Ints, known: Ints | None, alike: Sequence[str]
) -> bool:
    """Whether linked rows agree beyond chance: with those by id, else in the columns coded alike."""
    linked = np.flatnonzero(rows >= 0)
    if known is not None:
        both = linked[known[linked] >= 0]
        return not len(both) or bool((rows[both] == known[both]).mean() >= CHANCE)
    beyond = []
    for name in alike:
        here, there = _in_text(new.levels[name], old.levels[name], rows[linked], linked)
        n = len(here)
        shares = [np.bincount(codes, minlength=len(new.levels[name].texts) + 1) / max(n, 1) for codes in (here, there)]
        chance = float(shares[0] @ shares[1])
        if n and chance < MOST_CHANCE:
            beyond.append(((here == there).mean() - chance) / (1 - chance))
    return not beyond or max(beyond) > CHANCE


def mostly_beyond(beyond: Collection[float]) -> bool:
    """Whether linked people agree beyond chance on most columns, by how far they do on each; not where on none."""
    return bool(beyond) and float(np.median([*beyond])) > CHANCE


MOST_CHANCE = 0.9  # of agreement, beyond which a column says nothing of who belongs together


def _in_text(here: Levels, there: Levels, rows: Ints, records: Ints) -> tuple[Codes, Values]:
    """Codes of both, in those of `here`, of the records that have a value in both that `here` knows."""
    first, second = here.codes[records], codes_in(here, there)[there.codes[rows]]
    shown = (first > 0) & (second > 0) & (second <= len(here.texts))
    return first[shown], second[shown]


def codes_in(here: Levels, there: Levels) -> Ints:
    """For each code there, from 0 on, that of the same text here; texts that are not here have further codes."""
    number = {text: code for code, text in enumerate(here.texts, 1)}
    further = len(here.texts)
    return np.array([0, *(number.get(text, further + at) for at, text in enumerate(there.texts, 1))], np.int64)


# Codings of one variable: codes and labels, values and their groups or bands, under one name or another.


MOST_TABULATED = 1 << 24


@dataclass(frozen=True, eq=False)
class Coding:
    """Levels of a column here and of one there that stand for the same values: pairs of codes, from 1.

    `whole`: whether every level of both is in a pair, so that what has no pair is excluded; `crossed`: whether they
    are bands with other limits, or seem to be where it is not `whole`.
    """

    here: Ints
    there: Ints
    whole: bool
    crossed: bool = False

    def renames(self, here: Levels, there: Levels) -> bool:
        """Whether some levels of `there` stand for one of another text, as where groups are numbered anew."""
        return self.whole and bool((codes_in(here, there)[self.there] != self.here).any())


def translated(sets: Words, before: Ints, after: Ints, n_levels: int) -> Words:
    """Sets of levels as sets of the other release's that may go with them; `before`, `after`: the pairs of a coding."""
    order = np.argsort(before, kind="stable")
    row, level = release_ledger.set_members(sets)
    first, last = (np.searchsorted(before[order], level + 1, side) for side in ("left", "right"))
    row, start, several = np.repeat(row, last - first), np.repeat(first, last - first), last - first
    step = np.arange(len(row)) - np.repeat(np.cumsum(several) - several, several)
    code = after[order][start + step] - 1
    words = max(1, -(-n_levels // BITS))
    out = np.zeros((len(sets), words), np.uint64)
    np.bitwise_or.at(out.reshape(-1), row * words + code // BITS, np.uint64(1) << (code % BITS).astype(np.uint64))
    return out


def coding_of(
    here: Levels, there: Levels, rows: Ints | None, *, alike: bool, crossing: bool = False, wrong: float = 0.0
) -> Coding | None:
    """How the levels of two columns go with each other; None if they cannot be compared.

    Where rows are linked (`rows`, -1 for none), the people tell: every level of one goes with a single level of the
    other, all levels occur, and it is no accident. Or, where `crossing` ones are looked for, the levels of both
    overlap as bands with other limits do, but for the share of rows linked `wrong`. Else, and where values were
    changed, columns coded `alike` have equal texts.
    """
    codes = codes_in(here, there)
    same = np.flatnonzero((codes > 0) & (codes <= len(here.texts)))
    by_text = Coding(codes[same], same, whole=False)
    rows = np.full(len(here.codes), -1, np.int64) if rows is None else rows
    linked = np.flatnonzero(rows >= 0)
    first, second = here.codes[linked].astype(np.int64), there.codes[rows[linked]].astype(np.int64)
    shown = (first > 0) & (second > 0)
    if not shown.any():
        return by_text if alike else None
    first, second = first[shown], second[shown]
    joint = first * (len(there.texts) + 1) + second
    span = (len(here.texts) + 1) * (len(there.texts) + 1)
    if span <= MOST_TABULATED:
        used = np.flatnonzero(people := np.bincount(joint, minlength=span))
        people = people[used]
    else:
        used, people = np.unique(joint, return_counts=True)
    found = Coding(used // (len(there.texts) + 1), used % (len(there.texts) + 1), whole=True)
    per_level = (
        np.bincount(found.here, minlength=len(here.texts) + 1)[1:],
        np.bincount(found.there, minlength=len(there.texts) + 1)[1:],
    )
    agreeing = np.isin(joint, by_text.here * (len(there.texts) + 1) + by_text.there)
    for at, levels in enumerate(per_level):
        shares = np.bincount((second, first)[at]) / len(first)  # of the coarser one
        if levels.max() == 1 and -math.log(shares @ shares) * (len(first) - len(used)) >= EVIDENCE:
            if all(own.min() >= 1 for own in per_level):
                return found
            return by_text if alike and agreeing.all() else None  # of levels that nobody linked has, only texts tell
    if crossing:
        across = crossing_bands.crossing_of(
            here, there, (found.here, found.there), people, (by_text.here, by_text.there), wrong
        )
        if across is not None:
            return Coding(across.here, across.there, whole=across.sure, crossed=True)
    return by_text if alike and agreeing.mean() >= ALIKE else None


# The keys of linked releases, joined: groups, risks and sensitive values under them.


@dataclass(frozen=True, eq=False)
class Joined:
    """One earlier release joined with the new one by what both show: its keys and sensitive variables."""

    name: str
    old: OpenedRelease
    link: Link
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class JointKeys:
    """Of every record of the new release (n,), on the keys of all releases that it is linked to.

    `linked`: whether it is linked to any; `frequency` of its keys among the records linked to the same releases, its
    individual `risk`, and by sensitive variable the `distinct` values of these; what is not linked has inf, 0, inf.
    """

    linked: Bools
    frequency: Floats
    risk: Floats
    distinct: Mapping[str, Floats] = field(default_factory=dict)


SLACK = 1e-9
MOST_OTHER = 1 << 10  # values that those have, for all one knows, who are linked to nobody


def joint_keys(new: OpenedRelease, joined: Sequence[Joined], roles: Roles) -> JointKeys:
    """Join the releases one by one, and judge every record by the keys of those it is linked to.

    Its group are the records linked to the same releases at least: an intruder who knows a person in all of them does
    not look further. Where only several columns together link, whom they do not link may be in the earlier release,
    too, with any keys and sensitive values.
    """
    pattern = np.zeros(new.n, np.int64)
    for at, release in enumerate(joined):
        pattern |= (release.link.rows >= 0).astype(np.int64) << at
    names = dict.fromkeys((*roles.sensitive, *(name for release in joined for name in release.sensitive)))
    result = JointKeys(
        pattern > 0, np.full(new.n, np.inf), np.zeros(new.n), {name: np.full(new.n, np.inf) for name in names}
    )
    weight = None if roles.weight is None else checked_weight(new.frame[roles.weight])
    known = sum(1 << at for at, release in enumerate(joined) if release.link.right is None)
    for releases in np.unique(pattern[pattern > 0]).tolist():
        rows = np.flatnonzero(pattern & releases & known == releases & known)
        some = [release for at, release in enumerate(joined) if releases >> at & 1]
        weighed = None if weight is None else weight[rows]
        _enter(result, new, some, rows, pattern[rows] == releases, roles, weighed)
    return result


def _enter(
    result: JointKeys, new: OpenedRelease, joined: Sequence[Joined], rows: Ints, own: Bools, roles: Roles,
    weight: Floats | None,
) -> None:  # fmt: skip
    """Enter the figures of those rows that are linked to no further release."""
    rule_of = dict(zip(roles.keys, roles.rules, strict=True))
    usual = "wildcard" if "wildcard" in roles.rules else roles.rules[0]
    columns = {f"0 {key}": new.levels[key].codes[rows] for key in roles.keys}
    rules = list(roles.rules)
    learnt = {name: new.levels[name].codes[rows] for name in roles.sensitive if name not in roles.keys}
    for at, release in enumerate(joined, 1):
        there = release.link.rows[rows]
        linked, others = there >= 0, release.link.right is not None
        for key in release.keys:
            codes = np.where(linked, release.old.levels[key].codes[there], np.int32(0))
            if not any(_says_no_more(codes[linked], known[linked]) for known in columns.values()):
                columns[f"{at} {key}"] = codes
                rules.append("wildcard" if others else rule_of.get(key, usual))
        for name in release.sensitive:
            if name not in new.levels and name not in release.keys:
                levels = release.old.levels[name]
                any_other = (len(levels.texts) + 1 + np.arange(len(rows)) % MOST_OTHER).astype(np.int32)
                learnt.setdefault(name, np.where(linked, levels.codes[there], any_other))
    table = {name: pa.array(codes, mask=codes == 0) for name, codes in columns.items()}
    table |= {f"s {name}": pa.array(codes, mask=codes == 0) for name, codes in learnt.items()}
    if weight is not None:
        table["w"] = pa.array(weight)
    cells = risk_cells(
        pa.table(table),
        replace(
            roles, keys=tuple(columns), weight=None if weight is None else "w", household=None, person=None, id=None,
            sensitive=tuple(f"s {name}" for name in learnt), rules=tuple(rules),
        ),
    )  # fmt: skip
    here = cells.in_memory()
    of_row = here.table.of_row[own]
    result.frequency[rows[own]] = here.columns["sample_frequency"][of_row]
    result.risk[rows[own]] = here.columns["risk"][of_row]
    for name, codes in learnt.items():
        if (codes > 0).any():
            counted = (wildcard_crosstab if here.has_wildcards else crosstab)(here, f"s {name}")
            result.distinct[name][rows[own]] = np.diff(counted.edges)[of_row]


def _says_no_more(codes: Codes, known: Codes) -> bool:
    """Whether a column follows from another, missing values included."""
    if (codes[known == 0] > 0).any():
        return False
    return len(group_codes([known, codes], len(codes)).size) == len(np.unique(known))


def unlinking(new: OpenedRelease, joined: Sequence[Joined]) -> str:
    """What would part the releases that are linked: how to change each column that links them in the new one."""
    single = [release.link.columns for release in joined if release.link.right is None]
    parts = [f"{column}: {_instead(new.links[column])}" for column in dict.fromkeys(sum(single, ()))]
    several = dict.fromkeys(release.link for release in joined if release.link.right is not None)
    parts += [f"{link.words}: {OF_HOME if link.homes else COARSER}" for link in several]
    return f"change what links them in this release, as the others are out: {'; '.join(parts)}" if parts else ""


COARSER = "make some of them coarser, or leave some out"
OF_HOME = f"leave out the number of the household, or {COARSER}"
NEW_IDS, ROUND = f"{methods.ADVICE['linking_text']}", f"{methods.ADVICE['linking_number']}"


def _instead(column: Levels) -> str:
    """What could go out instead: of text new ids, of amounts and dates coarser ones, of whole numbers either."""
    marks = {text.strip("-0123456789") for text in column.texts}
    if marks <= {".", ""}:
        whole = marks == {""} and not any("-" in text[1:] for text in column.texts)
        return f"{NEW_IDS} where it is an id, else {ROUND}; or leave it out" if whole else f"{ROUND}, or leave it out"
    return f"{NEW_IDS}, or leave it out"
