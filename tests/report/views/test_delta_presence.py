"""δ-presence in a document: counts of people beyond the limits, no single share outside."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.attacker import Solver, opened
from report.fakes import survey
from sdckit.report.gate.choose_rounding import sound_relations
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

COUNTS = ("population", "n_above", "n_below", "records_above")


@pytest.fixture(scope="module")
def result() -> Any:
    people = pl.DataFrame(survey(1200))
    with quiet():
        return sdc.delta_presence(people[:500], people, keys=["sex", "age", "region"], limits=(0.2, 0.5))


def test_exact_inside_and_rounded_outside(result: Any) -> None:
    inside, outside = (protect(result_document(result), internal=one)["delta_presence"] for one in (True, False))
    for name in COUNTS:
        assert inside[name]["value"] == getattr(result, name)
        assert outside[name]["value"] is None or outside[name]["value"] % 5 == 0
    assert (inside["minimum"], inside["maximum"]) == (result.minimum, result.maximum)
    assert not {"minimum", "maximum"} & outside.keys()


def test_no_small_count_can_be_worked_out(result: Any) -> None:
    document = result_document(result)
    ledger, prints = opened(document)
    counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
    assert len(sound_relations(ledger.variables, ledger.relations, counts)) == len(ledger.relations)
    solver = Solver(ledger, prints)
    for name in (name for name in ledger.variables if ".presence." in name and name in counts):
        if solver.varies(name):
            continue
        low, high = solver.range(name)
        assert not (high - low < 2 and any(0 < value < 5 for value in range(low, high + 1))), (name, low, high)


def test_it_is_drawn_and_shown(result: Any) -> None:
    (drawn,) = result.plot().to_dict()["datasets"].values()
    assert [row["label"] for row in drawn] == [
        "people with a key above 0.5", "records of the file among them", "people with a key below 0.2",
    ]  # fmt: skip
    assert all(row["length"] % 5 == 0 for row in drawn)
    assert "Every share from 0.2 to 0.5" in result._repr_html_()
    inside = str(result_blocks(protect(result_document(result), internal=True)))
    assert "Largest share of a key" in inside
    assert "Largest share of a key" not in str(result_blocks(protect(result_document(result))))
