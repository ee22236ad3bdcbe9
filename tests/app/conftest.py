"""What the tests of the app share: one browser and one server per file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.browsing import FLAGS, Served, Windows, serve
from needs import needs_app, needs_page_viewer
from sdckit.app.lean_shiny import leave_untraced


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright, which leaves a loop running: other files need to be rid of it."""
    program = needs_page_viewer()
    needs_app()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(program), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app as its command starts it, without a file."""
    needs_app()
    running = serve(tmp_path_factory.mktemp("state"))
    yield running
    assert running.stop() == 0
    assert not list(running.state.glob("server-*"))


@pytest.fixture
def visit(browser: Any, served: Served) -> Iterator[Windows]:
    """Opens windows; at the end none of them may have left the machine or raised an error."""
    windows = Windows(browser, served)
    yield windows
    windows.close()


@pytest.fixture(autouse=True)
def untraced() -> None:
    """Every session in memory runs as a served one does: Shiny reads no sources for telemetry."""
    if "shiny.reactive" in sys.modules:
        leave_untraced()


@pytest.fixture(autouse=True)
def fresh_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a loop of its own, and Shiny one lock per process: it must not be another loop's."""
    if core := sys.modules.get("shiny.reactive._core"):
        monkeypatch.setattr(core._reactive_environment, "_lock", None)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of the app."""
    monkeypatch.setenv("SDCKIT_APP_STATE", str(tmp_path / "state"))
    return tmp_path / "state"
