"""Interval propagation: what the relations everybody knows leave of the intervals printed numbers allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.linear_bounds import Relations, narrow
from sdckit.report.gate.figures import Relation

Interval = tuple[float, float]


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


def as_arrays(system: System, place: Mapping[str, int]) -> Relations:
    """Write the relations as arrays; `place` numbers the variables."""
    terms = [relation.terms for relation in system.relations]
    start = np.cumsum([0, *(len(one) for one in terms)], dtype=np.int64)
    number = np.array([place[name] for one in terms for name, _ in one], np.int64)
    row = np.repeat(np.arange(len(terms)), np.diff(start))
    order = np.argsort(number, kind="stable")
    first = np.searchsorted(number[order], np.arange(len(place) + 1)).astype(np.int64)
    return Relations(
        start, number, np.array([factor for one in terms for _, factor in one], np.float64),
        np.array([one.lower for one in system.relations], np.float64),
        np.array([one.upper for one in system.relations], np.float64),
        first, row[order].astype(np.int64), np.array([name in system.integers for name in place], np.bool_),
    )  # fmt: skip


def propagate(bounds: Mapping[str, Interval], system: System) -> dict[str, Interval] | None:
    """Narrow every interval by every relation, a few times over; None when they contradict each other.

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
