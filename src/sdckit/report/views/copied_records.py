"""View of copied records: released records equal to one original record, beside what chance makes."""

from collections.abc import Mapping
from typing import Any

from sdckit.report.blocks import Block, Paragraph
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import MATCHING, Figure, over, share_view
from sdckit.report.view import Note, Plain

NOTE = Note(
    "Copied records",
    "Released records equal to an original record that is alone with its combination of values, in all columns but "
    "ids and weights and with the one column left out that matters most; numbers at the decimals of the release. "
    "Beside them what chance makes: the same of people who were never in the file where there is a control file, else "
    "twice the combinations that two originals have, over the originals (Good-Turing). Limited is the lower end of "
    "the one-sided 95 % interval of what lies beyond, for all columns left out together.",
    "Good (1953); Newcombe (1998); Zou & Donner (2008)",
)


def _more(result: Any, _: PairSetting) -> Mapping[str, Tree]:
    return {"chance": result.chance, "left_out": InternalOnly(tuple(result.left_out))}


def _left_out(tree: Plain) -> list[Block]:
    """The columns left out of near copies, for a confidential document: which they are follows from exact shares."""
    columns = list(dict.fromkeys(filter(None, tree.get("left_out", ()))))
    return [Paragraph(f"Left out of the comparison of near copies: {', '.join(columns)}.", "note")] if columns else []


VIEW = share_view(
    MATCHING,
    "Released records that are copies of a single record",
    (
        Figure("copies", "equal in all columns", base="released"),
        Figure("copies_by_chance", "the same by chance", base="released", whole=False),
        Figure("near_copies", "equal in all columns but one", base="released"),
        Figure("near_copies_by_chance", "the same by chance, in all columns but one", base="released", whole=False),
        Figure("copied_records", "beyond chance, at least", base="released", whole=False),
    ),
    NOTE,
    answer=lambda tree, _: f"Copies of single records beyond chance are {over(tree, 'copied_records')} of the released "
    "records, at least.",
    more=_more,
    also=_left_out,
)  # fmt: skip
