"""What numbers a label stands for: "30-39", "5+", "up to 17", "[20, 30)" and their like."""

from __future__ import annotations

import math
import re

__all__ = ["Range", "range_of_label"]

# The least and the greatest number that a label may stand for; equal where it is one number.
Range = tuple[float, float]
_N = r"[+-]?(?:\d[\d ,']*\d|\d)?(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"({_N})")
_BETWEEN = re.compile(rf"([\[(\]])?\s*({_N})\s*(?:-|–|—|to|bis|à|a|,|;)\s*({_N})\s*([\])\[])?", re.IGNORECASE)
_FROM = re.compile(
    rf"(?:({_N})\s*(?:\+|or more|and over|and more|and above|or over|years and over|und mehr|et plus|y más)"
    rf"|(?:>=|≥|from|at least|ab)\s*({_N})|(?:>|over|more than|above)\s*({_N}))",
    re.IGNORECASE,
)
_TO = re.compile(
    rf"(?:(?:<=|≤|up to|at most|bis)\s*({_N})|({_N})\s*(?:or less|and under|or fewer|or under)"
    rf"|(?:<|under|less than|below)\s*({_N}))",
    re.IGNORECASE,
)


def range_of_label(label: str, *, whole: bool = True) -> Range | None:
    """The numbers that a label stands for; None where it names none.

    `whole`: whether the numbers are all whole, so that an end which does not belong to the range is one off.

    Examples
    --------
    >>> [range_of_label(text) for text in ("7", "30-39", "5+", "up to 17", "[20, 30)", "north")]
    [(7.0, 7.0), (30.0, 39.0), (5.0, inf), (-inf, 17.0), (20.0, 29.0), None]
    """
    text = label.strip()
    step = 1.0 if whole else 0.0
    if found := _NUMBER.fullmatch(text):
        value = _value(found[1])
        return None if value is None else (value, value)
    if found := _BETWEEN.fullmatch(text):
        low, high = _value(found[2]), _value(found[3])
        if low is None or high is None or low > high:
            return None
        low += step * (found[1] in ("(", "]"))
        high -= step * (found[4] in (")", "["))
        return (low, high) if low <= high else None
    if found := _FROM.fullmatch(text):
        value = _value(found[1] or found[2] or found[3] or "")
        return None if value is None else (value + step * (found[3] is not None), math.inf)
    if found := _TO.fullmatch(text):
        value = _value(found[1] or found[2] or found[3] or "")
        return None if value is None else (-math.inf, value - step * (found[3] is not None))
    return None


def _value(text: str) -> float | None:
    plain = re.sub(r"[ ,']", "", text)
    try:
        return float(plain)
    except ValueError:
        return None
