"""Who lives together as values tell it: columns that few records share, and sizes that count their own members."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from sdckit.data import pl
from sdckit.data.households import ALIKE, CERTAIN, ERRS, FEW, SPEAKING, RankedColumns, dense_ranks
from sdckit.numerics.array_types import Ints

SOME = 20_000  # records of a long file that are looked at: all that share a value
MOST = 12  # records with one value that may be members of one household
SHARED, ENOUGH = 0.1, 100  # of the records, and records, that share a value with few others
SAME, CLEARLY = 0.75, 0.85  # of pairs with one value that are not alike in another by chance: alike, as members are
RUNS = 3  # times as many stretches as values, in the order of what they are alike by: else a part of its number
COARSER = 5  # times as many values as in what they are alike in
KNOWN = 0.9  # of the records: what is known of them says the value
SOME_LEVELS, FINEST = 30, 4  # different values, and how many such columns, of which two together are looked at
NEAR = 0.25  # of the values of what is personal: members of a household lie farther apart
LARGE = 0.1  # of these, as many may share it with more
TIMES = 20.0  # pairs alike in all of some columns, beside those by chance: beyond, they are not strata
LARGEST = 15  # members that a size may count
LEVELS = 5_000  # different values of a column that may be a household's beside its size
DIVIDED = 0.9  # of the groups with one size: a multiple of it
BY_CHANCE = 1e-4  # chance that as many are
NO_CHANCE = 1e-6  # chance that values count the records that have them
ALONE = 0.05  # of the households: the only one with its values
BESIDE = 3.0  # times as many pairs with one value as with the next one on a grid of independent numbers


def values_together(
    columns: RankedColumns, *, keys: Collection[str] = (), personal: Collection[str] = (), weight: str | None = None
) -> tuple[str, ...]:
    """The columns by which few records belong together: weights or amounts of a household, or what goes by its size.

    Looked for are values that few records share, most alike in two other columns (of a number, all in one) as others
    with a near value are not; of a weight, values that more records share than numbers do by chance; and
    columns whose groups of one size are multiples of it. What follows from other columns, as weights of strata do,
    tells nothing beyond these; nor do `keys`, which are counted. Members differ in what is `personal`.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> homes = pl.DataFrame({"w": rng.uniform(300, 900, 300).round(1), "region": rng.integers(0, 4, 300)})
    >>> people = homes[rng.permutation(900) % 300].with_columns(age=pl.Series(rng.integers(0, 90, 900)))
    >>> coarse = people.with_columns((pl.col("w") / 100).round())
    >>> [values_together(RankedColumns.of(open_frame(file)), weight="w") for file in (people, coarse)]
    [('w', 'region'), ()]
    """
    if columns.n < FEW:
        return ()
    free = [name for name in columns.names if name not in keys]
    levels = {name: _levels(columns, name) for name in columns.names}
    finest = sorted(free, key=lambda name: -levels[name])
    pairs = combinations([name for name in finest if SOME_LEVELS <= levels[name] <= columns.n / 2][:FINEST], 2)
    for names in (*((name,) for name in free), *pairs):
        own, others, of_each = _sharing(names, columns)
        if not others or any(_follows(own, others[key]) for key in keys if key in others):
            continue
        alike = _alike(own, others)
        if len(names) > 1:  # what one of both tells
            alike = {
                other: how for other, how in alike.items() if not any(_follows(others[other], own) for own in of_each)
            }
        if any(name in alike or _is_near(own, others[name]) for name in personal if name in others):
            continue
        apart = _apart(alike, others)
        is_clear = (
            len(names) == 1 and columns.series(names[0]).dtype.is_numeric() and len(np.unique(own)) >= SOME_LEVELS
        )
        clearly = SAME if names == (weight,) else CLEARLY
        is_clear &= any(alike[other][1] >= clearly and others[other].max() * COARSER <= own.max() for other in apart)
        enough = (len(apart) > 1 or is_clear) and not _of_strata(own, others, alike)
        by_itself = names == (weight,) and not alike and _more_than_by_chance(columns.series(names[0]))
        if (enough or by_itself) and _are_few(_joint([own, *(others[other] for other in alike)])):
            return (*names, *alike)
    return _by_size(columns, levels)


def of_homes(columns: RankedColumns, names: Iterable[str], household: str | None) -> list[str]:
    """Those of some columns that number the members of each household, or say how many records it has.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> homes = pl.DataFrame({"home": np.arange(150).repeat(np.arange(150) % 3 + 1), "sex": [1, 2, 2] * 100})
    >>> people = homes.with_columns(size=pl.len().over("home"), no=pl.int_range(pl.len()).over("home"))
    >>> of_homes(RankedColumns.of(open_frame(people)), ["sex", "size", "no"], "home")
    ['size', 'no']
    """
    if household not in columns.names:
        return []
    ranks = columns.ranks(str(household))
    order = np.flatnonzero((ranks > 0) & (ranks <= SOME / LARGEST))
    order = order[np.argsort(ranks[order], kind="stable")]
    homes = ranks[order] - 1
    sizes = np.bincount(homes)
    shared = sizes[homes] > 1
    if np.count_nonzero(shared) < SPEAKING or len(np.unique(sizes)) < 2:
        return []
    places = np.arange(len(homes)) - (np.cumsum(sizes) - sizes)[homes]
    telling = []
    for name in (name for name in dict.fromkeys(names) if name in columns.names):
        if not columns.series(name).dtype.is_integer() or columns.series(name).null_count():
            continue
        values = columns.series(name).to_numpy()[order]
        in_homes = values[np.lexsort((values, homes))] - values.min()
        if np.mean(values == sizes[homes]) >= 1 - ERRS or np.mean((in_homes == places)[shared]) >= 1 - ERRS:
            telling.append(name)
    return telling


def of_groups(columns: RankedColumns, names: Iterable[str]) -> list[str]:
    """Those of some whole numbers that say how many records a group has: each value is held by a multiple of itself.

    By chance a value v is so once in v times, so that several large ones are no chance. Groups that are in the file in
    part are not seen.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> sizes = np.array([21, 22, 24, 25, 28, 22])
    >>> pupils = pl.DataFrame({"size": sizes.repeat(sizes), "grade": np.arange(142) % 5 + 5})
    >>> of_groups(RankedColumns.of(open_frame(pupils)), ["size", "grade"])
    ['size']
    """
    telling = []
    for name in (name for name in dict.fromkeys(names) if name in columns.names):
        series = columns.series(name)
        if not series.dtype.is_integer() or series.null_count() or series.min() <= 0:
            continue
        largest = series.max()
        if (series == largest).sum() % largest == 0:  # hardly any other column is counted
            sizes, counts = np.unique(series.to_numpy(), return_counts=True)
            if not (counts % sizes).any() and -np.log(sizes).sum() <= np.log(NO_CHANCE):
                telling.append(name)
    return telling


def _levels(columns: RankedColumns, name: str) -> int:
    if columns.n > SOME:
        return int(columns.series(name).approx_n_unique())
    return len(np.unique(columns.ranks(name)))


def _sharing(names: Sequence[str], columns: RankedColumns) -> tuple[Ints, dict[str, Ints], list[Ints]]:
    """Codes of the records that share a value of some columns with others, in its order; of other columns, and of each.

    No other codes where these are not enough. Of a long file some values are looked at.
    """
    parts = columns.n // SOME + 1
    if parts > 1:
        columns = columns.at(np.flatnonzero(columns.series(names[0]).hash().to_numpy() % parts == 0))
    codes = [columns.ranks(name) for name in names]
    # many have no income, or 0
    there = np.all([(code > 0) & (code != 1 + np.bincount(code, minlength=2)[1:].argmax()) for code in codes], axis=0)
    own = np.where(there, 1 + _joint(codes), 0)
    sizes = np.bincount(own, minlength=1)
    is_own = (own > 0) & (sizes[own] > 1)
    if np.count_nonzero(is_own & (sizes[own] <= MOST)) < max(SHARED * columns.n, ENOUGH):
        return own, {}, []
    rows = np.flatnonzero(is_own)[np.argsort(own[is_own], kind="stable")]
    ranked = (
        dense_ranks(columns.series(other).gather(rows)) if parts > 1 else _ranked_again(columns.ranks(other)[rows])
        for other in columns.names
    )
    others = dict(zip(columns.names, ranked, strict=True))
    return own[rows], others, [others.pop(name) for name in names]


def _ranked_again(ranks: Ints) -> Ints:
    """Places among the values that are left."""
    left = np.unique(ranks, return_inverse=True)[1]
    return np.asarray(left + ranks.all(), np.int64)


def _is_near(own: Ints, codes: Ints) -> bool:
    """Whether nearly all records that share a value have near values of a number, too, as of strata by age."""
    span, same = int(codes.max(initial=0)), np.diff(own) == 0
    return bool(span >= 1 / NEAR and np.quantile(np.abs(np.diff(codes))[same], KNOWN) <= NEAR * span)


def _alike(own: Ints, others: Mapping[str, Ints]) -> dict[str, tuple[float, float]]:
    """Columns in which records with one value are alike as those with a near one are not; how many of each."""
    alike = {}
    near = np.flatnonzero((np.diff(own) == 0) & (np.bincount(own)[own[1:]] <= MOST))
    for other, codes in others.items():
        first, second, further = codes[near], codes[near + 1], codes[(near + 2 * MOST) % len(own)]
        both, apart = (first > 0) & (second > 0), (first > 0) & (further > 0)
        if not both.any() or not apart.any():
            continue
        same, by_chance = (
            float(np.mean(first[there] == mate[there])) for there, mate in ((both, second), (apart, further))
        )
        share = (same - by_chance) / max(1 - by_chance, 1e-9)  # of those that are not alike by chance
        runs = 1 + np.count_nonzero(np.diff(codes))  # regions in the order of codes that begin with theirs
        if (
            runs > RUNS * len(np.unique(codes))
            and share >= SAME
            and same - by_chance >= max(ALIKE, CERTAIN * 0.5 / np.count_nonzero(both) ** 0.5)
        ):
            alike[other] = by_chance, share
    return alike


def _apart(alike: Mapping[str, tuple[float, float]], others: Mapping[str, Ints]) -> list[str]:
    """Those of some columns that do not follow from another of them."""
    apart: list[str] = []
    for name in sorted(alike, key=lambda name: -len(np.unique(others[name]))):
        if not any(_follows(others[name], others[finer]) for finer in apart):
            apart.append(name)
    return apart


def _follows(codes: Ints, known: Ints) -> bool:
    """Whether nearly all records have the one code that goes with what is known of them."""
    span = int(codes.max(initial=0)) + 1
    several = np.bincount(np.unique(known * span + codes) // span)
    return float(np.mean(several[known] == 1)) >= KNOWN


def _of_strata(own: Ints, others: Mapping[str, Ints], alike: Mapping[str, tuple[float, float]]) -> bool:
    """Whether a value follows from the columns in which its records are alike, and as many are alike as by chance."""
    by_chance = len(own) ** 2 / 2 * float(np.prod([by_chance for by_chance, _ in alike.values()]))
    pairs = np.count_nonzero(np.diff(own) == 0)
    return bool(pairs <= TIMES * by_chance) and _follows(own, _joint([others[name] for name in alike]))


def _are_few(joint: Ints) -> bool:
    """Whether the records that share a value, and what they are alike in, are as few as members of households."""
    sizes = np.bincount(joint)[joint]
    small, large = np.count_nonzero((sizes > 1) & (sizes <= MOST)), np.count_nonzero(sizes > MOST)
    return bool(small >= ENOUGH and large <= LARGE * small)


def _joint(codes: Sequence[Ints]) -> Ints:
    """Numbers of the groups of some codes together."""
    joint = codes[0]
    for own in codes[1:]:
        joint = np.unique(joint * (own.max(initial=0) + 1) + own, return_inverse=True)[1].reshape(-1)
    return np.asarray(np.unique(joint, return_inverse=True)[1].reshape(-1), np.int64)


def _more_than_by_chance(column: pl.Series) -> bool:
    """Whether more records share a number than lie one step of it apart, as few do by chance."""
    if not column.dtype.is_numeric():
        return False
    values, counts = np.unique(column.drop_nulls().cast(pl.Float64).to_numpy(), return_counts=True)
    steps = np.diff(values)
    apart = float((counts[1:] * counts[:-1])[steps <= steps.min(initial=np.inf) * 1.5].sum())
    return float((counts * (counts - 1)).sum()) >= BESIDE * apart


def _by_size(columns: RankedColumns, levels: Mapping[str, int]) -> tuple[str, ...]:
    """A column that counts the members of households, and those that are the same for them; () where none does."""
    codes_of = cache(lambda other: _codes(columns, other).astype(np.int32))  # of all columns that may count members
    for name in columns.names:
        column = columns.series(name)
        if (
            not column.dtype.is_numeric()
            or levels[name] > LARGEST
            or not 1 <= (column.min() or 0) <= column.max() <= LARGEST
        ):
            continue
        every = column.fill_null(0).to_numpy()
        sizes = every[several := every > 1].astype(np.int64)
        if (
            (every % 1).any()
            or not len(sizes)
            or (len(every) > SOME and not _divides(sizes, np.zeros_like(sizes), 0.5))
        ):
            continue
        shared, joint = [], sizes
        for other in columns.names:
            if other == name or levels[other] > LEVELS:
                continue
            codes = codes_of(other)[several]
            if _divides(sizes, codes):
                shared.append(other)
                joint = _joint([joint, codes])
        of_joint, first = np.bincount(joint), np.unique(joint, return_index=True)[1]
        if shared and np.count_nonzero(of_joint == sizes[first]) >= ALONE * float((1 / sizes).sum()):
            return (name, *shared)
    return ()


def _codes(columns: RankedColumns, name: str) -> Ints:
    """A number for each value; 0 where it is missing."""
    column = columns.series(name)
    if columns.n <= SOME:
        return columns.ranks(name)
    if column.dtype.is_integer() and column.max() is not None and column.max() - column.min() < SOME:
        return np.asarray((column.cast(pl.Int64) - column.min() + 1).fill_null(0), np.int64)
    if column.dtype == pl.String:
        return np.asarray(column.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1), np.int64) + 1
    return columns.ranks(name)


def _divides(sizes: Ints, codes: Ints, least: float = DIVIDED) -> bool:
    """Whether nearly all groups of a size and a code are multiples of the size, of several codes not by chance."""
    span = int(codes.max(initial=0)) + 1
    cells = np.bincount(sizes * span + codes)
    of_cell = np.flatnonzero(cells) // span
    if np.mean(cells[cells > 0] % of_cell == 0) < least:
        return False
    free = np.log(of_cell).sum() - np.log(np.unique(of_cell)).sum()  # the last of each size follows from the others
    return bool(span == 1 or DIVIDED * free >= -np.log(BY_CHANCE))
