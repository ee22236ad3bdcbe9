"""The seats of the server: one per tab of a browser, with what it decided, its folder and its worker.

A tab keeps the name of its seat; who reloads within the grace sits down again. Nobody else knows the name.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sdckit.app.autosave import Autosave
from sdckit.app.folders import Folders
from sdckit.app.work import DECIDED, History, Work
from sdckit.app.worker import Worker

WARM = 1.0  # seconds that a page takes to be there; then its worker is started ahead
GRACE = 600.0  # seconds in which a reload takes up the same work
NAME = re.compile(r"[0-9a-f]{32}")


def _nothing() -> None:
    """Nobody is there to be told."""


@dataclass
class Seat:
    """What one tab has: it outlives a reload of the page."""

    name: str
    folder: Path
    worker: Worker
    autosave: Autosave
    work: Work
    history: History = field(default_factory=History)
    verdict: str = ""
    taken: bool = True
    changed: Callable[[], None] = _nothing
    warm: float = WARM
    jobs: Any = None  # set by the first room

    def change(self, **fields: Any) -> None:
        """Change what was decided; what undo takes back is remembered, and saved."""
        before, self.work = self.work, replace(self.work, **fields)
        if before.path and before.path != self.work.path:
            self.history.clear()
        elif _decisions(before) != _decisions(self.work):
            self.history.keep(before)
        self._show(before)

    def undo(self) -> None:
        """Take back the last decision."""
        before, self.work = self.work, self.history.undo(self.work)
        self._show(before)

    def redo(self) -> None:
        """Do again what was taken back."""
        before, self.work = self.work, self.history.redo(self.work)
        self._show(before)

    def _show(self, before: Work) -> None:
        if before.saved() != self.work.saved():
            self.autosave.keep(self.work)
        self.changed()


class Seats:
    """All seats of a server.

    Parameters
    ----------
    folders
        Where their folders are made.
    autosave
        What keeps scenario and recipe.
    first
        What every new seat starts with.
    warm
        Seconds after which a worker is started ahead.
    """

    def __init__(self, folders: Folders, autosave: Autosave, first: Work, *, warm: float = WARM) -> None:
        self._warm = warm
        self._folders, self._autosave, self._first = folders, autosave, first
        self._seats: dict[str, Seat] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}

    def take(self, name: str, *, reloaded: bool) -> Seat:
        """The seat of that name, or a new one.

        A copy of a tab knows the name, too: while the first sits there, only who just left the page is let in.
        """
        seat = self._seats.get(name) if NAME.fullmatch(name) else None
        if seat is None or (seat.taken and not reloaded):
            return self._new()
        if leaving := self._leaving.pop(name, None):
            leaving.cancel()
        seat.taken = True
        return seat

    def leave(self, seat: Seat, *, grace: float = GRACE) -> None:
        """Nobody sits there; after the grace all of it goes."""
        seat.taken, seat.changed = False, _nothing
        loop = asyncio.get_running_loop()
        self._leaving[seat.name] = loop.call_later(grace, self.end, seat)

    def end(self, seat: Seat) -> None:
        """Remove a seat with its worker and its folder."""
        self._leaving.pop(seat.name, None)
        self._seats.pop(seat.name, None)
        seat.worker.close()
        self._folders.remove(seat.folder)

    def close(self) -> None:
        """Remove all, as the server stops."""
        for seat in list(self._seats.values()):
            self.end(seat)

    def __len__(self) -> int:
        return len(self._seats)

    def _new(self) -> Seat:
        name = secrets.token_hex(16)
        folder = self._folders.make()
        work = replace(self._first, secret=secrets.token_hex(32))
        seat = Seat(name, folder, Worker(folder), self._autosave, work, warm=self._warm)
        self._seats[name] = seat
        return seat


def _decisions(work: Work) -> list[Any]:
    return [getattr(work, name) for name in DECIDED]
