from __future__ import annotations

from types import SimpleNamespace

from sdckit.report.common_blocks import bars, notes_blocks, uniques_of
from sdckit.report.gate.figures import Ledger
from sdckit.report.gate.relations import make_sizes
from sdckit.report.setting import Setting


def test_a_row_has_a_tone_only_where_rows_differ() -> None:
    leaf = {"text": "20", "value": 20}
    block = bars("Cells", "cells", [("a", leaf, "dark"), ("b", leaf), ("c", None)])
    assert [row.get("tone") for row in block.data["rows"]] == ["dark", None, None]
    assert block.data["rows"][2]["n"]["text"] == "undefined"


def test_a_note_is_a_sentence() -> None:
    (block,) = notes_blocks({"notes": {"level": "no population file"}})
    assert block.text == "No population file."  # type: ignore[union-attr]


def test_uniques_are_the_records_in_cells_of_one() -> None:
    ledger = Ledger()
    ledger.count("n", 100, "n")
    setting = Setting(ledger, "i0", make_sizes(ledger, "i0", []))
    count = uniques_of(setting, SimpleNamespace(sample_uniques=7))
    assert ledger.variables[count.name].true == 7
    linked = {frozenset(name for name, _ in one.terms) for one in ledger.relations}
    assert {count.name, "i0.records in 1-1"} in linked
