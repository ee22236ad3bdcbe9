"""View of people whom few records of a release match."""

from sdckit.report.shares import MATCHING, over, share_view

VIEW = share_view(
    "few_matches",
    MATCHING,
    "Released records that match people's true keys",
    answer=lambda tree, _: (
        f"Of the people, {over(tree, 'few_matches')} have fewer than {tree['k']} released records that match the "
        "truth about them."
    ),
    more=lambda result, _: {"k": result.k},
)
