from __future__ import annotations

import math

import pytest

from sdckit.report.gate.figures import Relation
from sdckit.report.gate.known import Known

# Records in groups of fewer than 3 are those alone and two for every pair.
PAIRS = Relation((("below 3", 1.0), ("alone", -1.0), ("pairs", -2.0)))
NAMES = ["below 3", "alone", "pairs"]


def _known(**bounds: tuple[float, float]) -> Known:
    every = dict.fromkeys(NAMES, (0.0, 50.0))
    return Known(every | {name.replace("_", " "): one for name, one in bounds.items()}, [PAIRS], NAMES, NAMES)


def test_a_print_that_leaves_two_values_is_not_safe() -> None:
    reader = _known(below_3=(1.0, 4.0))
    assert not reader.stays_safe("alone", (0.0, 0.0))
    assert reader.stays_safe("alone", (0.0, 4.0))


def test_a_print_that_cannot_be_is_safe() -> None:
    assert _known(below_3=(1.0, 4.0)).stays_safe("alone", (9.0, 12.0))


def test_every_print_there_could_be_is_asked_about() -> None:
    reader = _known(below_3=(1.0, 4.0))
    assert reader.stays_safe("alone", (9.0, 12.0), (0.0, 4.0))
    assert not reader.stays_safe("alone", (9.0, 12.0), (0.0, 4.0), (0.0, 0.0))
    assert reader.stays_safe("alone")


def test_asking_changes_nothing_and_learning_does() -> None:
    reader = _known()
    reader.stays_safe("alone", (5.0, 7.0))
    assert reader.interval("below 3") == (0.0, 50.0)
    reader.learn("alone", (5.0, 7.0))
    assert reader.interval("below 3") == (5.0, 50.0)


def test_what_is_told_anyway_is_no_fault_of_a_print() -> None:
    reader = _known(pairs=(0.0, 1.0))
    reader.is_told("alone", (0.0, 0.0))
    # Two or none: the pair follows from what is told, so no print of the others is refused for it.
    assert reader.stays_safe("below 3", (1.0, 4.0))


def test_learning_what_contradicts_is_a_fault() -> None:
    reader = _known(below_3=(0.0, 2.0))
    with pytest.raises(ValueError, match="contradict"):
        reader.learn("alone", (5.0, 7.0))


def test_bounds_that_contradict_are_a_fault() -> None:
    with pytest.raises(ValueError, match="contradicts"):
        _known(below_3=(0.0, 2.0), alone=(5.0, math.inf))


def test_it_says_what_is_given_away_in_the_end() -> None:
    reader = _known()
    assert reader.given_away() == ()
    reader.learn("below 3", (1.0, 4.0))
    reader.learn("alone", (0.0, 0.0))
    assert set(reader.given_away()) >= {"below 3", "pairs"}
