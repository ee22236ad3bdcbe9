"""Whether all rows of files that stay on an engine fit a search; else rows drawn by their id, brought together."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import Pair, open_files
from sdckit.cells.plans import count_cells, lazy
from sdckit.cells.plans.attach import attach
from sdckit.data import columns, drawn_rows
from sdckit.data.frames import column_names, on_spark, open_frame
from sdckit.data.memory import PER_VALUE, bytes_of_search, room_of_search
from sdckit.numerics import array_types, grouping

PLACE = f"{count_cells.PREFIX}drawn"


def draw_records(pair: Pair, n: int, *, seed: int | None, household: str | None = None) -> Pair:
    """The original as it was collected and its releases with about n of their rows, in memory, in an order by chance.

    Rows are drawn by a hash of the id, or of the household, whose rows come together. Raises DataError: an id that
    does not name each row once, or that a file lacks.
    """
    id, files = str(pair.id), (pair.original if pair.raw is None else pair.raw, *pair.released)
    apart = [id] if household is None or household == id else [id, household]
    frame, _ = columns_in_memory(files[0], {"id": apart})
    key = np.random.default_rng(seed).bytes(drawn_rows.KEY_BYTES)
    rows, _ = drawn_rows.draw_rows(frame[id], n if len(apart) == 1 else len(frame), key)
    if len(apart) > 1:
        rows = _by_household(frame[apart[1]], rows, n, key)
    ids = frame.select(id)[rows.tolist()]
    original, *released = (_rows(file, id, ids) for file in files)
    return open_files(original, released, id=id)


def some_records(pair: Pair, n: int) -> Pair:
    """The first n rows of the original that the engine gives, with the rows of the releases that have their ids."""
    id = str(pair.id)
    frame, _ = columns_in_memory(pair.original.head(n), {"columns": column_names(pair.original)})
    return open_files(frame, [_rows(file, id, frame.select(id)) for file in pair.released], id=id)


def _by_household(series: nw.Series[Any], rows: array_types.Ints, n: int, key: bytes) -> array_types.Ints:
    """Rows of households drawn by their hash, until there are n; who has none is left out."""
    coded = columns.code_column(series)
    codes = coded.codes()
    known = codes < coded.span  # null and NaN are none
    _, of_row = np.unique(codes[known], return_inverse=True)
    at = np.flatnonzero(known)
    size = np.bincount(of_row)
    first = at[grouping.first_of_groups(of_row.astype(np.int32), len(size))]
    turn = np.argsort(drawn_rows.hash_ids(series[first.tolist()], key))
    chosen = np.zeros(len(size), np.bool_)
    chosen[turn[: int(np.searchsorted(np.cumsum(size[turn]), n)) + 1]] = True
    within = np.zeros(len(known), np.bool_)
    within[at[chosen[of_row]]] = True
    return np.asarray(rows[within[rows]])


def _rows(file: Any, id: str, ids: nw.DataFrame[Any]) -> Any:
    """The rows of a plan that have some ids, in their order."""
    names, kind = file.collect_schema().names(), file.collect_schema()[id]
    if kind.is_numeric():
        ids = ids.select(nw.col(id).cast(kind))
    if on_spark(file):  # which looks nothing up that a table has not
        native = file.to_native()
        small = native.select(id).schema.add(PLACE, "long")
        rows = [(value, at) for at, value in enumerate(ids[id].to_list())]
        marked: Any = open_frame(native.join(native.sparkSession.createDataFrame(rows, small), on=id, how="inner"))
    else:
        (key,) = count_cells.key_columns(file, [id])
        table = ids.select(key.present.alias(id)).to_arrow()
        marked = attach(file, [key], table, {PLACE: np.arange(len(table))})
        marked = marked.filter(~nw.col(PLACE).is_null())
    found, _ = columns_in_memory(marked, {"columns": [*names, PLACE]})
    return found.sort(PLACE).drop(PLACE).to_native()


def all_fit(pair: Pair, household: str | None) -> bool:
    """Whether all records fit here, coded, with what is made of them as they are looked through.

    Decided once for the same files, since the free memory is another meanwhile.
    """

    def known() -> bool:
        frames = (pair.original if pair.raw is None else pair.raw, *pair.released)
        names, sizes = [column_names(frame) for frame in frames], (pair.n, *pair.sizes)
        if any(n * len(own) > lazy.most_values(pair.original) for n, own in zip(sizes, names, strict=True)):
            return False
        released = list(zip(sizes, names, strict=True))[1:]
        takes = sum(bytes_of_search(n, len(own), shared=household in own) for n, own in released)
        takes += pair.n * len({*names[0]}.difference(*names[1:])) * PER_VALUE  # brought with the original alone
        room = room_of_search(pair.original)
        return room is None or takes <= room

    return pair.once(("all fit",), known)
