"""A survey with every role, and its assessment with further measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from draw import quiet

FULL = {"keys": ["sex", "age", "job"], "weight": "w", "numeric": ["income"], "sensitive": ["ill"]}
DESIGN = {"keys": ["age", "job", "sex", "home"], "sampling_fraction": 0.05}


def survey(n: int = 300) -> pl.DataFrame:
    """Draw a file with a weight, a number, a person id and a sensitive variable."""
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": rng.integers(15, 40, n),
            "job": rng.integers(0, 15, n),
            "w": rng.uniform(20, 60, n).round(2),
            "income": rng.lognormal(7, 1, n).round(1),
            "who": np.arange(n) // 2,
            "ill": rng.choice(["no", "yes", "unsure"], n, p=[0.6, 0.3, 0.1]).tolist(),
        }
    )


def entangled(n: int = 800) -> pl.DataFrame:
    """A job that follows from the age: main effects do not fit."""
    rng = np.random.default_rng(5)
    age = rng.integers(0, 12, n)
    job = np.where(rng.random(n) < 0.9, age, rng.integers(0, 12, n))
    return pl.DataFrame({"age": age, "job": job, "sex": rng.integers(0, 2, n), "home": rng.integers(0, 9, n)})


def assessed(data: Any = None, measures: Any = "all", **entries: Any) -> Any:
    """Assess the survey, or other data, against a scenario."""
    with quiet():
        frame = survey() if data is None else data
        return sdc.assess(frame, scenario=sdc.Scenario(**(entries or FULL)), measures=measures)
