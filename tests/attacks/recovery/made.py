"""A survey of households that gives away what was taken out of it, and the release made of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sdckit.attacks.recovery.reconstruction_rules import Reconstruction
from sdckit.attacks.recovery.touched_cells import ReleasedColumn, by_original, read_columns
from sdckit.data.frames import open_frame

KEYS = ["region", "sex", "edu", "size"]


def survey(households: int = 600, seed: int = 1) -> pl.DataFrame:
    """Households in regions, with weights of region and age class, sizes, years of birth and sums."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4, 5, 6, 7], households, p=[0.3, 0.3, 0.15, 0.15, 0.06, 0.03, 0.01])
    n = int(size.sum())
    region = np.repeat(rng.integers(1, 10, households), size)
    age = rng.integers(0, 95, n)
    weights = rng.uniform(200, 900, (9, 6)).round(3)
    wage, capital = rng.integers(0, 3000, n), rng.integers(0, 500, n)
    return pl.DataFrame(
        {
            "home": np.repeat(rng.permutation(households) + 1000, size),
            "region": [f"r{one}" for one in region],
            "sex": rng.choice(["m", "f"], n),
            "age": age,
            "size": np.repeat(size, size),
            "weight": weights[region - 1, np.digitize(age, [15, 30, 45, 60, 75])],
            "born": 2020 - age - rng.integers(0, 2, n),
            "wage": wage,
            "capital": capital,
            "total": wage + capital,
            "edu": rng.integers(1, 5, n),
        }
    )


def blanked(data: pl.DataFrame, columns: Sequence[str], share: float = 0.03, seed: int = 2) -> pl.DataFrame:
    """The same with some values of the columns missing."""
    rng = np.random.default_rng(seed)
    for name in columns:
        gone = pl.Series(rng.random(data.height) < share)
        data = data.with_columns(pl.when(gone).then(None).otherwise(pl.col(name)).alias(name))
    return data


def released(data: pl.DataFrame) -> pl.DataFrame:
    """Suppressed regions, sexes, totals and educations, top-coded sizes, ages in bands."""
    ten = pl.col("age") // 10 * 10
    return blanked(data, ["region", "sex", "total", "edu"]).with_columns(
        size=pl.when(pl.col("size") >= 5).then(pl.lit("5+")).otherwise(pl.col("size").cast(pl.String)),
        age=pl.concat_str([ten.cast(pl.String), pl.lit("-"), (ten + 9).cast(pl.String)]),
    )


def told_by_absence(seed: int, n: int = 800) -> pl.DataFrame:
    """Four keys of few values: of some seeds local suppression loses the only one that is not shown beside the rest."""
    rng = np.random.default_rng(seed)
    ages = (rng.beta(2, 4, n) * 5).astype(int)
    parts = rng.choice([*"xyz"], n), rng.choice(["f", "m"], n), rng.choice([*"abcd"], n, p=[0.5, 0.3, 0.18, 0.02])
    return pl.DataFrame({"area": parts[0], "sex": parts[1], "age": [f"{age}0s" for age in ages], "edu": parts[2]})


def read(data: pl.DataFrame) -> dict[str, ReleasedColumn]:
    """The columns as an intruder reads them."""
    frame = open_frame(data)
    return read_columns(frame, frame.columns)


def opened(hidden: pl.DataFrame, whole: pl.DataFrame, name: str) -> tuple[dict[str, ReleasedColumn], Reconstruction]:
    """The columns of a release, and one of them while it is put back."""
    columns = read(hidden)
    return columns, Reconstruction.of(by_original(columns, read(whole))[name])
