"""View of the correct attribution probability: how often the keys give the true value of the target."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report import before_after
from sdckit.report.gate.figures import DIFFERENCE, Ledger, Relation, Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import LEARNING, Figure, bins_chart, bins_tree, over, share_view

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def _link(ledger: Ledger, start: str, squares: before_after.Squares, edges: Sequence[float]) -> None:
    """Bound each mean by the bins' edges; records whose keys a single release lacks are in its lowest bin."""
    several = f"{start}2.matched" in ledger.variables
    for name, side in (("original_average", 0), ("average", 1)):
        if side == 0 or not several:
            spans = {square: (edges[at[side]], edges[at[side] + 1]) for at, square in squares.items()}
            ledger.bounded(f"{start}1.{name}", spans)
    absent = f"n{DIFFERENCE}{start}1.matched"
    if not several and absent in ledger.variables:
        lowest = tuple((square, 1.0) for (_, j), square in squares.items() if j == 0)
        ledger.relations.append(Relation(((absent, -1.0), *lowest), upper=math.inf))


def _grid(result: Any) -> before_after.Grid:
    return before_after.Grid(EDGES, f"chance of a right guess of {', '.join(result.target)}", link=_link)


def _more(result: Any, setting: PairSetting) -> Mapping[str, Tree]:
    return {
        "distribution": bins_tree(EDGES, result.cap_histogram(EDGES), setting, whole="n"),
        "scatter": before_after.pairs_tree(result, _grid(result)),
    }


VIEW = share_view(
    LEARNING,
    "Correct attribution of {}",
    (
        Figure("average", "attributed correctly from the release", whole=False),
        Figure("matched", "whose keys the release has"),
        Figure("average_matched", "of these, attributed correctly", base="matched", whole=False, sum_of="average"),
        Figure("original_average", "attributed correctly from the original itself", whole=False),
        Figure("baseline", "attributed correctly by guessing from the margin", whole=False),
    ),
    "correct_attribution_probability",
    answer=lambda tree, variable: (
        f"The keys give the right value of {variable} with a chance of {over(tree, 'average')} from the release; "
        f"guessing from the margin gives {over(tree, 'baseline')}."
    ),
    more=_more,
    draw=lambda tree, variable: bins_chart(
        tree["distribution"], f"Records by the chance that their {variable} is guessed rightly, before and after"
    ),
    also=before_after.scatter_blocks,
    charts={"scatter": lambda result, internal: before_after.scatter_chart(result, internal, _grid(result))},
)
