"""Choose how coarsely each figure is printed, from nothing but what is printed already.

Figures are printed one after the other. Before each, every print it could have is tried against all that is
known so far, whatever its true number is: the finest step of which no print gives a small count away is taken.
So the steps say nothing that the printed numbers do not say, and who replays the choice on every file that the
document allows learns nothing either (simulatable auditing: Kenthapadi, Mishra & Nissim 2005).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from sdckit.report.gate.figures import DIFFERENCE, Relation, Variable, Watched
from sdckit.report.gate.known import Known
from sdckit.report.gate.propagation import Interval, make_system, propagate
from sdckit.report.gate.rounding import LADDER, Print, last_level, print_bound, print_variable, prints_between

# A number is placed in one of at least so many wide steps before a fine one is chosen.
FEW_STEPS = 4
# A number is placed in ever narrower steps until it could have no more fine prints than these.
NEAR_STEPS = 12
# Prints kept for who asks for the same figures once more: a page drawn anew, a result beside its document.
KEPT = 4
# Who knows what: with all relations, or with those between figures of one table alone.
Readers = dict[Watched, Known]
ENDS = tuple(digit * 10.0**power for power in range(6, -4, -1) for digit in (5, 2, 1))


def settle(variables: Mapping[str, Variable], relations: Sequence[Relation]) -> dict[str, Print]:
    """Print every variable, as finely as the audit allows, in the order they were entered.

    Examples
    --------
    >>> ledger = {"v2": Variable(0, "k"), "v3": Variable(6, "k"), "pairs": Variable(None)}
    >>> prints = settle(ledger, [Relation((("v3", 1), ("v2", -1), ("pairs", -2)))])
    >>> prints["v2"].text, prints["v3"].text
    ('0', '<10')
    """
    return dict(_settled(tuple(variables.items()), tuple(relations)))


@lru_cache(maxsize=KEPT)
def _settled(entered: tuple[tuple[str, Variable], ...], relations: tuple[Relation, ...]) -> dict[str, Print]:
    variables = dict(entered)
    counts = [name for name, variable in variables.items() if variable.kind == "count"]
    sound = sound_relations(variables, relations, counts)
    # First what every document of the file has, as if there were nothing else; then what this one asks for: so
    # documents that ask for different things print the rest alike.
    asked = {name for name, variable in variables.items() if variable.late}
    between = [one for one in sound if all(name not in asked for name, _ in one.terms)]
    linked = {name for one in between for name, _ in one.terms}
    common = {
        name: variable
        for name, variable in variables.items()
        if name not in asked and (variable.true is not None or name in linked)
    }
    chosen: dict[object, int] = {}
    prints, readers = _print_safely(common, common, between, {}, chosen)
    if asked:
        rest = {name: variables[name] for name in variables if name in asked}
        prints |= _print_safely(rest, variables, sound, readers, chosen)[0]
    return prints


def _print_safely(
    some: Mapping[str, Variable],
    variables: Mapping[str, Variable],
    relations: Sequence[Relation],
    before: Readers,
    chosen: dict[object, int],
) -> tuple[dict[str, Print], Readers]:
    """Print some of the variables; again where that gives away a count that was not looked at."""
    insist: set[str] = set()
    while True:
        readers = _readers(variables, relations, insist, before)
        levels = dict(chosen)
        prints = _print_all(some, list(readers.values()), levels)
        found = {name for reader in readers.values() for name in reader.given_away()}
        if found <= insist:
            chosen |= levels
            return prints, readers
        insist |= found


def _print_all(
    variables: Mapping[str, Variable], readers: Sequence[Known], chosen: dict[object, int]
) -> dict[str, Print]:
    prints: dict[str, Print] = {}
    printed = [name for name in variables if variables[name].true is not None]
    _tell_zeros(variables, printed, readers)
    # Counts before estimates: those say little of a count that is rounded already, but a lot of one that is not.
    for name in sorted(printed, key=lambda one: variables[one].kind == "value"):
        variable = variables[name]
        if variable.late:
            for reader in readers:
                reader.is_told(name, variable.told)
        # One number has one print, whatever it is called.
        key = (readers[0].stands_for(name) if readers else name, variable.kind)
        if key not in chosen:
            chosen[key] = _level(name, variable, readers)
        prints[name] = print_variable(variable, chosen[key])
        if prints[name].text == "withheld" and readers and variable.kind == "count":
            prints[name] = print_bound(*readers[0].interval(name))
        for reader in readers:
            reader.learn(name, (prints[name].low, prints[name].high))
    return prints


def _tell_zeros(variables: Mapping[str, Variable], names: Sequence[str], readers: Sequence[Known]) -> None:
    """Take for known which counts are nothing, where neither answer gives anything away: it is what people ask."""
    for name in names:
        variable = variables[name]
        if variable.late or variable.kind != "count" or not readers or math.isnan(variable.true or 0.0):
            continue
        low, high = readers[0].interval(name)
        sides = ((0.0, 0.0), (1.0, high))
        if low > 0 or high <= 0 or not all(one.stays_safe(name, *sides) for one in readers):
            continue
        for reader in readers:
            reader.learn(name, sides[variable.true != 0])


def _level(name: str, variable: Variable, readers: Sequence[Known]) -> int:
    """Find the finest step that gives nothing away, whatever the true number."""
    last = last_level(variable)
    if math.isnan(variable.true or 0.0):
        return last
    if not readers:
        return 0
    _place_roughly(name, variable, readers)
    return next((level for level in range(last) if _is_safe(name, variable, level, readers)), last)


def _place_roughly(name: str, variable: Variable, readers: Sequence[Known]) -> None:
    """Take for known in which of a few wide steps the number lies, where that gives nothing away.

    Then only what could be printed near it decides, not what a file could be in which everybody is alone; and all of
    that is looked at, so that the step says nothing of the number that its print does not.
    """
    if variable.kind == "value":
        _place_by_ends(name, float(variable.true or 0.0), readers)
        return
    for level in range(last_level(variable) - 1, 0, -1):
        low, high = readers[0].interval(name)
        wide = LADDER[level] * FEW_STEPS <= high - low < math.inf
        if wide and _is_safe(name, variable, level, readers):
            told = print_variable(variable, level)
            for reader in readers:
                reader.learn(name, (told.low, told.high))
            low, high = readers[0].interval(name)
            if high - low <= NEAR_STEPS * LADDER[0]:
                return


def _place_by_ends(name: str, true: float, readers: Sequence[Known]) -> None:
    """Take for known which of some round numbers an estimate reaches, from large ones down."""
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
    variables: Mapping[str, Variable],
    relations: Sequence[Relation],
    insist: Collection[str],
    before: Readers,
) -> Readers:
    """Give everything that is known, and what the tables alone say; each with the counts it must not tell.

    `before` knows what is printed already, of fewer numbers.
    """

    def printed(name: str) -> bool:
        return variables[name].true is not None or DIFFERENCE in name

    counts = [name for name, variable in variables.items() if variable.kind == "count"]
    beside = [one for one in relations if all(printed(name) for name, _ in one.terms)]
    found: Readers = {}
    systems: tuple[tuple[Watched, Sequence[Relation]], ...] = (("everywhere", relations), ("table", beside))
    for where, system in systems:
        watched = [name for name in counts if variables[name].watched == where]
        if watched:
            bounds = {name: _before(name, variable) for name, variable in variables.items()}
            if where in before:
                bounds |= {name: before[where].interval(name) for name in before[where].names}
            found[where] = Known(
                bounds, system, counts, watched, insist=[one for one in insist if one in bounds]
            )
    return found


def _before(name: str, variable: Variable) -> Interval:
    """Give what is known of a number before anything is printed."""
    if variable.true is None:
        return variable.told
    if name == "n":
        # Whoever has the released file counts its records.
        return (float(variable.true), float(variable.true))
    if not variable.late:
        # Only an estimate may be negative.
        return (-math.inf if variable.kind == "value" else variable.told[0], variable.told[1])
    return (0.0, math.inf)


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
