"""Two recipes side by side: what each comes to after its last step."""

from __future__ import annotations

from collections.abc import Sequence

from sdckit.report.blocks import Section, TableBlock
from sdckit.report.parts import ALONE, EXPECTED, below
from sdckit.report.view import Plain

FIGURES = (
    (ALONE, "sample_uniques"), ("", "below_k"), (EXPECTED, "expected_reidentifications"),
    ("Values that differ", "share_changed"), ("pMSE", "pmse"),
)  # fmt: skip


def recipes_beside(plains: Sequence[Plain], names: Sequence[str]) -> Section:
    """Lay out what recipes come to in the end; `plains` as `plain_recipe` gives them, of one file and scenario."""
    ends = [[one for one in plain["figures"] if one["step"] == len(plain["steps"])] for plain in plains]
    several = len(ends[0]) > 1
    rows: list[tuple[str, ...]] = []
    for each in zip(*ends, strict=True):
        who = f", {each[0]['intruder']}" if several else ""
        for words, name in FIGURES:
            leaves = [one.get(name) for one in each]
            told = ("–" if leaf is None else leaf["text"] for leaf in leaves)
            rows.append(((words or below(plains[0]["k"])) + who, *told))
    table = TableBlock("Risk and loss after the last step", ("Figure", *names), tuple(rows), (1, 2))
    return Section("Two recipes side by side", (table,))
