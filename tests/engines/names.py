"""Names of columns that engines take for something else: patterns, functions, keywords, our own columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

ODD = (
    "count", "*", "^age.*$", "", "len", "literal", "all", "two  words", " blank ", 'quo"te', "it's", "a.b", "x[0]",
    "$1", "%s", "{x}", "row", "index", "level_0", "cell", "f", "F", "value", "figure", "n", "weight", "__index__",
    "naïve", "select", "count_star()", "a;b", "a,b", "a\\b", "-- x", "row number", "0", "sdckit", "h0", "r0", "min 0",
)  # fmt: skip
FEW = ("count", "*", "^age.*$", "", "len", 'quo"te', "a.b")  # each is a plan of its own
# Of these, plans say so.
ON_PLANS = {"*": "polars-lazy duckdb spark", "^age.*$": "polars-lazy", "": "duckdb", "a.b": "spark"}
ROLES = {"key": "age", "sensitive": "learnt", "weight": "w", "household": "home"}
N = 150


def survey() -> pl.DataFrame:
    """A survey with ordinary names, two of which a pattern would find."""
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": [f"t{one}" for one in rng.integers(1, 9, N)],
            "age2": rng.integers(1, 9, N),
            "sex": rng.choice(["f", "m"], N),
            "learnt": rng.choice(["a", "b", "c"], N),
            "w": rng.integers(1, 9, N) + 0.5,
            "home": np.arange(N) // 2,
        }
    )


def renamed(role: str, name: str) -> pl.DataFrame:
    """The survey with another name for what has a role."""
    return survey().rename({ROLES[role]: name})


def figures(frame: Any, names: dict[str, str]) -> list[Any]:
    """Figures that use every role, without the names."""
    import sdckit as sdc

    of = {**ROLES, **names}
    risk = sdc.individual_risk(frame, keys=[of["key"], "sex"], weight=of["weight"], household=of["household"])
    learnt = sdc.l_diversity(frame, keys=[of["key"], "sex"], sensitive=of["sensitive"])
    assert risk.records is not None
    return [round(value, 9) for one in (risk, learnt) for _, value in one._flat()]
