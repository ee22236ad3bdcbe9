"""The process in which a session's data are worked on: ``python -m sdckit.app.worker_process FOLDER``.

It reads one request per line and answers with lines of JSON. It ends when its parent does: its input is then closed.
"""

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sdckit import operating_system
from sdckit.workflow.sessions.answering import answer, load_ahead, preload, work_ahead

NICE = 5  # the server answers clicks while work runs
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


def main(folder: str) -> None:
    """Answer requests until the parent is gone."""
    operating_system.end_with_parent()
    operating_system.step_back(NICE)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    aside: list[dict[str, Any]] = []
    waiting = _requests(sys.stdin.buffer, aside)
    from sdckit.workflow.sessions.answering import Desk

    desk = Desk(Path(folder))
    preload()

    def next_request() -> dict[str, Any] | None:
        return None if waiting.empty() else waiting.queue[0]  # nobody else takes one

    loads = load_ahead()
    while True:
        work_ahead(desk, next_request)
        answer(desk, _taken(waiting, loads), send, lambda: next(iter(aside), None))


def _taken(waiting: queue.Queue[dict[str, Any]], loads: Iterator[str]) -> dict[str, Any]:
    """The next request; until it comes, something is loaded whenever nobody has asked for anything for a moment."""
    while True:
        with contextlib.suppress(queue.Empty):
            return waiting.get(timeout=QUIET)
        if next(loads, None) is None:
            return waiting.get()


if __name__ == "__main__":
    main(sys.argv[1])
