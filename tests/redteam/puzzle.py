"""An intruder's sheet of paper: whole numbers, what is known of each and between them, and a solver for the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

SMALL = 5
ENOUGH = 3
LARGE = 1e5
LOOKS = 6
SLACK = 1e-6  # of a solver, which works in binary fractions
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


@dataclass
class Solver:
    """Integer programmes over a puzzle."""

    puzzle: Puzzle
    runs: int = 0

    def __post_init__(self) -> None:
        spans = self.puzzle.spans
        self.names = list(spans)
        self.place = {name: number for number, name in enumerate(self.names)}
        self.low = np.array([low for low, _ in spans.values()])
        self.high = np.array([min(high, LARGE) for _, high in spans.values()])
        if (self.low > self.high).any():
            raise ContradictionError([n for n, bad in zip(self.names, self.low > self.high, strict=True) if bad])
        self.whole = np.array([name not in self.puzzle.broken for name in self.names]).astype(int)
        entries = [
            (number, self.place[name], factor)
            for number, (terms, _, _) in enumerate(self.puzzle.rows)
            for name, factor in terms.items()
        ]
        at_row, at_column, factors = zip(*entries, strict=True)
        matrix = csr_array((factors, (at_row, at_column)), shape=(len(self.puzzle.rows), len(self.names)))
        self.constraint = LinearConstraint(
            matrix, [row[1] for row in self.puzzle.rows], [row[2] for row in self.puzzle.rows]
        )
        self.seen: dict[str, set[int]] = {name: set() for name in self.puzzle.watched}

    def solve(
        self, goal: Mapping[str, float], fixed: Mapping[str, int] | None = None, *, gap: float = 1e-4
    ) -> dict[str, int]:
        """A file that the document allows, its goal the smallest or within a gap of it; empty where there is none."""
        low, high = self.low.copy(), self.high.copy()
        for name, value in (fixed or {}).items():
            low[self.place[name]] = high[self.place[name]] = value
        weights: NDArray[np.float64] = np.zeros(len(self.names))
        for name, factor in goal.items():
            weights[self.place[name]] = factor
        self.runs += 1
        answer = milp(
            weights, integrality=self.whole, bounds=Bounds(low, high), constraints=self.constraint,
            options={"time_limit": 20.0, "mip_rel_gap": gap},
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

    def farthest(self, name: str, sign: float) -> float:
        """How small (1) or large (-1) a number can be if the others may be broken: no whole numbers go beyond it."""
        weights: NDArray[np.float64] = np.zeros(len(self.names))
        weights[self.place[name]] = sign
        answer = milp(
            weights, bounds=Bounds(self.low, self.high), constraints=self.constraint, options={"time_limit": 20.0}
        )
        return sign * (answer.fun if answer.status == 0 else -math.inf)

    def never_small(self, name: str) -> bool:
        """Whether a number is 0, or 5 and more, in every file: a linear programme often says so, and soon."""
        if not self.whole[self.place[name]]:
            return False
        return self.farthest(name, 1.0) > SMALL - 1 + SLACK or (
            self.seen[name] == {0} and self.farthest(name, -1.0) < 1 - SLACK
        )

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
