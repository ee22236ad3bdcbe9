"""Census-like records for the benchmarks: households, correlated keys, weights, a share of missing values.

python benchmarks/census.py 1e6 census.parquet
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

KEYS = ["region", "sex", "age", "marital", "educ", "labour", "occ"]
KEYS_ALL = [*KEYS, "cob", "hhsize", "tenure"]
CHUNK = 1_000_000


def _skewed(levels: int, slope: float) -> np.ndarray:
    share = 1 / np.arange(1, levels + 1) ** slope
    return share / share.sum()


def _chunk(m: int, rng: np.random.Generator, first_household: int) -> dict[str, np.ndarray]:
    size = rng.choice(np.arange(1, 10), m, p=[0.30, 0.33, 0.15, 0.13, 0.05, 0.02, 0.01, 0.006, 0.004])
    home = np.repeat(np.arange(m), size)[:m]
    homes = int(home[-1]) + 1
    place = np.arange(m) - np.searchsorted(home, home)  # place within the household
    members = np.bincount(home)[home]
    region = rng.choice(30, homes, p=_skewed(30, 0.8))
    wealth = rng.normal(0, 1, homes)
    head = np.clip(rng.gamma(7, 7.2, homes), 16, 85)[home]
    near = [place == 0, place == 1]
    age = np.select(near, [head, head + rng.normal(0, 5, m)], head - rng.normal(29, 6, m)).clip(0, 85).astype(int)
    sex = rng.random(m) < np.where(place == 1, 0.55, 0.5)
    u = rng.random(m)
    alone = np.where(u < 0.9 - 0.011 * age, 0, np.where(u < 0.75, 2, np.where(u < 0.97, 3, 4)))
    together = np.where(u < 0.62 + 0.002 * age, 1, np.where(u < 0.86, 0, np.where(u < 0.95, 2, 3)))
    marital = np.where(age < 18, 0, np.where(members > 1, together, alone))
    schooling = wealth[home] * 0.5 - 0.012 * (age - 45) + rng.normal(0, 0.9, m)
    grown = np.clip(np.digitize(schooling, [-1.6, -0.8, 0, 0.5, 1, 1.8]) + 1, 1, 7)
    educ = np.where(age < 6, 0, np.where(age < 16, 1, grown))
    u = rng.random(m)
    working = np.where(u < 0.52 + 0.04 * educ, 0, np.where(u < 0.82, 1, np.where(u < 0.9, 2, 3)))
    labour = np.where(age < 16, 5, np.where(age > 66, np.where(u < 0.9, 4, 0), working))
    job = (rng.choice(20, m, p=_skewed(20, 0.7)) + educ * 3) % 20 + sex * 10
    occ = np.where(labour > 1, 0, 1 + np.minimum(38, job))
    base = np.where(region < 5, 120, 60)[home]
    weight = np.round(np.exp(rng.normal(0, 0.35, homes))[home] * base, 3)
    keys = dict(zip(KEYS, (region[home], sex, age, marital, educ, labour, occ), strict=True))
    return {**keys, "w": weight, "hid": home + first_household}


def _more_keys(home: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Country of birth, mostly that of the household, its size and its tenure; `home` numbers households from 0."""
    homes, m = int(home[-1]) + 1, len(home)
    foreign = rng.random(homes) < 0.18
    of_home = np.where(foreign, rng.choice(25, homes, p=_skewed(25, 1.1)), 0)
    own = np.where(rng.random(m) < 0.8, 0, rng.choice(25, m, p=_skewed(25, 1.1)))
    cob = np.where(rng.random(m) < 0.85, of_home[home], own)
    means = rng.normal(0, 1.2, homes) - 0.3 * foreign
    tenure = np.digitize(means, [-0.6, 0.5, 1.8])[home]
    return {"cob": cob, "hhsize": np.minimum(np.bincount(home), 9)[home] - 1, "tenure": tenure}


def census(n: int, *, missing: float = 0.01, seed: int = 20261120) -> pl.DataFrame:
    """`n` records with ten keys of small integers, weight ``w`` and household ``hid``.

    The last three keys are drawn apart, so that the others are the same as ever.
    """
    return pl.concat(chunks(n, missing=missing, seed=seed))


def write_census(n: int, path: Path) -> None:
    """Write the file of `n` records, a million of them in memory at a time."""
    write_chunks(path, chunks(n))


def write_chunks(path: Path, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames one after another as one Parquet file, which has its name when it is whole."""
    part = path.with_suffix(".part")
    with ExitStack() as stack:
        writer = None
        for frame in frames:
            table = frame.to_arrow()
            writer = writer or stack.enter_context(pq.ParquetWriter(part, table.schema, compression="zstd"))
            writer.write_table(table, row_group_size=250_000)
    part.rename(path)


def chunks(n: int, *, missing: float = 0.01, seed: int = 20261120) -> Iterator[pl.DataFrame]:
    """The records, a million at a time."""
    first = 0
    for start in range(0, n, CHUNK):
        rng = np.random.default_rng([seed, start])
        m = min(CHUNK, n - start)
        columns = _chunk(m, rng, first)
        extra = np.random.default_rng([seed, start, 1])
        more = _more_keys(columns["hid"] - first, extra)
        first = int(columns["hid"][-1]) + 1
        frame = pl.DataFrame({k: v.astype(np.uint8) if k in KEYS else v for k, v in columns.items()})
        frame = frame.with_columns(pl.Series(k, v.astype(np.uint8)) for k, v in more.items())
        if missing:
            frame = frame.with_columns(
                pl.when(pl.Series((rng if k in KEYS else extra).random(m) >= missing)).then(pl.col(k)).alias(k)
                for k in KEYS_ALL
            )
        yield frame


if __name__ == "__main__":
    write_census(int(float(sys.argv[1])), Path(sys.argv[2]))
