"""People in households, for the tests of what is done to these."""

from __future__ import annotations

import numpy as np
import polars as pl

SHARED = ("region", "tenure", "size", "income", "w")


def people(homes: int = 150, seed: int = 3) -> pl.DataFrame:
    """Members of households of one to six, in no order; five variables are the household's."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 7, homes)
    home = np.repeat(np.arange(homes), size)
    n = len(home)
    region = rng.choice(list("abcd"), homes)
    weight = np.array([10.0, 12.5, 15.0, 20.0])[np.searchsorted(list("abcd"), region)] + np.arange(homes) % 3
    made = pl.DataFrame(
        {
            "home": home + 1000,
            "region": region[home],
            "tenure": rng.choice(["owner", "tenant"], homes)[home],
            "size": size[home],
            "income": rng.normal(3000.0, 500.0, homes).round()[home],
            "w": weight[home],
            "age": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "pay": rng.normal(100.0, 10.0, n).round(2),
        }
    )
    return made[rng.permutation(n).tolist()]


def shared(data: pl.DataFrame, column: str, household: str = "home") -> bool:
    """Whether all members of each household hold the same, a missing value taken for one."""
    found = data.group_by(household).agg(pl.col(column).n_unique())
    return bool((found[column] == 1).all())
