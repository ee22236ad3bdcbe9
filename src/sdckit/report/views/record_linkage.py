"""View of distance-based record linkage: released records linked to their nearest original."""

from typing import Any

from sdckit.report.blocks import Block, Paragraph
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import MATCHING, Figure, share_view
from sdckit.report.view import Note, Plain


def _ends(result: Any, _: PairSetting) -> dict[str, Tree]:
    return {"ends": InternalOnly(result.intervals["rate"])} if "rate" in result.intervals else {}


def _interval(tree: Plain) -> list[Block]:
    if not (ends := tree.get("ends")):
        return []
    low, high = (f"{100 * end:.2f} %" for end in ends)
    return [Paragraph(f"95 % interval of the share linked to the right original: {low} to {high}.", "note")]


VIEW = share_view(
    MATCHING,
    "Records linked to their nearest neighbour",
    (
        Figure("rate", "released records whose nearest original is the right one", base="released", whole=False),
    ),
    Note(
        "Record linkage",
        "Each released record is linked to the original record nearest to it; ties are drawn at random. The share of "
        "right links is compared with that of links drawn by chance.",
        "Domingo-Ferrer & Torra (2003)",
    ),
    more=_ends, also=_interval,
)  # fmt: skip
