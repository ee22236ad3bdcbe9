"""The survey of a town that does not exist: what the lessons of the course measure and protect."""

from __future__ import annotations

import numpy as np
import polars as pl

DISTRICTS = ["Harbour", "Hill", "Market", "Mill", "Park", "Station"]
JOBS = ["care", "craft", "farm", "office", "school", "shop", "surgery", "transport"]
PAY = [21, 25, 18, 33, 31, 19, 74, 24]  # of a job, in thousands


def survey(n: int = 2000, seed: int = 1) -> pl.DataFrame:
    """One resident in 25 of a town of 50,000: made up, so that it may lie in a lecture room."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(46, 17, n), 18, 95).astype(int)
    job = rng.choice(len(JOBS), n, p=[0.16, 0.17, 0.04, 0.26, 0.1, 0.16, 0.01, 0.1])
    income = np.array(PAY)[job] * np.exp(rng.normal(0, 0.3, n)) * (1 + (age - 18) / 90)
    ill = rng.random(n) < 0.04 + 0.005 * (age - 18)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["female", "male"], n),
            "district": rng.choice(DISTRICTS, n, p=[0.1, 0.08, 0.3, 0.22, 0.18, 0.12]),
            "job": np.array(JOBS)[job],
            "children": rng.poisson(np.where(age < 25, 0.3, 1.4)),
            "income": income.round(1),
            "ill": np.where(ill, "yes", "no"),
        }
    )
