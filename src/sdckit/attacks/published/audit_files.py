"""Release, original and published tables in one common coding, ready for an audit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sdckit.attacks.published import counted_tables
from sdckit.attacks.published.audit_model import Axis, ContradictionError, Patterns, SummedCells, patterns_of, stacked
from sdckit.attacks.published.counted_tables import Column, CountedTable, SummedValues
from sdckit.attacks.recovery.recovery_files import RecoveryFile
from sdckit.attacks.recovery.touched_cells import ReleasedColumn
from sdckit.data.columns import MIDNIGHT
from sdckit.data.hierarchy import Hierarchy, range_of_label
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Floats, Ints

# Common levels of release, original and tables: the finest ones, and the set of them that each label covers.


@dataclass(frozen=True, eq=False)
class Levels:
    """Finest levels of one variable; `holds` maps each label to the mask (levels,) of the finest levels it covers."""

    name: str
    finest: tuple[str, ...]
    holds: Mapping[str, Bools]

    def of(self, labels: Sequence[str]) -> Bools:
        """(labels, levels): whether a label covers a level."""
        return np.array([self.holds[label] for label in labels], np.bool_).reshape(len(labels), len(self.finest))

    def number(self, label: str) -> float:
        """Numeric value of a level; NaN if it is none."""
        range_ = range_of_label(label) if label != counted_tables.MISSING else None
        return range_[0] if range_ is not None and range_[0] == range_[1] else np.nan


def finest_levels(name: str, columns: Sequence[Column], hierarchy: Hierarchy | None = None) -> Levels:
    """Determine the finest levels of a variable over several columns, and those that coarser labels cover.

    A label covers others if its numeric range contains theirs ("30-39" covers "31"), or by the hierarchy.

    Raises `DataError`: two ranges overlap without containment.
    """
    labels = list(dict.fromkeys(label for column in columns for label in column.labels))
    known = [label for label in labels if label != counted_tables.MISSING]
    below = _by_hierarchy(known, hierarchy) if hierarchy is not None else _by_ranges(name, known)
    finest = [label for label in labels if not below.get(label)]
    place = {label: i for i, label in enumerate(finest)}
    holds = {}
    for label in labels:
        own = np.zeros(len(finest), np.bool_)
        own[[place[inner] for inner in below.get(label) or [label]]] = True
        holds[label] = own
    return Levels(name, tuple(finest), holds)


def _by_hierarchy(labels: Sequence[str], hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Finest labels covered by each coarser label of the hierarchy, among the labels present."""
    leaves, present = [str(leaf) for leaf in hierarchy.leaves], set(labels)
    held: dict[str, list[str]] = {}
    chains = list(zip(leaves, *([str(entry) for entry in level] for level in hierarchy.levels), strict=True))
    for chain in chains:
        at = next((node for node in chain if node in present), None)
        for above in chain:
            if at is not None and above != at and above in present and at not in held.setdefault(above, []):
                held[above].append(at)
    finest = {label for label in labels if label not in held}
    return {label: [leaf for leaf in below if leaf in finest] for label, below in held.items()}


def _by_ranges(name: str, labels: Sequence[str]) -> dict[str, list[str]]:
    """Finest labels covered by each numeric range; a second spelling of a range is covered by the first."""
    ranges = {label: read for label in labels if (read := range_of_label(label)) is not None}
    held: dict[str, list[str]] = {}
    first: dict[tuple[float, float], str] = {}
    for label, own in ranges.items():
        if own in first:
            held[label] = [first[own]]
        first.setdefault(own, label)
    wide = {label: own for label, own in ranges.items() if own[0] < own[1] and label not in held}
    single = [(label, own) for label, own in ranges.items() if label not in held]
    for label, (low, high) in wide.items():
        inside = [other for other, own in single if other != label and low <= own[0] and own[1] <= high]
        across = [
            own for other, own in single
            if other != label and own[0] <= high and own[1] >= low
            and not (low <= own[0] and own[1] <= high) and not (own[0] <= low and high <= own[1])
        ]  # fmt: skip
        if across:
            raise DataError(
                f"column {name!r}: ranges of the release and of the tables overlap, and neither holds the other; give "
                "tables with bands that fit those of the release",
                argument="tables",
            )
        if inside:
            held[label] = inside
    finest = {label for label in labels if label not in held}

    def of_finest(labels: Sequence[str]) -> list[str]:
        return [label for label in labels if label in finest]

    return {label: of_finest(below) or of_finest(held.get(below[0], [])) for label, below in held.items()}


Dense = tuple[tuple[int, ...], Ints, Ints]  # axes, lower and upper bound of each cell
MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class Suppressed:
    """Suppressed cells of a published table (`table`: its number; `dense`: its index among the dense tables).

    `cell` (C,): flat index into the dense array. `lower`, `upper` (C,): bounds by the table. `words`: their levels.
    """

    table: int
    dense: int
    cell: Ints
    lower: Ints
    upper: Ints
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AuditFile:
    """One release with the tables to audit it against.

    `names`: the variables; `levels`: their finest levels; `labels`: the labels of the release. `patterns`: the distinct
    records. `tables`: dense bounds of each published table (`table_of`: its number). `truth` (n, V): the original level
    of each record, None if not known. `asked` (n, V): hidden values that the original has; `missing` (n, V): those of
    them that are suppressed. `left_out`: variables with perturbed values, which cannot be used. `suppressed`: the
    suppressed cells of the tables. `sums`: tables of sums; `values` (n, S): summed variables as shown, in units;
    `notes`: which of them could not be used.
    """

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    labels: tuple[tuple[str, ...], ...]
    patterns: Patterns
    tables: tuple[Dense, ...]
    table_of: tuple[int, ...]
    truth: Ints | None
    asked: Bools
    missing: Bools
    left_out: tuple[str, ...]
    suppressed: tuple[Suppressed, ...] = ()
    sums: tuple[SummedCells, ...] = ()
    values: Floats | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


def open_audit(file: RecoveryFile, tables: Sequence[CountedTable], hierarchies: Mapping[str, Hierarchy]) -> AuditFile:
    """Code a release and tables alike.

    Raises `ColumnError`: the release lacks a variable of a table; `DataError`: other codings, totals that do not add,
    a table of too many cells.
    """
    names = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    parts = [(number, part) for number, table in enumerate(tables) for part in (table, *table.totals)]
    read, left_out = [], []
    for name in names:
        _check_present(name, file, tables)
        own = [column for _, part in parts for column in part.columns if column.name == name]
        opened = _variable(name, file, own, hierarchies.get(name))
        if opened is None:
            left_out.append(name)
        else:
            read.append(opened)
    kept = [variable.levels.name for variable in read]
    axes: list[Axis] = []
    dense: list[Dense] = []
    table_of: list[int] = []
    gone: list[Suppressed] = []
    summed = counted_tables.summed_values(file, tables)
    sums: list[SummedCells] = []
    for number, part in parts:
        if part.table.sum is not None:
            sums += _sums(part, number, read, axes, summed)
        elif (dense_table := _dense(part, read, axes, len(file.frame))) is not None:
            array, cells = dense_table
            if part.suppressed.any() and len(array[0]) == len(part.columns):
                gone.append(_suppressed(part, number, len(dense), cells))
            dense.append(array)
            table_of.append(number)
    codes = stacked([variable.shown.codes for variable in read], len(file.frame))
    allowed = [variable.allowed for variable in read]
    values = summed.values
    patterns = patterns_of(codes, allowed, axes, values, counted_tables.keep_apart(values, codes, allowed, axes, sums))
    known = [variable.truth for variable in read if variable.truth is not None]
    truth = np.column_stack(known) if read and len(known) == len(read) else None
    hidden = patterns.hidden[patterns.of_row]
    missing = np.column_stack([variable.missing for variable in read]) if read else np.zeros_like(hidden)
    asked = hidden | missing  # in a column of one level, too, where nothing else is left for a missing value
    for place, variable in enumerate(read):
        if variable.absent is not None:
            asked[:, place] &= ~variable.absent
    return AuditFile(
        tuple(kept), tuple(variable.levels for variable in read), tuple(variable.shown.labels for variable in read),
        patterns, tuple(dense), tuple(table_of), truth, asked, missing & asked, tuple(left_out), tuple(gone),
        tuple(sums), values, summed.notes,
    )  # fmt: skip


def _check_present(name: str, file: RecoveryFile, tables: Sequence[CountedTable]) -> None:
    if name not in file.columns and name in file.frame.columns:
        raise DataError(
            f"tables: the release's column {name!r} holds several types, or periods, lists or structures; give one "
            "plain value per record",
            argument="tables",
        )
    if name not in file.columns:
        which = next(table.called for table in tables if any(column.name == name for column in table.columns))
        raise ColumnError(
            f"tables: {which} has the variable {name!r}, which the release has not; "
            f"{did_you_mean(name, list(file.columns))}. Name the variables (variables=), and its columns as the "
            "release does",
            argument="tables",
        )


@dataclass(frozen=True, eq=False)
class _Variable:
    """One variable: levels, released column, allowed levels by code, true levels, and masks of missing values."""

    levels: Levels
    shown: Column
    allowed: Bools
    truth: Ints | None
    missing: Bools
    absent: Bools | None


def _variable(name: str, file: RecoveryFile, tables: Sequence[Column], hierarchy: Hierarchy | None) -> _Variable | None:
    """Read one variable; None if its values were perturbed."""
    shown = _column(file.columns[name])
    before = None if file.truth is None or name not in file.truth else _column(file.truth[name])
    present = tuple(label for label in shown.labels if label != counted_tables.MISSING)
    gone = shown.codes == len(present)
    columns = [*tables, replace(shown, labels=present), *([] if before is None else [before])]
    levels = finest_levels(name, columns, hierarchy)
    allowed = levels.of(present)
    truth = absent = None
    if before is not None:
        held = levels.of(before.labels)
        if (held.sum(axis=1) == 1).all():
            truth = held.argmax(axis=1)[before.codes]
        place = {label: at for at, label in enumerate(before.labels)}
        absent = before.codes == place.get(counted_tables.MISSING, -1)
    if truth is not None:
        own = _with_truth(allowed, shown.codes[~gone], truth[~gone])
        if own is None:
            return None
        allowed = own
    _check_codes(name, allowed, levels, tables)
    if counted_tables.MISSING in shown.labels:
        allowed = np.vstack([allowed, np.ones(len(levels.finest), np.bool_)])
    return _Variable(levels, shown, allowed, truth, gone, absent)


def _column(column: ReleasedColumn) -> Column:
    """A released column as labels, spelt as in tables; missing values get a label of their own, the last one."""
    end = {"number": ".0", "date": MIDNIGHT}.get(column.coded.kind, "")
    labels = [label.removesuffix(end) for label in column.labels()]
    codes = column.codes.astype(np.int64) - 1
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels.append(counted_tables.MISSING)
    return Column(column.name, tuple(labels), codes)


def _with_truth(allowed: Bools, codes: Ints, truth: Ints) -> Bools | None:
    """Levels each label covers, learnt from the original where a recoding shows; None if values were perturbed.

    A recoding maps each level to a single label; a label that is a level itself keeps it, or several records of each
    moved level agree.
    """
    seen = np.zeros(allowed.shape, np.bool_)
    seen[codes, truth] = True
    other = seen & ~allowed
    if not other.any():
        return allowed
    if (seen.sum(axis=0) > 1).any():
        return None
    moved = np.flatnonzero(other.any(axis=0))
    own = allowed[:, moved] & (allowed.sum(axis=1) == 1)[:, None]
    n_moved = int(np.isin(truth, moved).sum())
    if own.any() and n_moved < 2 * len(moved):
        return None
    never = ~seen.any(axis=0)  # levels absent from the data: their recoding is unknown, so the labels decide
    return np.asarray(seen | (allowed & never))


def _check_codes(name: str, allowed: Bools, levels: Levels, tables: Sequence[Column]) -> None:
    """Raise an error if a table shares no level with the release."""
    released = allowed.any(axis=0)
    for table in tables:
        labels = [label for label in table.labels if label != counted_tables.MISSING]
        if len(allowed) and labels and not (levels.of(labels).any(axis=0) & released).any():
            raise DataError(
                f"column {name!r}: a table has none of the values that the release has; give both the same codes, or "
                "a hierarchy that says which belong together",
                argument="tables",
            )


def _suppressed(part: CountedTable, table: int, dense: int, cells: Ints) -> Suppressed:
    rows = np.flatnonzero(part.suppressed)
    words = (
        ", ".join(
            f"{column.name} = {counted_tables.shown_label(column.labels[column.codes[row]])}" for column in part.columns
        )
        for row in rows
    )
    return Suppressed(table, dense, cells[rows], part.lower[rows], part.upper[rows], tuple(words))


def _dense(table: CountedTable, read: Sequence[_Variable], axes: list[Axis], n: int) -> tuple[Dense, Ints] | None:
    """Bounds of a table's cells as dense arrays, and the flat index of each row; left-out variables are summed over.

    None if no variable of the table is left.
    """
    places = _places(table, read, axes)
    if places is None:
        _check_total(table, table.lower, table.upper, n)
        return None
    at, shape, cells = places
    lower = np.zeros(int(np.prod(shape)), np.int64)
    upper = np.full(len(lower), table.most_unlisted)
    upper[cells] = 0
    np.add.at(lower, cells, table.lower)
    np.add.at(upper, cells, table.upper)
    _check_total(table, lower, upper, n)
    return (at, lower.reshape(shape), np.minimum(upper, counted_tables.ANY).reshape(shape)), cells


def _sums(
    table: CountedTable, number: int, read: Sequence[_Variable], axes: list[Axis], summed: SummedValues
) -> list[SummedCells]:
    """Sums of a table as dense arrays; empty if the release does not show the summed variable."""
    if table.table.sum not in summed.names:
        return []
    places = _places(table, read, axes)
    if (
        places is not None
        and len(places[0]) < len(table.columns)
        and table.table.rounded
        and table.table.counts is not None
    ):
        return []  # absent rows need not be zero sums: marginal sums are unbounded
    of = summed.names.index(table.table.sum)
    at, shape, cells = ((), (), np.zeros(len(table.lower), np.int64)) if places is None else places
    summed_cells = counted_tables.dense_sums(table, number, of, (at, shape, cells), summed)
    return [summed_cells] if at else []


def _places(
    table: CountedTable, read: Sequence[_Variable], axes: list[Axis]
) -> tuple[tuple[int, ...], tuple[int, ...], Ints] | None:
    """Axes of a table in ascending order, their sizes, and the flat cell index of each row; None without axes."""
    of = {variable.levels.name: (place, variable) for place, variable in enumerate(read)}
    at, parts = [], []
    for column in table.columns:
        if column.name not in of:
            continue
        place, variable = of[column.name]
        axis = _axis(place, variable.levels, column, table)
        number = next((i for i, other in enumerate(axes) if _same(other, axis)), len(axes))
        if number == len(axes):
            axes.append(axis)
        at.append(number)
        parts.append(column.codes)
    if not at:
        return None
    order = np.argsort(at)
    shape = tuple(axes[at[i]].n for i in order)
    if np.prod([float(size) for size in shape]) > MOST_CELLS:
        raise DataError(f"tables: {table.called} has more than {MOST_CELLS:,} possible cells; give smaller tables")
    return tuple(at[i] for i in order), shape, np.ravel_multi_index(tuple(parts[i] for i in order), shape)


def _axis(place: int, levels: Levels, column: Column, table: CountedTable) -> Axis:
    """The table's grouping of the finest levels; levels without a label form a last group."""
    held = levels.of(column.labels)
    if (held.sum(axis=0) > 1).any():
        raise DataError(
            f"tables: {table.called}: column {column.name!r} has values that hold each other (a range and a number in "
            "it); name the margin with total=, or give tables apart",
            argument="tables",
        )
    return Axis(place, np.where(held.any(axis=0), held.argmax(axis=0), len(held)), len(held) + 1)


def _same(axis: Axis, other: Axis) -> bool:
    return axis.variable == other.variable and axis.n == other.n and bool((axis.group == other.group).all())


def _check_total(table: CountedTable, lower: Ints, upper: Ints, n: int) -> None:
    low, high = int(lower.sum()), int(min(upper.sum(), counted_tables.ANY))
    if not low <= n <= high:
        between = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        raise DataError(
            f"tables: {table.called} counts {between} records, the release has {n:,}; a table of other people cannot "
            "be audited beside it (leave no cell out, and give a missing value a row of its own)",
            argument="tables",
        )


def contradicted(error: ContradictionError, file: AuditFile, tables: Sequence[CountedTable]) -> DataError:
    """The error that names the contradicting tables, without any value of a record."""
    numbers = error.tables if error.summed else [file.table_of[number] for number in error.tables]
    names = list(dict.fromkeys(tables[number].called for number in numbers))
    if not names:
        what = "counts and sums" if file.sums else "counts"
        says = f"the tables together contradict the release: no file of records has all these {what}"
    elif len(names) == 1:
        is_sum = tables[numbers[0]].table.sum is not None
        other = "values that add up to other sums" if is_sum else "more records than it counts"
        says = (
            f"{names[0]} contradicts the release, which shows {other} in {error.cells:,} cells "
            "(or its own totals do not add up)"
        )
    else:
        says = f"{' and '.join(names)} contradict each other or the release in {error.cells:,} cells"
    return DataError(
        f"tables: {says}; give tables of the same people in the same codes, and say how they were rounded or "
        "suppressed",
        argument="tables",
    )
