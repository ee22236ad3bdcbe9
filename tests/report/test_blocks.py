from __future__ import annotations

from sdckit.report.blocks import ChartBlock, Code, Facts, Paragraph, TableBlock, Verdicts


def test_every_block_says_its_kind() -> None:
    made = [
        Paragraph(""), Facts(()), Verdicts(()), TableBlock("", (), ()), ChartBlock("", {}, ""), Code("", ""),
    ]  # fmt: skip
    kinds = [one.kind for one in made]
    assert kinds == ["paragraph", "facts", "verdicts", "table", "chart", "code"]
