"""The display appears after a second, for a person only, and leaves nothing behind."""

from __future__ import annotations

import io
import re
import sys
from contextlib import nullcontext

import pytest

from sdckit.cli import progress
from sdckit.cli.progress import Steps


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with Steps(quiet=False) as steps:
        steps.step("reading")
    assert terminal.getvalue() == ""


def test_slow_work_names_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.2)
    with Steps(quiet=False) as steps:
        steps.step("reading [data]")
        timer = steps._timer
        assert timer is not None
        timer.join()
        steps.step("assessing")
    assert "reading [data]" in terminal.getvalue()
    assert "assessing" in terminal.getvalue()


def test_no_thread_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    with Steps(quiet=False) as steps:
        steps.step("reading")
        timer = steps._timer
    assert timer is not None
    timer.join(timeout=5)
    assert not timer.is_alive()


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_where_nobody_looks(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Steps(quiet=quiet) as steps:
        steps.step("reading")
    assert capsys.readouterr().err == ""


def test_quiet_wins_over_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Steps(quiet=True) as steps:
        steps.step("reading")
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("quiet", [True, False])
def test_a_log_has_a_line_of_work_that_lasts(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    monkeypatch.setattr(sys, "__stderr__", log)
    monkeypatch.setattr(progress.operating_system, "open_standard_error", lambda: nullcontext(log))
    monkeypatch.setattr(progress, "IN_A_LOG", 0.01)
    with Steps(quiet=quiet) as steps:
        steps.step("reading")
        if steps._timer is not None:
            steps._timer.join()
    assert bool(re.match(r"reading … \d+ s so far\n", log.getvalue())) != quiet
