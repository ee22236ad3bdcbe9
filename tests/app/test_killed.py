"""Worker or server killed at any moment: the work is there again, and nothing of the file lies elsewhere.

``SDCKIT_KILLS`` says how many moments are tried; without it a few.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from app.browsing import eventually, here
from sdckit.app.browser_sessions import SAVED_NAME, Autosave, Folders, Seats, Step, TaskError, Template, Work, Worker
from session_files import MARKER, SCENARIO, SECRET, STEPS, make_file

KILLS = int(os.environ.get("SDCKIT_KILLS", "4"))
SEED = 41
HOW: dict[str, Any] = {"scenario": SCENARIO, "steps": STEPS, "secret": SECRET}
PROJECT = {"name": "small.csv", "scenario": SCENARIO, "steps": STEPS, "versions": []}


def asked(path: Path, folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Opening, building a hierarchy, measuring, protecting, the map, releasing, writing (into a ledger, too), projects.

    `folder` is the session's; the ledger lies beside the file.
    """
    remembering = {**SCENARIO, "ledger": {**ledger_beside(path), "id": "name", "add": True}}
    return [
        ("opening.open_file", {"path": str(path), "reading": {}}),
        ("hierarchies.edit", {**HOW, "number": 0, "column": "age", "do": {"act": "bands"}}),
        ("risk.risk", {"scenario": SCENARIO}),
        ("protecting.run", HOW),
        ("exploring.explore", HOW),
        ("releasing.release", HOW),
        ("taking_away.prepare", {**HOW, "scenario": remembering, "accepted": True}),
        ("projects.save", {"saved": PROJECT, "rare": True}),
        ("projects.load", {"path": str(folder / "project" / "project.sdckit")}),
    ]


def ledger_beside(path: Path) -> dict[str, str]:
    """Where a ledger of the releases lies."""
    return {name: str(path.parent / f"ledger.{name}") for name in ("folder", "key")}


def holding(folder: Path) -> list[str]:
    """The files below a folder that hold the marked record, or are not whole."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if path.suffix == ".part" or MARKER.encode() in path.read_bytes()]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs of this machine put what is temporary."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(folder))
    return folder


def without_paths(answer: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in answer.items() if name != "folder"}, sort_keys=True)


def new_ledger(path: Path) -> None:
    """An empty one; what was there is removed."""
    for there in path.parent.glob("ledger.*"):
        shutil.rmtree(there) if there.is_dir() else there.unlink()
    sdc.ReleaseLedger.create(**ledger_beside(path), survey="Survey")


def remembered(path: Path) -> int:
    """How many releases the ledger beside a file holds, each whole; its chain is verified as it is opened."""
    entries = sdc.ReleaseLedger.open(**ledger_beside(path)).entries
    assert all(entry.pending and any(kind == "people" for kind, *_ in entry.sets) for entry in entries)
    return len(entries)


def test_the_task_of_a_killed_worker_gives_the_same_when_tried_again(tmp_path: Path, elsewhere: Path) -> None:
    dice = random.Random(SEED)
    path = make_file(tmp_path)
    new_ledger(path)
    folder = tmp_path / "session"
    folder.mkdir()
    file = {"path": str(path), "reading": {}}
    ended: list[str] = []

    async def run(template: Template) -> None:
        worker = Worker(folder, template=template)

        async def carried_out(task: str, given: dict[str, Any]) -> str:
            return without_paths(await worker.run(task, given, lambda _: None, file=file))

        async def whole() -> tuple[dict[str, str], dict[str, float]]:
            answers, seconds = {}, {}
            for task, given in asked(path, folder):
                start = time.monotonic()
                answers[task], seconds[task] = await carried_out(task, given), time.monotonic() - start
            return answers, seconds

        await whole()  # what is compiled once is compiled now
        answers, seconds = await whole()
        for _ in range(KILLS):
            worker.cancel()  # a fresh one, which opens the file first
            await worker.warm()
            task, given = dice.choice(asked(path, folder))
            new_ledger(path)
            under_way = asyncio.create_task(carried_out(task, given))
            await asyncio.sleep(dice.uniform(0, 1.5 * seconds[task]))
            if worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL)
            try:
                assert await under_way == answers[task]
            except TaskError as error:
                ended.append(str(error))
            assert remembered(path) in (0, 1)
            assert await carried_out(task, given) == answers[task]
            assert holding(elsewhere) == []
            assert remembered(path) == (task == "taking_away.prepare")
        assert not list(folder.rglob("*.part"))
        worker.close()
        await asyncio.sleep(0)  # its line is let go

    with contextlib.closing(Template()) as template:
        asyncio.run(run(template))
    assert all("ended by itself" in text for text in ended)
    assert holding(elsewhere) == []


def served(state: str, path: str) -> None:
    """What a server does for a tab that goes through the pages; says when each task begins."""

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    async def run() -> None:
        folders = Folders(Path(state))
        seats = Seats(folders, Autosave(folders.state), Work(), template=template)
        seat = seats.take("", reloaded=False)
        copy = seat.folder / "files" / Path(path).name  # as an upload lies
        copy.parent.mkdir()
        copy.write_bytes(Path(path).read_bytes())
        steps = tuple(Step(one["method"], one["arguments"]) for one in STEPS)
        seat.change(path=str(copy), name=copy.name, scenario=SCENARIO, steps=steps)
        for task, given in asked(copy, seat.folder):
            say(str(seat.worker.pid))
            await seat.worker.run(task, given, lambda _: None, file={"path": str(copy), "reading": {}})
            seat.change(steps=steps[: len(steps) - 1] if seat.work.steps == steps else steps)
        say("end")
        await asyncio.sleep(600)

    with contextlib.closing(Template()) as template:
        asyncio.run(run())


def test_the_next_start_after_a_killed_server_offers_the_work_and_removes_the_rest(
    tmp_path: Path, elsewhere: Path
) -> None:
    dice = random.Random(SEED)
    path, state = make_file(tmp_path), tmp_path / "state"
    new_ledger(path)
    code = "import sys; from app.test_killed import served; served(*sys.argv[1:])"
    for _ in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(state), str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": here()},
        ) as server:
            assert server.stdout is not None
            for _ in range(dice.randint(1, len(asked(path, state)))):
                worker = server.stdout.readline().strip()
            time.sleep(dice.uniform(0, 0.5))
            server.kill()
            rest = server.stdout.read().split()
        workers = [int(one) for one in (worker, *rest) if one.isdecimal()]
        assert eventually(lambda: not [one for one in workers if _lives(one)])  # noqa: B023
        folders = Folders(state)
        assert {one.name for one in state.iterdir()} == {SAVED_NAME, folders.own.name}
        offered = Autosave(folders.state).found
        assert offered is not None
        taken = Work().taken_up(offered)
        assert (taken.name, taken.scenario) == (path.name, SCENARIO)
        assert len(taken.steps) in (len(STEPS), len(STEPS) - 1)
        folders.close()
        assert remembered(path) in (0, 1)  # of several it is the same release, known by its bytes
        assert holding(state) == holding(elsewhere) == holding(tmp_path / "ledger.folder") == []
        assert {one.name for one in tmp_path.glob("[!l]*")} == {"elsewhere", path.name, "state"}


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
