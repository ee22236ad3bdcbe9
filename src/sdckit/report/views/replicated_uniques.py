"""View of replicated uniques: unique in the original and in the release."""

from sdckit.report import shares

VIEW = shares.share_view(
    shares.MATCHING,
    "Uniques of the original that are uniques of the release",
    (
        shares.Figure("original_uniques", "records unique in the original (number)", base="", same="sample_uniques"),
        shares.Figure("share", "records unique in both files", inside="original_uniques"),
    ),
    "replicated_uniques",
)
