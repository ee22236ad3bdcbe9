"""Pairs that no other beats."""

from __future__ import annotations

from hypothesis import given, strategies as st

from sdckit.report.chapters.map import pareto

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8)


@given(PAIRS)
def test_who_is_on_the_front_is_beaten_by_nobody_and_who_is_not_by_one_on_it(pairs: list[tuple[int, int]]) -> None:
    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one != other and one[0] <= other[0] and one[1] <= other[1]

    marks = pareto(pairs)
    front = [pair for pair, mark in zip(pairs, marks, strict=True) if mark]
    for pair, mark in zip(pairs, marks, strict=True):
        assert mark != any(beats(other, pair) for other in front)
