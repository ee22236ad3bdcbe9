"""Interval propagation: what the relations everybody knows leave of the intervals printed numbers allow."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sdckit.report.gate.figures import Relation

__all__ = ["Interval", "System", "make_system", "propagate"]

Interval = tuple[float, float]

TINY = 1e-9
# How often a relation is looked at, on average.
ROUNDS = 4
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
    """Narrow every interval by every relation, a few times over; None when they contradict each other.

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
    # Later rounds shrink wide intervals by little: the solver narrows what matters.
    for _ in range(ROUNDS * (len(system.relations) + 1)):
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
    slack = TINY * max([1.0, *(abs(end) for end in (low, high, new_low, new_high) if math.isfinite(end))])
    if whole:
        new_low = math.ceil(new_low - slack) if math.isfinite(new_low) else new_low
        new_high = math.floor(new_high + slack) if math.isfinite(new_high) else new_high
    low = new_low if new_low > low + max(slack, MOVES * abs(low)) else low
    high = new_high if new_high < high - max(slack, MOVES * abs(new_high)) else high
    return (low, high) if low <= high + slack else None
