"""Walks at random through all pages, and in the end the figures of the command line; every button of a full session."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from app.browsing import PAGES, READY, Served, Windows, calm, eventually
from app.walking import IN_CI, SEEN, Walk, write_files
from sdckit.cli.app import run

ASKED = "SDCKIT_WALKS" in os.environ
WALKS, CLICKS = map(int, os.environ.get("SDCKIT_WALKS", " ".join(map(str, IN_CI))).split())
# Tables may be folded away, beside their picture.
ROWS = """place => [...document.querySelectorAll(place + ' tbody tr')].map(
  row => [...row.cells].map(cell => cell.textContent.replace(/\\s+/g, ' ').trim()).join(' | '))"""


@pytest.mark.parametrize("seed", range(1, WALKS + 1))
def test_a_walk_at_random_is_answered_at_every_press(visit: Windows, served: Served, tmp_path: Path, seed: int) -> None:
    page = visit()
    files = write_files(tmp_path / "files")
    walk = Walk(page, served, files, seed)
    walk.go(CLICKS)
    assert not walk.faults, "\n".join(walk.faults)
    if ASKED or seed == WALKS:
        _figures_of_the_command_line(visit.browser, page, tmp_path)


def _figures_of_the_command_line(browser: Any, page: Any, folder: Path) -> None:
    """What stands on page Risk stands in the command line's report, and the release is repeated byte for byte."""
    page.goto(page.url.partition("#")[0].partition("?")[0] + "?language=en")  # else it is not loaded anew
    page.wait_for_selector(READY)
    calm(page)
    if page.is_checked("#exact"):
        page.click("label[for=exact]")
        calm(page)
    _go(page, "file")
    file = folder / "files" / "people.csv"
    page.set_input_files("#file-upload", file)
    page.locator("#file-facts").get_by_text("200").first.wait_for()
    calm(page)
    _go(page, "roles")
    page.locator("#roles-load").set_input_files(folder / "files" / "fits.toml")
    page.wait_for_selector("#roles-use .good", state="attached")
    calm(page)
    summary = page.get_by_text("The scenario as a file")
    if not page.is_visible("#roles-save"):
        summary.click()
    scenario = _taken(page, "#roles-save", folder)
    _go(page, "risk")
    page.locator("#risk-first table").first.wait_for(state="attached")
    report = folder / "report.html"
    command("assess", file, "--scenario", scenario, "--report", report)
    beside = browser.new_page()
    beside.set_content(report.read_text(encoding="utf-8"))
    here, there = set(page.evaluate(ROWS, "#risk-first")), set(beside.evaluate(ROWS, "body"))
    beside.close()
    assert len(here) > 10
    assert here <= there, here - there

    _go(page, "protect")
    page.click("#protect-starter")
    page.locator(".step-list li").first.wait_for()
    calm(page)
    _go(page, "release")
    page.click("#release-make_release")
    page.locator("#release-verdict [role=status]").wait_for()
    calm(page)
    _go(page, "take_away")
    if page.is_visible("#take_away-accept") and not page.is_checked("#take_away-accept"):
        page.check("#take_away-accept")
    page.locator("#take_away-log").wait_for()
    calm(page)
    released, recipe, log = (_taken(page, f"#take_away-{what}", folder) for what in ("release", "recipe", "log"))
    again = folder / f"again{released.suffix}"
    command("protect", recipe, file, "--scenario", scenario, "--replay", log, "--out", again)
    assert again.read_bytes() == released.read_bytes()


def _go(page: Any, name: str) -> None:
    page.click(f"button.way[data-go={name}]")
    calm(page)


def _taken(page: Any, link: str, folder: Path) -> Path:
    with page.expect_download() as coming:
        page.click(link)
    path = folder / str(coming.value.suggested_filename)
    coming.value.save_as(path)
    return path


def command(*arguments: object) -> None:
    """Run a command line in this process; it must succeed."""
    assert run([str(argument) for argument in arguments]) == 0


# What a press may change: what is drawn, what stands in the fields, what is sent, what is downloaded.
MARKS = """() => document.body.outerHTML + JSON.stringify(
  [...document.querySelectorAll('input, select')].map(one => [one.value, one.checked]))"""
# What changes nothing, and why it need not.
EXCEPTED = {
    "way": "the page that is shown already is shown",
    "term": "its meaning stands there while it has the focus: test_page_context.py",
    "link": "the page is loaded in the language that it has, or another: test_browser_frame.py",
    "file": "test_a_walk_at_random and others send files",
    "field": "a text is taken with its form's button",
    "edge": "test_browser_release.py moves it",
    "download": "test_browser_release.py takes every file",
}  # fmt: skip


# Each page, and what is pressed first so that there is something on it. Steps are switched off and removed last of all.
ELSEWHERE = {"Accept the guesses": "gone once roles are taken up, which may come first: test_browser_first_pages.py"}
PRESSED = {
    "file": "", "roles": "", "risk": "", "protect": "#protect-starter", "release": "",
    "take_away": "",
}  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs" / "app.md"


def test_every_button_does_something(visit: Windows, served: Served, tmp_path: Path) -> None:
    """On each page of a session with a release each button, switch, list and fold changes what is there.

    What the page of the documentation names there, in its order, is among them.
    """
    page = visit()
    walk = Walk(page, served, {}, 0)
    write_files(tmp_path)
    named = named_in_docs()
    assert list(named) == list(PAGES.values())
    idle: list[str] = []
    for name, first in PRESSED.items():
        if name == "roles":  # of a file whose roles are guessed; those of the demo are in use
            page.set_input_files("#file-upload", tmp_path / "people.csv")
            page.locator("#roles-accept_all").wait_for(state="attached")
            calm(page)
        _go(page, name)
        pressed: list[str] = []
        idle += _idle(page, walk, name, pressed)
        if first:
            page.click(first)
            calm(page)
            idle += _idle(page, walk, name, pressed)
        if name == "protect":  # the form of a step that makes a variable coarser
            page.select_option("#protect-method", "recode")
            page.click("#protect-add_step")
            page.locator("#protect-arg_column").select_option("age")
            calm(page)
            idle += _idle(page, walk, name, pressed)
            pressed += _versions(page, tmp_path)
        if name == "take_away":
            pressed += _project(page, tmp_path)
        lacking = [words for words in named[PAGES[name]] if words not in ELSEWHERE and not _is_among(words, pressed)]
        assert not lacking, (name, pressed)
    assert not idle
    assert not walk.faults, "\n".join(walk.faults)
    page.click("text=End session")
    page.click("text=Go on working")
    assert page.is_hidden("#end")


def _versions(page: Any, folder: Path) -> list[str]:
    """Steps again, for they were removed: put beside a version, and taken from a file."""
    page.click("#protect-starter")
    calm(page)
    if not page.is_visible("#protect-version_name"):
        page.click("#page_protect summary:has-text('Versions')")
    page.click("#page_protect button[data-act=compare_version]:not([disabled]) >> nth=0")
    calm(page)
    assert page.is_visible("#protect-versions table")
    recipe = folder / "recipe.toml"
    recipe.write_text('[[steps]]\nmethod = "random_order"\n', encoding="utf-8")
    page.set_input_files("#protect-recipe_file", recipe)
    assert eventually(lambda: page.locator("#page_protect .step-list li").count() == 1)  # it is sent first
    calm(page)
    page.click("#protect-starter")
    calm(page)
    return ["Compare", "Take the steps of a recipe file"]


def _project(page: Any, folder: Path) -> list[str]:
    """What is saved is taken up again, and the steps are those of before."""
    steps = page.evaluate("[...document.querySelectorAll('#page_protect .step-about')].map(one => one.textContent)")
    with page.expect_download() as coming:
        page.click("#take_away-project")
    saved = folder / "project.sdckit"
    coming.value.save_as(saved)
    assert steps
    _go(page, "protect")
    page.click("#page_protect button[data-act=remove] >> nth=0")
    calm(page)
    _go(page, "file")
    page.set_input_files("#file-project", saved)
    calm(page)
    _go(page, "protect")
    assert page.locator("#page_protect .step-about").all_inner_texts() == steps
    return ["Save the project", "Take up a project"]


def named_in_docs() -> dict[str, list[str]]:
    """What docs/app.md names as something to press, by the page it is on."""
    way = DOCS.read_text(encoding="utf-8").partition("## The way through")[2].partition("\n## ")[0]
    sections = (section.partition("\n") for section in way.split("\n### ")[1:])
    return {title.strip(): re.findall(r"(?<!\*)\*([A-Z][^*]+)\*", text) for title, _, text in sections}


def _is_among(words: str, pressed: list[str]) -> bool:
    """Whether something of this name was pressed; of a way in a list its last word is the name."""
    return any(words in name or words.rpartition(" ")[2].lower() in name.lower() for name in pressed)


def _key(one: dict[str, Any]) -> str:
    return f"{one['kind']} {one['id'] or one['act'] or one['name']}"


def _idle(page: Any, walk: Walk, name: str, pressed: list[str]) -> list[str]:
    """What was pressed on a page and changed nothing."""
    idle, done = [], {"button cancel", "button end_now", "button End session"}
    if name != "file":  # on every page alike, and it takes the release away
        done.add("tick exact")
    for _ in range(120):
        if page.is_hidden(f"#page_{name}"):
            _go(page, name)
        left = [one for one in walk.see(SEEN) if _key(one) not in done and one["kind"] not in EXCEPTED]
        if not left:
            break
        one = min(
            left,
            key=lambda one: (one["id"] == "protect-close_step", not one["form"], one["act"] in ("switch", "remove")),
        )
        done.add(_key(one))
        pressed.append(one["name"])
        if one["chosen"] or one["name"].startswith("Try again"):
            continue  # it is chosen already; what was refused is refused with the same words
        before = walk.see(MARKS)
        if one["kind"] == "select":
            now = page.evaluate(f"window.walked[{one['at']}].value")
            other = [value for value in one["options"] if value != now]
            if not other:
                continue
            page.evaluate_handle(f"window.walked[{one['at']}]").as_element().select_option(other[0])
        else:
            walk.do(one)
        walk.rest()
        if walk.see(MARKS) == before:
            idle.append(f"{name}: {_key(one)} ({one['name']})")
    return idle
