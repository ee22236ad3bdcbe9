"""Limits by themselves: what they may be, and in which words they are refused."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.thresholds import Thresholds, read_limits
from sdckit.errors import ScenarioError


def test_what_is_declared_is_what_was_given() -> None:
    assert Thresholds().declared == {}
    assert Thresholds(risk=0.1, k=3, recoverable=0.0).declared == {"k": 3, "risk": 0.1, "recoverable": 0.0}


def test_limits_elsewhere_are_read_alike_and_refused_with_their_place() -> None:
    assert read_limits("here", {"k": 3, "l": None}) == Thresholds(k=3)
    with pytest.raises(ScenarioError, match=r"^here\.k must be at least 2$"):
        read_limits("here", {"k": 1})
    with pytest.raises(ScenarioError, match=r"no entry 'here\.rsik'; did you mean 'risk'"):
        read_limits("here", {"rsik": 1})
    with pytest.raises(ScenarioError, match=r"no entry 'here\.7'"):
        read_limits("here", {7: 1})  # type: ignore[dict-item]
