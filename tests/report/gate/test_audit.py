from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings

from report.gate.test_propagation import NAMES, systems
from sdckit.report.gate.audit import SAFE_VALUES, narrowed
from sdckit.report.gate.figures import Relation
from sdckit.report.gate.propagation import make_system


@settings(max_examples=60)
@given(systems())
def test_it_agrees_with_trying_every_number(case: tuple) -> None:
    bounds, relations, _ = case
    left: dict[str, set[int]] = {name: set() for name in NAMES}
    for point in itertools.product(*(range(int(bounds[n][0]), int(bounds[n][1]) + 1) for n in NAMES)):
        value = dict(zip(NAMES, point, strict=True))
        if all(r.lower <= sum(f * value[n] for n, f in r.terms) <= r.upper for r in relations):
            for name in NAMES:
                left[name].add(value[name])
    system = make_system(relations, NAMES)
    for name in NAMES:
        told = len(left[name]) < SAFE_VALUES and any(0 < x < 5 for x in left[name])
        assert (narrowed(bounds, system, [name]) == (name,)) == told


def test_a_printed_zero_is_no_secret() -> None:
    assert narrowed({"a": (0, 0)}, make_system([], ["a"]), ["a"]) == ()


def test_a_known_large_count_is_no_secret() -> None:
    assert narrowed({"a": (5, 5)}, make_system([], ["a"]), ["a"]) == ()


def test_two_sums_give_away_what_no_single_one_does() -> None:
    sums = [
        Relation((("a", 1.0), ("b", 1.0), ("c", 1.0)), 9, 9),
        Relation((("a", 1.0), ("b", 1.0), ("c", -1.0)), 1, 1),
        Relation((("a", 1.0), ("b", -1.0)), 1, 1),
    ]
    bounds = {"a": (0, 9), "b": (0, 9), "c": (0, 9)}
    assert narrowed(bounds, make_system(sums, NAMES), ["b"]) == ("b",)


def test_contradicting_figures_are_a_fault() -> None:
    system = make_system([Relation((("a", 1.0),), 3, 3)], ["a"])
    with pytest.raises(ValueError, match="contradict"):
        narrowed({"a": (0, 2)}, system, ["a"])
