"""View of copied records: released records equal to one original record, beside what chance makes."""

from collections.abc import Mapping
from typing import Any

from sdckit.report import blocks, setting, view
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.shares import MATCHING, over, share_view


def _more(result: Any, _: setting.PairSetting) -> Mapping[str, Tree]:
    how = {"left_out": InternalOnly(tuple(result.left_out)), "moved": InternalOnly(tuple(result.moved))}
    return {"chance": result.chance, **how}


def _left_out(tree: view.Plain) -> list[blocks.Block]:
    """The columns left out or near, for a confidential document: which they are follows from exact shares."""
    notes: list[blocks.Block] = []
    for name, words in (("left_out", "Left out of the comparison of near copies"), ("moved", "Near instead of equal")):
        if how := list(dict.fromkeys(filter(None, tree.get(name, ())))):
            notes.append(blocks.Paragraph(f"{words}: {'; '.join(how)}.", "note"))
    return notes


VIEW = share_view(
    "copied_records", MATCHING, "Released records that are copies of a single record",
    answer=lambda tree, _: f"Copies of single records beyond chance are {over(tree, 'copied_records')} of the released "
    "records, at least.",
    more=_more, also=_left_out,
)  # fmt: skip
