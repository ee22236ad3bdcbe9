"""A6: combinations of a few variables that occur too seldom: the unsafe combinations of mu-Argus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from threading import Event
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import Cells
from sdckit.data import arguments, nearest
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Codes, Ints, Values, Words
from sdckit.numerics.coding import find_number, hash_word
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run
from sdckit.numerics.wildcard_matches.matched_margins import merge
from sdckit.result import FileFigure, mean_and_sum

# Count the cells of small tables (margins), and mark the cells of the file that fall into rare ones.


DIRECT = 1 << 20  # possible cells of a table that is counted by direct addressing
MOST = 1 << 62  # possible cells that one 64-bit word can number

SmallTable = tuple[int, int, int]


@njit(cache=True, nogil=True)
def _append(codes, levels, words):  # type: ignore[no-untyped-def]
    """Append one digit in base `levels`, the code of each cell, to its number `words` (K,), in place."""
    for i in range(len(words)):
        words[i] = words[i] * levels + np.uint64(codes[i])


@njit(cache=True, nogil=True)
def _direct(words, size, counts):  # type: ignore[no-untyped-def]
    """Add the records of each cell (`size`) to the count at its number `words`."""
    for i in range(len(words)):
        counts[words[i]] += size[i]


@njit(cache=True, nogil=True)
def _mark(words, rare, variables, marks):  # type: ignore[no-untyped-def]
    """Count one more unsafe combination for each cell in a rare one: in the last column and per variable."""
    last = marks.shape[1] - 1
    for i in range(len(words)):
        if rare[words[i]]:
            marks[i, last] += 1
            for j in variables:
                marks[i, j] += 1


@njit(cache=True, nogil=True)
def _numbered(words, distinct, slots, out):  # type: ignore[no-untyped-def]
    """Look the number of each word up in a hash table: `slots` over the `distinct` words; into `out`."""
    for i in range(len(words)):
        out[i] = slots[find_number(slots, distinct, words[i], hash_word(words[i]))]


def count_unsafe(
    codes: Codes, levels: Ints, size: Ints, variables: Sequence[int], threshold: int, marks: Codes
) -> SmallTable:
    """Count one table of some variables, and mark the cells in its rare cells.

    `codes` (p, K): of the cells, 0 to ``levels[j] - 1`` for variable j. `size` (K,): records of the cells.
    `threshold`: records up to which a cell of the table is rare. `marks` (K, p + 1): gains one in the columns of
    the variables, and in the last, where a cell is in a rare one. Returns how many cells of the table are not
    empty, how many of them are rare, and the records in those.

    >>> codes, marks = np.array([[0, 0, 1], [0, 1, 0]], np.int32), np.zeros((3, 3), np.int32)
    >>> count_unsafe(codes, np.array([2, 2]), np.array([1, 2, 3]), [0, 1], 2, marks)
    (3, 2, 3)
    >>> marks[:, 2].tolist()
    [1, 1, 0]
    """
    words, counts = count_table(codes, levels, size, variables)
    rare = (counts > 0) & (counts <= threshold)
    n_rare = int(np.count_nonzero(rare))
    if n_rare:
        _mark(words, rare, np.array(variables, np.int64), marks)
    return int(np.count_nonzero(counts)), n_rare, int(counts[rare].sum())


def count_table(codes: Codes, levels: Ints, size: Ints, variables: Sequence[int]) -> tuple[Words, Ints]:
    """The cell of the table of some variables that each cell of the file is in, and the records of each, maybe 0."""
    words, possible = np.zeros(len(size), np.uint64), 1
    for j in variables:
        if possible * int(levels[j]) > MOST:
            words, distinct = _renumber(words, size)
            possible = len(distinct)
        _append(codes[j], np.uint64(levels[j]), words)
        possible *= int(levels[j])
    if possible > DIRECT:
        return _renumber(words, size)
    counts = np.zeros(possible, np.int64)
    _direct(words, size, counts)
    return words, counts


def _renumber(words: Words, size: Ints) -> tuple[Words, Ints]:
    """Number the words that occur from 0, and count the records of each."""
    merged = merge(words, size)
    number = np.empty(len(words), np.uint64)
    _numbered(words, merged.words, merged.slots, number)
    return number, merged.size


MOST_TABLES = 1_000_000


# --- which tables -----------------------------------------------------------------------------------


def identifying_sets(levels: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The tables that identification levels ask for.

    With L levels in use a table has L variables: one of the first level, one of the first two levels, and
    so on, all different. A variable of level 0 takes no part.

    Examples
    --------
    >>> identifying_sets({"town": 1, "job": 1, "age": 2, "car": 0})
    (('town', 'job'), ('town', 'age'), ('job', 'age'))
    """
    used = sorted({level for level in levels.values() if level > 0})
    names = sorted((name for name, level in levels.items() if level > 0), key=lambda name: levels[name])
    return tuple(
        chosen
        for chosen in combinations(names, len(used))
        if all(levels[name] <= limit for name, limit in zip(chosen, used, strict=True))
    )


# --- result -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RiskyCombination:
    """The table of one combination of variables.

    Attributes
    ----------
    variables : tuple of str
    dimension : int
        Number of variables.
    threshold : int
        Records up to which a cell is unsafe.
    n_cells, n_unsafe : int
        Cells that occur, and those of them that are unsafe.
    records : int
        Records in unsafe cells.
    """

    variables: tuple[str, ...]
    dimension: int
    threshold: int
    n_cells: int
    n_unsafe: int
    records: int


@dataclass(frozen=True, eq=False, repr=False)
class RiskyCells(CellsResult):
    """Unsafe combinations of a file.

    Attributes
    ----------
    n_combinations : int
        Tables looked at.
    unsafe_cells : dict of int to int
        Unsafe cells by dimension.
    records_affected, rate_affected : int and float
        Records in at least one unsafe cell, and their share of all records.
    variable_counts : dict of str to int
        Unsafe cells of the tables that each variable is in.
    table : tuple of RiskyCombination
        One row per table, by dimension.
    records : frame
        ``n_unsafe``, the tables in which the record lies in an unsafe cell, and ``n_unsafe_<variable>``,
        those of them with the variable.
    """

    measure: ClassVar[str] = "risky_cells"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_combinations", "unsafe_cells", "records_affected", "rate_affected", "variable_counts",
        "table_figures",
    )  # fmt: skip
    cells: Cells
    table: tuple[RiskyCombination, ...]

    @property
    def n_combinations(self) -> int:
        """Tables looked at."""
        return len(self.table)

    @cached_property
    def unsafe_cells(self) -> dict[int, int]:
        """Unsafe cells by dimension."""
        dimensions = sorted({row.dimension for row in self.table})
        return {d: sum(row.n_unsafe for row in self.table if row.dimension == d) for d in dimensions}

    @cached_property
    def records_affected(self) -> int:
        """Records in at least one unsafe cell."""
        return int(self.cells.table.size[self.cells.columns["n_unsafe"] > 0].sum())

    @property
    def rate_affected(self) -> float:
        """Share of the records in at least one unsafe cell."""
        return self.records_affected / self.n

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return mean_and_sum("rate_affected", "records_affected", "n_unsafe", above=0.5)

    @cached_property
    def variable_counts(self) -> dict[str, int]:
        """Unsafe cells of the tables that each variable is in."""
        return {key: sum(row.n_unsafe for row in self.table if key in row.variables) for key in self.cells.keys}

    @cached_property
    def table_figures(self) -> dict[str, dict[str, int]]:
        """The table by the names of the variables."""
        names = ("n_cells", "n_unsafe", "records")
        return {" x ".join(row.variables): {name: getattr(row, name) for name in names} for row in self.table}

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type.

        Raises
        ------
        DataError
            The data is a plan, of which the cells came here and the records did not.
        """
        if self.cells.source is None:
            raise DataError("a plan was counted on its engine: its records are not here; collect it to see them")
        names = ["n_unsafe", *(f"n_unsafe_{key}" for key in self.cells.keys)]
        return self.cells.records(names, prefix=self.prefix)


# --- measure ----------------------------------------------------------------------------------------


def risky_cells(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    max_dim: int = 3,
    threshold: int | Mapping[int, int] = 1,
    identification_levels: Mapping[str, int] | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> RiskyCells:
    """Find combinations of up to a few variables that too few records have.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know; a missing value is a category here.
    max_dim : int
        Largest number of variables in a combination; not used with identification levels.
    threshold : int or dict of int to int
        Records up to which a cell is unsafe, for all tables or by their dimension.
    identification_levels : dict of str to int, optional
        Level of every key, 1 for the most identifying, 0 to leave it out. With L levels in use, tables of L
        variables are looked at: one of level 1, one of level 1 or 2, and so on.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its cells less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    RiskyCells
        ``table`` of `RiskyCombination`, ``unsafe_cells``, ``records_affected``, ``variable_counts``,
        ``records``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; identification levels of what is no key, or not of every key.
    DataError
        As `key_frequencies`; a dimension, threshold or level that is not a whole number, or a threshold
        missing for a dimension; more than a million tables; persons, who cannot be counted from cells.

    Notes
    -----
    Unsafe is a count of at most the threshold, as sdcMicro counts; some papers say below. Empty cells do
    not count. sdcMicro's option for identification levels looks at all tables of up to L variables; here
    they are those that mu-Argus makes.

    References
    ----------
    Hundepool, A. et al. (2014). mu-Argus version 5.1 user's manual, on combinations. Statistics Netherlands.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "a", "a"]})
    >>> result = risky_cells(survey, keys=["sex", "job"])
    >>> [(row.variables, row.n_unsafe) for row in result.table]
    [(('sex',), 0), (('job',), 1), (('sex', 'job'), 2)]
    """
    asked = breakdown(data, by, RiskyCells, interval, seed, scenario, prefix)
    cells = tabulate_given(data, keys=keys, scenario=scenario, id=id, default_missing="category", weighted=False)
    if cells.roles.person is not None:
        raise DataError("distinct persons cannot be counted from cells; leave person= out for risky cells")
    if identification_levels is None:
        sets = sets_up_to(cells.keys, max_dim)
    else:
        levels = arguments.mapping(identification_levels, "identification_levels", "gives a level for each key")
        sets = identifying_sets(_checked_levels(levels, cells.keys))
    limits = _limits(threshold, {len(set_) for set_ in sets})
    here = cells.in_memory(*asked.extra(cells))
    table, marks = _tabulate(here, sets, limits)
    columns: dict[str, Values] = {"n_unsafe": marks[:, -1].astype(np.int64)}
    for j, key in enumerate(here.keys):
        columns[f"n_unsafe_{key}"] = marks[:, j].astype(np.int64)
    return asked.of(RiskyCells(here.with_cells(columns), table, prefix=prefix))


def sets_up_to(keys: Sequence[str], max_dim: int) -> tuple[tuple[str, ...], ...]:
    """All sets of one up to `max_dim` keys, by their number."""
    arguments.count(max_dim, "max_dim", "counts the variables of a combination")
    sizes = range(1, min(max_dim, len(keys)) + 1)
    number = sum(comb(len(keys), d) for d in sizes)
    if number > MOST_TABLES:
        words = f"{len(keys)} keys have {number} combinations of up to {max_dim}"
        raise DataError(f"{words}; take fewer keys or a smaller max_dim")
    return tuple(chosen for d in sizes for chosen in combinations(keys, d))


def _checked_levels(levels: Mapping[str, int], keys: Sequence[str]) -> dict[str, int]:
    argument = "identification_levels"
    if unknown := [name for name in levels if name not in keys]:
        words = f"{argument}: {unknown[0]!r} is not one of the keys; {nearest.did_you_mean(str(unknown[0]), keys)}"
        raise ColumnError(words, argument=argument)
    if absent := [key for key in keys if key not in levels]:
        raise ColumnError(f"{argument}: key {absent[0]!r} has none; give it one, 0 to leave it out", argument=argument)
    for level in levels.values():
        arguments.count(level, argument, "is 1 for the most identifying, 0 for none", at_least=0)
    if not any(levels.values()):
        raise DataError("all identification levels are 0, so there is no combination to look at", argument=argument)
    return {key: levels[key] for key in keys}


def _limits(threshold: int | Mapping[int, int], dimensions: set[int]) -> dict[int, int]:
    given = dict(threshold) if isinstance(threshold, Mapping) else dict.fromkeys(dimensions, threshold)
    if absent := sorted(dimensions - set(given)):
        words = f"threshold: none is given for tables of {absent[0]} variables; give one per dimension"
        raise DataError(words, argument="threshold")
    return {d: arguments.count(given[d], "threshold", "counts records") for d in dimensions}


def _tabulate(
    cells: Cells, sets: Sequence[tuple[str, ...]], limits: Mapping[int, int]
) -> tuple[tuple[RiskyCombination, ...], Codes]:
    codes, levels = dense_cells(cells)
    size, place = cells.table.size, {key: j for j, key in enumerate(cells.keys)}
    stopped = Event()

    def part(edges: tuple[int, int]) -> tuple[list[RiskyCombination], Codes]:
        marks = np.zeros((len(size), len(cells.keys) + 1), np.int32)
        rows = []
        for set_ in sets[edges[0] : edges[1]]:
            if stopped.is_set():
                break
            limit = limits[len(set_)]
            table = count_unsafe(codes, levels, size, [place[key] for key in set_], limit, marks)
            rows.append(RiskyCombination(set_, len(set_), limit, *table))
        return rows, marks

    try:
        parts = run(part, chunks(len(sets), minimum=1))
    finally:
        stopped.set()  # interrupted, the threads at work end with the table they are at
    marks = parts[0][1]
    for _, more in parts[1:]:
        marks += more
    return tuple(row for rows, _ in parts for row in rows), marks


def dense_cells(cells: Cells) -> tuple[Codes, Ints]:
    """Codes without gaps, a missing value the last, so that small tables can be counted in place."""
    codes = np.empty((len(cells.keys), cells.n_cells), np.int32)
    used = [cells.level_sizes(key)[0] for key in cells.keys]
    run(lambda j: codes.__setitem__(j, np.searchsorted(used[j], cells.table.codes[j])), range(len(used)))
    return codes, np.array([len(distinct) for distinct in used], np.int64)
