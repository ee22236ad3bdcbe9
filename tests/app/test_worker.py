"""The two sides of the worker: what is told, what is refused, and that nothing outlives a cancel or the server."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from app.browsing import eventually
from app.toys import TOYS
from sdckit.app.worker import TaskCancelledError, TaskError, Worker

NO_FILE = {"path": "", "reading": {}}


def gone(process: int) -> bool:
    """Whether a process has ended; one that nobody waits for has."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def within(folder: Path, run: Callable[[Worker], Awaitable[Any]]) -> Any:
    """Run a coroutine with a worker that is closed after it."""

    async def whole() -> Any:
        worker = Worker(folder, program=TOYS)
        try:
            return await run(worker)
        finally:
            worker.close()
            await asyncio.sleep(0.1)  # its end is noticed

    return asyncio.run(whole())


def test_tasks_are_told_of_and_refused_in_one_process(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        told: list[str] = []
        file = {"path": "/data/a.csv", "reading": {"missing": ["9"]}}
        result = await worker.run("toys.echo", {"n": 5}, told.append, file=file)
        assert result == {"given": {"n": 5}, "opened": [["/data/a.csv", {"missing": ["9"]}]], "notes": []}
        assert told == ["half"]
        first = worker.pid
        with pytest.raises(TaskError, match="did you mean 'age'"):
            await worker.run("toys.refuse", {}, told.append, file=NO_FILE)
        with pytest.raises(TaskError) as found:
            await worker.run("toys.fall", {}, told.append, file=NO_FILE)
        assert str(found.value) == "internal error: KeyError; please report it"
        with pytest.raises(TaskError, match="internal error"):
            await worker.run("toys.echo", {"tell": 1}, told.append, file=NO_FILE)
        with pytest.raises(TaskError, match="internal error"):
            await worker.run("nowhere.echo", {}, told.append, file=NO_FILE)
        noted = await worker.run("toys.warn", {}, told.append, file=NO_FILE)
        assert noted["notes"] == ["a note", "codes were taken for missing"]
        assert worker.pid == first

    within(tmp_path, run)


def test_cancel_ends_the_process_with_its_children_and_the_next_task_starts_another(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        await worker.warm()
        first = worker.pid
        child: list[int] = []
        task = asyncio.create_task(
            worker.run("toys.begin", {}, lambda text: child.append(int(text)), file=NO_FILE)
        )
        while not child:
            await asyncio.sleep(0.01)
        assert first is not None
        assert not gone(first)
        start = time.monotonic()
        worker.cancel()
        with pytest.raises(TaskCancelledError):
            await task
        while not (gone(first) and gone(child[0])):
            assert time.monotonic() - start < 1
            await asyncio.sleep(0.01)
        assert worker.pid is None
        again = await worker.run("toys.echo", {}, lambda _: None, file=NO_FILE)
        assert again["opened"] == []
        assert worker.pid not in (None, first)
        worker.close()
        with pytest.raises(TaskCancelledError):
            await worker.run("toys.echo", {}, lambda _: None, file=NO_FILE)

    within(tmp_path, run)


def test_a_process_that_ends_by_itself_is_told_of(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        await worker.warm()
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(TaskError, match="ended by itself"):
            await worker.run("toys.begin", {}, lambda _: None, file=NO_FILE)
        assert (await worker.run("toys.echo", {}, lambda _: None, file=NO_FILE))["notes"] == []

    within(tmp_path, run)


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_what_is_ended_while_it_starts_does_not_start(tmp_path: Path, end: str) -> None:
    async def run(worker: Worker) -> None:
        task = asyncio.create_task(worker.run("toys.echo", {}, lambda _: None, file=NO_FILE))
        await asyncio.sleep(0)  # it has begun to start
        assert worker.pid is None
        getattr(worker, end)()
        with pytest.raises(TaskCancelledError):
            await task
        assert worker.pid is None

    within(tmp_path, run)


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """Killed without warning, or with its input closed: the child of the worker goes, too."""
    begin = b'{"task": "toys.begin", "arguments": {}, "file": {}}\n'
    with subprocess.Popen(
        [*TOYS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(begin)
        process.stdin.flush()
        child = int(process.stdout.readline().split(b'"')[3])
        assert not gone(child)
        process.stdin.close()
        assert process.wait(10) == -signal.SIGKILL
        assert eventually(lambda: gone(child))
