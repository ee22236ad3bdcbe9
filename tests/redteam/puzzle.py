"""An intruder's sheet of paper: whole numbers, what is known of each and between them, and a solver for the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, milp

from programmes import SECONDS, SMALL, Programme

ENOUGH = 3
LARGE = 1e5
LOOKS = 6
OUT_OF_TIME = "out of time"


class ContradictionError(Exception):
    """The figures of the document cannot all be true."""


@dataclass
class Puzzle:
    """Unknown numbers with their intervals, and linear relations between them."""

    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    rows: list[tuple[dict[str, float], float, float]] = field(default_factory=list)
    watched: dict[str, str] = field(default_factory=dict)

    def know(self, name: str, low: float = 0.0, high: float = math.inf, *, whole: bool = True) -> str:
        """A number, and what is known of it; what was known before stays known."""
        before = self.spans.get(name, (0.0, math.inf))
        self.spans[name] = (max(before[0], low), min(before[1], high))
        if not whole:
            self.broken.add(name)
        return name

    def say(self, terms: Mapping[str, float], low: float = 0.0, high: float = 0.0) -> None:
        """Low <= the weighted sum <= high."""
        self.rows.append((dict(terms), low, high))

    def same(self, one: str, other: str) -> None:
        """Two names of a number."""
        if one != other:
            self.say({one: 1.0, other: -1.0})

    def within(self, part: str, whole: str, *, why: str = "") -> None:
        """A part of a whole; with a reason what lies between is a count of people, too."""
        if part == whole:
            return
        self.say({whole: 1.0, part: -1.0}, high=math.inf)
        if why:
            self.difference(whole, part, why)

    def difference(self, whole: str, part: str, why: str) -> str:
        """What a whole has more than its part, watched."""
        name = self.know(f"{whole} less {part}")
        self.say({whole: 1.0, part: -1.0, name: -1.0})
        self.watched.setdefault(name, why)
        return name

    def watch(self, name: str, why: str) -> None:
        """Nobody may know this number well while it is small."""
        self.watched.setdefault(name, why)


class Solver(Programme):
    """Integer programmes over a puzzle."""

    def __init__(self, puzzle: Puzzle) -> None:
        names, (low, high) = list(puzzle.spans), np.array([*puzzle.spans.values()]).T
        high = np.minimum(high, LARGE)
        if (low > high).any():
            raise ContradictionError([name for name, bad in zip(names, low > high, strict=True) if bad])
        rows = [(terms.items(), least, most) for terms, least, most in puzzle.rows]
        super().__init__(names, low, high, [name not in puzzle.broken for name in names], rows)
        self.runs = 0
        self.seen: dict[str, set[int]] = {name: set() for name in puzzle.watched}

    def is_above_zero(self, name: str) -> bool:
        return any(self.seen[name])

    def solve(
        self, goal: Mapping[str, float], fixed: Mapping[str, int] | None = None, *, gap: float = 1e-4
    ) -> dict[str, int]:
        """A file that the document allows, its goal the smallest or within a gap of it; empty where there is none."""
        low, high = self.low.copy(), self.high.copy()
        for name, value in (fixed or {}).items():
            low[self.place[name]] = high[self.place[name]] = value
        self.runs += 1
        answer = milp(
            self.goal(goal), integrality=self.whole, bounds=Bounds(low, high), constraints=self.constraint,
            options={**SECONDS, "mip_rel_gap": gap},
        )  # fmt: skip
        if answer.status == 1:  # out of time: nothing is known
            return {OUT_OF_TIME: 0}
        if answer.x is None:
            return {}
        found = {name: round(value) for name, value in zip(self.names, answer.x, strict=True)}
        for name, values in self.seen.items():
            values.add(found[name])
        return found

    def look_around(self) -> None:
        """Solve for everything at once, up and down: most numbers show three values without a run of their own."""
        if not self.solve({}):
            raise ContradictionError("no file gives this document")
        names = sorted(self.seen)
        for turn in range(1, LOOKS + 1):
            sign = 1.0 if turn % 2 else -1.0
            goal = {name: math.cos(place * turn * 0.7) + 0.5 * sign for place, name in enumerate(names)}
            self.solve(goal, gap=1.0)  # any file will do: the goal is there for another one each time

    def known_too_well(self, name: str) -> set[int] | None:
        """All values a number can have, where they are fewer than three and one is 1 to 4."""
        seen = self.seen[name]
        if len(seen) >= ENOUGH or self.never_small(name):
            return None
        least = self.solve({name: 1.0})
        if OUT_OF_TIME in least or least[name] >= SMALL or len(seen) >= ENOUGH:
            return None
        most = self.solve({name: -1.0})
        if OUT_OF_TIME in most:
            return None
        for value in range(least[name] + 1, min(most[name], least[name] + 40)):
            if len(seen) >= ENOUGH:
                return None
            if value not in seen and self.solve({}, {name: value}):
                seen.add(value)
        return seen if len(seen) < ENOUGH and any(0 < value < SMALL for value in seen) else None


def given_away(puzzle: Puzzle, *, first: bool = False) -> dict[str, set[int]]:
    """Every watched number that is known too well, with the values left; only one of them with `first`."""
    solver = Solver(puzzle)
    solver.look_around()
    found: dict[str, set[int]] = {}
    for name in _narrowest_first(solver, puzzle.watched):
        values = solver.known_too_well(name)
        if values is not None:
            found[name] = values
            if first:
                break
    return found


def _narrowest_first(solver: Solver, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (len(solver.seen[name]), name))
