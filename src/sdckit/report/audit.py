"""The interval calculation of somebody who wants a small count back from a printed document.

Every printed number allows an interval of true numbers; the relations everybody knows (totals, nested
levels, differences) narrow the intervals. A count that could be 1 to 4 and has fewer than three values left
is too well known, whatever the truth is: the answer never looks at the true numbers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sdckit.report.figures import Relation

__all__ = [
    "SAFE_CANDIDATES",
    "Interval",
    "System",
    "candidates",
    "make_system",
    "narrowed",
    "propagate",
    "too_well_known",
]

Interval = tuple[float, float]

SMALL = 5
SAFE_CANDIDATES = 3
TINY = 1e-9
# A bound that moves by less than this share of itself is not followed: endless halving ends here.
MOVES = 1e-7


@dataclass(frozen=True)
class System:
    """Relations, and for every variable the relations it is in; `integers` can only be whole."""

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


def propagate(
    bounds: Mapping[str, Interval], system: System, *, start: Iterable[str] | None = None
) -> dict[str, Interval] | None:
    """Narrow every interval until no relation narrows any further; None when they contradict each other.

    Examples
    --------
    >>> system = make_system([Relation((("n", 1), ("a", -1), ("b", -1)))], ["n", "a", "b"])
    >>> propagate({"n": (5, 7), "a": (5, 7), "b": (0, 9)}, system)["b"]
    (0, 2)
    """
    found = dict(bounds)
    numbers = range(len(system.relations)) if start is None else _numbers(start, system)
    queue = deque(numbers)
    queued = set(queue)
    # Intervals of counts shrink by whole steps, so this is only a guard.
    for _ in range(200 * (len(system.relations) + 1)):
        if not queue:
            return found
        number = queue.popleft()
        queued.discard(number)
        changed = _tighten(system.relations[number], found, system.integers)
        if changed is None:
            return None
        for other in _numbers(changed, system):
            if other not in queued:
                queue.append(other)
                queued.add(other)
    return found


def _numbers(names: Iterable[str], system: System) -> list[int]:
    return list(dict.fromkeys(number for name in names for number in system.touching.get(name, ())))


def _tighten(relation: Relation, found: dict[str, Interval], integers: frozenset[str]) -> list[str] | None:
    spans = [(a * found[v][0], a * found[v][1]) if a > 0 else (a * found[v][1], a * found[v][0])
             for v, a in relation.terms]  # fmt: skip
    smallest, endless_down = _total([low for low, _ in spans])
    largest, endless_up = _total([high for _, high in spans])
    changed = []
    for (name, factor), (low, high) in zip(relation.terms, spans, strict=True):
        rest_low = _rest(smallest, endless_down, low, -math.inf)
        rest_high = _rest(largest, endless_up, high, math.inf)
        ends = sorted(((relation.lower - rest_high) / factor, (relation.upper - rest_low) / factor))
        narrower = _meet(found[name], (ends[0], ends[1]), whole=name in integers)
        if narrower is None:
            return None
        if narrower != found[name]:
            found[name] = narrower
            changed.append(name)
    return changed


def _total(ends: list[float]) -> tuple[float, int]:
    finite = [end for end in ends if math.isfinite(end)]
    return sum(finite), len(ends) - len(finite)


def _rest(total: float, endless: int, own: float, end: float) -> float:
    """Sum of the other ends; `end` (minus or plus infinity) where one of the others has none."""
    if math.isfinite(own):
        return total - own if endless == 0 else end
    return total if endless == 1 else end


def _meet(own: Interval, found: Interval, *, whole: bool) -> Interval | None:
    low, high = own
    new_low, new_high = found
    slack = TINY * max(1.0, *(abs(end) for end in (low, high, new_low, new_high) if math.isfinite(end)))
    if whole:
        new_low = math.ceil(new_low - slack) if math.isfinite(new_low) else new_low
        new_high = math.floor(new_high + slack) if math.isfinite(new_high) else new_high
    low = new_low if new_low > low + max(slack, MOVES * abs(low)) else low
    high = new_high if new_high < high - max(slack, MOVES * abs(new_high)) else high
    return (low, high) if low <= high + slack else None


def narrowed(bounds: Mapping[str, Interval], system: System, watched: Iterable[str]) -> tuple[str, ...]:
    """Name the watched counts a reader could pin to fewer than three values, one of them 1 to 4.

    Raises
    ------
    ValueError
        When the intervals contradict the relations: the document itself is wrong.

    Examples
    --------
    >>> parity = [Relation((("v3", 1), ("pairs", -2)))]
    >>> system = make_system(parity, ["v3", "pairs"])
    >>> narrowed({"v3": (5, 7), "pairs": (0, 100)}, system, ["pairs"])
    ('pairs',)
    """
    found = propagate(bounds, system)
    if found is None:
        raise ValueError("the printed figures contradict each other")
    return tuple(name for name in sorted(watched) if too_well_known(name, found, system))


def too_well_known(name: str, found: Mapping[str, Interval], system: System) -> bool:
    """Whether a count has fewer than three values left and may be 1 to 4."""
    low, high = found[name]
    if high == 0 or low >= SMALL or not math.isfinite(high):
        return False
    if high - low + 1 < SAFE_CANDIDATES:
        return True
    return len(candidates(name, found, system)) < SAFE_CANDIDATES


def candidates(name: str, found: Mapping[str, Interval], system: System) -> list[int]:
    """Give up to three values of a count that contradict nothing."""
    low, high = (int(end) for end in found[name])
    possible: list[int] = []
    for value in range(low, high + 1):
        trial = {**found, name: (float(value), float(value))}
        if propagate(trial, system, start=[name]) is not None:
            possible.append(value)
            if len(possible) == SAFE_CANDIDATES:
                break
    return possible
