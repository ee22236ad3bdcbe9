"""Walks at random through all pages, and in the end the figures of the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from app.browsing import READY, WAIT, Served, Windows, calm, go_to
from app.walking import IN_CI, Walk, write_files
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
    page.set_default_timeout(WAIT)
    page.goto(page.url.partition("#")[0].partition("?")[0] + "?language=en")  # else it is not loaded anew
    page.wait_for_selector(READY)
    calm(page)
    if page.is_checked("#exact"):
        page.click("label[for=exact]")
        calm(page)
    go_to(page, "file")
    file = folder / "files" / "people.csv"
    page.set_input_files("#file-upload", file)
    page.locator("#file-facts").get_by_text("200").first.wait_for()
    calm(page)
    go_to(page, "roles")
    page.locator("#roles-load").set_input_files(folder / "files" / "fits.toml")
    page.wait_for_selector("#roles-use .good", state="attached")
    calm(page)
    summary = page.get_by_text("The scenario as a file")
    if not page.is_visible("#roles-save"):
        summary.click()
    scenario = _taken(page, "#roles-save", folder)
    go_to(page, "risk")
    page.locator("#risk-first table").first.wait_for(state="attached")
    report = folder / "report.html"
    command("assess", file, "--scenario", scenario, "--report", report)
    beside = browser.new_page()
    beside.set_content(report.read_text(encoding="utf-8"))
    here, there = set(page.evaluate(ROWS, "#risk-first")), set(beside.evaluate(ROWS, "body"))
    beside.close()
    assert len(here) > 10
    assert here <= there, here - there

    go_to(page, "protect")
    page.click("#protect-starter")
    page.locator(".step-list li").first.wait_for()
    calm(page)
    go_to(page, "release")
    page.click("#release-make_release")
    page.locator("#release-verdict [role=status]").wait_for()
    calm(page)
    go_to(page, "take_away")
    if page.is_visible("#take_away-accept") and not page.is_checked("#take_away-accept"):
        page.check("#take_away-accept")
    page.locator("#take_away-log").wait_for()
    calm(page)
    released, recipe, log = (_taken(page, f"#take_away-{what}", folder) for what in ("release", "recipe", "log"))
    again = folder / f"again{released.suffix}"
    command("protect", recipe, file, "--scenario", scenario, "--replay", log, "--out", again)
    assert again.read_bytes() == released.read_bytes()


def _taken(page: Any, link: str, folder: Path) -> Path:
    with page.expect_download() as coming:
        page.click(link)
    path = folder / str(coming.value.suggested_filename)
    coming.value.save_as(path)
    return path


def command(*arguments: object) -> None:
    """Run a command line in this process; it must succeed."""
    assert run([str(argument) for argument in arguments]) == 0
