"""A small survey and a recipe for it, for the tests of recipes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc

SECRET = bytes(range(32))  # of every release in the tests that is made twice
STEPS: list[dict[str, Any]] = [
    {"method": "recode", "column": "age", "bands": [0, 40, None]},
    {"method": "pram", "columns": ["job"], "pd": 0.5},
    {"method": "add_noise", "columns": ["income"], "noise": 5.0},
    {"method": "local_suppression", "k": 3},
]


def survey(n: int = 120, seed: int = 3) -> pl.DataFrame:
    """People with a name, four variables and a weight."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": rng.integers(18, 80, n),
            "job": rng.choice(["cook", "smith", "clerk", "nurse"], n).tolist(),
            "income": rng.normal(2000, 300, n).round(),
            "w": rng.uniform(20, 60, n).round(3),
        }
    )


def scenario(**more: Any) -> sdc.Scenario:
    """One intruder; k is 3."""
    given = {"keys": ["sex", "age", "job"], "weight": "w", "sensitive": ["income"], "thresholds": {"k": 3}}
    return sdc.Scenario(**{**given, **more})
