"""View of people whom few records of a release match."""

from sdckit.report.shares import MATCHING, Figure, over, share_view
from sdckit.report.view import Note

VIEW = share_view(
    MATCHING,
    "People whom few released records match, for who knows their true keys",
    (
        Figure("few_matches", "matched by fewer than k records"),
        Figure("unique_matches", "matched by their own record alone", inside="few_matches"),
    ),
    Note(
        "Few matches",
        "Records of the original whose own record in the release, with fewer than k in all, matches their true keys; "
        "a missing value matches any. k is the limit on k-anonymity, else 3. k-anonymity by itself counts every value "
        "that a suppressed one may have had, which who knows the true value does not.",
        "Samarati (2001); Reiter & Mitra (2009)",
    ),
    answer=lambda tree, _: (
        f"For who knows their true keys, {over(tree, 'few_matches')} of the records are matched by fewer than k "
        "released ones."
    ),
)
