"""What an audit found, value by value and column by column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.attacks.published.audit_files import AuditFile, Dense, Suppressed
from sdckit.attacks.published.audit_model import Axis, System, build, patterns_of, row_words
from sdckit.attacks.published.audit_programme import MOST_UNKNOWN, Attainable, attainable, loosened
from sdckit.attacks.published.counted_tables import CountedTable, keep_apart
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.linear_bounds import solve_programme

SUPPRESSED, GROUPED = "suppressed", "in groups"


@dataclass(frozen=True)
class AuditedColumn:
    """What a release and the tables beside it give back of one column.

    Attributes
    ----------
    column : str
    kind : str
        "suppressed", or "in groups" where the release shows a range or a group of levels.
    hidden : int
        Values hidden.
    certain : int
        Of these, values of which one level is left.
    right : int or None
        Of these right; None without the original.
    narrowed : int
        Values with several levels left, and fewer than the release alone leaves.
    between_two : int
        Of these, values with two levels left.
    """

    column: str
    kind: str
    hidden: int
    certain: int
    right: int | None
    narrowed: int
    between_two: int

    @property
    def counted(self) -> int:
        """Reconstructed values: those that are right, where that is known."""
        return self.certain if self.right is None else self.right

    @property
    def share(self) -> float:
        """The same as a share of the values hidden."""
        return self.counted / self.hidden if self.hidden else 0.0


@dataclass(frozen=True, eq=False)
class ReleaseAudit:
    """What is left of every hidden value of a release.

    `before`, `left` (P, V): levels that the release alone, and with the tables, leaves to a value of each pattern.
    `level` (P, V): the level of which alone one is left, else -1. `low`, `high` (P, V): ends of the levels left where
    they are numbers. `proven` (P, V): levels that some file is known to have.
    `undecided`: levels that no programme decided, taken for possible; `open`: records with too many
    possibilities to be listed; `programmes`: how many were run.
    """

    file: AuditFile
    before: Ints
    left: Ints
    level: Ints
    low: Floats
    high: Floats
    proven: Ints
    undecided: int
    open: int
    programmes: int

    def of_records(self, figure: Ints) -> Ints:
        """A figure of patterns (P, V) by record (n, V)."""
        return np.asarray(figure[self.file.patterns.of_row])

    @cached_property
    def certain(self) -> Bools:
        """(n, V): hidden values of which one level is left."""
        return np.asarray(self.file.asked & (self.of_records(self.left) == 1))

    @cached_property
    def narrowed(self) -> Bools:
        """(n, V): hidden values of which several levels are left, and fewer than before."""
        left, before = self.of_records(self.left), self.of_records(self.before)
        return np.asarray(self.file.asked & (left > 1) & (left < before))

    @cached_property
    def right(self) -> Bools | None:
        """(n, V): values that are certain and right; None where the truth is not known."""
        if self.file.truth is None:
            return None
        return np.asarray(self.certain & (self.of_records(self.level) == self.file.truth))

    @property
    def given_back(self) -> Bools:
        """(n, V): reconstructed values: those that are right, where that is known."""
        return self.certain if self.right is None else self.right


def truth_of(file: AuditFile, system: System) -> Floats | None:
    """The file as it was, among the completions; None where it is not known, or not among them."""
    if file.truth is None:
        return None
    patterns, completions = file.patterns, system.completions
    rows = np.flatnonzero((patterns.left_open & ~completions.open)[patterns.of_row])
    mine = np.column_stack([patterns.of_row[rows], file.truth[rows]])
    every = np.vstack([np.column_stack([completions.pattern, completions.levels]), mine])
    words = row_words(every, [len(patterns.size), *patterns.shape])
    known, own = words[: len(completions.pattern)], words[len(completions.pattern) :]
    order = np.argsort(known)
    at = np.searchsorted(known, own, sorter=order)
    if len(own) and (at >= len(known)).any():
        return None
    found = order[at] if len(own) else at
    if (known[found] != own).any():
        return None
    return np.bincount(found, minlength=len(known)).astype(np.float64)


def audit_release(file: AuditFile, *, only: Bools | None = None, largest: int = MOST_UNKNOWN) -> ReleaseAudit:
    """Find what is left of every hidden value.

    No programme is run for values that are not in `only` (n, V), nor of more than `largest` unknowns.

    Raises `ContradictionError`: no file has both.
    """
    system = build(file.patterns, file.tables, file.sums)
    asked = None
    if only is not None:
        asked = np.zeros((len(file.patterns.size), len(file.names)), np.bool_)
        np.logical_or.at(asked, file.patterns.of_row, only)
    return summed(file, system, attainable(system, truth_of(file, system), only=asked, largest=largest))


def summed(file: AuditFile, system: System, found: Attainable) -> ReleaseAudit:
    """What is left of every value of every pattern, of the levels that are possible."""
    patterns = file.patterns
    shape = (len(patterns.size), len(patterns.shape))
    widths = [one.sum(axis=1)[code] for one, code in zip(patterns.allowed, patterns.codes.T, strict=True)]
    before = np.column_stack(widths) if widths else np.zeros(shape, np.int64)
    left, level = np.where(patterns.hidden, 0, before), np.full(shape, -1)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    p, v, a = (part[found.possible] for part in (found.pattern, found.variable, found.level))
    np.add.at(left, (p, v), 1)
    level[p, v] = a
    numbers = [np.array([one.number(label) for label in one.finest]) for one in file.levels]
    value = np.array([numbers[variable][own] for variable, own in zip(v, a, strict=True)])
    np.minimum.at(low, (p, v), value)
    np.maximum.at(high, (p, v), value)
    is_open = system.completions.open
    left[is_open] = before[is_open]
    proven = np.where(patterns.hidden, 0, before)
    np.add.at(proven, (found.pattern[found.proven], found.variable[found.proven]), 1)
    level[left != 1] = -1
    ended = np.isfinite(low) & np.isfinite(high)
    return ReleaseAudit(
        file, before, left, level, np.where(ended, low, np.nan), np.where(ended, high, np.nan), proven,
        found.undecided, int(patterns.size[is_open].sum()), found.solved,
    )  # fmt: skip


def column_figures(audit: ReleaseAudit) -> tuple[AuditedColumn, ...]:
    """Count what was found, by column and by how its values are hidden."""
    file, out = audit.file, []
    left = audit.of_records(audit.left)
    for v, name in enumerate(file.names):
        for kind, of in ((SUPPRESSED, file.missing[:, v]), (GROUPED, file.asked[:, v] & ~file.missing[:, v])):
            if not of.any():
                continue
            narrowed = audit.narrowed[:, v] & of
            out.append(
                AuditedColumn(
                    name, kind, int(of.sum()), int((audit.certain[:, v] & of).sum()),
                    None if audit.right is None else int((audit.right[:, v] & of).sum()), int(narrowed.sum()),
                    int((narrowed & (left[:, v] == 2)).sum()),
                )
            )  # fmt: skip
    return tuple(out)


# Which published table gives most away, and what to do instead: each remedy is audited again.


BASES = (3, 5, 10)
LEAVE_OUT, ROUND, TAKE_OUT = "leave out", "round", "take out"
# Documents print no number between none and this: the order in which tables are tried must not tell it either.
FEWEST = 5
LARGEST = 400  # unknowns of a block that is given to a programme in a trial


@dataclass(frozen=True)
class TableDamage:
    """What one table does.

    Attributes
    ----------
    table : str
        What it is called.
    alone : int
        Hidden values reconstructed where this table alone is published beside the release.
    without : int
        Hidden values reconstructed where all tables but this one are.
    """

    table: str
    alone: int
    without: int


@dataclass(frozen=True)
class Remedy:
    """What to do so that tables and release give back less, and what the audit then finds.

    Attributes
    ----------
    kind : str
        "leave out" tables, "round" tables, or "take out" further values of the release.
    tables : tuple of str
        The tables that are left out or rounded.
    base : int or None
        To which they are rounded (to one of the two multiples next to a count, drawn).
    cells : int
        Cells of tables that no longer show their count.
    values : int
        Values of the release taken out.
    left : int
        Hidden values that are still given back.
    """

    kind: str
    tables: tuple[str, ...]
    base: int | None
    cells: int
    values: int
    left: int


@dataclass(frozen=True, eq=False)
class Repairs:
    """`damage` by table, `remedies`, and the values `further` (n, V) that one of them takes out of the release."""

    damage: tuple[TableDamage, ...]
    remedies: tuple[Remedy, ...]
    further: Bools


def find_repairs(
    audit: ReleaseAudit, tables: Sequence[CountedTable], tell: Callable[[str], None] = lambda _: None
) -> Repairs:
    """Audit the release beside each table alone and beside all others, then beside what could be published instead."""
    file, every = audit.file, range(len(tables))
    tell("trying the tables one by one")
    alone = [_given_back(audit, restricted(file, {one})) for one in every]
    without = [_given_back(audit, restricted(file, set(every) - {one})) for one in every]
    damage = tuple(map(TableDamage, (table.called for table in tables), alone, without))
    further = np.zeros_like(file.asked)
    if not audit.given_back.any():
        return Repairs(damage, (), further)
    # Tables that tell little are published first, and of those the largest.
    order = sorted(every, key=lambda one: (_at_least(alone[one]), -_cells(tables[one])))
    tell("looking for tables to leave out or to round")
    remedies = [_leaving_out(audit, tables, order), _rounding(audit, tables, order)]
    if file.truth is not None:
        tell("looking for further values to take out")
        changed, open_now = take_out(audit)
        further = changed.missing & ~file.missing
        left = _left(audit, changed, (audit.given_back | further) & ~open_now)
        remedies.append(Remedy(TAKE_OUT, (), None, 0, int(further.sum()), left))
    return Repairs(damage, tuple(remedies), further)


def _at_least(given_back: int) -> int:
    return max(given_back, FEWEST) if given_back else 0


def _cells(table: CountedTable) -> int:
    return len(table.lower) + sum(len(total.lower) for total in table.totals)


def _given_back(audit: ReleaseAudit, file: AuditFile) -> int:
    """Of the reconstructed values those that are beside other tables, too: fewer tables give back no others."""
    if not (file.tables or file.sums):
        return 0
    asked = _asked(audit, file)
    return int((audit_release(file, only=asked, largest=LARGEST).given_back & asked).sum())


def _left(audit: ReleaseAudit, file: AuditFile, asked: Bools | None = None) -> int:
    """Of the values asked for those for which no two files are known: what is not decided may be given back."""
    if not (file.tables or file.sums):
        return 0
    asked = _asked(audit, file) if asked is None else asked
    found = audit_release(file, only=asked, largest=LARGEST)
    return int((asked & (found.of_records(found.proven) < 2)).sum())


def _asked(audit: ReleaseAudit, file: AuditFile) -> Bools:
    return audit.given_back[:, [audit.file.names.index(name) for name in file.names]]


def restricted(file: AuditFile, numbers: Collection[int]) -> AuditFile:
    """The same release beside some of the tables, by number, and no variable that none of them has."""
    parts = [place for place, number in enumerate(file.table_of) if number in numbers]
    kept = [sum_ for sum_ in file.sums if sum_.number in numbers]
    used = sorted(
        {axis for at in [*(file.tables[part][0] for part in parts), *(one.axes for one in kept)] for axis in at}
    )
    own = sorted({file.patterns.axes[axis].variable for axis in used})
    axes = [file.patterns.axes[axis] for axis in used]
    axes = [Axis(own.index(axis.variable), axis.group, axis.n) for axis in axes]
    tables = tuple(
        (tuple(used.index(axis) for axis in at), lower, upper)
        for at, lower, upper in (file.tables[part] for part in parts)
    )
    sums = tuple(replace(one, axes=tuple(used.index(axis) for axis in one.axes)) for one in kept)
    codes = file.patterns.codes[file.patterns.of_row][:, own]
    allowed = [file.patterns.allowed[v] for v in own]
    return AuditFile(
        tuple(file.names[v] for v in own), tuple(file.levels[v] for v in own), tuple(file.labels[v] for v in own),
        patterns_of(codes, allowed, axes, file.values, keep_apart(file.values, codes, allowed, axes, sums)), tables,
        tuple(file.table_of[part] for part in parts), None if file.truth is None else file.truth[:, own],
        file.asked[:, own], file.missing[:, own], file.left_out, (), sums, file.values,
    )  # fmt: skip


def rounded(file: AuditFile, numbers: Collection[int], base: int) -> AuditFile:
    """The same release where the exact counts of some tables are rounded to one of the multiples next to them."""
    parts = zip(file.tables, file.table_of, strict=True)
    return replace(file, tables=tuple(_round(one, base) if number in numbers else one for one, number in parts))


def _round(table: Dense, base: int) -> Dense:
    """What anybody knows of counts so rounded; those that are not exact stay as they are."""
    axes, lower, upper = table
    exact = lower == upper
    shown = base * ((2 * lower + base) // (2 * base))
    low, high = np.maximum(shown - (base - 1), 0), shown + base - 1
    return axes, np.where(exact, low, lower), np.where(exact, high, upper)


def _leaving_out(audit: ReleaseAudit, tables: Sequence[CountedTable], order: Sequence[int]) -> Remedy:
    """Publish one table after the other, as long as nothing is given back."""
    kept: set[int] = set()
    for one in order:
        if not _left(audit, restricted(audit.file, kept | {one})):
            kept.add(one)
    gone = [one for one in range(len(tables)) if one not in kept]
    cells = sum(_cells(tables[one]) for one in gone)
    left = _left(audit, restricted(audit.file, kept))
    return Remedy(LEAVE_OUT, tuple(tables[one].called for one in gone), None, cells, 0, left)


def _rounding(audit: ReleaseAudit, tables: Sequence[CountedTable], order: Sequence[int]) -> Remedy:
    """Round all counts to the smallest base that helps, then show one after the other as long as nothing is given back.

    Sums stay as they are. Without the original each trial takes long, and all stay rounded.
    """
    file = audit.file
    order = [one for one in order if tables[one].table.sum is None]
    gone = set(order)
    for base in BASES:
        left = _left(audit, rounded(file, gone, base))
        if not left:
            break
    for one in order if not left and file.truth is not None else ():
        if not _left(audit, rounded(file, gone - {one}, base)):
            gone.discard(one)
    parts = [part for one in sorted(gone) for part in (tables[one], *tables[one].totals)]
    cells = sum(int(((part.lower == part.upper) & (part.lower % base > 0)).sum()) for part in parts)
    return Remedy(ROUND, tuple(tables[one].called for one in sorted(gone)), base, cells, 0, left)


def take_out(audit: ReleaseAudit) -> tuple[AuditFile, Bools]:
    """Hide further values so that each record that became certain could as well be another one.

    Gives the file and (n, V) the values that are open by that: two files that fit are known for each of them.
    Where two records differ, what both show of it is taken out: either may then be the other, and no table tells, as
    their sum stays the same; where tables sum a variable, only for records with the same value of it. The partner is
    the one for which the fewest values have to go.
    """
    file, truth = audit.file, audit.file.truth
    assert truth is not None
    allowed, gone_code = _with_gap(file)
    codes = file.patterns.codes[file.patterns.of_row].copy()
    waiting, open_now = audit.given_back.copy(), np.zeros_like(audit.given_back)
    for i, v in np.argwhere(waiting):
        if not waiting[i, v]:
            continue
        differ = (truth != truth[i]) & _alike(file, int(i))[:, None]
        as_other = np.column_stack([one[codes[i, w]][truth[:, w]] for w, one in enumerate(allowed)])
        as_this = np.column_stack([one[codes[:, w], truth[i, w]] for w, one in enumerate(allowed)])
        cost = (differ & ~as_other).sum(axis=1) + (differ & ~as_this).sum(axis=1)
        if not differ[:, v].any():
            continue
        j = int(np.where(differ[:, v], cost, np.iinfo(np.int64).max).argmin())
        for row, can in ((i, as_other[j]), (j, as_this[j])):
            codes[row] = np.where(differ[j] & ~can, gone_code, codes[row])
            waiting[row] &= ~differ[j]
            open_now[row] |= differ[j]
    apart = keep_apart(file.values, codes, allowed, file.patterns.axes, file.sums)
    patterns = patterns_of(codes, allowed, file.patterns.axes, file.values, apart)
    missing = file.missing | (codes == gone_code)
    return replace(file, patterns=patterns, asked=file.asked | missing, missing=missing), open_now


def _alike(file: AuditFile, i: int) -> Bools:
    """(n,) whether records have the same values of what tables sum; what is not known is like nothing."""
    if not file.sums or file.values is None:
        return np.ones(len(file.asked), np.bool_)
    return np.asarray((file.values == file.values[i]).all(axis=1))


def _with_gap(file: AuditFile) -> tuple[list[Bools], Ints]:
    """What the codes of each variable stand for, with a code for a value taken out, and that code."""
    allowed = [np.vstack([one, np.ones((1, one.shape[1]), np.bool_)]) for one in file.patterns.allowed]
    return allowed, np.array([len(one) - 1 for one in allowed])


# What release and tables tell together of the cells whose count a table does not tell.


MOST_CELLS = 200  # of a release: each takes two programmes
NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class AuditedCells:
    """Suppressed cells of a table, and the counts that release and tables leave to each.

    `words`: their levels. `published`: the least and the greatest count that the table leaves (C, 2); `left`: that all
    leave together (C, 2).
    """

    table: int
    words: tuple[str, ...]
    published: Ints
    left: Ints

    @property
    def cells(self) -> int:
        """Suppressed cells."""
        return len(self.words)

    @property
    def certain(self) -> int:
        """Those of which one count is left."""
        return int((self.left[:, 0] == self.left[:, 1]).sum())

    @property
    def narrowed(self) -> int:
        """Those of which several counts are left, fewer than the table leaves."""
        width, before = (one[:, 1] - one[:, 0] for one in (self.left, self.published))
        return int(((width > 0) & (width < before)).sum())


def audit_cells(file: AuditFile) -> tuple[AuditedCells, ...]:
    """Bound every suppressed cell: by what its release shows, relation by relation, then by linear programmes.

    Beyond 200 cells, or where very much is open, a programme is not run and the bounds may be wider than need be.
    """
    if not file.suppressed:
        return ()
    system = build(file.patterns, file.tables, file.sums)
    programme, left, found = _Programme(system), MOST_CELLS, []
    for one in file.suppressed:
        bounds = np.empty((len(one.cell), 2), np.int64)
        for i, cell in enumerate(one.cell):
            low, high, members, seen = _bounded(file, system, one, int(cell), i)
            if low < high and left and len(members) and len(system.low) <= MOST_UNKNOWN:
                left -= 1
                least, most = programme.ends(members)
                low, high = max(low, seen + least), min(high, seen + most + _lost(system))
            bounds[i] = low, high
        found.append(AuditedCells(one.table, one.words, np.column_stack([one.lower, one.upper]), bounds))
    return tuple(found)


def _lost(system: System) -> int:
    """Records with too many possibilities to be listed: any cell may hold them."""
    return int(system.patterns.size[system.completions.open].sum())


def _bounded(file: AuditFile, system: System, one: Suppressed, cell: int, i: int) -> tuple[int, int, Ints, int]:
    """The least and the greatest count of a cell, the unknowns that may fall into it, and the records seen there."""
    patterns, completions = system.patterns, system.completions
    axes, least, _ = file.tables[one.dense]
    shown = patterns.shown[:, list(axes)]
    target = np.array(np.unravel_index(cell, least.shape))
    seen = int(patterns.size[(shown == target).all(axis=1)].sum())
    told = (shown[completions.pattern] >= 0).all(axis=1)
    here = (patterns.grouped(completions.levels)[:, list(axes)] == target).all(axis=1)
    members = np.flatnonzero(here & ~told)
    low = max(int(one.lower[i]), seen + int(system.low[members].sum()))
    high = min(int(one.upper[i]), seen + int(system.high[members].sum()) + _lost(system))
    return low, high, members, seen


class _Programme:
    """All that is known, as constraints on the unknowns."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.constraints: Any = None

    def ends(self, members: Ints) -> tuple[int, int]:
        """The least and the greatest number of records in some unknowns together."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import csr_array

        relations, n = self.system.relations, len(self.system.low)
        if self.constraints is None:
            shape = (len(relations.lower), n)
            matrix = csr_array((relations.factor, relations.number, relations.start), shape=shape)
            rows = matrix, relations.lower, relations.upper
            is_summed = bool((relations.factor != 1).any())
            self.constraints = LinearConstraint(*(loosened(*rows) if is_summed else rows))
        goal = np.zeros(n)
        goal[members] = 1.0
        ends = []
        for sign in (1.0, -1.0):
            solved = solve_programme(
                sign * goal, integrality=np.zeros(n), bounds=Bounds(self.system.low, self.system.high),
                constraints=self.constraints,
            )  # fmt: skip
            ends.append(sign * solved.fun if solved.x is not None else -sign * np.inf)
        sums = self.system.low[members].sum(), self.system.high[members].sum()
        least, most = max(ends[0], sums[0]), min(ends[1], sums[1])
        return int(np.ceil(least - NEAR)), int(np.floor(most + NEAR))
