"""Names of bands read as the ranges of numbers they stand for: our own and the usual spellings."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

# The least and the greatest number that a label may stand for; equal where it is one number.
Range = tuple[float, float]
NUMBER = r"(-?\d+(?:\.\d+)?)"
UNIT = re.compile(r"\s*(?:years?|yrs?|jahren?|ans|años)(?: old)?$")
DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"})
INTERVAL = re.compile(rf"([\[(\]])\s*(?:{NUMBER}|-?(?:inf|∞))\s*[,;]\s*(?:{NUMBER}|\+?(?:inf|∞))\s*([\])\[])")
RANGE = re.compile(rf"{NUMBER}\s*(?:-|to|bis|\.\.)\s*{NUMBER}")
SINGLE = re.compile(NUMBER)
FROM = re.compile(
    rf"(?:>=|from|at least|ab)\s*{NUMBER}|"
    rf"{NUMBER}\s*(?:\+|plus|(?:and|or) (?:over|more|above|older)|und (?:mehr|älter|darüber)|oder mehr)"
)
ABOVE = re.compile(rf"(?:>|over|above|more than|über|mehr als)\s*{NUMBER}")
UP_TO = re.compile(
    rf"(?:<=|up to|at most|bis zu|bis)\s*{NUMBER}|"
    rf"{NUMBER}\s*(?:and|or) (?:under|less|below|younger)|{NUMBER}\s*und (?:weniger|jünger|darunter)"
)
BELOW = re.compile(rf"(?:<|under|below|less than|unter|weniger als)\s*{NUMBER}")


class Band(NamedTuple):
    """A range; `has_low` and `has_high` say whether its ends belong to it, `dashed` that no sign says so."""

    low: float
    high: float
    has_low: bool = True
    has_high: bool = True
    dashed: bool = False

    @property
    def single(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high


def read_band(label: str) -> Band | None:
    """Read one name; None where it names no range of numbers.

    Examples
    --------
    >>> read_band("30-39")[:2], read_band("65+")[:2], read_band("at most 17")[:2]
    ((30.0, 39.0), (65.0, inf), (-inf, 17.0))
    >>> read_band("under 18").has_high, read_band("(0, 1.5]").has_low, read_band("unknown")
    (False, False, None)
    """
    text = label.strip().translate(DASHES).replace("≤", "<=").replace("≥", ">=").casefold()
    text = UNIT.sub("", text)
    if text == "any":
        return Band(-math.inf, math.inf)
    if found := INTERVAL.fullmatch(text):
        opened, low, high, closed = found.groups()
        lowest = -math.inf if low is None else float(low)
        highest = math.inf if high is None else float(high)
        return _ordered(Band(lowest, highest, opened == "[", closed == "]"))
    if (found := RANGE.fullmatch(text)) and not _is_code(found[1], found[2]):
        return _ordered(Band(float(found[1]), float(found[2]), dashed=True))
    if found := SINGLE.fullmatch(text):
        return Band(float(found[1]), float(found[1]))
    for pattern, above, has in (
        (FROM, True, True),
        (ABOVE, True, False),
        (UP_TO, False, True),
        (BELOW, False, False),
    ):
        if found := pattern.fullmatch(text):
            edge = float(next(part for part in found.groups() if part is not None))
            return Band(edge, math.inf, has_low=has) if above else Band(-math.inf, edge, has_high=has)
    return None


def _is_code(low: str, high: str) -> bool:
    """Whether two numbers are parts of a code, as in 25-00703: zeros before the second, and not as before the first."""
    return len(high) > 1 and high[0] == "0" and high[1] != "." and len(low) != len(high)


def _ordered(band: Band) -> Band | None:
    return band if band.low <= band.high else None


def range_of_label(label: str, *, whole: bool = True) -> Range | None:
    """The least and the greatest number that a label may stand for; None where it names none.

    `whole`: whether the numbers are all whole, so that an end which does not belong to the range is one off.

    Examples
    --------
    >>> [range_of_label(text) for text in ("7", "30-39", "5+", "up to 17", "[20, 30)", "north")]
    [(7.0, 7.0), (30.0, 39.0), (5.0, inf), (-inf, 17.0), (20.0, 29.0), None]
    """
    band = read_band(label)
    if band is None:
        return None
    step = 1.0 if whole else 0.0
    low, high = band.low + step * (not band.has_low), band.high - step * (not band.has_high)
    return (low, high) if low <= high else None
