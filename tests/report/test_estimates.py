"""Estimates that rest on a few people are told apart, and never printed."""

from __future__ import annotations

import math

import releases
from sdckit.cells.pair import open_pair
from sdckit.report.estimates import (
    MOST_DRAWN,
    common_labels,
    forest_blocks,
    share_leaf,
    tells_few,
    term_words,
    value_leaf,
)
from sdckit.report.gate.figures import Ledger, Ratio, Value

COMMON = {"north", "west", "m", "30"}


def test_a_product_of_categories_may_hold_one_person():
    pair = open_pair(releases.original(), releases.release(), categories={"keys": ["sex", "age", "region"]})
    assert not tells_few(["Intercept", "C(region)[T.north]", "sex[T.m]:age"], pair, COMMON)
    assert tells_few(["sex[T.m]:C(age)[T.30]:region[T.west]"], pair, COMMON)
    assert tells_few(["unknown(region)[T.west]"], pair, COMMON)
    assert tells_few(["bishop: age"], pair, COMMON)


def test_values_of_few_records_are_not_named():
    pair = open_pair(releases.original(), releases.release(), categories={"keys": ["sex", "region", "pid"]})
    common = common_labels(pair, ["sex", "region", "pid"])
    assert {"f", "m", "north"} <= common
    assert "17" not in common
    assert term_words("C(pid)[T.17]", common) == "C(pid)[rare]"


def test_a_share_stands_for_records_and_an_estimate_for_itself():
    ledger = Ledger()
    ledger.count("n", 200, "n")
    assert share_leaf(ledger, "a", 0.25) == Ratio("a", "n")
    assert ledger.variables["a"].true == 50
    assert value_leaf(ledger, "b", 0.25) == Value("b")
    for true in (None, math.nan, math.inf):
        assert (
            share_leaf(ledger, "c", true)
            == value_leaf(ledger, "c", true)
            == {"text": "undefined", "value": None}
        )


def test_a_chart_of_many_terms_says_how_many_it_shows():
    leaf = {"text": "1", "value": 1.0}
    rows = [
        {
            "label": f"t{i}, released",
            "term": f"t{i}",
            "file": "released",
            "estimate": leaf,
            "low": leaf,
            "high": leaf,
        }
        for i in range(MOST_DRAWN + 1)
    ]
    chart, table = forest_blocks(rows)
    assert (len(chart.data["rows"]), len(table.rows)) == (MOST_DRAWN, MOST_DRAWN + 1)
    assert chart.caption.endswith(f"(the first {MOST_DRAWN} of {MOST_DRAWN + 1})")
    assert (table.columns, table.numeric) == (("Term and file", "Estimate", "From", "To"), (1, 2, 3))
    assert table.caption == "Estimates and intervals, to two digits"
    all_of_them, _ = forest_blocks(rows[:MOST_DRAWN])
    assert len(all_of_them.data["rows"]) == MOST_DRAWN
    assert "the first" not in all_of_them.caption


def test_what_is_withheld_is_said():
    (note,) = forest_blocks([])
    assert "fewer than 5 records" in note.text
