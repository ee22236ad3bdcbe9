"""A household survey and its release by bands, groups, limits and suppression, for the tests of recodings."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from recipes import SECRET

STEPS: list[dict[str, Any]] = [
    {"method": "recode", "column": "age", "bands": [0, 15, 30, 45, 60, float("inf")]},
    {"method": "recode", "column": "job", "groups": {"high": [11, 12, 13], "low": [21, 22, 23]}},
    {"method": "top_bottom_code", "column": "size", "top": 4},
    {"method": "round_to", "column": "income", "base": 100},
    {"method": "local_suppression", "keys": ["age", "job", "size"], "k": 3},
]
KEYS = ["age", "job", "size"]


def survey(n: int = 400, seed: int = 5) -> pl.DataFrame:
    """People with a name, keys that a recipe coarsens, an income, an answer, a weight."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(0, 90, n),
            "job": rng.choice([11, 12, 13, 21, 22, 23], n),
            "size": rng.integers(1, 8, n),
            "income": rng.integers(500, 9000, n),
            "ill": rng.choice(["yes", "no"], n),
            "w": rng.uniform(20, 60, n).round(3),
        }
    )


def scenario(**more: Any) -> sdc.Scenario:
    """One intruder who knows three keys; k is 3."""
    given = {"keys": KEYS, "sensitive": ["ill"], "numeric": ["income"], "weight": "w", "thresholds": {"k": 3}}
    return sdc.Scenario(**{**given, **more})


def applied(data: pl.DataFrame | None = None, steps: list[dict[str, Any]] | None = None) -> sdc.Applied:
    """The recipe applied to the survey."""
    return sdc.Recipe(steps or STEPS).apply(survey() if data is None else data, seed=9, secret=SECRET, watch=False)
