"""The figures of t-closeness and the ways to say how far values are apart; laws/ and golden/ show they are right."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import t_closeness
from sdckit.errors import DataError

FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m"],
        "health": ["bad", "fair", "good", "good"],
        "debt": [0, 1, 1, 10],
    }
)
ORDER = ["bad", "fair", "good"]


def level(variable, **options):
    return t_closeness(FRAME, keys=["sex"], sensitive=variable, **options).level[variable]


def test_figures_and_records():
    result = t_closeness(FRAME, keys=["sex"], sensitive=["health", "debt"], limits=(0.25, 0.5))
    assert result.level == pytest.approx({"health": 0.5, "debt": 0.25})
    assert result.quartiles["debt"] == pytest.approx((0.25, 0.25, 0.25))
    assert result.violations == {"health": {0.25: 4, 0.5: 0}, "debt": {0.25: 0, 0.5: 0}}
    assert result.distances == {"health": "equal", "debt": "equal"}
    assert result.records["t_health"].to_list() == pytest.approx([0.5] * 4)
    assert "level[health]" in result.details()["figure"].to_list()
    assert repr(result).startswith("TCloseness(n=4, level[health]=0.5")


@pytest.mark.parametrize(
    ("variable", "distance", "expected"),
    [
        ("debt", "equal", 0.25),
        ("debt", "ordered", 0.25),
        ("debt", "numeric", 0.25),
        ("health", ORDER, 0.375),
        ("health", tuple(reversed(ORDER)), 0.375),
        ("health", {"bad": ["ill"], "fair": ["ill"], "good": ["well"]}, 0.5),
        ("health", {"bad": ["ill"], "fair": ["well"], "good": ["well"]}, 0.375),
        ("debt", {0: ["none"], 1: ["some"], 10.0: ["some"]}, 0.25),
    ],
)
def test_distances(variable, distance, expected):
    assert level(variable, distance=distance) == pytest.approx(expected)


def test_an_ordered_category_knows_its_order():
    frame = FRAME.with_columns(health=pl.col("health").cast(pl.Enum(ORDER)))
    result = t_closeness(frame, keys=["sex"], sensitive="health", distance="ordered")
    assert result.level["health"] == pytest.approx(0.375)
    pandas = frame.to_pandas()
    again = t_closeness(pandas, keys=["sex"], sensitive="health", distance="ordered")
    assert again.level == result.level


def test_levels_in_their_order_by_variable():
    """A dict of lists by variable is no hierarchy, though it looks like one."""
    for distance in (ORDER, {"health": ORDER}):
        result = t_closeness(FRAME, keys=["sex"], sensitive="health", distance=distance)
        assert result.distances == {"health": "ordered"}
        assert result.level["health"] == pytest.approx(level("health", distance=ORDER))


def test_a_distance_per_variable():
    distance = {"health": ORDER, "debt": "numeric"}
    result = t_closeness(FRAME, keys=["sex"], sensitive=["health", "debt"], distance=distance)
    assert result.level == pytest.approx({"health": 0.375, "debt": 0.25})
    assert result.distances == {"health": "ordered", "debt": "numeric"}
    tree = {"bad": ["ill"], "fair": ["ill"], "good": ["well"]}
    mixed = t_closeness(
        FRAME, keys=["sex"], sensitive=["health", "debt"], distance={"health": tree, "debt": "equal"}
    )
    assert mixed.distances == {"health": "hierarchy", "debt": "equal"}


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        ("ordered", r"'health' \(text\) have no order"),
        ("numeric", r"'health' \(text\) have no order"),
        ("euclid", "distance 'euclid' is unknown; use equal, ordered, numeric"),
        ([], "distance is a name, a list of levels in their order, or a hierarchy"),
        ({}, "distance is a name, a list of levels in their order, or a hierarchy"),
        (3, "distance is a name, a list of levels in their order, or a hierarchy"),
        ({"health": "equal", "debt": "equal"}, "names every sensitive variable once, and no other"),
    ],
)
def test_distances_that_cannot_be(distance, words):
    with pytest.raises(DataError, match=words) as caught:
        level("health", distance=distance)
    assert "bad" not in str(caught.value).replace("bad input", "")


def test_a_wildcard_brings_classes_closer():
    frame = FRAME.vstack(pl.DataFrame({"sex": [None], "health": ["bad"], "debt": [3]}))
    category, wildcard = (
        t_closeness(frame, keys=["sex"], sensitive="health", missing=rule).records["t_health"]
        for rule in ("category", "wildcard")
    )
    assert (wildcard <= category).all()
    assert wildcard[4] == pytest.approx(0.0)
