"""View of robust interval disclosure: intervals widen with a record's distance from the others."""

from sdckit.report import shares, view

VIEW = shares.share_view(
    shares.MATCHING,
    "Numbers close to the original, outliers apart",
    (
        shares.Figure("rate", "records with a number close to the released one, as their distance goes"),
        shares.Figure("isolated_rate", "of these, released records that stand alone", inside="rate"),
    ),
    view.Note(
        "Close numbers, outliers apart",
        "Records with an original number in an interval around the released one, the wider the farther the record "
        "lies from the others; and those of them that no other released record is near to.",
        "Templ & Meindl (2008)",
    ),
)
