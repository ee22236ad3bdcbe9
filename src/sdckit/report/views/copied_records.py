"""View of copied records: released records equal to one original record, beside what chance makes."""

from collections.abc import Mapping
from typing import Any

from sdckit.report import blocks, setting, view
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.shares import MATCHING, Figure, over, share_view


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
    MATCHING,
    "Released records that are copies of a single record",
    (
        Figure("copies", "equal in all columns", base="released"),
        Figure("copies_by_chance", "the same by chance", base="released", whole=False),
        Figure("near_copies", "equal in all columns but one", base="released"),
        Figure("near_copies_by_chance", "the same by chance, in all columns but one", base="released", whole=False),
        Figure("moved_copies", "equal but for numbers that are near", base="released", whole=False),
        Figure("moved_copies_by_chance", "the same by chance, but for near numbers", base="released", whole=False),
        Figure("copied_records", "beyond chance, at least", base="released", whole=False),
    ),
    "copied_records",
    answer=lambda tree, _: f"Copies of single records beyond chance are {over(tree, 'copied_records')} of the released "
    "records, at least.",
    more=_more, also=_left_out,
)  # fmt: skip
