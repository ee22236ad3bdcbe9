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
from pathlib import Path
from typing import Any, BinaryIO

from sdckit.workflow.sessions.answering import answer, preload

NICE = 5  # the server answers clicks while work runs


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

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    waiting = _requests(sys.stdin.buffer)
    from sdckit.workflow.sessions.answering import Desk

    desk = Desk(Path(folder))
    preload()
    while True:
        answer(desk, waiting.get(), send)


if __name__ == "__main__":
    main(sys.argv[1])
