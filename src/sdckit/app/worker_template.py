"""The server's side of a process that has loaded what workers need, of which they are forked, where it can be (Linux).

A worker begins at once, and shares its memory with the others. Where there is no such process, or it has ended, a
worker is a program of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sdckit import operating_system

PROGRAM: Sequence[str] = (
    sys.executable,
    "-m",
    "sdckit.app.worker_process",
)  # with a folder it is a worker, without one a template


class ForkedWorker:
    """What `asyncio.subprocess.Process` is for a program, for a worker at the other end of a line."""

    def __init__(self, stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter) -> None:
        self.stdout, self.stdin = stdout, stdin
        self.pid = 0  # until it says it

    async def begin(self) -> bool:
        """Wait until it is there; False where it will not be: the template has ended, or `end` was called."""
        with contextlib.suppress(OSError):
            self.pid = int(await self.stdout.readline() or 0)
        return self.pid > 0

    @property
    def returncode(self) -> int | None:
        """None while it runs: its children do not hold the line."""
        return 0 if self.stdout.at_eof() else None

    def end(self) -> None:
        """End it with its children; one that is not there yet ends as it finds its line closed."""
        if self.pid and self.returncode is None:
            operating_system.end_tree(self.pid)
        self.stdin.transport.abort()


class Template:
    """The process, which is started here; it holds no data and no session."""

    def __init__(self) -> None:
        self._control, end = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with end:
            self.process = subprocess.Popen(
                PROGRAM,
                stdin=end.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    async def ask(self, folder: Path, limit: int) -> ForkedWorker | None:
        """A worker for a folder, which has yet to begin; None where the template has ended."""
        line, end = socket.socketpair()
        try:
            with end:
                socket.send_fds(self._control, [os.fsencode(folder)], [end.fileno()])
        except OSError:
            line.close()
            return None
        return ForkedWorker(*await asyncio.open_connection(sock=line, limit=limit))

    def close(self) -> None:
        """End the process, and with it the workers that still run."""
        self._control.close()
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def started_template() -> Iterator[Template | None]:
    """A template as long as the block runs; None where the system has none."""
    if not operating_system.can_fork():
        yield None
        return
    with contextlib.closing(Template()) as template:
        yield template
