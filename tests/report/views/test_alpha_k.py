from __future__ import annotations

import releases
import sdckit as sdc
from sdckit.report.blocks import TableBlock
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document
from sdckit.report.views.alpha_k import VIEW


def test_its_kinds_are_named() -> None:
    result = sdc.alpha_k(releases.original(), keys=["sex", "age"], sensitive=["ill"])
    plain = protect(result_document(result))
    (table,) = [block for block in VIEW.blocks(plain, "alpha_k") if isinstance(block, TableBlock)]
    assert any(row[0].startswith("ill, (α, k)-anonymity, α = ") for row in table.rows)
