"""Names of bands read as the ranges they stand for: our own and the usual spellings."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from sdckit.protect.recoding.bands import Bands

__all__ = ["Band", "SharedEdge", "read_band", "read_bands"]

SharedEdge: TypeAlias = Literal["left", "right"]
MOST = 2_000  # names of bands; a column with more different texts is no column of bands

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
    if found := RANGE.fullmatch(text):
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


def _ordered(band: Band) -> Band | None:
    return band if band.low <= band.high else None


def read_bands(labels: Sequence[str], *, shared: SharedEdge | None = None) -> Bands | None:
    """Read all names of a column; None where one is no band, all are single numbers, or two overlap.

    `shared` says to which band an edge belongs that stands in two names, as in "30-40" and "40-50"; without it
    such names overlap.

    Examples
    --------
    >>> read_bands(["18-39", "under 18", "40+"]).labels
    ('under 18', '18-39', '40+')
    >>> read_bands(["30-40", "40-50"]) is None, read_bands(["1", "2"]) is None
    (True, True)
    >>> read_bands(["30-40", "40-50"], shared="left").codes(np.array([40.0])).tolist()
    [1]
    """
    if not 0 < len(labels) <= MOST:
        return None
    found = []
    for label in labels:
        band = read_band(label)
        if band is None:
            return None
        found.append((band, label))
    if all(band.single for band, _ in found):
        return None
    found.sort(key=lambda one: one[0][:2])
    bands = [band for band, _ in found]
    if shared is not None:
        bands = _parted(bands, shared)
    for one, other in pairwise(bands):
        if one.high > other.low or (one.high == other.low and one.has_high and other.has_low):
            return None
    low, high = (np.array([band[i] for band in bands], np.float64) for i in (0, 1))
    has_low, has_high = (np.array([band[i] for band in bands], np.bool_) for i in (2, 3))
    return Bands(low, high, has_low, has_high, tuple(label for _, label in found))


def _parted(bands: Sequence[Band], shared: SharedEdge) -> list[Band]:
    """Give an edge that two dashed bands share to one of them."""
    made = list(bands)
    for i, (one, other) in enumerate(pairwise(bands)):
        if one.high == other.low and one.dashed and not one.single:
            if shared == "left":
                made[i] = made[i]._replace(has_high=False)
            elif other.dashed:
                made[i + 1] = made[i + 1]._replace(has_low=False)
    return made
