"""Published tables of counts or sums as cells with lower and upper bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sdckit.attacks.published.audit_model import Axis, SummedCells, Unit, apart, in_units, unit_of
from sdckit.attacks.recovery import recovery_files, touched_cells
from sdckit.cells.as_cells import columns_in_memory
from sdckit.data import arguments, frames, nearest
from sdckit.data.columns import MIDNIGHT, distinct_values, float_values
from sdckit.data.files.readers import read_file
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics.array_types import Bools, Floats, Ints, Values
from sdckit.numerics.grouping import first_of_groups, group

# A published table: counts by some variables or sums of a number; exact, rounded, or with suppressed cells.


Rounding = Literal["random", "nearest"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublishedTable:
    """A table that was, or will be, published of the people in a file: what it counts, and how exactly.

    Parameters
    ----------
    variables : sequence of str, optional
        Variables whose combinations are its cells. Alone: the table is counted from the original. With `counts`: all
        columns but `count` and `sum` unless given.
    counts : data frame or path, optional
        The table itself, a row per cell: a CSV or Excel file or a frame. A cell without a row has no records (of a
        rounded table no more than are rounded to 0), a row without a count is suppressed.
    count : str
        The column of counts; default ``"n"``.
    sum : str, optional
        A numeric variable: the table then holds its sums over the records of each cell, and no counts. In `counts` the
        column of that name holds them; a cell without a row has the sum 0, one without a sum is suppressed.
    rounded : int, optional
        Base to which the counts or sums are rounded, 2 or more.
    rounding : {"random", "nearest"}
        To one of the two multiples next to the count, drawn (so that it may be up to a base off), or to the nearest.
    suppressed_below : int, optional
        A suppressed cell has fewer records than this; left out, any number. Cells that hide others belong to the
        second kind. Of a suppressed sum nothing is taken to be known.
    total : str, optional
        How the table names a margin: where a row has it in place of a level, the count is a total.
    name : str
        What it is called in results; default its variables, after ``Σ`` and the variable that is summed.

    Attributes
    ----------
    called : str
        Its name, else its variables.

    Raises
    ------
    DataError
        Neither variables nor counts, or an argument out of range.

    Examples
    --------
    >>> PublishedTable(variables=["region", "sex"], rounded=5)
    PublishedTable(region × sex, rounded to 5)
    >>> PublishedTable(variables=["region", "sex"], sum="income", rounded=1000)
    PublishedTable(Σ income: region × sex, rounded to 1000)
    """

    variables: Sequence[str] | None = None
    counts: Any = None
    count: str = "n"
    sum: str | None = None
    rounded: int | None = None
    rounding: Rounding = "random"
    suppressed_below: int | None = None
    total: str | None = None
    name: str = ""

    def __post_init__(self) -> None:
        variables = arguments.names(self.variables, "variables")
        if variables is None and self.counts is None:
            raise DataError("a published table has variables, or counts, or both", argument="variables")
        if variables is not None and not variables:
            raise DataError("variables is empty; name what the table counts by", argument="variables")
        arguments.column(self.count, "count")
        if self.sum is not None:
            arguments.column(self.sum, "sum")
        if self.rounded is not None:
            arguments.count(self.rounded, "rounded", "is the base of rounded counts", at_least=2)
        arguments.choice(self.rounding, "rounding", ("random", "nearest"))
        if self.suppressed_below is not None:
            says = "is the count from which on cells are shown"
            arguments.count(self.suppressed_below, "suppressed_below", says, at_least=2)
        if self.total is not None:
            arguments.text(self.total, "total")
        object.__setattr__(self, "variables", variables)
        arguments.text(self.name, "name")
        if variables and self.sum is not None and self.sum in variables:
            raise ColumnError(f"{self.sum!r} is named as a variable of the table and as its sum", argument="sum")
        if variables and self.sum is None and self.count in variables:
            raise ColumnError(f"{self.count!r} is named as a variable of the table and as its count", argument="count")

    @property
    def called(self) -> str:
        """Its name, else its variables."""
        if self.name:
            return self.name
        if self.variables:
            words = " × ".join(self.variables)
            return words if self.sum is None else f"Σ {self.sum}: {words}"
        return self.counts.name if isinstance(self.counts, Path) else "a table of counts"

    def __repr__(self) -> str:
        """Its name and how exact it is; no count."""
        words = [self.called]
        words += [f"rounded to {self.rounded}"] if self.rounded else []
        words += [f"suppressed below {self.suppressed_below}"] if self.suppressed_below else []
        return f"PublishedTable({', '.join(words)})"


def as_tables(given: Any) -> tuple[PublishedTable, ...]:
    """Convert names of variables, frames and paths to published tables; those given as such are kept.

    Raises `DataError`: there is none, or one is none of these.

    >>> as_tables([["region", "sex"], PublishedTable(variables=["age"])])
    (PublishedTable(region × sex), PublishedTable(age))
    """
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
        raise DataError(
            'tables is a list: of names of variables, such as [["region", "sex"]], of frames or files of counts, or '
            "of PublishedTable",
            argument="tables",
        )
    if not given:
        raise DataError("tables is empty; name at least one", argument="tables")
    return tuple(_as_table(table) for table in given)


def _as_table(table: Any) -> PublishedTable:
    if isinstance(table, PublishedTable):
        return table
    if isinstance(table, (str, Path)):
        return PublishedTable(counts=Path(table))
    if isinstance(table, (list, tuple)):
        return PublishedTable(variables=table)
    if any(frames.really_has(table, name) for name in ("columns", "column_names", "collect_schema")):
        return PublishedTable(counts=table)
    raise DataError(
        "tables: one is neither a list of variables nor a frame, a file or a PublishedTable", argument="tables"
    )


def declared_tables(declared: Sequence[Mapping[str, Any]], folder: Path) -> tuple[PublishedTable, ...]:
    """The tables declared in a scenario; file names are relative to the scenario's folder.

    Raises `ScenarioError`: one contradicts itself.

    >>> declared_tables([{"variables": ["region"], "rounded": 3}], Path())
    (PublishedTable(region, rounded to 3),)
    """
    tables = []
    for number, entries in enumerate(declared, 1):
        given = dict(entries)
        file = given.pop("file", None)
        try:
            tables.append(PublishedTable(counts=None if file is None else folder / file, **given))
        except (DataError, ColumnError) as error:
            raise ScenarioError(f"tables[{number}]: {error}") from None
    return tuple(tables)


ANY = 2**40  # upper bound of an unbounded count; larger than any count
MISSING = "\udcff"  # label of a missing value: a lone surrogate, which no text of a column can hold


@dataclass(frozen=True, eq=False)
class Column:
    """A coded column: labels (the missing value last, if any) and the code of each row."""

    name: str
    labels: tuple[str, ...]
    codes: Ints


@dataclass(frozen=True, eq=False)
class CountedTable:
    """The cells of a table with bounds.

    `columns`: the variables, a row per cell. `lower`, `upper` (C,): bounds of the count, or of the sum for a table
    with a `sum`. `totals`: its margins, each a table of its own. `suppressed` (C,): whether a cell is suppressed.
    """

    table: PublishedTable
    columns: tuple[Column, ...]
    lower: Values
    upper: Values
    totals: tuple[CountedTable, ...]
    suppressed: Bools

    @property
    def called(self) -> str:
        """Its name."""
        return self.table.called

    @property
    def most_unlisted(self) -> int:
        """Largest count of a cell without a row: 0, or the largest that may be rounded to 0."""
        return 0 if self.table.rounded is None else _most_off(self.table)


def labelled(series: Any) -> Column:
    """Code a column by labels; whole numbers get the same label as integers and as floats."""
    distinct = distinct_values(series)
    labels = [_label(value) for value in distinct.values]
    codes = distinct.codes.astype(np.int64)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels.append(MISSING)
    names = list(dict.fromkeys(labels))
    place = {name: i for i, name in enumerate(names)}
    return Column(series.name, tuple(names), np.array([place[label] for label in labels], np.int64)[codes])


def shown_label(label: str) -> str:
    """A label in words: a missing value and the empty text are named."""
    return "missing" if label == MISSING else label or '""'


def without_missing(labels: Sequence[str], codes: Ints) -> tuple[list[str], Ints]:
    """Labels without that of a missing value, and the codes (n,) among them, -1 where missing.

    >>> kept, codes = without_missing(["", MISSING, "x"], np.array([0, 1, 2]))
    >>> kept, codes.tolist()
    (['', 'x'], [0, -1, 1])
    """
    kept = [label for label in labels if label != MISSING]
    place = {label: i for i, label in enumerate(kept)}
    return kept, np.array([place.get(label, -1) for label in labels], np.int64)[codes]


def _label(value: Any) -> str:
    if isinstance(value, datetime):
        return str(value).removesuffix(MIDNIGHT)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return str(int(value))
    return str(value)


def count_table(table: PublishedTable, original: Any) -> CountedTable:
    """Read the counts of a table, or tabulate the original.

    Raises `ColumnError`: a column is absent; `DataError`: counts that are none, a cell that stands twice, no original
    to count in; `FileFormatError`: the file cannot be read.
    """
    if table.counts is not None:
        table, frame, columns = table_frame(table)
        return with_totals(table, columns, *_read_counts(table, frame))
    own, of_row = _original_cells(table, original, "counted in the original", "counts (PublishedTable(counts=...))")
    counts = np.bincount(of_row, minlength=len(own[0].codes)).astype(np.int64)
    gone = (counts > 0) & (counts < (table.suppressed_below or 0))
    return CountedTable(table, own, *_as_published(table, counts, gone), (), gone)


def _original_cells(table: PublishedTable, original: Any, done: str, instead: str) -> tuple[tuple[Column, ...], Ints]:
    """The cells that a table has in the original, and the cell of each record."""
    if original is None:
        raise DataError(
            f"tables: {table.called} is to be {done}; give it (original=), or the {instead}", argument="tables"
        )
    names = tuple(table.variables or ())
    for name in names:
        require_column(name, original.columns, f"tables: {table.called}: the original")
    columns = [labelled(original[name]) for name in names]
    of_row, cells = cells_of(columns)
    return tuple(replace(column, codes=column.codes[cells]) for column in columns), of_row


def cells_of(columns: list[Column]) -> tuple[Ints, Ints]:
    """The cell index of each row, and a representative row of each cell."""
    packed = np.zeros(len(columns[0].codes), np.uint64)
    for column in columns:
        packed = packed * np.uint64(len(column.labels)) + column.codes.astype(np.uint64)
    groups = group(packed)
    return groups.of_row.astype(np.int64), first_of_groups(groups.of_row, len(groups.size))


def _as_published(table: PublishedTable, counts: Ints, gone: Bools) -> tuple[Ints, Ints]:
    """Bounds of true counts after the table's rounding and suppression of those `gone`."""
    lower = upper = counts
    if table.rounded is not None:
        base = table.rounded
        lower, upper = _rounded(table, base * ((2 * counts + base) // (2 * base)))
    return np.where(gone, 1, lower), np.where(gone, (table.suppressed_below or 1) - 1, upper)


def _rounded(table: PublishedTable, shown: Ints) -> tuple[Ints, Ints]:
    most = _most_off(table)
    return np.maximum(shown - most, 0), shown + most


def _most_off(table: PublishedTable) -> int:
    """Largest rounding error of a count."""
    base = table.rounded or 1
    return base - 1 if table.rounding == "random" else base // 2


def require_column(name: str, names: Any, what: str) -> None:
    """Raise an error if a column is absent."""
    if name not in names:
        raise ColumnError(f"{what} has no column {name!r}; {nearest.did_you_mean(name, names)}", argument="tables")


def table_frame(table: PublishedTable) -> tuple[PublishedTable, Any, list[Column]]:
    """Read a table: its completed description, the frame, and its coded variables.

    Raises `ColumnError`: a column is absent; `DataError`: it has no variables; `FileFormatError`: the file cannot be
    read.
    """
    data = table.counts
    data = read_file(data, missing="") if isinstance(data, (str, Path)) else data
    frame, _ = columns_in_memory(data, {"tables": ()})
    what = f"tables: {table.called}"
    own = table.count if table.sum is None else table.sum
    for name in (own, *(table.variables or ())):
        require_column(name, frame.columns, what)
    numbers = (own,) if table.sum is None else (table.sum, table.count)
    variables = table.variables or [column for column in frame.columns if column not in numbers]
    if not variables:
        says = "no variables, only a count" if table.sum is None else "no variables, only a sum"
        raise DataError(f"{what} has {says}", argument="tables")
    called = table.name or table.called
    if not table.name and table.sum is not None and not isinstance(table.counts, Path):
        called = ""  # the variables name it better
    table = replace(table, variables=tuple(variables), name=called)
    return table, frame, [labelled(frame[name]) for name in variables]


def _read_counts(table: PublishedTable, frame: Any) -> tuple[Ints, Ints, Bools]:
    what = f"tables: {table.called}"
    try:
        counts = float_values(frame[table.count], "count")
    except DataError:
        raise DataError(
            f"{what}: the column {table.count!r} is not all counts; leave the count of a suppressed cell empty"
        ) from None
    gone = np.isnan(counts)
    whole = np.where(gone, 0.0, counts)
    if (whole < 0).any() or (whole != np.floor(whole)).any() or (whole >= ANY).any():
        raise DataError(f"{what}: the column {table.count!r} holds what is no count (negative, or not whole)")
    shown = whole.astype(np.int64)
    lower, upper = (shown, shown) if table.rounded is None else _rounded(table, shown)
    most = ANY if table.suppressed_below is None else table.suppressed_below - 1
    return np.where(gone, 0, lower), np.where(gone, most, upper), gone


def _of_rows(column: Column, rows: Ints) -> Column:
    """Some rows of a column, with only the labels that occur in them."""
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return Column(column.name, tuple(column.labels[code] for code in used), codes.ravel())


def with_totals(
    table: PublishedTable, columns: list[Column], lower: Values, upper: Values, gone: Bools
) -> CountedTable:
    """Separate the inner cells from the margins; each cell may occur only once."""
    is_total = np.column_stack([
        column.codes == (column.labels.index(table.total) if table.total in column.labels else -1) for column in columns
    ])  # fmt: skip
    kinds, of = np.unique(is_total, axis=0, return_inverse=True)
    own: CountedTable | None = None
    totals = []
    for number, kind in enumerate(kinds):
        rows = np.flatnonzero(of.ravel() == number)
        kept = [_of_rows(column, rows) for column, gone in zip(columns, kind, strict=True) if not gone]
        if kept and len(cells_of(kept)[1]) < len(rows):
            raise DataError(f"tables: {table.called}: a cell stands there twice; each has one row")
        part = CountedTable(table, tuple(kept), lower[rows], upper[rows], (), gone[rows])
        if kind.any():
            totals.append(part)
        else:
            own = part
    if own is None:
        raise DataError(f"tables: {table.called} has only totals, no cell")
    return replace(own, totals=tuple(totals))


# Published sums of a numeric variable as cells with bounds.


def read_table(table: PublishedTable, original: Any) -> CountedTable:
    """Read a table of counts or sums, or compute it from the original; see `count_table` and `sum_table`."""
    return count_table(table, original) if table.sum is None else sum_table(table, original)


def sum_table(table: PublishedTable, original: Any) -> CountedTable:
    """Read the sums of a table, or compute them from the original, where missing values count as 0.

    Raises `ColumnError`: a column is absent; `DataError`: sums that are none, a cell that stands twice, no original to
    add up; `FileFormatError`: the file cannot be read.
    """
    if table.counts is not None:
        table, frame, columns = table_frame(table)
        sums = _column_numbers(frame, table, "leave the sum of a suppressed cell empty")
        gone = np.isnan(sums)
        return with_totals(table, columns, *_sum_bounds(table, sums, gone), gone)
    instead = "sums (PublishedTable(counts=..., sum=...))"
    own, of_row = _original_cells(table, original, "added up in the original", instead)
    require_column(str(table.sum), original.columns, f"tables: {table.called}: the original")
    values = np.nan_to_num(_column_numbers(original, table, "give a numeric variable"))
    counts = np.bincount(of_row, minlength=len(own[0].codes))
    total: Floats = np.bincount(of_row, values, len(counts)).astype(np.float64)
    gone = counts < (table.suppressed_below or 0)
    if table.rounded is not None:
        total = table.rounded * np.floor(total / table.rounded + 0.5)
    return CountedTable(table, own, *_sum_bounds(table, total, gone), (), gone)


def _column_numbers(frame: Any, table: PublishedTable, do: str) -> Floats:
    what = f"tables: {table.called}"
    try:
        numbers = float_values(frame[str(table.sum)], "sum")
    except DataError:
        raise DataError(f"{what}: the column {table.sum!r} is not all numbers; {do}", argument="tables") from None
    if np.isinf(numbers).any():
        raise DataError(f"{what}: the column {table.sum!r} holds infinite numbers; {do}", argument="tables")
    return numbers


def _sum_bounds(table: PublishedTable, sums: Floats, gone: Bools) -> tuple[Floats, Floats]:
    """Bounds of sums after rounding; infinite for suppressed ones."""
    off = rounding_error(table)
    return np.where(gone, -np.inf, sums - off), np.where(gone, np.inf, sums + off)


def rounding_error(table: PublishedTable) -> float:
    """Largest rounding error of a sum."""
    if table.rounded is None:
        return 0.0
    return float(table.rounded) if table.rounding == "random" else table.rounded / 2


# The summed variables as shown in a release, and the tables' sums in the same units.


NOT_SHOWN = "the release has no numbers in {}: sums of it tell nothing beside it, and are not used"
CHANGED = "values of {} that are shown are not the original's: its sums are not used"
SOME_HIDDEN = "not every value of {} is shown: sums of cells that a record without one may be in are not used"


@dataclass(frozen=True, eq=False)
class SummedValues:
    """Summed variables shown in a release: `names`, `values` (n, S) in integer `units`, NaN where not known.

    `notes` says which are not used, or not everywhere.
    """

    names: tuple[str, ...]
    values: Floats | None
    units: tuple[Unit, ...]
    notes: dict[str, str]


def summed_values(file: recovery_files.RecoveryFile, tables: Sequence[CountedTable]) -> SummedValues:
    """Read every summed variable that the release shows unperturbed.

    Values missing in the original count as 0; values missing only in the release are unknown.
    """
    names, values, units = [], [], []
    why: dict[str, list[str]] = {CHANGED: [], NOT_SHOWN: [], SOME_HIDDEN: []}
    for name in dict.fromkeys(table.table.sum for table in tables):
        if name is None:
            continue
        before = None if file.truth is None else file.truth.get(name)
        shown = _numbers(file.columns.get(name))
        if shown is None:
            why[NOT_SHOWN].append(name)
            continue
        usable = shown if before is None else _as_it_was(shown, before)
        if usable is None:
            why[CHANGED].append(name)
            continue
        if np.isnan(usable).any():
            why[SOME_HIDDEN].append(name)
        unit, whole = unit_of(usable)
        names.append(name)
        values.append(whole)
        units.append(unit)
    notes = {f"sums_{i}": says.format(", ".join(of)) for i, (says, of) in enumerate(why.items(), 1) if of}
    return SummedValues(tuple(names), np.column_stack(values) if values else None, tuple(units), notes)


def _numbers(column: touched_cells.ReleasedColumn | None) -> Floats | None:
    """The numbers of a column; None unless all values are single numbers or missing."""
    if column is None or column.from_labels or column.coded.kind in ("date", "boolean"):
        return None
    return column.numbers


def _as_it_was(shown: Floats, before: touched_cells.ReleasedColumn) -> Floats | None:
    """Shown values with 0 where the original is missing; None if values were perturbed."""
    truth = _numbers(before)
    if truth is None:
        return None
    both = ~np.isnan(shown) & ~np.isnan(truth)
    if (~np.isnan(shown) & np.isnan(truth)).any() or (shown[both] != truth[both]).any():
        return None
    return np.where(np.isnan(truth), 0.0, shown)


def dense_sums(
    table: CountedTable, number: int, of: int, places: tuple[tuple[int, ...], tuple[int, ...], Ints],
    summed: SummedValues,
) -> SummedCells:  # fmt: skip
    """Sums of a table as dense bounds in units; left-out variables are summed over.

    Raises `DataError`: the grand total differs from that of the release.
    """
    at, shape, cells = places
    off = rounding_error(table.table)
    size = int(np.prod(shape, dtype=np.int64))
    lower, upper = np.full(size, -off), np.full(size, off)
    lower[cells] = upper[cells] = 0.0
    np.add.at(lower, cells, table.lower)
    np.add.at(upper, cells, table.upper)
    is_open = table.table.rounded is not None and table.table.rounding == "random"
    lower, upper = in_units(lower, upper, summed.units[of], is_open=is_open)
    values = None if summed.values is None else summed.values[:, of]
    if values is not None and not lower.sum() <= values.sum() <= upper.sum() and not np.isnan(values).any():
        raise DataError(
            f"tables: {table.called} adds up to another sum than the values of the release; a table of other people, "
            "or of values before they were changed, cannot be audited beside it (leave no cell out, and give a missing "
            "value of a variable a row of its own)",
            argument="tables",
        )
    return SummedCells(number, of, at, lower.reshape(shape), upper.reshape(shape))


def keep_apart(
    values: Floats | None, codes: Ints, allowed: Sequence[Bools], axes: Sequence[Axis], sums: Sequence[SummedCells]
) -> Ints | None:
    """Labels (n,) that separate records that hide a classifying variable of a sum but differ in the summed values.

    None without sums.
    """
    variables = {axes[axis].variable for sum_ in sums for axis in sum_.axes}
    if values is None or not variables:
        return None
    hidden = np.zeros(len(codes), np.bool_)
    for variable in variables:
        hidden |= (allowed[variable].sum(axis=1) != 1)[codes[:, variable]]
    return apart(values, hidden)
