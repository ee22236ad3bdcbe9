"""E7: swap each value with one of similar rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.frames import open_frame
from sdckit.data.replace import open_eager, take_rows, with_numbers
from sdckit.data.seeds import open_rng
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.threads import run
from sdckit.protect.by_household import in_two_parts
from sdckit.protect.change import Change, Protected
from sdckit.protect.draws import key
from sdckit.protect.numeric_columns import became_fractions, chosen, count_changed, numbers
from sdckit.protect.perturbation.rank_swap_kernel import partners, ranked_rows

DEFAULT_P = 5.0


@dataclass(frozen=True)
class _Limit:
    """How far values may move: by ranks in percent, or by what it does to the variable."""

    p: float | None
    r0: float | None
    k0: float | None

    def squared(self, values: Floats) -> float:
        """The mean squared change allowed."""
        if self.r0 is not None:
            return 2 * float(values.var()) * (1 - self.r0)
        assert self.k0 is not None
        return (self.k0 * float(values.mean())) ** 2


@dataclass(frozen=True, eq=False)
class _Swapped:
    """What came of a column: the row that lends each record its value, and rows with a mean instead."""

    source: Ints
    window: int
    ends: list[tuple[Ints, float]]


def rank_swap(
    data: Any,
    *,
    columns: Sequence[str],
    p: float | None = None,
    r0: float | None = None,
    k0: float | None = None,
    top: float = 0.0,
    bottom: float = 0.0,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Swap each number with one of similar rank, column by column.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables of numbers to change, each independently.
    p : float, optional
        Most ranks between partners, in percent of the values present; 0 to 100. Default 5, where neither
        `r0` nor `k0` is given.
    r0 : float, optional
        Instead of `p`: a window as wide as leaves at least this correlation between the values swapped and
        those before, 0 to 1. Correlations with other variables shrink to about this share.
    k0 : float, optional
        Instead of `p`: a window as wide as leaves the root mean square change at most this share of the
        absolute mean.
    top, bottom : float
        Percent of the largest and smallest values that are replaced by their mean instead of being swapped.
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. With `top` and `bottom` 0 each column keeps exactly its values.

    Raises
    ------
    ColumnError
        A column that the data does not have.
    DataError
        Text, infinite values, a constant column; a window of less than one rank; more than one of `p`, `r0`
        and `k0`.

    Notes
    -----
    Ranks are taken in random order among equal values. From the lowest rank up, each that is not yet swapped
    takes a partner at random among those above it in its window that are not either; one that finds none is
    taken into a pair within reach. Only in windows of a few ranks may one find neither, and stay. Missing
    values stay and have no rank. Windows by `r0` and `k0` are found by trying them: the figure is that of the
    very swap that is made.

    References
    ----------
    Moore, R. A. (1996). Controlled data-swapping techniques for masking public use microdata sets.
    US Bureau of the Census, SRD Research Report RR 96-04.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"id": range(6), "income": [10, 60, 20, 50, 30, 40]})
    >>> found = rank_swap(survey, columns=["income"], p=20, seed=1)
    >>> found.data["income"].to_list(), found.change.changed
    ([20, 50, 10, 60, 40, 30], {'income': 6})
    """
    names = chosen(columns)
    limit = _check_options(p, r0, k0, top, bottom)
    parted = in_two_parts(
        data, names, household, household_variables, seed,
        lambda part, some, own: rank_swap(
            part, columns=some, p=p, r0=r0, k0=k0, top=top, bottom=bottom, seed=own
        ),
    )  # fmt: skip
    if parted is not None:
        return parted
    frame = open_eager(data, {"columns": names})
    values = numbers(frame, names, constant="so there is nothing to swap")
    rng, secret = open_rng(seed)
    keys = [(key(rng), key(rng)) for _ in names]

    def swapped(work: tuple[str, tuple[np.uint64, np.uint64]]) -> _Swapped:
        return _swap(values[work[0]], work[0], limit, top / 100, bottom / 100, work[1])

    found = dict(zip(names, run(swapped, zip(names, keys, strict=True)), strict=True))
    made = {name: values[name][one.source] for name, one in found.items()}
    out = take_rows(frame, {name: one.source for name, one in found.items()})
    averaged = {name: made[name] for name, one in found.items() if one.ends}
    for name, column in averaged.items():
        for rows, mean in found[name].ends:
            column[rows] = mean
    if averaged:
        out = with_numbers(open_eager(open_frame(out), {}), averaged)
    change = Change(
        "rank_swap", len(frame), count_changed(values, made),
        parameters={
            "columns": list(names), "p": limit.p, "r0": r0, "k0": k0, "top": float(top), "bottom": float(bottom),
        },
        secret={"seed": secret, "window": {name: one.window for name, one in found.items()}},
        notes=became_fractions(frame, out, names),
    )  # fmt: skip
    return Protected(out, change)


def _swap(
    values: Floats, name: str, limit: _Limit, top: float, bottom: float, keys: tuple[np.uint64, np.uint64]
) -> _Swapped:
    rows = np.flatnonzero(~np.isnan(values))
    order = ranked_rows(values[rows] if len(rows) < len(values) else values, rows, keys[0])
    low, high = math.floor(bottom * len(order) + 1e-9), len(order) - math.floor(top * len(order) + 1e-9)
    middle = order[low:high]
    window = _window(values[middle], name, limit, len(order), keys[1])
    source = np.arange(len(values))
    source[middle] = middle[partners(len(middle), window, keys[1])]
    ends = [(part, float(values[part].mean())) for part in (order[:low], order[high:]) if len(part)]
    return _Swapped(source, window, ends)


def _window(ordered: Floats, name: str, limit: _Limit, n: int, start: np.uint64) -> int:
    """How many ranks apart partners are at most."""
    if limit.p is not None:
        window = math.floor(limit.p / 100 * n + 1e-9)
        if window < 1:
            raise DataError(
                f"p = {limit.p:g} % of the {n} values of {name!r} is less than one rank; "
                f"raise p to {math.ceil(1000 / n) / 10:g} or more"
            )
        return window
    allowed = limit.squared(ordered) * (1 + 1e-9)

    def holds(window: int) -> bool:
        moved = ordered[partners(len(ordered), window, start)] - ordered
        return float((moved**2).mean()) <= allowed

    low, high = 0, len(ordered)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    if low < 1:
        given, todo = ("r0", "lower r0") if limit.r0 is not None else ("k0", "raise k0")
        raise DataError(
            f"column {name!r}: no two ranks can be swapped within {given}; {todo}, "
            "or leave out the extremes by top= and bottom="
        )
    return low


def _check_options(p: object, r0: object, k0: object, top: float, bottom: float) -> _Limit:
    given = {name: one for name, one in {"p": p, "r0": r0, "k0": k0}.items() if one is not None}
    if len(given) > 1:
        says = f"give one of p, r0 and k0, not {' and '.join(given)}: each says how far values may move"
        raise DataError(says, argument=list(given)[-1])
    for name, one in (("top", top), ("bottom", bottom)):
        arguments.within(one, name, "is a percentage of the values", 0, 100, "[)")
    if top + bottom >= 100:
        raise DataError("top and bottom are percentages, together below 100", argument="top")
    if r0 is not None:
        return _Limit(None, arguments.within(r0, "r0", "is the correlation to be left", 0, 1, "[)"), None)
    if k0 is not None:
        return _Limit(None, None, arguments.amount_above(k0, "k0", "is a share of the mean"))
    says, ranks = "is how many ranks apart partners are, in percent", DEFAULT_P if p is None else p
    return _Limit(arguments.within(ranks, "p", says, 0, 100, "(]"), None, None)
