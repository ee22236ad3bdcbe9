"""How rows are matched back, as typed."""

from __future__ import annotations

import pytest

from sdckit.cli.matching_options import MatchingOptions
from sdckit.errors import ScenarioError


def test_what_was_typed():
    assert MatchingOptions().entries == {}
    assert MatchingOptions(match_width=["0.2"], match_tol=0.0).entries == {"width": 0.2, "tol": 0.0}
    typed = MatchingOptions(
        match_width=["income=0.1,age=2"], match_absolute=["age"], match_known=["sex,region"],
        match_synthetic=["income"], high_risk=0.2,
    )  # fmt: skip
    assert typed.entries == {
        "width": {"income": 0.1, "age": 2.0}, "known": ["sex", "region"], "synthetic": ["income"], "high_risk": 0.2,
        "relative": {"age": False},
    }  # fmt: skip


@pytest.mark.parametrize("texts", [["wide"], ["age=wide"], ["0.1", "age=2"], ["age="], ["age=1", "age=2"]])
def test_widths_that_are_none(texts):
    with pytest.raises(ScenarioError, match="--match-width"):
        MatchingOptions(match_width=texts).entries  # noqa: B018 - reading it is the test


def test_only_beside_a_release():
    MatchingOptions().check(has_release=False)
    MatchingOptions(high_risk=0.2).check(has_release=True)
    with pytest.raises(ScenarioError, match="give --released FILE"):
        MatchingOptions(high_risk=0.2).check(has_release=False)
