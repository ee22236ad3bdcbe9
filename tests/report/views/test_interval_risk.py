"""The share of a release's records, drawn and printed."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of


def test_the_share_is_that_of_the_result():
    inside = printed("interval_risk", internal=True)["releases"][0]
    assert inside["rate"]["value"] == pytest.approx(result_of("interval_risk").rate, abs=1e-6)


def test_it_is_drawn_in_two_digits_or_of_rounded_counts():
    (row,) = drawn("interval_risk")
    assert row["length"] == pytest.approx(result_of("interval_risk").rate, abs=0.02)
