"""From the demo to a released file within the limits, and what the page Protect does, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from app.browsing import Served, Windows, calm, eventually, faults, picture, serve, shown
from session_files import MARKER, SCENARIO, make_file

MOST_CLICKS = 20


class Hand:
    """Clicks, counted."""

    def __init__(self, page: Any) -> None:
        self.page, self.clicks = page, 0

    def button(self, name: str) -> None:
        """Click the button of this name on the page that is shown."""
        self.page.locator("section.page:not([hidden])").get_by_role("button", name=name, exact=True).click()
        self.clicks += 1
        settled(self.page)

    def take(self, name: str, folder: Path) -> Path:
        """Click a download, and keep what comes."""
        with self.page.expect_download() as coming:
            self.page.get_by_role("link", name=name).click()
        self.clicks += 1
        path = folder / coming.value.suggested_filename
        coming.value.save_as(path)
        return path


def settled(page: Any) -> None:
    """Wait until what a click began has ended: tasks begin one after another."""
    calm(page)


def test_from_the_demo_to_a_release_within_the_limits(visit: Windows, served: Served, tmp_path: Path) -> None:
    """Nobody needs more than twenty clicks, and the log repeats what was taken away byte for byte."""
    page = visit()
    hand = Hand(page)
    hand.button("Open the demo")
    picture(page, "file")
    hand.button("Continue: Roles")
    picture(page, "roles")
    hand.button("Use these roles and limits")
    picture(page, "risk")
    hand.button("Continue: Protect")
    hand.button("Propose a recipe")
    assert "Every limit holds with this recipe." in page.inner_text("#page_protect")
    assert faults(page) == []
    page.get_by_role("button", name="Edit step 1").press("Enter")
    calm(page)
    picture(page, "protect")
    hand.button("Continue: Release")
    hand.button("Make the release")
    assert "Within every declared limit" in page.inner_text("#verdict_bar")
    hand.button("What is it still good for?")
    assert faults(page) == []
    picture(page, "release")
    hand.button("Continue: Take away")
    assert faults(page) == []
    picture(page, "take_away")
    names = (
        "Download the release", "Download the scenario", "Download the recipe", "Download the Python script",
        "Download the command lines", "Download the log (secret)",
    )  # fmt: skip
    taken = [hand.take(name, tmp_path) for name in names]
    assert hand.clicks <= MOST_CLICKS
    released, scenario, recipe, script, _, log = taken
    assert log.name == "log-secret.json"
    (original,) = served.own.glob("session-*/affairs.csv")
    again = sdc.Recipe.replay(sdc.read_file(original), log, watch=False).data
    assert sdc.write_file(again, tmp_path / "again.csv").read_bytes() == released.read_bytes()
    assert sdc.Recipe.from_toml(recipe).steps[-1].method == "random_order"
    assert sdc.Scenario.from_toml(scenario).thresholds.k == 3
    compile(script.read_text(encoding="utf-8"), "repeat.py", "exec")


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[Served]:
    """The app with a file that has a marked record, and its scenario."""
    file, scenario = make_file(tmp_path), tmp_path / "scenario.toml"
    scenario.write_text(sdc.Scenario(**SCENARIO).to_toml(), encoding="utf-8")
    running = serve(tmp_path / "state", str(file), "--scenario", str(scenario))
    yield running
    assert running.stop() == 0


def test_steps_by_keyboard_and_no_value_of_the_marked_record(browser: Any, marked: Served) -> None:
    """Undo, redo, a switch, an edge and a group by keyboard, a cancel: and nothing that was sent names the record."""
    windows, heard = Windows(browser, marked), []
    page = windows()
    page.on("websocket", lambda one: one.on("framereceived", lambda frame: heard.append(str(frame))))
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    settled(page)
    page.click("button.way[data-go=protect]")
    assert shown(page) == "Protect"
    hand = Hand(page)
    hand.button("Start from the advice")
    about = page.locator(".step-about")
    first = about.all_inner_texts()
    assert any(text.startswith("age in bands: ") for text in first)

    number = next(at for at, text in enumerate(first, 1) if text.startswith("age in bands: "))
    page.get_by_role("button", name=f"Edit step {number}").press("Enter")
    page.locator("g.edge").first.wait_for()
    settled(page)
    assert page.locator("#page_protect .two-pictures svg").count() == 2
    assert faults(page) == []
    page.locator("g.edge").first.focus()
    page.keyboard.press("ArrowRight")
    hand.button("Apply")
    changed = about.all_inner_texts()
    assert changed != first
    hand.button("Undo: change a step")
    assert about.all_inner_texts() == first
    hand.button("Redo: change a step")
    assert about.all_inner_texts() == changed
    page.get_by_label(f"Step {number} is carried out").press("Space")
    settled(page)
    assert page.locator(".step-list li.off").count() == 1

    page.get_by_role("button", name="Add a step").press("Enter")
    page.locator("#protect-arg_column").select_option("job")
    page.get_by_label("Groups of values").check()
    settled(page)
    hand.button("New group")
    page.get_by_label("Group of cook").select_option("group 1")
    page.get_by_label("Group of clerk").select_option("group 1")
    hand.button("Apply")
    assert about.all_inner_texts()[-1].startswith("job in groups: ")
    assert page.is_hidden("#alert")

    page.locator("#page_protect").get_by_role("button", name="Propose a recipe").click()
    page.locator("#busy").wait_for()
    page.get_by_role("button", name="Cancel").click()
    assert eventually(lambda: page.is_hidden("#busy"))
    settled(page)
    assert about.all_inner_texts()[-1].startswith("job in groups: ")

    page.click("button.way[data-go=release]")
    hand.button("Make the release")
    for title in ("What was done", "Not measured"):
        hand.button(title)
    page.click("button.way[data-go=take_away]")
    settled(page)
    assert MARKER not in page.content()
    page.click("button.way[data-go=protect]")
    hand.button("Undo: add a step")
    assert "make the release again" in page.inner_text("#verdict_bar")
    page.click("button.way[data-go=take_away]")
    page.get_by_text("There is nothing to take away").wait_for()
    assert page.get_by_role("link", name="Download the release").count() == 0
    assert len(heard) > 20
    assert not [frame for frame in heard if MARKER in frame]
    windows.close()
