"""People in households, for the tests of what is done to these."""

from __future__ import annotations

import numpy as np
import polars as pl

SHARED = ("region", "tenure", "size", "income", "w")


RELATIONS = ((0.97, "spouse"), (0.95, "child"))


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


def of_one_faith(homes: int = 400, seed: int = 0) -> pl.DataFrame:
    """Members of households of one to four, most of which are of one faith."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4], homes, p=[0.2, 0.4, 0.2, 0.2])
    home = np.repeat(np.arange(homes), size)
    n, faiths = len(home), list("abcdef")
    shared_faith = rng.choice(faiths, homes, p=[0.6, 0.2, 0.1, 0.05, 0.03, 0.02])[home]
    return pl.DataFrame(
        {
            "home": home,
            "faith": np.where(rng.random(n) < 0.97, shared_faith, rng.choice(faiths, n)),
            "age": rng.choice(["0-19", "20-39", "40-59", "60+"], n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "none", "cancer"], n, p=[0.3, 0.65, 0.05]),
        }
    )


def couples(homes: int = 300, seed: int = 15) -> pl.DataFrame:
    """Households in the order in which forms are filled in: the head, the spouse, the children."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4, 5], homes, p=[0.25, 0.35, 0.2, 0.12, 0.08])
    home = np.repeat(np.arange(homes), size)
    n, place = len(home), np.concatenate([np.arange(members) for members in size])
    sex = np.where(place == 0, rng.integers(1, 3, homes)[home], 0)
    other = np.where(rng.random(n) < 0.97, 3 - np.roll(sex, 1), 1)
    sex = np.where(place == 1, other, np.where(place > 1, rng.integers(1, 3, n), sex))
    spouse, child = (np.where(rng.random(n) < share, as_usual, "other") for share, as_usual in RELATIONS)
    single = rng.choice(["divorced", "widowed", "single"], n, p=[0.3, 0.15, 0.55])
    return pl.DataFrame(
        {
            "home": home,
            "relation": np.where(place == 0, "head", np.where(place == 1, spouse, child)),
            "sex": sex,
            "area": rng.choice(list("abcdefgh"), n, p=[0.4, 0.22, 0.15, 0.1, 0.06, 0.04, 0.02, 0.01]),
            "marital": np.where((size[home] > 1) & (place < 2), "married", single),
        }
    )


def shared(data: pl.DataFrame, column: str, household: str = "home") -> bool:
    """Whether all members of each household hold the same, a missing value taken for one."""
    found = data.group_by(household).agg(pl.col(column).n_unique())
    return bool((found[column] == 1).all())
