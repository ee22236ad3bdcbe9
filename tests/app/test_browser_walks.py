"""Walks at random through all pages, and in the end the figures of the command line; every button of a full session."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from app.browsing import READY, WAIT, Served, Windows, calm, eventually
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
    page.set_default_timeout(WAIT)
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
    "field": "a text is taken with its form's button",
    "edge": "test_browser_release.py moves it",
}  # fmt: skip
# Where a link leads: to a place of this page, or to what the server has.
LEADS = """async one => {
  const url = new URL(one.href), place = decodeURIComponent(url.hash.slice(1));
  if (url.origin !== location.origin) return `another host: ${url}`;
  if (place) return document.getElementById(place) ? '' : `no place: ${place}`;
  const answer = await fetch(url);
  return answer.ok ? '' : `${answer.status}: ${url}`;
}"""


# Each page, and what is pressed first so that there is something on it. Steps are switched off and removed last of all.
PRESSED = {
    "file": "", "roles": "", "risk": "", "protect": "#protect-starter", "release": "",
    "take_away": "",
}  # fmt: skip


def test_every_button_does_something(visit: Windows, served: Served, tmp_path: Path) -> None:
    """On each page of a session with a release each button, switch, list and fold changes what is there.

    Every link, way and download leads somewhere, every term has its meaning and every field for a file opens its
    dialog. At last a search is cancelled.
    """
    before = set(served.workers())
    page = visit()
    walk = Walk(page, served, {}, 0)
    write_files(tmp_path)
    idle: list[str] = []
    led: set[str] = set()
    for name, first in PRESSED.items():
        if name == "roles":  # of a file whose roles are guessed; those of the demo are in use
            page.set_input_files("#file-upload", tmp_path / "people.csv")
            page.locator("#roles-accept_all").wait_for(state="attached")
            calm(page)
        _go(page, name)
        idle += _idle(page, walk, name, led)
        if first:
            page.click(first)
            calm(page)
            idle += _idle(page, walk, name, led)
        if name == "protect":  # the form of a step that makes a variable coarser
            page.select_option("#protect-method", "recode")
            page.click("#protect-add_step")
            page.locator("#protect-arg_column").select_option("age")
            calm(page)
            idle += _idle(page, walk, name, led)
            page.click("#protect-starter")  # steps again, for they were removed
            calm(page)
    assert not idle
    assert not walk.faults, "\n".join(walk.faults)
    assert {one.partition(" ")[0] for one in led} == set(LEAD), led
    _go(page, "protect")
    begun = set(served.workers()) - before
    for worker in begun:
        os.kill(worker, signal.SIGSTOP)  # a search that would never end
    page.click("#protect-propose")
    page.wait_for_selector("#busy:not([hidden])")
    page.click("#cancel")
    assert eventually(lambda: page.is_hidden("#busy"))
    for worker in begun & set(served.workers()):
        os.kill(worker, signal.SIGCONT)
    page.click("text=End session")
    page.click("text=Go on working")
    assert page.is_hidden("#end")


def _link(page: Any, element: Any) -> str:
    return str(element.evaluate(LEADS))


def _way(page: Any, element: Any) -> str:
    name = element.get_attribute("data-go")
    element.click()
    return "" if page.is_visible(f"#page_{name}") else f"not to {name}"


def _term(page: Any, element: Any) -> str:
    page.mouse.move(0, 0)
    element.focus()
    means = element.query_selector(".means")
    return "" if means.is_visible() and means.inner_text().strip() else "no meaning"


def _file(page: Any, element: Any) -> str:
    with page.expect_file_chooser():
        element.evaluate_handle("one => one.closest('.btn-file')").as_element().click()
    return ""


def _download(page: Any, element: Any) -> str:
    with page.expect_download() as coming:
        element.click()
    return "" if Path(coming.value.path()).stat().st_size else "an empty file"


# What leads somewhere, each tried once; what is wrong with where it leads.
LEAD = {"link": _link, "way": _way, "term": _term, "file": _file, "download": _download}


def _key(one: dict[str, Any]) -> str:
    return f"{one['kind']} {one['id'] or one['act'] or one['name']}"


def _idle(page: Any, walk: Walk, name: str, led: set[str]) -> list[str]:
    """What was pressed on a page and changed nothing, or led nowhere; what was `led` somewhere is not tried again."""
    idle, done = [], {"button cancel", "button end_now", "button End session"}
    if name != "file":  # on every page alike, and it takes the release away
        done.add("tick exact")
    for _ in range(150):
        if page.is_hidden(f"#page_{name}"):
            _go(page, name)
        left = [one for one in walk.see(SEEN) if _key(one) not in done | led and one["kind"] not in EXCEPTED]
        if not left:
            break
        one = min(
            left,
            key=lambda one: (one["id"] == "protect-close_step", not one["form"], one["act"] in ("switch", "remove")),
        )
        element = page.evaluate_handle(f"window.walked[{one['at']}]").as_element()
        if lead := LEAD.get(one["kind"]):
            led.add(_key(one))
            if wrong := lead(page, element):
                idle.append(f"{name}: {_key(one)} ({one['name']}): {wrong}")
            walk.rest()
            continue
        done.add(_key(one))
        if one["chosen"] or one["name"].startswith("Try again"):
            continue  # it is chosen already; what was refused is refused with the same words
        before = walk.see(MARKS)
        if one["kind"] == "select":
            now = element.evaluate("one => one.value")
            other = [value for value in one["options"] if value != now]
            if not other:
                continue
            element.select_option(other[0])
        else:
            walk.do(one)
        walk.rest()
        if walk.trail and walk.trail[-1].endswith("(was gone)"):
            done.discard(_key(one))  # drawn anew before it could be pressed: it is pressed now
        elif walk.see(MARKS) == before:
            idle.append(f"{name}: {_key(one)} ({one['name']})")
    return idle
