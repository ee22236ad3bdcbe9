"""Interval attack on a printed document: which small counts can be reconstructed from it.

Every printed number restricts the true number to an interval; publicly known relations (totals, nested levels, cells
and records) narrow the intervals by constraint propagation. An integer programme over all of them gives the feasible
values of a count. A count that could be 1 to 4 and has fewer than three feasible values is disclosed, whatever the
truth is: the audit never looks at the true numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.linear_bounds import Relations, narrow, solve_programme
from sdckit.report.gate.figures import Relation

# Constraint propagation: narrow the intervals of printed numbers by publicly known relations.


Interval = tuple[float, float]


@dataclass(frozen=True)
class System:
    """Relations, the numbers of the relations that each variable is in, and the integer variables."""

    relations: tuple[Relation, ...]
    touching: Mapping[str, tuple[int, ...]]
    integers: frozenset[str]


def make_system(relations: Sequence[Relation], integers: Iterable[str]) -> System:
    """Index relations by variable."""
    touching: dict[str, list[int]] = {}
    for number, relation in enumerate(relations):
        for name, _ in relation.terms:
            touching.setdefault(name, []).append(number)
    return System(tuple(relations), {k: tuple(v) for k, v in touching.items()}, frozenset(integers))


def as_arrays(system: System, place: Mapping[str, int]) -> Relations:
    """Sparse arrays of the relations, by relation and by variable, for the kernels; `place` numbers the variables."""
    terms = [relation.terms for relation in system.relations]
    start = np.cumsum([0, *(len(term) for term in terms)], dtype=np.int64)
    number = np.array([place[name] for term in terms for name, _ in term], np.int64)
    row = np.repeat(np.arange(len(terms)), np.diff(start))
    order = np.argsort(number, kind="stable")
    first = np.searchsorted(number[order], np.arange(len(place) + 1)).astype(np.int64)
    return Relations(
        start, number, np.array([factor for term in terms for _, factor in term], np.float64),
        np.array([relation.lower for relation in system.relations], np.float64),
        np.array([relation.upper for relation in system.relations], np.float64),
        first, row[order].astype(np.int64), np.array([name in system.integers for name in place], np.bool_),
    )  # fmt: skip


def propagate(bounds: Mapping[str, Interval], system: System) -> dict[str, Interval] | None:
    """Narrow all intervals by constraint propagation, a few rounds at most; None if an interval becomes empty.

    Examples
    --------
    >>> system = make_system([Relation((("n", 1), ("a", -1), ("b", -1)))], ["n", "a", "b"])
    >>> propagate({"n": (5, 7), "a": (5, 7), "b": (0, 9)}, system)["b"]
    (0.0, 2.0)
    """
    low = np.array([low for low, _ in bounds.values()], np.float64)
    high = np.array([high for _, high in bounds.values()], np.float64)
    if not narrow(as_arrays(system, {name: number for number, name in enumerate(bounds)}), low, high, -1):
        return None
    return dict(zip(bounds, zip(low.tolist(), high.tolist(), strict=True), strict=True))


SMALL = 5
SAFE_VALUES = 3

# Stands for "no upper bound": far above any small count, small enough to keep the arithmetic exact.
LARGE = 1e7


class Solver:
    """Integer programmes over the propagated intervals and the relations of a document."""

    def __init__(self, intervals: Mapping[str, Interval], system: System) -> None:
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array

        self.names = list(intervals)
        self.place = {name: number for number, name in enumerate(self.names)}
        self.low = np.array([intervals[name][0] for name in self.names])
        self.high = np.array([min(intervals[name][1], max(LARGE, intervals[name][0])) for name in self.names])
        self.whole = np.array([int(name in system.integers) for name in self.names])
        self.seen: dict[str, set[int]] = {name: set() for name in self.names}
        rows, columns, factors = [], [], []
        for number, relation in enumerate(system.relations):
            for name, factor in relation.terms:
                rows.append(number)
                columns.append(self.place[name])
                factors.append(factor)
        shape = (len(system.relations), len(self.names))
        self.constraint = LinearConstraint(
            csr_array((factors, (rows, columns)), shape=shape),
            [relation.lower for relation in system.relations],
            [relation.upper for relation in system.relations],
        )

    def solve(self, goal: NDArray[np.float64], fixed: tuple[str, int] | None = None) -> NDArray[np.float64] | None:
        """Minimise a linear objective, perhaps with one variable fixed, and record the solution; None if infeasible."""
        from scipy.optimize import Bounds

        low, high = self.low, self.high
        if fixed is not None:
            low, high = low.copy(), high.copy()
            low[self.place[fixed[0]]] = high[self.place[fixed[0]]] = fixed[1]
        answer: Any = solve_programme(
            goal, integrality=self.whole, bounds=Bounds(low, high), constraints=self.constraint
        )
        if answer.x is None:
            return None
        for name, value in zip(self.names, answer.x, strict=True):
            self.seen[name].add(round(value))
        solution: NDArray[np.float64] = answer.x
        return solution

    def look_around(self, names: Iterable[str]) -> None:
        """Solve a few objectives over all `names`: most counts show three values without a programme of their own."""
        places = [self.place[name] for name in names]
        for number in range(4):
            goal = np.zeros(len(self.names))
            # Deterministic coefficients, so that the same figures always give the same document.
            goal[places] = np.cos(np.arange(len(places)) * (number + 1.0)) + (1.0 if number % 2 else -1.0)
            self.solve(goal)

    def values(self, name: str) -> set[int]:
        """Up to three feasible values of a count; all of them if there are fewer."""
        if len(self.seen[name]) >= SAFE_VALUES:
            return self.seen[name]
        ends = []
        for sign in (1.0, -1.0):
            goal = np.zeros(len(self.names))
            goal[self.place[name]] = sign
            answer = self.solve(goal)
            if answer is None:
                return self.seen[name]
            ends.append(round(answer[self.place[name]]))
        if ends[0] >= SMALL:
            return self.seen[name]
        for value in range(ends[0], ends[1]):
            if len(self.seen[name]) >= SAFE_VALUES:
                break
            if value not in self.seen[name]:
                self.solve(np.zeros(len(self.names)), (name, value))
        return self.seen[name]

    def gives_away(self, name: str) -> bool:
        """Whether a count is disclosed: fewer than three feasible values, one of them 1 to 4."""
        if len(self.seen[name]) >= SAFE_VALUES:
            return False
        values = self.values(name)
        return len(values) < SAFE_VALUES and any(0 < value < SMALL for value in values)


def narrowed(bounds: Mapping[str, Interval], system: System, watched: Iterable[str]) -> tuple[str, ...]:
    """The watched counts that are disclosed: fewer than three feasible values, one of them 1 to 4.

    `bounds` has for every variable the interval that its print allows.

    Raises
    ------
    ValueError
        When the intervals contradict the relations: the document itself is wrong.

    Examples
    --------
    >>> from sdckit.report.gate.audit import make_system
    >>> from sdckit.report.gate.figures import Relation
    >>> sums = [Relation((("a", 1), ("b", 1)), 4, 4), Relation((("a", 1), ("b", -1)), 0, 0)]
    >>> narrowed({"a": (0, 9), "b": (0, 9)}, make_system(sums, ["a", "b"]), ["a"])
    ('a',)
    """
    intervals = propagate(bounds, system)
    if intervals is None:
        raise ValueError("the printed figures contradict each other")
    # Smallest intervals first: they are the most likely to be disclosed.
    open_ones = sorted(
        (name for name in watched if _undecided(intervals[name])),
        key=lambda name: intervals[name][1] - intervals[name][0],
    )
    done: set[str] = set()
    known: list[str] = []
    for name in open_ones:
        if name in done:
            continue
        part, relations = linked(name, intervals, system)
        done |= part.keys()
        solver = Solver(part, System(relations, {}, system.integers))
        here = [open_one for open_one in open_ones if open_one in part]
        if len(here) > SAFE_VALUES:
            solver.look_around(here)
        known += [count for count in here if solver.gives_away(count)]
    return tuple(known)


def linked(
    name: str, intervals: Mapping[str, Interval], system: System
) -> tuple[dict[str, Interval], tuple[Relation, ...]]:
    """Intervals and relations connected with a count; variables with a fixed value do not connect."""
    reached, frontier, numbers = {name}, [name], set()
    while frontier:
        current = frontier.pop()
        if intervals[current][0] == intervals[current][1]:
            continue
        for number in system.touching.get(current, ()):
            if number not in numbers:
                numbers.add(number)
                new = {other for other, _ in system.relations[number].terms} - reached
                reached |= new
                frontier += sorted(new)
    return {node: intervals[node] for node in sorted(reached)}, tuple(system.relations[n] for n in sorted(numbers))


def _undecided(interval: Interval) -> bool:
    low, high = interval
    return high > 0 and low < SMALL
