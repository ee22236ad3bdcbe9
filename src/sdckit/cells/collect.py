"""Some columns of any frame in memory, and the row of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.cells.plans.lazy import check_collected
from sdckit.data.columns import code_column
from sdckit.data.frames import check_plan_names, collect, count_records, open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError


def columns_in_memory(data: Any, columns: dict[str, Sequence[str]]) -> tuple[nw.DataFrame[Any], bool]:
    """The columns of a frame, by role; of a plan they are brought here, unless they are too many.

    `columns` are by role, to be named in messages. Also says whether `data` is a plan. Raises ColumnError: a column
    is absent; DataError: no records, or too many values to bring here.
    """
    frame = open_frame(data)
    names = frame.collect_schema().names()
    for role, wanted in columns.items():
        for name in wanted:
            if name not in names:
                raise ColumnError(f"{role}: no column {name!r} in the data; {did_you_mean(str(name), names)}")
        check_plan_names(frame, wanted, role)
    if not isinstance(frame, nw.LazyFrame):
        if len(frame) == 0:
            raise DataError("the data has no records")
        return frame, False
    chosen = list(dict.fromkeys(name for wanted in columns.values() for name in wanted))
    n = count_records(frame)
    if n == 0:
        raise DataError("the data has no records")
    check_collected(n, len(chosen))
    return collect(frame.select(*chosen)), True


def groups_of(frame: nw.DataFrame[Any], columns: Sequence[str]) -> tuple[np.ndarray[Any, Any], int]:
    """Number the records by their values in some columns, a missing value being a value."""
    groups = group_codes([code_column(frame[name]).codes() for name in columns], len(frame))
    return groups.of_row, len(groups.size)


def row_of(frame: nw.DataFrame[Any], column: str, value: object) -> int:
    """Where the one record with a value lies, from 0.

    Raises ColumnError: no such column; DataError: no record has the value, several have, or it cannot be compared
    with the column.
    """
    if column not in frame.columns:
        raise ColumnError(
            f"id: no column {column!r} in the data; {did_you_mean(column, frame.columns)}", argument="id"
        )
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
