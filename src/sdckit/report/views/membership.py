"""View of membership inference."""

from __future__ import annotations

from sdckit.report.blocks import Block, Paragraph
from sdckit.report.rates import rate_view
from sdckit.report.view import Plain


def _details(tree: Plain, name: str) -> list[Block]:
    chance = tree.get("exact", {}).get("auc")
    if chance is None:
        return []
    words = f"{name}: a member is nearer to the release than another person with chance {chance:.4g} (AUC)"
    return [Paragraph(words, "note")]


# Guessing calls half of all those called, in the file and out.
VIEW = rate_view(lambda _: ("Telling who is in the file", ""), "none", details=_details)
