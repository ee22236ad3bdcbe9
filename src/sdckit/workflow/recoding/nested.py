"""Values that each became one other value: groups of codes, limits, multiples, found in two columns row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.recoding.round_to import multiples

CONFIRMED = 10  # records that must repeat what another record of their value shows
FEWEST = 3  # numbers that must have changed before a limit or a base is believed
SAMPLE = 200


def nested_map(before: Ints, after: Ints) -> Ints | None:
    """The one value that each value became, -1 where no record shows it; None where one became several.

    Both are numbered from 0, -1 being missing; a value that became missing was suppressed and says nothing.

    >>> nested_map(np.array([0, 0, 1, 2]), np.array([5, -1, 5, -1])).tolist()
    [5, 5, -1]
    >>> nested_map(np.array([0, 0]), np.array([5, 6])) is None
    True
    """
    shown = (before >= 0) & (after >= 0)
    if (after[before < 0] >= 0).any():
        return None
    image = np.full(int(before.max(initial=-1)) + 1, -1, np.int64)
    image[before[shown]] = after[shown]
    if (image[before[shown]] != after[shown]).any():
        return None
    return image


def speaks_for_groups(before: Ints, image: Ints, same: NDArray[np.bool_]) -> bool:
    """Whether a mapping is too regular to be chance: values of several records each, changed all alike.

    `same` says which values kept their name. A value of one record always became one other value: that says nothing.
    """
    counts = np.bincount(before[before >= 0], minlength=len(image))
    changed = (image >= 0) & ~same
    alone = int((counts[changed] == 1).sum())
    return bool((counts[changed] - 1).sum() >= CONFIRMED and 2 * alone <= changed.sum())


def found_limits(before: Floats, after: Floats) -> tuple[float | None, float | None] | None:
    """The limits, bottom and top, to which smaller and larger numbers were brought; None where it was not so.

    >>> found_limits(np.array([1.0, 5, 8, 9, 12]), np.array([1.0, 5, 6, 6, 6]))
    (None, 6.0)
    >>> found_limits(np.array([1.0, 5, 8, 9, 12]), np.array([1.0, 5, 6, 6, 7])) is None
    True
    """
    shown = ~np.isnan(before) & ~np.isnan(after)
    first, second = before[shown], after[shown]
    if (first != second).sum() < FEWEST:
        return None
    low, high = float(second.min()), float(second.max())
    if not np.array_equal(np.clip(first, low, high), second):
        return None
    return low if (first < low).any() else None, high if (first > high).any() else None


def found_base(before: Floats, after: Floats) -> tuple[float, str] | None:
    """The number to whose multiples numbers were rounded, and how; None where it was not so.

    >>> found_base(np.array([12.0, 18, 26, 31]), np.array([10.0, 20, 30, 30]))
    (10.0, 'nearest')
    """
    shown = ~np.isnan(before) & ~np.isnan(after)
    first, second = before[shown], after[shown]
    if (first != second).sum() < FEWEST or not np.isfinite(second).all() or np.abs(second).max() >= 2.0**53:
        return None
    if len(np.unique(second)) < FEWEST:  # a few values are multiples of anything
        return None
    for base in _bases(float(np.abs(second).max())):
        if not _are_multiples(second[:SAMPLE], base) or not _are_multiples(second, base):
            continue
        for how in ("nearest", "down"):
            if np.array_equal(multiples(first, base, how, None), second):
                return base, how
    return None


def _bases(largest: float) -> list[float]:
    found = [float(f"{digit}e{power}") for power in range(9, -4, -1) for digit in (5, 2.5, 2, 1)]
    return [base for base in found if base <= max(largest, 1.0)]


def _are_multiples(values: Floats, base: float) -> bool:
    return bool(np.array_equal(multiples(values, base, "nearest", None), values))
