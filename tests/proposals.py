"""A small survey and scenarios for the tests of proposals, and the lattice of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.workflow.proposing.find_best import at_aim
from sdckit.workflow.proposing.trials import Trials, open_lattice


def survey(n: int = 700, seed: int = 4, *, missing: bool = False) -> pl.DataFrame:
    """People with four variables that are known of them and one that is learnt."""
    rng = np.random.default_rng(seed)
    data = pl.DataFrame(
        {
            "age": np.clip(rng.normal(45, 18, n).round(), 16, 95).astype(int),
            "sex": rng.choice(["f", "m"], n),
            "area": rng.choice(["11", "12", "21", "22", "23"], n, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
            "kids": rng.choice([0, 1, 2, 3], n, p=[0.5, 0.25, 0.15, 0.1]),
            "ill": rng.choice(["no", "yes", "often"], n, p=[0.7, 0.2, 0.1]),
        }
    )
    if missing:
        data = data.with_columns(sex=pl.when(pl.int_range(n) % 17 == 0).then(None).otherwise(pl.col("sex")))
    return data


SCENARIOS: dict[str, dict[str, Any]] = {
    "one": {"keys": ["age", "sex", "area"], "thresholds": {"k": 3}},
    "two": {
        "intruders": {"neighbour": ["age", "sex", "area"], "colleague": ["age", "kids"]},
        "ordered": ["kids"], "thresholds": {"k": 3},
    },
    "learnt": {"keys": ["age", "sex", "kids"], "sensitive": ["ill"], "thresholds": {"k": 3, "l": 2}},
    "census": {"keys": ["age", "sex"], "thresholds": {"risk": 0.2}},
    "sample": {"keys": ["age", "sex"], "thresholds": {"risk": 0.03}, "sampling_fraction": 0.1},
    "mean": {"keys": ["age", "area"], "thresholds": {"k": 2, "global_risk": 0.1}},
    "released": {"keys": ["age", "sex", "area"], "thresholds": {"k": 3, "recoverable": 0.0, "match_risk": 0.2}},
}  # fmt: skip


def trials(
    name: str, data: pl.DataFrame | None = None, *, share: float = 0.05, importance: Any = None, **more: Any
) -> Trials:
    """The lattice of a scenario, ready to be searched."""
    scenario = sdc.Scenario(**{**SCENARIOS[name], **more})
    given = survey() if data is None else data
    lattice = open_lattice(given, scenario, keep=(), prefer={}, weights={}, internal=False)
    return at_aim(Trials(given, scenario, lattice, share, importance), 1)
