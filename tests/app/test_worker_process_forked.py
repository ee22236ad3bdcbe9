"""Workers that are forked are as those that are programs: their own session, folder and chance, gone with all."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from app.browsing import children, eventually, here
from app.toys import TOYS
from sdckit.app import browser_sessions
from sdckit.app.browser_sessions import TaskCancelledError, TaskError, Template, Worker, start_template

NO_FILE = {"path": "", "reading": {}}
PREPARED = {"python", "python3", "jemalloc_bg_thd"}  # threads that are made for a fork; of OpenBLAS there is none here


def silent(_: str) -> None:
    """Is told how far a task is."""


def within(run: Callable[[Template], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a coroutine with a template of toys."""
    monkeypatch.setattr(browser_sessions, "PROGRAM", TOYS)

    async def whole() -> Any:
        with contextlib.closing(Template()) as template:
            result = await run(template)
        assert not children(template.process.pid)
        await asyncio.sleep(0)  # lines that were closed are let go
        return result

    return asyncio.run(whole())


def test_each_has_its_own_session_folder_and_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()

    async def run(template: Template) -> None:
        workers = [Worker(folder, template=template) for folder in folders]
        stands = [await worker.run("toys.stand", {}, silent, file=NO_FILE) for worker in workers]
        assert set(children(template.process.pid)) == {worker.pid for worker in workers}
        for folder, stand in zip(folders, stands, strict=True):
            assert stand["leads"]
            assert stand["folders"] == [str(folder)] * 4
            assert stand["lines"] == 1
            assert stand["nice"] == min(19, os.nice(0) + 5)
            assert stand["errors"] == os.devnull
        first, second = (stand["drawn"] for stand in stands)
        assert not set(first) & set(second)
        for worker in workers:
            worker.close()

    within(run, monkeypatch)


def test_cancel_ends_it_with_its_children_and_the_next_is_forked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(template: Template) -> None:
        worker, told = Worker(tmp_path, template=template), list[str]()
        task = asyncio.create_task(worker.run("toys.begin", {"exact": True}, told.append, file=NO_FILE))
        while not told:
            await asyncio.sleep(0.01)
        first = worker.pid
        assert first is not None
        assert int(told[0]) in children(first)
        worker.cancel()
        with pytest.raises(TaskCancelledError):
            await task
        assert worker.pid is None
        assert eventually(lambda: not Path(f"/proc/{first}").exists() and not lives(int(told[0])))
        assert (await worker.run("toys.echo", {}, silent, file=NO_FILE))["opened"] == []
        assert worker.pid in children(template.process.pid)
        worker.close()

    within(run, monkeypatch)


def test_one_that_was_killed_is_told_of_though_its_child_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(template: Template) -> None:
        worker, told = Worker(tmp_path, template=template), list[str]()
        task = asyncio.create_task(worker.run("toys.begin", {"exact": True}, told.append, file=NO_FILE))
        while not told:
            await asyncio.sleep(0.01)
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(TaskError, match="ended by itself"):
            await asyncio.wait_for(task, 60)
        assert lives(int(told[0]))
        os.kill(int(told[0]), signal.SIGKILL)
        assert (await worker.run("toys.echo", {}, silent, file=NO_FILE))["notes"] == []
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)  # while it does nothing
        while worker.pid is not None:
            await asyncio.sleep(0.01)
        assert (await worker.run("toys.echo", {}, silent, file=NO_FILE))["notes"] == []
        worker.close()

    within(run, monkeypatch)


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_what_is_ended_while_the_template_still_loads_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    async def run(template: Template) -> None:
        os.kill(template.process.pid, signal.SIGSTOP)
        worker = Worker(tmp_path, template=template)
        task = asyncio.create_task(worker.run("toys.begin", {}, silent, file=NO_FILE))
        while worker._process is None:
            await asyncio.sleep(0.01)
        assert worker.pid is None
        getattr(worker, end)()
        with pytest.raises(TaskCancelledError):
            await asyncio.wait_for(task, 60)
        os.kill(template.process.pid, signal.SIGCONT)
        if end == "cancel":
            assert (await worker.run("toys.echo", {}, silent, file=NO_FILE))["notes"] == []
            assert eventually(lambda: [*children(template.process.pid)] == [worker.pid])
            worker.close()
        assert eventually(lambda: not children(template.process.pid))

    within(run, monkeypatch)


@pytest.mark.parametrize("busy", [False, True])
def test_where_the_template_has_ended_a_worker_is_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    async def run(template: Template) -> None:
        worker = Worker(tmp_path, program=TOYS, template=template)
        if busy:  # it ends while a worker waits for it, too
            os.kill(template.process.pid, signal.SIGSTOP)
            task = asyncio.create_task(worker.run("toys.echo", {}, silent, file=NO_FILE))
            while worker._process is None:
                await asyncio.sleep(0.01)
            template.process.kill()
            assert (await task)["notes"] == []
        else:
            await worker.run("toys.echo", {}, silent, file=NO_FILE)
            forked = worker.pid
            template.process.kill()
            template.process.wait()
            assert forked is not None
            assert eventually(lambda: not lives(forked))
            while worker.pid is not None:
                await asyncio.sleep(0.01)
            assert (await worker.run("toys.echo", {}, silent, file=NO_FILE))["notes"] == []
        assert worker.pid in children(os.getpid())
        last = worker._process
        worker.close()
        assert isinstance(last, asyncio.subprocess.Process)
        await last.wait()

    within(run, monkeypatch)


def test_it_ends_with_the_server(tmp_path: Path) -> None:
    """Killed without warning: template and worker are gone."""
    with subprocess.Popen(
        [sys.executable, "-c", f"from app.test_worker_process_forked import served; served({str(tmp_path)!r})"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": here()},
    ) as server:
        assert server.stdout is not None
        begun = [int(number) for number in server.stdout.readline().split()]
        assert len(begun) == 3
        assert all(map(lives, begun))
        server.kill()
    assert eventually(lambda: not any(map(lives, begun[:2])))
    with contextlib.suppress(OSError):
        os.kill(begun[2], signal.SIGKILL)


def served(folder: str) -> None:
    """A server with a worker at work; says the ids of its template, of the worker and of the worker's child."""
    browser_sessions.PROGRAM = TOYS

    async def run() -> None:
        template = Template()
        worker = Worker(Path(folder), template=template)

        def tell(text: str) -> None:
            sys.stdout.write(f"{template.process.pid} {worker.pid} {text}\n")
            sys.stdout.flush()

        await worker.run("toys.begin", {"exact": True}, tell, file=NO_FILE)

    asyncio.run(run())


def test_it_has_loaded_what_workers_need_and_no_thread_runs_that_a_fork_would_lose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    async def run() -> None:
        with contextlib.closing(Template()) as template:
            worker = Worker(tmp_path, template=template)
            await worker.warm()
            tasks = Path(f"/proc/{template.process.pid}/task").glob("*/comm")
            assert {task.read_text().strip() for task in tasks} <= PREPARED
            drawn = await worker.run("opening.open_demo", {}, silent, file=NO_FILE)
            assert drawn["records"] > 0
            worker.close()
        await asyncio.sleep(0)

    asyncio.run(run())


def test_other_systems_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for system in ("darwin", "win32"):
        monkeypatch.setattr("sdckit.operating_system.SYSTEM", system)
        assert start_template() is None


def lives(process: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
