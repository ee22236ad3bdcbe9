"""What a printed number allows."""

from __future__ import annotations

import pytest

from redteam.reading import ANYTHING, count_of, near, number_of


@pytest.mark.parametrize(
    ("leaf", "span"),
    [
        ({"text": "0", "value": 0}, (0, 0)),
        ({"text": "<5", "value": None, "below": 5}, (1, 4)),
        ({"text": "<20", "value": None, "below": 20}, (1, 19)),
        ({"text": "5", "value": 5}, (5, 7)),
        ({"text": "25", "value": 25}, (23, 27)),
        ({"text": "20", "value": 20, "rounded_to": 10}, (15, 24)),
        ({"text": "20", "value": 20, "rounded_to": 20}, (20, 29)),
        ({"text": "withheld", "value": None}, ANYTHING),
        ({"text": "about 15", "value": 15, "approximate": True}, None),
    ],
)
def test_the_counts_behind_a_print(leaf, span) -> None:
    assert count_of(leaf) == span


def test_estimates() -> None:
    assert near("1.1") == pytest.approx((1.05, 1.15))
    assert near("120") == pytest.approx((115, 125))
    assert number_of({"text": "<10", "value": None, "below": 10.0}) == (0, 10)
    assert number_of({"text": "20", "value": 20.0}, cells=True) == (17.5, 22.5)
