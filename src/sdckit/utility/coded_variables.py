"""Variables of an original and its releases as levels: categories as they are, numbers cut into classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair
from sdckit.data import arguments
from sdckit.errors import ColumnError
from sdckit.numerics.quantile_bins import quantile_bins
from sdckit.numerics.threads import run
from sdckit.utility.chosen_variables import Chosen
from sdckit.utility.table_counts import count_levels

__all__ = ["BINS", "MISSING_RULE", "Bins", "CodedVariable", "bins_of", "coded_variables", "level_notes"]

Bins = int | Mapping[str, int]
BINS = 5
SAMPLE = 2_000  # values that are looked at first to see whether a variable has many
MISSING_RULE = "a missing value is a level of its own"


@dataclass(frozen=True, eq=False)
class CodedVariable:
    """One variable as levels, coded alike in every file.

    Attributes
    ----------
    name : str
    codes : tuple of ndarray, int32
        Level of each record, the original first: 1 to `n_levels`, 0 where missing.
    n_levels : int
    counts : ndarray, int64, shape (files, n_levels + 1)
        Records of each file with each level.
    number : bool
        Whether it is a number to those who calculate: declared so, or stored so with many values.
    cut : bool
        Whether the levels are classes of numbers.
    labels : function
        Printed form of the levels from 0 on.
    """

    name: str
    codes: tuple[NDArray[np.int32], ...]
    n_levels: int
    counts: NDArray[np.int64]
    number: bool
    cut: bool
    labels: Callable[[], list[str]]


def bins_of(bins: Bins, numeric: Sequence[str]) -> dict[str, int]:
    """The number of classes of each number.

    Raises
    ------
    ColumnError
        A dict names a variable that is not numeric.
    DataError
        A number of classes below 2.

    Examples
    --------
    >>> bins_of({"age": 10}, ["age", "pay"])
    {'age': 10, 'pay': 5}
    """
    given = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(numeric, bins)
    if unknown := [name for name in given if name not in numeric]:
        raise ColumnError(f"bins: {unknown[0]!r} is not among the numeric variables", argument="bins")
    asked = given.values() if isinstance(bins, Mapping) else (bins,)
    for one in asked:
        arguments.count(one, "bins", "is a number of classes, or a dict with one per variable", at_least=2)
    return {name: int(given.get(name, BINS)) for name in numeric}


def coded_variables(chosen: Chosen, bins: Bins, notes: dict[str, str]) -> list[CodedVariable]:
    """Read the variables as levels, numbers cut at the quantiles of all files pooled.

    One with no more different values than classes is taken value by value: the quantiles of a code of 1 and 2
    would put both into one class. Where nobody declared it numeric, it is no number then.
    """
    classes = bins_of(bins, chosen.numeric)
    declared = "numeric" not in chosen.notes
    whole = [name for name, k in classes.items() if _few(chosen.pair, name, k)]
    if whole:
        notes["values"] = f"taken value by value because they have so few: {', '.join(whole)}"

    def read(name: str) -> CodedVariable:
        number = name in classes and (declared or name not in whole)
        return _read(chosen.pair, name, None if name in whole else classes.get(name), number=number)

    return run(read, chosen.names)


def _few(pair: Pair, name: str, k: int) -> bool:
    """Whether a column has at most k different values, missing aside, in all files together."""
    sample = pair.numbers(name)[0][:SAMPLE]
    if len(np.unique(sample[~np.isnan(sample)])) > k:
        return False
    return pair.codes(name).n_levels <= k


def _read(pair: Pair, name: str, classes: int | None, *, number: bool) -> CodedVariable:
    if classes is None:
        shared = pair.codes(name)
        codes, n_levels, labels = shared.codes, shared.n_levels, shared.labels
    else:
        values = pair.numbers(name)
        found = quantile_bins(values, classes)
        codes, n_levels, labels = tuple(map(found.codes, values)), found.n_bins, found.labels
    counts = np.array([count_levels(one, n_levels + 1) for one in codes])
    return CodedVariable(name, codes, n_levels, counts, number, classes is not None, labels)


def level_notes(variables: Sequence[CodedVariable], notes: dict[str, str]) -> None:
    """Say which variables are constant, have no value in common, or are missing in some files only."""
    seen = {one.name: one.counts > 0 for one in variables}
    constant = [name for name, has in seen.items() if has.any(axis=0).sum() == 1]
    apart = [name for name, has in seen.items() if not (has[0] & has[1:].any(axis=0))[1:].any()]
    gaps = [name for name, has in seen.items() if has[:, 0].any() and not has[:, 0].all()]
    for key, words, names in (
        ("constant", "a single level in all files", constant),
        ("levels", "no value in common between the original and any release", apart),
        ("missing", "missing values in some of the files only", gaps),
    ):
        if names:
            notes[key] = f"{words}: {', '.join(names)}"
