"""View of people whom few records of a release match."""

from sdckit.report.shares import MATCHING, Figure, over, share_view

VIEW = share_view(
    MATCHING,
    "Released records that match people's true keys",
    (
        Figure("few_matches", "with fewer than k matches"),
        Figure("unique_matches", "with no match but their own record", inside="few_matches"),
    ),
    "few_matches",
    answer=lambda tree, _: (
        f"Of the people, {over(tree, 'few_matches')} have fewer than {tree['k']} released records that match the "
        "truth about them."
    ),
    more=lambda result, _: {"k": result.k},
)
