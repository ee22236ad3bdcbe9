"""View of identity disclosure: sample uniques of the original that are unique in the release."""

from sdckit.report.shares import MATCHING, over, share_view

VIEW = share_view(
    "identity_disclosure", MATCHING, "Uniques of the original in the release",
    answer=lambda tree, _: f"Unique in both files are {over(tree, 'replicated_uniques')} of the original's records.",
)  # fmt: skip
