"""Who sits where: a tab keeps its seat over a reload, a copy of it gets another, and nothing stays of who left."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sdckit.app.autosave import Autosave
from sdckit.app.folders import Folders
from sdckit.app.seats import Seats
from sdckit.app.work import Step, Work


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
    assert seat.history.before == []  # another file: what was decided for the first one is gone
