"""Assessments taken apart and put together."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ScenarioError
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect
from sdckit.workflow.sessions.risk import put_together, with_other_keys, without_measures

DATA = pl.DataFrame({"sex": ["f", "m", "f"] * 40, "age": [*range(60)] * 2, "job": (["cook"] * 3 + ["clerk"] * 2) * 24})
SCENARIO = sdc.Scenario(
    intruders={"a": ["sex", "age"], "b": ["sex", "job"]}, sensitive=["job"][:0], thresholds={"k": 3}
)


def one(name: str) -> sdc.Assessment:
    return sdc.assess(DATA, scenario=SCENARIO.intruder(name))


def test_parts_make_the_whole() -> None:
    whole = sdc.assess(DATA, scenario=SCENARIO)
    made = put_together([one("a"), one("b")], SCENARIO)
    assert made.to_dict() == whole.to_dict()
    assert protect(build_document(made)) == protect(build_document(whole))


def test_parts_of_another_scenario_are_refused() -> None:
    with pytest.raises(ScenarioError, match="not those of the scenario"):
        put_together([one("b"), one("a")], SCENARIO)


def test_a_document_without_a_measure_has_the_other_figures() -> None:
    whole = one("a")
    lean = without_measures(whole, ["key_contributions"])
    assert "key_contributions" in whole.intruders[0].results
    assert "key_contributions" not in lean.intruders[0].results
    assert lean.verdicts == whole.verdicts
    figures = protect(build_document(lean), internal=True)["intruders"][0]
    assert figures["k_anonymity"] == protect(build_document(whole), internal=True)["intruders"][0]["k_anonymity"]


def test_an_intruder_who_knows_less_stands_beside_the_first() -> None:
    both = with_other_keys(SCENARIO, "a", ["age", "job"], name="less")
    assert both.intruders == {"a": ("sex", "age"), "less": ("age",)}
