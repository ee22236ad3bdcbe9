"""An original and releases of it, generated: half of the rows changed, the rows in one order."""

from __future__ import annotations

import numpy as np
import polars as pl

import sdckit as sdc

N = 240


def original(n=N, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n) // 5 * 5
    sex = rng.choice(["f", "m"], n)
    region = rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    income = np.round(np.exp(rng.normal(9, 0.4, n)), 0)
    ill = np.where(rng.random(n) < 0.2 + 0.01 * (age - 20), "yes", "no")
    return pl.DataFrame(
        {
            "pid": np.arange(n),
            "sex": sex,
            "age": age,
            "region": region,
            "income": income,
            "ill": ill,
            "w": np.full(n, 20.0),
        }
    )


def release(frame=None, seed=2, share=0.5):
    frame = original() if frame is None else frame
    rng = np.random.default_rng(seed)
    out = {}
    for name in frame.columns:
        values = frame[name].to_numpy().copy()
        if name in {"age", "region", "ill"}:
            changed = rng.random(len(values)) < share
            values[changed] = rng.permutation(values)[changed]
        if name == "income":
            values = np.round(values * (1 + rng.normal(0, 0.05, len(values))), 0)
        out[name] = values
    return pl.DataFrame(out)


def scenario(**options):
    given = {"keys": ["sex", "age", "region"], "sensitive": ["ill", "income"], "numeric": ["income"], "aligned": True}
    return sdc.Scenario(**{**given, **options})
