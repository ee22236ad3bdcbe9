"""Options of the correct attribution probability, checked; and the files as its search reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.disclosure.near_matches import Side
from sdckit.cells.packing import SharedGroups, group_files
from sdckit.cells.pair import Pair
from sdckit.data import arguments
from sdckit.errors import ColumnError


@dataclass(frozen=True)
class Width:
    """How near a number must come: half the interval around the true value."""

    half: float
    relative: bool
    tol: float

    def around(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper end, both included.

        Examples
        --------
        >>> [end.tolist() for end in Width(0.5, True, 0.0).around(np.array([-2.0, 0.0, 2.0]))]
        [[-3.0, 0.0, 1.0], [-1.0, 0.0, 3.0]]
        """
        half = self.half * np.abs(values) if self.relative else self.half
        return values - half - self.tol, values + half + self.tol


def widths_by_name(
    width: float | Mapping[str, float] | None,
    relative: bool | Mapping[str, bool],
    tol: float,
    target: Sequence[str],
) -> dict[str, Width]:
    """The width of each number among the targets; the others are categories."""
    if width is not None and not isinstance(width, Mapping):
        if len(target) > 1:
            words = "width is for one number; with several targets give width={name: width}"
            raise ColumnError(words, argument="width")
        width = {target[0]: width}
    given = dict(width or {})
    if unknown := [name for name in given if name not in target]:
        raise ColumnError(f"width: {unknown[0]!r} is not a target", argument="width")
    says = "is how far a value may be off (0.1: within 10 % of the true value where relative=True)"
    given = {name: arguments.amount(one, "width", says) for name, one in given.items()}
    tol = arguments.amount(tol, "tol", "is what rounding may add to a width")
    if isinstance(relative, Mapping) and (unknown := [name for name in relative if name not in given]):
        raise ColumnError(f"relative: {unknown[0]!r} has no width", argument="relative")
    if not isinstance(relative, Mapping):
        relative = dict.fromkeys(given, arguments.flag(relative, "relative"))
    kinds = {name: arguments.flag(one, "relative") for name, one in relative.items()}
    return {name: Width(one, kinds.get(name, True), tol) for name, one in given.items()}


def target_groups(pair: Pair, target: Sequence[str], widths: Mapping[str, Width]) -> SharedGroups:
    """The files grouped by the categories of the target, and by whether its numbers are missing."""
    columns = [pair.codes(name).codes for name in target if name not in widths]
    columns += [
        tuple(np.isnan(values).astype(np.int32) for values in pair.numbers(name, "numeric target"))
        for name in widths
    ]
    return group_files(columns)


def sides(
    pair: Pair, keys: Sequence[str], targets: SharedGroups, widths: Mapping[str, Width]
) -> tuple[Side, tuple[Side, ...]]:
    """The original with the interval around each number; and every file, the original first, with the numbers."""
    codes = list(zip(*(pair.codes(name).codes for name in keys), strict=True))
    n = (pair.n, *pair.sizes)
    # a missing number lies nowhere: its group says so, and 0 stands for it on both sides
    numbers = [[np.nan_to_num(one) for one in pair.numbers(name, "numeric target")] for name in widths]
    ends = [width.around(values[0]) for width, values in zip(widths.values(), numbers, strict=True)]
    low, high = (np.array([end[side] for end in ends]).reshape(len(widths), n[0]) for side in (0, 1))
    files = []
    for file, rows in enumerate(n):
        values = np.array([one[file] for one in numbers]).reshape(len(widths), rows)
        files.append(Side(codes[file], targets.of_row[file], values, values))
    return Side(codes[0], targets.of_row[0], low, high), tuple(files)
