"""Hierarchies in a real browser, on a small dark screen: built by clicking, taken away, and along in a project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from app.browsing import EVERY, Served, Windows, calm, faults, picture, serve
from session_files import MARKER, SCENARIO, make_file


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Served]:
    """The app without a file."""
    running = serve(tmp_path / "state")
    yield running
    assert running.stop() == 0


class Hand:
    """A page that is worked on by clicking, and what was wrong with its looks on the way."""

    def __init__(self, page: Any) -> None:
        self.page, self.wrong = page, dict[str, list[str]]()

    def go(self, name: str) -> None:
        """Go to a page."""
        self.page.click(f"button.way[data-go={name}]")
        calm(self.page)

    def press(self, name: str) -> None:
        """Press a button of the page that is shown."""
        self.page.locator("section.page:not([hidden])").get_by_role("button", name=name, exact=True).click()
        calm(self.page)

    def look(self, where: str, at: str = "#protect-editor") -> None:
        """Hold the page against what axe-core knows, and its width against the window's."""
        self.page.locator(at).scroll_into_view_if_needed()
        picture(self.page, where)
        self.wrong[where] = faults(self.page, EVERY)
        if self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            self.wrong[where].append("it is wider than the window")

    def recode(self, column: str) -> None:
        """Open the form of a new step that goes up a hierarchy."""
        self.page.select_option("#protect-method", "recode")
        self.press("Add a step")
        self.page.locator("#protect-arg_column").select_option(column)
        self.page.get_by_label("Up a hierarchy").check()
        self.page.wait_for_selector("#protect-do_values")
        calm(self.page)

    def tick(self, *names: str) -> None:
        """Tick groups, or parts of one, and nothing else."""
        boxes = self.page.locator("#protect-ticked input")
        for at in range(boxes.count()):
            boxes.nth(at).set_checked(str(boxes.nth(at).get_attribute("value")).rpartition(":")[2] in names)
        calm(self.page)

    def groups(self) -> list[str]:
        """The groups of the level, in their order."""
        named = "inputs => inputs.map(input => input.value).filter(value => value.startsWith('group:'))"
        return [
            str(value).partition(":")[2] for value in self.page.eval_on_selector_all("#protect-ticked input", named)
        ]

    def steps(self) -> list[str]:
        """What the steps say of themselves."""
        return list(map(str, self.page.locator("#page_protect .step-about").all_inner_texts()))


def files(folder: Path) -> tuple[Path, Path]:
    """Records with codes of places, two of them rare, and their scenario."""
    path = make_file(folder)
    data = pl.read_csv(path)
    places = np.random.default_rng(3).choice([1101, 1102, 1201], data.height)
    places[:2] = 2101, 2102
    data.with_columns(place=pl.Series(places)).write_csv(path)
    scenario = folder / "scenario.toml"
    scenario.write_text(
        sdc.Scenario(**{**SCENARIO, "intruders": {"neighbour": ["age", "job", "sex", "place"]}}).to_toml(),
        encoding="utf-8",
    )
    return path, scenario


def test_hierarchies_are_built_by_clicking_and_go_along(browser: Any, alone: Served, tmp_path: Path) -> None:
    windows = Windows(browser, alone)
    page = windows(width=400)
    page.emulate_media(color_scheme="dark")
    hand = Hand(page)
    path, scenario = files(tmp_path)
    page.set_input_files("#file-upload", path)
    page.locator("#file-facts").get_by_text("place").first.wait_for()
    calm(page)
    hand.go("protect")
    page.set_input_files("#protect-scenario_file", scenario)
    page.wait_for_selector("#protect-method")
    calm(page)
    _values(page, hand)
    _file(page, hand, tmp_path)
    _codes_and_bands(page, hand)
    steps = hand.steps()
    _taken_away(page, hand, tmp_path)
    again = windows(width=400)
    other = Hand(again)
    again.set_input_files("#file-project", tmp_path / "project.sdckit")
    again.get_by_text("wait for the file of records").wait_for()
    again.set_input_files("#file-upload", path)
    again.locator("#file-facts").get_by_text("place").first.wait_for()
    calm(again)
    assert "lacks values of the file" in again.inner_text("#notes_text")
    assert "hierarchy-job" in again.inner_text("#notes_text")
    other.look("taken up", "#notes_text")
    other.go("protect")
    assert other.steps() == steps
    assert "no line of the hierarchy" in again.inner_text("#protect-outcome")
    again.locator("#page_protect button[data-act=edit]").first.click()
    again.wait_for_selector("#protect-do_complete")
    other.press("Add them as groups")
    other.press("Apply")
    assert "no line of the hierarchy" not in again.inner_text("#page_protect")
    assert not any(hand.wrong.values()), json.dumps(hand.wrong, indent=1)
    assert not any(other.wrong.values()), json.dumps(other.wrong, indent=1)
    windows.close()


def _values(page: Any, hand: Hand) -> None:
    """From the values: together, apart, moved, named; levels come and go; undo brings back what was."""
    hand.recode("job")
    hand.look("empty")
    hand.press("Merge")
    assert page.locator("#protect-do_merge_fault").is_visible()
    hand.look("refused")
    hand.press("Start from the values")
    assert hand.groups() == ["clerk", "cook", "smith"]
    assert MARKER not in page.content()
    hand.tick("cook", "smith")
    page.fill("#protect-group_name", "hands")
    hand.press("Merge")
    assert hand.groups() == ["clerk", "hands"]
    hand.tick("hands")
    hand.press("Move up")
    assert hand.groups() == ["hands", "clerk"]
    hand.press("Move down")
    hand.tick("clerk")
    page.fill("#protect-group_name", "desk")
    hand.press("Rename")
    assert hand.groups() == ["desk", "hands"]
    hand.look("merged")
    hand.press("Apply")
    hand.press("Add a level above")
    hand.tick("desk", "hands")
    page.fill("#protect-group_name", "at work")
    hand.press("Merge")
    assert hand.groups() == ["at work"]
    assert page.input_value("#protect-level") == "2"
    hand.press("Remove this level")
    assert hand.groups() == ["desk", "hands"]
    hand.tick("smith")
    hand.press("Split")
    assert hand.groups() == ["desk", "hands", "smith"]
    hand.tick("smith", "others")
    page.fill("#protect-group_name", "rest")
    hand.press("Merge")
    hand.press("Apply")
    (about,) = hand.steps()
    assert about.startswith("job to level 1 of its hierarchy")
    page.get_by_role("button", name="Undo: change a step").click()
    calm(page)
    page.locator("#page_protect button[data-act=edit]").click()
    page.wait_for_selector("#protect-ticked input")
    calm(page)
    assert hand.groups() == ["desk", "hands"]
    page.get_by_role("button", name="Redo: change a step").click()
    calm(page)
    page.locator("#page_protect button[data-act=edit]").click()
    page.wait_for_selector("#protect-ticked input")
    calm(page)
    assert hand.groups() == ["desk", "hands", "rest"]
    hand.look("applied")


def _file(page: Any, hand: Hand, folder: Path) -> None:
    """From a file: a refusal says its name, and values that it lacks are taken in."""
    file = folder / "sexes.csv"
    file.write_text("f\n", encoding="utf-8")
    hand.recode("sex")
    page.set_input_files("#protect-hierarchy_file", file)
    page.wait_for_selector("#protect-hierarchy_file_fault")
    assert page.inner_text("#protect-hierarchy_file_fault").startswith("sexes.csv")
    file.write_text("f,woman\n", encoding="utf-8")
    with page.expect_file_chooser():
        page.click(".btn-file:has(#protect-hierarchy_file)")
    page.set_input_files("#protect-hierarchy_file", file)
    page.wait_for_selector("#protect-do_complete")
    calm(page)
    assert hand.groups() == ["woman"]
    hand.look("lacking", "#protect-do_complete")
    hand.press("Add them as groups")
    assert hand.groups() == ["woman", "m"]
    assert page.locator("#protect-do_complete").count() == 0
    hand.press("Apply")


def _codes_and_bands(page: Any, hand: Hand) -> None:
    """From codes by their ends, and from numbers in bands."""
    hand.recode("place")
    hand.press("Build one by cutting the ends of codes")
    assert hand.groups() == ["110", "120"]
    hand.press("Apply")
    hand.recode("age")
    hand.press("Start from bands")
    bands = hand.groups()
    page.fill("#protect-level", "2")
    page.locator("#protect-level").press("Tab")
    calm(page)
    assert 1 < len(hand.groups()) < len(bands)
    hand.look("bands")
    hand.press("Apply")
    assert len(hand.steps()) == 4
    assert page.is_hidden("#alert"), page.inner_text("#alert_text")


def _taken_away(page: Any, hand: Hand, folder: Path) -> None:
    """Every hierarchy has its button, and the project says what it leaves out, or is confidential."""
    hand.go("release")
    page.click("#release-make_release")
    calm(page)
    hand.go("take_away")
    if page.locator("#take_away-accept").count():
        page.check("#take_away-accept")
        calm(page)
    page.wait_for_selector("#take_away-hierarchy_4")
    names = set()
    for at in ("", "_2", "_3", "_4"):
        with page.expect_download() as coming:
            page.click(f"#take_away-hierarchy{at}")
        names.add(coming.value.suggested_filename)
        assert (folder / coming.value.suggested_filename).write_bytes(coming.value.path().read_bytes())
    assert len(names) == 4
    said = page.locator("#take_away-project_card li").all_inner_texts()
    assert len(said) == 3
    assert "<5 of its <5 lines" in said[0]
    hand.look("project", "#take_away-project")
    saved = folder / "project.sdckit"
    with page.expect_download() as coming:
        page.click("#take_away-project")
    coming.value.save_as(saved)
    assert coming.value.suggested_filename == "project.sdckit"
    assert MARKER not in saved.read_text(encoding="utf-8")
    page.check("#take_away-rare")
    calm(page)
    hand.look("confidential", "#take_away-project")
    with page.expect_download() as coming:
        page.click("#take_away-project")
    assert coming.value.suggested_filename == "project-confidential.sdckit"
    assert MARKER in coming.value.path().read_text(encoding="utf-8")
