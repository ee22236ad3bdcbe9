"""View of interval disclosure: records whose numeric values all lie close to the released ones."""

from sdckit.report import shares, view

VIEW = shares.share_view(
    shares.MATCHING,
    "Numbers close to the original",
    (shares.Figure("rate", "records with every number close to the released one"),),
    view.Note(
        "Close numbers",
        "Records whose original numbers all lie in an interval around the released ones.",
        "Mateo-Sanz, Sebé & Domingo-Ferrer (2004)",
    ),
)
