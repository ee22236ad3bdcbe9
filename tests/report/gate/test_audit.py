from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings, strategies as st

from sdckit.report.gate.audit import SAFE_VALUES, make_system, narrowed, propagate
from sdckit.report.gate.figures import Relation

NAMES = ("a", "b", "c")


@st.composite
def systems(draw: st.DrawFn) -> tuple[dict[str, tuple[float, float]], list[Relation], tuple[int, ...]]:
    """Draw true numbers, intervals that hold them and relations they fulfil."""
    truth = tuple(draw(st.integers(0, 9)) for _ in NAMES)
    bounds = {
        name: (float(max(0, x - draw(st.integers(0, 4)))), float(x + draw(st.integers(0, 4))))
        for name, x in zip(NAMES, truth, strict=True)
    }
    relations = []
    for _ in range(draw(st.integers(1, 3))):
        factors = [draw(st.sampled_from([-2, -1, 1, 2])) for _ in NAMES]
        total = sum(f * x for f, x in zip(factors, truth, strict=True))
        slack = draw(st.sampled_from([0, 0, 1]))
        relations.append(Relation(tuple(zip(NAMES, map(float, factors), strict=True)), total - slack, total + slack))
    return bounds, relations, truth


@given(systems())
def test_nothing_possible_is_lost(case: tuple) -> None:
    bounds, relations, truth = case
    found = propagate(bounds, make_system(relations, NAMES))
    assert found is not None
    for point in itertools.product(*(range(int(bounds[n][0]), int(bounds[n][1]) + 1) for n in NAMES)):
        value = dict(zip(NAMES, point, strict=True))
        fits = all(r.lower <= sum(f * value[n] for n, f in r.terms) <= r.upper for r in relations)
        if fits:
            assert all(found[n][0] <= value[n] <= found[n][1] for n in NAMES)
    assert all(found[n][0] <= x <= found[n][1] for n, x in zip(NAMES, truth, strict=True))


def test_totals_and_differences_narrow() -> None:
    system = make_system([Relation((("n", 1.0), ("a", -1.0), ("b", -1.0)))], ["n", "a", "b"])
    found = propagate({"n": (98, 102), "a": (98, 102), "b": (0, float("inf"))}, system)
    assert found is not None
    assert found["b"] == (0, 4)


def test_whole_numbers_are_rounded_inwards() -> None:
    system = make_system([Relation((("v3", 1.0), ("pairs", -2.0)))], ["v3", "pairs"])
    found = propagate({"v3": (5, 7), "pairs": (0, float("inf"))}, system)
    assert found == {"v3": (6, 6), "pairs": (3, 3)}


def test_a_contradiction_is_told() -> None:
    system = make_system([Relation((("a", 1.0),), 3, 3)], ["a"])
    assert propagate({"a": (0, 2)}, system) is None


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
