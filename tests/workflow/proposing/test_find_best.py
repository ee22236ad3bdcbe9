"""The way to a recipe that passes: stricter aims, what is allowed, what comes nearest."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from proposals import survey, trials
from sdckit.errors import DataError
from sdckit.workflow.proposing import find_best as module
from sdckit.workflow.proposing.find_best import Asked, _repaired, at_aim, find_best, outcome, variants
from sdckit.workflow.proposing.search import Searched
from sdckit.workflow.proposing.trials import How, Trials, judge
from sdckit.workflow.recipes import given_back
from sdckit.workflow.recipes.recipe import TRIAL

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


def asked(**more: Any) -> Asked:
    entries = {"keep": (), "importance": None, "allow": {}, "loss": None, "control": None, "until": math.inf}
    return Asked(**{**entries, "tell": lambda _: None, **more})


def test_a_stricter_aim_is_taken_where_another_threshold_does_not_hold() -> None:
    first = trials("one", thresholds={"k": 3, "match_risk": 1.0})
    at_k = find_best(first, asked())[3]
    limit = at_k.assessment["default"]["matching_risk"].mean_match_risk * 0.9
    stricter = trials("one", thresholds={"k": 3, "match_risk": limit})
    judged = find_best(stricter, asked())[3]
    assert judged.passed
    assert judged.made.loss > at_k.made.loss


def test_recodings_do_what_taking_values_out_does_not() -> None:
    """The loss alone hardly recodes, which leaves many matches: what leaves fewer is searched for by itself."""
    first = trials("one", survey(300), share=1.0, thresholds={"k": 3, "match_risk": 0.1})
    now, _, found, judged = find_best(first, asked())
    assert judged.passed
    assert now.leeway is not None
    assert judged.made.matched <= 0.1
    assert found.bound < judged.made.loss / 5
    bounded = find_best(trials("one", survey(300), share=0.05, thresholds={"k": 3, "match_risk": 0.1}), asked())[3]
    assert bounded.passed
    assert judged.made.loss <= bounded.made.loss


def households(n: int, seed: int) -> pl.DataFrame:
    """Members of households, of whom others tell much: of two adults, of children, how many they are."""
    draw = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), draw.choice([1, 2, 3, 4], n, p=[0.3, 0.35, 0.2, 0.15]))[:n]
    place = np.arange(n) - np.searchsorted(home, home)
    age = np.where(place < 2, draw.integers(20, 80, n) // 5 * 5, draw.integers(0, 20, n))
    columns = {"age": age, "sex": draw.integers(1, 3, n), "rel": np.minimum(place, 2)}
    work = np.where(age < 20, 0, draw.integers(1, 5, n))
    return pl.DataFrame({"home": home, **columns, "work": work, "size": np.bincount(home)[home]})


def test_many_records_lose_keys_where_nothing_else_holds_and_something_better_is_looked_for() -> None:
    """Keys were given up where more than 2 % of the records are told by others."""
    keys = ["age", "sex", "rel", "work", "size"]
    one = trials(
        "one", households(120, 0), keys=keys, insensitive=[], household="home", household_variables=["size"],
        share=1.0,
    )  # fmt: skip
    best = find_best(one, asked())[3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(given_back, "MOST_TAKEN", given_back.FEW_TAKEN)
        few = find_best(one, asked())[3]
        patch.undo()
        patch.setattr(module, "TAKEN_ONCE", 100)
        first = find_best(one, asked())[3]
    assert best.passed
    assert few.passed
    assert first.passed
    assert not first.takes_few
    assert best.made.loss < few.made.loss
    assert best.made.loss < first.made.loss


@pytest.mark.parametrize(("once", "passes"), [(100_000, False), (10, True)])
def test_a_recipe_that_fails_with_other_random_draws_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, once: int, passes: bool
) -> None:
    """Proposed was what held by the draws of the trial, and the release made of it broke a limit."""
    one = at_aim(trials("one", share=1.0, thresholds={"k": 3}), 1)
    node = (1, 0, 0)
    one.made[node] = one.make(node)
    assert one.made[node].drawn
    secrets: list[bytes] = []

    def judged(*given: Any, secret: bytes = TRIAL, **more: Any) -> Any:
        secrets.append(secret)
        whole = judge(*given, secret=secret, **more)
        return whole if secret != module.OTHER_DRAWS[1] else replace(whole, unrepaired="other draws", verdicts=())

    monkeypatch.setattr(module, "judge", judged)
    monkeypatch.setattr(module, "improved", lambda *_: None)
    monkeypatch.setattr(module, "DRAWN_ONCE", once)
    result = _repaired(one, node, asked())
    assert result.passed is passes
    assert secrets == [TRIAL, *module.OTHER_DRAWS][: 1 if passes else 3]


def test_what_is_allowed_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JUDGED", 1)
    monkeypatch.setattr(module, "AIMS", (1,))
    monkeypatch.setattr(module, "EARLY", ())
    said: list[str] = []
    one = trials("one", thresholds={"k": 3, "match_risk": 1e-9})
    now, _, _, judged = find_best(one, asked(allow={"area": "pram"}, tell=said.append))
    assert judged.failing == ("match_risk",)
    assert sum("checking every threshold" in line for line in said) == 2
    assert now.lattice.size == one.lattice.size


def test_a_node_that_two_searches_come_to_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[Any]()
    monkeypatch.setattr(module, "judge", lambda *a, **how: calls.append(a) or judge(*a, **how))
    one, told, node = trials("one"), asked(), (3, 0, 0)
    one.make(node)
    other, stricter = replace(one, share=0.1, made={}), at_aim(one, 2)
    for now in (one, other, stricter):
        now.made[node] = now.make(node)
    first = _repaired(one, node, told)
    n = len(calls)
    again = _repaired(other, node, told)
    assert len(calls) == n > 0
    assert (again.made, again.how, again.verdicts) == (first.made, first.how, first.verdicts)
    _repaired(stricter, node, told)
    assert len(calls) > n
    _repaired(one, node, asked())
    assert len(calls) > n + 1


def test_a_combination_that_cannot_be_repaired_is_dropped_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose groups stay without enough sensitive values ended the whole search."""
    said: list[str] = []
    one = at_aim(trials("one", thresholds={"k": 3, "match_risk": 1e-9}), 1)
    made, reason = one.make((3, 0, 0)), "groups stay without enough sensitive values"
    one.made[made.node] = made
    monkeypatch.setattr(module, "improved", lambda *_: How(without=("area",)))

    def failing(*_: Any) -> None:
        raise DataError(reason)

    monkeypatch.setattr(Trials, "make", failing)
    judged = _repaired(one, made.node, asked(tell=said.append))
    assert judged.failing == ("match_risk",)
    assert judged.unrepaired == reason
    assert said[-1] == f"this combination is dropped: {reason}"
    found = Searched({made.node: 0.5}, 0.0, 1, whole=False)
    assert f"Values cannot be taken out in another way here: {reason}." in outcome(one, found, judged, [])


def test_an_aim_changes_k_only() -> None:
    one = at_aim(trials("learnt"), 4)
    assert [(side.limits.k, side.limits.l) for side in one.lattice.sides] == [(12, 2)]
    assert one.aims == {"default": 12}


def test_others_beside_it_differ() -> None:
    one, search, _, judged = find_best(trials("two"), asked())
    others = list(variants(one, search, judged, asked(), 3))
    nodes = [judged.made.node, *(other.made.node for _, other in others)]
    assert len(set(nodes)) == len(nodes) > 1
    assert list(variants(one, search, judged, asked(until=0.0), 3)) == []
    assert list(variants(one, search, judged, asked(), 0)) == []


def test_what_is_given_back_is_taken_out_in_another_way() -> None:
    """Until it is no longer, and not once more; where every threshold holds nothing is tried again."""
    data = survey().with_columns(district=pl.col("area") + "x")
    first = {"age": 1.0, "sex": 1.0, "area": 9.0}
    one = trials("one", data, importance=first, thresholds={"k": 8, "recoverable": 0.0})
    one.made[(3, 0, 0)] = one.make((3, 0, 0))
    said: list[str] = []
    told = asked(tell=said.append)
    judged = _repaired(one, (3, 0, 0), told)
    assert "recoverable" not in judged.failing
    assert sum(text.startswith("taking values out in another way") for text in said) == 1
    said.clear()
    free = trials("one", thresholds={"k": 2})
    free.made[(2, 0, 0)] = free.make((2, 0, 0))
    assert _repaired(free, (2, 0, 0), told).passed
    assert len(said) == 1
