"""What a reader knows while a document is printed, figure by figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.linear_bounds import Lookout, few_values, find_point, make_room, moved_by, narrow
from sdckit.report.gate.audit import SAFE_VALUES, SMALL, linked, narrowed
from sdckit.report.gate.equal import between_sums, join_equal
from sdckit.report.gate.figures import Relation
from sdckit.report.gate.propagation import Interval, as_arrays, make_system

# A count left with more numbers than this is looked at in the end only, in large documents not with more still.
NARROW, NARROW_IN_THE_END = 20, 100
LIMITS = np.array([SMALL, NARROW], np.float64)
# Numbers linked by relations, up to which every count is looked at after every print.
FEW_LINKED = 160
# How many relations away a number may be, and how long these, to be looked at in a larger document.
REACH, LONGEST = 3, 24
# Possible worlds that are remembered: one may show values of many counts.
REMEMBERED, REMEMBERED_NEAR = 256, 8
# Dead ends after which the search for a possible world begins anew and is given up: among all numbers of a small
# part, and near a number in a larger one.
DEAD_ENDS, DEAD_ENDS_NEAR = 20, 1


class Known:
    """The intervals that what is printed so far leaves of every number.

    Parameters
    ----------
    bounds, relations, integers
        The interval of every variable before anything is printed, the relations, and what can only be whole.
    watched
        The counts that nobody may narrow down.
    insist
        Counts that are looked at after every print, with all numbers linked to them, also in large documents; the
        others there only if a print moves their ends, and with the numbers near them.

    Raises
    ------
    ValueError
        When the bounds contradict the relations.
    """

    def __init__(
        self,
        bounds: Mapping[str, Interval],
        relations: Sequence[Relation],
        integers: Iterable[str],
        watched: Iterable[str],
        *,
        insist: Iterable[str] = (),
    ) -> None:
        self._same, between = join_equal(bounds, relations)
        self.names = list(dict.fromkeys(self._same.values()))
        numbered = {name: number for number, name in enumerate(self.names)}
        self.place = {name: numbered[one] for name, one in self._same.items()}
        whole = [self._same[name] for name in integers]
        self.system = make_system(between, whole)
        self._relations = as_arrays(make_system([*between, *between_sums(between)], whole), numbered)
        self._room = make_room(self._relations)
        self.low, self.high = np.full(len(self.names), -np.inf), np.full(len(self.names), np.inf)
        for name, (low, high) in bounds.items():
            at = self.place[name]
            self.low[at], self.high[at] = max(self.low[at], low), min(self.high[at], high)
        if not narrow(self._relations, self.low, self.high, -1, self._room):
            raise ValueError("what is told before anything is printed contradicts itself")
        self._parts = self._linked()
        self._pools: dict[int, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
        self.watched = np.unique(np.array([self.place[name] for name in watched], np.int64))
        self._beside_watched = np.isin(self._parts, self._parts[self.watched])
        self._is_alone = np.diff(self._relations.first) == 0
        linked = np.bincount(self._parts, minlength=len(self.names))[self._parts]
        self._is_small = linked <= FEW_LINKED
        self._always = self._is_small.copy()
        insisted = sorted({self.place[name] for name in insist})
        self._insisted = np.zeros(len(self.names), np.bool_)
        self._insisted[insisted] = True
        self._always |= self._insisted
        self._balls = {v: np.flatnonzero(self._parts == self._parts[v]) for v in insisted}
        self._links: dict[int, frozenset[int]] = {}
        self._tried = self.low.copy(), self.high.copy()
        self._bound_small()
        self._leave_out(self._open(self.low, self.high))

    def _bound_small(self) -> None:
        """Find the watched counts that cannot but be small, which going from relation to relation overlooks."""
        for v in self.watched.tolist():
            if not self.low[v] < SMALL <= self.high[v]:
                continue
            low, high = self.low.copy(), self.high.copy()
            low[v] = SMALL
            members = np.flatnonzero(self._parts == self._parts[v]) if self._is_small[v] else self._near(v)
            can_be = narrow(self._relations, low, high, v, self._room) and find_point(
                self._relations, low, high, members, 1, DEAD_ENDS, self._room
            )
            if not can_be:
                self.high[v] = SMALL - 1
                narrow(self._relations, self.low, self.high, v, self._room)

    def interval(self, name: str) -> Interval:
        """Give what is left of a number."""
        place = self.place[name]
        return float(self.low[place]), float(self.high[place])

    def stands_for(self, name: str) -> str:
        """Name the first of the numbers that are equal to this one."""
        return self._same[name]

    def is_told(self, name: str, interval: Interval) -> None:
        """Take in what the document tells in any case; what that gives away no print can give away."""
        low, high = self.low.copy(), self.high.copy()
        self.learn(name, interval)
        moved = (low != self.low) | (high != self.high)
        still_open = self._open(self.low, self.high)
        self._leave_out(still_open[moved[still_open]])

    def _leave_out(self, known: NDArray[np.int64]) -> None:
        self.watched = np.setdiff1d(self.watched, np.array(self._told(known.tolist()), np.int64))

    def learn(self, name: str, interval: Interval) -> None:
        """Take in what is printed of a figure."""
        if not self._meet(name, interval, self.low, self.high):
            raise ValueError("the printed figures contradict each other")

    def stays_safe(self, name: str, *intervals: Interval) -> bool:
        """Whether no watched count is given away, in whichever of these intervals a figure turns out to lie."""
        if not self._beside_watched[self.place[name]]:
            return True
        lookout = Lookout(self.watched, self._parts, self._always, self._insisted, LIMITS)
        left, v, ends = np.array(intervals, np.float64), self.place[name], (self.low, self.high)
        while len(left):
            at, asked = moved_by(self._relations, ends, v, left, lookout, self._tried, self._room)
            if len(asked) and self._gives_away(asked.tolist(), *self._tried):
                return False
            left = left[at + 1 :]
        return True

    def given_away(self) -> tuple[str, ...]:
        """Name the watched counts that what is known now leaves too few values."""
        low, high = self.low[self.watched], self.high[self.watched]
        is_near = self._is_small[self.watched] | (high - low <= NARROW_IN_THE_END)
        asked = self.watched[(high > 0) & (low < SMALL) & is_near].tolist()
        return tuple(self.names[v] for v in self._told(asked))

    def _meet(
        self, name: str, interval: Interval, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> bool:
        place = self.place[name]
        low[place], high[place] = max(low[place], interval[0]), min(high[place], interval[1])
        if self._is_alone[place] or low[place] > high[place]:
            return bool(low[place] <= high[place])
        return narrow(self._relations, low, high, place, self._room)

    def _open(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
        own_low, own_high = low[self.watched], high[self.watched]
        is_near = self._insisted[self.watched] | (own_high - own_low <= NARROW)
        return self.watched[(own_high > 0) & (own_low < SMALL) & is_near]

    def _gives_away(self, asked: Sequence[int], low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
        """Look for three values of each count; where the search is given up, it counts as given away.

        In a large document only numbers a few relations away are looked at; what that overlooks is found in the end.
        """
        part = int(self._parts[asked[0]])
        if self._is_small[asked[0]]:
            return self._few(asked, low, high, np.flatnonzero(self._parts == part), part) is not None
        return any(
            self._few([v], low, high, self._near(v), part if self._insisted[v] else -1 - v) is not None
            for v in asked
        )

    def _few(
        self,
        asked: Sequence[int],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        members: NDArray[np.int64],
        pool: int,
        *,
        thorough: bool = False,
    ) -> int | None:
        """Find the first of few values; worlds found before are kept in a pool for those of the same members."""
        if pool not in self._pools:
            rows = REMEMBERED if pool >= 0 else REMEMBERED_NEAR
            self._pools[pool] = np.empty((rows, len(self.names))), np.zeros(2, np.int64)
        points, self._gave_up = self._pools[pool]
        self._gave_up[1] = 0
        limits = (SAFE_VALUES, SMALL, DEAD_ENDS if thorough or self._is_small[asked[0]] else DEAD_ENDS_NEAR)
        few = few_values(
            self._relations, low, high, np.array(asked, np.int64), members, points, self._gave_up, limits, self._room
        )  # fmt: skip
        return None if few < 0 else int(few)

    def _told(self, asked: Sequence[int]) -> list[int]:
        """Find the counts that are given away by what is known now; where the search is given up, programmes decide.

        Not of a very wide one in a large document: there that takes minutes.
        """
        told, unsure = [], []
        for v in asked:
            part = int(self._parts[v])
            members = np.flatnonzero(self._parts == part)
            if self._few([v], self.low, self.high, members, part, thorough=True) is None:
                continue
            if not self._gave_up[1]:
                told.append(v)
            elif self._is_small[v] or self.high[v] - self.low[v] <= NARROW_IN_THE_END:
                unsure.append(v)
        if unsure:
            ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
            bounds = dict(zip(self.names, ends, strict=True))
            names = narrowed(bounds, self.system, [self.names[v] for v in unsure])
            told += [self.place[name] for name in names]
        return told

    def _near(self, v: int) -> NDArray[np.int64]:
        """The numbers a few relations away."""
        if v not in self._balls:
            found, edge = {v}, {v}
            for _ in range(REACH):
                edge = set[int]().union(*map(self._beside, edge)) - found
                found |= edge
            self._balls[v] = np.array(sorted(found), np.int64)
        return self._balls[v]

    def _beside(self, v: int) -> frozenset[int]:
        """The numbers that a relation of few links with this one."""
        if v not in self._links:
            terms = [self.system.relations[at].terms for at in self.system.touching.get(self.names[v], ())]
            self._links[v] = frozenset(
                self.place[name] for one in terms if len(one) <= LONGEST for name, _factor in one
            )
        return self._links[v]

    def _linked(self) -> NDArray[np.int64]:
        """Number the parts that no relation links."""
        found = dict(zip(self.names, zip(self.low.tolist(), self.high.tolist(), strict=True), strict=True))
        parts = np.full(len(self.names), -1)
        for begin, name in enumerate(self.names):
            if parts[begin] < 0:
                reached = np.array([self.place[one] for one in linked(name, found, self.system)[0]])
                parts[reached[parts[reached] < 0]] = begin
        return parts
