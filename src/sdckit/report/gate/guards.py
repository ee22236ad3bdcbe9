"""After the audit: one number has one print, and what few records carry is withheld or told in few digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sdckit.report.gate.figures import Ledger, Quantity
from sdckit.report.gate.rounding import LADDER, WITHHELD, Print, format_number

__all__ = ["SMALLEST_GUARD", "alike", "by_records", "coarsest", "guarded"]

# Records that a figure needs to be printed where it could tell them: from fewer, two digits would tell how many.
SMALLEST_GUARD = 50
# Records in the last digit of a figure that they alone carry.
FEWEST_IN_A_DIGIT = 5


def alike(
    prints: Mapping[str, Print], quantities: Mapping[str, Quantity], ledger: Ledger
) -> dict[str, Print]:
    """Print one number one way wherever it stands, as it is printed most coarsely.

    One number are those of one quantity, and those that a relation says are equal.
    """
    first: dict[str, str] = {name: name for name in prints}

    def find(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    def unite(one: str, other: str) -> None:
        if ledger.variables[one].true == ledger.variables[other].true:
            first[find(one)] = find(other)

    known: dict[Quantity, str] = {}
    for name in prints:
        unite(name, known.setdefault(quantities[name], name))
    for relation in ledger.relations:
        if len(relation.terms) != 2 or relation.lower or relation.upper:
            continue
        (one, a), (other, b) = relation.terms
        if a + b == 0 and one in first and other in first:
            unite(one, other)
    widest: dict[str, Print] = {}
    for name, printed in prints.items():
        kept = widest.setdefault(find(name), printed)
        if printed.high - printed.low > kept.high - kept.low:
            widest[find(name)] = printed
    return {name: widest[find(name)] for name in prints}


def guarded(prints: Mapping[str, Print], ledger: Ledger) -> dict[str, Print]:
    """Withhold the figures that could tell a few records, or take their second digit."""
    return {
        name: by_records(one, [prints[at] for at in ledger.variables[name].guard])
        for name, one in prints.items()
    }


def by_records(one: Print, bases: Sequence[Print], nothing: float = 0.0) -> Print:
    """A figure by the records behind it: withheld, with one digit, or as it is."""
    if any(base.text != "0" and (base.value or 0) < SMALLEST_GUARD for base in bases):
        return WITHHELD
    n = min((base.value for base in bases if base.value), default=math.inf)
    if not one.value or one.base is not None:
        return one
    power = math.floor(math.log10(abs(one.value)) + 1e-9)
    if 10.0 ** (power - 1) >= FEWEST_IN_A_DIGIT * abs(one.value - nothing) / n:
        return one
    text = format_number(one.value, 1)
    value, half = float(text.replace(",", "")), 10.0**power / 2
    return replace(
        one, text=text, value=value, low=min(one.low, value - half), high=max(one.high, value + half)
    )


def coarsest(ledger: Ledger, prints: Mapping[str, Print]) -> dict[int, str]:
    """Give the coarsest print of every count that is not rounded to 5, for words that speak of it."""
    found: dict[int, Print] = {}
    for name, one in prints.items():
        true = ledger.variables[name].true
        if ledger.variables[name].kind != "count" or true is None or one.base == LADDER[0]:
            continue
        known = found.get(int(true))
        if known is None or (one.base or math.inf) > (known.base or math.inf):
            found[int(true)] = one
    return {true: one.text for true, one in found.items()}
