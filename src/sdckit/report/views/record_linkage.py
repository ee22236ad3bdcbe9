"""View of distance-based record linkage: released records linked to their nearest original."""

from typing import Any

from sdckit.report import blocks, setting, shares, view
from sdckit.report.gate.figures import InternalOnly, Tree


def _ends(result: Any, _: setting.PairSetting) -> dict[str, Tree]:
    return {"ends": InternalOnly(result.intervals["rate"])} if "rate" in result.intervals else {}


def _interval(tree: view.Plain) -> list[blocks.Block]:
    if not (ends := tree.get("ends")):
        return []
    low, high = (f"{100 * end:.2f} %" for end in ends)
    return [blocks.Paragraph(f"95 % interval of the share linked to the right original: {low} to {high}.", "note")]


VIEW = shares.share_view(
    shares.MATCHING,
    "Records linked to their nearest neighbour",
    (shares.Figure("rate", "released records whose nearest original is the right one", base="released", whole=False),),
    "record_linkage",
    more=_ends,
    also=_interval,
)
