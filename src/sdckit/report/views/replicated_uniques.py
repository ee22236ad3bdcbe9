"""View of replicated uniques: unique in the original and in the release."""

from sdckit.report import shares, view

VIEW = shares.share_view(
    shares.MATCHING,
    "Uniques of the original that are uniques of the release",
    (
        shares.Figure("original_uniques", "records unique in the original (number)", base="", same="sample_uniques"),
        shares.Figure("share", "records unique in both files", inside="original_uniques"),
    ),
    view.Note(
        "Replicated uniques",
        "Keys that one record has in the original and one in the release, as a share of the original's records.",
        "Nowok, Raab & Dibben (2016); Jackson et al. (2022)",
    ),
)
