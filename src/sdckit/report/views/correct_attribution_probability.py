"""How often the keys give the right value of the target, in a document."""

from __future__ import annotations

from sdckit.report.shares import LEARNING, Figure, bins_chart, bins_tree, over, share_view
from sdckit.report.view import Note

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
VIEW = share_view(
    LEARNING,
    "Correct attribution of {}",
    (
        Figure("average", "attributed correctly from the release", whole=False),
        Figure("matched", "whose keys the release has"),
        Figure(
            "average_matched", "of these, attributed correctly", base="matched", whole=False, sum_of="average"
        ),
        Figure("original_average", "attributed correctly from the original itself", whole=False),
        Figure("baseline", "attributed correctly by guessing from the margin", whole=False),
    ),
    Note(
        "Correct attribution",
        "The intruder finds the released rows with the person's keys and takes the sensitive value of one of them: "
        "the chance that it is the true one. The original against itself and a guess from the margin are shown beside "
        "it; a risk is what lies above the guess.",
        "Elliot (2014); Taub, Elliot, Pampaka & Smith (2018)",
    ),
    answer=lambda tree, variable: (
        f"The keys give the right value of {variable} with a chance of {over(tree, 'average')} from the release; "
        f"guessing from the margin gives {over(tree, 'baseline')}."
    ),
    more=lambda result, setting: {
        "distribution": bins_tree(EDGES, result.cap_histogram(EDGES), setting, whole="n")
    },
    draw=lambda tree, variable: bins_chart(
        tree["distribution"],
        f"Records by the chance that their {variable} is guessed rightly, before and after",
    ),
)
