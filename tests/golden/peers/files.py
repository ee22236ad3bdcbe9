"""Files and golden figures that the rows of the pages are tried on."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from statsmodels.datasets import star98

from golden.rebuild import FAIR_KEYS, rebuild
from needs import needs_reference

FOLDER = Path(__file__).parent.parent / "portable"
ANES_KEYS = ["PID", "educ", "age5", "vote"]
KNOWN, SYNTHETIC = ["age", "yrs_married", "children"], ["religious", "educ", "occupation"]
STAR = ["LOWINC", "PERASIAN", "PERBLACK", "PERHISP", "AVYRSEXP", "AVSALK", "PERSPENK", "PTRATIO"]
file = cache(rebuild)

__all__ = ["ANES_KEYS", "FAIR_KEYS", "KNOWN", "STAR", "SYNTHETIC", "file", "golden", "reference_case", "releases",
           "schools", "survey", "their_file", "voters"]  # fmt: skip


@cache
def golden(name: str) -> Any:
    """A golden case that stands beside the tests."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@cache
def survey() -> pl.DataFrame:
    """The affairs survey with weights, households and the two columns made from affairs."""
    return pl.from_pandas(file("fair"))


@cache
def releases() -> list[pl.DataFrame]:
    """Its three releases."""
    return [pl.from_pandas(file(f"fair_syn{s}")) for s in (1, 2, 3)]


@cache
def voters() -> pl.DataFrame:
    """The election study with weights and households."""
    return pl.from_pandas(file("anes96"))


@cache
def schools() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Californian schools, and the masked copy of `interval_risk_star98` (5 %) and `information_loss_star98`."""
    known, i = star98.load_pandas().data[STAR], np.arange(303)[:, None]
    return known, known * (1 + ((13 * i * np.arange(1, 9)) % 17 - 8) / 100)


def reference_case(name: str) -> dict[str, Any]:
    """A case on its authors' file, from the folder of references."""
    return json.loads((needs_reference() / f"{name}.json").read_text(encoding="utf-8"))


def their_file(name: str = "testdata.csv") -> pl.DataFrame:
    """A file of sdcMicro's authors, from the folder of references; an empty field is missing."""
    with (needs_reference() / "data" / name).open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return pl.DataFrame({key: [float(row[key]) if row[key] else None for row in rows] for key in rows[0]})
