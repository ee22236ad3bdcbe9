"""Every chart of real documents shows its figures: as many marks as figures, as long as these, no wider than a page."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache
from itertools import pairwise

import pytest

from report.drawn import boxes, points, size, texts
from report.real import MADE, page
from sdckit.report.blocks import ChartBlock
from sdckit.report.charts import INK, LIGHT, OPEN, chart_for, describe, to_svg

WIDEST = 660  # pixels: a page of A4 with its margins
TALLEST = 2_000
PIXEL = 0.1


@cache
def charts(kind: str) -> list[tuple[str, ChartBlock, str]]:
    """The charts of a kind in all documents, each with where it stands and its SVG."""
    found = [
        (f"{name}, {section.title}: {block.caption}", block, to_svg(chart_for(kind, block.data)))
        for name in MADE
        for section in page(name).sections
        for block in section.blocks
        if isinstance(block, ChartBlock) and block.name == kind
    ]
    assert found
    return found


@pytest.mark.parametrize("kind", ["bars", "risk", "forest", "heat"])
def test_a_chart_fits_its_page(kind: str) -> None:
    for where, _, svg in charts(kind):
        width, height = size(svg)
        assert 200 < width <= WIDEST, where
        assert 20 < height < TALLEST, where


def test_bars_are_as_long_as_their_figures() -> None:
    for where, block, svg in charts("bars"):
        rows, bars = block.data["rows"], boxes(svg)
        assert len(bars) == len(rows) > 0, where
        figures = [row["n"]["value"] if row["n"]["value"] is not None else row["n"].get("below", 0) for row in rows]
        longest = max(range(len(rows)), key=figures.__getitem__)
        if figures[longest]:
            assert bars[longest].width > 200, where
        scale = bars[longest].width / (figures[longest] or 1)
        for row, figure, bar in zip(rows, figures, bars, strict=True):
            assert abs(bar.width - scale * figure) < PIXEL, (where, row)
            assert bar.left == 0, (where, row)
            assert (bar.fill == OPEN) == (row["n"]["value"] is None), (where, row)
        written = texts(svg)
        assert [row["n"]["text"] for row in rows] == written[-len(rows) :], where
        tops = [bar.top for bar in bars]
        assert tops == sorted(tops), where
        assert min(bar.height for bar in bars) > 10, where


def test_the_bars_of_risks_are_as_high_as_their_figures() -> None:
    for where, block, svg in charts("risk"):
        rows, bars = block.data["rows"], boxes(svg)
        assert len(bars) == len(rows) > 4, where
        figures = [row["n"]["value"] if row["n"]["value"] is not None else row["n"].get("below", 0) for row in rows]
        highest = max(range(len(rows)), key=figures.__getitem__)
        assert bars[highest].height > 100, where
        scale = bars[highest].height / figures[highest]
        threshold = block.data.get("threshold")
        for row, figure, bar in zip(rows, figures, bars, strict=True):
            assert abs(bar.height - scale * figure) < PIXEL, (where, row)
            assert bar.width > 10, (where, row)
            if row["n"]["value"] is not None and threshold is not None:
                assert bar.fill == (INK if row["from"] >= threshold else LIGHT), (where, row)
        lefts = [bar.left for bar in bars]
        assert lefts == sorted(lefts), where
        shares = [row["cumulative"]["value"] for row in rows if row["cumulative"]["value"] is not None]
        assert shares == sorted(shares), where
        assert len(shares) == len(rows) or any(row["n"]["value"] is None for row in rows), where
        assert not shares or math.isclose(shares[-1], 1, abs_tol=1e-9), where
        if threshold is not None:
            assert f"limit {threshold:g}" in texts(svg), where


def test_points_stand_where_their_estimates_are() -> None:
    for where, block, svg in charts("forest"):
        shown = [row for row in block.data["rows"] if row["estimate"]["value"] is not None]
        marks = points(svg)
        assert len(marks) == len(shown) > 0, where
        terms: dict[str, list[float]] = defaultdict(list)
        for row in shown:
            terms[row["term"]].append(row["estimate"]["value"])
        panels: dict[int, list[float]] = defaultdict(list)
        for mark in marks:
            panels[mark.panel].append(mark.x)
        assert list(map(len, panels.values())) == list(map(len, terms.values())), where
        for values, places in zip(terms.values(), panels.values(), strict=True):
            for (a, x), (b, y) in pairwise(sorted(zip(values, places, strict=True))):
                assert (x < y) == (a < b), (where, values)


def test_squares_are_the_darker_the_further_their_figures() -> None:
    for where, block, svg in charts("heat"):
        cells, squares = block.data["cells"], boxes(svg)
        assert len(squares) == len(cells) > 0, where
        light = [sum(map(int, one.fill[4:-1].split(","))) for one in squares]
        figures = [one["value"]["value"] or 0.0 for one in cells]
        pairs = sorted(zip(figures, light, strict=True))
        assert all(light >= darker for (_, light), (_, darker) in pairwise(pairs)), where
        assert {one["value"]["text"] for one in cells} <= set(texts(svg)), where


@pytest.mark.parametrize("kind", ["bars", "risk", "forest", "heat"])
def test_words_tell_every_figure(kind: str) -> None:
    for where, block, _ in charts(kind):
        words = describe(kind, block.data, block.caption)
        leaves = [
            one.get("n") or one.get("estimate") or one.get("value")
            for one in block.data.get("rows", block.data.get("cells"))
        ]
        assert words.startswith(f"{block.caption}. "), where
        assert all(leaf["text"] in words for leaf in leaves), where
        told = words.removeprefix(f"{block.caption}. ")
        assert told.count(";") == len(leaves) - 1, where
