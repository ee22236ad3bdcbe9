"""B1: numbers matched together, within a radius of standard deviations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.identity.matching.matching_kernel import Category, Interval
from sdckit.numerics.array_types import Bools, Floats, Ints


def match_in_ball(
    categories: Sequence[Category], intervals: Sequence[Interval], spreads: Sequence[float], own: Ints
) -> tuple[Ints, Bools]:
    """For each target the released records of its group within the radius, and whether its own is one of them.

    The numbers of a target and of the released records are in ``intervals``, all of one width, the radius; `spreads`:
    the standard deviation of each. `own` (targets,): the released record made from each.
    """
    first = intervals[0]
    radius = first.width + first.tol if first.closed else first.width - first.tol
    units = np.array([one or 1.0 for one in spreads])
    target = np.stack([one.target for one in intervals], axis=1) / units
    released = np.stack([one.released for one in intervals], axis=1) / units
    mine, theirs = _groups(categories, target, released)
    target, released = np.nan_to_num(target), np.nan_to_num(released)
    away = np.sqrt(((target - released[own]) ** 2).sum(axis=1))
    within = away <= radius if first.closed else away < radius
    return _counted(target, released, mine, theirs, radius, closed=first.closed), (
        mine == theirs[own]
    ) & within


def _groups(categories: Sequence[Category], target: Floats, released: Floats) -> tuple[Ints, Ints]:
    """The group of each record: equal categories, and the same numbers missing."""
    n = len(target)
    columns = [np.concatenate([one.target, one.released]) for one in categories]
    gaps = np.isnan(np.vstack([target, released])).astype(np.int32)
    columns += [gap for gap in gaps.T if gap.any()]
    if not columns:
        return np.zeros(n, np.int64), np.zeros(len(released), np.int64)
    found = group_codes(columns, n + len(released)).of_row.astype(np.int64)
    return found[:n], found[n:]


def _counted(
    target: Floats, released: Floats, mine: Ints, theirs: Ints, radius: float, *, closed: bool
) -> Ints:
    """Released records of the same group within the radius of each target, group by group."""
    from scipy.spatial import KDTree

    count = np.zeros(len(target), np.int64)
    if radius < 0 or (radius == 0 and not closed):
        return count
    reach = radius if closed else np.nextafter(radius, 0.0)
    order, others = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
    for group, start, stop in _runs(mine[order]):
        low, high = np.searchsorted(theirs[others], [group, group + 1])
        if low < high:
            rows = order[start:stop]
            tree = KDTree(released[others[low:high]])
            count[rows] = tree.query_ball_point(target[rows], reach, return_length=True, workers=-1)
    return count


def _runs(codes: Ints) -> list[tuple[int, int, int]]:
    """Each value of sorted codes with where it begins and ends."""
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]]) if len(codes) else np.zeros(0, np.int64)
    ends = np.r_[starts[1:], len(codes)]
    return list(zip(codes[starts].tolist(), starts.tolist(), ends.tolist(), strict=True))
