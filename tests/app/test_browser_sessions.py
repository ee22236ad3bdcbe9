"""Who sits where: a tab keeps its seat over a reload, a copy of it gets another, and nothing stays of who left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.browsing import eventually
from app.toys import TOYS
from sdckit.app.browser_sessions import (
    AUTOMATIC,
    DEEPEST,
    SAVED_NAME as NAME,
    Autosave,
    Folders,
    History,
    Seats,
    Step,
    TaskAsideError,
    TaskCancelledError,
    TaskError,
    Work,
    Worker,
    state_folder,
    with_version,
)


@pytest.fixture
def seats(tmp_path: Path) -> Seats:
    folders = Folders(tmp_path)
    return Seats(folders, Autosave(folders.state), Work(path="/data/a.csv"))


def test_every_newcomer_has_a_seat_a_folder_and_a_secret(seats: Seats) -> None:
    first, second = seats.take("", reloaded=False), seats.take("x" * 32, reloaded=True)
    assert first.name != second.name
    assert first.folder != second.folder
    assert first.work.secret != second.work.secret
    assert len(bytes.fromhex(first.work.secret)) == 32
    assert first.work.path == "/data/a.csv"
    assert len(seats) == 2
    seats.close()
    assert len(seats) == 0
    assert not first.folder.exists()


def test_a_reload_sits_down_again_and_a_copy_does_not(seats: Seats) -> None:
    async def run() -> None:
        seat = seats.take("", reloaded=False)
        assert seats.take(seat.name, reloaded=False) is not seat  # a copy, while the first sits there
        seats.leave(seat, grace=0.05)
        assert seats.take(seat.name, reloaded=False) is seat  # the page was closed and opened again
        await asyncio.sleep(0.1)
        assert seat.folder.is_dir()
        assert seats.take(seat.name, reloaded=True) is seat  # reloaded before its end was noticed
        seats.leave(seat, grace=0.01)
        await asyncio.sleep(0.05)
        assert not seat.folder.exists()
        assert seats.take(seat.name, reloaded=True) is not seat

    asyncio.run(run())


def test_decisions_are_kept_for_undo_and_for_the_next_start(seats: Seats, tmp_path: Path) -> None:
    seat = seats.take("", reloaded=False)
    seen: list[int] = []
    seat.changed = lambda: seen.append(len(seat.work.steps))
    seat.change(language="de")
    assert seat.history.before == []
    seat.change(scenario={"keys": ["sex"]}, steps=(Step("round_values"),))
    seat.change(steps=())
    seat.undo()
    assert len(seat.work.steps) == 1
    seat.redo()
    assert seat.work.steps == ()
    assert seen == [0, 1, 0, 1, 0]
    found = Autosave(tmp_path).found
    assert found is not None
    assert (found["scenario"], found["steps"]) == ({"keys": ["sex"]}, [])
    seat.change(path="/data/b.csv", scenario={"keys": ["age"]})
    assert seat.history.before == []  # another file: undo leads back to nothing of the first one


def test_the_same_roles_change_nothing_and_another_file_leaves_the_recipe(seats: Seats, tmp_path: Path) -> None:
    seat = seats.take("", reloaded=False)
    seat.change(scenario={"keys": ["sex", "age"]}, steps=(Step("round_values"),))
    before = seat.work.digest(), len(seat.history.before)
    seat.change(scenario={"keys": ["age", "sex"]})
    assert (seat.work.digest(), len(seat.history.before)) == before
    seat.change(path="/data/b.csv", scenario=None, steps=())
    (version,) = seat.work.versions
    assert version["why"] == "before another file was opened"
    assert (version["scenario"], version["steps"][0]["method"]) == ({"keys": ["sex", "age"]}, "round_values")
    seat.change(exact=True)
    found = Autosave(tmp_path).found  # the next start has it, too
    assert found is not None
    assert Work().taken_up(found).versions == seat.work.versions


def test_versions_of_a_name_stay_and_automatic_ones_are_bounded() -> None:
    work = with_version(Work(steps=(Step("round_values"),)), name="mine")
    for number in range(AUTOMATIC + 5):
        work = with_version(replace(work, steps=(Step("round_values", {"base": number}),)), why="before a proposal")
    assert len(work.versions) == AUTOMATIC + 1
    assert work.versions[0]["name"] == "mine"
    assert work.versions[-1]["steps"][0]["arguments"] == {"base": AUTOMATIC + 4}


def test_work_waits_for_whoever_comes_and_its_worker_rests(seats: Seats) -> None:
    async def run() -> None:
        seat, empty = seats.take("", reloaded=False), seats.take("", reloaded=False)
        seat.change(path="/data/b.csv", name="b.csv")
        seat.verdict = "a verdict"
        rested: list[bool] = []
        seat.worker.rest = lambda: bool(rested) or rested.append(True)  # type: ignore[assignment, func-returns-value]
        assert seats.waiting() == []
        for one in (seat, empty):
            seats.leave(one, grace=0.01)
        assert seats.waiting() == [seat]  # nothing is lost with the other
        await asyncio.sleep(0.1)
        assert rested == [True]  # busy the first time
        assert (seat.folder.is_dir(), empty.folder.exists(), seats.in_use()) == (True, False, True)
        before, name = seat.name, seats.hand_over(seat)
        assert seats.take(before, reloaded=True) is not seat
        assert seats.take(name, reloaded=True) is seat
        assert (seat.verdict, seats.waiting()) == ("a verdict", [])
        seats.close()
        assert not seats.in_use()

    asyncio.run(run())


def test_a_later_start_says_what_the_next_new_tab_has(seats: Seats) -> None:
    seats.expect(Work(path="/data/other.csv", name="other.csv", scenario={"keys": ["sex"]}))
    first, second = seats.take("", reloaded=False), seats.take("", reloaded=False)
    assert (first.work.path, second.work.path) == ("/data/other.csv", "/data/a.csv")
    assert not first.has_work()


def test_a_worker_rests_only_where_it_does_nothing(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        await worker.warm()
        first, told = worker.pid, asyncio.Event()
        task = asyncio.create_task(worker.run("toys.begin", {}, lambda _: told.set(), file=NO_FILE))
        await told.wait()
        assert not worker.rest()
        assert worker.pid == first
        worker.cancel()
        with pytest.raises(TaskCancelledError):
            await task
        await worker.warm()
        first = worker.pid
        assert worker.rest()
        assert worker.pid is None
        while not gone(first or 0):
            await asyncio.sleep(0.01)
        assert (await worker.run("toys.echo", {}, lambda _: None, file=NO_FILE))["notes"] == []

    within(tmp_path, run)


# What is kept between two starts: scenario and recipe, for their owner only.


WORK = Work(
    path="/data/survey.csv", name="survey.csv", scenario={"keys": ["sex"]},
    steps=(Step("round_values", {"base": 10}, False),), secret="5ec4e7", facts={"records": 5, "example": "a value"},
    release={"path": "x"}, control="/data/control.csv",
)  # fmt: skip


def test_the_next_start_finds_scenario_and_recipe_and_nothing_else(tmp_path: Path) -> None:
    kept = Autosave(tmp_path)
    assert kept.found is None
    kept.keep(WORK)
    path = tmp_path / NAME
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert not [one for one in ("5ec4e7", "/data", "a value", "facts", "release") if one in text]
    found = Autosave(tmp_path).found
    assert found is not None
    taken = Work(language="de").taken_up(found)
    assert (taken.scenario, taken.steps, taken.path, taken.language) == (WORK.scenario, WORK.steps, "", "de")
    assert [one.name for one in tmp_path.iterdir()] == [NAME]


def test_an_empty_session_leaves_what_is_there(tmp_path: Path) -> None:
    kept = Autosave(tmp_path)
    kept.keep(WORK)
    kept.keep(Work(name="other.csv"))
    again = Autosave(tmp_path)
    assert again.found is not None
    assert again.found["name"] == "survey.csv"
    again.forget()
    assert again.found is None
    assert Autosave(tmp_path).found is None
    again.forget()


FOREIGN = [
    "", "{", "[]", "null", '{"scenario": {}}', '{"scenario": {}, "steps": [1]}', '{"scenario": {}, "steps": []}',
    '{"scenario": {"keys": ["sex"], "hierarchies": ["sex"]}, "steps": []}',
    '{"scenario": {"keys": ["sex"]}, "steps": [], "versions": null}',
]  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN, ids=range(len(FOREIGN)))
def test_a_file_that_is_not_ours_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert Autosave(tmp_path).found is None


def test_a_folder_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    Autosave(tmp_path / "nowhere").keep(WORK)
    assert not (tmp_path / "nowhere").exists()


# Folders that only their owner may enter, and that are gone at the end, whoever ends the program.


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_session_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "a" / "state")
    first, second = folders.make(), folders.make()
    assert first != second
    assert {mode(one) for one in (folders.state, folders.own, folders.uploads, first, second)} == {0o700}
    (first / "data.csv").write_text("x")
    folders.remove(first)
    assert not first.exists()
    assert second.is_dir()
    folders.close()
    assert not folders.own.exists()
    assert folders.state.is_dir()


def test_an_open_folder_is_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert mode(Folders(tmp_path).state) == 0o700


def test_the_next_start_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from sdckit.app.browser_sessions import Folders\n"
        "made = Folders(Path(sys.argv[1])).make(); (made / 'data.csv').write_text('x'); os._exit(9)"
    )
    running = Folders(tmp_path)
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    kept = running.make()
    (tmp_path / "last-work.json").write_text("{}")
    assert len(list(tmp_path.glob("server-*"))) == 2
    second = Folders(tmp_path)
    assert set(tmp_path.glob("server-*")) == {running.own, second.own}
    assert kept.is_dir()
    assert (tmp_path / "last-work.json").exists()
    running.close()
    second.close()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SDCKIT_APP_STATE", str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv("SDCKIT_APP_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("sdckit.operating_system.SYSTEM", "linux")
    assert state_folder() == tmp_path / "state" / "sdckit" / "app"
    for platform in ("win32", "darwin"):
        monkeypatch.setattr("sdckit.operating_system.SYSTEM", platform)
        assert state_folder().parts[-2:] == ("sdckit", "app")


# What a session decided, and what undo takes back.


ONE, TWO = Step("round_values", {"base": 5}), Step("microaggregate", {"k": 3}, on=False)


def test_a_step_that_is_off_stands_in_the_list_and_not_in_the_recipe() -> None:
    work = Work(steps=(ONE, TWO))
    assert work.recipe() == [{"method": "round_values", "arguments": {"base": 5}}]
    assert [one["on"] for one in work.saved()["steps"]] == [True, False]


def test_the_digest_follows_file_scenario_and_recipe_alone() -> None:
    work = Work(path="a", reading={"missing": ["9"]}, scenario={"keys": ["sex"]}, steps=(ONE, TWO))
    same = [
        replace(work, language="de"),
        replace(work, exact=True),
        replace(work, facts={}),
        replace(work, control="c"),
    ]
    same += [replace(work, steps=(ONE,)), replace(work, secret="5")]
    assert {one.digest() for one in same} == {work.digest()}
    others = [
        replace(work, path="b"), replace(work, reading={}), replace(work, scenario=None), replace(work, steps=()),
        replace(work, steps=(ONE, replace(TWO, on=True))), replace(work, steps=(replace(ONE, arguments={}),)),
    ]  # fmt: skip
    assert len({one.digest() for one in [*others, work]}) == len(others) + 1


def test_undo_and_redo_walk_through_decisions() -> None:
    history = History()
    states = [Work(steps=(ONE,) * count, scenario={"k": count}, language="de") for count in range(4)]
    for one in states[:-1]:
        history.keep(one)
    now = states[-1]
    back = []
    for _ in range(5):
        now = history.undo(replace(now, exact=True))
        back.append(len(now.steps))
    assert back == [2, 1, 0, 0, 0]
    assert now.exact
    assert now.scenario == {"k": 0}
    forth = []
    for _ in range(4):
        now = history.redo(now)
        forth.append(len(now.steps))
    assert forth == [1, 2, 3, 3]
    now = history.undo(now)
    history.keep(now)
    assert history.redo(now) == now
    history.clear()
    assert history.undo(now) == now


def test_history_is_bounded() -> None:
    history = History()
    for count in range(DEEPEST + 50):
        history.keep(Work(scenario={"k": count}))
    assert len(history.before) == DEEPEST
    assert history.before[0]["scenario"] == {"k": 50}


def test_the_secret_is_not_shown() -> None:
    assert "5ec4e7" not in repr(Work(secret="5ec4e7"))


# The two sides of the worker: what is told, what is refused, and that nothing outlives a cancel or the
# server.


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


def test_a_task_steps_aside_and_its_process_takes_the_next(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        worker.step_aside()  # nothing runs
        told: list[str] = []
        begun = asyncio.ensure_future(worker.run("toys.wait", {}, told.append, file=NO_FILE))
        while not told:
            await asyncio.sleep(0.01)
        first = worker.pid
        worker.step_aside()
        with pytest.raises(TaskAsideError):
            await begun
        worker.step_aside()  # too late: it says nothing to the next one
        result = await worker.run("toys.echo", {"n": 5}, told.append, file=NO_FILE)
        assert result["given"] == {"n": 5}
        assert worker.pid == first

    within(tmp_path, run)


def test_a_task_whose_process_is_just_starting_steps_aside(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        begun = asyncio.ensure_future(worker.run("toys.wait", {}, lambda _: None, file=NO_FILE))
        await asyncio.sleep(0)
        assert worker.pid is None
        worker.step_aside()
        with pytest.raises(TaskAsideError):
            await asyncio.wait_for(begun, 60)
        result = await worker.run("toys.echo", {"n": 5}, lambda _: None, file=NO_FILE)
        assert result["given"] == {"n": 5}

    within(tmp_path, run)


def test_cancel_ends_the_process_with_its_children_and_the_next_task_starts_another(tmp_path: Path) -> None:
    async def run(worker: Worker) -> None:
        await worker.warm()
        first = worker.pid
        child: list[int] = []
        task = asyncio.create_task(
            worker.run("toys.begin", {"exact": True}, lambda text: child.append(int(text)), file=NO_FILE)
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
    begin = b'{"task": "toys.begin", "arguments": {"exact": true}, "file": {}}\n'
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
