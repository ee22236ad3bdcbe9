"""View of interval disclosure: records whose numeric values all lie close to the released ones."""

from sdckit.report.shares import MATCHING, Figure, share_view
from sdckit.report.view import Note

VIEW = share_view(
    MATCHING,
    "Numbers close to the original",
    (Figure("rate", "records with every number close to the released one"),),
    Note(
        "Close numbers",
        "Records whose original numbers all lie in an interval around the released ones.",
        "Mateo-Sanz, Sebé & Domingo-Ferrer (2004)",
    ),
)
