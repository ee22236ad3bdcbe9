"""One file of people, and releases of it under other recodings."""

from __future__ import annotations

import numpy as np
import polars as pl

KEYS = ["region", "sex", "age"]


def people(n: int = 400, seed: int = 1) -> pl.DataFrame:
    """People with an id, three keys, two of them in coarser codings, and a job that follows from these a little."""
    rng = np.random.default_rng(seed)
    region, age = rng.integers(0, 6, n), rng.integers(0, 8, n)
    return pl.DataFrame({
        "id": rng.permutation(n) + 1000, "region": region, "sex": rng.choice(["f", "m"], n), "age": age,
        "part": (region // 2).astype(str), "band": np.where(age < 4, "young", "old"),
        "job": [f"job {one}" for one in (region + rng.integers(0, 4, n)) % 7],
    })  # fmt: skip


def with_gaps(data: pl.DataFrame, column: str, share: float, seed: int = 2) -> pl.DataFrame:
    """The same with some values of a column hidden."""
    gone = pl.Series(np.random.default_rng(seed).random(data.height) < share)
    return data.with_columns(pl.when(gone).then(None).otherwise(pl.col(column)).alias(column))


def possible(data: pl.DataFrame, keys: list[str], target: str) -> list[set[object]]:
    """The values possible for each record, by going through all pairs of different records: the oracle."""
    rows = data.select(keys).rows()
    every = set(data[target].drop_nulls())
    pairs = set(zip(rows, data[target].to_list(), strict=True))
    found: dict[tuple[object, ...], set[object]] = {one: set() for one in rows}
    for one, mine in found.items():
        for other, value in pairs:
            if all(a is None or b is None or a == b for a, b in zip(one, other, strict=True)):
                mine.update(every if value is None else {value})
    return [found[one] for one in rows]


def together(first: list[set[object]], second: list[set[object]]) -> list[bool]:
    """Who has one possible value left over both, and more over each."""
    return [len(a & b) == 1 and len(a) > 1 and len(b) > 1 for a, b in zip(first, second, strict=True)]
