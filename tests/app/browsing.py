"""A served app and a browser to look at it with: what the browser tests share.

A test asks for `served` (one server per file) and `visit` (a new window each call, closed at its end, which must have
asked no other host and raised no error).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAGES = {
    "file": "File", "roles": "Roles", "risk": "Risk", "protect": "Protect", "release": "Release",
    "take_away": "Take away",
}  # fmt: skip
READY = "body[data-ready=yes]"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
EVERY = ("minor", "moderate", "serious", "critical")  # impacts of what axe-core finds
WAIT = 120_000  # milliseconds: the machine may be busy with other tests

TEMPLATE = [b"sdckit.app.worker_process", b""]  # the end of the command line of that of which workers are forked

Visit = Callable[..., Any]


@dataclass
class Served:
    """A running server; `state` is the user's folder it writes to."""

    process: subprocess.Popen[str]
    address: str
    state: Path
    cookies: list[Any] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]

    @property
    def own(self) -> Path:
        """The folder of this server: those of its sessions are in it."""
        return next(self.state.glob("server-*"))

    def sessions(self) -> list[Path]:
        return sorted(self.own.glob("session-*"))

    def workers(self) -> list[int]:
        """The ids of the processes in which sessions are worked on: they have a line to the server, or are its own."""
        own = Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        begun = {number: line for number, line in children(self.process.pid).items() if line != own}
        (template,) = [number for number, line in begun.items() if line.split(b"\0")[-2:] == TEMPLATE] or [0]
        return [number for number in begun if number != template] + list(children(template))

    def stop(self, *, signal: int = 2) -> int:
        self.process.send_signal(signal)
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def children(process: int) -> dict[int, bytes]:
    """The ids of the processes that one began, with their command lines; not one that has ended."""
    begun = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            begun[int(entry.name)] = line
    return begun


def here() -> str:
    """The search path of a program that finds the tests, too."""
    return os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])


def serve(state: Path, *arguments: str, program: str = "sdckit.app") -> Served:
    """Start the server and read the address it prints; by default no worker is started before there is a task."""
    environment = {**os.environ, "SDCKIT_APP_STATE": str(state), "PYTHONPATH": here()}
    own = ["--warm", "600"] if program == "sdckit.app" else ["app"]
    process = subprocess.Popen(
        [sys.executable, "-m", program, *own, "--no-browser", *arguments],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    return Served(process, process.stdout.readline().split()[-1], state)


@dataclass
class Windows:
    """Opens windows on a server, and holds what they did against what they may do."""

    browser: Any
    served: Served
    contexts: list[Any] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    expected: int = 0  # errors that a test provokes

    def __call__(self, path: str = "/", *, width: int = 1280, language: str = "en") -> Any:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            locale=language,
            accept_downloads=True,
            reduced_motion="reduce",  # what turns while a task runs is drawn by the same two cores
            device_scale_factor=0.75 if os.environ.get("SDCKIT_PICTURES") else 1,
        )
        context.set_default_timeout(WAIT)
        self.contexts.append(context)
        context.add_cookies(self.served.cookies)
        page = context.new_page()
        page.on("request", lambda one: self.asked.append(one.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda one: one.type == "error" and self.errors.append(f"{one.location['url']}: {one.text}"))
        page.goto(self.served.origin + path if self.served.cookies else self.served.address)
        page.wait_for_selector(READY)
        self.served.cookies = self.served.cookies or context.cookies()
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        hosts = {url.split("/")[2] for url in self.asked if "://" in url}
        assert hosts <= {self.served.origin.split("/")[2]}, hosts
        assert len(self.errors) <= self.expected, self.errors


# The server answers in turn: what was clicked before was taken in when it answers. A page that is about to be left, or
# has just come, is not ready.
CALM = """async () => {
  const asked = () => new Promise(done => Shiny.shinyapp.makeRequest('ping', [], done, done));
  const there = () => document.body && document.body.dataset.ready && 'Shiny' in window;
  const still = () => there() && !document.body.classList.contains('busy')
    && ![...document.querySelectorAll('.recalculating')].some(one => one.offsetParent);
  while (!document.body || !document.body.dataset.ended) {
    if (still()) { await asked(); if (still()) { await asked(); if (still()) return; } }
    await new Promise(done => setTimeout(done, 40));
  }
}"""
# What a script meets on a page that is just being left for the next one.
LEFT = "context was destroyed", "Cannot read properties of null", "because of a navigation", "properties of undefined"


def is_left(error: Exception) -> bool:
    """Whether it says that the page was just being left."""
    return any(words in str(error) for words in LEFT)


def see(page: Any, script: str, argument: Any = None) -> Any:
    """What a script sees on a page; once more where that was just being left for the next one."""
    for _ in range(600):
        try:
            return page.evaluate(script, argument)
        except Exception as error:
            if not is_left(error):
                raise
            time.sleep(0.1)
    return page.evaluate(script, argument)


def calm(page: Any) -> None:
    """Wait until no task runs and nothing that can be seen is drawn anew, on this page or on that which follows."""
    see(page, CALM)


def go_to(page: Any, name: str) -> None:
    """Go to a page by its way."""
    page.click(f"button.way[data-go={name}]")
    calm(page)


def shown(page: Any) -> str:
    """The title of the page that is shown."""
    return str(page.inner_text("section.page:not([hidden]) h2"))


# A button that fades in has too little contrast until it is there; what turns for ever never is.
REST = """() => {
  const moving = () => document.getAnimations().filter(
    one => one.playState !== 'finished' && one.effect.getComputedTiming().endTime !== Infinity);
  for (let some = moving(); some.length; some = moving()) some.forEach(one => one.finish());
}"""
# Selectors of elements, which take a fifth of its time, are not shown: an element is told by its HTML.
VIOLATIONS = """axe.run({preload: false, resultTypes: ['violations'], selectors: false})
  .then(results => results.violations)"""


def faults(page: Any, impacts: Collection[str] = ("serious", "critical")) -> list[str]:
    """What axe-core finds of these impacts on the page as it is shown, once everything that moves has arrived."""
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(reduced_motion="reduce")  # a link that is enabled while axe looks changes colour at once
    if page.evaluate("'Shiny' in window"):
        calm(page)
    page.evaluate(REST)
    if not page.evaluate("'axe' in window"):  # a window keeps it until it shows another page
        page.evaluate(Axe().axe_script)
    violations = page.evaluate(VIOLATIONS)
    if violations and page.evaluate("'Shiny' in window"):  # a link that is enabled while axe looks is half as before
        calm(page)
        violations = page.evaluate(VIOLATIONS)
    return [
        f"{one['id']}: {one['help']}: {json.dumps([node['html'][:200] for node in one['nodes']])}"
        for one in violations
        if one["impact"] in impacts
    ]


def eventually(true: Callable[[], bool], *, seconds: float = 60) -> bool:
    """Whether it becomes true within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return true()


def picture(page: Any, name: str) -> None:
    """Keep a picture of the page where ``SDCKIT_PICTURES`` names a folder: those of the docs are copied from there."""
    folder = os.environ.get("SDCKIT_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=False)


# Words that English texts have and German ones do not. Names of methods and arguments stay as they are.
ENGLISH = (
    "the", "of", "and", "with", "from", "are", "is", "not", "which", "each", "that", "for", "than", "where", "to",
    "or", "has", "have", "be", "it", "this", "their", "records", "values", "file", "step", "between", "without",
)  # fmt: skip
TEXTS = """() => {
  const shown = one => one && one.checkVisibility() && !one.closest('pre, .argument, code');
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) if (shown(walk.currentNode.parentElement)) found.push(walk.currentNode.data);
  for (const name of ['placeholder', 'title', 'aria-label'])
    for (const one of document.querySelectorAll(`[${name}]`)) if (shown(one)) found.push(one.getAttribute(name));
  return found;
}"""


def leftovers(page: Any) -> list[str]:
    """The texts of a page, as it is shown in another language, that are English."""
    found = []
    for text in dict.fromkeys(map(str.strip, page.evaluate(TEXTS))):
        prose = re.sub(r"\S*[(=]\S*", "", text)  # without code
        if set(re.findall(r"\w+", prose)) & set(ENGLISH):
            found.append(text)
    return found


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
