"""Every button of a full session does something; with a server of its own, so that no other work is offered."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.browsing import Served, Windows, calm, eventually, go_to
from app.walking import SEEN, Walk, write_files

# What a press may change: what is drawn, what stands in the fields, what is sent, what is downloaded; as a hash, since
# the page as a text takes longer to come here than the press.
MARKS = """async () => {
  const fields = [...document.querySelectorAll('input, select')].map(one => [one.value, one.checked]);
  const marks = new TextEncoder().encode(document.body.outerHTML + JSON.stringify(fields));
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', marks))].join();
}"""
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
        go_to(page, name)
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
    go_to(page, "protect")
    begun = set(served.workers()) - before
    for worker in begun:
        os.kill(worker, signal.SIGSTOP)  # a search that would never end
    page.click("#protect-propose")
    page.wait_for_selector("#busy:not([hidden])")
    page.click("#cancel")
    assert eventually(lambda: page.is_hidden("#busy"))
    for worker in begun & set(served.workers()):
        with suppress(ProcessLookupError):  # one that is being ended may be gone by now
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
            go_to(page, name)
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
