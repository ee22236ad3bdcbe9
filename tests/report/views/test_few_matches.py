"""People whom few records of a release match."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of


def test_the_shares_are_those_of_the_result() -> None:
    inside, result = printed("few_matches", internal=True)["releases"][0], result_of("few_matches")
    assert result.few_matches > result.unique_matches > 0
    for name in ("few_matches", "unique_matches"):
        assert inside[name]["value"] == pytest.approx(getattr(result, name), abs=1e-6)


def test_it_is_drawn() -> None:
    assert [row["label"] for row in drawn("few_matches")] == [
        "with fewer than k matches", "with no match but their own record"
    ]  # fmt: skip
