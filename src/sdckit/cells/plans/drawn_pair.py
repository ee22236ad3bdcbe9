"""Rows of an original and its releases that stay on an engine, drawn by their id and brought together."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import Pair, open_files
from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.count_cells import PREFIX, key_columns
from sdckit.data.columns import code_column
from sdckit.data.drawn_rows import KEY_BYTES, hash_ids
from sdckit.data.frames import on_spark, open_frame
from sdckit.numerics.array_types import Ints
from sdckit.numerics.grouping import first_of_groups

PLACE = f"{PREFIX}drawn"


def draw_records(pair: Pair, n: int, *, seed: int | None, household: str | None = None) -> Pair:
    """The original as it was collected and its releases with about n of their rows, in memory, in an order by chance.

    Rows are drawn by a hash of the id, or of the household, whose rows come together. Raises DataError: an id that
    does not name each row once, or that a file lacks.
    """
    id, files = str(pair.id), (pair.original if pair.raw is None else pair.raw, *pair.released)
    apart = [id] if household is None or household == id else [id, household]
    frame, _ = columns_in_memory(files[0], {"id": apart})
    key = np.random.default_rng(seed).bytes(KEY_BYTES)
    rows = np.argsort(hash_ids(frame[id], key))
    if len(apart) > 1:
        rows = _by_household(frame[apart[1]], rows, n, key)
    table = frame.select(id)[rows[:n].tolist() if len(apart) == 1 else rows.tolist()].to_arrow()
    original, *released = (_rows(file, id, table) for file in files)
    return open_files(original, released, id=id)


def _by_household(series: nw.Series[Any], rows: Ints, n: int, key: bytes) -> Ints:
    """Rows of households drawn by their hash, until there are n; who has none is left out."""
    codes = code_column(series).codes().astype(np.int64)
    known = ~series.is_null().to_numpy()
    _, of_row = np.unique(codes[known], return_inverse=True)
    at = np.flatnonzero(known)
    size = np.bincount(of_row)
    first = at[first_of_groups(of_row.astype(np.int32), len(size))]
    turn = np.argsort(hash_ids(series[first.tolist()], key))
    chosen = np.zeros(len(size), np.bool_)
    chosen[turn[: int(np.searchsorted(np.cumsum(size[turn]), n)) + 1]] = True
    within = np.zeros(len(known), np.bool_)
    within[at[chosen[of_row]]] = True
    return np.asarray(rows[within[rows]])


def _rows(file: Any, id: str, table: Any) -> Any:
    """The rows of a plan whose id stands in a table, in the order of the table."""
    names = file.collect_schema().names()
    if on_spark(file):  # which looks nothing up that a table has not
        native = file.to_native()
        small = native.select(id).schema.add(PLACE, "long")
        rows = [(value, at) for at, value in enumerate(table.column(id).to_pylist())]
        marked: Any = open_frame(native.join(native.sparkSession.createDataFrame(rows, small), on=id, how="inner"))
    else:
        marked = attach(file, key_columns(file, [id]), table, {PLACE: np.arange(len(table))})
        marked = marked.filter(~nw.col(PLACE).is_null())
    found, _ = columns_in_memory(marked, {"columns": [*names, PLACE]})
    return found.sort(PLACE).drop(PLACE).to_native()
