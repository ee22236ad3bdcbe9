"""k-map in a document: people counted or expected, the level only inside."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.attacker import Solver, opened
from report.fakes import survey
from sdckit.report.blocks import TableBlock
from sdckit.report.gate.choose_rounding import sound_relations
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

KEYS = ["sex", "age", "region", "occupation"]


@pytest.fixture(scope="module", params=["counted", "expected"])
def result(request: pytest.FixtureRequest) -> Any:
    people = pl.DataFrame(survey(1200))
    with quiet():
        if request.param == "counted":
            return sdc.k_map(people[:500], people, keys=KEYS, k=(2, 3, 5))
        return sdc.k_map(people[:500], keys=KEYS, sampling_fraction=0.3, k=(2, 3, 5))


def test_exact_inside_and_rounded_outside(result: Any) -> None:
    inside, outside = (protect(result_document(result), internal=one)["k_map"] for one in (True, False))
    for k, n in result.violations.items():
        assert inside["violations"][str(k)]["value"] == pytest.approx(n)
        value = outside["violations"][str(k)]["value"]
        assert value is None or value % 5 == 0
    assert "level" not in outside
    assert inside.get("level") == (result.level if result.level == result.level else None)


def test_no_small_count_can_be_worked_out(result: Any) -> None:
    document = result_document(result)
    ledger, prints = opened(document)
    counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
    # Every relation is true: the audit left none of them out.
    assert len(sound_relations(ledger.variables, ledger.relations, counts)) == len(ledger.relations)
    solver = Solver(ledger, prints)
    for name in (name for name in counts if ".k_map." in name):
        if solver.varies(name):
            continue
        low, high = solver.range(name)
        assert not (high - low < 2 and any(0 < value < 5 for value in range(low, high + 1))), (name, low, high)


def test_it_is_drawn_and_shown(result: Any) -> None:
    (drawn,) = result.plot().to_dict()["datasets"].values()
    assert [row["label"] for row in drawn] == ["k = 2", "k = 3", "k = 5"]
    assert all(row["length"] % 5 == 0 for row in drawn)
    assert "fewer than k people of the population" in result._repr_html_()
    for internal in (True, False):
        for block in result_blocks(protect(result_document(result), internal=internal)):
            if isinstance(block, TableBlock):
                assert all(len(row) == len(block.columns) for row in block.rows)
