"""Errors and warnings as one line on standard error, and the exit codes."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import typer

from sdckit.errors import SdcError, SdcWarning

__all__ = ["BAD_INPUT", "EXCEEDED", "INTERNAL", "INTERRUPTED", "OK", "explain", "one_line_warnings", "say"]

OK = 0
EXCEEDED = 1
BAD_INPUT = 2
INTERNAL = 3
INTERRUPTED = 130

PACKAGE = Path(__file__).resolve().parents[1]


def debugging() -> bool:
    """Whether the user asked for tracebacks, which may show data."""
    return os.environ.get("SDCKIT_DEBUG", "") not in {"", "0"}


def say(text: str) -> None:
    """Print one line on standard error."""
    sys.stderr.write(" ".join(text.split()) + "\n")


def explain(error: Exception) -> int:
    """Print what went wrong in one line and give the exit code that says so.

    Only our own messages are printed as they are: those of libraries may show a record's values.
    """
    if debugging():
        traceback.print_exception(error)
    if isinstance(error, SdcError):
        say(f"error: {error}")
        return BAD_INPUT
    if isinstance(error, typer.Abort):
        return INTERRUPTED
    if isinstance(error, typer.TyperException):
        return _usage(error)
    if isinstance(error, OSError) and error.strerror:
        name = Path(os.fsdecode(error.filename)).name if isinstance(error.filename, str | bytes) else ""
        say(f"error: {error.strerror}" + (f": {name}" if name else ""))
        return BAD_INPUT
    if isinstance(error, MemoryError):
        say("error: not enough memory; declare fewer columns or run on a larger machine")
        return BAD_INPUT
    say(
        f"internal error: {type(error).__name__} in {_place(error)}; please report it. "
        "SDCKIT_DEBUG=1 shows the traceback, which may contain data"
    )
    return INTERNAL


def _usage(error: typer.TyperException) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help text
        sys.stderr.write(error.format_message() + "\n")
        return BAD_INPUT
    say(f"error: {error.format_message()}")
    context = getattr(error, "ctx", None)
    if context is not None:
        say(f"see: {context.command_path} --help")
    return BAD_INPUT


def _place(error: Exception) -> str:
    """The last line of our own that ran: enough to find the fault, and free of data."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if PACKAGE in Path(frame.filename).parents
    ]
    if not ours:
        return "a library"
    return f"{Path(ours[-1].filename).relative_to(PACKAGE).as_posix()} line {ours[-1].lineno}"


@contextmanager
def one_line_warnings() -> Generator[None]:
    """Print each of our warnings once, as one line; keep those of libraries for the debugger."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        text = str(message)
        if text not in told and (issubclass(category, SdcWarning) or debugging()):
            told.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always" if debugging() else "ignore")
        warnings.simplefilter("always", SdcWarning)
        warnings.showwarning = show
        yield
