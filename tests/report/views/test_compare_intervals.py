"""Intervals given as numbers in a document: as given inside, estimates to two digits outside."""

from __future__ import annotations

import pytest

import sdckit as sdc
from report.drawn import points
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.errors import DataError
from sdckit.report.blocks import ChartBlock, TableBlock
from sdckit.report.charts import to_svg


def test_inside_the_intervals_are_as_given():
    rows = printed("compare_intervals", internal=True)["forest"]
    assert [row["file"] for row in rows] == ["original", "one", "other"] * 2
    last = rows[2]
    assert [last[part]["value"] for part in ("low", "estimate", "high")] == [2.2, 2.2725, 2.345]
    chart = result_of("compare_intervals").plot(internal=True)
    spans = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    assert [(row["low"], row["high"]) for row in spans][:2] == [(1.0, 2.0), (1.1, 1.9)]
    assert len(points(to_svg(chart))) == 6


def test_outside_estimates_have_two_digits_and_no_ends_are_drawn():
    rows = drawn("compare_intervals")
    assert [row["text"] for row in rows[:3]] == ["1.5", "1.5", "2.3"]
    assert all(row["low"] == row["high"] == row["estimate"] for row in rows)
    (chart,) = (one for one in shown("compare_intervals") if isinstance(one, ChartBlock))
    assert chart.caption.endswith("intervals are not drawn, since their ends are rounded here")


def test_overlaps_are_listed():
    table = shown("compare_intervals", internal=True)[-1]
    assert isinstance(table, TableBlock)
    assert [row[0] for row in table.rows] == ["1, one", "2, one", "1, other", "2, other", "Mean"]
    assert printed("compare_intervals")["overlap"]["one"]["1"]["text"] == "0.90"


def test_few_records_are_not_shown():
    few = sdc.compare_intervals([[0.0, 1.0]], [[0.5, 1.5]], n=30)
    with pytest.raises(DataError, match="fewer than 50"):
        few.plot()
    assert few.plot(internal=True) is not None
