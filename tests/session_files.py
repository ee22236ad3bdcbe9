"""A small file for the tasks of a session, with a marked record, and steps that protect it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sdckit.workflow.sessions.answering import Desk

MARKER = "Q7markedQ7"
SECRET = "5a" * 32
SCENARIO: dict[str, Any] = {
    "intruders": {"neighbour": ["age", "job", "sex"]}, "sensitive": ["ill"], "identifiers": ["name"],
    "sampling_fraction": 0.05, "thresholds": {"k": 3},
}  # fmt: skip
BANDS = {"method": "recode", "arguments": {"column": "age", "bands": [None, 30, 45, 60, None]}, "on": True}
GROUPS = {
    "method": "recode", "on": True,
    "arguments": {"column": "job", "groups": {"hands": ["cook", "smith"]}, "outside": "missing"},
}  # fmt: skip
SUPPRESS = {"method": "local_suppression", "arguments": {}, "on": True}
STEPS = [BANDS, GROUPS, SUPPRESS]


def make_file(folder: Path) -> Path:
    """Write the file; one record has a job and a name that nobody else has."""
    rng = np.random.default_rng(5)
    n = 240
    data = pl.DataFrame({
        "name": [f"person {at}" for at in range(n)],
        "age": rng.integers(18, 80, n),
        "job": rng.choice(["cook", "smith", "clerk"], n, p=[0.4, 0.3, 0.3]),
        "sex": rng.choice(["f", "m"], n),
        "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
    })  # fmt: skip
    at = pl.int_range(n) == 17
    marked = data.with_columns(
        pl.when(at).then(pl.lit(MARKER)).otherwise(pl.col("job")).alias("job"),
        pl.when(at).then(pl.lit(MARKER)).otherwise(pl.col("name")).alias("name"),
    )
    path = folder / "small.csv"
    marked.write_csv(path)
    return path


def a_desk(folder: Path) -> Desk:
    """A desk with the file open."""
    desk = Desk(folder)
    desk.open(str(make_file(folder)), {})
    return desk
