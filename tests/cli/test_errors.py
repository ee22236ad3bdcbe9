"""An error is one line and an exit code; a warning is one line, once."""

from __future__ import annotations

import errno
import warnings

import pytest
import typer

from sdckit.cli import errors
from sdckit.errors import ColumnError, SdcWarning

Capture = pytest.CaptureFixture[str]


def test_our_own_message_is_printed_as_it_is(capsys: Capture) -> None:
    assert errors.explain(ColumnError("no column 'a';\n did you mean 'b'?")) == errors.BAD_INPUT
    assert capsys.readouterr().err == "error: no column 'a'; did you mean 'b'?\n"


def test_a_foreign_message_is_not_printed(capsys: Capture) -> None:
    assert errors.explain(TypeError("value secret-4711 is odd")) == errors.INTERNAL
    told = capsys.readouterr().err
    assert "internal error: TypeError in a library" in told
    assert "secret" not in told
    assert len(told.splitlines()) == 1


def test_the_place_is_our_own_file_and_line(capsys: Capture) -> None:
    try:
        errors.say(None)  # type: ignore[arg-type]
    except AttributeError as error:
        errors.explain(error)
    assert "in cli/errors.py line " in capsys.readouterr().err


def test_the_debugger_sees_the_traceback(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDCKIT_DEBUG", "1")
    assert errors.explain(KeyError("x")) == errors.INTERNAL
    assert "KeyError: 'x'" in capsys.readouterr().err


def test_the_system_s_errors_are_bad_input(capsys: Capture) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "/some/folder/report.html")
    assert errors.explain(error) == errors.BAD_INPUT
    assert capsys.readouterr().err == "error: No space left on device: report.html\n"


def test_no_memory_is_bad_input(capsys: Capture) -> None:
    assert errors.explain(MemoryError()) == errors.BAD_INPUT
    assert "not enough memory" in capsys.readouterr().err


def test_an_abort_is_an_interruption() -> None:
    assert errors.explain(typer.Abort()) == errors.INTERRUPTED


def test_a_warning_is_told_once_and_others_not_at_all(capsys: Capture) -> None:
    with errors.one_line_warnings():
        for _ in range(3):
            warnings.warn("key 'a' is constant", SdcWarning, stacklevel=1)
        warnings.warn("value 4711", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: key 'a' is constant\n"


def test_the_debugger_sees_other_warnings_too(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDCKIT_DEBUG", "1")
    with errors.one_line_warnings():
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: overflow\n"
