"""How often the keys give the right value: means, and everybody in bins."""

from __future__ import annotations

import re

import pytest

from report.views.pairs import drawn, printed, result_of
from sdckit.report.view import view_of


def test_everybody_is_in_a_bin():
    inside = printed("correct_attribution_probability", internal=True)
    for side in ("original", "released"):
        assert sum(row[side]["value"] for row in inside["distribution"]) == 240
    average = result_of("correct_attribution_probability").average
    assert inside["releases"][0]["average"]["value"] == pytest.approx(average)


def test_the_bins_are_drawn_before_and_after():
    rows = drawn("correct_attribution_probability")
    assert [row["label"] for row in rows[:2]] == ["0 to 0.2, original", "0 to 0.2, release"]
    assert all(row["length"] % 5 == 0 for row in rows)


def test_the_answer_names_the_variable():
    place = "correct_attribution_probability:ill"
    told = view_of("correct_attribution_probability").answer(
        {place: printed("correct_attribution_probability")}, place, {}
    )
    assert re.match(r"The keys give the right value of ill with a chance of \d+ % from the release;", told)
