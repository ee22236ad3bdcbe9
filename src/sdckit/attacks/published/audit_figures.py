"""Results of an audit: remaining levels by value, figures by column, remedies, and bounds of suppressed cells."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.attacks.published.audit_files import AuditFile, Dense, Suppressed
from sdckit.attacks.published.audit_model import Axis, System, build, patterns_of, row_words, stacked
from sdckit.attacks.published.audit_programme import MOST_UNKNOWN, Attainable, attainable, loosened
from sdckit.attacks.published.counted_tables import CountedTable, keep_apart
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.grouping import row_of_values
from sdckit.numerics.linear_bounds import solve_programme

SUPPRESSED, GROUPED = "suppressed", "in groups"


@dataclass(frozen=True)
class AuditedColumn:
    """What a release and published tables disclose together of one column.

    Attributes
    ----------
    column : str
    kind : str
        "suppressed", or "in groups" where the release shows a range or a group of levels.
    hidden : int
        Values hidden.
    certain : int
        Of these, values with a single feasible level.
    right : int or None
        Of these right; None without the original.
    narrowed : int
        Values with several feasible levels, and fewer than from the release alone.
    between_two : int
        Of these, values with two feasible levels.
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
        """Reconstructed values; only the right ones where the original is known."""
        return self.certain if self.right is None else self.right

    @property
    def share(self) -> float:
        """`counted` as a share of the hidden values."""
        return self.counted / self.hidden if self.hidden else 0.0


@dataclass(frozen=True, eq=False)
class ReleaseAudit:
    """Feasible levels of every hidden value of a release.

    For P patterns and V variables: `before`, `left` (P, V): number of feasible levels by the release alone, and with
    the tables. `level` (P, V): the level if only one is feasible, else -1. `low`, `high` (P, V): lower and upper bound
    of the feasible levels where they are numbers. `proven` (P, V): number of levels with a known feasible file.
    `undecided`: levels not decided by any programme, counted as feasible; `open`: records with too many completions to
    enumerate; `programmes`: number of programmes solved.
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
        """Expand a figure of patterns (P, V) to records (n, V)."""
        return np.asarray(figure[self.file.patterns.of_row])

    @cached_property
    def certain(self) -> Bools:
        """(n, V): whether a hidden value has exactly one feasible level."""
        return np.asarray(self.file.asked & (self.of_records(self.left) == 1))

    @cached_property
    def narrowed(self) -> Bools:
        """(n, V): whether a hidden value has several feasible levels, but fewer than from the release alone."""
        left, before = self.of_records(self.left), self.of_records(self.before)
        return np.asarray(self.file.asked & (left > 1) & (left < before))

    @cached_property
    def right(self) -> Bools | None:
        """(n, V): whether a certain value is right; None if the original is not known."""
        if self.file.truth is None:
            return None
        return np.asarray(self.certain & (self.of_records(self.level) == self.file.truth))

    @property
    def given_back(self) -> Bools:
        """(n, V): reconstructed values; only the right ones where the original is known."""
        return self.certain if self.right is None else self.right


def truth_of(file: AuditFile, system: System) -> Floats | None:
    """The original file as counts of completions (X,); None if it is not known or not among the completions."""
    if file.truth is None:
        return None
    patterns, completions = file.patterns, system.completions
    rows = np.flatnonzero((patterns.left_open & ~completions.open)[patterns.of_row])
    mine = np.column_stack([patterns.of_row[rows], file.truth[rows]])
    every = np.vstack([np.column_stack([completions.pattern, completions.levels]), mine])
    words = row_words(every, [len(patterns.size), *patterns.shape])
    known, own = words[: len(completions.pattern)], words[len(completions.pattern) :]
    place = row_of_values(own, known)
    return None if (place < 0).any() else np.bincount(place, minlength=len(known)).astype(np.float64)


def audit_release(file: AuditFile, *, only: Bools | None = None, largest: int = MOST_UNKNOWN) -> ReleaseAudit:
    """Determine the feasible levels of every hidden value.

    Programmes are solved only for the values in `only` (n, V), if given, and for blocks of up to `largest` unknowns.

    Raises `ContradictionError`: release and tables are infeasible together.
    """
    system = build(file.patterns, file.tables, file.sums)
    needed = None
    if only is not None:
        needed = np.zeros((len(file.patterns.size), len(file.names)), np.bool_)
        np.logical_or.at(needed, file.patterns.of_row, only)
    return summed(file, system, attainable(system, truth_of(file, system), only=needed, largest=largest))


def summed(file: AuditFile, system: System, answer: Attainable) -> ReleaseAudit:
    """Summarise the feasible levels by pattern and variable."""
    patterns = file.patterns
    widths = [allowed.sum(axis=1)[code] for allowed, code in zip(patterns.allowed, patterns.codes.T, strict=True)]
    before = stacked(widths, len(patterns.size))
    left, level = np.where(patterns.hidden, 0, before), patterns.levels.copy()
    low, high = np.full(before.shape, np.inf), np.full(before.shape, -np.inf)
    p, v, a = (part[answer.possible] for part in (answer.pattern, answer.variable, answer.level))
    np.add.at(left, (p, v), 1)
    level[p, v] = a
    numbers = [np.array([levels.number(label) for label in levels.finest]) for levels in file.levels]
    value = np.array([numbers[variable][own] for variable, own in zip(v, a, strict=True)])
    np.minimum.at(low, (p, v), value)
    np.maximum.at(high, (p, v), value)
    is_open = system.completions.open
    left[is_open] = before[is_open]
    proven = np.where(patterns.hidden, 0, before)
    np.add.at(proven, (answer.pattern[answer.proven], answer.variable[answer.proven]), 1)
    level[left != 1] = -1
    ended = np.isfinite(low) & np.isfinite(high)
    return ReleaseAudit(
        file, before, left, level, np.where(ended, low, np.nan), np.where(ended, high, np.nan), proven,
        answer.undecided, int(patterns.size[is_open].sum()), answer.solved,
    )  # fmt: skip


def column_figures(audit: ReleaseAudit) -> tuple[AuditedColumn, ...]:
    """Count certain and narrowed values by column and by how they are hidden."""
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


# Disclosure by each published table, and remedies; each remedy is audited again.


BASES = (3, 5, 10)
LEAVE_OUT, ROUND, TAKE_OUT = "leave out", "round", "take out"
# Documents print no count between 0 and this; the order in which tables are tried must not reveal it either.
FEWEST = 5
LARGEST = 400  # most unknowns of a block that is passed to a solver in a trial


@dataclass(frozen=True)
class TableDamage:
    """Disclosure caused by one table.

    Attributes
    ----------
    table : str
        Name of the table.
    alone : int
        Hidden values reconstructed if this table alone is published with the release.
    without : int
        Hidden values reconstructed if all tables but this one are.
    """

    table: str
    alone: int
    without: int


@dataclass(frozen=True)
class Remedy:
    """A remedy that reduces joint disclosure, and the audit's result with it.

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
        Hidden values that are still reconstructed.
    """

    kind: str
    tables: tuple[str, ...]
    base: int | None
    cells: int
    values: int
    left: int


@dataclass(frozen=True, eq=False)
class Repairs:
    """`damage` by table, `remedies`, and the values `further` (n, V) suppressed by the remedy "take out"."""

    damage: tuple[TableDamage, ...]
    remedies: tuple[Remedy, ...]
    further: Bools


def find_repairs(
    audit: ReleaseAudit, tables: Sequence[CountedTable], tell: Callable[[str], None] = lambda _: None
) -> Repairs:
    """Audit the release with each table alone and with all others, then with each remedy applied."""
    file, every = audit.file, range(len(tables))
    tell("trying the tables one by one")
    alone = [_given_back(audit, restricted(file, {number})) for number in every]
    without = [_given_back(audit, restricted(file, set(every) - {number})) for number in every]
    damage = tuple(map(TableDamage, (table.called for table in tables), alone, without))
    further = np.zeros_like(file.asked)
    if not audit.given_back.any():
        return Repairs(damage, (), further)
    # greedy order: tables that disclose little come first, and of those the largest
    order = sorted(every, key=lambda number: (alone[number] and max(alone[number], FEWEST), -_cells(tables[number])))
    tell("looking for tables to leave out or to round")
    remedies = [_leaving_out(audit, tables, order), _rounding(audit, tables, order)]
    if file.truth is not None:
        tell("looking for further values to take out")
        changed, open_now = take_out(audit)
        further = changed.missing & ~file.missing
        left = _left(audit, changed, (audit.given_back | further) & ~open_now)
        remedies.append(Remedy(TAKE_OUT, (), None, 0, int(further.sum()), left))
    return Repairs(damage, tuple(remedies), further)


def _cells(table: CountedTable) -> int:
    return len(table.lower) + sum(len(total.lower) for total in table.totals)


def _given_back(audit: ReleaseAudit, file: AuditFile) -> int:
    """Number of reconstructed values that remain so with fewer tables (no others can be added by fewer tables)."""
    if not (file.tables or file.sums):
        return 0
    disclosed = _disclosed_here(audit, file)
    return int((audit_release(file, only=disclosed, largest=LARGEST).given_back & disclosed).sum())


def _left(audit: ReleaseAudit, file: AuditFile, needed: Bools | None = None) -> int:
    """Number of the `needed` values without two known feasible levels; undecided ones count as disclosed."""
    if not (file.tables or file.sums):
        return 0
    needed = _disclosed_here(audit, file) if needed is None else needed
    trial = audit_release(file, only=needed, largest=LARGEST)
    return int((needed & (trial.of_records(trial.proven) < 2)).sum())


def _disclosed_here(audit: ReleaseAudit, file: AuditFile) -> Bools:
    return audit.given_back[:, [audit.file.names.index(name) for name in file.names]]


def restricted(file: AuditFile, numbers: Collection[int]) -> AuditFile:
    """The audit file reduced to some of the tables, by number, and to the variables they use."""
    parts = [place for place, number in enumerate(file.table_of) if number in numbers]
    kept = [sum_ for sum_ in file.sums if sum_.number in numbers]
    every = [*(file.tables[part][0] for part in parts), *(sum_.axes for sum_ in kept)]
    used = sorted({axis for axes in every for axis in axes})
    own = sorted({file.patterns.axes[axis].variable for axis in used})
    axes = [file.patterns.axes[axis] for axis in used]
    axes = [Axis(own.index(axis.variable), axis.group, axis.n) for axis in axes]
    tables = tuple(
        (tuple(used.index(axis) for axis in at), lower, upper)
        for at, lower, upper in (file.tables[part] for part in parts)
    )
    sums = tuple(replace(sum_, axes=tuple(used.index(axis) for axis in sum_.axes)) for sum_ in kept)
    codes = file.patterns.codes[file.patterns.of_row][:, own]
    allowed = [file.patterns.allowed[v] for v in own]
    return AuditFile(
        tuple(file.names[v] for v in own), tuple(file.levels[v] for v in own), tuple(file.labels[v] for v in own),
        patterns_of(codes, allowed, axes, file.values, keep_apart(file.values, codes, allowed, axes, sums)), tables,
        tuple(file.table_of[part] for part in parts), None if file.truth is None else file.truth[:, own],
        file.asked[:, own], file.missing[:, own], file.left_out, (), sums, file.values,
    )  # fmt: skip


def rounded(file: AuditFile, numbers: Collection[int], base: int) -> AuditFile:
    """The audit file with the exact counts of some tables randomly rounded to an adjacent multiple of `base`."""
    parts = zip(file.tables, file.table_of, strict=True)
    return replace(file, tables=tuple(_round(table, base) if number in numbers else table for table, number in parts))


def _round(table: Dense, base: int) -> Dense:
    """Bounds of a table's counts after random rounding; counts that are not exact keep their bounds."""
    axes, lower, upper = table
    exact = lower == upper
    shown = base * ((2 * lower + base) // (2 * base))
    low, high = np.maximum(shown - (base - 1), 0), shown + base - 1
    return axes, np.where(exact, low, lower), np.where(exact, high, upper)


def _leaving_out(audit: ReleaseAudit, tables: Sequence[CountedTable], order: Sequence[int]) -> Remedy:
    """Greedily keep tables, in the given order, as long as no value is reconstructed."""
    kept: set[int] = set()
    for number in order:
        if not _left(audit, restricted(audit.file, kept | {number})):
            kept.add(number)
    gone = [number for number in range(len(tables)) if number not in kept]
    cells = sum(_cells(tables[number]) for number in gone)
    left = _left(audit, restricted(audit.file, kept))
    return Remedy(LEAVE_OUT, tuple(tables[number].called for number in gone), None, cells, 0, left)


def _rounding(audit: ReleaseAudit, tables: Sequence[CountedTable], order: Sequence[int]) -> Remedy:
    """Round all counts to the smallest sufficient base, then greedily restore exact tables while nothing is disclosed.

    Tables of sums are not rounded. Without the original each trial is slow, and all tables stay rounded.
    """
    file = audit.file
    order = [number for number in order if tables[number].table.sum is None]
    gone = set(order)
    for base in BASES:
        left = _left(audit, rounded(file, gone, base))
        if not left:
            break
    for number in order if not left and file.truth is not None else ():
        if not _left(audit, rounded(file, gone - {number}, base)):
            gone.discard(number)
    parts = [part for number in sorted(gone) for part in (tables[number], *tables[number].totals)]
    cells = sum(int(((part.lower == part.upper) & (part.lower % base > 0)).sum()) for part in parts)
    return Remedy(ROUND, tuple(tables[number].called for number in sorted(gone)), base, cells, 0, left)


def take_out(audit: ReleaseAudit) -> tuple[AuditFile, Bools]:
    """Secondary suppression: hide further values so that each disclosed record can be exchanged with another one.

    Gives the file and (n, V) the values that become ambiguous: two feasible files are known for each of them.
    Where two records differ, the values both show are suppressed: the records can then be exchanged without changing
    any table; where tables sum a variable, only records with the same value of it are exchanged. The partner is the
    record that needs the fewest suppressions.
    """
    file, truth = audit.file, sure(audit.file.truth)
    allowed, gone_code = _with_gap(file)
    codes = file.patterns.codes[file.patterns.of_row].copy()
    waiting, open_now = audit.given_back.copy(), np.zeros_like(audit.given_back)
    for i, v in np.argwhere(waiting):
        if not waiting[i, v]:
            continue
        differ = (truth != truth[i]) & _alike(file, int(i))[:, None]
        as_other = np.column_stack([holds[codes[i, w]][truth[:, w]] for w, holds in enumerate(allowed)])
        as_this = np.column_stack([holds[codes[:, w], truth[i, w]] for w, holds in enumerate(allowed)])
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
    """(n,) whether a record equals record i on all summed variables; unknown values equal nothing."""
    if not file.sums or file.values is None:
        return np.ones(len(file.asked), np.bool_)
    return np.asarray((file.values == file.values[i]).all(axis=1))


def _with_gap(file: AuditFile) -> tuple[list[Bools], Ints]:
    """Allowed levels by code of each variable, with an extra code for a suppressed value; and that code (V,)."""
    allowed = [np.vstack([holds, np.ones((1, holds.shape[1]), np.bool_)]) for holds in file.patterns.allowed]
    return allowed, np.array([len(holds) - 1 for holds in allowed])


# Bounds of suppressed cells from release and tables together.


MOST_CELLS = 200  # suppressed cells of a release that are bounded by two programmes each
NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class AuditedCells:
    """Suppressed cells of a table with their bounds.

    `words`: the levels of each cell. `published` (C, 2): lower and upper bound by the table itself; `left` (C, 2): by
    release and tables together.
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
        """Cells whose bounds coincide."""
        return int((self.left[:, 0] == self.left[:, 1]).sum())

    @property
    def narrowed(self) -> int:
        """Cells with tighter bounds than those of the table, but not a single count."""
        width, before = (bounds[:, 1] - bounds[:, 0] for bounds in (self.left, self.published))
        return int(((width > 0) & (width < before)).sum())


def audit_cells(file: AuditFile) -> tuple[AuditedCells, ...]:
    """Bound every suppressed cell: from shown records, by constraint propagation, then by linear programmes.

    Beyond 200 cells, or for very large systems, no programme is solved and the bounds may not be tight.
    """
    if not file.suppressed:
        return ()
    system = build(file.patterns, file.tables, file.sums)
    programme, left, audited = _Programme(system), MOST_CELLS, []
    for suppressed in file.suppressed:
        bounds = np.empty((len(suppressed.cell), 2), np.int64)
        for i, cell in enumerate(suppressed.cell):
            low, high, members, seen = _bounded(file, system, suppressed, int(cell), i)
            if low < high and left and len(members) and len(system.low) <= MOST_UNKNOWN:
                left -= 1
                least, most = programme.ends(members)
                low, high = max(low, seen + least), min(high, seen + most + _lost(system))
            bounds[i] = low, high
        audited.append(
            AuditedCells(
                suppressed.table, suppressed.words, np.column_stack([suppressed.lower, suppressed.upper]), bounds
            )
        )
    return tuple(audited)


def _lost(system: System) -> int:
    """Records with too many completions to enumerate: any cell may hold them."""
    return int(system.patterns.size[system.completions.open].sum())


def _bounded(file: AuditFile, system: System, suppressed: Suppressed, cell: int, i: int) -> tuple[int, int, Ints, int]:
    """Lower and upper bound of a cell's count, the unknowns that may fall into it, and its number of shown records."""
    patterns, completions = system.patterns, system.completions
    axes, least, _ = file.tables[suppressed.dense]
    shown = patterns.shown[:, list(axes)]
    target = np.array(np.unravel_index(cell, least.shape))
    seen = int(patterns.size[(shown == target).all(axis=1)].sum())
    is_shown = (shown[completions.pattern] >= 0).all(axis=1)
    here = (patterns.grouped(completions.levels)[:, list(axes)] == target).all(axis=1)
    members = np.flatnonzero(here & ~is_shown)
    low = max(int(suppressed.lower[i]), seen + int(system.low[members].sum()))
    high = min(int(suppressed.upper[i]), seen + int(system.high[members].sum()) + _lost(system))
    return low, high, members, seen


class _Programme:
    """The system as linear constraints, built once."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.constraints: Any = None

    def ends(self, members: Ints) -> tuple[int, int]:
        """Lower and upper bound of the sum of some unknowns (LP relaxation)."""
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
