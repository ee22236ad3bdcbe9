"""The chance of a match as an expected number of people, its single matches as counts."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of
from sdckit.report.view import view_of


def test_exact_inside_and_rounded_outside():
    result = result_of("matching_risk")
    inside = printed("matching_risk", internal=True)["releases"][0]
    assert inside["mean_match_risk"]["value"] == pytest.approx(result.mean_match_risk)
    assert inside["unique_matches"]["value"] == result.unique_matches
    outside = printed("matching_risk")["releases"][0]
    assert outside["unique_matches"]["value"] in {None, 5 * round(result.unique_matches / 5)}


def test_shares_are_drawn_and_numbers_are_not():
    assert [row["label"] for row in drawn("matching_risk")] == [
        "records expected to be matched back",
        "records whose single match is the right one",
    ]


def test_the_answer():
    told = view_of("matching_risk").answer({"matching_risk": printed("matching_risk")}, "matching_risk", {})
    assert told.endswith("would be expected to be matched back to their own row.")
