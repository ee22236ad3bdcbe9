"""Steps as plain values, the recipe they make, and its runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sdckit.app.browser_sessions import Work, made_steps
from sdckit.errors import ScenarioError, SdcError
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.sessions.answering import Desk
from sdckit.workflow.sessions.projects import project_text, read_project
from sdckit.workflow.sessions.protecting import (
    applied,
    data_for,
    digest,
    kept,
    load_recipe,
    make_recipe,
    plain_steps,
    prefix_data,
)
from session_files import BANDS, GROUPS, SCENARIO, SECRET, STEPS, SUPPRESS, a_desk


def tell(_: str) -> None:
    """Nobody listens."""


def test_a_step_that_is_off_is_not_carried_out(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    recipe = make_recipe(desk, [BANDS, {**GROUPS, "on": False}])
    assert [one.method for one in recipe.steps] == ["recode"]
    assert plain_steps(recipe) == [BANDS]
    with pytest.raises(ScenarioError, match="no step that is switched on"):
        make_recipe(desk, [{**BANDS, "on": False}])


def test_the_session_draws_the_same_whatever_is_run(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    scenario = desk.scenario(SCENARIO)
    steps = [
        {"method": "new_ids", "arguments": {"column": "name"}},
        *STEPS,
        {"method": "random_order", "arguments": {}},
    ]
    first = applied(desk, scenario, steps, SECRET, tell)
    assert applied(desk, scenario, steps, SECRET, tell) is first
    desk.forget()
    again = applied(desk, scenario, steps, SECRET, tell)
    assert again is not first
    assert again.data.equals(first.data)
    assert SECRET not in (again.log.secret, *again.log.keys.values())  # another recipe of the session draws otherwise
    assert Recipe.replay(data_for(desk, again.recipe, scenario), again.log.write(tmp_path / "log.json")).data.equals(
        first.data
    )
    whole = prefix_data(desk, scenario, make_recipe(desk, steps), len(steps), SECRET, tell)
    assert whole.equals(first.data)


def test_identifiers_stay_where_a_step_deals_with_them(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    scenario = desk.scenario(SCENARIO)
    assert "name" not in data_for(desk, make_recipe(desk, [SUPPRESS]), scenario).columns
    dropping = [{"method": "drop_identifiers", "arguments": {"columns": ["name"]}}]
    assert "name" in data_for(desk, make_recipe(desk, dropping), scenario).columns


def test_few_files_are_kept(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    made: list[int] = []
    for number in (1, 2, 3, 3, 1):
        kept(desk, "numbers", [number], lambda number=number: made.append(number))  # type: ignore[misc]
    assert made == [1, 2, 3, 1]
    assert digest(1, "a") == digest(1, "a") != digest(1, "b")


def test_a_recipe_file_is_loaded_with_its_derived_columns_and_a_bad_one_is_refused(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    number = next(name for name, kind in desk.data.schema.items() if kind.is_numeric())
    file = tmp_path / "recipe.toml"
    derived = f'derived = {{total = "2 * {number}"}}\n\n'
    step = '[[steps]]\nmethod = "random_order"\n'
    file.write_text(step, encoding="utf-8")
    assert [one["method"] for one in load_recipe(desk, tell, path=str(file), scenario=SCENARIO)["steps"]] == [
        "random_order"
    ]
    file.write_text(derived + step, encoding="utf-8")
    with pytest.raises(SdcError, match="total"):  # no such column in the file
        load_recipe(desk, tell, path=str(file), scenario=SCENARIO)
    for text in ("x = ", "[[steps]]\nmethod = 'nothing'\n", "steps = 3\n", "\n"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SdcError):
            load_recipe(desk, tell, path=str(file), scenario=SCENARIO)


def test_computed_columns_are_kept_through_a_project_and_the_recipe_that_is_taken_away(tmp_path: Path) -> None:
    """Loaded, run, saved and loaded again: the same steps, and the same file as by the recipe that was loaded."""
    file, recipe, project = (tmp_path / name for name in ("computed.csv", "recipe.toml", "project.sdckit"))
    a_desk(tmp_path).data.with_columns(twice=2 * pl.col("age")).write_csv(file)
    recipe.write_text(
        'derived = {twice = "2 * age"}\n\n[[steps]]\nmethod = "round_to"\ncolumn = "age"\nbase = 10\n', encoding="utf-8"
    )
    desk = Desk(tmp_path)
    desk.open(str(file))
    plain = {**SCENARIO, "insensitive": ["twice"], "insensitive_because": "it follows from the age"}
    steps = load_recipe(desk, tell, path=str(recipe), scenario=plain)["steps"]
    made = applied(desk, desk.scenario(plain), steps, SECRET, tell)
    assert (made.data["twice"] == 2 * made.data["age"]).all()
    assert not (made.data["age"] == desk.data["age"]).all()
    alone = Recipe.from_toml(recipe).apply(desk.original(desk.scenario(plain)), secret=SECRET)
    assert made.data.equals(alone.data)

    work = Work(name="computed.csv", scenario=plain, steps=made_steps(steps))
    project.write_text(project_text(work.saved()), encoding="utf-8")
    again = Work().taken_up(read_project(project))
    assert again.steps == work.steps
    recipe.write_text(make_recipe(desk, again.recipe()).to_toml(), encoding="utf-8")
    assert load_recipe(desk, tell, path=str(recipe), scenario=plain)["steps"] == steps
