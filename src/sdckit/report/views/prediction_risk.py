"""View of the prediction risk: how well a model trained on a release predicts the target."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.attribute.prediction.prediction_risk import CHANCE_EDGES, ERROR_EDGES
from sdckit.data.frames import rows_of
from sdckit.report import before_after, blocks, shares, view
from sdckit.report.gate.figures import Guarded, Ledger, Relation, Tree
from sdckit.report.setting import PairSetting

LOSSES = {"absolute": "Absolute error", "squared": "Squared error", "relative": "Relative error", "costs": "Cost"}
RELATIVE = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, math.inf)


def _bins(result: Any, setting: PairSetting) -> dict[str, Tree]:
    rows = rows_of(result.before_after())
    edges = (*(float(row["low"]) for row in rows), float(rows[-1]["high"]))
    counts = [[int(row[side]) for row in rows] for side in ("original", "released")]
    for j in range(1, len(result.per_release) + 1):  # the rest is predicted equally well
        worse, better = (f"{setting.prefix}.{setting.place}.{j}.share_{degree}_accurate" for degree in ("less", "more"))
        setting.ledger.bounded("n", {worse: (1.0, 0.0), better: (1.0, 0.0)}, upper=False)
    return {
        "distribution": shares.bins_tree(edges, counts, setting), "numeric": bool(result.numeric),
        "losses": _losses(result, setting), "scatter": before_after.pairs_tree(result, _grid(result)),
    }  # fmt: skip


def _losses(result: Any, setting: PairSetting) -> Tree:
    """Enter the mean losses over the releases; None for right or wrong, where they follow from the shares.

    A mean times the records is a sum: it is told where no record has more than a fiftieth of it, and in digits that
    five records of the largest loss fit into, so that who knows all losses but one learns nothing of that one.
    """
    if result.loss == "wrong":
        return None
    values, start = dict(result.columns.items()), f"{setting.prefix}.{setting.place}."
    what = "error" if result.loss == "absolute" else "loss"
    losses: dict[str, Tree] = {"of": result.loss}
    for side in ("released", "original"):
        known = values[f"{what}_{side}"][~np.isnan(values[f"{what}_{side}"])]
        mean, largest = getattr(result, f"mean_loss_{side}"), float(known.max(initial=0.0))
        if math.isnan(mean):
            continue
        name, base = f"{start}mean_loss.{side}", f"{start}carried.{side}"
        setting.ledger.value(name, mean, name)
        setting.ledger.count(base, int(known.sum() / largest) if largest else 0, base, watched="nowhere")
        if what == "error":
            _link_bins(result, setting, name, side, len(known))
        losses[side] = Guarded(name, base, few=True)
    return losses


def _link_bins(result: Any, setting: PairSetting, name: str, side: str, n: int) -> None:
    """Bound the sum of the errors from below by the lower edges of their bins."""
    unit = result.deviation
    if unit:
        start = f"{setting.prefix}.{setting.place}.bin.{side}"
        bins = tuple((f"{start}.{at}", -low) for at, low in enumerate(ERROR_EDGES[:-1]) if low)
        setting.ledger.relations.append(Relation(((name, n / unit), *bins), upper=math.inf))


def _loss_table(tree: view.Plain) -> list[blocks.Block]:
    losses = tree.get("losses") or {}
    rows = tuple(
        (f"{LOSSES[losses['of']]}, model of the {words}", losses[side]["text"])
        for side, words in (("released", "release"), ("original", "original"))
        if side in losses
    )
    return [blocks.TableBlock("Mean loss of the predictions", ("Loss", "Mean"), rows, (1,))] if rows else []


def _grid(result: Any) -> before_after.Grid:
    """Grid of the scatter chart: the edges of the bars, or those for relative errors."""
    of = f"prediction of {result.target}"
    if result.loss == "relative":
        return before_after.Grid(RELATIVE, f"relative error of a {of}", "sqrt", barred=False)
    if not result.numeric:
        return before_after.Grid(CHANCE_EDGES, f"chance of a right {of}", link=_link)
    return before_after.Grid(ERROR_EDGES, f"error of a {of}, in standard deviations", "sqrt", link=_link)


def _link(ledger: Ledger, start: str, squares: before_after.Squares, _: Sequence[float]) -> None:
    """Records in a higher bin with the release than with the original are predicted worse from it (or better)."""
    if f"{start}2.share_less_accurate" in ledger.variables:
        return
    sides = ("less", "more") if f"{start}1.accuracy_released" not in ledger.variables else ("more", "less")
    for degree, above in zip(sides, (True, False), strict=True):
        inside = {name: (1.0, 1.0) for (i, j), name in squares.items() if i != j and (i < j) is above}
        ledger.bounded(f"{start}1.share_{degree}_accurate", inside, upper=False)


def _draw(tree: view.Plain, variable: str) -> blocks.ChartBlock:
    what = f"the chance that their {variable} is guessed rightly"
    if tree["numeric"]:
        what = f"the error of a prediction of {variable}, in standard deviations"
    return shares.bins_chart(tree["distribution"], f"Records by {what}, before and after")


VIEW = shares.share_view(
    shares.LEARNING,
    "Prediction of {}",
    (
        shares.Figure("accuracy_released", "predicted correctly by a model of the release"),
        shares.Figure("accuracy_original", "predicted correctly by a model of the original"),
        shares.Figure("baseline", "predicted correctly by the most frequent value", beside="accuracy_released"),
        shares.Figure("share_less_accurate", "predicted worse from the release than from the original"),
        shares.Figure("share_more_accurate", "predicted better from the release than from the original"),
    ),
    "prediction_risk",
    more=_bins,
    draw=_draw,
    also=lambda tree: [*_loss_table(tree), *before_after.scatter_blocks(tree)],
    charts={"scatter": lambda result, internal: before_after.scatter_chart(result, internal, _grid(result))},
)
