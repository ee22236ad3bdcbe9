"""View of identity disclosure: sample uniques of the original that are unique in the release."""

from sdckit.report.shares import MATCHING, Figure, over, share_view

VIEW = share_view(
    MATCHING,
    "Uniques of the original in the release",
    (
        Figure("unique_in_original", "records unique in the original", same="sample_uniques"),
        Figure("unique_in_released", "released records unique in the release", base="released"),
        Figure(
            "unique_in_original_in_released", "unique in the original and found in the release",
            inside="unique_in_original",
        ),
        Figure("replicated_uniques", "unique in both files", inside="unique_in_original_in_released"),
    ),
    "identity_disclosure",
    answer=lambda tree, _: f"Unique in both files are {over(tree, 'replicated_uniques')} of the original's records.",
)  # fmt: skip
