"""What the pages Risk and Release answer: single combinations for exact figures only, attacks, and what failed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from app.browsing import Served, Windows, calm, eventually, faults, serve
from app.test_browser_by_hand import sent
from session_files import MARKER, SCENARIO, make_file

LINKS = ("the release", "the scenario", "the recipe", "the Python script", "the command lines", "the log (secret)")


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[Served]:
    """The app with a file that has a marked record; its scenario says nothing of a population."""
    file, scenario = make_file(tmp_path), tmp_path / "scenario.toml"
    without = {name: value for name, value in SCENARIO.items() if name != "sampling_fraction"}
    scenario.write_text(sdc.Scenario(**without).to_toml(), encoding="utf-8")
    running = serve(tmp_path / "state", str(file), "--scenario", str(scenario))
    yield running
    assert running.stop() == 0


def test_single_combinations_stay_on_the_screen_of_exact_figures(browser: Any, marked: Served, tmp_path: Path) -> None:
    windows, heard = Windows(browser, marked), []
    page = windows()
    page.on("websocket", lambda one: one.on("framereceived", lambda frame: heard.append(str(frame))))
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    calm(page)
    page.click("button.way[data-go=risk]")
    calm(page)
    assert "taken for the whole population" in page.inner_text("#risk-whole")
    assert page.locator("#risk-by option").all_inner_texts() == ["job", "sex", "ill"]
    assert "only with exact figures" in page.inner_text("#risk-single")
    assert not page.query_selector("#risk-riskiest")

    page.check("#exact")
    page.wait_for_selector("#risk-riskiest")
    page.fill("#risk-how_many", "500")
    page.click("#risk-riskiest")
    page.wait_for_selector("#risk-how_many_fault")
    assert "from 1 to 100" in page.inner_text("#risk-how_many_fault")
    page.fill("#risk-how_many", "5")
    page.click("#risk-riskiest")
    calm(page)
    page.click("#risk-explained")
    calm(page)
    assert page.locator("#risk-more_riskiest tbody tr").count() == 5
    assert MARKER in page.inner_text("#risk-more_riskiest")
    assert "Alone among 240 records" in page.inner_text("#risk-more_explained")
    assert faults(page) == []

    page.uncheck("#exact")
    page.wait_for_selector("#risk-riskiest", state="detached")
    calm(page)
    before = len(heard)
    assert MARKER not in page.content()
    page.check("#exact")
    page.wait_for_selector("#risk-riskiest")
    calm(page)
    assert MARKER not in page.inner_text("#page_risk")  # what was shown is not shown again by itself
    page.uncheck("#exact")
    page.wait_for_selector("#risk-riskiest", state="detached")
    calm(page)
    _attacks(page, marked, tmp_path)
    taken = _taken_away(page, tmp_path)
    assert len(taken) == len(LINKS)
    held = [*taken, *(file for file in marked.state.rglob("*") if file.is_file())]
    assert [file.name for file in held if MARKER.encode() in file.read_bytes()] == []
    assert [frame for frame in heard[before:] if MARKER in frame] == []
    windows.close()


def _attacks(page: Any, marked: Served, folder: Path) -> None:
    """What a cancelled release says, what stands of the attacks before and after, and which control file is there."""
    page.click("button.way[data-go=protect]")
    page.click("#protect-starter")
    calm(page)
    page.click("button.way[data-go=release]")
    page.wait_for_selector("#release-make_release")
    (worker,) = marked.workers()
    os.kill(worker, signal.SIGSTOP)  # a task that would never end
    page.click("#release-make_release")
    page.wait_for_selector("#busy:not([hidden])")
    page.click("#cancel")
    page.click("#release-verdict button:has-text('Start')")
    page.wait_for_selector("#release-attacked")
    calm(page)
    assert "No attack was simulated" in page.inner_text("#release-attacked")
    assert "Membership is not judged" in page.inner_text("#release-attacked")

    (folder / "others").mkdir()
    bad, good = folder / "bad.csv", make_file(folder / "others")
    bad.write_text("age,job\n30,cook\n", encoding="utf-8")
    (worker,) = marked.workers()
    os.kill(worker, signal.SIGSTOP)
    page.set_input_files("#release-control_file", good)
    assert eventually(lambda: bool(list(marked.own.glob("session-*/control/*"))))
    page.wait_for_selector("#busy:not([hidden])")
    page.click("#cancel")
    assert eventually(lambda: not list(marked.own.glob("session-*/control/*")))
    sent(page, "release-control_file", good)
    page.wait_for_selector("#release-control_told .good")
    sent(page, "release-control_file", bad)
    page.wait_for_selector("#release-control_file_fault")
    assert "lacks columns of the file: sex, ill" in page.inner_text("#release-control_file_fault")
    assert eventually(lambda: not list(marked.own.glob("session-*/control/*")))
    assert page.inner_text("#release-control_told") == ""
    page.click("#release-attack")
    calm(page)
    html = page.inner_text("#release-attacked")
    assert "What the attacks mean" in html
    assert "there is no control file" in html
    assert faults(page) == []


def _taken_away(page: Any, folder: Path) -> list[Path]:
    page.click("button.way[data-go=take_away]")
    calm(page)
    if page.query_selector("#take_away-accept"):
        page.check("#take_away-accept")
        calm(page)
    taken = []
    for name in LINKS:
        with page.expect_download() as coming:
            page.get_by_role("link", name=f"Download {name}").click()
        taken.append(folder / f"taken-{coming.value.suggested_filename}")
        coming.value.save_as(taken[-1])
    return taken
