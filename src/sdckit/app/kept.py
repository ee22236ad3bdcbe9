"""What a task gave, shown only as the session shows figures now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from shiny import reactive

from sdckit.app.room import Room

One = TypeVar("One")


class Kept(Generic[One]):
    """A value of a task; `empty` stands for it once the session is switched to other figures or another language.

    A result that comes after the switch is none either: exact figures never stay on a screen of protected ones.
    """

    def __init__(self, room: Room, empty: One) -> None:
        self._room, self._empty = room, empty
        self._held: reactive.Value[tuple[tuple[bool, str], One]] = reactive.Value((self._now(), empty))

    def _now(self) -> tuple[bool, str]:
        with reactive.isolate():
            work = self._room.work.get()
        return work.exact, work.language

    def taker(self, make: Callable[[dict[str, Any]], Any] = dict) -> Callable[[dict[str, Any]], None]:
        """What takes the result of a task that is started now."""
        asked = self._now()

        def take(told: dict[str, Any]) -> None:
            self._held.set((asked, make(told)))

        return take

    def set(self, value: One) -> None:
        """Hold a value as the session is now."""
        self._held.set((self._now(), value))

    def held(self) -> One:
        """The value however the session shows figures now: to work with, not to show; reactive."""
        return self._held.get()[1]

    def get(self) -> One:
        """The value; reactive."""
        asked, value = self._held.get()
        work = self._room.work.get()
        return value if asked == (work.exact, work.language) else self._empty
