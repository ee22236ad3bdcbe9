"""Records below a limit with what the release gives back lose keys: the risk "recoverable_values" of a step."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from proposals import survey, trials
from sdckit.errors import DataError, ScenarioError
from sdckit.workflow.proposing.find_best import BOUNDED, _taking_more
from sdckit.workflow.proposing.trials import How, judge
from sdckit.workflow.recipes.recipe import TRIAL

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
    with pytest.raises(DataError, match=r"does not run on a plan: .* beside the original, in memory"):
        sdc.Recipe([*FIRST, TAKEN]).apply(DISTRICTS.lazy(), scenario=SCENARIO)


def test_a_proposal_takes_more_before_it_gives_columns_up() -> None:
    one = trials(
        "one", DISTRICTS, importance={"age": 1.0, "sex": 1.0, "area": 9.0}, insensitive=["kids", "ill", "district"]
    )
    node = (3, 0, 0)
    judged = judge(one, one.make(node), How())
    assert judged.failing == ("k_undone",)
    how = _taking_more(judged, one)
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
    assert _taking_more(again, better) is None


def test_a_starter_recipe_takes_more_before_it_says_that_a_limit_is_exceeded() -> None:
    """Where others are then below k it says as before what is exceeded, and takes nothing more."""
    keys = ["sex", "area", "kids"]
    scenario = sdc.Scenario(keys=keys, thresholds={"k": 20})
    data = survey(2_500, 6).select(keys)
    made = sdc.starter_recipe(data, scenario=scenario)
    assert made.exceeded == ()
    (step,) = [step for step in made.recipe.steps if step.arguments.get("risk") == "recoverable_values"]
    assert step.arguments["columns"] == keys
    assert "with what the release gives back" in made.text
    shorter = [{"method": own.method, **own.arguments} for own in made.recipe.steps if own is not step]
    without = sdc.Recipe(shorter).apply(data, scenario=scenario, secret=TRIAL, watch=False)
    assert sdc.check(data, scenario=scenario, released=without.data, log=without.log).exceeded
    other = sdc.starter_recipe(survey(2_500, 1).select(keys), scenario=scenario)
    assert other.exceeded == ("k after reconstruction",)
    assert [step.method for step in other.recipe.steps] == [step["method"] for step in shorter]


def test_the_order_of_households_is_drawn_again_without_it() -> None:
    """Rows are found by the log, though the step is not run once more; the number of a household stays."""
    data = DISTRICTS.with_columns(home=pl.int_range(pl.len()) // 2)
    scenario = SCENARIO.changed(household="home")
    steps = [{"method": "new_ids", "column": "home"}, *FIRST, TAKEN, {"method": "random_order", "household": "home"}]
    made = sdc.Recipe(steps).apply(data, scenario=scenario, secret=TRIAL, watch=False)
    rows = made.log.rows(data)
    assert rows is not None
    assert data["district"].to_numpy()[rows].tolist() == made.data["district"].to_list()
    wrong = {**TAKEN, "columns": ["age", "home"]}
    with pytest.raises(ScenarioError, match=r"step 1 \(suppress_above\): 'home' numbers the households"):
        sdc.Recipe([wrong]).apply(data, scenario=scenario)
