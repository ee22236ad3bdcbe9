from __future__ import annotations

import releases
import sdckit as sdc
from sdckit.report.blocks import TableBlock
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document
from sdckit.report.views.beta_likeness import VIEW


def test_its_kinds_are_named() -> None:
    result = sdc.beta_likeness(releases.original(), keys=["sex", "age"], sensitive=["ill"])
    plain = protect(result_document(result))
    (table,) = [block for block in VIEW.blocks(plain, "beta_likeness") if isinstance(block, TableBlock)]
    assert any(row[0].startswith("ill, basic β-likeness, β = ") for row in table.rows)
