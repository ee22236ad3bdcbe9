"""How well a model trained on a release predicts the target, in a document."""

from __future__ import annotations

from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report.blocks import ChartBlock
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import LEARNING, Figure, bins_chart, bins_tree, share_view
from sdckit.report.view import Note, Plain


def _bins(result: Any, setting: PairSetting) -> dict[str, Tree]:
    rows = rows_of(result.before_after())
    edges = (*(float(row["low"]) for row in rows), float(rows[-1]["high"]))
    counts = [[int(row[side]) for row in rows] for side in ("original", "released")]
    for j in range(1, len(result.per_release) + 1):  # the rest is predicted equally well
        worse, better = (
            f"{setting.prefix}.{setting.place}.{j}.share_{one}_accurate" for one in ("less", "more")
        )
        setting.ledger.bounded("n", {worse: (1.0, 0.0), better: (1.0, 0.0)}, upper=False)
    return {"distribution": bins_tree(edges, counts, setting), "numeric": bool(result.numeric)}


def _draw(tree: Plain, variable: str) -> ChartBlock:
    what = f"the chance that their {variable} is guessed rightly"
    if tree["numeric"]:
        what = f"the error of a prediction of {variable}, in standard deviations"
    return bins_chart(tree["distribution"], f"Records by {what}, before and after")


VIEW = share_view(
    LEARNING,
    "Prediction of {}",
    (
        Figure("accuracy_released", "predicted correctly by a model of the release"),
        Figure("accuracy_original", "predicted correctly by a model of the original"),
        Figure("baseline", "predicted correctly by the most frequent value", beside="accuracy_released"),
        Figure("share_less_accurate", "predicted worse from the release than from the original"),
        Figure("share_more_accurate", "predicted better from the release than from the original"),
    ),
    Note(
        "Prediction",
        "A model of the sensitive variable is trained on the release and applied to the keys of the original.",
        "Domingo-Ferrer & Torra (2003); Choi et al. (2017)",
    ),
    more=_bins,
    draw=_draw,
)
