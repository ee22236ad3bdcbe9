"""Minimal sets against trying every subset."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, strategies as st

from sdckit.identity.special_uniques import minimal_sets as module
from sdckit.identity.special_uniques.minimal_sets import minimal_sets


@given(st.lists(st.integers(0, 31), max_size=12), st.integers(1, 5))
def test_agrees_with_every_subset(disagree, max_size):
    bits = lambda one: sum(1 << j for j in one)  # noqa: E731
    meets = [
        one
        for size in range(6)
        for one in combinations(range(5), size)
        if all(bits(one) & d for d in disagree)
    ]
    expected = [
        one for one in meets if not any(set(other) < set(one) for other in meets) and len(one) <= max_size
    ]
    found, searched = minimal_sets(disagree, 5, max_size)
    assert sorted(found) == sorted(expected)
    assert [len(one) for one in found] == sorted(len(one) for one in found)
    assert searched == max_size


def test_it_stops_where_there_are_too_many_sets(monkeypatch):
    assert minimal_sets([1 << 63], 64, 1) == ([(63,)], 1)  # the highest bit of a word
    monkeypatch.setattr(module, "MOST_SETS", 3)
    assert minimal_sets([0b001, 0b110], 3, 3) == ([(0, 1), (0, 2)], 3)
    assert minimal_sets([0b0011, 0b1100], 4, 4) == ([], 0)
