"""Copies of single records: shares of the release, and the column left out for the house alone."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.blocks import Paragraph
from sdckit.report.view import view_of

FIGURES = (
    "copies", "copies_by_chance", "near_copies", "near_copies_by_chance", "moved_copies", "moved_copies_by_chance",
    "copied_records",
)  # fmt: skip


def test_the_shares_are_those_of_the_result():
    inside = printed("copied_records", internal=True)["releases"][0]
    result = result_of("copied_records")
    for name in FIGURES:
        assert inside[name]["value"] == pytest.approx(getattr(result, name), abs=1e-6)
    assert result.copied_records > 0


def test_the_column_left_out_stays_inside():
    (column,) = result_of("copied_records").left_out
    told = [block.text for block in shown("copied_records", internal=True) if isinstance(block, Paragraph)]
    assert f"Left out of the comparison of near copies: {column}." in told
    (how,) = result_of("copied_records").moved
    assert f"Near instead of equal: {how}." in told
    assert not {"left_out", "moved"} & set(printed("copied_records"))
    assert printed("copied_records")["chance"] == "Good-Turing"


def test_every_share_is_drawn():
    assert len(drawn("copied_records")) == len(FIGURES)


def test_the_answer():
    tree = {"releases": [{"copied_records": {"text": "12 %", "value": 0.12}}]}
    told = view_of("copied_records").answer({"copied_records": tree}, "copied_records", {})
    assert told == "Copies of single records beyond chance are 12 % of the released records, at least."
