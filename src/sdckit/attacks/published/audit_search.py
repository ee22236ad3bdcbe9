"""Levels that only a search in whole numbers rules out: sums of values are too far apart for a solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.linear_bounds import Relations, find_point, narrow

MOST_SEARCHED = 200  # unknowns of a block
MOST_ENDS = 500  # dead ends of one search
WORK = 40_000  # unknowns times searches of a block
IMPOSSIBLE, POSSIBLE, UNDECIDED = 0, 1, 2


def search_levels(matrix: Any, lower: Floats, upper: Floats, low: Floats, high: Floats, member: Any) -> Ints:
    """Say of each group of unknowns (a row of `member`) whether one of them can be 1 or more: 0 no, 1 yes, 2 not known.

    `matrix` (R, X) sparse: the relations within `lower` and `upper`; `low`, `high` (X,): ends of the unknowns. A search
    goes through all that narrowing leaves, and is given up after 500 dead ends.
    """
    relations = _relations(matrix, lower, upper)
    found = np.full(member.shape[0], UNDECIDED)
    every = np.arange(len(low))
    searches = 0
    for group in range(len(found)):
        if found[group] == POSSIBLE:
            continue
        answers = []
        for unknown in member.indices[member.indptr[group] : member.indptr[group + 1]]:
            if searches * len(low) > WORK:
                return found
            searches += 1
            answer, point = _search(relations, low, high, int(unknown), every)
            answers.append(answer)
            if answer == POSSIBLE:
                has = np.asarray(member @ np.round(point)).ravel() >= 1
                found[has] = POSSIBLE
                break
        if found[group] != POSSIBLE and all(one == IMPOSSIBLE for one in answers):
            found[group] = IMPOSSIBLE
    return found


def _search(relations: Relations, low: Floats, high: Floats, unknown: int, every: Ints) -> tuple[int, Floats]:
    """Whether some point has an unknown of 1 or more, and the point."""
    own_low, own_high = low.astype(np.float64), high.astype(np.float64)
    own_low[unknown] = max(own_low[unknown], 1.0)
    if own_low[unknown] > own_high[unknown] or not narrow(relations, own_low, own_high, -1):
        return IMPOSSIBLE, own_low
    answer = find_point(relations, own_low, own_high, every, 0, MOST_ENDS)
    if answer == POSSIBLE and not _holds(relations, np.round(own_low)):
        return UNDECIDED, own_low
    return (UNDECIDED if answer < 0 else int(answer)), own_low


def _holds(relations: Relations, point: Floats) -> bool:
    """Whether a point meets the relations exactly: narrowing allows for rounding."""
    row = np.repeat(np.arange(len(relations.lower)), np.diff(relations.start))
    total = np.bincount(row, relations.factor * point[relations.number], len(relations.lower))
    return bool(((total >= relations.lower) & (total <= relations.upper)).all())


def _relations(matrix: Any, lower: Floats, upper: Floats) -> Relations:
    by_row, by_column = matrix.tocsr(), matrix.tocsc()
    return Relations(
        by_row.indptr.astype(np.int64), by_row.indices.astype(np.int64), by_row.data.astype(np.float64),
        lower.astype(np.float64), upper.astype(np.float64), by_column.indptr.astype(np.int64),
        by_column.indices.astype(np.int64), np.ones(matrix.shape[1], np.bool_),
    )  # fmt: skip
