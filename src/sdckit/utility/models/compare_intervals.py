"""F7: given confidence intervals of an original and its releases, compared quantity by quantity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sdckit.data import arguments, frames
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats
from sdckit.result import Result
from sdckit.utility.models.interval_overlap import VERSIONS, Version, shared_part

ORIGINAL, RELEASED = "original", "released"


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class IntervalComparison(Result):
    """Intervals of p quantities from the original, and from each release.

    Attributes
    ----------
    n_terms : int
        Quantities.
    overlap : dict
        ``overlap[release][quantity]``: the interval overlap; see `interval_overlap`.
    mean_overlap, min_overlap : float
        Mean and smallest overlap over quantities and releases; NaN where none is defined.
    """

    measure: ClassVar[str] = "compare_intervals"
    figures: ClassVar[tuple[str, ...]] = ("n_terms", "mean_overlap", "min_overlap", "overlap")
    names: tuple[str, ...]
    intervals: dict[str, Floats] = field(repr=False)
    overlap: dict[str, dict[str, float]]
    n: int = 0
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def n_terms(self) -> int:
        """Quantities."""
        return len(self.names)

    @property
    def mean_overlap(self) -> float:
        """Mean overlap over quantities and releases."""
        known = self._defined()
        return math.fsum(known) / len(known) if known else math.nan

    @property
    def min_overlap(self) -> float:
        """Smallest overlap over quantities and releases."""
        return min(self._defined(), default=math.nan)

    def forest(self) -> Any:
        """The rows of a forest plot, as a PyArrow table: ``term``, ``file``, ``estimate``, ``low``, ``high``."""
        rows = [(j, file) for j in range(self.n_terms) for file in self.intervals]
        columns: dict[str, list[Any]] = {"term": [self.names[j] for j, _ in rows], "file": [file for _, file in rows]}
        for place, part in ((1, "estimate"), (0, "low"), (2, "high")):
            columns[part] = [float(self.intervals[file][j, place]) for j, file in rows]
        return frames.frame_of(columns, "pyarrow")

    def _defined(self) -> list[float]:
        return [share for by_name in self.overlap.values() for share in by_name.values() if not math.isnan(share)]


# --- measure ------------------------------------------------------------------------------------------


def compare_intervals(
    confidential: ArrayLike,
    released: ArrayLike | Mapping[str, ArrayLike],
    *,
    names: Sequence[str] | None = None,
    version: Version = "snoke",
    level: float = 0.95,
    n: int | None = None,
) -> IntervalComparison:
    """Put intervals from the original and from releases side by side, with a forest plot.

    Parameters
    ----------
    confidential : array, shape (p, 2) or (p, 3)
        Of each quantity the lower and upper end, or lower end, estimate and upper end, from the original.
    released : array, or mapping of str to array
        The same from the release, or from each of several by its name.
    names : sequence of str, optional
        Of the quantities; default ``"1"`` to ``"p"``.
    version : {"snoke", "drechsler_reiter", "posterior"}
        Of the overlap; see `interval_overlap`.
    level : float
        Coverage of the intervals, between 0 and 1; only the version "posterior" asks for it.
    n : int, optional
        Records that the intervals rest on: of fewer than 50 no picture may leave the room.

    Returns
    -------
    IntervalComparison
        ``overlap``, ``mean_overlap``, ``min_overlap``, ``forest()``. ``plot(internal=True)`` draws the intervals as
        given; a picture that may leave the room has the estimates in two digits and no ends, as that of
        `compare_models`.

    Raises
    ------
    DataError
        Not rows of two or three ascending finite numbers, different numbers of quantities, names that do not fit,
        an unknown version; a level out of range.

    Notes
    -----
    Where no estimate is given the middle of the interval stands for it.

    References
    ----------
    Lewis, S. and Clarke, M. (2001). Forest plots: trying to see the wood and the trees. BMJ 322, 1479-1480. Of the
    overlap: see `interval_overlap`.

    Examples
    --------
    >>> found = compare_intervals([[9870.15, 10524.61]], [[9822.29, 10401.72]], names=["mean expenditure"])
    >>> found.overlap["released"]["mean expenditure"].__round__(7)
    0.8648142
    """
    arguments.choice(version, "version", VERSIONS)
    arguments.level(level, says="is the coverage of the intervals")
    if n is not None:
        arguments.count(n, "n", "is the number of records that the intervals rest on")
    known = _rows(confidential, "confidential")
    if isinstance(released, Mapping):
        given = {str(name): _rows(rows, f"released[{name!r}]") for name, rows in released.items()}
    else:
        given = {RELEASED: _rows(released, "released")}
    if not given or ORIGINAL in given:
        raise DataError(f"released: give at least one release; none may be called {ORIGINAL!r}", argument="released")
    for name, table in given.items():
        if len(table) != len(known):
            words = f"confidential has {len(known)} quantities and {name!r} {len(table)}; give one row for each in all"
            raise DataError(words, argument="released")
    named = arguments.names(names, "names")
    labels = tuple(map(str, range(1, len(known) + 1) if named is None else named))
    if len(labels) != len(known):
        raise DataError(f"names: there are {len(labels)} for {len(known)} quantities", argument="names")
    overlap = {
        name: dict(zip(labels, shared_part(known[:, ::2], rows[:, ::2], version, level).tolist(), strict=True))
        for name, rows in given.items()
    }
    undefined = sum(math.isnan(share) for by_name in overlap.values() for share in by_name.values())
    notes = {"overlap": f"{undefined} undefined: an interval has no length"} if undefined else {}
    return IntervalComparison(labels, {ORIGINAL: known, **given}, overlap, n or 0, notes)


def _rows(given: Any, name: str) -> Floats:
    """Lower bound, estimate and upper bound of each quantity."""
    how = f"{name}: give a row (low, high) or (low, estimate, high) for each quantity, in finite numbers"
    try:
        rows = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(how, argument=name.partition("[")[0]) from None
    if rows.ndim != 2 or rows.shape[1] not in {2, 3} or len(rows) == 0 or not np.isfinite(rows).all():
        raise DataError(how, argument=name.partition("[")[0])
    if len(crossed := np.flatnonzero((np.diff(rows, axis=1) < 0).any(axis=1))):
        raise DataError(f"{name}: the numbers of row {crossed[0] + 1} do not ascend", argument=name.partition("[")[0])
    if rows.shape[1] == 2:
        rows = np.column_stack([rows[:, 0], rows.mean(axis=1), rows[:, 1]])
    return rows
