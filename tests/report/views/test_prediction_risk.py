"""Predictions from the release and from the original, in bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed, shown
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document


def test_errors_of_a_number_are_in_bins_open_above():
    tree = printed("prediction_risk")
    assert tree["numeric"]
    assert tree["distribution"][-1]["to"] is None
    assert "accuracy_released" not in tree["releases"][0]
    assert "error of a prediction of income" in shown("prediction_risk")[1].caption


def test_counts_are_rounded():
    assert all(row["length"] % 5 == 0 for row in drawn("prediction_risk"))


def document(loss: Any = None, *, internal: bool = False, n: int = 400, **more: Any) -> tuple[Any, dict[str, Any]]:
    original = releases.original(n)
    given = {"keys": ["sex", "region"], "target": "income", "numeric": ["income"], "loss": loss, **more}
    result = sdc.prediction_risk(original, releases.release(original), **given)
    (tree,) = protect(result_document(result), internal=internal)["measures"].values()
    return result, tree


@pytest.mark.parametrize("loss", ["absolute", "squared", "relative"])
def test_inside_mean_losses_are_exact(loss: str) -> None:
    result, tree = document(loss, internal=True)
    assert tree["losses"]["of"] == loss
    for side in ("released", "original"):
        assert tree["losses"][side]["value"] == getattr(result, f"mean_loss_{side}")


@pytest.mark.parametrize("loss", ["absolute", "squared", "relative"])
@pytest.mark.parametrize("n", [100, 400, 3000])
def test_who_knows_all_losses_but_one_learns_nothing_of_it(loss: str, n: int) -> None:
    """The step of a printed mean, times the records, is five times the largest loss at least."""
    result, tree = document(loss, n=n)
    for side, true in zip(("original", "released"), losses_of(result), strict=True):
        leaf = tree["losses"][side]
        if leaf["text"] == "withheld":
            assert true.sum() < 53 * true.max()
            continue
        digits = leaf["text"].replace(",", "").lstrip("0.").replace(".", "").rstrip("0") or "0"
        step = 10.0 ** (math.floor(math.log10(leaf["value"])) + 1 - max(1, len(digits)))
        assert len(digits) <= 2
        assert leaf["value"] == pytest.approx(true.mean(), abs=step)
        assert step * len(true) >= 4.7 * true.max()  # the number behind it is rounded, too


def losses_of(result: Any) -> list[np.ndarray]:
    what = "error" if result.loss == "absolute" else "loss"
    columns = (result.columns[f"{what}_{side}"] for side in ("original", "released"))
    return [one[~np.isnan(one)] for one in columns]


def test_a_mean_that_one_record_makes_is_withheld() -> None:
    original = releases.original(400)
    rich = original.with_columns(income=pl.when(pl.int_range(pl.len()) == 7).then(1e7).otherwise("income"))
    result = sdc.prediction_risk(
        rich, releases.release(original), keys=["sex", "region"], target="income", numeric=["income"]
    )
    (tree,) = protect(result_document(result))["measures"].values()
    assert tree["losses"]["released"]["text"] == "withheld"


def test_costs_are_told_and_right_and_wrong_is_in_the_shares() -> None:
    labels = sorted(releases.original(400)["ill"].unique())
    costs = [[0, 1], [3, 0]]
    options = {"target": "ill", "numeric": []}
    result, tree = document(costs, **options)
    assert len(labels) == 2
    assert tree["losses"]["of"] == "costs"
    assert float(tree["losses"]["released"]["text"]) == pytest.approx(result.mean_loss_released, rel=0.5)
    assert document(**options)[1]["losses"] is None


def test_mean_losses_are_listed() -> None:
    (table,) = [one for one in shown("prediction_risk") if getattr(one, "caption", "").startswith("Mean loss")]
    assert [row[0] for row in table.rows] == [
        "Absolute error, model of the release", "Absolute error, model of the original",
    ]  # fmt: skip


def test_no_error_at_all_is_none() -> None:
    original = pl.DataFrame({"key": [i % 4 for i in range(200)], "pay": [10.0 * (i % 4) for i in range(200)]})
    result = sdc.prediction_risk(original, original, keys=["key"], target="pay", numeric=["pay"])
    (tree,) = protect(result_document(result))["measures"].values()
    assert tree["losses"]["released"]["text"] == "0"
