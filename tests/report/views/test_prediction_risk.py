"""Predictions from the release and from the original, in bins."""

from __future__ import annotations

from report.views.pairs import drawn, printed, shown


def test_errors_of_a_number_are_in_bins_open_above():
    tree = printed("prediction_risk")
    assert tree["numeric"]
    assert tree["distribution"][-1]["to"] is None
    assert "accuracy_released" not in tree["releases"][0]
    assert "error of a prediction of income" in shown("prediction_risk")[1].caption


def test_counts_are_rounded():
    assert all(row["length"] % 5 == 0 for row in drawn("prediction_risk"))
