"""Figures as anybody reads them: the words of a printed number, and the true numbers these words allow.

Only the rules that every document states are used: 1 to 4 are "<5", other counts go to the nearest 5, or to the
nearest of a coarser step; estimates have two significant digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

Span = tuple[float, float]
ANYTHING: Span = (0.0, math.inf)
STEPS = (5, 10, 20, 50, 100, 200, 500, 1000)


def count_of(leaf: Mapping[str, Any] | None) -> Span | None:
    """The whole numbers a printed count allows; None where nothing of its own is printed."""
    if leaf is None or leaf.get("approximate") or leaf["text"].startswith(("about", "under", "over")):
        return None
    value, below = leaf["value"], leaf.get("below")
    if value is None:
        return (1.0, below - 1.0) if below is not None and leaf["text"].startswith("<") else ANYTHING
    return around(float(value), leaf.get("rounded_to", 5))


def around(value: float, step: int) -> Span:
    """The whole numbers that go to this multiple of the step; a number that is none is exact."""
    if value == 0 or value % step:
        return (value, value)
    return (max(float(step), math.ceil(value - step / 2)), math.ceil(value + step / 2) - 1.0)


def number_of(leaf: Mapping[str, Any] | None, *, cells: bool = False) -> Span | None:
    """The numbers a printed estimate allows; `cells`: an expected number that is rounded like a count."""
    if leaf is None or leaf.get("approximate"):
        return None
    value, below = leaf["value"], leaf.get("below")
    if value is None:
        return (0.0, below) if below is not None else ANYTHING
    if cells:
        step = leaf.get("rounded_to", 5)
        exact = not value or value % step
        return (value, value) if exact else (max(float(step), value - step / 2), value + step / 2)
    return near(leaf["text"])


def sum_of(leaf: Mapping[str, Any]) -> Span | None:
    """The sums that a printed mean of so many people allows: the sum goes to the nearest 5 before it is divided.

    >>> sum_of({"text": "0.33", "value": 0.33, "of": "45"}), sum_of({"text": "<0.11", "value": None, "below": 0.11})
    ((12.5, 17.5), (0.0, 5.0))
    """
    if leaf["value"] is None:
        return (0.0, float(STEPS[0])) if leaf.get("below") is not None else None
    whole = float(leaf["of"].replace(",", ""))
    low, high = (end * whole for end in near(leaf["text"]))
    step = STEPS[0]
    first, last = math.ceil(low / step) * step, math.floor(high / step) * step
    if not leaf["value"] or first > last:  # a number that is none of the steps is exact
        return (low, high)
    return (min(low, first - step / 2), max(high, last + step / 2))


def near(text: str) -> Span:
    """The numbers that two significant digits stand for.

    >>> near("1.1"), near("120"), near("0.050")
    ((1.05, 1.1500000000000001), (115.0, 125.0), (0.0495, 0.0505))
    """
    plain = text.replace(",", "")
    value = float(plain)
    if value == 0:
        return (0.0, 0.0)
    digits = plain.split(".")[1] if "." in plain else ""
    if "e" in plain:
        half = 0.05 * 10.0 ** math.floor(math.log10(abs(value)))
    elif digits:
        half = 0.5 * 10.0 ** -len(digits)
    else:
        half = 0.5 * 10.0 ** (len(plain) - len(plain.rstrip("0")))
    return (max(0.0, value - half), value + half)


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every figure of a document with its place."""
    if isinstance(tree, Mapping):
        if "text" in tree and "value" in tree:
            yield path, tree
        for key, part in tree.items():
            yield from leaves(part, (*path, str(key)))
    elif isinstance(tree, list):
        for number, part in enumerate(tree):
            yield from leaves(part, (*path, str(number)))
