"""View of distance-based record linkage: released records linked to their nearest original."""

from __future__ import annotations

from sdckit.report.shares import MATCHING, Figure, share_view
from sdckit.report.view import Note

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
)  # fmt: skip
