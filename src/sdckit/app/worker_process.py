"""The process in which a session's data are worked on: ``python -m sdckit.app.worker_process FOLDER``.

It reads one request per line and answers with lines of JSON. It ends when its parent does: its input is then closed.
Without a folder it is the template, of which workers are forked: it has loaded what they need, and holds no data.
"""

import contextlib
import json
import os
import queue
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sdckit import operating_system
from sdckit.workflow.sessions.answering import FIRST_FIGURES, answer, load_ahead, preload, work_ahead

NICE = 5  # the server answers clicks while work runs
LONGEST_PATH = 2**16  # bytes
QUIET = 0.25  # seconds without a request, after which something is loaded ahead


def _requests(source: BinaryIO, aside: list[dict[str, Any]]) -> queue.Queue[dict[str, Any]]:
    """Read requests beside the work, and which to step `aside` for; once the parent is gone, end with all children."""
    waiting: queue.Queue[dict[str, Any]] = queue.Queue()

    def read() -> None:
        for line in source:
            request = json.loads(line)
            if "aside" in request:
                aside.append(request["aside"])
            else:
                aside.clear()  # it was meant for the task before
                waiting.put(request)
        operating_system.end_own_tree()

    threading.Thread(target=read, daemon=True).start()
    return waiting


def main(folder: str, loads: Iterator[str] | None = None) -> None:
    """Answer requests until the parent is gone; `loads` is what a template has left to be loaded ahead."""
    operating_system.end_with_parent()
    if loads is None:
        operating_system.step_back(NICE)
    source, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what is begun from here reads no request, and does not hold the line
    os.dup2(2, 1)  # what a library prints is no answer

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    aside: list[dict[str, Any]] = []
    waiting = _requests(source, aside)
    from sdckit.workflow.sessions.answering import Desk

    desk = Desk(Path(folder))
    preload()
    loads = load_ahead() if loads is None else loads
    while True:
        work_ahead(desk, lambda: None if waiting.empty() else waiting.queue[0])  # nobody else takes one
        answer(desk, _taken(waiting, loads), send, lambda: next(iter(aside), None))


def _taken(waiting: queue.Queue[dict[str, Any]], loads: Iterator[str]) -> dict[str, Any]:
    """The next request; until it comes, something is loaded whenever nobody has asked for anything for a moment."""
    while True:
        with contextlib.suppress(queue.Empty):
            return waiting.get(timeout=QUIET)
        if next(loads, None) is None:
            return waiting.get()


def template() -> None:
    """Load what workers need, and fork one for each folder that the server names, until the server is gone.

    What threads there are then belong to OpenBLAS and jemalloc, which are made for it; Vega's start in each worker.
    """
    operating_system.end_with_parent()
    operating_system.step_back(NICE)
    preload()
    loads = load_ahead()
    while next(loads) != FIRST_FIGURES[-1]:
        pass
    control = socket.socket(fileno=0)
    while (asked := socket.recv_fds(control, LONGEST_PATH, 1, socket.MSG_CMSG_CLOEXEC))[0]:
        with contextlib.suppress(OSError):  # there is no room for another: its line is closed
            if operating_system.fork():
                _begin(os.fsdecode(asked[0]), asked[1][0], loads)
        os.close(asked[1][0])


def _begin(folder: str, line: int, loads: Iterator[str]) -> None:
    """Be a worker that was just forked, with what comes by chance its own."""
    try:
        os.dup2(line, 0)  # the server asked the template there
        os.dup2(line, 1)
        os.environ.update(dict.fromkeys(operating_system.TEMPORARY, folder))
        tempfile.tempdir = None
        sys.modules["numpy"].random.seed()
        os.write(1, b"%d\n" % os.getpid())
        main(folder, loads)
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1]) if sys.argv[1:] else template()
