"""Roles, recipes and versions on page Protect in a real browser: what is asked, kept, taken back and put beside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from app.browsing import Served, Windows, calm, picture, serve
from session_files import SCENARIO, make_file

RECIPE = """derived = {twice = "2 * age"}

[[steps]]
method = "round_to"
column = "age"
base = 10
"""
ROLES = {**SCENARIO, "insensitive": ["twice"], "insensitive_because": "it follows from the age"}


@pytest.fixture
def computed(tmp_path: Path) -> Iterator[Served]:
    """The app with a file that has a computed column, and its scenario."""
    file, scenario = make_file(tmp_path), tmp_path / "scenario.toml"
    pl.read_csv(file).with_columns(twice=2 * pl.col("age")).write_csv(file)
    scenario.write_text(sdc.Scenario(**ROLES).to_toml(), encoding="utf-8")
    running = serve(tmp_path / "state", str(file), "--scenario", str(scenario))
    yield running
    assert running.stop() == 0


def test_undo_asks_before_it_changes_roles_that_came_from_a_file(
    browser: Any, computed: Served, tmp_path: Path
) -> None:
    windows = Windows(browser, computed)
    page = windows()
    calm(page)
    recipe, scenario = tmp_path / "recipe.toml", tmp_path / "roles.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    page.click("button.way[data-go=protect]")
    page.set_input_files("#protect-recipe_file", recipe)
    about = page.locator("#page_protect .step-about")
    about.nth(1).wait_for()
    calm(page)
    steps = about.all_inner_texts()
    assert len(steps) == 2  # the columns that are computed in the end are the last one
    versions = page.locator("#protect-versions li").count()

    page.click("button.way[data-go=roles]")
    page.click("#roles-accept")  # the same once more
    calm(page)
    page.click("button.way[data-go=protect]")
    calm(page)
    assert undo(page) == "Undo: load a recipe"
    assert page.locator("#protect-versions li").count() == versions

    scenario.write_text("k = ", encoding="utf-8")
    page.set_input_files("#protect-scenario_file", scenario)
    page.wait_for_selector("#protect-scenario_file_fault")
    assert page.get_attribute("#protect-scenario_file", "aria-invalid") == "true"
    picture(page, "refused")
    with page.expect_file_chooser():  # whoever mended it chooses it again: a change only where none was chosen
        page.click(".btn-file:has(#protect-scenario_file)")
    assert page.input_value("#protect-scenario_file") == ""
    scenario.write_text(sdc.Scenario(**{**ROLES, "thresholds": {"k": 40}}).to_toml(), encoding="utf-8")
    page.set_input_files("#protect-scenario_file", scenario)
    page.get_by_role("button", name="Undo: change roles").wait_for()
    calm(page)
    assert not page.query_selector(".fault")
    assert about.all_inner_texts() == steps
    assert undo(page) == "Undo: change roles"

    question = page.locator("#page_protect [role=alert]")
    page.get_by_role("button", name="Undo: change roles").click()
    calm(page)
    assert "This changes the roles" in question.inner_text()
    picture(page, "question")
    page.get_by_role("button", name="Leave all as it is").click()
    calm(page)
    assert question.count() == 0
    assert limit(page) == "40"
    page.click("button.way[data-go=protect]")
    page.get_by_role("button", name="Undo: change roles").click()
    page.get_by_role("button", name="Change the roles").click()
    calm(page)
    assert limit(page) == "3"
    page.click("button.way[data-go=protect]")
    assert about.all_inner_texts() == steps
    assert undo(page) == "Undo: load a recipe"
    page.get_by_role("button", name="Redo: change roles").click()
    page.get_by_role("button", name="Change the roles").click()
    calm(page)
    assert limit(page) == "40"

    windows.close()


def undo(page: Any) -> str:
    """What the button of undo says."""
    return str(page.inner_text("#page_protect button[data-act=undo]"))


def limit(page: Any) -> str:
    """The k in use, as page Roles has it."""
    page.click("button.way[data-go=roles]")
    calm(page)
    return str(page.input_value("#roles-limit_k"))
