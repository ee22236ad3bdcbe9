"""What anybody in the field knows of tables of cells: sizes, records, risks, and tables of fewer keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from programmes import SMALL
from redteam.puzzle import Puzzle

EDGES = (0.0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
CLASSES = {"1": (1, 1), "2-4": (2, 4), "5-9": (5, 9), "10-24": (10, 24), "25-49": (25, 49), "50-99": (50, 99)}


@cache
def risk(size: int, fraction: float) -> float:
    """Mean of 1/F where a cell of F people shows `size` of them in a sample of this fraction."""
    if fraction >= 1:
        return 1.0 / size
    most = int(size / fraction + 60 * math.sqrt(size) / fraction + 60 / fraction)
    people = np.arange(size, most, dtype=float)
    chance = gammaln(people) - gammaln(size) - gammaln(people - size + 1)
    chance += size * math.log(fraction) + (people - size) * math.log1p(-fraction)
    return float((np.exp(chance) / people).sum())


def largest(limit: float, fraction: float, n: int, *, strictly: bool = False) -> int:
    """The largest cell whose records have at least (strictly: more than) a risk."""
    sizes = [
        s
        for s in range(1, n + 1)
        if (risk(s, fraction) > limit + 1e-12 if strictly else risk(s, fraction) >= limit - 1e-12)
    ]
    return max(sizes, default=0)


@dataclass
class Tables:
    """The tables of every set of keys that a document speaks of, a missing value being a value of its own."""

    puzzle: Puzzle
    n: int
    ends: Iterable[int] = ()
    made: dict[frozenset[str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = {*range(1, 6), 9, 24, 49, 99, *self.ends}
        starts = [1, *(end + 1 for end in sorted(ends) if end < self.n)]
        self.parts = [*((low, after - 1) for low, after in pairwise(starts)), (starts[-1], self.n)]

    def table(self, keys: Iterable[str], *, watched: bool = False) -> str:
        """The table of these keys; a label of a coarser key makes a table of its own."""
        chosen = frozenset(keys)
        if chosen not in self.made:
            self.made[chosen] = self._make("&".join(sorted(chosen)))
        name = self.made[chosen]
        if watched:
            for size in range(1, SMALL):
                self.puzzle.watch(self.cells(name, (size, size)), "cells of one size")
        return name

    def cells(self, name: str, part: tuple[int, int]) -> str:
        """How many cells of a table have this size."""
        return f"{name}: cells of {part[0]}-{part[1]}"

    def _make(self, name: str) -> str:
        for part in self.parts:
            low, high = part
            cells = self.puzzle.know(self.cells(name, part), 0, self.n // low)
            if low < high:
                records = self.puzzle.know(f"{name}: records in {low}-{high}", 0, self.n)
                self.puzzle.say({records: 1.0, cells: -float(low)}, high=math.inf)
                self.puzzle.say({records: 1.0, cells: -float(high)}, low=-math.inf)
        self.puzzle.say(self.records(name, 1, self.n), self.n, self.n)
        return name

    def records(self, name: str, low: int, high: float) -> dict[str, float]:
        """The records in cells of these sizes."""
        return {
            (f"{name}: records in {a}-{b}" if a < b else self.cells(name, (a, b))): (1.0 if a < b else float(a))
            for a, b in self.parts
            if low <= a and b <= high
        }

    def numbers(self, name: str, low: int, high: float) -> dict[str, float]:
        """The cells of these sizes."""
        return {self.cells(name, part): 1.0 for part in self.parts if low <= part[0] and part[1] <= high}

    def is_sum(self, figure: str, terms: dict[str, float]) -> None:
        """A figure is a sum of others."""
        self.puzzle.say({figure: 1.0} | {name: -factor for name, factor in terms.items()})

    def expected(self, figure: str, name: str, fraction: float) -> None:
        """The sum of the risks: every cell adds its size times its risk, a cell of a census one."""
        lows, highs = {figure: 1.0}, {figure: 1.0}
        for low, high in self.parts:
            cell = self.cells(name, (low, high))
            ends = (low * risk(low, fraction), high * risk(high, fraction))
            lows[cell], highs[cell] = -min(ends), -max(ends)
        self.puzzle.say(lows, low=-1e-6, high=math.inf)
        self.puzzle.say(highs, low=-math.inf, high=1e-6)

    def weighted(self, figure: str, name: str, weights: Sequence[float]) -> None:
        """The same where each record has its weight: its cell's weights lie between the least and the greatest."""
        lows, highs = {figure: 1.0}, {figure: 1.0}
        for low, high in self.parts:
            cell = self.cells(name, (low, high))
            lows[cell] = -min(s * risk(s, 1 / max(weights)) for s in (low, high))
            highs[cell] = -max(s * risk(s, 1 / min(weights)) for s in (low, high))
        self.puzzle.say(lows, low=-1e-6, high=math.inf)
        self.puzzle.say(highs, low=-math.inf, high=1e-6)

    def nest(self) -> None:
        """Who knows fewer keys sees larger cells: fewer of them, and fewer records in small ones."""
        for more, wide in self.made.items():
            for fewer, narrow in self.made.items():
                if fewer < more:
                    self.finer(wide, narrow)

    def finer(self, wide: str, narrow: str) -> None:
        """Every cell of the one table lies in a cell of the other."""
        cells = self.numbers(wide, 1, self.n) | dict.fromkeys(self.numbers(narrow, 1, self.n), -1.0)
        self.puzzle.say(cells, high=math.inf)
        for _, end in self.parts[:-1]:
            terms = self.records(wide, 1, end) | {k: -v for k, v in self.records(narrow, 1, end).items()}
            self.puzzle.say(terms, high=math.inf)
