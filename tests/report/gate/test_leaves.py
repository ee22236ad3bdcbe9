from __future__ import annotations

from sdckit.report.gate.leaves import count_leaf, difference_leaf
from sdckit.report.gate.rounding import Print

FIVE = Print("5", 5, 5, 7, base=5)


def test_a_count_rounded_to_five_says_nothing_of_its_step() -> None:
    assert count_leaf(FIVE) == {"text": "5", "value": 5}
    assert count_leaf(Print("20", 20, 15, 24, base=10)) == {"text": "20", "value": 20, "rounded_to": 10}


def test_a_difference_that_may_be_none_is_a_bound() -> None:
    assert difference_leaf(FIVE, FIVE) == {"text": "under 3", "value": None, "below": 3}
    assert difference_leaf(FIVE, Print("withheld", None, 0, 9))["text"] == "withheld"
    assert difference_leaf(FIVE, Print("0", 0, 0, 0)) == {"text": "5", "value": 5}
