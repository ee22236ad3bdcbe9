"""The process in which a session's data are worked on: ``python -m sdckit.app.worker_process FOLDER``.

It reads one request per line and answers with lines of JSON. It ends when its parent does: its input is then closed.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, BinaryIO

from sdckit.app.worker import INTERNAL
from sdckit.errors import SdcError, SdcWarning

__all__ = ["answer", "main", "preload"]

NICE = 5  # the server answers clicks while work runs
OPENING = ("opening.open_file", "opening.open_demo")  # they need no open file
COMPILING = "compiling, the first time only"
USED_BY_MOST = (
    "sdckit.workflow.assess", "sdckit.workflow.check", "sdckit.report.formats.write", "sdckit.report.formats.html",
    "sdckit.data.files.readers",
)  # fmt: skip

Send = Callable[[dict[str, Any]], None]


def preload() -> None:
    """Load what tasks need while nobody waits for it."""
    from sdckit.workflow import sessions

    for found in iter_modules(sessions.__path__):
        import_module(f"{sessions.__name__}.{found.name}")
    for name in USED_BY_MOST:
        import_module(name)


def answer(desk: Any, request: dict[str, Any], send: Send) -> None:
    """Carry out one request; what it gives or refuses is sent, and no exception leaves."""
    try:
        with _compiling(send), _warned() as notes:
            result = _carried_out(desk, request, send)
        exact = request["arguments"].get("exact", False)
        told = notes if exact else list(map(_protected, notes))
        send({"result": {**result, "notes": [*result.get("notes", ()), *told]}})
    except SdcError as error:
        send({"error": str(error)})
    except MemoryError:
        send({"error": "not enough memory; declare fewer columns or run on a larger machine"})
    except OSError as error:
        send({"error": error.strerror or INTERNAL.format(kind=type(error).__name__)})
    except Exception as error:  # noqa: BLE001 - the last resort: messages of libraries may show a value
        send({"error": INTERNAL.format(kind=type(error).__name__)})


def _carried_out(desk: Any, request: dict[str, Any], send: Send) -> dict[str, Any]:
    file, task = request["file"], request["task"]
    if file.get("path") and task not in OPENING:  # a file that is gone keeps nobody from opening another
        desk.open(file["path"], file.get("reading", {}))
    room, _, function = task.partition(".")
    run = getattr(import_module(f"sdckit.workflow.sessions.{room}"), function)
    return dict(run(desk, lambda text: send({"tell": text}), **request["arguments"]))


def _protected(text: str) -> str:
    """A warning as it may be shown: its counts of records pass the gate."""
    from sdckit.report.gate.words import protect_words

    return protect_words(text)


@contextlib.contextmanager
def _warned() -> Iterator[list[str]]:
    """Our own warnings of the block, each once; those of libraries may show a value."""
    notes: list[str] = []

    def hear(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, SdcWarning) and str(message) not in notes:
            notes.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SdcWarning)
        warnings.showwarning = hear
        yield notes


@contextlib.contextmanager
def _compiling(send: Send) -> Iterator[None]:
    """Tell once that kernels are being compiled, which takes minutes and happens once per machine."""
    from sdckit.numerics.compiling import heard

    told: list[str] = []

    def tell(name: str) -> None:
        if not told:
            told.append(name)
            send({"tell": COMPILING})

    with heard(tell):
        yield


def _requests(source: BinaryIO) -> queue.Queue[dict[str, Any]]:
    """Read requests beside the work; once the parent is gone, end with all children."""
    waiting: queue.Queue[dict[str, Any]] = queue.Queue()

    def read() -> None:
        for line in source:
            waiting.put(json.loads(line))
        if os.name == "posix" and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return waiting


def _die_with_parent() -> None:
    """Ask Linux to end this process with its parent, also while a kernel holds the interpreter."""
    if sys.platform == "linux":
        import ctypes

        parent = os.getppid()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(0)


def main(folder: str) -> None:
    """Answer requests until the parent is gone."""
    _die_with_parent()
    if hasattr(os, "nice"):
        os.nice(NICE)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer

    def send(told: dict[str, Any]) -> None:
        out.write(json.dumps(told).encode() + b"\n")
        out.flush()

    waiting = _requests(sys.stdin.buffer)
    from sdckit.workflow.sessions.desk import Desk

    desk = Desk(Path(folder))
    preload()
    while True:
        answer(desk, waiting.get(), send)


if __name__ == "__main__":
    main(sys.argv[1])
