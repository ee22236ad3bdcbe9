"""View of identity disclosure: sample uniques of the original that are unique in the release."""

from sdckit.report.shares import MATCHING, Figure, over, share_view
from sdckit.report.view import Note

UNIQUES = Note(
    "Uniques in both files",
    "Records whose keys are unique in the original, whether those keys are in the release, and whether they are "
    "unique there, too. A missing value is a value of its own.",
    "Raab, Nowok & Dibben (2024)",
)
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
    UNIQUES,
    answer=lambda tree, _: f"Unique in both files are {over(tree, 'replicated_uniques')} of the original's records.",
)  # fmt: skip
