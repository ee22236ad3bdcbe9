"""Households: membership of records, and variables that are constant within every household."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import arguments, pl
from sdckit.data.columns import code_column, to_arrow
from sdckit.data.frames import check_plan_names, collect, open_frame, plain_columns
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import AnyInts, Bools, Ints, Words
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.grouping import first_of_groups, refines

FEW = 200  # records in which no order is looked for
FAR = range(10, 31)  # rows between two records that belong together by chance only, or by the order of the file
BLOCK = 8  # records with one value that stand together, from which on they are sorted by it
ALIKE, CERTAIN = 0.1, 5  # more pairs of neighbours with one value: as a share, and in the largest standard deviations
SOME_VALUES = 5  # by which the rows of a release may stand
IN_ORDER, SORTED = 10, 0.9  # values of a number whose order tells; rank correlation with the rows, from which on
NEAR, TOLD_NEAR, MOSTLY = 0.1, 0.9, 0.5  # of an amount; of the records, so near a guess; so near another's
FEWEST_AMOUNTS = 30  # by which another number may tell amounts that were taken out
TELLS, FINER = 3, 1.5  # values of a key that is told; times as many has what tells it in more detail
ERRS, SPEAKING = 0.05, 30  # of the errors by chance those left; records that are told
SPARSE = 4  # codes a record beyond which they are numbered before a table of them is made


def _count_few(codes: Ints, missing: int, of_row: AnyInts, n_homes: int) -> int:
    """As `count_agreeing` in NumPy, for small files; `codes` (n,) are those of the records."""
    there = codes != missing
    home = of_row[there]
    if not refines(home, codes[there]):
        return 0
    return int(np.count_nonzero(np.bincount(home, minlength=n_homes) > 1))


@njit(cache=True, nogil=True)
def _count_agreeing(codes, missing, cell_of_row, of_row, seen):  # type: ignore[no-untyped-def]
    """As `count_agreeing`, stopping at the first household whose values differ: most variables do so early.

    `codes` (K,): code of each cell; `cell_of_row`, `of_row` (n,): cell and household of each record. `seen` (n_homes,):
    zeros, overwritten by code + 1 of the household, negative once a second member has a value. Returns the number of
    households with two values or more, 0 if values differ in any.
    """
    met = 0
    for i in range(len(of_row)):
        code, home = codes[cell_of_row[i]], of_row[i]
        if code == missing:
            continue
        if seen[home] == 0:
            seen[home] = code + 1
        elif abs(seen[home]) != code + 1:
            return 0
        elif seen[home] > 0:
            seen[home] = -seen[home]
            met += 1
    return met


@dataclass(frozen=True, eq=False)
class Homes:
    """The households of a file, numbered by first record; a record without one is a household of its own."""

    of_row: Ints  # shape (n,); household of each record
    first: Ints  # shape (n_homes,); first record of each
    size: Ints  # shape (n_homes,); members of each

    def lead(self, present: Bools) -> Ints:
        """The first record of each household among the marked ones; -1 if none is marked.

        >>> homes_of(np.array([7, 7, 5]), 9).lead(np.array([False, True, False])).tolist()
        [1, -1]
        """
        lead, rows = np.full(len(self.first), -1, np.int64), np.flatnonzero(present)[::-1]
        lead[self.of_row[rows]] = rows  # reversed order: the first record is written last
        return lead

    def some(self, marked: Bools) -> Bools:
        """Mask of the records in whose household any member is marked.

        >>> homes_of(np.array([7, 7, 5]), 9).some(np.array([False, True, False])).tolist()
        [True, True, False]
        """
        hit = np.zeros(len(self.first), np.bool_)
        hit[self.of_row[marked]] = True
        return hit[self.of_row]


def homes_of(codes: Ints, missing: int) -> Homes:
    """Number households by the codes of their column (n,); `missing` is the code of a missing value.

    >>> homes_of(np.array([7, 5, 7, 9, 9]), 9).of_row.tolist()
    [0, 1, 0, 2, 3]
    """
    alone = codes == missing
    own = np.where(alone, codes.max(initial=0) + 1 + np.cumsum(alone), codes)
    if own.max(initial=0) > SPARSE * len(own):
        own = np.unique(own, return_inverse=True)[1].reshape(-1)
    lead = first_of_groups(own, int(own.max(initial=0)) + 1)[own]
    leads = lead == np.arange(len(own))
    of_row = (np.cumsum(leads) - 1)[lead]
    return Homes(of_row, np.flatnonzero(leads), np.bincount(of_row))


def household_variables(
    data: Any, *, household: str, among: Sequence[str] | None = None, share: float = 1.0
) -> tuple[str, ...]:
    """Find the variables that are constant within every household, or within most: region, tenure, size, religion.

    Parameters
    ----------
    data : data frame
        Of any engine; a plan is brought into memory two columns at a time.
    household : str
        Column that numbers the households.
    among : sequence of str, optional
        Columns to look at; default all others.
    share : float
        Least share of the households in which the values agree, in (0, 1], of those with two values or more. Below 1
        it finds variables with little variation within households, such as religion or ethnicity, too.

    Returns
    -------
    tuple of str
        Those whose values agree within every household, or within this share, in the order of `among` or the data.

    Raises
    ------
    ColumnError
        A column is absent, or the household is among those to look at.
    DataError
        A share that is not in (0, 1].

    Notes
    -----
    A missing value does not count: it neither agrees nor differs. Some household must have two members with a
    value each, else the variable says nothing and is not found; a file of one record per household has no
    household variables. A record without a household is one alone. A value that another member's record reveals must be
    protected for the whole household: the protection methods take the result as ``household_variables=``, and
    find it themselves where ``household=`` is given. They take those that agree within every household only; one
    that nearly does lets most members be guessed, which no method undoes.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide, note 23.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"home": [1, 1, 2], "region": ["n", None, "s"], "size": [2, 2, 1], "age": [41, 12, 80]})
    >>> household_variables(people, household="home")
    ('size',)
    """
    arguments.column(household, "household")
    share = arguments.share_above(share, "share", "is the least share of households in which the values agree")
    frame = open_frame(data)
    columns = frame.collect_schema().names()
    asked = arguments.names(among, "among")
    names = tuple(name for name in columns if name != household) if asked is None else asked
    if household in names:
        raise ColumnError(f"among: {household!r} is the household itself", argument="among")
    for role, name in [("household", household), *(("among", name) for name in names)]:
        arguments.present([name], columns, role, argument=role)
    if isinstance(frame, nw.DataFrame):
        homes = _homes(frame, household)
        return tuple(name for name in names if _agrees(frame, name, homes, share))
    check_plan_names(frame, (household, *names))
    pairs = ((name, collect(frame.select(household, name))) for name in names)
    return tuple(name for name, pair in pairs if _agrees(pair, name, _homes(pair, household), share))


def _homes(frame: Any, household: str) -> Homes:
    coded = code_column(frame.get_column(household))
    return homes_of(coded.codes(), coded.span)


def _agrees(frame: Any, name: str, homes: Homes, share: float) -> bool:
    try:
        coded = code_column(frame.get_column(name))
    except DataError:  # lists, structures, mixed types: not a variable
        return False
    if share < 1:
        there = coded.codes() != coded.span
        able = int(np.count_nonzero(np.bincount(homes.of_row[there], minlength=len(homes.first)) > 1))
        differing = len(np.unique(homes.of_row[differs_within(frame, name, homes)]))
        return bool(able > 0 and (able - differing) / able >= share)
    every = np.arange(len(homes.of_row))
    return count_agreeing(coded.codes(), coded.span, every, homes.of_row, len(homes.first)) > 0


def count_agreeing(codes: Ints, missing: int, cell_of_row: AnyInts, of_row: AnyInts, n_homes: int) -> int:
    """Count households where two or more members have a value of a variable; 0 if values differ within any.

    `codes` (K,): code of each cell; `cell_of_row` and `of_row` (n,): cell and household of each record.

    >>> count_agreeing(np.array([1, 2, 0]), 0, np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1]), 2)
    1
    """
    if is_few(_count_agreeing, len(of_row)):
        return _count_few(codes[cell_of_row], missing, of_row, n_homes)
    return int(_count_agreeing(codes, missing, cell_of_row, of_row, np.zeros(n_homes, np.int64)))


def differs_within(frame: Any, name: str, homes: Homes) -> Bools:
    """Mask of the records whose value differs from that of the first household member with a value."""
    coded = code_column(frame[name])
    codes = coded.codes()
    lead = homes.lead(codes != coded.span)[homes.of_row]
    return np.asarray((codes != coded.span) & (codes != codes[lead]))


# Households that the order of the rows tells.


class RankedColumns:
    """The columns of single values of a frame in memory, as Polars has them and as places: each is read once."""

    def __init__(self, names: Sequence[str], n: int, series: Callable[[str], Any]) -> None:
        self.names, self.n, self._read = names, n, series
        self._series: dict[str, Any] = {}
        self._ranks: dict[str, Ints] = {}

    @classmethod
    def of(cls, frame: Any) -> RankedColumns:
        """Those of a frame."""
        return cls(plain_columns(frame), len(frame), lambda name: series_of(frame, name))

    def series(self, name: str) -> Any:
        """A column."""
        if name not in self._series:
            self._series[name] = self._read(name)
        return self._series[name]

    def ranks(self, name: str) -> Ints:
        """The places of its values (n,), see `dense_ranks`."""
        if name not in self._ranks:
            self._ranks[name] = dense_ranks(self.series(name))
        return self._ranks[name]

    def head(self, n: int) -> RankedColumns:
        """The first records."""
        return self if self.n <= n else RankedColumns(self.names, n, lambda name: self.series(name).head(n))

    def at(self, rows: Ints) -> RankedColumns:
        """Some of the records."""
        return RankedColumns(self.names, len(rows), lambda name: self.series(name).gather(rows))


def is_near(columns: RankedColumns, name: str, amount: str) -> bool:
    """Whether nearly all amounts are known to within a tenth from a number that is there where some were taken out.

    Guessed are the mean of the amounts with the next lower and the next higher number, and the step to these: rounded
    logarithms, percentiles, standard scores, running totals.
    """
    values, amounts = (columns.series(own).cast(pl.Float64).to_numpy() for own in (name, amount))
    values, amounts = values[np.isfinite(values)], amounts[np.isfinite(values)]
    there = np.isfinite(amounts)
    if there.all() or np.count_nonzero(there) < FEWEST_AMOUNTS or len(np.unique(values)) < IN_ORDER:
        return False  # few values are classes, which tell a range
    steps = np.diff(np.sort(values), prepend=np.nan, append=np.nan)
    order = np.argsort(values[there], kind="stable")
    own = amounts[there][order]
    at = np.searchsorted(np.sort(values), values[there][order])
    guesses = ((own[:-2] + own[2:]) / 2, steps[at][1:-1], steps[at + 1][1:-1])
    by_chance = np.roll(amounts[there], 1)
    near = max(float(np.mean(np.abs(guess - own[1:-1]) <= NEAR * np.abs(own[1:-1]))) for guess in guesses)
    return near >= TOLD_NEAR and float(np.mean(np.abs(by_chance - amounts[there]) <= NEAR * np.abs(by_chance))) < MOSTLY


def rises_with(columns: RankedColumns, name: str, amount: str, least: tuple[int, float] = (TELLS, FINER)) -> bool:
    """Whether an amount rises or falls with a number that has more values, such as its logarithm or its rank.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> income = pl.DataFrame({"class": [1, 2, 3] * 99, "log": [(i % 3) + i / 300 for i in range(297)]})
    >>> [rises_with(RankedColumns.of(open_frame(income)), *names) for names in (("log", "class"), ("class", "log"))]
    [True, False]
    """
    values, amounts = columns.ranks(name), columns.ranks(amount)
    there = (values > 0) & (amounts > 0)
    values, amounts = values[there], amounts[there]
    counts = np.bincount(amounts)
    levels, n_values = np.count_nonzero(counts), np.count_nonzero(np.bincount(values))
    in_order = amounts[np.argsort(values, kind="stable")]
    changes = np.count_nonzero(in_order[1:] != in_order[:-1])
    by_chance = len(values) - float((counts**2).sum()) / max(len(values), 1)
    enough = levels >= least[0] and n_values >= least[1] * levels and by_chance >= SPEAKING * levels
    return bool(enough and changes < levels + ERRS * (by_chance - levels))


def follows_from(columns: RankedColumns, name: str, keys: Sequence[str]) -> bool:
    """Whether records with the same keys have the same value, so that nobody is told apart by it who is not by these.

    Not where a key is missing, which the value may tell, nor where fewer than thirty records say so.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> people = pl.DataFrame({"sex": [0, 1] * 60, "age": [1, 2, 3] * 40}).with_columns(w=pl.col("sex") / pl.col("age"))
    >>> [follows_from(RankedColumns.of(open_frame(people)), "w", keys) for keys in (["sex", "age"], ["age"])]
    [True, False]
    """
    values = columns.ranks(name)
    group: Ints = np.zeros(columns.n, np.int64)
    for own in map(columns.ranks, keys):
        if not own.all():
            return False
        group = np.unique(group * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return columns.n - int(group.max(initial=0)) - 1 >= SPEAKING and refines(group, values)


def told_by_rows(columns: RankedColumns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns in which rows next to each other are alike as no others are: members of a household, or a person's.

    And those alike in rows of one stretch of the file as in no others, which tell the order of something that it does
    not show: places, interviewers, days. Neighbours are compared with rows further on, and with all others that are
    alike in the columns by which the file is sorted.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({"owns": rng.integers(0, 3, 200).repeat(3), "educ": rng.integers(0, 5, 600)})
    >>> files = people, people.sample(fraction=1, shuffle=True, seed=1), people.sort("owns", "educ")
    >>> [told_by_rows(RankedColumns.of(open_frame(file))) for file in files]
    [(('owns',), ()), ((), ()), ((), ())]
    """
    n = columns.n
    if n < FEW:
        return (), ()
    left = {name: own for name in columns.names if 1 < (own := columns.ranks(name)).max(initial=0) <= n / 2}
    block = np.zeros(n, np.int64)
    for own in left.values():  # nobody with an amount behind all of those with one
        changes = np.diff(own == np.bincount(own).argmax())
        if np.count_nonzero(changes) == 1:
            block[1:] = np.cumsum((np.diff(block) != 0) | changes)
    while name := next((name for name, own in left.items() if _is_sorted(own, block)), None):
        own = left.pop(name)
        block[1:] = np.cumsum((np.diff(block) != 0) | (np.diff(own) != 0))
    size, pairs = np.bincount(block), max(int(np.count_nonzero(np.diff(block) == 0)), 1)
    least = max(ALIKE, CERTAIN * 0.5 / pairs**0.5)
    together, stretches = [], []
    for name, own in left.items():
        groups, counts = np.unique((block * (own.max() + 1) + own)[own > 0], return_counts=True)
        by_chance = float((counts * (counts - 1) / size[groups // (own.max() + 1)]).sum()) / pairs
        far = [_agreeing(own, block, lag) for lag in FAR]
        n_far = sum(n_pairs for _, n_pairs in far)
        further = sum(alike for alike, _ in far) / n_far if n_far >= n else by_chance
        if _agreeing(own, block, 1)[0] / pairs - max(by_chance, further) >= least:
            together.append(name)
        elif further < SORTED and further - by_chance >= least:
            stretches.append(name)
    return tuple(together), tuple(stretches)


def series_of(frame: Any, name: str) -> pl.Series:
    """A column of a frame in memory as Polars has it."""
    return pl.Series(pl.from_arrow(to_arrow(frame.get_column(name))))


def dense_ranks(column: pl.Series) -> Ints:
    """The place of each value among the different ones, from 1; 0 where it is missing."""
    if column.dtype.is_float() or (column.dtype.is_integer() and not column.null_count()):  # 5 times faster of few
        values = column.to_numpy()
        return np.where(np.isnan(values), 0, 1 + np.unique(values, return_inverse=True)[1])
    ranks = column.rank("dense")
    return np.asarray(ranks.fill_null(0) if ranks.null_count() else ranks, np.int64)


def in_order_of(columns: RankedColumns, numbers: Sequence[str]) -> tuple[str, ...]:
    """Those of some numbers in whose order the rows stand, where rows with the same value stand in no order of another.

    So does a file that was sorted by exact values before they were made coarser, or noise was added.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> sold = pl.DataFrame({"turnover": np.sort(rng.lognormal(5, 1, 500)).round(-1), "owns": rng.integers(0, 3, 500)})
    >>> files = sold, sold.sort("turnover", "owns")
    >>> [in_order_of(RankedColumns.of(open_frame(file)), ["turnover"]) for file in files]
    [('turnover',), ()]
    """
    n = columns.n
    if n < FEW:
        return ()
    told = []
    for name in (name for name in numbers if name in columns.names):
        own = columns.ranks(name)
        there = own > 0
        if own.max(initial=0) < IN_ORDER or np.count_nonzero(there) < FEW:
            continue
        counts = np.bincount(own, there)
        mean_ranks = (np.cumsum(counts) - counts / 2)[own]
        if abs(float(np.corrcoef(mean_ranks[there], np.flatnonzero(there))[0, 1])) < SORTED:
            continue
        block = np.append(0, np.cumsum(np.diff(own) != 0))
        in_order = there.all() and _is_sorted(own, np.zeros(n, np.int64))
        others = (columns.ranks(other) for other in columns.names if other != name)  # few files need them
        ties = own.max() < n and bool((np.diff(own) == 0).any())
        if not in_order or (ties and not any(_is_sorted(codes, block) for codes in others if codes.max(initial=0) > 1)):
            told.append(name)
    return tuple(told)


def rows_by_exact(original: RankedColumns, released: RankedColumns, names: Iterable[str]) -> list[str]:
    """Those of some columns, left out or changed, by whose values in an original the rows of a release stand.

    The records of each such value have together what as many rows have in the columns that are the same.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({"age": rng.integers(0, 90, 900), "q": rng.integers(0, 5, 900)})
    >>> made = [file.with_columns(pl.col("age") // 30) for file in (people.sort("age"), people)]
    >>> before, *after = (RankedColumns.of(open_frame(file)) for file in (people, *made))
    >>> [rows_by_exact(before, own, ["age"]) for own in after]
    [['age'], []]
    """
    if original.n != released.n or original.n < FEW:
        return []
    gone = [name for name in dict.fromkeys(names) if name in original.names]
    gone = [name for name in gone if original.ranks(name).max(initial=0) >= SOME_VALUES]
    hashed = {name: _hashes(original, released, name) for name in original.names if name in released.names and gone}
    same = {name: own for name, own in hashed.items() if own is not None}
    if not same:
        return []
    codes = [np.zeros(original.n, np.uint64) for _ in range(2)]
    for at, own in enumerate(same.values()):
        codes = [code + hashes * np.uint64(2 * at + 1) for code, hashes in zip(codes, own, strict=True)]
    return [
        name
        for name in gone
        if name not in same
        and _in_blocks_of(original.ranks(name), *codes)
        and not any(follows_from(original, name, [other]) or rises_with(original, other, name) for other in same)
    ]


def _hashes(original: RankedColumns, released: RankedColumns, name: str) -> list[Words] | None:
    """The values of a column in both files as numbers, if these are the same, whatever their order."""
    before, after = original.series(name), released.series(name)
    if before.dtype != after.dtype:
        return None
    hashes = [own.hash().to_numpy() for own in (before, after)]
    return hashes if hashes[0].sum() == hashes[1].sum() else None


def _in_blocks_of(ranks: Ints, before: Words, after: Words) -> bool:
    """Whether the rows stand by values that rise or fall, those without one first or last."""
    for last in {False, not ranks.all()}:
        own = np.where(ranks > 0, ranks, int(ranks.max()) + 1) if last else ranks
        for by in (own, -own):
            order = np.argsort(by, kind="stable")
            starts = np.flatnonzero(np.diff(by[order], prepend=by[order[0]] - 1))
            blocks = np.add.reduceat(before[order], starts)
            alike = [
                np.mean(np.add.reduceat(rows, starts) == blocks) for rows in (after, np.roll(after, len(after) // 2))
            ]
            if alike[0] >= TOLD_NEAR and alike[1] <= MOSTLY:
                return True
    return False


def _is_sorted(ranks: Ints, block: Ints) -> bool:
    """Whether a file is sorted by a column within its blocks, or has the records with one value in one place."""
    steps = np.diff(ranks)[np.diff(block) == 0]
    groups = block * (ranks.max() + 1) + ranks
    runs = np.count_nonzero(np.diff(groups)) + 1
    in_order = (steps >= 0).all() or (steps <= 0).all()
    return bool(steps.any() and (in_order or (runs * BLOCK <= len(ranks) and len(np.unique(groups)) == runs)))


def _agreeing(ranks: Ints, block: Ints, lag: int) -> tuple[int, int]:
    """The pairs of rows so far from each other that have one value, and all of them, within blocks."""
    within = block[lag:] == block[:-lag]
    alike = (ranks[lag:] == ranks[:-lag]) & (ranks[lag:] > 0)
    return int(np.count_nonzero(alike & within)), int(np.count_nonzero(within))
