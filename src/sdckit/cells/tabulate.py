"""From a frame in memory to `Cells`: check columns, code keys, group records, apply the rule for missing values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells import frequencies, packing
from sdckit.cells.plans import attach, count_cells
from sdckit.cells.table import Cells, warn
from sdckit.data.columns import Coded, checked_weight, code_column, code_columns, first_rows, recoded
from sdckit.data.scenarios.roles import Roles, check_columns
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.numerics import coding, grouping
from sdckit.numerics.array_types import Codes, Floats, Ints, Values, Words

MANY_LEVELS = 1000


def tabulate_frame(frame: nw.DataFrame[Any], roles: Roles) -> Cells:
    """Tabulate a frame in memory by its keys.

    Raises ColumnError, DataError: what the columns or their values do not allow; see `as_cells`.
    """
    check_columns(frame.columns, roles)
    if len(frame) == 0:
        raise DataError("the data has no records")
    if len(frame) >= 1 << 31:
        raise DataError("more than two thousand million records: give a plan (DuckDB, Spark, Polars lazy) instead")
    coded = code_columns([frame.get_column(key) for key in roles.keys])
    n_missing = tuple(column.n_missing for column in coded)
    check_missing(roles, n_missing, len(frame), coded)
    weight = None if roles.weight is None else checked_weight(frame[roles.weight])
    table = packing.tabulate(coded, weight)
    _warn_about_keys(coded, table, len(frame))
    size, total = table.size, table.weight
    if roles.person is not None:
        size, total = _persons(frame, roles.person, table, weight)
    return _cells(len(frame), coded, roles, table, size, total, n_missing=n_missing, source=frame)


def tabulate_part(counted: count_cells.Counted, roles: Roles) -> Cells:
    """Tabulate a part of the cells counted by an engine; the keys were checked for all of them."""
    cells = tabulate_counts(counted, roles, whole=False)
    return replace(cells, n=int(cells.table.size.sum()))


def tabulate_counts(counted: count_cells.Counted, roles: Roles, *, whole: bool = True) -> Cells:
    """Tabulate cells counted by an engine; the keys are checked only if the cells are `whole`.

    Raises DataError: what the values of the keys do not allow; messages give counts, since a plan has no row numbers.
    """
    frame, n = counted.frame, counted.n
    coded = count_cells.code_keys(frame, counted.keys)
    table = packing.tabulate(coded, None)
    sizes, k = count_cells.sizes_of(frame), len(table.size)
    n_missing = tuple(0 if column.n_missing == 0 else int(sizes[column.valid == 0].sum()) for column in coded)
    if whole:
        check_missing(roles, n_missing, n)
    size = grouping.sum_by(table.of_row, sizes.astype(np.float64), k).astype(np.int64)
    table = replace(table, size=size)
    if whole:
        _warn_about_keys(coded, table, n)
    brought, total = size, None
    if roles.person is not None:
        brought = grouping.sum_by(table.of_row, frame[count_cells.PERSONS].to_numpy().astype(np.float64), k).astype(
            np.int64
        )
    if roles.weight is not None:
        total = grouping.sum_by(table.of_row, frame[count_cells.WEIGHT].to_numpy().astype(np.float64), k)
    return _cells(n, coded, roles, replace(table, weight=total), brought, total, n_missing=n_missing)


def rows_in_cells(cells: Cells, counted: count_cells.Counted, finer: nw.DataFrame[Any]) -> Codes:
    """The cell of each row of a finer count of the same lazy frame, or of each of its records.

    Raises DataError: a row belongs to no cell, since the records have changed since they were counted.
    """
    words = _words_alike(cells, count_cells.code_keys(finer, counted.keys))
    if words is not None and cells.table.words is not None:
        cell = grouping.look_up(words, cells.table.words)
    else:
        cell = _grouped_with(cells, counted, finer)
    if len(cell) and cell.min() < 0:
        raise DataError(attach.CHANGED)
    return cell


def _words_alike(cells: Cells, columns: Sequence[Coded]) -> Words | None:
    """Rows packed into words with the coding of the cells; None if cells have no words, or columns another coding."""
    layout = cells.table.layout
    if layout is None:
        return None
    fields = []
    for column, known, shift in zip(columns, cells.levels, layout.shifts, strict=True):
        alike = recoded(column, known)
        if alike is None:
            return None
        fields.append((*alike, known.span, shift))
    words = np.empty(len(columns[0].values), np.uint64)
    coding.pack_into(words, fields)
    return words


def _grouped_with(cells: Cells, counted: count_cells.Counted, finer: nw.DataFrame[Any]) -> Codes:
    """The cell of each row, by grouping these rows together with the counted ones; -1 if it belongs to none."""
    rows = nw.concat([counted.frame.select(*cells.keys), finer.select(*cells.keys)])
    group_of = packing.tabulate(code_columns([rows[key] for key in cells.keys]), None).of_row
    n = len(counted.frame)
    cell_of_group = np.full(int(group_of.max()) + 1, -1, np.int32)
    cell_of_group[group_of[:n]] = cells.table.of_row
    return cell_of_group[group_of[n:]]


def check_missing(roles: Roles, n_missing: Sequence[int], n: int, rows: Sequence[Coded] = ()) -> None:
    """Refuse missing values that the rules do not allow, in n records; `rows`: the keys by record, to name row numbers.

    Raises DataError: a key without any value, or with missing values where none may be.
    """
    for j, (key, gone, rule) in enumerate(zip(roles.keys, n_missing, roles.rules, strict=True)):
        if gone == 0:
            continue
        if gone == n:
            raise DataError(f"key {key!r} has no value in any record; leave it out of the keys")
        if rule == "error":
            where = f" ({first_rows(rows[j].valid == 0)})" if rows else ""
            raise DataError(
                f"key {key!r} is missing in {counted(gone, 'record')}{where}, and missing='error'; "
                "complete it or choose 'wildcard' or 'category'"
            )
        if roles.person is not None and rule == "wildcard":
            raise DataError(
                f"key {key!r} has missing values: with person= they must be a level of their own, missing='category', "
                "under which none is taken out until k holds: make keys coarser, or take values out by risk"
            )


def _warn_about_keys(coded: Sequence[Coded], table: packing.Tabulated, n: int) -> None:
    few = min(n, MANY_LEVELS)
    levels_of = [min(c.n_codes, 2) if c.n_codes < few else _n_different(table.codes[j]) for j, c in enumerate(coded)]
    for column, levels in zip(coded, levels_of, strict=True):
        warn_about_key(column.name, levels, column.n_missing, len(table.size), n)


def _n_different(codes: Values) -> int:
    """How many of the codes differ, counted where they are dense; a table of numbers far apart would not fit."""
    dense = int(codes.max()) < MANY_LEVELS + 4 * len(codes)
    return int(np.count_nonzero(np.bincount(codes))) if dense else len(np.unique(codes))


def warn_about_key(key: str, levels: int, n_missing: int, n_cells: int, n: int) -> None:
    """Warn about a key with a single level or with very many (missing counts as a level); `n`: number of records."""
    if levels == 1 and n > 1:
        warn(f"key {key!r} has the same value in every record: it tells nobody apart")
    if n_cells == n > 1 and n_missing == 0 and levels == n:
        warn(f"key {key!r} is different for every record: is it an identifier?")
    elif levels >= MANY_LEVELS:
        warn(f"key {key!r} has {levels} different values: recode it into fewer first")


def _cells(
    n: int, coded: Sequence[Coded], roles: Roles, table: packing.Tabulated, size: Ints,
    total: Floats | None, *, n_missing: tuple[int, ...], source: nw.DataFrame[Any] | None = None,
) -> Cells:  # fmt: skip
    """Cells with records (or persons) `size` and weights `total`, under the rules for missing values in the roles."""
    columns = frequency_columns_of(
        table, counted=size, total=total, missing_codes=[column.span for column in coded],
        wild=[rule == "wildcard" and c.n_missing > 0 for c, rule in zip(coded, roles.rules, strict=True)],
        alpha=roles.alpha, sampling_fraction=roles.sampling_fraction,
    )  # fmt: skip
    return Cells(
        keys=roles.keys, n=n, rules=roles.rules, alpha=roles.alpha, n_missing=n_missing, columns=columns,
        levels=tuple([column.without_rows() for column in coded]), table=table, roles=roles, source=source,
    )  # fmt: skip


def frequency_columns_of(
    table: packing.Tabulated, *, counted: Ints, total: Floats | None,
    missing_codes: Sequence[int], wild: Sequence[bool], alpha: float, sampling_fraction: float | None,
    n_strata: int = 0,
) -> dict[str, Values]:  # fmt: skip
    """``cell_size``, ``sample_frequency`` and ``population_frequency`` of cells, with wildcards matched.

    With wildcards ``strict_frequency`` as well: the sample frequency if other records' missing values matched nothing.
    `counted` and `total`: records (or persons) of each cell and their weight. `n_strata`: how many of the last columns
    are strata instead of keys.
    """
    columns: dict[str, Values] = {"cell_size": table.size}
    frequency: Values = counted
    if any(wild):
        weight = np.zeros(len(counted)) if total is None else total
        matched = frequencies.wildcard_matches(
            table, size=counted.astype(np.float64), weight=weight, missing_codes=missing_codes, wild=wild, alpha=alpha,
            n_strata=n_strata,
        )  # fmt: skip
        columns["strict_frequency"] = np.rint(counted + matched.complete).astype(np.int64)
        frequency = counted + matched.size
        total = None if total is None else total + matched.weight
        if alpha == 1:
            frequency = np.rint(frequency).astype(np.int64)
    columns["sample_frequency"] = frequency
    if total is not None:
        columns["population_frequency"] = total
    elif sampling_fraction is not None:
        columns["population_frequency"] = frequency / sampling_fraction
    return columns


def _persons(
    frame: nw.DataFrame[Any], person: str, table: packing.Tabulated, weight: Floats | None
) -> tuple[Ints, Floats | None]:
    """Number of distinct persons in each cell, and the sum of their weights, each counted once."""
    coded = code_column(frame[person])
    if coded.n_missing:
        rows = first_rows(coded.codes() == coded.span)
        raise DataError(
            f"person {person!r} is missing in {counted(coded.n_missing, 'record')} ({rows}); give every record its "
            "person"
        )
    who = packing.tabulate([coded], None).of_row
    if weight is not None:
        first = weight[grouping.first_of_groups(who, int(who.max()) + 1)]
        if varying := int(np.count_nonzero(weight != first[who])):
            raise DataError(
                f"the weight is not constant within a person in {counted(varying, 'record')}; give each person "
                "one weight"
            )
    pairs = packing.group_codes([table.of_row.astype(np.int64), who.astype(np.int64)], len(who))
    one_row = grouping.first_of_groups(pairs.of_row, len(pairs.size))
    cell_of_pair = table.of_row[one_row]
    k = len(table.size)
    total = None if weight is None else grouping.sum_by(cell_of_pair, weight[one_row], k)
    return np.bincount(cell_of_pair, minlength=k).astype(np.int64), total
