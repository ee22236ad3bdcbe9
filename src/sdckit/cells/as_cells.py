"""`as_cells`: tabulate any data by its keys, be it a frame in memory, a lazy frame on an engine, or cells already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Number
from typing import Any, TypeGuard

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells import packing, tabulate
from sdckit.cells.plans import cells_in_parts, changed_plan, count_cells, key_sizes, lazy, pair_cells
from sdckit.cells.table import AnyCells, Cells
from sdckit.data import arguments, frames, pa, pd, pt
from sdckit.data.columns import code_column, to_arrow
from sdckit.data.frames import collect, count_records
from sdckit.data.missing_values.missing import MissingRule, Rule
from sdckit.data.scenarios.roles import Roles, resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcError
from sdckit.numerics.array_types import Ints

# From a lazy frame to its cells: in memory where they fit, else in parts.


def tabulate_lazy(frame: nw.LazyFrame[Any], roles: Roles, *, learnt: Sequence[str] = ()) -> lazy.PlanCells:
    """Count the cells of a lazy frame on its engine.

    `learnt`: variables whose levels will be counted within cells: where they fit, in the same pass.

    Raises ColumnError, DataError: as `as_cells`; messages give counts, since a plan has no row numbers.
    """
    return frames.built(lambda: _tabulated(frame, roles, learnt))


def _tabulated(frame: nw.LazyFrame[Any], roles: Roles, learnt: Sequence[str]) -> lazy.PlanCells:
    grouped = count_cells.group_keys(frame, roles)
    finer = grouped.by_levels(learnt)
    few = None if finer is grouped else finer.bring_if_few()
    counted = few or cells_in_parts.count_or_put_aside(grouped)
    in_vain = () if few or finer is grouped else tuple(column.name for column in finer.columns)
    if isinstance(counted, cells_in_parts.CellsAside):
        return replace(cells_in_parts.tabulate_parts(grouped, counted), too_many=in_vain)
    here = tabulate.tabulate_counts(counted, roles)
    return lazy.LazyCells(
        keys=roles.keys, n=counted.n, rules=roles.rules, alpha=roles.alpha, n_missing=here.n_missing,
        columns=here.columns, roles=roles, here=here, counted=counted, frame=frame,
        own_columns=tuple(frames.column_names(frame)), too_many=in_vain,
    )  # fmt: skip


def as_cells(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    person: str | None = None,
    missing: MissingRule | None = None,
    alpha: float | None = None,
    id: str | None = None,
    scenario: Scenario | None = None,
) -> AnyCells:
    """Tabulate a file by its keys once, to measure it many times.

    Parameters
    ----------
    data : data frame or Cells
        pandas, Polars (eager or lazy), PyArrow, DuckDB or Spark; cells are handed back as they are.
    keys : sequence of str
        Variables that an intruder could know.
    weight : str, optional
        Column of sampling weights: persons that a record stands for (positive).
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1], instead of a weight.
    person : str, optional
        Column that says which rows belong to one person; frequencies then count persons.
    missing : {"wildcard", "category", "error"} or dict, optional
        What a missing key value means, for all keys or per key; default "wildcard".
    alpha : float, optional
        Weight of a match through another record's missing value, in [0, 1]; default 1.
    id : str, optional
        Column to carry along in `.records`.
    scenario : Scenario, optional
        Gives what is not given here.

    Returns
    -------
    Cells, or LazyCells for a plan
        ``.n``, ``.n_cells``, ``.keys``, ``.columns``.

    Raises
    ------
    ColumnError
        A column is absent or named twice.
    DataError
        No records, a key without any value or of mixed types, weights that are not positive numbers.
    ScenarioError
        No keys, several intruders, roles that contradict each other.

    Examples
    --------
    >>> import polars as pl
    >>> cells = as_cells(pl.DataFrame({"sex": ["f", "f", "m"], "w": [30.0, 10.0, 20.0]}), keys=["sex"], weight="w")
    >>> cells.n, cells.n_cells, sorted(cells.columns["population_frequency"].tolist())
    (3, 2, [20.0, 40.0])

    References
    ----------
    Bishop, Y., Fienberg, S. and Holland, P. (1975). Discrete Multivariate Analysis. MIT Press.
    """
    frame = data if is_cells(data) else frames.open_frame(data)
    # On Spark another pass takes longer than what comes along.
    far = isinstance(frame, nw.LazyFrame) and frames.on_spark(frame)
    return tabulate_given(
        frame, keys=keys, weight=weight, sampling_fraction=sampling_fraction, person=person,
        missing=missing, alpha=alpha, id=id, scenario=scenario, by_levels=far,
    )  # fmt: skip


def tabulate_given(
    data: Any, *, scenario: Scenario | None = None, keys: Sequence[str] | None = None, weight: str | None = None,
    sampling_fraction: float | None = None, household: str | None = None, person: str | None = None,
    sensitive: Sequence[str] | str | None = None, missing: MissingRule | None = None, alpha: float | None = None,
    id: str | None = None, default_missing: Rule = "wildcard", weighted: bool = True, by_levels: bool = False,
) -> AnyCells:  # fmt: skip
    """Tabulate a frame by the roles a measure was given; cells already made are returned.

    `default_missing` is the measure's own rule where neither call nor scenario gives one; `weighted` says whether it
    uses weights at all, `by_levels` whether it counts the levels of a sensitive variable within cells.
    """
    if is_cells(data):
        scenario = arguments.scenario_or_none(scenario)
        if any(given is not None for given in (keys, weight, sampling_fraction, person, missing, alpha, id)):
            raise ScenarioError("keys, weight and the missing rule are fixed by the cells given; leave them out")
        if scenario is not None and tuple(scenario.keys) != tuple(data.keys):
            raise ScenarioError("the cells given were made of other keys than the scenario's; make them anew")
        return data
    roles = resolve_roles(
        scenario=scenario, keys=keys, weight=weight, sampling_fraction=sampling_fraction, household=household,
        person=person, sensitive=sensitive, missing=missing, alpha=alpha, id=id, default_missing=default_missing,
    )  # fmt: skip
    roles = roles if weighted else replace(roles, weight=None, sampling_fraction=None)
    return tabulate_roles(data, roles, by_levels=by_levels)


def is_cells(data: Any) -> TypeGuard[AnyCells]:
    """Whether `data` is tabulated already."""
    return isinstance(data, AnyCells)


def tabulate_roles(data: Any, roles: Roles, *, by_levels: bool = False) -> AnyCells:
    """Tabulate a frame by roles already resolved; cells are returned.

    `by_levels`: whether the levels of sensitive variables will be counted: a lazy frame counts them together
    with its cells.
    """
    if is_cells(data):
        return data
    frame = frames.open_frame(data)
    if isinstance(frame, nw.LazyFrame):
        return tabulate_lazy(frame, roles, learnt=roles.sensitive if by_levels else ())
    return tabulate.tabulate_frame(frame, roles)


def cells_or_sizes(data: Any, keys: Sequence[str]) -> Cells | key_sizes.KeySizes:
    """A file's cells in memory, a missing key value being a level; of a plan whose cells do not fit, their sizes.

    Raises ColumnError, DataError: as `as_cells`; cells made by other keys.
    """
    if is_cells(data):
        if data.keys != tuple(keys):
            raise ColumnError("its cells were made with other keys, or in another order; use the same")
        return data.key_sizes() if isinstance(data, cells_in_parts.PartedCells) else data.as_categories().in_memory()
    frame, roles = frames.open_frame(data), resolve_roles(keys=keys, default_missing="category")
    if not isinstance(frame, nw.LazyFrame):
        return tabulate.tabulate_frame(frame, roles)
    grouped = frames.built(lambda: count_cells.group_keys(frame, roles))
    counted = frames.built(lambda: cells_in_parts.count_or_put_aside(grouped))
    if isinstance(counted, cells_in_parts.CellsAside):
        return frames.built(lambda: key_sizes.deal_sizes(frame, keys, grouped.n, counted.pieces))
    return tabulate.tabulate_counts(counted, roles)


# Some columns of any frame, brought into memory, and the row of a record.


def columns_in_memory(data: Any, columns: dict[str, Sequence[str]], files: int = 1) -> tuple[nw.DataFrame[Any], bool]:
    """The columns of a frame in memory; those of a lazy frame are collected unless they are too many.

    `columns` are by role, which messages name; `files` share the room. Also returns whether `data` is a
    lazy frame. Raises ColumnError: a column is absent; DataError: no records, or too many values to collect.
    """
    frame = frames.open_frame(data)
    names = frames.column_names(frame)
    for role, wanted in columns.items():
        arguments.present(wanted, names, role)
        frames.check_plan_names(frame, wanted, role)
    if not isinstance(frame, nw.LazyFrame):
        if len(frame) == 0:
            raise DataError("the data has no records")
        return with_plain_numbers(frame, columns.get("id", ())), False
    chosen = list(dict.fromkeys(name for wanted in columns.values() for name in wanted))
    count_cells.refuse_spans(frame, chosen)
    n = count_records(frame)
    if n == 0:
        raise DataError("the data has no records")
    lazy.check_collected(n, len(chosen), frame, files)
    own = frame.select(*(chosen or frame.collect_schema().names()[:1]))  # of no column a plan has no rows
    if frame.implementation.is_polars():  # categories without an order would come in that of their dictionary
        free = [name for name, kind in own.collect_schema().items() if kind == nw.Categorical]
        own = own.with_columns(*(nw.col(name).cast(nw.String) for name in free)) if free else own
    return collect(own), True


def with_plain_numbers(frame: Any, without: Sequence[str] = ()) -> Any:
    """A frame of pandas whose columns of objects that are all numbers are columns of numbers, as with other engines.

    pandas keeps numbers beside None so, and narwhals calls neither them nor decimals numeric. Mixed types stay.

    >>> import pandas as pd
    >>> from sdckit.data.frames import open_frame
    >>> frame = open_frame(pd.DataFrame({"age": [31.5, None], "sex": ["f", "m"]}, dtype=object))
    >>> with_plain_numbers(frame).schema
    Schema([('age', Float64), ('sex', String)])
    """
    if not (isinstance(frame, nw.DataFrame) and frame.implementation.is_pandas()):
        return frame
    native, made = frame.to_native(), {}
    for name in frame.columns:
        values = native[name].array if native[name].dtype == object and name not in without else ()
        plain = (value for value in values if isinstance(value, (str, Number)))
        first = next((value for value in plain if not isinstance(value, float) or not math.isnan(value)), None)
        if isinstance(first, Number):  # a column of texts costs no look at all of them
            with suppress(DataError):
                array = to_arrow(frame[name])
                if pt.is_integer(array.type) or pt.is_floating(array.type) or pt.is_decimal(array.type):
                    made[name] = pd.arrays.ArrowExtensionArray(array)
    return nw.from_native(native.assign(**made), eager_only=True) if made else frame


def readable_columns(plan: nw.LazyFrame[Any]) -> list[str]:
    """The columns of a plan that come here as single values, by names that its engine does not misread."""
    kinds, readable = plan.collect_schema(), []
    for name in frames.plain_columns(plan):
        with suppress(SdcError):
            frames.check_plan_names(plan, [name])
            count_cells.refuse_spans(plan, [name])
            readable += [name] if kinds[name] != nw.Unknown else []
    return readable


def coded_in_memory(plan: nw.LazyFrame[Any], columns: Sequence[str]) -> nw.DataFrame[Any]:
    """Columns of a plan as a PyArrow table, read once, texts as codes; of unreadable ones that they hold lists.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> plan = open_frame(pl.LazyFrame({"job": ["b", "a", "b"], "all": [[1], [2], [3]]}))
    >>> here = coded_in_memory(plan, ["job", "all"])
    >>> here["job"].to_list(), here["all"].to_list(), here["all"].dtype.is_nested()
    (['b', 'a', 'b'], [None, None, None], True)
    """
    readable = [name for name in readable_columns(plan) if name in columns]
    table = pa.concat_tables([_coded_texts(block.to_native()) for block in frames.blocks(plan, readable, AT_ONCE)])
    table = table.unify_dictionaries()
    for name in columns:
        if name not in readable:
            table = table.append_column(name, pa.nulls(len(table), pa.list_(pa.null())))
    return nw.from_native(table, eager_only=True)


AT_ONCE = 1 << 18  # records that are coded at a time


def _coded_texts(table: pa.Table) -> pa.Table:
    for at, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        if changed_plan.is_text(kind) and not pt.is_dictionary(kind):
            table = table.set_column(at, name, table.column(at).cast(pa.large_string()).dictionary_encode())
    return table


def groups_of(frame: nw.DataFrame[Any], columns: Sequence[str]) -> tuple[np.ndarray[Any, Any], int]:
    """Group number of each record by its values in some columns, missing being a value; and the number of groups."""
    groups = packing.group_codes([code_column(frame[name]).codes() for name in columns], len(frame))
    return groups.of_row, len(groups.size)


def group_sizes(frame: frames.Frame, columns: Sequence[str], n: int) -> Ints:
    """The records of each group of n by some columns, missing being a value; of a plan counted by its engine."""
    if isinstance(frame, nw.LazyFrame):
        return pair_cells.count_file(frame, columns, n)[1]
    of_row, n_groups = groups_of(frame, columns)
    return np.bincount(of_row, minlength=n_groups)


def row_of(frame: nw.DataFrame[Any], column: str, value: object) -> int:
    """Row, from 0, of the only record with a value in a column.

    Raises ColumnError: no such column; DataError: no record has the value, several have, or it cannot be compared
    with the column.
    """
    arguments.present([column], frame.columns, "id", argument="id")
    coded = code_column(frame[column])
    codes = np.unique(coded.codes())
    codes = codes[codes < coded.span]
    labels = coded.labels(codes)
    printed = {str(value)}
    if isinstance(value, float) and value.is_integer():
        printed.add(str(int(value)))  # whole numbers print without a decimal point
    hit = [code for code, label in zip(codes.tolist(), labels, strict=True) if label in printed]
    rows = np.flatnonzero(coded.codes() == hit[0]) if hit else np.empty(0, np.int64)
    if len(rows) != 1:
        how_many = "no record has" if len(rows) == 0 else f"{len(rows)} records have"
        raise DataError(f"{how_many} the value given in column {column!r}; give one that a single record has")
    return int(rows[0])
