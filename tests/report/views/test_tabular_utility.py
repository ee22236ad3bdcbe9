"""The two-way tables, drawn, and the worst listed."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of, shown


def test_every_pair_is_drawn_and_the_worst_listed():
    assert len(drawn("tabular_utility")) == 3
    (chart, table) = shown("tabular_utility")
    assert chart.data["variables"] == ["sex", "age", "region"]
    assert len(table.rows) == 3


def test_two_digits():
    matrix = result_of("tabular_utility").matrix()
    (first, *_) = printed("tabular_utility")["heat"]["cells"]
    assert first["value"]["value"] == float(f"{matrix[0, 1]:.2g}")
