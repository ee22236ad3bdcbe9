"""Limits by themselves: what they may be, and in which words they are refused."""

from __future__ import annotations

import pickle

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


@pytest.mark.parametrize(
    ("given", "share", "points"),
    [(0.05, 0.05, 2), (0, 0.0, 2), ({"alone": 0.1}, 0.1, 2), ({"points": 3, "alone": 1}, 1.0, 3)],
)
def test_a_limit_on_known_points_is_a_share_and_how_many(given: object, share: float, points: int) -> None:
    limit = Thresholds(known_points=given).known_points  # type: ignore[arg-type]
    assert limit is not None
    assert (float(limit), limit.points) == (share, points)
    assert Thresholds(known_points=limit.entry) == Thresholds(known_points=limit)
    assert Thresholds(known_points=limit.entry) != Thresholds(known_points={"points": 4, "alone": share})
    assert pickle.loads(pickle.dumps(limit)).points == points


@pytest.mark.parametrize(
    "given",
    [
        2, -0.1, True, "few", {"points": 2}, {"alone": 0.1, "points": 0}, {"alone": 0.1, "point": 2}, [0.1],
        {"alone": 0.1, "points": 10**9},
    ],
)  # fmt: skip
def test_other_limits_on_known_points_are_refused(given: object) -> None:
    with pytest.raises(ScenarioError, match="a limit on known points is a share from 0 to 1"):
        Thresholds(known_points=given)  # type: ignore[arg-type]
