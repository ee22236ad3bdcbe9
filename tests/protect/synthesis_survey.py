"""A survey of every type of column, and its synthesis."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from sdckit import synthesize

RNG = np.random.default_rng(9)
N = 240
AGE = RNG.integers(10, 70, N)
SURVEY = pl.DataFrame(
    {
        "person": [f"name {i}" for i in range(N)],
        "sex": RNG.choice(["f", "m"], N),
        "age": pl.Series(AGE, dtype=pl.Int16),
        "marital": pl.Series(np.where(AGE < 16, "single", RNG.choice(["single", "married"], N)), dtype=pl.Categorical),
        "income": [None if a < 14 else float(x) for a, x in zip(AGE, RNG.gamma(3, 500, N).round(2), strict=True)],
        "born": [date(2020 - int(a), 1 + i % 12, 1) for i, a in enumerate(AGE)],
        "member": RNG.choice([True, False], N),
        "land": ["here"] * N,
    }
)  # fmt: skip
ALL = ["sex", "age", "marital", "income", "born", "member"]
PARAMETRIC = {"sex": "logistic", "age": "poisson", "marital": "multinomial", "income": "normal", "member": "logistic"}


def made(frame=SURVEY, **options):
    return synthesize(frame, **{"columns": ALL, "seed": 1, "posterior_draws": 0, **options})
