"""Steps that treat every record by itself give a plan what they give the same file in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import sdckit as sdc
from plans import duckdb_relation, on_engines, polars_plan
from sdckit.cells.plans import lazy
from sdckit.errors import ColumnError, DataError
from workflow.recipes.test_recipe_runs import FEW, assert_alike, assert_same, both, surveys

KEYS = ["town", "flag", "tenure"]
SCENARIO = sdc.Scenario(keys=KEYS, household="home", thresholds={"k": 3, "l": 2}, sensitive=["job"])


def households(n: int = 240) -> pl.DataFrame:
    """Persons in households, with missing values and numbers of every kind."""
    rng = np.random.default_rng(3)
    made = pl.DataFrame(
        {
            "row": range(n),
            "home": rng.integers(0, n // 3, n),
            "town": rng.choice(["Graz", "Linz", "Wels", "Ä"], n),
            "age": rng.integers(15, 80, n).astype(np.int32),
            "flag": rng.choice([True, False], n),
            "income": np.round(rng.lognormal(7, 1, n), 2),
            "hours": rng.integers(0, 60, n).astype(np.float32),
            "w": rng.choice([10.0, 12.5, 20.0, 33.0], n),
            "job": rng.choice(["cook", "smith", "clerk"], n),
            "born": rng.integers(0, 9000, n).astype("datetime64[D]"),
        }
    )
    return made.with_columns(
        tenure=(pl.col("home") % 3).cast(pl.String),
        town=pl.when(pl.col("row") % 17 != 0).then("town"),
        income=pl.when(pl.col("row") % 13 != 0).then("income"),
    )


SWAP = {"cook": {"smith": 0.5, "cook": 0.5}, "smith": {"smith": 1}, "clerk": {"cook": 1}}
STEPS: list[dict[str, Any]] = [
    {"method": "pram", "columns": ["town", "age", "flag"]},
    {"method": "pram", "columns": ["job"], "matrix": {"job": SWAP}},
    {"method": "pram", "columns": ["town", "tenure"], "household": "home", "strata": ["flag"], "pd": 0.5},
    {"method": "round_to", "column": "income", "base": 500, "how": "random"},
    {"method": "round_to", "column": "age", "base": 7.5, "how": "random"},
    {"method": "round_to", "column": "hours", "base": 0.3, "how": "random"},
    {"method": "local_suppression", "keys": ["town", "age"], "k": 3, "household": "home"},
    {"method": "local_suppression", "keys": [*KEYS, "job"], "k": 4, "together": [["town", "w"]]},
    {"method": "local_suppression", "keys": ["town", "age"], "k": 3, "hide_implied": True},
    {"method": "random_order", "household": "home"},
    {"method": "suppress_above", "risk": "hours", "threshold": 30, "columns": ["town", "born"]},
    {"method": "coarsen_weights", "weight": "w", "hide": ["town"], "strata": ["flag"], "k": 5},
    {"method": "microaggregate", "columns": ["income", "hours"], "k": 4},
    {"method": "add_noise", "columns": ["hours"], "noise": 0.1},
    {"method": "rank_swap", "columns": ["income", "age"], "p": 10},
    {"method": "shuffle", "columns": ["hours"], "given": ["age"]},
    {"method": "swap_records", "hierarchy": ["tenure"], "keys": ["age"], "k": 3, "swap_rate": 0.1},
    {"method": "limit_households", "household": "home", "largest": 3},
    {"method": "mask_categorical", "columns": ["town", "tenure"], "probability": 0.2, "household": "home"},
    {"method": "mask_continuous", "columns": ["income"], "sd": 100.0},
    {"method": "synthesize", "columns": ["town", "hours", "born"]},
    {"method": "synthesize", "columns": ["town"], "predictors": ["age"], "rows": "flag", "fit_to": "all"},
    {"method": "synthesize"},
    {"method": "mask_categorical", "columns": ["town", "tenure"], "probability": 0.2, "suffix": "_z"},
    {"method": "mask_continuous", "columns": ["income"], "sd": 100.0, "suffix": "_z"},
]


@on_engines
@pytest.mark.parametrize("step", STEPS, ids=lambda one: "-".join(map(str, list(one.values())[:2])))
def test_a_step_gives_what_it_gives_in_memory(plan: Any, step: dict[str, Any]) -> None:
    here, there = both(sdc.Recipe([step]), households(), plan, watch=False)
    assert_alike(here, there)
    assert step["method"] == "random_order" or here.log.steps[0].n_changed > 0
    found = there.data.collect() if isinstance(there.data, pl.LazyFrame) else there.data.pl()
    assert found.schema == here.data.schema


@on_engines
@pytest.mark.parametrize(
    "step",
    [
        {"method": "pram", "columns": ["town", "flag"]},
        {"method": "local_suppression", "keys": ["town", "age", "flag"], "k": 2, "hide_implied": True},
        {"method": "suppress_above", "risk": "age", "threshold": 50, "columns": ["name", "income"]},
    ],
    ids=lambda one: one["method"],
)
@FEW
@given(survey=surveys())
def test_files_of_all_kinds(plan: Any, step: dict[str, Any], survey: pl.DataFrame) -> None:
    assert_same(sdc.Recipe([step]), survey, plan)


@on_engines
@pytest.mark.parametrize(
    "step",
    [
        {"method": "suppress_above", "risk": "individual_risk", "threshold": 0.1, "columns": ["age", "town"]},
        {"method": "suppress_above", "risk": "l_diversity", "threshold": 0, "columns": ["age"]},
        {"method": "local_suppression", "k": 12},
        {"method": "replace_high_risk", "risk": "individual_risk", "threshold": 0.1, "match": ["flag"],
         "replace": ["age"]},
        {"method": "pram", "columns": ["tenure"]},
    ],
    ids=lambda one: "-".join(map(str, list(one.values())[:2])),
)  # fmt: skip
def test_what_a_step_takes_from_the_scenario(plan: Any, step: dict[str, Any]) -> None:
    recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": ["row", "income"]}, step])
    here, there = both(recipe, households(), plan, scenario=SCENARIO, watch=False)
    assert here.log.steps[1].n_changed > 0
    assert_alike(here, there)


@on_engines
def test_one_step_after_the_other(plan: Any) -> None:
    """Bands have an order in memory, here they are texts; a step draws by that order all the same."""
    steps = [
        {"method": "recode", "column": "age", "bands": [0, 5, 20, 40, 60, 100]},
        {"method": "pram", "columns": ["age"]},
        {"method": "random_order"},
        {"method": "recode", "column": "age", "groups": {"young": ["5-19"], "a": ["20-39"]}, "outside": "keep"},
        {"method": "pram", "columns": ["age", "town"], "strata": ["flag"]},
        {"method": "local_suppression", "keys": ["town", "age"], "k": 9},
        {"method": "pram", "columns": ["town"]},
    ]
    here, there = both(sdc.Recipe(steps), households(80), plan, watch=False)
    assert_alike(here, there)
    assert all(change.n_changed for change in here.log.steps if change.method != "random_order")


MASKED: list[dict[str, Any]] = [
    {"method": "drop_identifiers", "columns": ["row", "home"]},
    {"method": "mask_continuous", "columns": ["income"], "sd": 100.0, "suffix": "_z"},
    {"method": "mask_categorical", "columns": ["tenure"], "probability": 0.8, "suffix": "_z"},
    {"method": "impute_masked", "masked": {"tenure": "tenure_z", "income": "income_z"}, "iterations": 5,
     "error": {"income": 100.0, "tenure": 0.8}, "predictors": {"income": ["town", "age"]}},
]  # fmt: skip
SEVERAL: list[list[dict[str, Any]]] = [
    [{"method": "synthesize", "columns": ["town", "income"], "m": 3}],
    [{"method": "recode", "column": "age", "bands": [0, 40, 100]}, {"method": "synthesize", "n": 90, "m": 2}],
    [{"method": "synthesize", "n": 500}, {"method": "recode", "column": "age", "bands": [0, 40, 100]},
     {"method": "pram", "columns": ["town"]}, {"method": "random_order"}],
    [*MASKED[:3], {**MASKED[3], "m": 2}],
    [*MASKED[:3], {**MASKED[3], "m": 1}, {"method": "pram", "columns": ["town"]}],
]  # fmt: skip


@on_engines
@pytest.mark.parametrize("steps", SEVERAL, ids=lambda one: f"{one[-1]['method']}-{one[-1].get('m', 1)}")
def test_several_files_and_other_records(plan: Any, steps: list[dict[str, Any]]) -> None:
    scenario = sdc.Scenario(keys=["town", "age"], thresholds={"k": 3})
    here, there = both(sdc.Recipe(steps), households(), plan, scenario=scenario)
    files = [one.data if isinstance(one.data, list) else [one.data] for one in (here, there)]
    assert len(files[0]) == len(files[1]) == steps[-1].get("m", 1)
    for one, other in zip(*files, strict=True):
        found = other.collect() if isinstance(other, pl.LazyFrame) else other.pl()
        expected = one.with_columns(pl.col(pl.Enum).cast(pl.String))
        assert found.schema == expected.schema
        assert found.equals(expected)
    assert there.differing == here.differing
    assert there.log.to_dict(internal=True) == here.log.to_dict(internal=True)
    for one, other in zip(here.figures, there.figures, strict=True):
        assert (one.small, one.rule, one.keys, one.compared) == (other.small, other.rule, other.keys, other.compared)
        for name in ("sample_uniques", "below_k", "expected_reidentifications", "share_changed"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12), name


def test_masked_copies_keep_the_order_of_categories() -> None:
    """A matrix goes by the order of the categories; on a plan they are texts."""
    size = pl.Series(["S", "M", "L", "M"] * 30, dtype=pl.Enum(["S", "M", "L"]))
    survey = pl.DataFrame({"size": size, "x": np.arange(120) % 7 * 1.0})
    error = [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]]
    mask = {"method": "mask_categorical", "columns": ["size"], "probability": 0.8, "suffix": "_z"}
    draw = {"method": "impute_masked", "masked": {"size": "size_z"}, "error": {"size": error}, "m": 1}
    here, there = both(sdc.Recipe([mask, {**draw, "iterations": 3}]), survey, polars_plan, watch=False)
    assert_alike(here, there)


def test_categories_keep_their_order() -> None:
    size = pl.Series(["S", "M", "L", None] * 20, dtype=pl.Enum(["none", "S", "M", "L"]))
    survey = pl.DataFrame({"size": size, "plain": size.cast(pl.String).cast(pl.Categorical)})
    recipe = sdc.Recipe([{"method": "pram", "columns": ["size", "plain"], "pd": 0.2}])
    assert_alike(*both(recipe, survey, polars_plan))


@on_engines
def test_only_values_that_are_others_go_back(plan: Any) -> None:
    """What is not changed stays as it is: not a number, a large number, an empty text."""
    survey = pl.DataFrame(
        {"x": [float("nan"), 1.0, None, 4.0] * 3, "big": [2**60 + 1, 7, None, 2**60] * 3, "t": ["", "b", None, "d"] * 3}
    )
    step = {"method": "suppress_above", "risk": [0, 0, 0, 1] * 3, "threshold": 0.5, "columns": ["x", "big", "t"]}
    here, there = both(sdc.Recipe([step]), survey, plan, watch=False)
    assert_alike(here, there)
    found = there.data.collect() if isinstance(there.data, pl.LazyFrame) else there.data.pl()
    assert found["x"].is_nan().to_list()[:4] == [True, False, None, None]
    assert found["big"].to_list()[:4] == [2**60 + 1, 7, None, None]


def test_more_values_than_come_here_are_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.protect import change as on_plans

    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 500)
    plan = polars_plan(households())
    able = {"method": "pram", "columns": ["town", "job"]}
    sdc.Recipe([able]).check(plan)
    for step, columns in (({**able, "strata": ["flag"]}, 3), ({"method": "synthesize"}, 11)):
        says = rf"step 2 \({step['method']}\): it brings {columns} columns of 240 records here, .* at most 500 values"
        with pytest.raises(DataError, match=says):
            sdc.Recipe([able, step]).check(plan)
    few = {"method": "synthesize", "columns": ["town"], "predictors": ["age"]}
    for m in (1, 2):
        sdc.Recipe([{**few, "m": m}]).check(plan)
    with pytest.raises(DataError, match=r"it makes 1 columns of 240 records for each of 3 files here, .* at most 500"):
        sdc.Recipe([{**few, "m": 3}]).check(plan)
    assert lazy.COLLECT_LIMIT == 200_000_000


@on_engines
def test_what_does_not_fit_is_told_with_the_step(plan: Any) -> None:
    survey = plan(households())
    whole = {"cook": {"cook": 1}, "smith": {"smith": 1}}
    for step, kind, says in [
        ({"method": "pram", "columns": ["jobb"]}, ColumnError, r"step 1 \(pram\), columns: no column 'jobb'.*job"),
        ({"method": "pram", "columns": ["job"], "matrix": {"job": whole}}, DataError, r"step 1 \(pram\): matrix of"),
        ({"method": "round_to", "column": "town", "base": 5, "how": "random"}, DataError, "holds no numbers"),
        ({"method": "coarsen_weights", "weight": "w", "k": 500}, DataError, "more than the 240 records"),
        ({"method": "limit_households", "household": "home", "largest": 2, "size": "age"}, DataError,
         r"^step 1 \(limit_households\): size: 'age' is not the number"),
        ({"method": "suppress_above", "risk": "individual_risk", "threshold": 0, "columns": ["job"]},
         sdc.ScenarioError, "measured under a scenario"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=says):
            sdc.Recipe([step]).apply(survey)


def test_lists_are_refused() -> None:
    plan = pl.LazyFrame({"many": [[1], [2]], "b": ["x", "y"]})
    with pytest.raises(DataError, match=r"step 1 \(suppress_above\): column 'many' holds List"):
        sdc.Recipe([{"method": "suppress_above", "risk": [0, 1], "threshold": 0.5, "columns": ["many"]}]).apply(plan)


def test_a_release_is_drawn_again_by_its_log(tmp_path: Any) -> None:
    survey = households()
    survey.write_parquet(tmp_path / "survey.parquet")
    steps = [{"method": "pram", "columns": ["town"]}, {"method": "random_order", "household": "home"}]
    plan = sdc.scan_file(tmp_path / "survey.parquet", engine="duckdb")
    applied = sdc.Recipe(steps).apply(plan)
    first = applied.data.pl()
    applied.log.write(tmp_path / "log.json")
    again = sdc.Recipe.replay(duckdb_relation(survey), tmp_path / "log.json")
    assert again.data.pl().equals(first)
    assert applied.log.rows(survey).tolist() == first["row"].to_list()
    assert not first["row"].is_sorted()
