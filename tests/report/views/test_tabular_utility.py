"""The two-way tables, drawn, and the worst listed."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.setting import n_moved


def test_every_pair_is_drawn_and_the_worst_listed():
    assert len(drawn("tabular_utility")) == 3
    (chart, table) = shown("tabular_utility")
    assert chart.data["variables"] == ["sex", "age", "region"]
    assert len(table.rows) == 3


def test_digits_follow_the_records_in_other_values():
    result = result_of("tabular_utility")
    matrix, names = result.matrix(), list(result.variables)
    for cell in printed("tabular_utility")["heat"]["cells"]:
        i, j = names.index(cell["one"]), names.index(cell["other"])
        if n_moved(result.pair, [cell["one"], cell["other"]]) < 48:
            assert cell["value"]["text"] == "withheld"
        else:
            assert cell["value"]["value"] == pytest.approx(matrix[i, j], rel=0.5)
