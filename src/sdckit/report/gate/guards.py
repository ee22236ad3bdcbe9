"""After the audit: one number has one print, and what few records carry is withheld or told in few digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sdckit.report.gate.figures import Ledger, Quantity, Variable
from sdckit.report.gate.rounding import LADDER, WITHHELD, Print, format_number, print_variable

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


def coarsest(ledger: Ledger, prints: Mapping[str, Print]) -> Callable[[int], str]:
    """Give what words write for a count: as coarsely as anything is printed that it could be, 1 to 4 all alike.

    It goes by what is printed, never by which numbers are equal: a print of their own would tell that they are.
    """
    wide: list[tuple[float, float, int]] = []
    for name, one in prints.items():
        if ledger.variables[name].kind == "count" and one.base != LADDER[0] and one.high > 0:
            base = one.base or min(one.high, SMALLEST_GUARD)
            level = next(at for at, step in enumerate(LADDER) if step >= base)
            wide.append((one.low, one.high, level))

    def in_words(n: int) -> str:
        least, most = (1, LADDER[0] - 1) if 0 < n < LADDER[0] else (n, n)
        level = max((level for low, high, level in wide if low <= most and high >= least), default=0)
        return print_variable(Variable(n), level).text

    return in_words
