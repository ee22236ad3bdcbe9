"""People drawn from one population: an original, a release of other people, a control file."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl


def people(n, seed):
    """Mixed columns with missing values, dates, true and false, and names that no query language likes."""
    rng = np.random.default_rng([n, seed])
    wealth = rng.normal(size=n)
    gaps = rng.random(n) < 0.1
    return pl.DataFrame(
        {
            "age in years": rng.integers(18, 90, n),
            "select * from": wealth + 0.3 * rng.normal(size=n),
            "pay-@`x'\"": pl.Series([None if g else v for g, v in zip(gaps, wealth * 1000, strict=True)]),
            "größe": rng.choice(["f", "m"], n),
            "True": rng.random(n) < 0.3,
            "day": [dt.date(2000, 1, 1) + dt.timedelta(int(i)) for i in rng.integers(0, 3000, n)],
        }
    )


ORIGINAL, OTHERS, CONTROL = (people(n, seed) for n, seed in ((300, 1), (260, 2), (280, 3)))
KNOWN = (["age in years", "pay-@`x'\"", "True"], ["select * from", "day"])
