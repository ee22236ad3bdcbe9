"""Estimates of several files together."""

from __future__ import annotations

import pytest

import sdckit as sdc
from report.views.pairs import drawn, printed
from sdckit.errors import DataError


def test_each_quantity_has_its_interval_in_two_digits():
    (first, second) = printed("combine")["forest"]
    assert first["estimate"]["text"] == "1.3"
    assert second["low"]["value"] < second["estimate"]["value"] < second["high"]["value"]
    assert [row["file"] for row in drawn("combine")] == ["together", "together"]


def test_few_records_are_not_shown():
    few = sdc.combine([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], kind="simple", n=30, n_synthetic=50)
    with pytest.raises(DataError, match="fewer than 50"):
        few.plot()
