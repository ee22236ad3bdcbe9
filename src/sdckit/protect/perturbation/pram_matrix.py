"""Transition matrices of PRAM: checked as given, or made from the chance of staying, invariant where asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.errors import DataError

__all__ = ["around_diagonal", "given_matrix", "invariant_of", "staying"]

Floats = NDArray[np.float64]
SUM_TOLERANCE = 1e-8


def around_diagonal(stay: Floats) -> Floats:
    """A matrix with these chances of staying and the rest spread evenly over the other levels.

    >>> around_diagonal(np.array([0.8, 1.0])).tolist()
    [[0.8, 0.2], [0.0, 1.0]]
    """
    n = len(stay)
    made = np.repeat(((1 - stay) / max(n - 1, 1))[:, None], n, axis=1)
    np.fill_diagonal(made, stay if n > 1 else 1.0)
    return np.round(made, 15)


def invariant_of(matrix: Floats, shares: Floats) -> Floats:
    """The matrix followed by its reverse: it keeps the shares in expectation.

    `matrix` (shape (L, L)): rows sum to 1. `shares` (shape (L,)): observed shares of the levels.

    >>> shares = np.array([0.9, 0.1])
    >>> np.allclose(shares @ invariant_of(around_diagonal(np.array([0.8, 0.8])), shares), shares)
    True
    """
    joint = matrix * shares[:, None]
    reached = joint.sum(axis=0)
    back = np.divide(joint, reached, out=np.eye(len(shares)), where=reached > 0).T  # never reached: stays
    return np.asarray(matrix @ back, np.float64)


def staying(
    given: float | Mapping[Any, float], levels: Sequence[str], numeric: bool, rng: np.random.Generator
) -> Floats:
    """The chance of staying of each level: drawn between the number given and 1, or as given by level.

    Raises `DataError`: a level without one, or no probability.
    """
    if not isinstance(given, Mapping):
        return rng.uniform(given, 1.0, len(levels))
    place = _places(levels, numeric)
    found = np.full(len(levels), np.nan)
    for level, chance in given.items():
        at = place.get(_named(level, numeric), -1)
        if at >= 0:
            found[at] = _chance(chance, "pd=")
    if np.isnan(found).any():
        raise DataError(
            f"pd= gives no chance of staying for {int(np.isnan(found).sum())} levels of the data; "
            "give all, or one number",
            argument="pd",
        )
    return found


def given_matrix(
    given: Mapping[Any, Mapping[Any, float]], levels: Sequence[str], numeric: bool, column: str
) -> Floats:
    """The matrix of a column in the order of its levels.

    `given`: ``{level: {level: probability}}``, what is left out is 0. `levels`: printed levels of the data.
    `numeric`: whether the levels are numbers. Raises `DataError`: not a stochastic matrix over the levels of
    the data.

    >>> given_matrix({1: {1: 0.9, 2: 0.1}, 2: {2: 1}}, ["1", "2"], True, "sex").tolist()
    [[0.9, 0.1], [0.0, 1.0]]
    """
    place, made = _places(levels, numeric), np.zeros((len(levels), len(levels)))
    rows = np.zeros(len(levels), np.bool_)
    for number, (start, row) in enumerate(given.items(), start=1):
        if not isinstance(row, Mapping):
            raise DataError(f"matrix of {column!r}: write it as {{level: {{level: probability}}}}")
        chances = [_chance(chance, f"matrix of {column!r}, row {number}") for chance in row.values()]
        if abs(math.fsum(chances) - 1) > SUM_TOLERANCE:
            raise DataError(
                f"matrix of {column!r} is not stochastic: row {number} sums to {math.fsum(chances):.6g}, not to 1"
            )
        at = place.get(_named(start, numeric), -1)
        if at < 0:
            continue  # a level that nobody has
        rows[at] = True
        for target, chance in zip(row, chances, strict=True):
            to = place.get(_named(target, numeric), -1)
            if to < 0 and chance > 0:
                raise DataError(
                    f"matrix of {column!r}: row {number} leads to a level that no record has; "
                    "leave it out, or add the level to the data first"
                )
            if to >= 0:
                made[at, to] += chance
    if not rows.all():
        lacking = int((~rows).sum())
        raise DataError(f"matrix of {column!r} has no row for {lacking} of {len(levels)} levels of the data")
    return np.asarray(made / made.sum(axis=1, keepdims=True), np.float64)


def _named(level: Any, numeric: bool) -> float | str:
    """One name for a level however it is written: 1, 1.0 and "1" of a column of numbers are the same."""
    if not numeric:
        return str(level)
    try:
        return float(level)
    except (TypeError, ValueError):
        return str(level)


def _places(levels: Sequence[str], numeric: bool) -> dict[float | str, int]:
    return {_named(level, numeric): at for at, level in enumerate(levels)}


def _chance(value: object, where: str) -> float:
    if not arguments.is_number(value) or not 0 <= value <= 1:
        raise DataError(f"{where}: a probability is a number from 0 to 1")
    return float(value)
