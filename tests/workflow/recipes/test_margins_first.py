"""Recipes that begin with protected margins: the first step alone reads the original."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcError
from sdckit.workflow.recipes.recipe_log import RecipeLog

MARKED = "Marcellina"  # a value that the domain has not, so that nothing may tell it
COLUMNS = (
    sdc.DomainColumn("sex", levels=("f", "m")),
    sdc.DomainColumn("age", "integer", edges=(0, 18, 40, 90)),
    sdc.DomainColumn("ill", levels=("yes", "no")),
)
DOMAIN = sdc.Domain(COLUMNS, dataset="survey")


def a_survey(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame({
        "name": [MARKED] * n, "sex": [*rng.choice(["f", "m"], n - 1), MARKED], "age": rng.integers(0, 90, n),
        "ill": rng.choice(["yes", "no"], n),
    })  # fmt: skip


def a_recipe(folder: Path, *after: dict[str, Any], domain: sdc.Domain = DOMAIN, **first: Any) -> sdc.Recipe:
    (folder / "domain.toml").write_text(domain.to_toml(), encoding="utf-8")
    given = {"epsilon": 1, "delta": 1e-6} | first
    step = {"method": "synthesize_margins", "domain": "domain.toml", **given}
    return sdc.Recipe([step, *after], folder=folder)


def test_later_steps_work_on_the_records_made(tmp_path: Path) -> None:
    bands = {"method": "recode", "column": "age", "bands": [0, 40, None]}
    recipe = a_recipe(tmp_path, bands, {"method": "random_order"})
    scenario = sdc.Scenario(keys=["sex", "age"], sensitive=["ill"], release="synthetic")
    applied = recipe.apply(a_survey(), scenario=scenario)
    assert set(applied.data["age"].unique().drop_nulls()) <= {"0-39", "40+"}
    assert applied.data.columns == ["sex", "age", "ill"]
    assert applied.log.n == applied.data.height == applied.log.steps[0].n
    assert applied.figures == ()
    assert applied.log.is_public
    log = RecipeLog.read(applied.log.write(tmp_path / "log.json"))
    assert log.margins is not None
    assert log.margins.spent == applied.log.steps[0].spent
    text = (tmp_path / "log.json").read_text(encoding="utf-8")
    assert MARKED not in text
    assert "confidential" not in json.loads(text)
    assert json.loads(text)["scenario"] == ""  # it may name files of the office


def test_a_path_is_read_by_the_domain(tmp_path: Path) -> None:
    a_survey().write_csv(tmp_path / "survey.csv")
    applied = a_recipe(tmp_path).apply(tmp_path / "survey.csv")
    assert applied.steps.is_empty()
    with pytest.raises(ScenarioError):  # no scenario
        applied.assess()
    scenario = sdc.Scenario(keys=["sex", "age"])
    with pytest.raises(DataError, match=r"assess.original, made, log"):
        a_recipe(tmp_path).apply(tmp_path / "survey.csv", scenario=scenario).assess()


@pytest.mark.parametrize("how", [{"seed": 3}, {"secret": "ab" * 16}])
def test_nothing_draws_its_noise_again(how: dict[str, Any], tmp_path: Path) -> None:
    recipe = a_recipe(tmp_path)
    with pytest.raises(ScenarioError, match="could take it away"):
        recipe.apply(a_survey(), **how)


def test_no_replay_no_prefix_no_explore(tmp_path: Path) -> None:
    recipe = a_recipe(tmp_path, {"method": "random_order"}, protect="coarsen", base=10, cliques=[["sex", "ill"]],
                      epsilon=None, delta=None)  # fmt: skip
    applied = recipe.apply(a_survey())
    assert not applied.log.is_public  # without a promise what follows is protection that a secret would undo
    with pytest.raises(ScenarioError, match="is not replayed"):
        sdc.Recipe.replay(a_survey(), applied.log)
    with pytest.raises(ScenarioError, match="a prefix is not for a recipe"):
        recipe.prefix(1)
    with pytest.raises(ScenarioError, match="explore is not for a recipe"):
        sdc.explore(a_survey(), recipe, grid={"1.base": [5, 10]}, scenario=sdc.Scenario(keys=["sex"]))


def test_it_comes_first_and_published_tables_do_not_come() -> None:
    step = {"method": "synthesize_margins", "domain": "domain.toml"}
    with pytest.raises(ScenarioError, match=r"step 2 .synthesize_margins. comes first"):
        sdc.Recipe([{"method": "random_order"}, step])
    with pytest.raises(ScenarioError, match="tables does not belong in a recipe; give them to"):
        sdc.Recipe([{**step, "tables": ["a.csv"]}])


def test_what_does_not_fit_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    budget = tmp_path / "budget.toml"
    sdc.BudgetLedger.create(budget, dataset="survey", epsilon=1, delta=1e-6)
    regroup = {"method": "recode", "column": "sex", "groups": {"all": ["f", "m"]}}  # other belongs to none
    wrong: list[tuple[dict[str, Any], type[SdcError]]] = [
        (regroup, DataError),
        ({"method": "recode", "column": "name", "groups": {"x": ["y"]}}, ColumnError),
        ({"method": "local_suppression", "keys": ["sex"], "k": 20_000}, DataError),
    ]
    for step, error in wrong:
        with pytest.raises(error, match="step 2"):
            a_recipe(tmp_path, step, budget="budget.toml").apply(a_survey())
    with pytest.raises(ColumnError, match="age"):
        a_recipe(tmp_path, budget="budget.toml").apply(a_survey().drop("age"))
    with pytest.raises(DataError, match="not by a plan"):
        a_recipe(tmp_path, budget="budget.toml").apply(a_survey().lazy())
    assert sdc.BudgetLedger.open(budget).spent == 0
    a_recipe(tmp_path, budget="budget.toml").apply(a_survey())
    assert sdc.BudgetLedger.open(budget).spent > 0.99


def test_no_record_decides_what_is_refused(tmp_path: Path) -> None:
    """Two files, of which one has nothing that the domain declares, run alike."""
    other = pl.DataFrame({"sex": ["x"] * 60, "age": ["old"] * 60, "ill": [None] * 60})
    for file in (a_survey(), other):
        applied = a_recipe(tmp_path, {"method": "recode", "column": "age", "bands": [0, 40, 90]}).apply(file)
        assert applied.data.columns == ["sex", "age", "ill"]


def test_check_and_report_with_the_log(tmp_path: Path) -> None:
    survey, scenario = a_survey(), sdc.Scenario(keys=["sex", "age"], sensitive=["ill"], release="synthetic")
    applied = a_recipe(tmp_path).apply(survey, scenario=scenario)
    applied.log.write(tmp_path / "log.json")
    result = sdc.check(survey, applied.data, scenario=scenario, log=tmp_path / "log.json")
    assert result.assessment.promise.adds_up is True
    result.assessment.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "ε = 1 means: whatever one record holds" in page
    assert "at most 2.72 times as likely" in page
    assert MARKED not in page
    damaged = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))
    damaged["steps"][0]["epsilon"] = 0.1
    (tmp_path / "log.json").write_text(json.dumps(damaged), encoding="utf-8")
    with pytest.raises(DataError, match="the log contradicts itself"):
        sdc.check(survey, applied.data, scenario=scenario, log=tmp_path / "log.json")
