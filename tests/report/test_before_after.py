"""The scatter before and after: every pair inside, audited squares outside."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import releases
import sdckit as sdc
from report.views.pairs import EVERYBODY, KEYS, printed, result_of, shown
from sdckit.data.frames import rows_of
from sdckit.errors import DataError
from sdckit.report import before_after as module
from sdckit.report.before_after import FEWEST, MOST_POINTS, Grid, grid_of, pairs_tree
from sdckit.report.blocks import ChartBlock
from sdckit.report.charts import chart_for, describe, to_svg
from sdckit.report.gate.protect import protect
from sdckit.report.view import view_of

BOTH = ("correct_attribution_probability", "prediction_risk")


def points(chart: Any) -> list[dict[str, Any]]:
    return next(rows for rows in chart.to_dict()["datasets"].values() if "n" in rows[0])


def block(measure: str, *, internal: bool) -> ChartBlock:
    return view_of(measure).charts["scatter"](result_of(measure), internal)


@pytest.mark.parametrize("measure", BOTH)
def test_inside_every_pair_has_its_number(measure: str) -> None:
    result = result_of(measure)
    rows = points(result.plot(scatter=True, internal=True))
    expected = {(one["original"], one["released"]): one["n"] for one in rows_of(result.pairs())}
    assert {(row["x"], row["y"]): row["n"] for row in rows} == expected
    drawn = [one for one in shown(measure, internal=True) if isinstance(one, ChartBlock)]
    assert [one.name for one in drawn] == ["bars", "bubbles"]


@pytest.mark.parametrize("measure", BOTH)
def test_documents_that_leave_have_bars_only(measure: str) -> None:
    assert "scatter" not in printed(measure)
    assert [one.name for one in shown(measure) if isinstance(one, ChartBlock)] == ["bars"]


@pytest.mark.parametrize("measure", BOTH)
def test_outside_squares_are_rounded_and_small_ones_empty(measure: str) -> None:
    data = block(measure, internal=False).data
    edges = [*(float(step.split()[0]) for step in data["steps"]), np.inf]
    true = grid_of(*result_of(measure).sides(), edges)
    for row in data["rows"]:
        n, step = row["n"]["value"], row["n"].get("rounded_to", 5)
        assert n % 5 == 0, row
        assert abs(n - true[row["x"], row["y"]]) <= step, row
        assert true[row["x"], row["y"]] >= 3, row
    kept = {(row["x"], row["y"]) for row in data["rows"]}
    assert not any(n < 3 for at, n in np.ndenumerate(true) if at in kept)
    assert len(kept) < true.size
    assert bool(kept) == (measure == BOTH[0])  # bars that are printed finely leave a table of nine squares open


def test_the_bars_are_printed_as_in_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares are asked for after all other figures, so that the picture lies beside the document."""
    seen = []
    monkeypatch.setattr(module, "protect", lambda one: seen.append(protect(one)) or seen[-1])
    block(BOTH[0], internal=False)
    (tree,) = seen[0]["measures"].values()
    assert tree == printed(BOTH[0])


def test_the_bins_are_joined_where_records_are_few() -> None:
    assert block(BOTH[0], internal=False).data["steps"] == ["0 to 0.4", "0.4 to 0.8", "0.8 to 1"]
    many = releases.original(FEWEST)
    result = sdc.cap(many, releases.release(many), keys=KEYS, target="ill")
    data = view_of(BOTH[0]).charts["scatter"](result, False).data
    assert len(data["steps"]) == 5
    assert len(data["rows"]) > 5


def test_a_picture_without_any_square_says_so() -> None:
    one = block(BOTH[1], internal=False)
    assert one.caption.endswith("no square can be told without telling of a few records")


def test_a_small_file_is_drawn_inside_only() -> None:
    few = releases.original(40)
    result = sdc.cap(few, few, keys=KEYS, target="ill")
    with pytest.raises(DataError, match="fewer than 50 records"):
        result.plot(scatter=True)
    assert sum(row["n"] for row in points(result.plot(scatter=True, internal=True))) == 40


def test_too_many_points_are_put_in_small_squares() -> None:
    rng = np.random.default_rng(2)
    n = 4 * MOST_POINTS
    original = pl.DataFrame({"age": rng.uniform(0, 9, n), "pay": rng.normal(50, 9, n)})
    released = original.with_columns(pay=pl.Series(rng.normal(50, 9, n)))
    result = sdc.prediction_risk(original, released, keys=["age"], target="pay")
    rows = points(result.plot(scatter=True, internal=True))
    assert len(rows) <= MOST_POINTS < len(rows_of(result.pairs()))
    assert sum(row["n"] for row in rows) == n
    mean = sum(row["x"] * row["n"] for row in rows) / n
    assert mean == pytest.approx(result.sides()[0].mean())


def test_a_grid_counts_everybody_once() -> None:
    values = np.array([0.0, 0.2, 0.2, 0.5, 1.0])
    found = grid_of(values, values[::-1], (0.0, 0.2, 1.0))
    assert found.tolist() == [[0, 1], [1, 3]]


def test_relative_errors_have_bins_of_their_own() -> None:
    original = EVERYBODY[:240]
    result = sdc.prediction_risk(
        original, releases.release(original), keys=KEYS, target="income", numeric=["income"], loss="relative"
    )
    one = view_of("prediction_risk").charts["scatter"](result, False)
    assert one.data["steps"][:2] == ["0 to 0.1", "0.1 to 0.5"]
    assert one.data["x"] == "relative error of a prediction of income, from the original"


def test_names_are_shown_without_control_characters() -> None:
    original = EVERYBODY[:240].rename({"ill": "ill\u202e\n"})
    result = sdc.cap(original, original, keys=["sex"], target="ill\u202e\n")
    for internal in (True, False):
        chart = result.plot(scatter=True, internal=internal).to_dict()
        assert "\u202e" not in str(chart)
        assert "ill\\u202e\\x0a" in str(chart).replace("\\\\", "\\")


def test_points_are_told_in_words() -> None:
    data = block(BOTH[0], internal=False).data
    words = describe("bubbles", data, "Caption")
    assert all(f"{row['n']['text']} records" in words for row in data["rows"])
    many = {**data, "steps": None, "rows": [{"x": x / 50, "y": 0.5, "n": {"text": "1", "value": 1}} for x in range(50)]}
    assert describe("bubbles", many, "Caption").endswith("; 10 more.")
    assert describe("bubbles", {**data, "rows": []}, "C") == "C. no square has enough records to be shown."
    assert "<svg" in to_svg(chart_for("bubbles", {**data, "rows": []}))


def test_bins_ascend() -> None:
    for measure in BOTH:
        steps = block(measure, internal=False).data["steps"]
        assert all(one.split()[-1] == other.split()[0] for one, other in pairwise(steps))


def test_the_tree_is_for_confidential_documents() -> None:
    assert pairs_tree(result_of(BOTH[0]), Grid((0.0, 1.0), "figure")).otherwise is None


def ends(leaf: dict[str, Any], n: int) -> tuple[float, float]:
    """What a reader knows of a number that is printed so."""
    if leaf["value"] is not None:
        half = leaf.get("rounded_to", 5) / 2 if leaf["value"] else 0.0
        return max(0.0, leaf["value"] - half), leaf["value"] + half
    return 0.0, leaf["below"] - 1 if "below" in leaf else n


@pytest.mark.parametrize("measure", BOTH)
@pytest.mark.parametrize(("n", "seed"), [(120, 1), (400, 2), (1200, 3)])
def test_an_attacker_with_the_document_narrows_no_small_square(
    measure: str, n: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bars and squares as printed, and that they are sums of each other: small squares keep three values at least."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "protect", lambda one: seen.append(protect(one)) or seen[-1])
    original = releases.original(n)
    released = releases.release(original, seed=seed)
    if measure == BOTH[0]:
        result: Any = sdc.cap(original, released, keys=KEYS, target="ill")
    else:
        result = sdc.prediction_risk(original, released, keys=KEYS, target="income", numeric=["income"])
    view_of(measure).charts["scatter"](result, False)
    (figures,), squares = seen[0]["measures"].values(), seen[0]["squares"]
    bars, k = figures["distribution"], len(squares["steps"])
    starts = [float(step.split()[0]) for step in squares["steps"]]
    bounds = [ends(row["n"], n) for row in squares["rows"]]
    rows, low, high = [np.ones(k * k)], [n], [n]
    for axis, side in (("x", "original"), ("y", "released")):
        for at, start in enumerate(starts):
            stop = starts[at + 1] if at + 1 < k else np.inf
            parts = [ends(bar[side], n) for bar in bars if start <= bar["from"] < stop]
            rows.append(np.array([float(row[axis] == at) for row in squares["rows"]]))
            low.append(sum(one for one, _ in parts))
            high.append(sum(one for _, one in parts))
    true = grid_of(*result.sides(), [*starts, np.inf])
    small = [i for i, row in enumerate(squares["rows"]) if 0 < true[row["x"], row["y"]] < 5]
    assert small or n < 1000
    known = LinearConstraint(np.array(rows), low, high)
    limits = Bounds(*map(list, zip(*bounds, strict=True)))
    for place in small:
        goal = np.eye(k * k)[place]
        least, most = (
            round(milp(sign * goal, integrality=np.ones(k * k), bounds=limits, constraints=known).x[place])
            for sign in (1, -1)
        )
        assert most - least >= 2, (measure, n, squares["rows"][place])
