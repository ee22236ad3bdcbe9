"""Records below a limit with what the release gives back lose keys: the risk "recoverable_values" of a step."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import homes
import sdckit as sdc
from proposals import survey, trials
from sdckit.attacks.recovery import recoverable_values
from sdckit.cells import tabulate
from sdckit.errors import DataError, ScenarioError, sure
from sdckit.workflow import assess
from sdckit.workflow.proposing.find_best import BOUNDED
from sdckit.workflow.proposing.trials import How, all_steps, judge
from sdckit.workflow.recipes import recipe, recipe_runs
from sdckit.workflow.recipes.given_back import further_steps, lacking_records, mixed_before, options_taking_more
from sdckit.workflow.recipes.recipe import TRIAL, Kept, recodings_of, tried
from sdckit.workflow.recipes.recipe_checks import StepLike

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")

DISTRICTS = survey().with_columns(district=pl.col("area") + "x")  # from which the area follows
SCENARIO = sdc.Scenario(
    keys=["age", "sex", "area"], insensitive=["kids", "ill", "district"], thresholds={"k": 3},
)  # fmt: skip
FIRST: list[dict[str, Any]] = [
    {"method": "recode", "column": "age", "bands": [0, 30, 50, 70, None]},
    {"method": "local_suppression", "importance": {"age": 1, "sex": 1, "area": 9}, "k": 6},
]
TAKEN = {"method": "suppress_above", "risk": "recoverable_values", "threshold": 0, "columns": ["age", "sex"]}


def below(data: Any, log: Any) -> int:
    """Records below k with what the release gives back, as the gate counts them."""
    result = sdc.recoverable_values(data, DISTRICTS, scenario=SCENARIO, log=log, k=3)
    return int(result.below_k[0][3])


def applied(*steps: dict[str, Any], secret: bytes = TRIAL) -> Any:
    return sdc.Recipe(steps).apply(DISTRICTS, scenario=SCENARIO, secret=secret, watch=False)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("secret", [TRIAL, bytes([7]) * 32])
def test_those_below_k_lose_keys_until_none_is(mixed: bool, secret: bytes) -> None:
    """Rows that were put into another order before are found again."""
    order = [{"method": "random_order"}] if mixed else []
    without = applied(*FIRST, *order, secret=secret)
    made = applied(*FIRST, *order, TAKEN, secret=secret)
    n = below(without.data, without.log)
    assert n > 0
    assert below(made.data, made.log) == 0
    gone = made.data["sex"].null_count() - without.data["sex"].null_count()
    assert made.log.steps[-1].changed["sex"] == gone >= 1
    assert gone <= 2 * n
    assert sdc.Recipe.replay(DISTRICTS, made.log).data.equals(made.data)


def test_a_step_says_that_records_are_left_of_which_it_can_take_no_more() -> None:
    """None of the other notes was of the file that went out: a recipe that could not hold looked like one that did."""
    left = applied(*FIRST, {**TAKEN, "columns": ["kids"]})
    assert below(left.data, left.log) > 0
    assert left.log.steps[-1].notes["risk"].startswith("some records are still above the threshold though")
    made = applied(*FIRST, TAKEN)
    assert below(made.data, made.log) == 0
    assert made.log.steps[-1].notes["risk"] == "the risk is that before the change; measure again"


def test_a_risk_above_its_limit_counts_as_one() -> None:
    by_risk = SCENARIO.changed(thresholds={"risk": 0.3})
    made = sdc.Recipe([*FIRST, TAKEN]).apply(DISTRICTS, scenario=by_risk, secret=TRIAL, watch=False)
    assert made.log.steps[-1].changed["age"] > 0
    result = sdc.recoverable_values(made.data, DISTRICTS, scenario=by_risk, log=made.log, risk=0.3)
    assert result.above_risk == (0,)


def test_nothing_is_lost_where_nothing_is_given_back() -> None:
    """Also by a first step: nothing was changed yet."""
    whole = survey().select("age", "sex", "area")
    own = SCENARIO.changed(insensitive=())
    made = sdc.Recipe([*FIRST, TAKEN]).apply(whole, scenario=own, secret=TRIAL, watch=False)
    assert made.log.steps[-1].n_changed == 0
    alone = sdc.Recipe([TAKEN]).apply(whole, scenario=own, secret=TRIAL, watch=False)
    sizes = sdc.key_frequencies(whole, scenario=own).records["sample_frequency"]
    assert alone.log.steps[0].changed["age"] == int((sizes < 3).sum()) > 0


def test_what_cannot_be_measured_is_refused_before_anything_is_done() -> None:
    with pytest.raises(ScenarioError, match=r"step 1 \(suppress_above\): risk = .* needs the threshold k or risk"):
        sdc.Recipe([TAKEN]).apply(DISTRICTS, scenario=sdc.Scenario(keys=["age", "sex"], thresholds={"l": 2}))
    says = r"does not run on a plan: .* beside the original, in memory\. Bring the file into memory for it$"
    with pytest.raises(DataError, match=says):
        sdc.Recipe([*FIRST, TAKEN]).apply(DISTRICTS.lazy(), scenario=SCENARIO)


def test_a_file_that_was_looked_at_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a step run again that draws the same: after other steps, or with another secret that changes nothing."""
    looked, ran, run_step = list[Any](), list[int](), recipe_runs.run_step
    monkeypatch.setattr(recipe, "lacking_records", lambda *a: looked.append(a[2]) or lacking_records(*a))
    monkeypatch.setattr(recipe_runs, "run_step", lambda at, *a, **how: ran.append(at) or run_step(at, *a, **how))
    first = [FIRST[0], {**FIRST[1], "importance": {"age": 1, "sex": 2, "area": 9}}]
    steps = [*first, TAKEN, {**TAKEN, "columns": ["age", "sex", "area"]}, {"method": "random_order"}]
    kept = Kept()
    tried(DISTRICTS, SCENARIO, [*steps[:3], steps[4]], kept=kept)
    rounds = len(looked)
    assert rounds >= 2
    assert ran == [1, 2, 3, 4]
    made = tried(DISTRICTS, SCENARIO, steps, kept=kept)
    assert len(looked) == rounds
    assert ran == [1, 2, 3, 4, 4, 5]
    other = tried(DISTRICTS, SCENARIO, steps, kept=kept, secret=bytes([7]) * 32)
    same = other.log.steps[1].changed == made.log.steps[1].changed
    assert (len(looked) == rounds) is same
    monkeypatch.undo()
    for secret, own in ((TRIAL, made), (bytes([7]) * 32, other)):
        anew = tried(DISTRICTS, SCENARIO, steps, secret=secret)
        assert own.data.equals(anew.data)
        assert [change.to_dict() for change in own.log.steps] == [change.to_dict() for change in anew.log.steps]


def searches(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The values of every release that is searched for what it gives back, and of the rows that these belong to."""
    searched, recover = list[bytes](), recoverable_values.recover

    def noted(columns: Any, touched: Any, **how: Any) -> Any:
        changed = [target.touched for target in touched.values()]
        searched.append(b"".join([*(column.codes.tobytes() for column in columns.values()), *map(bytes, changed)]))
        return recover(columns, touched, **how)

    monkeypatch.setattr(recoverable_values, "recover", noted)
    return searched


def test_a_release_is_searched_once_by_all_trials_of_a_starter_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that takes keys by what is given back, and the verdicts before and after it, are of the same files."""
    searched = searches(monkeypatch)
    keys = ["sex", "area", "kids"]
    sdc.starter_recipe(survey(2_500, 6).select(keys), scenario=sdc.Scenario(keys=keys, thresholds={"k": 20}))
    assert len(searched) > 1
    assert len(set(searched)) == len(searched)


def test_a_release_is_searched_once_by_trials_of_a_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, kept = searches(monkeypatch), Kept()
    one = trials(
        "one", DISTRICTS, importance={"age": 1.0, "sex": 1.0, "area": 9.0}, insensitive=["kids", "ill", "district"]
    )
    judged = judge(one, one.make((3, 0, 0)), How(), tries=kept)
    how = options_taking_more(judged, one, 0.5)
    better = one.with_how(sure(how))
    assert judge(better, better.make((3, 0, 0)), sure(how), tries=kept).failing == ()
    assert len(searched) > 1
    assert len(set(searched)) == len(searched)


def test_other_values_or_other_rows_are_searched_anew() -> None:
    kept, made = Kept(), applied(*FIRST)
    rows = recodings_of(made)
    first = kept.recovered(made.data, rows)
    assert first is not None
    assert kept.recovered(made.data.clone(), rows) is first
    first["anything"] = 1
    moved = replace(rows, rows=np.arange(len(DISTRICTS)))
    second = kept.recovered(made.data, moved)
    assert second == {}
    assert first == {}
    assert kept.recovered(made.data, moved) is second
    other = made.data.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise("age"))
    assert kept.recovered(other, moved) is not second
    assert kept.recovered(made.data, replace(rows, steps=(StepLike("random_order", {}),))) is None


def test_the_columns_are_not_looked_through_for_what_is_given_back_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made, seen = applied(*FIRST), list[Any]()
    monkeypatch.setattr(assess, "look_at_columns", lambda *a, **how: seen.append(a))
    by_risk = SCENARIO.changed(thresholds={"k": 3, "risk": 0.3})
    lacking = lacking_records(DISTRICTS, recodings_of(made), made.data, by_risk)
    assert (lacking > 0).any()
    assert not seen


def test_k_and_risk_are_read_from_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    tables, tabulate_frame = list[Any](), tabulate.tabulate_frame
    monkeypatch.setattr(tabulate, "tabulate_frame", lambda *a: tables.append(a) or tabulate_frame(*a))
    both = SCENARIO.changed(thresholds={"k": 3, "risk": 0.3})
    lacking = lacking_records(DISTRICTS, None, DISTRICTS, both)
    assert len(tables) == 1
    sizes = sdc.key_frequencies(DISTRICTS, scenario=SCENARIO).records["sample_frequency"].to_numpy()
    assert lacking.tolist() == np.maximum(3 - sizes, sizes == 3).tolist()


def test_a_step_takes_only_what_is_there() -> None:
    """Where every key that mates do not share was left out, there is no step on them."""
    data = DISTRICTS.with_columns(home=pl.int_range(pl.len()) // 2).with_columns(
        area=pl.col("area").first().over("home")
    )
    scenario = SCENARIO.changed(household="home")
    one = SimpleNamespace(below_k=({3: 2},), above_risk=(None,))
    result = {"default": {"recoverable_values": one}}
    every = further_steps(data, scenario, result, len(data), [], data.columns)
    assert every == [TAKEN]
    (rest,) = further_steps(data, scenario, result, len(data), every, data.columns)
    assert rest["columns"] == ["age", "sex", "area", "home"]  # by which mates put them back
    assert further_steps(data, scenario, result, len(data), [], ["area"]) == [{**TAKEN, "columns": ["area"]}]
    assert further_steps(data, scenario, result, len(data), [], ["kids"]) == []


def test_a_proposal_takes_more_before_it_gives_columns_up() -> None:
    one = trials(
        "one", DISTRICTS, importance={"age": 1.0, "sex": 1.0, "area": 9.0}, insensitive=["kids", "ill", "district"]
    )
    node = (3, 0, 0)
    judged = judge(one, one.make(node), How())
    assert judged.failing == ("k_undone",)
    how = options_taking_more(judged, one, 0.5)
    assert how is not None
    (step,) = how.taken
    assert step == {**TAKEN, "columns": ["age", "sex", "area"]}
    better = one.with_how(how)
    again = judge(better, better.make(node), how)
    assert again.failing == ()
    assert again.released is not None
    lost = again.released["age"].null_count() - judged.made.hidden.get("age", 0.0) * len(DISTRICTS)
    assert 0 < lost <= BOUNDED * len(DISTRICTS)
    assert again.made.gone["age"] * len(DISTRICTS) == pytest.approx(again.released["age"].null_count())
    assert again.made.loss > judged.made.loss
    steps = all_steps(one.scenario, DISTRICTS.columns, again.made, again.mended)
    assert [own["method"] for own in steps][-2:] == ["random_order", "suppress_above"]
    assert options_taking_more(again, better, 0.5) is None


def test_a_starter_recipe_takes_more_before_it_says_that_a_limit_is_exceeded() -> None:
    """Where others are then below k it says as before what is exceeded, and takes nothing more."""
    keys = ["sex", "area", "kids"]
    scenario = sdc.Scenario(keys=keys, thresholds={"k": 20})
    data = survey(2_500, 6).select(keys)
    made = sdc.starter_recipe(data, scenario=scenario)
    assert made.exceeded == ()
    (step,) = [step for step in made.recipe.steps if step.arguments.get("risk") == "recoverable_values"]
    assert step.arguments["columns"] == keys
    assert [own.method for own in made.recipe.steps][-2:] == ["random_order", "suppress_above"]
    assert "with what the release gives back" in made.text
    shorter = [{"method": own.method, **own.arguments} for own in made.recipe.steps if own is not step]
    without = sdc.Recipe(shorter).apply(data, scenario=scenario, secret=TRIAL, watch=False)
    assert sdc.check(data, scenario=scenario, released=without.data, log=without.log).exceeded
    other = sdc.starter_recipe(survey(2_500, 1).select(keys), scenario=scenario)
    assert other.exceeded == ("k after reconstruction",)
    assert [step.method for step in other.recipe.steps] == [step["method"] for step in shorter]


def test_what_is_given_back_is_looked_for_in_the_order_that_goes_out() -> None:
    """That the second of a household is the spouse of the first is told by the order of the forms alone."""
    data = homes.couples()
    keys = ["relation", "sex", "area", "marital"]
    scenario = sdc.Scenario(keys=keys, household="home", thresholds={"k": 4})
    mixed = {"method": "random_order", "household": "home"}
    before: list[dict[str, Any]] = [{"method": "new_ids", "column": "home"}, {"method": "local_suppression"}]
    steps = [(step, ()) for step in [*before, {**TAKEN, "columns": keys}]]
    ordered = [step for step, _ in mixed_before(steps, [(mixed, ())]) if step is not None]
    assert [step["method"] for step in ordered] == ["new_ids", "local_suppression", "random_order", "suppress_above"]
    lost = []
    for some in ([*(step for step, _ in steps), mixed], ordered):
        made = sdc.Recipe(some).apply(data, scenario=scenario, secret=TRIAL, watch=False)
        lost.append(sum(change.n_changed for change in made.log.steps if change.method == "suppress_above"))
        verdicts = sdc.check(data, scenario=scenario, released=made.data, log=made.log).verdicts
        assert all(verdict.holds for verdict in verdicts if verdict.name == "k_undone")
    assert lost[1] < lost[0]


def test_the_order_of_households_is_drawn_again_without_it() -> None:
    """Rows are found by the log, though the step is not run once more; the number of a household stays."""
    data = DISTRICTS.with_columns(home=pl.int_range(pl.len()) // 2)
    scenario = SCENARIO.changed(household="home")
    steps = [{"method": "new_ids", "column": "home"}, *FIRST, TAKEN, {"method": "random_order", "household": "home"}]
    made = sdc.Recipe(steps).apply(data, scenario=scenario, secret=TRIAL, watch=False)
    rows = made.log.rows(data)
    assert rows is not None
    drawn = recodings_of(tried(data, scenario, steps))  # for which no step is run again
    assert drawn.rows is not None
    assert drawn.rows.tolist() == rows.tolist()
    assert data["district"].to_numpy()[rows].tolist() == made.data["district"].to_list()
    wrong = {**TAKEN, "columns": ["age", "home"]}
    with pytest.raises(ScenarioError, match=r"step 1 .* 'home' numbers the households, which random_order needs"):
        sdc.Recipe([wrong, steps[-1]]).apply(data, scenario=scenario)
    last = sdc.Recipe([*FIRST, steps[-1], wrong]).apply(data, scenario=scenario, secret=TRIAL, watch=False)
    found = last.log.rows(data)
    assert found is not None
    assert last.log.steps[-1].changed["home"] == last.data["home"].null_count() > 0
    shown = last.data["home"].is_not_null()
    assert data["home"].to_numpy()[found][shown.to_numpy()].tolist() == last.data["home"].drop_nulls().to_list()
