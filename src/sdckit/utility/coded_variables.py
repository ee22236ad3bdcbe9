"""Variables of an original and its releases as levels: categories as they are, numbers cut into classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.shared_coding import SharedCoding, classes_of
from sdckit.data import arguments
from sdckit.errors import ColumnError
from sdckit.numerics.threads import run
from sdckit.utility.chosen_variables import Chosen

Bins = int | Mapping[str, int]
BINS = 5
SAMPLE = 2_000  # values that are looked at first to see whether a variable has many
MISSING_RULE = "a missing value is a level of its own"


def bins_of(bins: Bins, numeric: Sequence[str]) -> dict[str, int]:
    """The number of classes of each number.

    Raises ColumnError: a dict names a variable that is not numeric; DataError: a number of classes below 2.

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


def coded_variables(chosen: Chosen, bins: Bins) -> tuple[list[SharedCoding], tuple[str, ...], dict[str, str]]:
    """Read the variables as levels, numbers cut at the quantiles of all files pooled; name the numbers, and notes.

    One with no more different values than classes is taken value by value: the quantiles of a code of 1 and 2
    would put both into one class. Where nobody declared it numeric, it is no number then.
    """
    classes, notes = bins_of(bins, chosen.numeric), dict(chosen.notes)
    whole = [name for name, k in classes.items() if _few(chosen.pair, name, k)]
    if whole:
        notes["values"] = f"taken value by value because they have so few: {', '.join(whole)}"

    def read(name: str) -> SharedCoding:
        if name in whole or name not in classes:
            return chosen.pair.codes(name)
        return classes_of(name, chosen.pair.numbers(name), classes[name])

    kept = (name for name in chosen.names if name in classes)
    numbers = tuple(name for name in kept if chosen.declared or name not in whole)
    found = run(read, chosen.names)
    return found, numbers, notes | _level_notes(found)


def _few(pair: Pair, name: str, k: int) -> bool:
    """Whether a column has at most k different values, missing aside, in all files together."""
    sample = pair.numbers(name)[0][:SAMPLE]
    if len(np.unique(sample[~np.isnan(sample)])) > k:
        return False
    return pair.codes(name).n_levels <= k


def _level_notes(variables: Sequence[SharedCoding]) -> dict[str, str]:
    """Say which variables are constant, have no value in common, or are missing in some files only."""
    seen = {one.name: one.counts > 0 for one in variables}
    constant = [name for name, has in seen.items() if has.any(axis=0).sum() == 1]
    apart = [name for name, has in seen.items() if not (has[0] & has[1:].any(axis=0))[1:].any()]
    gaps = [name for name, has in seen.items() if has[:, 0].any() and not has[:, 0].all()]
    found = (
        ("constant", "a single level in all files", constant),
        ("levels", "no value in common between the original and any release", apart),
        ("missing", "missing values in some of the files only", gaps),
    )
    return {key: f"{words}: {', '.join(names)}" for key, words, names in found if names}
