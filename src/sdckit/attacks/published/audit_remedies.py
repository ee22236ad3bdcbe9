"""Which published table gives most away, and what to do instead: each remedy is audited again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdckit.attacks.published.audit_figures import ReleaseAudit, audit_release
from sdckit.attacks.published.audit_files import AuditFile, Dense
from sdckit.attacks.published.audit_model import Axis, patterns_of
from sdckit.attacks.published.counted_tables import CountedTable
from sdckit.attacks.published.summed_values import keep_apart
from sdckit.numerics.array_types import Bools, Ints

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
        Hidden values given back where this table alone is published beside the release.
    without : int
        Hidden values given back where all tables but this one are.
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
    damage = tuple(map(TableDamage, (one.called for one in tables), alone, without))
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
    return len(table.lower) + sum(len(one.lower) for one in table.totals)


def _given_back(audit: ReleaseAudit, file: AuditFile) -> int:
    """Of the values given back those that are beside other tables, too: fewer tables give back no others."""
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
    kept = [one for one in file.sums if one.number in numbers]
    used = sorted(
        {
            axis
            for at in [*(file.tables[part][0] for part in parts), *(one.axes for one in kept)]
            for axis in at
        }
    )
    own = sorted({file.patterns.axes[axis].variable for axis in used})
    axes = [file.patterns.axes[axis] for axis in used]
    axes = [Axis(own.index(one.variable), one.group, one.n) for one in axes]
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
    return replace(
        file, tables=tuple(_round(one, base) if number in numbers else one for one, number in parts)
    )


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
