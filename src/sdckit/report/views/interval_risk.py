"""View of interval disclosure: records whose numeric values all lie close to the released ones."""

from sdckit.report import shares

VIEW = shares.share_view(
    shares.MATCHING,
    "Numbers close to the original",
    (shares.Figure("rate", "records with every number close to the released one"),),
    "interval_risk",
)
