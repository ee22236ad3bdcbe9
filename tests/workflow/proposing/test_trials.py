"""A node made into steps: what they are, what they do, that the outcome keeps its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import homes
import sdckit as sdc
from proposals import survey, trials
from sdckit.data.limits import LIMITS
from sdckit.data.seeds import Mixed
from sdckit.workflow.proposing.trials import How, Trials, judge, open_lattice
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.recipe_steps import GIVEN_BACK
from sdckit.workflow.recipes.run_step import run_step

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


def kinds(one: Trials, node: tuple[int, ...]) -> list[str]:
    return [kind for kind, _ in one.make(node).steps]


def test_the_steps_are_a_recipe_and_give_what_was_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mixed, "of_step", lambda *_: 1)  # a trial draws as a first step, the recipe as its own
    one = trials("two", share=1.0)
    made = one.make((2, 0, 0, 1))
    applied = Recipe([step for _, step in made.steps]).apply(survey(), scenario=one.scenario, secret=bytes(32))
    taken = {name: applied.data[name].null_count() for name in ("age", "sex", "area", "kids")}
    assert {name: count / 700 for name, count in taken.items() if count} == pytest.approx(dict(made.hidden))
    assert applied.data.equals(one.release((2, 0, 0, 1)))
    assert made.loss == pytest.approx(one.lattice.loss((2, 0, 0, 1), made.hidden))


def test_a_trial_runs_on_the_columns_that_its_steps_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def looked_at(number: int, step: Any, data: Any, **given: Any) -> Any:
        seen.append("note" in data.columns)
        return run_step(number, step, data, **given)

    monkeypatch.setattr("sdckit.workflow.proposing.trials.run_step", looked_at)
    node = (2, 0, 0, 1)
    one = replace(trials("two", share=1.0), data=survey().with_columns(note=pl.int_range(700)), made={})
    loss, narrow = one.real(node), one.made[node]
    assert seen
    assert not any(seen)
    whole = one.tried(node)
    assert "note" in whole.columns
    assert (loss, narrow.steps, narrow.hidden) == (one.made[node].loss, one.made[node].steps, one.made[node].hidden)
    for how in (How(draws=({"method": "pram", "columns": ["note"]},)), How(without=("note",))):
        seen.clear()
        assert one.with_how(how).real(node) == loss
        assert any(seen)


def test_keys_left_out_are_not_asked_for_again() -> None:
    one = trials("two", share=1.0)
    rungs = one.shape
    made = one.make((2, 0, rungs[2] - 1, 0))
    assert made.steps[0] == ("left out", {"method": "drop_identifiers", "columns": ["area"]})
    assert ("k", {"method": "local_suppression", "keys": ["age", "sex"], "k": 3, "hide_implied": True}) in made.steps
    assert "area" not in one.release((2, 0, rungs[2] - 1, 0)).columns


def test_groups_with_too_few_values_lose_keys_until_they_have_them() -> None:
    one = trials("learnt", share=1.0)
    made = one.make((1, 0, 0))
    columns = [step["columns"] for kind, step in made.steps if kind == "l"]
    assert columns[0] == ["age"]
    assert all(step["risk"] == "l_diversity" for kind, step in made.steps if kind == "l")
    release = one.release((1, 0, 0))
    found = sdc.l_diversity(release, keys=["age", "sex", "kids"], sensitive="ill")
    assert found.violations["ill"]["distinct"][2] == 0
    assert sdc.k_anonymity(release, keys=["age", "sex", "kids"], k=[3]).violations[3] == 0


def test_a_missing_value_that_is_a_category_hides_nothing() -> None:
    one = trials("one", missing="category")
    assert not any(side.may_hide for side in one.lattice.sides)
    assert "k" not in kinds(one, (2, 0, 0))
    assert not one.enough((0, 0, 0))


def test_people_with_several_rows_lose_no_values() -> None:
    """With a person a missing key must be a level of its own: a release with one could not be judged."""
    panel = survey().with_columns(no=pl.int_range(700) // 2)
    one = trials("one", panel, share=1.0, person="no", thresholds={"k": 3, "risk": 0.2})
    assert not {"k", "risk", "l"} & set(kinds(one, (2, 0, 0)))
    assert not any(side.may_hide for side in one.lattice.sides)


def test_columns_that_tell_a_key_go_with_it() -> None:
    data = survey().with_columns(district=pl.col("area") + "0")
    first = {"age": 1.0, "sex": 1.0, "area": 9.0}  # the area is taken out first
    one = trials("one", data, importance=first, thresholds={"k": 8}).with_how(How(bundles={"area": ("district",)}))
    release = one.release((3, 0, 0))
    assert release["area"].null_count() > 0
    assert (release["area"].is_null() == release["district"].is_null()).all()
    gone = trials("one", data).with_how(How(without=("district",)))
    assert "district" not in gone.release((2, 0, 0)).columns


def test_nobody_knows_anything_is_no_release() -> None:
    one = trials("one")
    assert not one.enough(tuple(size - 1 for size in one.shape))


def test_a_step_that_fails_is_no_release() -> None:
    one = trials("one").with_how(How(draws=({"method": "synthesize", "columns": ["nothing"]},)))
    assert one.real((2, 0, 0)) == float("inf")


def test_households_lose_values_together() -> None:
    data = homes.people()
    keys = ["region", "size", "age", "sex"]
    more = {"keys": keys, "household": "home", "weight": "w", "thresholds": {"k": 3}}
    one = trials("one", data, share=1.0, **more)
    release = one.release((0, 0, 1, 0))
    assert release["region"].null_count() > 0
    together = release.group_by("home").agg(pl.col("region").is_null().n_unique())
    assert together["region"].max() == 1


def test_a_size_in_classes_goes_with_the_number_by_which_members_are_counted() -> None:
    data, prefer = homes.people(), {"size": [{"method": "top_bottom_code", "top": 2}]}
    asked = {"household": "home", "weight": "w", "thresholds": {"k": 3}}
    scenario = sdc.Scenario(keys=["region", "size", "age", "sex"], **asked)
    lattice = open_lattice(data, scenario, keep=(), prefer=prefer, weights={}, internal=False)
    steps = dict(Trials(data, scenario, lattice, 1.0, None, aims={"default": 3}).make((0, 1, 1, 0)).steps)
    assert steps["recoding"]["column"] == "size"
    assert steps["k"]["together"] == [["size", "home"]]


@pytest.mark.parametrize("asked", [{"l": 2}, {"k": 3, "l": 2}], ids=str)
def test_who_loses_what_most_mates_share_is_seen_with_nobody(asked: dict[str, int]) -> None:
    """Else whoever sees the household together puts it back, and the group has too few sensitive values again."""
    data = homes.of_one_faith()
    more = {"keys": ["age", "sex", "faith"], "sensitive": ["ill"], "household": "home", "thresholds": asked}
    one = trials("learnt", data, share=1.0, **more)
    made = one.make((0,) * len(one.shape))
    lost = [step["columns"] for kind, step in made.steps if kind == "l"]
    assert lost
    assert all(("home" in columns) is ("faith" in columns) for columns in lost)
    assert judge(one, made, one.how).failing == ()
    alone = trials("learnt", data, share=1.0, **{**more, "household": "none"})
    assert not any("home" in step.get("columns", ()) for _, step in alone.make((0,) * len(one.shape)).steps)


def test_columns_that_may_be_drawn_anew_are() -> None:
    one = trials("one").with_how(How(draws=({"method": "pram", "columns": ["area", "kids"]},)))
    steps = one.make((2, 0, one.shape[2] - 1)).steps
    assert ("allowed", {"method": "pram", "columns": ["kids"]}) in steps  # the area is left out


def test_too_few_to_be_hidden_among_each_other() -> None:
    data = survey(60)
    one = trials("learnt", data, share=1.0)
    for node in [(0, 0, 0), (1, 0, 0), (one.shape[0] - 2, 0, 0), (one.shape[0] - 2, 0, 1)]:
        if (loss := one.real(node)) < float("inf"):
            release = one.release(node)
            keys = [name for name in ("age", "sex", "kids") if name in release.columns]
            assert loss < 1
            assert sdc.l_diversity(release, keys=keys, sensitive="ill").violations["ill"]["distinct"][2] == 0


def test_a_trial_leaves_out_the_guesses_which_no_limit_reads() -> None:
    assert not [name for name, kind in LIMITS.items() if "guess" in kind.figure]
    one = trials("one", survey(200), share=1.0)
    judged = judge(one, one.make((2, 0, 0)), one.how)
    (name,) = judged.assessment
    tried = judged.assessment[name][GIVEN_BACK]
    assert (tried.touched > 0, [column.n_guessed for file in tried.columns for column in file]) == (True, [0, 0, 0])
