"""Estimates that rest on a few people are told apart, and never printed."""

from __future__ import annotations

import math
from types import SimpleNamespace

from sdckit.report.common_blocks import share_leaf, value_leaf
from sdckit.report.estimates import FEW, MOST_DRAWN, WITHHELD, estimate_leaf, few_words, forest_blocks, term_rows
from sdckit.report.gate.figures import Document, Ledger, Ratio, Value
from sdckit.report.gate.protect import protect

ENDS = ("estimate", "low", "high")


def test_a_share_stands_for_records_and_an_estimate_for_itself():
    ledger = Ledger()
    ledger.count("n", 200, "n")
    assert share_leaf(ledger, "a", 0.25) == Ratio("a", "n")
    assert ledger.variables["a"].true == 50
    ledger.count("drawn", 40, "drawn")
    assert share_leaf(ledger, "d", 0.25, "drawn") == Ratio("d", "drawn")
    assert ledger.variables["d"].true == 10
    assert value_leaf(ledger, "b", 0.25) == Value("b")
    for true in (None, math.nan, math.inf):
        assert share_leaf(ledger, "c", true) == value_leaf(ledger, "c", true) == {"text": "undefined", "value": None}


def test_a_chart_of_many_terms_says_how_many_it_shows():
    leaf = {"text": "1", "value": 1.0}
    rows = [
        {"label": f"t{i}, released", "term": f"t{i}", "file": "released", "estimate": leaf, "low": leaf, "high": leaf}
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


def test_what_is_withheld_is_said_and_not_drawn():
    rows = [
        {"label": "t, released", "term": "t", "file": "released", **dict.fromkeys(ENDS, WITHHELD), "estimate": told}
        for told in (WITHHELD, {"text": "1", "value": 1.0})
    ]
    (note,) = forest_blocks(rows[:1], withheld=FEW)
    assert "fewer than 5 records" in note.text
    chart, table, note = forest_blocks(rows, withheld=FEW)
    assert len(chart.data["rows"]) == 1
    assert table.columns == ("Term and file", "Estimate")  # no interval is told
    assert [row[1] for row in table.rows] == ["withheld", "1"]


def test_a_term_of_few_records_stands_once_and_exactly_only_inside():
    result = SimpleNamespace(
        told=("a", "k[rare]", "k[rare]"), few=(False, True, True), few_spread=(False, True, True), steps=(0.0, 0.0, 0.0)
    )
    ledger = Ledger()

    def write(number, term):
        return ({"term": term, "x": estimate_leaf(ledger, f"x{number}", 7.0 + number, few=result.few[number])},)

    rows = term_rows(result, write, ["a", "k[T.bishop]", "k[T.pope]"])
    tree = {"rows": rows, "withheld": few_words(result)}
    document = Document(tree, ledger.variables, tuple(ledger.relations), 200)
    outside, inside = (protect(document, internal=internal) for internal in (False, True))
    assert [(row["term"], row["x"]["text"]) for row in outside["rows"]] == [("a", "7.0"), ("k[rare]", "withheld")]
    assert outside["withheld"] == FEW
    assert [(row["term"], row["x"]["text"]) for row in inside["rows"]] == [
        ("a", "7"), ("k[T.bishop]", "8"), ("k[T.pope]", "9"),
    ]  # fmt: skip
    assert inside["withheld"] == ""
