"""Planted records beside those held back."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of, shown


def test_the_planted_are_drawn_beside_chance():
    rows = drawn("canaries")
    assert [row["label"].endswith("by chance") for row in rows] == [False, True] * 2
    assert rows[1]["length"] == 0.5
    assert rows[0]["length"] == float(f"{result_of('canaries').auc:.2g}")


def test_intervals_and_the_verdict_are_inside_only():
    result = result_of("canaries")
    assert "exact" not in printed("canaries")
    table, chart, verdict, *_ = shown("canaries", internal=True)
    assert verdict.text == result.verdict
    assert table.rows[0][1].startswith(f"{100 * result.auc:.1f} % (")
    assert len(table.rows) == 5
    assert chart.caption == f"{result.n_planted} records of nobody planted, {result.n_held_out} held back"
