"""How one number is printed, and the interval of true numbers that its print allows.

Counts: 0 is printed, 1 to 4 become "<5", others go to the nearest 5; where the audit asks for it, to the
nearest 10, 20, 50, ... Estimates: two significant digits, then one, then a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sdckit.report.gate.figures import Kind, Quantity, Variable

# Printed texts that carry their quantity, so that a document can be checked for contradictions.


Leaf = Mapping[str, Any]


@dataclass(frozen=True)
class Identity:
    """How a printed figure is computed, and from which quantities."""

    how: str
    of: tuple[Quantity, ...]


class Printed(str):
    """The text of a figure with its identity; `span` is the width of the interval that the text allows.

    Examples
    --------
    >>> uniques = Identity("count", (Quantity("records alone", "original"),))
    >>> Printed("<5", uniques, 4.0), Printed("<5", uniques, 4.0).identity.of[0].base
    ('<5', 'original')
    """

    __slots__ = ("identity", "span")
    identity: Identity
    span: float

    def __new__(cls, text: str, identity: Identity, span: float = 0.0) -> Printed:
        """A text with its identity."""
        printed = super().__new__(cls, text)
        printed.identity, printed.span = identity, span
        return printed

    def __getnewargs__(self) -> tuple[str, Identity, float]:  # type: ignore[override]
        """Arguments of `__new__`, for copies."""
        return str(self), self.identity, self.span

    def __deepcopy__(self, memo: object) -> Printed:
        """Itself: nothing in it changes."""
        return self


def leaves(tree: Any) -> Iterator[Leaf]:
    """Every printed figure of a protected tree."""
    if isinstance(tree, Mapping):
        if isinstance(tree.get("text"), Printed):
            yield tree
        for subtree in tree.values():
            yield from leaves(subtree)
    elif isinstance(tree, list | tuple):
        for subtree in tree:
            yield from leaves(subtree)


# Steps a count may be rounded to, finest first; beyond the last it is withheld.
LADDER = (5, 10, 20, 50, 100, 200, 500, 1000)
INFINITY = math.inf
# Number of possible prints up to which all are checked; of more, so many near each bound.
MOST_LOOKED_AT, AT_AN_END = 40, 3
# How far a sum stays below the end of its step: in a census it is whole, and the end belongs to the next step.
JUST = 1e-6


@dataclass(frozen=True)
class Print:
    """A printed number: text, value if public, and the interval of true numbers it allows."""

    text: str
    value: float | None
    low: float
    high: float
    below: float | None = None
    base: int | None = None

    @property
    def midpoint(self) -> float:
        """What a reader may calculate with: the value, or the upper bound."""
        return self.value if self.value is not None else (self.below or 0.0)


WITHHELD = Print("withheld", None, 0.0, INFINITY)


def format_count(n: float) -> str:
    """Write a whole number with commas.

    Examples
    --------
    >>> format_count(6365)
    '6,365'
    """
    return f"{int(n):,}"


def format_number(x: float, digits: int = 2) -> str:
    """Write a number to some significant digits, without an exponent where that is readable.

    Examples
    --------
    >>> format_number(0.015821), format_number(158.2), format_number(0.00000123)
    ('0.016', '160', '0.0000012')
    """
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else "undefined"
    rounded = _significant(x, digits)
    power = math.floor(math.log10(abs(rounded)))
    places = max(0, digits - 1 - power)
    return f"{rounded:.1e}" if places > 8 else f"{rounded:,.{places}f}"


def _significant(x: float, digits: int) -> float:
    return round(x, digits - 1 - math.floor(math.log10(abs(x))))


def last_level(variable: Variable) -> int:
    """Level at which a number is withheld."""
    return 3 if variable.kind == "value" else len(LADDER)


def print_variable(variable: Variable, level: int) -> Print:
    """Print a true number at a level of coarseness (0 is the finest).

    Examples
    --------
    >>> print_variable(Variable(3), 0).text, print_variable(Variable(7), 0).text
    ('<5', '5')
    >>> print_variable(Variable(7), 1).text, print_variable(Variable(0.01582, kind="value"), 0).text
    ('<10', '0.016')
    """
    true = variable.true
    if true is None:
        raise ValueError("a number that is never printed has no print")
    if math.isnan(true):
        return Print("undefined", None, 0.0, INFINITY)
    if level >= last_level(variable):
        return WITHHELD
    if variable.kind == "value":
        return _print_value(true, level)
    return _print_count(true, LADDER[level], whole=variable.kind == "count")


def _print_count(true: float, base: int, *, whole: bool) -> Print:
    low, high = _ends_of_count(true, base, whole=whole)
    if true == 0:
        return Print("0", 0, low, high, base=base)
    if true < base:
        return Print(f"<{base}", None, low, high, base, base)
    nearest = _nearest(true, base)
    return Print(format_count(nearest), nearest, low, high, base=base)


def _nearest(true: float, base: int) -> int:
    return math.floor(true / base + 0.5) * base


def _ends_of_count(true: float, base: int, *, whole: bool) -> tuple[float, float]:
    """The interval that the print of a count allows; a sum of weights is not `whole`."""
    if true == 0:
        return 0.0, 0.0
    if true < base:
        return (1.0, base - 1.0) if whole else (0.0, base - JUST)
    nearest, half = _nearest(true, base), base / 2
    low = max(float(base), math.ceil(nearest - half) if whole else nearest - half)
    return low, math.ceil(nearest + half) - 1.0 if whole else nearest + half - JUST


def _print_value(true: float, level: int) -> Print:
    low, high = _ends_of_value(true, level)
    if true == 0:
        return Print("0", 0.0, low, high)
    if true < 0:
        mirrored = _print_value(-true, min(level, 1))
        return Print(f"-{mirrored.text}", -(mirrored.value or 0.0), low, high)
    if level == 2:
        return Print(f"<{format_number(high, 1)}", None, low, high, high)
    return Print(format_number(true, 2 - level), _significant(true, 2 - level), low, high)


def _ends_of_value(true: float, level: int) -> tuple[float, float]:
    """The interval that the print of an estimate allows."""
    if true == 0:
        return 0.0, 0.0
    if true < 0:
        low, high = _ends_of_value(-true, min(level, 1))
        return -high, -low
    if level == 2:  # below this power of ten, and not below the one before: else that would be printed
        power = math.floor(math.log10(true))
        return 10.0**power, 10.0 ** (power + 1)
    value = _significant(true, 2 - level)
    step = 10.0 ** (math.floor(math.log10(value) + 1e-9) - (1 - level))
    at_decade = math.isclose(value, 10.0 ** round(math.log10(value)))
    return value - (step / 20 if at_decade else step / 2), value + step / 2


def print_bound(low: float, high: float) -> Print:
    """Print the upper bound of a count that follows from earlier prints; "withheld" if it is large.

    Examples
    --------
    >>> print_bound(0, 19).text, print_bound(0, 5000).text
    ('under 20', 'withheld')
    """
    if high >= LADDER[-1]:
        return WITHHELD
    if high == 0:
        return Print("0", 0, 0, 0)
    return Print(f"under {format_count(high + 1)}", None, low, high, high + 1)


@lru_cache(1024)  # of figures near each other, and of two readers, mostly the same
def prints_between(kind: Kind, level: int, known: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    """Intervals of all prints that a figure between the `known` bounds could have.

    Of more than 40 only those near the bounds, where they disclose most, and one between.

    Examples
    --------
    >>> prints_between("count", 0, (0, 11))
    ((0.0, 0.0), (1.0, 4.0), (5.0, 7.0), (8, 12.0))
    """
    low, high = max(0.0, known[0]), known[1]
    if kind == "value":
        end = high if math.isfinite(high) else max(1.0, 10 * low)
        spans = [_ends_of_value(estimate, level) for estimate in _values_between(low, end, level)]
        return tuple(dict.fromkeys(spans))
    base = LADDER[level]
    first = _step_of(low, base)
    last = _step_of(high, base) if math.isfinite(high) else first + 2 * AT_AN_END
    steps = list(range(first, last + 1)) if last - first < MOST_LOOKED_AT else []
    if not steps:
        steps = [*range(first, first + AT_AN_END + 1), (first + last) // 2]
        steps += range(last - AT_AN_END, last + 1)
    whole = kind == "count"
    spans = [_ends_of_count(_least(step, base, kind), base, whole=whole) for step in sorted(set(steps))]
    return tuple(dict.fromkeys(spans))


def _values_between(low: float, high: float, level: int) -> list[float]:
    """One estimate for each print within a decade; a selection in a wider interval."""
    some = [low, *(low + share * (high - low) for share in (0.001, 0.01, 0.1, 0.5, 0.9)), high]
    if not 0 < low < high <= 10 * low or level > 1:
        return some
    for power in (10.0 ** math.floor(math.log10(low)), 10.0 ** (math.floor(math.log10(low)) + 1)):
        step, first, last = power / 10 ** (1 - level), max(low, power), min(high, 10 * power)
        some += [number * step for number in range(math.ceil(first / step), math.floor(last / step) + 1)]
    return some


def _step_of(true: float, base: int) -> int:
    """Number of the step that a count is in: -1 for 0, 0 for fewer than the base."""
    return -1 if true == 0 else 0 if true < base else math.floor(true / base + 0.5)


def _least(step: int, base: int, kind: Kind) -> float:
    if step < 1:
        return 0.0 if step < 0 else 1.0 if kind == "count" else 0.5
    return float(step * base)


def print_exact(variable: Variable) -> Print:
    """Print a number as it is, for a confidential document."""
    true = variable.true
    if true is None or math.isnan(true):
        return Print("undefined", None, 0.0, INFINITY)
    if variable.kind == "count":
        return Print(format_count(true), int(true), true, true)
    return Print(f"{true:.6g}", true, true, true)
