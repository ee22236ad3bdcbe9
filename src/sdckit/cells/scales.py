"""Whether the levels of a column are numbers, an ordered scale, or codes: decided here for every advice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.levels import numbers_of
from sdckit.data.columns import Coded
from sdckit.numerics.array_types import Floats

Scale: TypeAlias = Literal["number", "date", "ordered", "codes", "unknown"]

MANY = 20  # fewer whole numbers than these may as well be codes
VERY_MANY = 100  # amounts of money have so many values, and span orders of magnitude
REGULAR = 2 / 3  # of the gaps between numbers are equal, and of their range is used
JUMPY = 3.0  # squared differences of neighbours, beside those that chance alone would make
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def scale_of(
    level: Coded,
    codes: NDArray[np.int64],
    size: NDArray[np.int64],
    *,
    numeric: bool = False,
    ordered: bool = False,
) -> Scale:
    """What the levels of a column are.

    `codes` and `size` (L,): the codes in use, missing aside, and the records of each. `numeric` and `ordered`: what
    is declared, which wins. Else dates are dates, numbers with fractions are numbers, ordered categories and labels
    that are ranges ("15-19", "20-24") are ordered, and text and all other categories are codes. Whole numbers are
    numbers where they are spread like numbers; of few it cannot be told.

    >>> import polars as pl
    >>> from sdckit.data.columns import code_column
    >>> from sdckit.data.frames import open_frame
    >>> frame = open_frame(pl.DataFrame({"job": [1, 2, 9], "pay": [1.5, 2.0, 2.5]}))
    >>> [scale_of(code_column(frame[name]), np.arange(3), np.ones(3, int)) for name in ("job", "pay")]
    ['unknown', 'number']
    """
    if level.kind == "date":
        return "date"
    if ordered:
        return "ordered"
    if level.kind in ("integer", "number"):
        values = numbers_of(level, codes)
        assert values is not None
        place = np.argsort(values, kind="stable")
        if numeric or is_spread_like_numbers(values[place], size[place]):
            return "number"
        return "unknown"
    if level.kind == "category" and (level.ordered or holds_ranges(level.labels(np.sort(codes)))):
        return "ordered"
    return "codes"


def is_spread_like_numbers(values: Floats, size: NDArray[np.int64]) -> bool:
    """Whether distinct values, ascending, with `size` records each, are spread as measured numbers are.

    Numbers have fractions; or they are many, most gaps between them are equal, and neighbours are held by similar
    numbers of records (ages, years); or they are very many and span orders of magnitude (amounts), where codes have
    the same number of digits. Codes of provinces that run from 1 to 81 jump from one to the next.

    >>> ages = np.arange(0.0, 80.0)
    >>> is_spread_like_numbers(ages, np.full(80, 100)), is_spread_like_numbers(ages[:9], np.full(9, 100))
    (True, False)
    >>> is_spread_like_numbers(ages, np.tile([400, 20, 90, 5], 20))
    False
    """
    if (values != np.floor(values)).any():
        return True
    if len(values) < MANY:
        return False
    positive = values[values > 0]
    if len(values) >= VERY_MANY and len(positive) and positive[-1] >= 1000 * positive[0]:
        return True
    cut = max(1, len(values) // 40)  # a code of missing values far away is no gap
    inner, held = values[cut:-cut], size[cut:-cut].astype(np.float64)
    gaps, often = np.unique(np.diff(inner), return_counts=True)
    usual = gaps[np.argmax(often)]
    steps = (inner[-1] - inner[0]) / usual
    if often.max() < REGULAR * (len(inner) - 1) or len(inner) - 1 < REGULAR * steps:
        return False
    jumps = float((np.diff(held) ** 2).mean())
    by_chance = 2 * float(held.mean())
    return jumps <= JUMPY * by_chance or jumps <= float(held.var())


def holds_ranges(labels: Sequence[str]) -> bool:
    """Whether labels, in their order, are ranges of numbers that ascend: half of them name both ends.

    >>> holds_ranges(["under 15", "15-19", "20-24", "25+"]), holds_ranges(["Region 1", "Region 2", "Region 3"])
    (True, False)
    """
    found = [NUMBER.findall(label) for label in labels]
    if len(found) < 3 or not all(found) or 2 * sum(len(one) == 2 for one in found) < len(found):
        return False
    ends = [float(re.sub(r"[.,](?=\d{3}\b)", "", one[0]).replace(",", ".")) for one in found]
    return ends == sorted(ends) and ends[0] < ends[-1]
