"""Choose how coarsely each figure is printed, from nothing but what is printed already.

Figures are printed one after the other. Before each, every print it could have is checked against all that is known so
far, whatever its true number is; the finest rounding step of which no print discloses a small count is taken. So the
steps disclose nothing that the printed numbers do not, and an attacker who replays the choice on every file consistent
with the document learns nothing either (simulatable auditing: Kenthapadi, Mishra & Nissim 2005).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.linear_bounds import Lookout, Relations, few_values, find_point, make_room, moved_by, narrow
from sdckit.report.gate.audit import (
    SAFE_VALUES,
    SMALL,
    Interval,
    System,
    as_arrays,
    linked,
    make_system,
    narrowed,
    propagate,
)
from sdckit.report.gate.figures import DIFFERENCE, Relation, Variable, Watched
from sdckit.report.gate.rounding import LADDER, Print, last_level, print_bound, print_variable, prints_between

# Variables that are equal: merged before constraints are propagated.


# Relations with more terms are not combined with others.
LONGEST_EQUATION = 24
TINY = 1e-9


def join_equal(names: Iterable[str], relations: Sequence[Relation]) -> tuple[dict[str, str], list[Relation]]:
    """Map each variable to a representative, the first of its equals, and rewrite the relations between these.

    Constraint propagation alone does not detect that the difference of two equal variables is 0.

    Examples
    --------
    >>> same, left = join_equal("abd", [Relation((("a", 1.0), ("b", -1.0))),
    ...     Relation((("a", 1.0), ("b", -1.0), ("d", -1.0)))])
    >>> same["b"], left[0].terms
    ('a', (('d', -1.0),))
    """
    of = {name: name for name in names}
    place = {name: number for number, name in enumerate(of)}
    left = list(relations)
    while True:
        pairs = [pair for relation in left if (pair := _equal(relation)) is not None]
        if not pairs:
            return of, left
        for pair in pairs:
            first, second = sorted((_root(of, name) for name in pair), key=lambda name: place[name])
            of[second] = first
        of = {name: _root(of, name) for name in of}
        left = [joined for relation in left if (joined := _joined(relation, of)) is not None]


def _equal(relation: Relation) -> tuple[str, str] | None:
    if len(relation.terms) != 2 or relation.lower != 0 or relation.upper != 0:
        return None
    (first, factor), (second, other_factor) = relation.terms
    return (first, second) if factor == -other_factor and first != second else None


def _root(of: dict[str, str], name: str) -> str:
    while of[name] != name:
        name = of[name]
    return name


def _joined(relation: Relation, of: dict[str, str]) -> Relation | None:
    """The relation rewritten between representatives; None if it has become trivial."""
    factors: dict[str, float] = {}
    for name, factor in relation.terms:
        factors[of[name]] = factors.get(of[name], 0.0) + factor
    terms = tuple((name, factor) for name, factor in factors.items() if factor != 0)
    if not terms and relation.lower <= 0 <= relation.upper:
        return None
    return Relation(terms, relation.lower, relation.upper)


def between_sums(relations: Sequence[Relation]) -> list[Relation]:
    """Derive relations from pairs of equations by eliminating what they have in common; kept if no longer than either.

    For instance, that two counts are equal if each contains the other.

    Examples
    --------
    >>> one = Relation((("a", 1.0), ("b", -1.0), ("d", -1.0)))
    >>> other = Relation((("b", 1.0), ("a", -1.0), ("e", -1.0)))
    >>> between_sums([one, other])[0].terms
    (('d', -1.0), ('e', -1.0))
    """
    exact = [
        relation
        for relation in relations
        if relation.lower == relation.upper and 2 < len(relation.terms) <= LONGEST_EQUATION
    ]
    seen = {_signature(equation) for equation in exact}
    by_pair: dict[tuple[str, str], list[int]] = {}
    for number, equation in enumerate(exact):
        for pair in combinations(sorted(name for name, _ in equation.terms), 2):
            by_pair.setdefault(pair, []).append(number)
    tried: set[tuple[int, int]] = set()
    implied: list[Relation] = []
    for numbers in by_pair.values():
        for first, second in combinations(numbers, 2):
            if (first, second) in tried:
                continue
            tried.add((first, second))
            new = _difference(exact[first], exact[second])
            if new is not None and (sign := _signature(new)) not in seen:
                seen.add(sign)
                implied.append(new)
    return implied


def _difference(first: Relation, second: Relation) -> Relation | None:
    factors, against = dict(first.terms), dict(second.terms)
    shared = [name for name in factors if name in against]
    ratios = {factors[name] / against[name] for name in shared}
    best = max(ratios, key=lambda ratio: sum(factors[name] == ratio * against[name] for name in shared))
    for name, factor in against.items():
        factors[name] = factors.get(name, 0.0) - best * factor
    terms = tuple((name, factor) for name, factor in factors.items() if abs(factor) > TINY)
    if not terms or len(terms) > min(len(first.terms), len(second.terms)):
        return None
    value = first.lower - best * second.lower
    return Relation(terms, value, value)


def _signature(relation: Relation) -> frozenset[tuple[str, float]]:
    scale = min(relation.terms)[1]
    return frozenset((name, round(factor / scale, 9)) for name, factor in relation.terms)


# Knowledge of a reader while a document is printed, figure by figure.


# Counts with a wider interval are checked at the end only; in large documents up to the second width.
NARROW, NARROW_IN_THE_END = 20, 100
LIMITS = np.array([SMALL, NARROW], np.float64)
# Size of a connected component of variables up to which every count is checked after every print.
FEW_LINKED = 160
# In a larger component, the distance in relations, and the terms of a relation, up to which variables are considered.
REACH, LONGEST = 3, 24
# Feasible assignments that are remembered: one may show values of many counts.
REMEMBERED, REMEMBERED_NEAR = 256, 8
# Dead ends after which the search for a feasible assignment restarts and is given up: over all variables of a small
# component, and near one variable of a larger one.
DEAD_ENDS, DEAD_ENDS_NEAR = 20, 1
# Systems of relations that are remembered: a document is read by two, stage by stage, and again where a count insists.
SYSTEMS = 16


@lru_cache(maxsize=SYSTEMS)
def _structure(
    variables: tuple[str, ...], relations: tuple[Relation, ...], integers: tuple[str, ...]
) -> tuple[Mapping[str, str], Sequence[str], Mapping[str, int], System, Relations]:
    """What follows from the relations alone, for all who read them: representatives, their places, both systems."""
    same, between = join_equal(variables, relations)
    names = list(dict.fromkeys(same.values()))
    numbered = {name: number for number, name in enumerate(names)}
    place = {name: numbered[first] for name, first in same.items()}
    whole = [same[name] for name in integers]
    arrays = as_arrays(System((*between, *between_sums(between)), {}, frozenset(whole)), numbered)
    return same, names, place, make_system(between, whole), arrays


class Known:
    """Intervals of all variables, given what is printed so far.

    Parameters
    ----------
    bounds, relations, integers
        The interval of every variable before anything is printed, the relations, and the integer variables.
    watched
        The counts that must not be disclosed.
    insist
        Counts checked after every print with all variables of their component, even in large documents; the others
        are checked there only if a print moves their bounds, and with the variables near them.

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
        given = tuple(bounds), tuple(relations), tuple(integers)
        self._same, self.names, self.place, self.system, self._relations = _structure(*given)
        self._room = make_room(self._relations)
        self.low, self.high = np.full(len(self.names), -np.inf), np.full(len(self.names), np.inf)
        for name, (low, high) in bounds.items():
            at = self.place[name]
            self.low[at], self.high[at] = max(self.low[at], low), min(self.high[at], high)
        if not narrow(self._relations, self.low, self.high, -1, self._room):
            raise ValueError("what is told before anything is printed contradicts itself")
        self._parts = self._components()
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
        self._stop_watching(self._open(self.low, self.high))

    def branch(self) -> Known:
        """The same knowledge, which goes on by itself; assignments that show values are remembered in each."""
        other = copy(self)
        other.low, other.high = self.low.copy(), self.high.copy()
        other._tried = self.low.copy(), self.high.copy()
        other._room = make_room(self._relations)
        other._pools = {}
        for pool, (points, tally) in self._pools.items():
            other._pools[pool] = np.empty_like(points), tally.copy()
            other._pools[pool][0][: tally[0]] = points[: tally[0]]  # those beyond are not looked at
        return other

    def _bound_small(self) -> None:
        """Bound the watched counts for which 5 or more is infeasible, which constraint propagation alone overlooks."""
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
        """Lower and upper bound of a variable."""
        place = self.place[name]
        return float(self.low[place]), float(self.high[place])

    def stands_for(self, name: str) -> str:
        """Representative of the variables equal to this one."""
        return self._same[name]

    def learn_stated(self, name: str, interval: Interval) -> None:
        """Apply an interval that the document states in any case; counts that it discloses are no longer watched."""
        low, high = self.low.copy(), self.high.copy()
        self.learn(name, interval)
        moved = (low != self.low) | (high != self.high)
        still_open = self._open(self.low, self.high)
        self._stop_watching(still_open[moved[still_open]])

    def _stop_watching(self, known: NDArray[np.int64]) -> None:
        self.watched = np.setdiff1d(self.watched, np.array(self._pinned(known.tolist()), np.int64))

    def learn(self, name: str, interval: Interval) -> None:
        """Apply the interval of a printed figure, and propagate it."""
        if not self._intersect(name, interval, self.low, self.high):
            raise ValueError("the printed figures contradict each other")

    def stays_safe(self, name: str, *intervals: Interval) -> bool:
        """Whether no watched count is disclosed, whichever of these intervals the figure is in."""
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
        """The watched counts that have too few feasible values now."""
        low, high = self.low[self.watched], self.high[self.watched]
        is_near = self._is_small[self.watched] | (high - low <= NARROW_IN_THE_END)
        asked = self.watched[(high > 0) & (low < SMALL) & is_near].tolist()
        return tuple(self.names[v] for v in self._pinned(asked))

    def _intersect(self, name: str, interval: Interval, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
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
        """Search three feasible values of each count; one whose search is given up counts as disclosed.

        In a large component only nearby variables are considered; what that overlooks is found by the check at the end.
        """
        part = int(self._parts[asked[0]])
        if self._is_small[asked[0]]:
            return self._few(asked, low, high, np.flatnonzero(self._parts == part), part) is not None
        return any(
            self._few([v], low, high, self._near(v), part if self._insisted[v] else -1 - v) is not None for v in asked
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
        """The first count with too few feasible values, or None; found assignments are pooled per set of members."""
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

    def _pinned(self, asked: Sequence[int]) -> list[int]:
        """The counts that are disclosed now; where the search is given up, integer programmes decide.

        Except for a very wide interval in a large component, where that takes minutes.
        """
        pinned, unsure = [], []
        for v in asked:
            part = int(self._parts[v])
            members = np.flatnonzero(self._parts == part)
            if self._few([v], self.low, self.high, members, part, thorough=True) is None:
                continue
            if not self._gave_up[1]:
                pinned.append(v)
            elif self._is_small[v] or self.high[v] - self.low[v] <= NARROW_IN_THE_END:
                unsure.append(v)
        if unsure:
            ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
            bounds = dict(zip(self.names, ends, strict=True))
            names = narrowed(bounds, self.system, [self.names[v] for v in unsure])
            pinned += [self.place[name] for name in names]
        return pinned

    def _near(self, v: int) -> NDArray[np.int64]:
        """Index array of the variables a few relations away."""
        if v not in self._balls:
            reached, frontier = {v}, {v}
            for _ in range(REACH):
                frontier = set[int]().union(*map(self._neighbours, frontier)) - reached
                reached |= frontier
            self._balls[v] = np.array(sorted(reached), np.int64)
        return self._balls[v]

    def _neighbours(self, v: int) -> frozenset[int]:
        """The variables in a common relation of few terms with this one."""
        if v not in self._links:
            terms = [self.system.relations[at].terms for at in self.system.touching.get(self.names[v], ())]
            self._links[v] = frozenset(
                self.place[name] for term in terms if len(term) <= LONGEST for name, _factor in term
            )
        return self._links[v]

    def _components(self) -> NDArray[np.int64]:
        """Connected component of each variable, as an array of labels."""
        intervals = dict(zip(self.names, zip(self.low.tolist(), self.high.tolist(), strict=True), strict=True))
        parts = np.full(len(self.names), -1)
        for begin, name in enumerate(self.names):
            if parts[begin] < 0:
                reached = np.array([self.place[member] for member in linked(name, intervals, self.system)[0]])
                parts[reached[parts[reached] < 0]] = begin
        return parts


# A number is first placed in one of at least so many wide steps, before a fine step is chosen.
FEW_STEPS = 4
# Placing ends once a number has at most so many possible fine prints.
NEAR_STEPS = 12
# Size of the cache: the same figures are asked for again by a page drawn anew, or a result beside its document.
KEPT = 4
# Knowledge under all relations, and under those between printed figures alone.
Readers = dict[Watched, Known]
ENDS = tuple(digit * 10.0**power for power in range(6, -4, -1) for digit in (5, 2, 1))


def settle(
    variables: Mapping[str, Variable], relations: Sequence[Relation], finest: Mapping[str, int] = MappingProxyType({})
) -> dict[str, Print]:
    """Print every variable, as finely as the audit allows, in the order of their stages; none finer than `finest`.

    Examples
    --------
    >>> ledger = {"v2": Variable(0, "k"), "v3": Variable(6, "k"), "pairs": Variable(None)}
    >>> prints = settle(ledger, [Relation((("v3", 1), ("v2", -1), ("pairs", -2)))])
    >>> prints["v2"].text, prints["v3"].text
    ('0', '<10')
    """
    return dict(_settled(tuple(variables.items()), tuple(relations), tuple(finest.items()))[0])


def levels_of(variables: Mapping[str, Variable], relations: Sequence[Relation]) -> dict[str, int]:
    """The level of coarseness at which `settle` prints every variable."""
    return dict(_settled(tuple(variables.items()), tuple(relations), ())[1])


@lru_cache(maxsize=KEPT)
def _settled(
    entered: tuple[tuple[str, Variable], ...], relations: tuple[Relation, ...], finest: tuple[tuple[str, int], ...]
) -> tuple[dict[str, Print], dict[str, int]]:
    variables = dict(entered)
    counts = [name for name, variable in variables.items() if variable.kind == "count"]
    sound = sound_relations(variables, relations, counts)
    # What follows from the file alone comes first, as if there were nothing else, then what weights or a sampling
    # fraction add, then what this document asks for: so documents that declare or ask for different things print the
    # rest alike.
    stages = sorted({variable.stage for variable in variables.values() if variable.true is not None})
    floors = dict(finest)
    if {1, 2} <= {*stages}:  # estimates are known when counts that are asked for are printed: they make these no finer
        for name, level in _print_stages(variables, sound, [0, 2], floors)[1].items():
            floors[name] = max(level, floors.get(name, 0))
    return _print_stages(variables, sound, stages, floors)


def _print_stages(
    variables: Mapping[str, Variable], relations: Sequence[Relation], stages: Sequence[int], floors: Mapping[str, int]
) -> tuple[dict[str, Print], dict[str, int]]:
    """Print the variables of these stages, one stage after the other, none finer than `floors`; also their levels."""
    readers: Readers = {}
    chosen: dict[object, int] = {}
    prints: dict[str, Print] = {}
    levels: dict[str, int] = {}
    staged = sorted(variables.items(), key=lambda entry: entry[1].stage)
    done = {0}
    for stage in stages:
        done.add(stage)
        later = {name for name, variable in staged if variable.stage not in done}
        between = [relation for relation in relations if later.isdisjoint(relation.names)]
        linked = set[str]().union(*(relation.names for relation in between))
        here = {
            name: variable
            for name, variable in staged
            if name not in later and (variable.true is not None or name in linked)
        }
        if stage == stages[0]:
            own_floors = tuple((name, floor) for name, floor in floors.items() if name in here)
            new, readers, own, first = _print_first(tuple(here.items()), tuple(between), own_floors)
            chosen = dict(first)
        else:
            some = {name: variable for name, variable in here.items() if name not in prints}
            new, readers, own = _print_safely(some, here, between, readers, chosen, floors)
        prints |= new
        levels |= own
    return prints, levels


@lru_cache(maxsize=KEPT)
def _print_first(
    entered: tuple[tuple[str, Variable], ...], relations: tuple[Relation, ...], finest: tuple[tuple[str, int], ...]
) -> tuple[dict[str, Print], Readers, dict[str, int], dict[object, int]]:
    """Print what follows from the file alone: the same in all its documents, whatever limits these ask for."""
    variables, chosen = dict(entered), dict[object, int]()
    return *_print_safely(variables, variables, relations, {}, chosen, dict(finest)), chosen


def _print_safely(
    some: Mapping[str, Variable],
    variables: Mapping[str, Variable],
    relations: Sequence[Relation],
    before: Readers,
    chosen: dict[object, int],
    floors: Mapping[str, int],
) -> tuple[dict[str, Print], Readers, dict[str, int]]:
    """Print some of the variables; repeat, insisting on counts that the check at the end finds disclosed."""
    insist: set[str] = set()
    while True:
        readers = _readers(variables, relations, insist, before)
        of_number = dict(chosen)
        prints, levels = _print_all(some, list(readers.values()), of_number, floors)
        pinned = {name for reader in readers.values() for name in reader.given_away()}
        if pinned <= insist:
            chosen |= of_number
            return prints, readers, levels
        insist |= pinned


def _print_all(
    variables: Mapping[str, Variable], readers: Sequence[Known], chosen: dict[object, int], floors: Mapping[str, int]
) -> tuple[dict[str, Print], dict[str, int]]:
    prints: dict[str, Print] = {}
    levels: dict[str, int] = {}
    printed = [name for name in variables if variables[name].true is not None]
    _learn_zeros(variables, printed, readers)
    # Counts before estimates: those say little of a count that is rounded already, but a lot of one that is not.
    for name in sorted(printed, key=lambda name: variables[name].kind == "value"):
        variable = variables[name]
        if variable.late:
            for reader in readers:
                reader.learn_stated(name, variable.stated)
        # One number has one print, whatever it is called.
        key = (readers[0].stands_for(name) if readers else name, variable.kind)
        if key not in chosen:
            chosen[key] = _level(name, variable, readers, floors.get(name, 0))
        levels[name] = chosen[key]
        prints[name] = print_variable(variable, chosen[key])
        if prints[name].text == "withheld" and readers and variable.kind == "count":
            prints[name] = print_bound(*readers[0].interval(name))
        for reader in readers:
            reader.learn(name, (prints[name].low, prints[name].high))
    return prints, levels


def _learn_zeros(variables: Mapping[str, Variable], names: Sequence[str], readers: Sequence[Known]) -> None:
    """Disclose which counts are 0 where neither answer discloses a watched count: readers ask for that first."""
    for name in names:
        variable = variables[name]
        if variable.late or variable.kind != "count" or not readers or math.isnan(variable.true or 0.0):
            continue
        low, high = readers[0].interval(name)
        sides = ((0.0, 0.0), (1.0, high))
        if low > 0 or high <= 0 or not all(reader.stays_safe(name, *sides) for reader in readers):
            continue
        for reader in readers:
            reader.learn(name, sides[variable.true != 0])


def _level(name: str, variable: Variable, readers: Sequence[Known], finest: int) -> int:
    """The finest rounding level, from `finest` on, of which no possible print discloses a watched count."""
    last = last_level(variable)
    if math.isnan(variable.true or 0.0):
        return last
    if not readers:
        return finest
    _place_roughly(name, variable, readers)
    return next((level for level in range(finest, last) if _is_safe(name, variable, level, readers)), last)


def _place_roughly(name: str, variable: Variable, readers: Sequence[Known]) -> None:
    """Narrow a number to one of a few wide steps, where none of them discloses a watched count.

    Then the fine step depends on prints near the number, not on files in which every record is unique; and all those
    prints are checked, so that the choice of the step discloses nothing of the number that its print does not.
    """
    if variable.kind == "value":
        _place_by_ends(name, float(variable.true or 0.0), readers)
        return
    for level in range(last_level(variable) - 1, 0, -1):
        low, high = readers[0].interval(name)
        wide = LADDER[level] * FEW_STEPS <= high - low < math.inf
        if wide and _is_safe(name, variable, level, readers):
            rough = print_variable(variable, level)
            for reader in readers:
                reader.learn(name, (rough.low, rough.high))
            low, high = readers[0].interval(name)
            if high - low <= NEAR_STEPS * LADDER[0]:
                return


def _place_by_ends(name: str, true: float, readers: Sequence[Known]) -> None:
    """Narrow an estimate by comparing it with round numbers, the largest first, as long as that discloses no count."""
    low, high = readers[0].interval(name)
    for end in ENDS:
        if not max(low, 0.0) < end < high:
            continue
        sides = ((low, end), (end, high))
        if not all(reader.stays_safe(name, *sides) for reader in readers):
            return
        side = sides[true >= end]
        for reader in readers:
            reader.learn(name, side)
        if true >= end:
            return
        high = end


def _is_safe(name: str, variable: Variable, level: int, readers: Sequence[Known]) -> bool:
    own = print_variable(variable, level)
    for reader in readers:
        possible = prints_between(variable.kind, level, reader.interval(name))
        if not reader.stays_safe(name, *dict.fromkeys([*possible, (own.low, own.high)])):
            return False
    return True


def _readers(
    variables: Mapping[str, Variable], relations: Sequence[Relation], insist: Collection[str], before: Readers
) -> Readers:
    """Knowledge under all relations, and under those between printed figures; each with the counts it watches.

    `before` is the knowledge, of fewer variables, after what is printed already.
    """
    counts = [name for name, variable in variables.items() if variable.kind == "count"]
    unprinted = {name for name, variable in variables.items() if variable.true is None and DIFFERENCE not in name}
    beside = [relation for relation in relations if unprinted.isdisjoint(relation.names)]
    known: Readers = {}
    systems: tuple[tuple[Watched, Sequence[Relation]], ...] = (("everywhere", relations), ("table", beside))
    for where, system in systems:
        watched = [name for name in counts if variables[name].watched == where]
        if watched:
            bounds = {name: _known_beforehand(name, variable) for name, variable in variables.items()}
            if where in before:
                bounds |= {name: before[where].interval(name) for name in before[where].names}
            insisted = tuple(sorted(name for name in insist if name in bounds))
            begun = _begin(tuple(bounds.items()), tuple(system), tuple(counts), tuple(watched), insisted)
            known[where] = begun.branch()
    return known


@lru_cache(maxsize=SYSTEMS)
def _begin(
    bounds: tuple[tuple[str, Interval], ...],
    relations: tuple[Relation, ...],
    integers: tuple[str, ...],
    watched: tuple[str, ...],
    insist: tuple[str, ...],
) -> Known:
    """Knowledge before the first print: of files of one size, and of stages printed again, it is the same."""
    return Known(dict(bounds), relations, integers, watched, insist=insist)


def _known_beforehand(name: str, variable: Variable) -> Interval:
    """Interval of a number before anything is printed."""
    if variable.true is None:
        return variable.stated
    if name == "n":
        # Whoever has the released file counts its records.
        return (float(variable.true), float(variable.true))
    if not variable.late:
        # Only an estimate may be negative.
        return (-math.inf if variable.kind == "value" else variable.stated[0], variable.stated[1])
    return (0.0, math.inf)


def sound_relations(
    variables: Mapping[str, Variable], relations: Sequence[Relation], integers: Sequence[str]
) -> tuple[Relation, ...]:
    """Keep the relations that the true numbers fulfil: nothing can be inferred from one that is wrong."""
    exact = {
        name: (0.0, math.inf)
        if variable.true is None or math.isnan(variable.true)
        else (float(variable.true), float(variable.true))
        for name, variable in variables.items()
    }
    if propagate(exact, make_system(relations, integers)) is not None:
        return tuple(relations)
    kept: list[Relation] = []
    for relation in relations:
        if propagate(exact, make_system([*kept, relation], integers)) is not None:
            kept.append(relation)
    return tuple(kept)
