"""Close numbers, and of these the records that stand alone."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of


def test_those_alone_are_among_those_close():
    inside = printed("robust_interval_risk", internal=True)["releases"][0]
    assert inside["isolated_rate"]["value"] <= inside["rate"]["value"]
    assert round(inside["rate"]["value"] * 240) == round(result_of("robust_interval_risk").rate * 240)


def test_both_are_drawn():
    assert len(drawn("robust_interval_risk")) == 2
