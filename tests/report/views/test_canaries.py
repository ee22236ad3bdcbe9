"""Planted records beside those held back."""

from __future__ import annotations

import pytest

import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.blocks import Page, Section
from sdckit.report.gate.protect import protect
from sdckit.report.language import missing
from sdckit.report.notebook import result_blocks, result_document, result_html


def test_the_planted_are_drawn_beside_chance():
    rows = drawn("canaries")
    assert [row["label"].endswith("by chance") for row in rows] == [False, True] * 2
    assert rows[1]["length"] == 0.5
    assert rows[0]["length"] == float(f"{result_of('canaries').auc:.2g}")


def test_intervals_and_the_verdict_are_inside_only():
    result = result_of("canaries")
    assert "exact" not in printed("canaries")
    table, chart, verdict, why = shown("canaries", internal=True)
    assert verdict.text == result.verdict
    assert table.rows[0][1].startswith(f"{100 * result.auc:.1f} % (")
    assert len(table.rows) == 5
    assert why.text.startswith("Note: epsilon_low: not judged: exactly half is planted")
    assert chart.caption == f"{result.n_planted} records of nobody planted, {result.n_held_out} held back"


def test_the_bound_is_said_in_words():
    data = sdc.load_demo()[:400]
    made = sdc.canaries(data, n=30, coins=True, seed=1)
    copied, blind = made.exposure(made.data), made.exposure(data)
    outside = [result_html(result) for result in (copied, blind, result_of("canaries"))]
    assert f"are right: ε is at least {copied.epsilon_low:.2g}, with 95 % confidence and for δ = 0." in outside[0]
    assert "Whoever promised less has broken the promise" in outside[0]
    assert "no ε is refuted. A low bound proves nothing" in outside[1]
    assert "A bound on ε is not judged: exactly half is planted" in outside[2]
    assert "ε ist mindestens" in result_html(copied, language="de")
    assert "Eine niedrige Schranke beweist nichts" in result_html(blind, exact=True, language="de")


@pytest.mark.parametrize("internal", [False, True])
def test_every_text_has_its_words(internal):
    data = sdc.load_demo()[:400]
    made = sdc.canaries(data, n=30, coins=True, seed=1)
    for result in (made.exposure(made.data), made.exposure(data), result_of("canaries")):
        blocks = result_blocks(protect(result_document(result), internal=internal))
        assert missing(Page("", "", "", "", "", [Section("", tuple(blocks))], ""), "de") == []
