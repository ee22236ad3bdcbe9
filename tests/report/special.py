"""An assessment with every measure that runs on request, for tests of their figures."""

from __future__ import annotations

from typing import Any

import polars as pl

import sdckit as sdc
from draw import quiet
from report.fakes import survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect

KEYS = ["sex", "age", "region", "occupation"]
EXTRA = ("suda", "population_risk", "population_uniques", "risky_cells", "outliers")


def assessed(n: int = 600, *, missing: float = 0.0, measures: Any = "all", **roles: Any) -> Any:
    rows = survey(n, missing=missing)
    scenario = Scenario(**{"keys": KEYS, "sampling_fraction": 0.05, "numeric": ["weight"]} | roles)
    with quiet():
        return sdc.assess(pl.DataFrame(rows), scenario=scenario, measures=measures)


def printed(assessment: Any, *, internal: bool = False) -> dict[str, Any]:
    """What is printed of the first intruder."""
    plain = protect(build_document(assessment, internal=internal), internal=internal)
    found: dict[str, Any] = plain["intruders"][0]
    return found
