"""The parent's side of the one process in which a session's data are worked on.

It speaks JSON lines over two pipes: requests in; progress, a result or an error out. Whoever cancels kills the process
with all its children; the next task starts a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

LONGEST_LINE = 256 * 2**20  # of one answer; the drawings of a page are some hundred kilobytes
PROGRAM = (sys.executable, "-m", "sdckit.app.worker_process")
ENDED = "the process that works on the data ended by itself; it may have run out of memory"
POSIX = os.name == "posix"


class TaskError(Exception):
    """What a task refused, in a text that may be shown."""


class TaskCancelledError(Exception):
    """Somebody cancelled the task."""


class Worker:
    """One process, one task at a time.

    Parameters
    ----------
    folder
        The session's folder, which the process may read and write.
    program
        What is started, with the folder as its last argument.
    """

    def __init__(self, folder: Path, *, program: Sequence[str] = PROGRAM) -> None:
        self.folder = folder
        self._program = program
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._closed = False
        self._cancels = 0

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        alive = self._process is not None and self._process.returncode is None
        return self._process.pid if alive and self._process else None

    async def warm(self) -> None:
        """Start the process ahead, so that the first task finds everything loaded."""
        async with self._lock:
            await self._started()

    async def run(
        self, task: str, arguments: Mapping[str, Any], tell: Callable[[str], None], *, file: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Carry out a task and give its result.

        Parameters
        ----------
        task
            "FILE.FUNCTION" of `sdckit.workflow.sessions`.
        arguments
            Plain values.
        tell
            Is called with every text of progress.
        file
            The path of the open file and how it is read: a new process opens it first.

        Raises
        ------
        TaskError
            The task refused, or the process ended by itself; the message may be shown.
        TaskCancelledError
            `cancel` or `close` was called.
        """
        async with self._lock:
            before = self._cancels
            process = await self._started()
            if self._cancels != before:  # while it started
                self._kill()
                raise TaskCancelledError
            request = {"task": task, "arguments": dict(arguments), "file": dict(file)}
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
                await process.stdin.drain()  # type: ignore[union-attr]
                return await self._answer(process, tell)
            except (OSError, EOFError):
                cancelled = self._process is not process
                self._kill()
                raise TaskCancelledError if cancelled else TaskError(ENDED) from None

    async def _answer(
        self, process: asyncio.subprocess.Process, tell: Callable[[str], None]
    ) -> dict[str, Any]:
        while line := await process.stdout.readline():  # type: ignore[union-attr]
            told = json.loads(line)
            if "tell" in told:
                tell(told["tell"])
            elif "error" in told:
                raise TaskError(told["error"])
            else:
                return dict(told["result"])
        raise EOFError

    async def _started(self) -> asyncio.subprocess.Process:
        if self._closed:
            raise TaskCancelledError
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *self._program, str(self.folder),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                limit=LONGEST_LINE, start_new_session=POSIX,
            )  # fmt: skip
        if self._closed:  # while it started
            self._kill()
            raise TaskCancelledError
        return self._process

    def cancel(self) -> None:
        """End the process and its children now; whoever waits for the task gets `TaskCancelledError`."""
        self._cancels += 1
        self._kill()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            if POSIX:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                subprocess.run(
                    ["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False
                )
