"""The interval arithmetic: no table of any document gives a small count away, whatever the file."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from report.attacker import Solver, gives_away, opened
from report.fakes import Anonymity, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.chapters.document import build_document
from sdckit.report.gate import choose_rounding
from sdckit.report.gate.audit import SAFE_VALUES, SMALL, make_system, propagate
from sdckit.report.gate.choose_rounding import Known, between_sums, join_equal, settle, sound_relations
from sdckit.report.gate.figures import Document, Ledger, Relation, Variable
from sdckit.report.gate.relations import make_sizes
from sdckit.report.setting import Setting
from sdckit.report.views.k_anonymity import VIEW

KEYS = ["sex", "age", "region", "occupation"]
ASKED = ((3, None), (4, None), (3, 0.1))
DESIGNS: list[dict[str, Any]] = [{}, {"sampling_fraction": 0.05}, {"sampling_fraction": 0.5}, {"weight": "weight"}]


@st.composite
def assessments(draw: st.DrawFn) -> Any:
    """Draw small files and scenarios: small files are the dangerous ones."""
    n = draw(st.sampled_from([50, 60, 90, 150, 300]))
    missing = draw(st.sampled_from([0.0, 0.0, 0.03]))
    wide = tuple(KEYS[: draw(st.integers(1, 4))])
    intruders = {"wide": wide}
    if len(wide) > 1 and draw(st.booleans()):
        intruders["narrow"] = wide[:-1]
    scenario = Scenario(
        intruders=intruders,
        sensitive=draw(st.sampled_from([[], ["income"]])),
        household=draw(st.sampled_from([None, "household"])),
        thresholds={"k": draw(st.sampled_from([3, 4, 6, 10])), "risk": draw(st.sampled_from([0.02, 0.1, 0.3]))},
        missing=draw(st.sampled_from(["wildcard", "category"])),
        **draw(st.sampled_from(DESIGNS)),
    )
    return assess_fake(survey(n, seed=draw(st.integers(0, 10_000)), missing=missing), scenario)


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(assessments())
def test_a_solver_finds_no_small_count(assessment: Any) -> None:
    ledger, prints = opened(build_document(assessment))
    counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
    # Every relation is true: the audit left none of them out.
    assert len(sound_relations(ledger.variables, ledger.relations, counts)) == len(ledger.relations)
    attack, before = Solver(ledger, prints), Solver(ledger, {})
    bounds = dict.fromkeys(ledger.variables, (0.0, math.inf))
    bounds |= {name: (one.low, one.high) for name, one in prints.items()}
    reach = propagate(bounds, make_system(ledger.relations, counts)) or {}
    for name, variable in ledger.variables.items():
        if variable.kind != "count" or variable.watched != "everywhere" or reach[name][0] >= 5:
            continue
        assert not gives_away(attack, before, name), (name, attack.range(name))


def _violations(cells: tuple[int, ...]) -> Document:
    one, two, three = cells
    below = {2: one, 3: one + 2 * two, 5: one + 2 * two + 3 * three}
    ledger = Ledger()
    n = ledger.count("n", 200, "n")
    setting = Setting(ledger, "i0", make_sizes(ledger, "i0", [1, 2, 4]))
    tree = {"n": n, "k": VIEW.tree(Anonymity(1, below), setting)}
    return Document(tree, ledger.variables, tuple(ledger.relations), 200)


def test_who_knows_how_steps_are_chosen_learns_no_small_count_either() -> None:
    """Try every small file: what is printed never comes from files that agree in a small count, or nearly."""
    ranges = (range(9), range(5), range(4))
    files = defaultdict(list)
    for cells in itertools.product(*ranges):
        _, prints = opened(_violations(cells))
        files[tuple(one.text for one in prints.values())].append(cells)
    inside = [
        same
        for same in files.values()
        # Files beyond the ranges may print the same as one at their edge.
        if not any(n == span[-1] for cells in same for n, span in zip(cells, ranges, strict=True))
    ]
    assert inside
    for same in inside:
        for place in range(len(ranges)):
            values = {cells[place] for cells in same}
            assert len(values) >= SAFE_VALUES or not any(0 < one < SMALL for one in values), same


def test_parity_does_not_give_pairs_away() -> None:
    """Nobody is unique, and 5 to 7 records are below k = 3: then there would be three pairs."""
    ledger = {"v2": Variable(0, "k"), "v3": Variable(6, "k"), "pairs": Variable(None)}
    prints = settle(ledger, [Relation((("v3", 1.0), ("v2", -1.0), ("pairs", -2.0)))])
    assert prints["v3"].text == "<10"


def test_a_total_is_coarsened_when_its_parts_fix_the_rest() -> None:
    names = {f"part{i}": Variable(13, "parts") for i in range(4)}
    ledger = {"n": Variable(52, "n"), **names, "rest": Variable(0, "rest"), "hidden": Variable(None)}
    relations = [
        Relation((("n", 1.0), *((name, -1.0) for name in names), ("hidden", -1.0))),
        Relation((("hidden", 1.0), ("rest", -1.0)), 0, 1),
    ]
    prints = settle(ledger, relations)
    assert all(one.low <= float(ledger[name].true or 0) <= one.high for name, one in prints.items())


def test_a_wrong_relation_is_left_out() -> None:
    variables = {"a": Variable(3, "x"), "b": Variable(5, "x")}
    wrong, right = Relation((("a", 1.0), ("b", -1.0))), Relation((("a", 1.0), ("b", -1.0)), -10, 0)
    assert sound_relations(variables, [wrong, right], ["a", "b"]) == (right,)


def _printed(**thresholds: Any) -> dict[str, str]:
    scenario = Scenario(keys=KEYS[:3], household="household", thresholds=thresholds)
    _, prints = opened(build_document(assess_fake(survey(150, seed=7), scenario)))
    return {name: one.text for name, one in prints.items()}


def test_what_the_file_alone_tells_is_printed_once_for_its_documents() -> None:
    """And as if each were printed by itself, in any order: nothing that one learns reaches the other."""

    def printed(*ledgers: Any) -> list[Any]:
        for kept in (choose_rounding._settled, choose_rounding._print_first):
            kept.cache_clear()
        return [settle(one.variables, one.relations) for one in ledgers]

    scenarios = (Scenario(keys=KEYS[:2], thresholds={"k": k}, sampling_fraction=part) for k, part in ASKED)
    ledgers = [opened(build_document(assess_fake(survey(80, seed=3), scenario)))[0] for scenario in scenarios]
    alone = [printed(ledger)[0] for ledger in ledgers]
    assert printed(*ledgers) == alone
    assert choose_rounding._print_first.cache_info().hits == len(ASKED) - 1
    assert printed(*reversed(ledgers)) == alone[::-1]


def test_documents_with_different_k_print_the_rest_alike() -> None:
    first = _printed(k=3)
    assert "i0.violations.4" not in first
    for k in (4, 10):
        other = _printed(k=k)
        assert f"i0.violations.{k}" in other
        assert {name: other[name] for name in first} == first


def test_what_is_kept_of_a_ledger_is_nobodys_to_change() -> None:
    ledger = {"n": Variable(100), "a": Variable(63), "b": Variable(37)}
    relations = [Relation((("n", 1), ("a", -1), ("b", -1)))]
    first = settle(ledger, relations)
    expected = dict(first)
    first.clear()
    assert settle(ledger, relations) == expected
    assert settle(dict(reversed(ledger.items())), relations).keys() == expected.keys()
    assert settle({**ledger, "a": Variable(40), "b": Variable(60)}, relations) != expected


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


def test_what_a_branch_learns_stays_in_it() -> None:
    reader = _known(below_3=(0.0, 12.0))
    fresh = _known(below_3=(0.0, 12.0))
    branch = reader.branch()
    assert branch.stays_safe("alone", (0.0, 4.0))
    again = branch.branch()._pools
    for pool, (points, (used, _)) in branch._pools.items():
        assert again[pool][0] is not points
        assert (again[pool][0][:used] == points[:used]).all()
    branch.learn("alone", (5.0, 7.0))
    branch.learn_stated("pairs", (1.0, 1.0))
    assert branch.interval("below 3") == (7.0, 9.0)
    for name in NAMES:
        assert reader.interval(name) == fresh.interval(name)
    assert reader.watched.tolist() == fresh.watched.tolist()
    assert {pool: tally.tolist() for pool, (_, tally) in reader._pools.items()} == {
        pool: tally.tolist() for pool, (_, tally) in fresh._pools.items()
    }


def test_what_is_told_anyway_is_no_fault_of_a_print() -> None:
    reader = _known(pairs=(0.0, 1.0))
    reader.learn_stated("alone", (0.0, 0.0))
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


# Joining equal numbers and taking sums from each other changes no possible world.


EQUAL_NAMES = ["a", "b", "c", "d"]
FACTORS = st.sampled_from([-2.0, -1.0, 1.0, 2.0])
RELATIONS = st.lists(
    st.builds(
        lambda terms, value: Relation(tuple(terms.items()), value, value),
        st.dictionaries(st.sampled_from(EQUAL_NAMES), FACTORS, min_size=1),
        st.sampled_from([0.0, 0.0, 0.0, 1.0, 3.0]),
    ),
    max_size=5,
)


def worlds(relations: list[Relation]) -> set[tuple[int, ...]]:
    return {
        point
        for point in itertools.product(range(4), repeat=len(EQUAL_NAMES))
        if all(holds(one, dict(zip(EQUAL_NAMES, point, strict=True))) for one in relations)
    }


def holds(relation: Relation, at: dict[str, int]) -> bool:
    return relation.lower <= sum(factor * at[name] for name, factor in relation.terms) <= relation.upper


@given(RELATIONS)
def test_the_worlds_are_those_of_the_relations(relations: list[Relation]) -> None:
    same, left = join_equal(EQUAL_NAMES, relations)
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
    chain = [Relation(((left, 1.0), (right, -1.0))) for left, right in itertools.pairwise(EQUAL_NAMES)]
    same, left = join_equal(EQUAL_NAMES, [*chain, Relation((("a", 1.0), ("d", 1.0)), 4, 4)])
    assert set(same.values()) == {"a"}
    assert left == [Relation((("a", 2.0),), 4, 4)]
