"""What a release shows of the variables that tables sum, and the tables' sums in the same units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.attacks.published.audit_model import Axis
from sdckit.attacks.published.audit_sums import SummedCells, Unit, apart, in_units, unit_of
from sdckit.attacks.published.counted_tables import CountedTable
from sdckit.attacks.published.summed_tables import rounding_error
from sdckit.attacks.recovery.recovery_files import RecoveryFile
from sdckit.attacks.recovery.released_columns import ReleasedColumn
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats, Ints

NOT_SHOWN = "the release has no numbers in {}: sums of it tell nothing beside it, and are not used"
CHANGED = "values of {} that are shown are not the original's: its sums are not used"
SOME_HIDDEN = "not every value of {} is shown: sums of cells that a record without one may be in are not used"


@dataclass(frozen=True, eq=False)
class SummedValues:
    """The summed variables that a release shows: `names`, `values` (n, S) in whole `units`, NaN where not known.

    `notes` says which are not used, or not everywhere.
    """

    names: tuple[str, ...]
    values: Floats | None
    units: tuple[Unit, ...]
    notes: dict[str, str]


def summed_values(file: RecoveryFile, tables: Sequence[CountedTable]) -> SummedValues:
    """Read every variable that a table sums, where the release shows it as it was.

    What the original lacks, too, adds nothing to a sum; what the release alone lacks may be any number.
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
        found = shown if before is None else _as_it_was(shown, before)
        if found is None:
            why[CHANGED].append(name)
            continue
        if np.isnan(found).any():
            why[SOME_HIDDEN].append(name)
        unit, whole = unit_of(found)
        names.append(name)
        values.append(whole)
        units.append(unit)
    notes = {f"sums_{i}": says.format(", ".join(of)) for i, (says, of) in enumerate(why.items(), 1) if of}
    return SummedValues(tuple(names), np.column_stack(values) if values else None, tuple(units), notes)


def _numbers(column: ReleasedColumn | None) -> Floats | None:
    """The numbers of a column; None where it has others than missing values and numbers one by one."""
    if column is None or column.from_labels or column.coded.kind in ("date", "boolean"):
        return None
    return column.numbers


def _as_it_was(shown: Floats, before: ReleasedColumn) -> Floats | None:
    """What is shown, 0 where the original had no value; None where values were changed into others."""
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
    """The sums of a table as an array in units; what was left out of it is summed over.

    Raises `DataError`: all sums together are another sum than that of the release.
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
    values: Floats | None,
    codes: Ints,
    allowed: Sequence[Bools],
    axes: Sequence[Axis],
    sums: Sequence[SummedCells],
) -> Ints | None:
    """What keeps records (n,) apart that hide what is summed by and differ in what is summed; None without sums."""
    variables = {axes[axis].variable for one in sums for axis in one.axes}
    if values is None or not variables:
        return None
    hidden = np.zeros(len(codes), np.bool_)
    for variable in variables:
        hidden |= (allowed[variable].sum(axis=1) != 1)[codes[:, variable]]
    return apart(values, hidden)
