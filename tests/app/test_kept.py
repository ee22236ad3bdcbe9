"""Exact figures never stay on a screen of protected ones, nor come late to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shiny import reactive

from sdckit.app.kept import Kept
from sdckit.app.work import Work


class Room:
    """What a kept value asks of a room."""

    def __init__(self) -> None:
        self.work = reactive.Value(Work(exact=True))

    def switch(self, **fields: Any) -> None:
        """Change how figures are shown."""
        self.work.set(replace(self.work.get(), **fields))


def test_a_value_is_gone_with_the_switch_and_there_again_with_it() -> None:
    with reactive.isolate():
        room: Any = Room()
        kept: Kept[dict[str, Any]] = Kept(room, {})
        kept.taker()({"n": 1})
        assert kept.get() == {"n": 1}
        room.switch(exact=False)
        assert kept.get() == {}
        kept.set({"n": 2})
        assert kept.get() == {"n": 2}
        room.switch(language="de")
        assert kept.get() == {}


def test_a_result_that_comes_after_the_switch_is_none() -> None:
    with reactive.isolate():
        room: Any = Room()
        kept: Kept[str] = Kept(room, "")
        late = kept.taker(lambda told: str(told["html"]))
        room.switch(exact=False)
        late({"html": "exact"})
        assert kept.get() == ""
