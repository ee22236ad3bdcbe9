"""View of replicated uniques: unique in the original and in the release."""

from sdckit.report import shares

VIEW = shares.share_view(
    "replicated_uniques", shares.MATCHING, "Uniques of the original that are uniques of the release"
)
