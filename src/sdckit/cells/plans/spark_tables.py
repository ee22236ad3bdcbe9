"""Many tables of a Spark frame in one pass: its workers count them batch by batch, and Spark adds the counts up.

Grouping sets would copy every record once for each table. The function is sent to the workers by value: they need NumPy
and PyArrow, but not this package.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.attach import CHANGED
from sdckit.cells.plans.count_cells import PREFIX, SIZE
from sdckit.data.frames import collect
from sdckit.numerics.array_types import Ints

DENSE = 1 << 20  # cells of a table that a worker counts in full
CELLS = 1 << 62  # cells of a table, at most: their number is one word


SET, CELL = f"{PREFIX}set", f"{PREFIX}cell"
Batches = Iterator[Any]


def counting(
    names: Sequence[str], known: Mapping[str, Any], widths: Mapping[str, int], sets: Sequence[Sequence[str]]
) -> Callable[[Batches], Batches]:
    """The function that counts all tables of the batches of a worker: of each cell its table, its number, its records.

    `names`: the columns of a batch; the others as in `count_on_workers`.

    >>> import pyarrow as pa
    >>> batch = pa.RecordBatch.from_pydict({"a": ["x", "y", "x"], "b": [0, 1, 0]})
    >>> count = counting(["a", "b"], {"a": pa.array(["y", "x"])}, {"a": 2, "b": 2}, [["a"], ["a", "b"]])
    >>> [column.to_pylist() for part in count(iter([batch])) for column in part]
    [[0, 0], [0, 1], [1, 2], [1, 1], [1, 2], [1, 2]]
    """
    changed, dense = CHANGED, DENSE
    values, wide, tables = dict(known), dict(widths), [list(names) for names in sets]
    names, mark, cell, size = list(names), SET, CELL, SIZE

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        import pyarrow
        from pyarrow import compute

        full: dict[int, Any] = {}
        parts: dict[int, list[Any]] = {}
        for batch in batches:
            codes = {}
            for name in names:
                column = batch.column(batch.schema.get_field_index(name))
                if name in values:
                    column = compute.index_in(column, value_set=values[name].cast(column.type))
                    if column.null_count:
                        raise ValueError(changed)
                codes[name] = column.to_numpy(zero_copy_only=False).astype(numpy.int64)
            for at, chosen in enumerate(tables):
                word, cells = codes[chosen[0]], wide[chosen[0]]
                for name in chosen[1:]:
                    word, cells = word * wide[name] + codes[name], cells * wide[name]
                if cells <= dense:
                    full[at] = full.get(at, 0) + numpy.bincount(word, minlength=cells)
                else:
                    parts.setdefault(at, []).append(numpy.unique(word, return_counts=True))
        for at, counts in full.items():
            parts[at] = [(numpy.flatnonzero(counts), counts[counts > 0])]
        for at, of in parts.items():
            places, counts = (numpy.concatenate(some) for some in zip(*of))  # noqa: B905 (both are of one length)
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(numpy.full(len(places), at, numpy.int32)), pyarrow.array(places), pyarrow.array(counts)],
                names=[mark, cell, size],
            )

    return over_batches


def count_on_workers(
    frame: nw.LazyFrame[Any], columns: Mapping[str, nw.Expr], known: Mapping[str, Any], widths: Mapping[str, int],
    sets: Sequence[Sequence[str]],
) -> list[tuple[list[Ints], Ints]]:  # fmt: skip
    """For each set of columns the codes of its cells, column by column, and the records of each.

    `columns`: what is counted, codes from 0 where `known` has no values, else values, whose code is their row in
    `known`. `widths`: codes of each column.
    """
    chosen: Any = frame.select(*(value.alias(name) for name, value in columns.items())).to_native()
    counted = chosen.mapInArrow(counting([*columns], known, widths, sets), f"{SET} int, {CELL} bigint, {SIZE} bigint")
    plan: nw.LazyFrame[Any] = nw.from_native(counted)
    found = collect(plan.group_by(SET, CELL).agg(nw.col(SIZE).sum())).to_arrow()
    which, place, records = (found.column(name).to_numpy() for name in (SET, CELL, SIZE))
    out = []
    for at, own in enumerate(sets):
        here = which == at
        codes = np.unravel_index(place[here], [widths[name] for name in own])
        out.append((list(codes), records[here]))
    return out
