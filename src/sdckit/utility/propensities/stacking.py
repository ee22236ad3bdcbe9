"""An original and a release, one below the other, as codes and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

FEATURES = 150_000_000  # numbers of a matrix that is written out
DENSE = 4  # combinations of levels are counted in a table where they are at most so many times the records


@dataclass(frozen=True, eq=False)
class Atom:
    """A variable as far as one kind of column goes.

    `kind`: "level" for its categories, "value" for its numbers, "gap" for whether its number is missing. `labels`:
    what its columns print after the variable's name; the baseline of a category is left out. `slot`: where it
    stands in `Stacked.codes` or `Stacked.values`.
    """

    variable: str
    kind: str
    labels: tuple[str, ...]
    slot: int


@dataclass(frozen=True, eq=False)
class Stacked:
    """The rows of an original and a release, or their distinct ones.

    `codes` (n_code_atoms, n_rows): 0 is the baseline: the smallest level; a missing value is the last one. `values`
    (n_value_atoms, n_rows): 0 where missing. `original` and `released` (n_rows,): records of each file that a row
    stands for. `constant`: variables with a single value, that have no atom.
    """

    atoms: tuple[Atom, ...]
    codes: NDArray[np.int32]
    values: Floats
    original: Floats
    released: Floats
    constant: tuple[str, ...]

    @property
    def total(self) -> Floats:
        """Records of both files that each row stands for."""
        return self.original + self.released

    @property
    def share(self) -> float:
        """Share of the records that are released, c."""
        return float(self.released.sum() / self.total.sum())

    def in_order(self) -> Stacked:
        """The same with the rows in an order that depends on their values only."""
        if not self.atoms:
            return self
        return self.take(np.lexsort((*self.values, *self.codes)))

    def take(self, rows: NDArray[np.int64] | slice) -> Stacked:
        """Some of the rows."""
        return replace(
            self, codes=self.codes[:, rows], values=self.values[:, rows], original=self.original[rows],
            released=self.released[rows],
        )  # fmt: skip


def stack(pair: Pair, release: int, names: Sequence[str], numeric: Sequence[str], *, scale: bool) -> Stacked:
    """Put a release below the original.

    `release`: from 0 on. `numeric`: those of the variables that are numbers. `scale`: numbers as deviations from
    their mean in standard deviations (of both files together); rows that are alike in all of only categories
    counted.

    >>> import polars as pl
    >>> from sdckit.cells.pair import open_pair
    >>> a, b = pl.DataFrame({"x": ["p", "q", "q"]}), pl.DataFrame({"x": ["q", None]})
    >>> found = stack(open_pair(a, b, categories={"v": ["x"]}), 0, ["x"], [], scale=True)
    >>> found.codes.tolist(), found.original.tolist(), found.released.tolist()
    ([[0, 1, 2]], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0])
    """
    n, size = pair.n, pair.sizes[release]
    atoms: list[Atom] = []
    codes: list[NDArray[np.int32]] = []
    values: list[Floats] = []
    constant = []
    for name in names:
        before = len(atoms)
        if name in numeric:
            files = pair.numbers(name)
            number, gap = _number(np.concatenate([files[0], files[1 + release]]), scale=scale)
            if number is not None:
                atoms.append(Atom(name, "value", ("",), len(values)))
                values.append(number)
            if gap is not None:
                atoms.append(Atom(name, "gap", (" (missing)",), len(codes)))
                codes.append(gap)
        else:
            level, present = _level(pair, name, release)
            if len(present) > 1:
                printed = pair.codes(name).labels()
                labels = tuple("=" + printed[code] for code in present[1:].tolist())
                atoms.append(Atom(name, "level", labels, len(codes)))
                codes.append(level)
        if len(atoms) == before:
            constant.append(name)
    released = np.zeros(n + size)
    released[n:] = 1.0
    stacked = Stacked(
        tuple(atoms), np.array(codes, np.int32).reshape(len(codes), n + size),
        np.array(values).reshape(len(values), n + size), 1.0 - released, released, tuple(constant),
    )  # fmt: skip
    return _counted(stacked) if scale and not values else stacked


def _number(values: Floats, *, scale: bool) -> tuple[Floats | None, NDArray[np.int32] | None]:
    """A number with 0 where it is missing, and where that is; None for what does not vary."""
    missing = np.isnan(values)
    gap = missing.astype(np.int32) if missing.any() else None
    known = values if gap is None else values[~missing]
    low, high = float(known.min()), float(known.max())
    if low == high:
        return None, gap
    if scale:
        largest = max(-low, high)  # divided out first: squares of very large numbers are no numbers
        known = known / largest
        values = (values / largest - known.mean()) / known.std()
    return (values if gap is None else np.where(missing, 0.0, values)), gap


def _level(pair: Pair, name: str, release: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Codes from 0 on of the levels that occur in either file, and which levels they are."""
    shared = pair.codes(name)
    files = shared.codes[0], shared.codes[1 + release]
    counts = np.bincount(files[0], minlength=shared.n_levels + 1)
    counts = counts + np.bincount(files[1], minlength=shared.n_levels + 1)
    present = np.flatnonzero(counts[1:]) + 1
    if counts[0]:
        present = np.append(present, 0)
    table = np.zeros(shared.n_levels + 1, np.int32)
    table[present] = np.arange(len(present))
    return np.concatenate([table[files[0]], table[files[1]]]), present


def _counted(stacked: Stacked) -> Stacked:
    """One row per combination of categories, where they are few."""
    n = stacked.codes.shape[1]
    widths = [len(atom.labels) + 1 for atom in stacked.atoms]
    if not widths or math.prod(widths) > DENSE * n:
        return stacked
    place = np.zeros(n, np.int64)
    for width, codes in zip(widths, stacked.codes, strict=True):
        place *= width
        place += codes
    size = math.prod(widths)
    original, released = (
        np.bincount(place, weights=weight, minlength=size).astype(np.float64)
        for weight in (stacked.original, stacked.released)
    )
    kept = np.flatnonzero(original + released)
    codes = np.array(np.unravel_index(kept, widths), np.int32)
    return Stacked(
        stacked.atoms, codes, stacked.values[:, : len(kept)], original[kept], released[kept], stacked.constant
    )


def features_of(stacked: Stacked, dtype: Any, *, level: float = 1.0) -> tuple[NDArray[Any], list[str]]:
    """A matrix: numbers, and a column for each level (one for two levels) that is 0 elsewhere.

    `level`: what stands in the columns of variables with more than two levels; 1 in those of others. Returns the
    matrix (n_rows, n_columns) and the variable of each column. Raises DataError: it would be too large.
    """
    all_levels = [atom.kind == "level" and len(atom.labels) > 1 for atom in stacked.atoms]
    widths = [len(atom.labels) + every for atom, every in zip(stacked.atoms, all_levels, strict=True)]
    n = stacked.codes.shape[1]
    if n * sum(widths) > FEATURES:
        raise DataError(
            f"{n} rows of {sum(widths)} columns (one per category) are too many; give fewer variables=[...], "
            "coarser levels, or a sample (for a propensity model='logit' needs no such matrix)"
        )
    matrix = np.zeros((n, sum(widths)), dtype, order="F")
    first = 0
    for atom, every, width in zip(stacked.atoms, all_levels, widths, strict=True):
        if atom.kind == "value":
            matrix[:, first] = stacked.values[atom.slot]
        else:
            for j in range(width):
                at = stacked.codes[atom.slot] == j + (not every)
                matrix[:, first + j] = at * level if every else at
        first += width
    variables = [
        atom.variable for atom, width in zip(stacked.atoms, widths, strict=True) for _ in range(width)
    ]
    return matrix, variables
