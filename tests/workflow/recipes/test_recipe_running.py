"""One step, run: its seed, its risk, its errors."""

from __future__ import annotations

import pytest

import sdckit as sdc
from homes import people, shared
from recipes import SECRET, scenario, survey
from sdckit.data.seeds import Mixed
from sdckit.errors import DataError, ScenarioError
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recipes.recipe_running import run_step

MIXED = Mixed(SECRET, 1)


def test_the_risk_is_measured_where_it_is_asked_for() -> None:
    step = StepLike("suppress_above", {"risk": "individual_risk", "threshold": 0.02, "columns": ["job"]})
    data, change = run_step(1, step, survey(), scenario=scenario(), folder=None, mixed=MIXED)
    risk = sdc.individual_risk(survey(), scenario=scenario()).records["risk"]
    assert change.changed == {"job": int((risk > 0.02).sum())}
    assert data["job"].null_count() == change.changed["job"] > 0


def learnt(**more: object) -> sdc.Scenario:
    given = {
        "intruders": {"a": ["sex", "age"], "b": ["job"]},
        "sensitive": ["income"],
        "thresholds": {"l": 2},
    }
    return sdc.Scenario(**{**given, **more})  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_records_whose_group_lacks_sensitive_values_lose_columns() -> None:
    arguments = {"risk": "l_diversity", "intruder": "a", "threshold": 0, "columns": ["age"]}
    data, change = run_step(
        1, StepLike("suppress_above", arguments), survey(), scenario=learnt(), folder=None, mixed=MIXED
    )
    found = sdc.l_diversity(survey(), keys=["sex", "age"], sensitive="income", levels=[2])
    assert change.changed == {"age": found.violations["income"]["distinct"][2]}
    assert data["age"].null_count() == change.changed["age"] > 0
    without = survey().drop("sex")  # a key that an earlier step left out
    _, change = run_step(
        1, StepLike("suppress_above", arguments), without, scenario=learnt(), folder=None, mixed=MIXED
    )
    found = sdc.l_diversity(without, keys=["age"], sensitive="income", levels=[2])
    assert change.changed == {"age": found.violations["income"]["distinct"][2]}


def test_a_lack_of_values_needs_a_threshold() -> None:
    step = StepLike(
        "suppress_above", {"risk": "l_diversity", "threshold": 0, "columns": ["age"], "intruder": "a"}
    )
    with pytest.raises(ScenarioError, match=r"^step 2 \(suppress_above\): .*needs the threshold l"):
        run_step(2, step, survey(), scenario=learnt(thresholds={"k": 2}), folder=None, mixed=MIXED)


def test_the_risk_of_one_of_several_intruders() -> None:
    recipe = sdc.Recipe(
        [
            {
                "method": "suppress_above",
                "risk": "individual_risk",
                "intruder": "b",
                "threshold": 0.01,
                "columns": ["job"],
            }
        ]
    )
    applied = recipe.apply(survey(), scenario=learnt(thresholds={"risk": 0.01}), watch=False)
    risk = sdc.individual_risk(survey(), keys=["job"]).records["risk"]
    assert applied.data["job"].null_count() == int((risk > 0.01).sum()) > 0


def test_an_error_names_the_step() -> None:
    step = StepLike("microaggregate", {"columns": ["income"], "k": 1})
    with pytest.raises(DataError, match=r"^step 7 \(microaggregate\): "):
        run_step(7, step, survey(), scenario=None, folder=None, mixed=MIXED)


def test_an_argument_is_called_as_in_the_recipe() -> None:
    step = StepLike("microaggregate", {"columns": ["income"], "how": "mdvv"})
    with pytest.raises(
        DataError, match=r"^step 1 \(microaggregate\): how 'mdvv' is unknown; did you mean 'mdav'"
    ) as caught:
        run_step(1, step, survey(), scenario=None, folder=None, mixed=MIXED)
    assert caught.value.argument == "how"


def household_scenario(**more):
    return sdc.Scenario(
        keys=["region", "size", "age", "sex"],
        household="home",
        sampling_fraction=0.5,
        thresholds={"k": 5},
        **more,
    )


STEPS_OF_HOMES = {
    "local_suppression": {},
    "pram": {"columns": ["region", "sex"]},
    "mask_categorical": {"columns": ["region", "sex"], "probability": 0.5},
    "suppress_above": {"columns": ["region", "sex"], "risk": "individual_risk", "threshold": 0.1},
    "swap_records": {"hierarchy": ["region"], "keys": ["age", "sex"]},
    "synthesize": {"columns": ["sex", "region"], "predictors": ["age"]},
}


@pytest.mark.parametrize("declared", [(), ("region", "tenure", "size")])
@pytest.mark.parametrize("name", STEPS_OF_HOMES)
def test_the_household_of_the_scenario_is_that_of_a_step(name, declared):
    step = {"method": name, **STEPS_OF_HOMES[name]}
    scenario = household_scenario(household_variables=declared)
    applied = sdc.Recipe([step]).apply(people(), scenario=scenario, seed=1, secret=SECRET, watch=False)
    assert applied.log.steps[0].parameters["household"] == "home"
    assert shared(applied.data, "region")
    assert applied.differing["region"] > 0


@pytest.mark.parametrize("name", sorted(STEPS_OF_HOMES.keys() - {"swap_records"}))
def test_a_step_may_say_otherwise(name, tmp_path):
    step = {"method": name, **STEPS_OF_HOMES[name], "household_variables": []}
    recipe = sdc.Recipe([step])
    found = recipe.apply(people(), scenario=household_scenario(), seed=1, secret=SECRET, watch=False).data
    assert not shared(found, "region")
    path = tmp_path / "recipe.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    assert sdc.Recipe.from_toml(path).steps == recipe.steps


def test_a_household_that_was_left_out_is_no_longer_asked_for():
    steps = [{"method": "drop_identifiers", "columns": ["home"]}, {"method": "pram", "columns": ["region"]}]
    applied = sdc.Recipe(steps).apply(people(), scenario=household_scenario(), seed=1, secret=SECRET)
    assert not applied.log.steps[1].parameters.get("household")
    assert "home" not in applied.data.columns


def test_persons_are_swapped_where_the_geography_is_theirs():
    step = {"method": "swap_records", "hierarchy": ["sex"], "keys": ["age"]}
    applied = sdc.Recipe([step]).apply(
        people(), scenario=household_scenario(), seed=1, secret=SECRET, watch=False
    )
    assert applied.log.steps[0].parameters["household"] is None
