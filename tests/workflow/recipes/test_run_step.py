"""One step, run: its seed, its risk, its errors."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from homes import people, shared
from recipes import SECRET, scenario, survey
from sdckit.data.seeds import Mixed
from sdckit.errors import DataError, ScenarioError
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recipes.recipe_log import RecipeLog
from sdckit.workflow.recipes.run_step import drawn_order, run_step

MIXED = Mixed(SECRET, 1)


def test_the_risk_is_measured_where_it_is_asked_for() -> None:
    step = StepLike("suppress_above", {"risk": "individual_risk", "threshold": 0.02, "columns": ["job"]})
    data, change = run_step(1, step, survey(), scenario=scenario(), folder=None, mixed=MIXED)
    risk = sdc.individual_risk(survey(), scenario=scenario()).records["risk"]
    assert change.changed == {"job": int((risk > 0.02).sum())}
    assert data["job"].null_count() == change.changed["job"] > 0


@pytest.mark.parametrize("gone", [{"sensitive": ["income", "gone"]}, {"weight": "gone"}, {"household": "gone"}])
@pytest.mark.parametrize("risk", ["individual_risk", "l_diversity"])
def test_a_column_that_an_earlier_step_left_out_is_asked_for_by_no_risk(risk: str, gone: dict[str, object]) -> None:
    """The whole recipe was refused; the release is judged without the roles of what it has not, and so is the step."""
    step = StepLike("suppress_above", {"risk": risk, "intruder": "a", "threshold": 0, "columns": ["age"]})
    as_given = run_step(1, step, survey(), scenario=learnt(), folder=None, mixed=MIXED)
    assert run_step(1, step, survey(), scenario=learnt(**gone), folder=None, mixed=MIXED)[1] == as_given[1]
    assert as_given[1].n_changed > 0


def learnt(**more: object) -> sdc.Scenario:
    given = {"intruders": {"a": ["sex", "age"], "b": ["job"]}, "sensitive": ["income"], "thresholds": {"l": 2}}
    return sdc.Scenario(**{**given, **more})  # type: ignore[arg-type]


# Region 0 has one job only; of region 1 a record with another job could join whoever loses all keys.
FILE = pl.DataFrame({
    "region": [0, 0, *[1] * 6, 2, 2, None, None], "sex": [*"ff", *"ffffff", *"mm", None, None],
    "job": [*"aa", *"aabbcc", *"ab", *"bc"],
})  # fmt: skip


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize(("columns", "head", "gone"), [
    (["region", "sex"], 10, 3),  # one joins, with another job
    (["sex"], 10, 2),  # the region stays, and so do the others
    (["region", "sex"], 12, 2),  # those without keys have two jobs already
])  # fmt: skip
def test_others_lose_all_keys_only_where_those_without_have_too_few_values(
    columns: list[str], head: int, gone: int
) -> None:
    arguments = {"risk": "l_diversity", "threshold": 0, "columns": columns}
    given = sdc.Scenario(keys=["region", "sex"], sensitive=["job"], missing="category", thresholds={"l": 2})
    step = StepLike("suppress_above", arguments)
    data, change = run_step(1, step, FILE.head(head), scenario=given, folder=None, mixed=MIXED)
    assert change.changed == dict.fromkeys(columns, gone)
    lost = FILE.head(head).with_row_index().filter(pl.Series(data["sex"].is_null()) & pl.col("sex").is_not_null())
    assert lost["index"].to_list() == [0, 1, 4][:gone]


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
    _, change = run_step(1, StepLike("suppress_above", arguments), without, scenario=learnt(), folder=None, mixed=MIXED)
    found = sdc.l_diversity(without, keys=["age"], sensitive="income", levels=[2])
    assert change.changed == {"age": found.violations["income"]["distinct"][2]}


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_others_join_records_that_would_be_alone_without_keys() -> None:
    """The two records of their own would be a class with one value: nothing that this step does later mends that."""
    data = pl.DataFrame({"sex": ["f"] * 5 + ["m"] * 2, "income": [1, 1, 2, 2, 2, 1, 1]})
    told = sdc.Scenario(keys=["sex"], sensitive=["income"], thresholds={"l": 2})
    step = StepLike("suppress_above", {"risk": "l_diversity", "threshold": 0, "columns": ["sex"]})
    out, change = run_step(1, step, data, scenario=told, folder=None, mixed=MIXED)
    assert change.changed == {"sex": 3}
    assert sdc.l_diversity(out, scenario=told).violations["income"]["distinct"][2] == 0


def test_a_lack_of_values_needs_a_threshold() -> None:
    step = StepLike("suppress_above", {"risk": "l_diversity", "threshold": 0, "columns": ["age"], "intruder": "a"})
    with pytest.raises(ScenarioError, match=r"^step 2 \(suppress_above\): .*needs the threshold l"):
        run_step(2, step, survey(), scenario=learnt(thresholds={"k": 2}), folder=None, mixed=MIXED)


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_an_original_in_which_a_step_changes_other_values_is_refused() -> None:
    """As one read without its codes for missing values: other households lose their numbers, and come elsewhere."""
    scene = scenario(keys=["region", "size", "age", "sex"], household="home", thresholds={"k": 3})
    steps = [
        {"method": "local_suppression", "together": [["size", "home"]]},
        {"method": "random_order", "household": "home"},
    ]
    data = people().with_columns(row=pl.int_range(pl.len()))
    applied = sdc.Recipe(steps).apply(data, scenario=scene, secret=SECRET)
    assert applied.data["home"].null_count()
    rows = applied.log.rows(data)
    assert rows is not None
    assert rows.tolist() == applied.data["row"].to_list()
    coded = data.with_columns(age=pl.when(pl.col("row") % 9 > 0).then("age"))
    with pytest.raises(DataError, match=r"another file: step 1 \(local_suppression\) changes other values of .*age"):
        applied.log.rows(coded)


def test_a_lack_of_values_needs_a_column_that_is_still_there() -> None:
    data = pl.DataFrame({"sex": ["f", "m"] * 5, "income": [1, 2] * 5})
    told = sdc.Scenario(keys=["sex"], sensitive=["income"], thresholds={"l": 2})
    step = StepLike("suppress_above", {"risk": "l_diversity", "threshold": 0, "columns": ["sex"]})
    with pytest.raises(ScenarioError, match=r"^step 2 \(suppress_above\): .* or steps before left it out$"):
        run_step(2, step, data.drop("income"), scenario=told, folder=None, mixed=MIXED)


@pytest.mark.parametrize(("points", "lost"), [(1, 0), (2, 2), (3, 2)])
def test_people_who_are_followed_lose_columns_in_all_their_rows(points: int, lost: int) -> None:
    """As many rows are known as the limit names."""
    jobs = ["a", "b", *["a", "a"] * 4, *["b", "b"] * 4]
    panel = pl.DataFrame({"who": [at // 2 for at in range(18)], "year": [1, 2] * 9, "job": jobs})
    limit = {"known_points": {"points": points, "alone": 0.1}}
    told = sdc.Scenario(keys=["job"], person="who", time="year", thresholds=limit)
    step = StepLike("suppress_above", {"risk": "known_points", "threshold": 0.5, "columns": ["job"]})
    _, change = run_step(1, step, panel, scenario=told, folder=None, mixed=Mixed(SECRET, 1))
    assert change.changed == {"job": lost}


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
        keys=["region", "size", "age", "sex"], household="home", sampling_fraction=0.5, thresholds={"k": 5}, **more
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
    applied = sdc.Recipe([step]).apply(people(), scenario=household_scenario(), seed=1, secret=SECRET, watch=False)
    assert applied.log.steps[0].parameters["household"] is None


# Which row of the original each released row was made from, by the log alone or with the original.


ORDER = {"method": "random_order"}
HOMES = {"method": "random_order", "household": "home"}
BEFORE = {
    "alone": [ORDER],
    "twice": [ORDER, {"method": "pram", "columns": ["sex"]}, ORDER],
    "households": [HOMES],
    "households, new ids": [ORDER, {"method": "new_ids", "column": "home"}, HOMES],
    "households, divided": [{"method": "limit_households", "household": "home", "largest": 2}, ORDER, HOMES],
}


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas])
def test_the_log_knows_the_order(name, engine, tmp_path):
    data = people().with_row_index("row")
    applied = sdc.Recipe(BEFORE[name]).apply(engine(data), seed=7, secret=SECRET)
    rows = applied.log.rows(engine(data))
    assert rows.tolist() == applied.data["row"].to_list()
    again = RecipeLog.read(applied.log.write(tmp_path / "log.json"))
    assert again.rows(engine(data)).tolist() == rows.tolist()
    if "households" not in name:
        assert again.rows().tolist() == rows.tolist()


def test_a_recipe_that_keeps_the_order_has_none():
    applied = sdc.Recipe([{"method": "pram", "columns": ["sex"]}]).apply(people(), seed=1, secret=SECRET)
    assert applied.log.rows() is None
    assert applied.log.rows(people()) is None
    assert drawn_order(applied.log.steps[0], people()) is None


def test_households_need_the_original_and_another_file_is_refused():
    log = sdc.Recipe([HOMES]).apply(people(), seed=1, secret=SECRET).log
    with pytest.raises(DataError, match="give the original file"):
        log.rows()
    with pytest.raises(DataError, match="another file"):
        log.rows(people().head(20))


def test_hierarchies_are_found_from_a_folder(tmp_path):
    (tmp_path / "tree.csv").write_text("a;west\nb;west\nc;east\nd;east\n", encoding="utf-8")
    steps = [
        {"method": "recode", "column": "region", "hierarchy": "tree.csv", "level": 1},
        {"method": "limit_households", "household": "home", "largest": 2}, HOMES,
    ]  # fmt: skip
    data = people().with_row_index("row")
    applied = sdc.Recipe(steps, folder=tmp_path).apply(data, seed=2, secret=SECRET)
    assert applied.log.rows(data, folder=tmp_path).tolist() == applied.data["row"].to_list()


@pytest.mark.parametrize("order", [ORDER, HOMES])
def test_figures_compare_each_record_with_itself(order):
    data = people()
    scenario = sdc.Scenario(
        keys=["region", "age", "sex", "size"], household="home", sensitive=["tenure"], thresholds={"k": 3}
    )
    steps = [{"method": "local_suppression"}]
    plain = sdc.Recipe(steps).apply(data, scenario=scenario, seed=1, secret=SECRET)
    mixed = sdc.Recipe([*steps, order]).apply(data, scenario=scenario, seed=1, secret=SECRET)
    assert mixed.differing == plain.differing
    last, before = mixed.figures[-1], plain.figures[-1]
    assert (last.share_changed, last.below_k, last.pmse) == pytest.approx(
        (before.share_changed, before.below_k, before.pmse)
    )


def test_an_assessment_compares_each_record_with_itself():
    data = people()
    scenario = sdc.Scenario(keys=["region", "age", "sex", "size"], household="home")
    plain, mixed = (
        sdc.Recipe([{"method": "local_suppression", "k": 3}, *order]).apply(
            data, scenario=scenario, seed=1, secret=SECRET
        )
        for order in ([], [ORDER])
    )
    found, expected = (one.assess(seed=1)["default"]["matching_risk"] for one in (mixed, plain))
    assert found.expected_match_risk == pytest.approx(expected.expected_match_risk)
    assert found.true_match_rate == pytest.approx(expected.true_match_rate)
    assert found.true_match_rate > 0


def test_the_replay_gives_the_same_order():
    data = people()
    applied = sdc.Recipe([ORDER, HOMES]).apply(data, seed=np.random.default_rng(3), secret=SECRET)
    assert sdc.Recipe.replay(data, applied.log).data.equals(applied.data)


def test_identifiers_that_nobody_reads_are_not_needed():
    data = people().with_row_index("row").with_columns(name=pl.lit("x"), line=pl.lit(1), number=pl.lit(2))
    steps = [
        {"method": "drop_identifiers", "columns": ["name", "line"]}, {"method": "drop_identifiers", "columns": ["pay"]},
        {"method": "new_ids", "column": "number"},
        {"method": "limit_households", "household": "home", "largest": 2}, HOMES,
    ]  # fmt: skip
    applied = sdc.Recipe(steps).apply(data, seed=5, secret=SECRET)
    for gone in (["name", "line"], ["line", "pay"], ["number"], []):
        assert applied.log.rows(data.drop(gone)).tolist() == applied.data["row"].to_list()


@pytest.mark.parametrize("n", [3, 50])
def test_records_of_another_number_stand_for_none(n):
    data = people().select("sex", "region")
    applied = sdc.Recipe([{"method": "synthesize", "n": n}, ORDER]).apply(data, secret=SECRET)
    assert applied.data.height == n
    assert applied.differing == dict.fromkeys(data.columns, data.height)
    assert applied.figures[-1].share_changed == 1
    alone = sdc.Recipe([{"method": "synthesize", "n": n}]).apply(data, secret=SECRET)
    assert alone.log.rows() is None
    with pytest.raises(DataError, match=rf"step 2 \(random_order\) moved {n} records, and none of them stands for"):
        applied.log.rows()
