"""Which cells of a plan go together, where all of them do not fit into memory.

Cells that differ in a key never match, unless a missing value of that key matches any. So the cells are split by keys
without such missing values. Where that does not split them enough, other keys are taken as well: cells that lack one
of these are loose, since they may match cells of every part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.plans.count_cells import Grouped, most_cells, too_many
from sdckit.cells.plans.key_columns import PREFIX, KeyColumn
from sdckit.data.frames import collect

BUCKET, COUNT = f"{PREFIX}bucket", f"{PREFIX}count"
N_BUCKETS = 1 << 16
LOOSE = -1
FILLED = 2  # parts take one in so many of the cells that fit: a variable that is learnt makes more of them


@dataclass(frozen=True)
class Parting:
    """How the cells of a plan are split.

    `keys`: those that they are split by; `may_lack`: those among them whose missing values match any. `parts`: the
    buckets of each part, from and to. `loose`: whether cells lack such a key.
    """

    keys: tuple[KeyColumn, ...]
    may_lack: tuple[KeyColumn, ...]
    parts: tuple[tuple[int, int], ...]
    loose: bool

    def plans(self, frame: nw.LazyFrame[Any]) -> list[nw.LazyFrame[Any]]:
        """The records of each part."""
        placed = _in_buckets(
            frame, [key.present for key in self.keys], self.keys, [key.absent for key in self.may_lack]
        )
        at = nw.col(BUCKET)
        return [placed.filter((at >= low) & (at < high)).drop(BUCKET) for low, high in self.parts]

    def loose_plan(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
        """The records of the loose cells; None where there are none."""
        return frame.filter(_any(key.absent for key in self.may_lack)) if self.loose else None


def choose_parting(grouped: Grouped, n_cells: int, n_missing: Sequence[int]) -> Parting:
    """Split the cells of a plan by as few keys with wildcards as will do, so that each part fits.

    Raises DataError: no keys split them into parts that fit.
    """
    rules = zip(grouped.keys, grouped.roles.rules, n_missing, strict=True)
    wild = sorted(
        ((gone, j) for j, (_, rule, gone) in enumerate(rules) if rule == "wildcard" and gone),
        key=lambda one: one,
    )
    lacking = [grouped.keys[j] for _, j in wild]
    sure = tuple(key for key in grouped.keys if key not in lacking)
    room = most_cells(len(grouped.keys)) // FILLED
    for n_more in range(len(lacking) + 1):
        keys, may_lack = (*sure, *lacking[:n_more]), tuple(lacking[:n_more])
        if not keys:
            continue
        sizes, loose = _sizes(grouped, keys, may_lack)
        if len(sizes) and sizes[:, 1].max() + loose <= room:
            return Parting(keys, may_lack, tuple(_packed(sizes, room - loose)), loose > 0)
    why = "; nor do they fall into parts that fit, since cells may match across all of them"
    raise too_many(n_cells, len(grouped.keys), why)


def _sizes(
    grouped: Grouped, keys: Sequence[KeyColumn], may_lack: Sequence[KeyColumn]
) -> tuple[NDArray[np.int64], int]:
    """Buckets with their cells, and the loose cells."""
    placed = _in_buckets(
        grouped.cells(), [key.brought(key.column) for key in keys], keys,
        [nw.col(key.column).is_null() for key in may_lack],
    )  # fmt: skip
    found = collect(placed.group_by(BUCKET).agg(nw.len().cast(nw.Int64).alias(COUNT)))
    table = np.stack([found[BUCKET].to_numpy(), found[COUNT].to_numpy()], axis=1).astype(np.int64)
    table = table[np.argsort(table[:, 0])]
    is_loose = table[:, 0] == LOOSE
    return table[~is_loose], int(table[is_loose, 1].sum())


def _packed(sizes: NDArray[np.int64], room: int) -> Iterator[tuple[int, int]]:
    """Buckets one after the other, in as few parts as fit, of much the same size."""
    total = int(sizes[:, 1].sum())
    fair = total / -(-total // room)
    start, held = 0, 0
    for bucket, n in sizes.tolist():
        if held + n > room or held >= fair:
            yield start, bucket
            start, held = bucket, 0
        held += n
    yield start, N_BUCKETS


def _in_buckets(
    frame: nw.LazyFrame[Any], values: Sequence[nw.Expr], keys: Sequence[KeyColumn], absent: Sequence[nw.Expr]
) -> nw.LazyFrame[Any]:
    """The same plan with the bucket of each row, by the engine's hash of some keys; `LOOSE` where one is absent."""
    names = [f"{PREFIX}split{i}" for i in range(len(keys))]
    whole = [key.one_zero(one) for one, key in zip(values, keys, strict=True)]
    placed = frame.with_columns(*(one.alias(name) for one, name in zip(whole, names, strict=True)))
    native, listed = placed.to_native(), ", ".join(names)
    if frame.implementation.is_polars():
        import polars as pl

        hashed = sum((pl.col(name).hash(i) % N_BUCKETS for i, name in enumerate(names)), pl.lit(0, pl.UInt64))
        native = native.with_columns((hashed % N_BUCKETS).cast(pl.Int64).alias(BUCKET))
    elif frame.implementation.is_duckdb():
        native = native.project(f"*, cast(hash({listed}) % {N_BUCKETS} as bigint) as {BUCKET}")
    else:
        native = native.selectExpr("*", f"cast(pmod(xxhash64({listed}), {N_BUCKETS}) as bigint) as {BUCKET}")
    found: nw.LazyFrame[Any] = nw.from_native(native).drop(*names)
    if absent:
        bucket = nw.when(_any(absent)).then(nw.lit(LOOSE)).otherwise(nw.col(BUCKET))
        found = found.with_columns(bucket.cast(nw.Int64).alias(BUCKET))
    return found


def _any(conditions: Any) -> nw.Expr:
    found: nw.Expr = reduce(or_, conditions)
    return found
