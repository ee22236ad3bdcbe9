"""View of people whom few records of a release match."""

from sdckit.report.shares import MATCHING, Figure, over, share_view
from sdckit.report.view import Note

VIEW = share_view(
    MATCHING,
    "Released records that match people's true keys",
    (
        Figure("few_matches", "with fewer than k matches"),
        Figure("unique_matches", "with no match but their own record", inside="few_matches"),
    ),
    Note(
        "Few matches",
        "The released records that show of each key what is true of a person, or nothing. k is the limit on "
        "k-anonymity, else 3. k-anonymity itself counts every value that a record which lost one may have had; who "
        "knows the true value sets aside the records that show another.",
        "Samarati (2001); Reiter & Mitra (2009)",
    ),
    answer=lambda tree, _: (
        f"Of the people, {over(tree, 'few_matches')} have fewer than {tree['k']} released records that match the "
        "truth about them."
    ),
    more=lambda result, _: {"k": result.k},
)
