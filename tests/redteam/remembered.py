"""A reader of printed figures with a memory: asked the same after the same, it does not work the answer out again.

How coarsely a figure is printed depends on nothing but what is printed already, so files that print alike ask the same
questions in the same order, thousands of times in a replay.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest.mock import patch

from sdckit.report.gate import choose_rounding
from sdckit.report.gate.choose_rounding import Known


@dataclass
class Moment:
    """What was answered at one moment; and the next moment after each call that changes what is known or found."""

    answers: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    after: dict[tuple[Any, ...], Moment] = field(default_factory=dict)


class Remembering:
    """Does as a `Known`, which is called only where nobody called the same after the same calls.

    The calls that were answered from memory are made up for before the first one that was not: what a search finds
    depends on what was found before.
    """

    def __init__(self, begun: Known, moment: Moment) -> None:
        self._begun, self._moment = begun, moment
        self._known: Known | None = None
        self._to_make_up: list[tuple[Any, ...]] = []
        self.names, self.stands_for = begun.names, begun.stands_for

    def branch(self) -> Remembering:
        """Knowledge for one document more: all of them begin at the first moment."""
        return Remembering(self._begun, self._moment)

    def interval(self, name: str) -> Any:
        return self._answer("interval", name)

    def stays_safe(self, name: str, *intervals: Any) -> Any:
        return self._go_on("stays_safe", name, *intervals)

    def given_away(self) -> Any:
        return self._go_on("given_away")

    def learn(self, name: str, interval: Any) -> None:
        self._go_on("learn", name, interval)

    def learn_stated(self, name: str, interval: Any) -> None:
        self._go_on("learn_stated", name, interval)

    def _go_on(self, *call: Any) -> Any:
        is_new = call not in self._moment.answers
        answer = self._answer(*call)
        if not is_new:
            self._to_make_up.append(call)
        self._moment = self._moment.after.setdefault(call, Moment())
        return answer

    def _answer(self, *call: Any) -> Any:
        if call not in self._moment.answers:
            if self._known is None:
                self._known = self._begun.branch()
            for name, *given in self._to_make_up:
                getattr(self._known, name)(*given)
            self._to_make_up.clear()
            self._moment.answers[call] = getattr(self._known, call[0])(*call[1:])
        return self._moment.answers[call]


@contextmanager
def remembering() -> Iterator[None]:
    """Documents that are written here share what was worked out for one of them."""
    begin = choose_rounding._begin.__wrapped__

    @cache
    def begun(*given: Any) -> Remembering:
        return Remembering(begin(*given), Moment())

    kept = choose_rounding._settled, choose_rounding._print_first
    try:
        for settled in kept:
            settled.cache_clear()
        with patch.object(choose_rounding, "_begin", begun):
            yield
    finally:
        for settled in kept:
            settled.cache_clear()
