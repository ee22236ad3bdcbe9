"""What a page has of its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shiny import reactive

from app.toys import toy_seat
from sdckit.app.room import Room
from sdckit.app.seats import Seat
from sdckit.app.work import Step


def within(tmp_path: Path, run: Callable[[Seat, Room], Any]) -> None:
    """Run with a seat and its room, in a loop and outside of any reactive context."""

    async def whole() -> None:
        seat = toy_seat(tmp_path, language="de")
        with reactive.isolate():
            made = run(seat, Room(seat, limit=5))
            if made is not None:
                await made
        seat.worker.close()
        await asyncio.sleep(0.1)

    asyncio.run(whole())


def test_changes_are_seen_undone_and_done_again(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        assert not room.can_undo
        room.change(steps=(Step("round_values"),))
        assert room.work.get() is seat.work
        assert room.can_undo
        room.undo()
        assert room.work.get().steps == ()
        assert room.can_redo
        room.redo()
        assert len(room.work.get().steps) == 1
        assert room.folder == seat.folder
        assert room.limit == 5

    within(tmp_path, run)


def test_whoever_comes_after_a_reload_takes_the_seat_over(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        seat.verdict = "<p>kept</p>"
        later = Room(seat, limit=5)
        assert later.here()
        assert not room.here()
        room.change(control="c.csv")  # a result that comes late
        assert later.work.get().control == "c.csv"
        assert later.verdict.get() == "<p>kept</p>"

    within(tmp_path, run)


def test_a_task_gives_its_verdict_to_the_bar_and_its_result_to_the_page(tmp_path: Path) -> None:
    async def run(seat: Seat, room: Room) -> None:
        found: list[Any] = []
        room.start("toys.echo", found.append, label="Lesen", n=3)
        assert room.shown.get().label == "Lesen"
        while room.shown.get().label:
            await asyncio.sleep(0.01)
        assert found[0]["given"] == {"n": 3}

    within(tmp_path, run)


def test_texts_are_in_the_language_of_the_session(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        assert room.say("Cancel") == "Abbrechen"
        room.alert("nothing there")
        assert room.shown.get().error == "nothing there"
        room.go("risk")
        assert room.page.get() == "risk"
        room.cancel()

    within(tmp_path, run)
