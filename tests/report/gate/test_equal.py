"""Joining equal numbers and taking sums from each other changes no possible world."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from sdckit.report.gate.equal import between_sums, join_equal
from sdckit.report.gate.figures import Relation

NAMES = ["a", "b", "c", "d"]
FACTORS = st.sampled_from([-2.0, -1.0, 1.0, 2.0])
RELATIONS = st.lists(
    st.builds(
        lambda terms, value: Relation(tuple(terms.items()), value, value),
        st.dictionaries(st.sampled_from(NAMES), FACTORS, min_size=1),
        st.sampled_from([0.0, 0.0, 0.0, 1.0, 3.0]),
    ),
    max_size=5,
)


def worlds(relations: list[Relation]) -> set[tuple[int, ...]]:
    return {
        point
        for point in itertools.product(range(4), repeat=len(NAMES))
        if all(holds(one, dict(zip(NAMES, point, strict=True))) for one in relations)
    }


def holds(relation: Relation, at: dict[str, int]) -> bool:
    return relation.lower <= sum(factor * at[name] for name, factor in relation.terms) <= relation.upper


@given(RELATIONS)
def test_the_worlds_are_those_of_the_relations(relations: list[Relation]) -> None:
    same, left = join_equal(NAMES, relations)
    merged = [Relation(((name, 1.0), (one, -1.0))) for name, one in same.items() if name != one]
    assert worlds([*merged, *left]) == worlds(relations)


@given(RELATIONS)
def test_what_follows_takes_no_world_away(relations: list[Relation]) -> None:
    assert worlds([*relations, *between_sums(relations)]) == worlds(relations)


def test_two_numbers_that_contain_each_other_are_equal() -> None:
    one = Relation((("a", 1.0), ("b", -1.0), ("c", -1.0)))
    other = Relation((("b", 1.0), ("a", -1.0), ("d", -1.0)))
    assert [dict(new.terms) for new in between_sums([one, other])] == [{"c": -1.0, "d": -1.0}]


def test_a_chain_of_equals_is_one_number() -> None:
    chain = [Relation(((left, 1.0), (right, -1.0))) for left, right in itertools.pairwise(NAMES)]
    same, left = join_equal(NAMES, [*chain, Relation((("a", 1.0), ("d", 1.0)), 4, 4)])
    assert set(same.values()) == {"a"}
    assert left == [Relation((("a", 2.0),), 4, 4)]
