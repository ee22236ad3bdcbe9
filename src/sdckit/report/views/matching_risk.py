"""Rows of a release matched back to the people they were made from, in a document."""

from __future__ import annotations

from sdckit.report.shares import MATCHING, Figure, over, share_view
from sdckit.report.view import Note

VIEW = share_view(
    MATCHING,
    "Rows matched back by their keys",
    (
        Figure("mean_match_risk", "records expected to be matched back", whole=False),
        Figure("unique_matches", "records with a single match (number)", base=""),
        Figure("true_match_rate", "records whose single match is the right one", inside="unique_matches"),
    ),
    Note(
        "Matching back",
        "An intruder looks for the released rows that agree with what is known of a person: on every category "
        "exactly, on numbers within an interval. The chance of picking the right one of c matching rows is 1/c if it "
        "is among them, and 0 otherwise.",
        "Reiter & Mitra (2009); Hornby & Hu (2021)",
    ),
    limits={"match_risk": "mean_match_risk"},
    answer=lambda tree, _: (
        f"Of the original's records {over(tree, 'mean_match_risk')} would be expected to be matched back to their "
        "own row."
    ),
)
