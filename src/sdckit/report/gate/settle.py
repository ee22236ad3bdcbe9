"""Choose how coarsely each table is printed: the finest steps that leave the audit nothing to find."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sdckit.report.gate.audit import narrowed
from sdckit.report.gate.figures import DIFFERENCE, Relation, Variable
from sdckit.report.gate.propagation import Interval, System, make_system, propagate
from sdckit.report.gate.rounding import Print, last_level, print_variable

__all__ = ["settle", "sound_relations"]

# How many relations away a table may be from the count it helps to narrow.
REACH = 2
# How many steps one table is coarsened on its own before its neighbours join in.
MOST_STEPS = 3


def settle(variables: Mapping[str, Variable], relations: Sequence[Relation]) -> dict[str, Print]:
    """Print every variable, as finely as the audit allows.

    The choice looks at printed numbers only, so that the steps chosen tell little about the true ones.

    Examples
    --------
    >>> ledger = {"v2": Variable(0, "k"), "v3": Variable(6, "k"), "pairs": Variable(None)}
    >>> prints = settle(ledger, [Relation((("v3", 1), ("v2", -1), ("pairs", -2)))])
    >>> prints["v2"].text, prints["v3"].text
    ('0', '<10')
    """
    counts = [name for name, variable in variables.items() if variable.kind == "count"]
    systems = _systems(variables, sound_relations(variables, relations, counts), counts)
    levels = {variable.group: 0 for variable in variables.values() if variable.true is not None}
    while True:
        prints = _prints(variables, levels)
        found = _find(_bounds(variables, prints), systems)
        if found is None:
            return prints
        name, system = found
        for group in _to_coarsen(name, variables, levels, system):
            levels[group] += 1


def _find(
    bounds: Mapping[str, Interval], systems: Sequence[tuple[System, tuple[str, ...]]]
) -> tuple[str, System] | None:
    for system, watched in systems:
        known = narrowed(bounds, system, watched)
        if known is not None:
            return known, system
    return None


def _systems(
    variables: Mapping[str, Variable], relations: Sequence[Relation], counts: Sequence[str]
) -> tuple[tuple[System, tuple[str, ...]], ...]:
    """Give everything that is known, and what the tables alone say; each with the counts it must not tell."""

    def printed(name: str) -> bool:
        return variables[name].true is not None or DIFFERENCE in name

    beside = [one for one in relations if all(printed(name) for name, _ in one.terms)]
    everywhere = tuple(name for name in counts if variables[name].watched == "everywhere")
    table = tuple(name for name in counts if variables[name].watched == "table")
    return (make_system(relations, counts), everywhere), (make_system(beside, counts), table)


def sound_relations(
    variables: Mapping[str, Variable], relations: Sequence[Relation], integers: Sequence[str]
) -> tuple[Relation, ...]:
    """Keep the relations the true numbers fulfil: nobody learns anything from one that is wrong."""
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


def _prints(variables: Mapping[str, Variable], levels: Mapping[str, int]) -> dict[str, Print]:
    return {
        name: print_variable(variable, min(levels[variable.group], last_level(variable)))
        for name, variable in variables.items()
        if variable.true is not None
    }


def _bounds(variables: Mapping[str, Variable], prints: Mapping[str, Print]) -> dict[str, Interval]:
    bounds = {
        name: (prints[name].low, prints[name].high) if name in prints else (0.0, math.inf)
        for name in variables
    }
    # Whoever has the released file counts its records.
    records = variables.get("n")
    return bounds | ({"n": (float(records.true),) * 2} if records and records.true is not None else {})


def _to_coarsen(
    name: str, variables: Mapping[str, Variable], levels: Mapping[str, int], system: System
) -> list[str]:
    """Find the one table that hides the count when it is coarsened a little; else all tables near it."""
    groups = _groups_near(name, variables, levels, system)
    for steps in range(1, MOST_STEPS + 1):
        for group in groups:
            bounds = _bounds(variables, _prints(variables, {**levels, group: levels[group] + steps}))
            if narrowed(bounds, system, [name]) is None:
                return [group] * steps
    return groups


def _groups_near(
    name: str, variables: Mapping[str, Variable], levels: Mapping[str, int], system: System
) -> list[str]:
    reached, edge = {name}, {name}
    for _ in range(REACH + len(system.relations)):
        groups = _printed_groups(reached, variables, levels)
        if groups and _ >= REACH:
            return groups
        touching = {number for one in edge for number in system.touching.get(one, ())}
        # The file's own size is in every total; coarsening it would hide nothing else.
        edge = {one for number in touching for one, _a in system.relations[number].terms} - reached - {"n"}
        reached |= edge
        if not edge:
            break
    return _printed_groups(reached, variables, levels)


def _printed_groups(
    names: set[str], variables: Mapping[str, Variable], levels: Mapping[str, int]
) -> list[str]:
    kinds: dict[str, str] = {}
    for name in sorted(names):
        variable = variables[name]
        if variable.true is not None and levels[variable.group] < last_level(variable):
            kinds[variable.group] = variable.kind
    # Estimates first: their second digit is worth less than a count's step.
    return sorted(kinds, key=lambda group: (kinds[group] == "count", group))
