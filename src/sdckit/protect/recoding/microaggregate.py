"""E5: microaggregation: groups of k and more similar records, each value replaced by the mean of its group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sdckit.data import arguments, replace
from sdckit.data.columns import first_rows
from sdckit.data.seeds import open_rng
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import in_place, means_of
from sdckit.numerics.outlying import robust_distances
from sdckit.numerics.threads import run
from sdckit.protect import by_household, change as changes
from sdckit.protect.change import Protected
from sdckit.protect.recoding.mdav_kernel import mdav_groups

ONE_BY_ONE = ("univariate", "individual_ranking")
METHODS = ("mdav", "rmd", "pca", "single", "simple", *ONE_BY_ONE)
MEASURES = ("mean", "median")


def ranked(order: Ints, k: int) -> Ints:
    """Groups of k consecutive records along an order; the last has up to 2k - 1.

    >>> ranked(np.array([4, 2, 0, 1, 3]), 2).tolist()
    [1, 1, 0, 1, 0]
    """
    return in_place(np.minimum(np.arange(len(order)) // k, max(0, len(order) // k - 1)), order)


@njit(cache=True, nogil=True)
def _cut(x, k, size):  # type: ignore[no-untyped-def]
    """Dynamic programme of optimal univariate microaggregation: the sizes of the last groups.

    `x` (n,): ascending values. Fills `size` (n + 1,): the size of the last group in the best grouping of the first
    values, for each number of them.
    """
    best = np.full(len(x) + 1, np.inf)
    best[0] = 0.0
    for end in range(k, len(x) + 1):
        mean, within = 0.0, 0.0
        for s in range(1, min(2 * k - 1, end) + 1):
            away = x[end - s] - mean
            mean += away / s
            within += away * (x[end - s] - mean)
            if s >= k and best[end - s] + within < best[end]:
                best[end], size[end] = best[end - s] + within, s


def optimal(values: Floats, k: int) -> Ints:
    """Groups of one variable with the smallest sum of squares within (Hansen & Mukherjee 2003).

    >>> optimal(np.array([1.0, 9, 2, 10, 8]), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    order = np.argsort(values, kind="stable")
    size = np.zeros(len(values) + 1, np.int64)
    _cut(values[order], k, size)
    ends, end = [], len(values)
    while end > 0:
        ends.append(end)
        end -= size[end]
    return in_place(np.searchsorted(np.array(ends[::-1]), np.arange(len(values)), side="right"), order)


def enough_each(values: Floats, group: Ints, k: int) -> Ints:
    """The groups of one variable, each with at least k values present; -1 where missing.

    The values of groups with fewer are regrouped among themselves by rank; where these are fewer than k in all, they
    join the group whose mean is nearest.

    >>> values = np.array([1.0, 2, 5, np.nan, 6, np.nan])
    >>> enough_each(values, np.array([0, 0, 1, 1, 2, 2]), 2).tolist()
    [0, 0, 3, -1, 3, -1]
    """
    known = ~np.isnan(values)
    groups = np.where(known, group, -1)
    held = np.bincount(group[known], minlength=int(group.max()) + 1)
    thin = np.flatnonzero(known & (held[group] < k))
    if len(thin) >= k:
        groups[thin] = len(held) + ranked(np.argsort(values[thin], kind="stable"), k)
    elif len(thin):
        full = known & (held[group] >= k)
        total = np.bincount(group[full], weights=values[full], minlength=len(held))
        away = np.abs(total / np.where(held >= k, held, np.nan) - values[thin].mean())
        groups[thin] = int(np.nanargmin(away))
    return groups


def _scaled(values: Floats) -> Floats:
    """Standardised columns; a missing value becomes the mean, 0, and a constant column all zeros."""
    known = ~np.isnan(values)
    n = np.maximum(known.sum(axis=0), 1)
    away = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / n, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / np.maximum(n - 1, 1))
    differ = np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)
    return np.asarray(away / np.where(differ & (spread > 0), spread, np.inf), np.float64)


def _by_outlyingness(values: Floats, k: int, seed: int) -> Ints:
    scaled = _scaled(values)
    away = robust_distances(scaled, seed)
    if away is None:
        raise DataError(
            "the robust covariance of the columns is singular in the file or a stratum (too few records, "
            "or columns that determine each other); leave out columns or take how='mdav'"
        )
    return mdav_groups(scaled, k, ranking=np.argsort(-away, kind="stable"))


def _along_component(values: Floats, k: int, _seed: int) -> Ints:
    scaled = _scaled(values)
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    first = vectors[:, -1] * (1 if vectors[np.argmax(np.abs(vectors[:, -1])), -1] > 0 else -1)
    return ranked(np.argsort(scaled @ first, kind="stable"), k)


# Several variables at once: values (n, d) with NaN, k, a seed -> the group of each record.
RULES: dict[str, Callable[[Floats, int, int], Ints]] = {
    "mdav": lambda values, k, _: mdav_groups(_scaled(values), k),
    "rmd": _by_outlyingness,
    "pca": _along_component,
    "simple": lambda values, k, _: ranked(np.arange(len(values)), k),
}


def microaggregate(
    data: Any,
    *,
    columns: Sequence[str],
    k: int = 3,
    how: str = "mdav",
    measure: str = "mean",
    strata: Sequence[str] | None = None,
    sort_by: str | None = None,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Replace numbers by the mean of a group of at least k alike records.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables of numbers to change.
    k : int
        Records of a group at least, 2 or more.
    how : {"mdav", "univariate", "individual_ranking", "rmd", "pca", "single", "simple"}
        Who is alike. All columns at once: by maximum distance to average ("mdav"), around the records most
        outlying by the robust Mahalanobis distance ("rmd"), along the first principal component ("pca"),
        along one column ("single"), along the file ("simple"). Each column for itself: with the least sum of
        squares within groups ("univariate"), k neighbours in rank ("individual_ranking").
    measure : {"mean", "median"}
        What replaces the values of a group.
    strata : sequence of str, optional
        Groups are made within records with equal values of these; a missing value is a level.
    sort_by : str, optional
        Column of numbers for method "single"; default the first of `columns`.
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        For "rmd", whose robust estimate draws records.

    Returns
    -------
    Protected
        ``data`` and ``change``. Columns of whole numbers become fractions where a mean is one.

    Raises
    ------
    ColumnError
        A column that the data does not have.
    DataError
        k larger than the file or a stratum, or than the values present of a column there; text; infinite
        values; a column without values; method "rmd" where the robust covariance is singular.

    Notes
    -----
    "mdav" and "rmd" measure distances in standard deviations of each column, within the stratum. While 2k
    records are left, "mdav" takes the one farthest from their mean with the k - 1 nearest to it, then (of 3k)
    the one farthest from the first likewise; the rest is a group of k to 2k - 1. Of records equally far the
    last in the file is taken.

    A missing value stays missing; it counts as the mean of its column when distances are measured. Where it
    leaves fewer than k values of a column in a group, these are averaged together with others, so that every
    mean is one of k values or more.

    Each column for itself loses least and protects least: a record is among k alike ones in every column, but
    rarely in several at once.

    References
    ----------
    Domingo-Ferrer, J. and Mateo-Sanz, J. M. (2002). Practical data-oriented microaggregation for statistical
    disclosure control. IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    Hansen, S. L. and Mukherjee, S. (2003). A polynomial algorithm for optimal univariate microaggregation.
    IEEE Transactions on Knowledge and Data Engineering 15, 1043-1044.

    Examples
    --------
    >>> import polars as pl
    >>> firms = pl.DataFrame({"staff": [4, 90, 5, 6, 80, 100], "sales": [10, 900, 12, 14, 700, 800]})
    >>> found = microaggregate(firms, columns=["staff", "sales"], k=3)
    >>> found.data["staff"].to_list(), found.data["sales"].to_list()
    ([5, 90, 5, 5, 90, 90], [12, 800, 12, 12, 800, 800])
    """
    names, within = changes.chosen(columns), arguments.names(strata, "strata") or ()
    _check_options(k, how, measure, sort_by)
    along = sort_by or names[0]
    parted = by_household.in_two_parts(
        data, names, household, household_variables, seed,
        partial(microaggregate, k=k, how=how, measure=measure, strata=strata, sort_by=sort_by),
        also=(*within, *([] if sort_by is None else [sort_by])),
    )  # fmt: skip
    if parted is not None:
        return parted
    frame = replace.open_eager(data, {"columns": names, "strata": within, "sort_by": (along,)})
    values = changes.numbers(frame, names)
    line = changes.numbers(frame, [along])[along] if how == "single" else np.empty(0)
    parts = changes.strata_rows(frame, within)
    changes.at_least(int(k), parts, within, len(frame))
    _enough_values(values, parts, int(k))
    rng, secret = open_rng(seed)
    seeds = [int(changes.key(rng) >> np.uint64(33)) for _ in parts]

    def grouped(work: tuple[Ints, int]) -> tuple[list[Floats], int]:
        rows, own = work
        return _changed([value[rows] for value in values.values()], line[rows] if len(line) else line,
                        int(k), how, measure, own)  # fmt: skip

    made = {name: column.copy() for name, column in values.items()}
    n_groups = 0
    work = list(zip(parts, seeds, strict=True))
    for rows, (replaced, count) in zip(parts, run(grouped, work), strict=True):
        n_groups += count
        for name, new in zip(names, replaced, strict=True):
            made[name][rows] = new
    out = replace.with_numbers(frame, made)
    change = changes.Change(
        "microaggregate", len(frame), changes.count_changed(values, made),
        parameters={
            "columns": list(names), "k": int(k), "how": how, "measure": measure, "strata": list(within),
            "sort_by": along if how == "single" else None,
        },
        secret={"seed": secret} if how == "rmd" else {},
        notes={**_notes(values, n_groups, how), **changes.became_fractions(frame, out, names)},
    )  # fmt: skip
    return Protected(out, change)


def _changed(
    columns: list[Floats], line: Floats, k: int, how: str, measure: str, seed: int
) -> tuple[list[Floats], int]:
    """New values of the columns of a stratum, and the number of groups (over all columns if univariate)."""
    if how in ONE_BY_ONE:
        groups = [_alone(column, k, how) for column in columns]
        count = sum(int(group.max()) + 1 for group in groups)
    else:
        if how == "single":
            group = ranked(np.argsort(line, kind="stable"), k)
        else:
            group = RULES[how](np.column_stack(columns), k, seed)
        count = int(group.max()) + 1
        groups = [enough_each(column, group, k) for column in columns]
    return [_replaced(column, group, measure) for column, group in zip(columns, groups, strict=True)], count


def _alone(values: Floats, k: int, how: str) -> Ints:
    """Groups of one column; -1 where missing."""
    known = ~np.isnan(values)
    group = np.full(len(values), -1)
    if known.any():
        there = values[known]
        by_rank = np.argsort(there, kind="stable")
        group[known] = optimal(there, k) if how == "univariate" else ranked(by_rank, k)
    return group


def _replaced(values: Floats, group: Ints, measure: str) -> Floats:
    """Replace each value by the mean or median of its group; equal values stay exactly what they are."""
    known = group >= 0
    if not known.any():
        return values
    there, inside = values[known], group[known]
    if measure == "mean":
        middle = means_of(inside, there, int(inside.max()) + 1)
    else:
        size = np.bincount(inside)
        first, held, ordered = np.cumsum(size) - size, size > 0, there[np.lexsort((there, inside))]
        a, b = ordered[(first + (size - 1) // 2)[held]], ordered[(first + size // 2)[held]]
        middle = np.zeros(len(size))
        middle[held] = a + (b - a) / 2
    out = values.copy()
    out[known] = middle[inside]
    return out


def _enough_values(values: dict[str, Floats], parts: list[Ints], k: int) -> None:
    for name, column in values.items():
        known = ~np.isnan(column)
        if known.all():
            continue
        if short := [rows for rows in parts if 0 < known[rows].sum() < k]:
            where = np.zeros(len(column), np.bool_)
            where[np.concatenate(short)] = True
            where &= known
            raise DataError(
                f"column {name!r} has fewer than k = {k} values present"
                f"{f' in {len(short)} strata' if len(parts) > 1 else ''} ({first_rows(where)}); "
                "merge strata, lower k or make these values missing"
            )


def _notes(values: dict[str, Floats], n_groups: int, how: str) -> dict[str, str]:
    qualifier = " over all columns" if how in ONE_BY_ONE and len(values) > 1 else ""
    notes = {"groups": f"{n_groups:,} groups{qualifier}"}
    if any(np.isnan(value).any() for value in values.values()):
        notes["missing"] = "missing values stay missing; every mean is one of k values or more"
    flat = [name for name, column in values.items() if np.fmin.reduce(column) == np.fmax.reduce(column)]
    if flat:
        notes["constant"] = f"all values are equal, nothing to change: {', '.join(flat)}"
    return notes


def _check_options(k: object, how: str, measure: str, sort_by: object) -> None:
    arguments.count(k, "k", "counts the records of a group", at_least=2)
    arguments.choice(how, "how", METHODS)
    arguments.choice(measure, "measure", MEASURES)
    arguments.column_or_none(sort_by, "sort_by")
    if sort_by is not None and how != "single":
        raise DataError("sort_by= is for how='single'; the other methods need none", argument="sort_by")
