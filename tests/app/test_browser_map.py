"""The map of recipes in a real browser: drawn, chosen by mouse and by keyboard, a recipe used and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from app.browsing import EVERY, Served, Windows, calm, faults, leftovers, picture, serve
from session_files import SCENARIO, make_file

RECIPE = """[[steps]]
method = "recode"
column = "age"
bands = [-inf, 19, 20, 21, 60, inf]

[[steps]]
method = "recode"
column = "job"
groups = {hands = ["cook", "smith"]}
outside = "missing"
"""
ROLES = {name: value for name, value in SCENARIO.items() if name != "sampling_fraction"}
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
STEPS = "#page_protect .step-about"
CARD = "#protect-map_point .card-box"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app with a file and its scenario, from which every new tab starts: what another one did is not in it."""
    folder = tmp_path_factory.mktemp("small")
    scenario = folder / "scenario.toml"
    scenario.write_text(sdc.Scenario(**ROLES).to_toml(), encoding="utf-8")
    running = serve(folder / "state", str(make_file(folder)), "--scenario", str(scenario))
    yield running
    assert running.stop() == 0


def explored(page: Any, recipe: Path) -> None:
    """Load a recipe and look around it."""
    calm(page)
    page.click("button.way[data-go=protect]")
    page.set_input_files("#protect-recipe_file", recipe)
    page.locator(STEPS).nth(1).wait_for()
    calm(page)
    page.click("#protect-explore")
    page.locator("#protect-map_picture button.point").first.wait_for()
    calm(page)


def look(page: Any) -> list[Any]:
    """What is wrong in a narrow and a wide window, light and dark."""
    wrong: list[Any] = []
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            wrong += faults(page, EVERY)
            picture(page, f"map-{width}-{theme}")
        wrong += [width] if page.evaluate(SIDEWAYS) > 0 else []
    return wrong


def test_a_recipe_of_the_map_is_opened_used_and_taken_back(browser: Any, small: Served, tmp_path: Path) -> None:
    windows, recipe = Windows(browser, small), tmp_path / "recipe.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    page = windows()
    explored(page, recipe)
    points = page.locator("#protect-map_picture button.point")
    names = [point.get_attribute("aria-label") for point in points.all()]
    assert len(names) == 2
    here, other = sorted(names)
    assert here.startswith("recipe 1: risk")
    assert "not every limit holds" in here
    assert "the recipe here" in here
    assert "every limit holds; the least loss" in other
    before = page.locator(STEPS).all_inner_texts()

    page.get_by_role("button", name=other).click()  # by mouse
    page.wait_for_selector(f"{CARD} h4:has-text('recipe 2')")
    assert page.get_by_role("button", name=other).get_attribute("aria-pressed") == "true"
    assert "below 20, 20 to below 60" in page.inner_text(f"{CARD} ol")
    points.first.focus()  # by keyboard
    page.keyboard.press("Tab")
    chosen = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{CARD} h4:has-text('recipe {chosen}')")
    assert page.evaluate("document.activeElement.textContent") == chosen  # where one is stays
    assert look(page) == []

    page.click("#protect-map_table button[data-at='1']")
    page.wait_for_selector(f"{CARD} h4:has-text('recipe 2')")
    page.click(f"{CARD} button:has-text('Compare')")
    page.locator("#protect-versions tr", has_text="k-anonymity").wait_for()
    page.click(f"{CARD} button:has-text('Use this recipe')")
    calm(page)
    after = page.locator(STEPS).all_inner_texts()
    assert after[1:] == before[1:]
    assert "below 20, 20 to below 60" in after[0]
    assert "the recipe here" in str(page.get_by_role("button", name="recipe 2").first.get_attribute("aria-label"))
    page.get_by_role("button", name="Undo: take a recipe of the map").click()
    calm(page)
    assert page.locator(STEPS).all_inner_texts() == before

    page.click("button.way[data-go=release]")
    calm(page)
    page.click("#release-make_release")
    page.locator("#release-map_wanted").wait_for()
    page.click("#release-map_wanted")
    page.click("#release-map_table button[data-at='1']")  # the first one is in use
    page.click("#release-map_point button:has-text('Use this recipe')")
    page.wait_for_selector("#page_protect:visible")
    windows.close()


def test_the_map_is_german_where_german_is_chosen(browser: Any, small: Served, tmp_path: Path) -> None:
    windows, recipe = Windows(browser, small), tmp_path / "recipe.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    page = windows(language="de")
    explored(page, recipe)
    page.locator("#protect-map_picture button.point").first.click()
    page.wait_for_selector(CARD)
    calm(page)
    assert leftovers(page) == []
    windows.close()


def test_a_proposal_by_another_loss_and_the_map_of_it(browser: Any, small: Served, tmp_path: Path) -> None:
    windows, recipe = Windows(browser, small), tmp_path / "recipe.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    page = windows()
    calm(page)
    page.click("button.way[data-go=protect]")
    page.click("#protect-start summary:has-text('What a proposal loses least of')")
    page.select_option("#protect-loss", "precision")
    page.wait_for_selector("#protect-formula")
    picture(page, "loss-chosen")
    assert faults(page, EVERY) == []
    page.click("#protect-propose")
    page.locator("#protect-found .good", has_text="Of what the keys tell").wait_for()
    calm(page)
    assert page.input_value("#protect-loss") == "precision"  # the form was drawn anew
    page.click("#protect-found summary")
    words = " ".join(page.inner_text("#protect-found").replace("# ", "").split())
    assert "the one with the least loss, which is here: share of their hierarchies that values went up" in words
    page.set_input_files("#protect-recipe_file", recipe)
    page.locator(STEPS, has_text="below 19").wait_for()
    calm(page)
    page.click("#protect-explore")
    axis = "share of their hierarchies that values went up, mean →"
    page.locator("#protect-map_picture .axis", has_text=axis).wait_for()
    calm(page)

    page.select_option("#protect-loss", "model")
    page.click("#protect-propose")
    page.get_by_text("Write the regression whose intervals are to be kept").first.wait_for()

    page.click("button.way[data-go=release]")
    calm(page)
    page.click("#release-make_release")
    page.locator("#release-map_loss").wait_for()
    page.select_option("#release-map_loss", "entropy_share")
    page.click("#release-map_wanted")
    page.locator("#release-map_picture .axis", has_text="bits about the values that is lost").wait_for()
    assert faults(page, EVERY) == []
    picture(page, "loss-of-the-map")
    windows.close()
