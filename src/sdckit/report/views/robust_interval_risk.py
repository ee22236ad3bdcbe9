"""View of robust interval disclosure: intervals widen with a record's distance from the others."""

from sdckit.report import shares

VIEW = shares.share_view(
    shares.MATCHING,
    "Numbers close to the original, outliers apart",
    (
        shares.Figure("rate", "records with a number close to the released one, as their distance goes"),
        shares.Figure("isolated_rate", "of these, released records that stand alone", inside="rate"),
    ),
    "robust_interval_risk",
)
