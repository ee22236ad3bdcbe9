"""Estimates with their intervals, file by file."""

from __future__ import annotations

from report.views.pairs import drawn, printed


def test_two_digits_of_both_files():
    assert [row["file"] for row in drawn("compare_estimates")] == ["original", "released"]
    (first, _) = printed("compare_estimates")["forest"]
    assert all(first[part]["value"] % 100 == 0 for part in ("estimate", "low", "high"))
