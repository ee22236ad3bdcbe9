"""The combinations of a model's columns in files that stay on an engine, with the weights of their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.pair import Pair, check_present, open_files
from sdckit.cells.plans.count_cells import PREFIX, SIZE, TooManyCellsError, key_columns, most_cells, too_many
from sdckit.cells.plans.estimate_sums import WEIGHT, check_weights
from sdckit.cells.plans.lazy import TooMuchError, check_collected
from sdckit.cells.plans.pair_cells import check_records
from sdckit.cells.plans.pair_sums import known_number
from sdckit.cells.plans.pair_tables import MOST_TOPS, Sum, count_sets
from sdckit.data import pc
from sdckit.data.frames import check_plan_names, count_records, is_lazy
from sdckit.numerics.array_types import Floats


@dataclass(frozen=True, eq=False)
class CellWeights:
    """Survey weights of the records of each cell: how many are above 0, their sum, that of their squares, the largest.

    `records`, `total`, `squares` (k,); `tops` (k, 4), 0 where a cell has fewer.
    """

    records: Floats
    total: Floats
    squares: Floats
    tops: Floats


@dataclass(frozen=True, eq=False)
class ModelCells:
    """Files as their cells, `pair.times` records each; with survey weights those of each file, else None."""

    pair: Pair
    weights: list[CellWeights] | None


def model_cells(opened: Pair, columns: Sequence[str], weight: str | None) -> ModelCells | None:
    """The cells of plans by some columns, missing values apart; None where they do not fit but the columns do.

    None, too, where a file is in memory.

    Raises ColumnError: a file lacks a column; DataError: no records, weights that cannot be, more cells than fit here.
    """
    if not all(map(is_lazy, opened.frames)) or not columns:
        return None
    files: list[tuple[Any, str]] = list(zip(opened.frames, opened.names, strict=True))
    own = {"formula": columns, **({} if weight is None else {"weight": (weight,)})}
    check_present([(frame, own, label) for frame, label in files])
    for frame, _ in files:
        check_plan_names(frame, columns, "formula")
    sizes = [count_records(frame) for frame, _ in files]
    check_records(sizes, opened.names)
    if weight is not None:
        check_weights(opened, weight)
    try:
        counted = [_counted(frame, columns, weight, n) for (frame, _), n in zip(files, sizes, strict=True)]
    except TooManyCellsError as error:
        try:
            check_collected(max(sizes), sum(map(len, own.values())), files[0][0], len(files))
        except TooMuchError:
            raise error from None
        return None
    tables = [table for table, _, _ in counted]
    pair = replace(open_files(tables[0], tables[1:]), times=tuple(times for _, times, _ in counted))
    return ModelCells(pair, None if weight is None else [weights for _, _, weights in counted])


def _counted(frame: nw.LazyFrame[Any], columns: Sequence[str], weight: str | None, n: int) -> tuple[Any, Any, Any]:
    keys = {f"{PREFIX}v{at}": key.value for at, key in enumerate(key_columns(frame, columns))}
    most = most_cells(len(keys) + (0 if weight is None else MOST_TOPS + 3), frame)
    if n > most:
        rows = frame.select(*(value.alias(name) for name, value in keys.items())).unique()
        if (many := count_records(rows)) > most:
            raise too_many(many, len(keys), most, frame)
    inputs: dict[str, nw.Expr] = {}
    sums: dict[str, Sum] = {}
    if weight is not None:
        value = known_number(weight)
        inputs = {WEIGHT: value, f"{WEIGHT}w": value * value, f"{WEIGHT}p": (value > 0).cast(nw.Int64).cast(nw.Float64)}
        sums = {
            f"{PREFIX}n": ("sum", f"{WEIGHT}p"), f"{PREFIX}s": ("sum", WEIGHT), f"{PREFIX}q": ("sum", f"{WEIGHT}w"),
            f"{PREFIX}t": ("tops", WEIGHT),
        }  # fmt: skip
    (table,) = count_sets(frame, keys, [list(keys)], inputs, sums)
    times = table.column(SIZE).to_numpy().astype(np.int64)
    weights = None
    if weight is not None:
        records, total, squares = (table.column(f"{PREFIX}{part}").to_numpy().astype(np.float64) for part in "nsq")
        weights = CellWeights(records, total, squares, _padded(table.column(f"{PREFIX}t")))
    return table.select(list(keys)).rename_columns(list(columns)), times, weights


def _padded(lists: Any) -> Floats:
    """Lists of numbers as rows, descending, with 0 behind those of shorter ones."""
    out = np.zeros((len(lists), MOST_TOPS))
    lengths = pc.list_value_length(lists).to_numpy()
    out[np.arange(MOST_TOPS) < lengths[:, None]] = pc.list_flatten(lists).to_numpy()
    rows: Floats = -np.sort(-out, axis=1)
    return rows
