"""A worker with toy tasks, to see what the two sides do: ``python toy_worker.py FOLDER``; without one a template."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from sdckit.app import worker_process
from sdckit.errors import SdcError, SdcWarning


def echo(desk: Any, tell: Any, **given: Any) -> dict[str, Any]:
    tell("half")
    print("a library prints this")  # noqa: T201 - it must not stand among the answers
    return {"given": given, "opened": desk.opened}


def refuse(desk: Any, tell: Any) -> dict[str, Any]:
    raise SdcError("there is no column 'agee'; did you mean 'age'?")


def fall(desk: Any, tell: Any) -> dict[str, Any]:
    raise KeyError("the value 4711 of a record")


def warn(desk: Any, tell: Any) -> dict[str, Any]:
    for _ in range(2):
        warnings.warn(SdcWarning("codes were taken for missing"), stacklevel=1)
    warnings.warn("the value 4711", stacklevel=1)
    return {"notes": ["a note"]}


def begin(desk: Any, tell: Any, *, exact: bool = False) -> dict[str, Any]:
    """Start a child and work without end; its number is told as it is where `exact`."""
    child = subprocess.Popen(["sleep", "600"])
    tell(str(child.pid))
    while True:
        time.sleep(0.01)


def wait(desk: Any, tell: Any) -> dict[str, Any]:
    """Say again and again how far it is, without end."""
    while True:
        tell("still")
        time.sleep(0.01)


def stand(desk: Any, tell: Any) -> dict[str, Any]:
    """What a worker has of its own: its session, its folder, its line, what it draws."""
    opened = [str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    return {
        "leads": os.getsid(0) == os.getpgrp() == os.getpid(),
        "folders": [tempfile.gettempdir(), *map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))],
        "lines": sum(one.startswith("socket:") for one in set(opened)),
        "drawn": [random.random(), float(np.random.random())],  # noqa: NPY002 - as libraries draw
        "nice": os.nice(0),
        "errors": str(Path("/proc/self/fd/2").readlink()),
    }


class Desk:
    def __init__(self, folder: Path) -> None:
        self.opened: list[Any] = []
        self.ahead = None

    def open(self, path: str, reading: dict[str, Any]) -> None:
        self.opened.append([path, reading])


def place() -> None:
    """Put the toys where tasks and desk are looked for."""
    toys = types.ModuleType("sdckit.workflow.sessions.toys")
    for one in (echo, refuse, fall, warn, begin, wait, stand):
        setattr(toys, one.__name__, one)
    desk = types.ModuleType("sdckit.workflow.sessions.answering")
    desk.Desk = Desk  # type: ignore[attr-defined]
    sys.modules |= {toys.__name__: toys, desk.__name__: desk}


if __name__ == "__main__":
    place()
    worker_process.preload = lambda: None
    if sys.argv[1:]:
        worker_process.main(sys.argv[1])
    worker_process.load_ahead = lambda: iter(worker_process.FIRST_FIGURES)
    worker_process.template()
