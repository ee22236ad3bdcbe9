"""Cross-tabulation of cells by another variable: how often each of its levels occurs in each cell; scales of levels."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from sdckit.cells.frequencies import wildcard_counter, wildcard_pairs
from sdckit.cells.table import AnyCells, Cells, Crosstab
from sdckit.data import pa, pt
from sdckit.data.columns import Coded, as_floats
from sdckit.errors import DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.grouping import ascending, places_among

LARGEST = 200_000_000  # cells times levels, at most: these take minutes
AT_ONCE = 20_000_000  # cells times levels that are matched in one pass, about 40 bytes each
LEVELS = 16  # levels in one pass, at most: more are no faster
MANY = 20  # levels from which on the matching cells are listed, once for all levels
KEPT = 40_000_000  # twice the pairs of matching cells that are kept for other variables, 8 bytes each


def crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """Count the levels of a variable within each cell; once for all measures of the same cells.

    Raises DataError: the variable has no value in any record.
    """
    return cells.count_levels(variable)


def wildcard_crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """Count the levels of a variable among the records that match each cell, with wildcards.

    Raises DataError: the table of all cells by all levels is too large.
    """
    own, here = crosstab(cells, variable), cells.in_memory()
    return here.once(("crosstab", variable, here.rules), lambda: _count_matching(here, own, variable))


def _count_matching(cells: Cells, own: Crosstab, variable: str) -> Crosstab:
    k, (levels, place) = cells.n_cells, _in_use(own)
    codes = [level.span for level in cells.levels]
    if len(levels) >= MANY and (pairs := _pairs(cells, codes, np.diff(own.edges), len(levels))) is not None:
        return _add_pairs(own, levels, place, *pairs)
    if k * len(levels) > LARGEST:
        raise DataError(
            f"{k} cells by {len(levels)} levels of {variable!r} are too many to match missing keys as wildcards; "
            "use missing='category' or recode first"
        )
    return _add_in_turn(own, levels, place, wildcard_counter(cells.table, missing_codes=codes, wild=cells.wild))


def _pairs(cells: Cells, codes: Sequence[int], entries: Ints, kinds: int) -> tuple[Ints, Ints] | None:
    """Cells and what matches each, listed once for all variables where they are few: `wildcard_pairs`."""

    def listed(entries: Ints, kinds: int, most: int) -> tuple[Ints, Ints] | None:
        return wildcard_pairs(
            cells.table, missing_codes=codes, wild=cells.wild, entries=entries, kinds=kinds, most=most
        )

    def of_all() -> tuple[Any, Any] | None:
        pairs = listed(np.ones(cells.n_cells, np.int64), kinds, KEPT)
        return None if pairs is None else (pairs[0].astype(np.int32), pairs[1].astype(np.int32))

    every = cells.once(("matching cells", cells.rules), of_all)
    if every is not None and len(every[1]) + int(entries[every[1]].sum()) <= LARGEST:
        return every
    return listed(entries, kinds, LARGEST)


def _add_pairs(own: Crosstab, levels: Ints, place: Ints, cells: Ints, partners: Ints) -> Crosstab:
    """Add to the counts of each cell those of its partners, as a product of sparse matrices."""
    from scipy.sparse import csr_array

    k = len(own.edges) - 1
    counts = csr_array((own.count, place, own.edges), shape=(k, len(levels)))
    matches = csr_array((np.ones(len(cells), np.int64), (cells, partners)), shape=(k, k))
    both = counts + matches @ counts
    both.sort_indices()
    return replace(own, edges=both.indptr.astype(np.int64), level=levels[both.indices], count=both.data)


def _add_in_turn(own: Crosstab, levels: Ints, place: Ints, matching: Callable[[Floats], Floats]) -> Crosstab:
    """Add to the counts of each cell those of the cells that match it, some levels at a time."""
    k = len(own.edges) - 1
    entries = []
    for first, counts in _some_levels(own, place, len(levels), max(1, min(LEVELS, AT_ONCE // k))):
        np.add(counts, matching(counts), out=counts)
        cell, at = np.nonzero(counts > 0.5)
        entries.append((cell, levels[first + at], np.rint(counts[cell, at]).astype(np.int64)))
    cell, level, count = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    if len(entries) > 1:
        _, order = ascending(cell.astype(np.uint64), bits=max(1, (k - 1).bit_length()))
        level, count = level[order], count[order]
    return replace(own, edges=edges, level=level, count=count)


def _some_levels(own: Crosstab, place: Ints, n_levels: int, step: int) -> Iterator[tuple[int, Floats]]:
    """Counts of the levels in each cell, block by block: number of the first level, and counts (K, levels)."""
    k = len(own.edges) - 1
    cell = np.repeat(np.arange(k), np.diff(own.edges))
    for first in range(0, n_levels, step):
        counts = np.zeros((k, min(step, n_levels - first)))
        here = np.flatnonzero((place >= first) & (place < first + step))
        counts[cell[here], place[here] - first] = own.count[here]
        yield first, counts


def _in_use(table: Crosstab) -> tuple[Ints, Ints]:
    """The levels that occur, ascending, and the index among them of each entry of the table."""
    if table.coded.n_codes > 4 * len(table.level):
        return np.unique(table.level, return_inverse=True)
    levels = np.flatnonzero(np.bincount(table.level))
    return levels, places_among(levels, int(levels[-1]) + 1)[table.level]


# The levels of a sensitive variable: frequencies in the file, order, values as numbers.


@dataclass(frozen=True, eq=False)
class Levels:
    """The values of a variable that occur in the file, in the order of their codes.

    `codes` (M,): codes in use, ascending, that of a missing value left out. `size` (M,): records with each.
    `n_missing`: records without a value. `kind`: in words for messages. `numbers` (M,): the values as numbers; None
    for text and categories. `declared`: whether the column declares an order of its categories: that of the codes.
    """

    name: str
    codes: Ints
    size: Ints
    n_missing: int
    kind: str
    numbers: Floats | None
    declared: bool
    coded: Coded = field(repr=False)

    def labels(self) -> list[str]:
        """Printed form of each level."""
        return self.coded.labels(self.codes)


def levels_of(cells: AnyCells, variable: str) -> Levels:
    """List the levels of a variable; once for all measures of the same cells.

    Raises DataError: the variable has no value in any record.

    >>> import polars as pl
    >>> from sdckit.cells.as_cells import as_cells
    >>> cells = as_cells(pl.DataFrame({"k": [1, 1, 1, 2], "debt": [5, 3, None, 5]}), keys=["k"])
    >>> levels = levels_of(cells, "debt")
    >>> levels.labels(), levels.size.tolist(), levels.n_missing
    (['3', '5'], [1, 2], 1)
    """
    return cells.in_memory().once(("levels", variable), lambda: _levels(cells.count_in_file(variable), variable))


def _levels(table: Crosstab, variable: str) -> Levels:
    coded = table.coded
    if coded.n_codes <= 4 * len(table.level):
        size = np.bincount(table.level, table.count, coded.n_codes).astype(np.int64)
        codes = np.flatnonzero(size)
        size = size[codes]
    else:
        codes, inverse = np.unique(table.level, return_inverse=True)
        size = np.bincount(inverse, table.count).astype(np.int64)
    known = codes != table.missing
    return Levels(
        name=variable, codes=codes[known], size=size[known], n_missing=int(size[~known].sum()), kind=coded.kind,
        numbers=numbers_of(coded, codes[known]), coded=coded, declared=table.ordered,
    )  # fmt: skip


def numbers_of(coded: Coded, codes: Ints) -> Floats | None:
    """The values of codes as numbers, dates in their own unit; None for text and categories."""
    if coded.levels is None:
        return codes.astype(np.float64) + float(coded.low)
    listed: Any = coded.levels() if callable(coded.levels) else coded.levels
    if pt.is_temporal(listed.type) and not pt.is_interval(listed.type):
        listed = listed.view(pa.int32() if listed.type.bit_width == 32 else pa.int64())
    if not (pt.is_integer(listed.type) or pt.is_floating(listed.type) or pt.is_decimal(listed.type)):
        return None
    values: Floats = as_floats(listed.take(pa.array(codes))).to_numpy(zero_copy_only=False)
    return values


# Scale of a column: numbers, dates, ordered categories or nominal codes; the one rule for all advice.


Scale: TypeAlias = Literal["number", "date", "ordered", "codes", "unknown"]

FEWEST = 20  # fewer distinct whole numbers may be codes
VERY_MANY = 100  # distinct values of amounts of money, which span orders of magnitude
REGULAR = 2 / 3  # share of equal gaps between numbers, and of their range that is used
JUMPY = 3.0  # mean squared difference of neighbouring frequencies, relative to that expected by chance
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def scale_of(level: Coded, codes: Ints, size: Ints, *, numeric: bool = False, ordered: bool = False) -> Scale:
    """Scale of the levels of a column.

    `codes` and `size` (L,): the codes in use except that of missing values, and the records of each. `numeric` and
    `ordered`: what is declared, which takes precedence. Else dates are dates, numbers with fractions are numbers,
    ordered categories and labels that are ranges ("15-19", "20-24") are ordered, and text and all other categories are
    codes. Whole numbers are numbers if they are distributed like numbers, unknown otherwise.

    >>> import polars as pl
    >>> from sdckit.data.columns import code_column
    >>> from sdckit.data.frames import open_frame
    >>> frame = open_frame(pl.DataFrame({"job": [1, 2, 9], "pay": [1.5, 2.0, 2.5]}))
    >>> [scale_of(code_column(frame[name]), np.arange(3), np.ones(3, int)) for name in ("job", "pay")]
    ['unknown', 'number']
    """
    if level.kind == "date":
        return "date"
    if ordered:
        return "ordered"
    if level.kind in ("integer", "number"):
        values = sure(numbers_of(level, codes))
        place = np.argsort(values, kind="stable")
        if numeric or is_spread_like_numbers(values[place], size[place]):
            return "number"
        return "unknown"
    if level.kind == "category" and (level.ordered or holds_ranges(level.labels(np.sort(codes)))):
        return "ordered"
    return "codes"


def is_spread_like_numbers(values: Floats, size: Ints) -> bool:
    """Whether distinct values, ascending, with `size` records each, are distributed as measured numbers are.

    Numbers have fractions; or they are many, most gaps between them are equal, and neighbours have similar frequencies
    (ages, years); or they are very many and span orders of magnitude (amounts), while codes have the same number of
    digits. The frequencies of codes, such as of provinces from 1 to 81, jump from one to the next.

    >>> ages = np.arange(0.0, 80.0)
    >>> is_spread_like_numbers(ages, np.full(80, 100)), is_spread_like_numbers(ages[:9], np.full(9, 100))
    (True, False)
    >>> is_spread_like_numbers(ages, np.tile([400, 20, 90, 5], 20))
    False
    """
    if (values != np.floor(values)).any():
        return True
    if len(values) < FEWEST:
        return False
    positive = values[values > 0]
    if len(values) >= VERY_MANY and len(positive) and positive[-1] >= 1000 * positive[0]:
        return True
    cut = max(1, len(values) // 40)  # a code of missing values far away is no gap
    inner, held = values[cut:-cut], size[cut:-cut].astype(np.float64)
    gaps, often = np.unique(np.diff(inner), return_counts=True)
    steps = (inner[-1] - inner[0]) / gaps[np.argmax(often)]  # by the usual gap
    if often.max() < REGULAR * (len(inner) - 1) or len(inner) - 1 < REGULAR * steps:
        return False
    jumps = float((np.diff(held) ** 2).mean())
    return jumps <= JUMPY * (2 * float(held.mean())) or jumps <= float(held.var())


def holds_ranges(labels: Sequence[str]) -> bool:
    """Whether labels, in their order, are ascending ranges of numbers: at least half of them name both ends.

    >>> holds_ranges(["under 15", "15-19", "20-24", "25+"]), holds_ranges(["Region 1", "Region 2", "Region 3"])
    (True, False)
    """
    per_label = [NUMBER.findall(label) for label in labels]
    if len(per_label) < 3 or not all(per_label) or 2 * sum(len(numbers) == 2 for numbers in per_label) < len(per_label):
        return False
    ends = [float(re.sub(r"[.,](?=\d{3}\b)", "", numbers[0]).replace(",", ".")) for numbers in per_label]
    return ends == sorted(ends) and ends[0] < ends[-1]
