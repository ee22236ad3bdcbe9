"""Candidate suppressions for records at risk: groups of cells that agree on all other keys.

Suppressing a set S of keys in one record lets it match every record of its group, those that agree with it on the keys
outside S; and each of those gains a match. Groups are found by hashing, one pass over the cells for each S: single keys
first, larger sets only while some record needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, combinations as subsets, islice
from math import comb
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import tabulate
from sdckit.cells.tabulate import frequency_columns_of
from sdckit.data import arguments, nearest
from sdckit.data.columns import Coded
from sdckit.errors import ColumnError, DataError
from sdckit.numerics import coding, compiling
from sdckit.numerics.grouping import first_of_groups, gather, group, places_among, sum_by
from sdckit.numerics.threads import run

# The file during suppression: its cells, and their frequencies under the rule for missing values.


TINY = 1e-9  # a sum of fractions of alpha may miss k by rounding
GONE = -1  # code of a missing value in a situation


@dataclass(frozen=True, eq=False)
class Situation:
    """The cells of some keys in the current state of the file."""

    of_row: NDArray[np.int32]  # shape (n,); cell of each record
    size: NDArray[np.float64]  # shape (K,); records of each cell
    frequency: NDArray[np.float64]  # shape (K,); records that match it
    first: NDArray[np.int64]  # shape (K,); first record of each cell, ascending
    codes: NDArray[np.int64]  # shape (K, p); -1 where missing
    stratum: NDArray[np.int64]  # shape (K,)

    def at_risk(self, k: int) -> NDArray[np.int64]:
        """Cells whose frequency is below k, by their first records."""
        return np.flatnonzero(self.frequency < k - TINY)

    def rows_of(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Records of some cells, cell after cell and in ascending order, and where each cell begins."""
        of_row = places_among(cells, len(self.size))[self.of_row]
        rows = np.flatnonzero(of_row >= 0)
        rows = rows[np.argsort(of_row[rows], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(self.size[cells])]).astype(np.int64)
        return rows, starts


@dataclass(frozen=True, eq=False)
class WorkingFile:
    """The keys of a file, and which of their values are suppressed so far."""

    keys: tuple[Coded, ...]
    strata: Coded | None
    alpha: float
    gone: NDArray[np.bool_]  # keys x records
    # shape (n,); records that a row stands for, if not one each: k or more then, so that it is never at risk
    counts: NDArray[np.int64] | None = None
    last: list[tuple[Sequence[int], NDArray[np.bool_], Situation]] = field(default_factory=list, init=False)

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.gone.shape[1])

    def copied(self) -> WorkingFile:
        """An independent copy of the current state."""
        keys = tuple(replace(key, values=key.values.copy(), valid=key.valid.copy()) for key in self.keys)
        return replace(self, keys=keys, gone=self.gone.copy())

    def column(self, key: int) -> Coded:
        """A key with its suppressed values missing."""
        coded, gone = self.keys[key], self.gone[key]
        if not gone.any():
            return coded
        present = ~gone if len(coded.valid) == 0 else (coded.valid != 0) & ~gone
        missing = self.n - int(np.count_nonzero(present))
        return replace(coded, valid=present.astype(np.uint8), n_missing=missing)

    def sizes(self, of_row: NDArray[Any], n_cells: int, rows: Any = slice(None)) -> NDArray[np.int64]:
        """Number of records in each cell, over some rows."""
        if self.counts is None:
            return np.bincount(of_row[rows], minlength=n_cells)
        return np.bincount(of_row[rows], self.counts[rows], n_cells).astype(np.int64)

    def situation(self, keys: Sequence[int]) -> Situation:
        """Tabulate some keys in the current state; the last table is kept as long as they lack the same values."""
        gone = self.gone[list(keys)]
        if not any(of == [*keys] and np.array_equal(lacking, gone) for of, lacking, _ in self.last):
            self.last.clear()  # there may be thousands of sets of keys
            self.last.append(([*keys], gone, self._tabulated(keys)))
        return self.last[0][2]

    def _tabulated(self, keys: Sequence[int]) -> Situation:
        columns = [self.column(j) for j in keys]
        strata = [] if self.strata is None else [self.strata]
        table = tabulate([*columns, *strata], None)
        size = self.sizes(table.of_row, len(table.size))
        frequency = frequency_columns_of(
            table, counted=size, total=None,
            missing_codes=[column.span for column in [*columns, *strata]],
            wild=[column.n_missing > 0 for column in columns] + [False for _ in strata], alpha=self.alpha,
            sampling_fraction=None, n_strata=len(strata),
        )["sample_frequency"]  # fmt: skip
        first = first_of_groups(table.of_row, len(table.size))
        order = np.argsort(first)  # whatever the engine's coding, cells come in the order of the file
        number = places_among(order, len(order)).astype(np.int32)
        codes = np.stack([table.codes[j][order] for j in range(len(columns))], axis=1)
        spans = np.array([column.span for column in columns])
        return Situation(
            of_row=gather([number], table.of_row)[0], size=size[order].astype(np.float64),
            frequency=np.asarray(frequency, np.float64)[order], first=first[order],
            codes=np.where(codes >= spans, GONE, codes),
            stratum=table.codes[len(columns)][order] if strata else np.zeros(len(order), np.int64),
        )  # fmt: skip

    def take_out(self, keys: Sequence[int], masks: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        """Suppress values: bit i of the mask of a record stands for the i-th of the keys."""
        for i, j in enumerate(keys):
            hit = rows[(masks >> np.uint64(i)) & np.uint64(1) == 1]
            self.gone[j, hit] = True

    def new(self, key: int) -> NDArray[np.bool_]:
        """Which values of a key were present and are suppressed."""
        coded = self.keys[key]
        out: NDArray[Any] = self.gone[key]
        return out if len(coded.valid) == 0 else out & (coded.valid != 0)


# Arguments of `local_suppression`: combinations of keys with their k, and the importance of the keys.


HOW = "is {size: k}, {(key, key): k} or a list of (keys, k)"
MOST = 5000  # combinations
Combinations: TypeAlias = "Mapping[int | str | tuple[str, ...], int] | Sequence[tuple[Sequence[str], int]]"
Importance: TypeAlias = "Mapping[str, float] | Sequence[str] | Sequence[float]"
Requests: TypeAlias = "list[tuple[tuple[int, ...], int]]"


def read_combinations(keys: Sequence[str], k: object, combinations: Combinations | None, n: int) -> Requests:
    """Sets of keys, by position, with the k that each must reach: the largest sets first.

    Raises `DataError`: neither k nor combinations, a k below 2 or above the number of records, a size no set
    of keys has; `ColumnError`: a combination names a column that is no key.
    """
    if k is None and combinations is None:
        raise DataError("say which k to reach: k=3, or combinations={2: 5, 3: 3} for sets", argument="k")
    wanted: Requests = []
    if k is not None:
        wanted.append((tuple(range(len(keys))), _checked_k(k, n)))
    given: Any = combinations if combinations is not None else {}
    pairs = given.items() if isinstance(given, Mapping) else arguments.several(given, "combinations", HOW)
    for pair in pairs:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise DataError(f"combinations {HOW}", argument="combinations")
        which, level = pair[0], _checked_k(pair[1], n)
        wanted += [(key_set, level) for key_set in _sets_of(keys, which)]
    if not wanted:
        raise DataError("combinations= is empty; name one set of keys and its k", argument="combinations")
    if len(wanted) > MOST:
        raise DataError(f"{len(wanted)} combinations of keys; name at most {MOST}")
    highest: dict[tuple[int, ...], int] = {}
    for key_set, level in wanted:
        highest[key_set] = max(level, highest.get(key_set, 0))
    return sorted(highest.items(), key=lambda request: (-len(request[0]), -request[1], request[0]))


def _checked_k(k: object, n: int) -> int:
    whole = arguments.count(k, "k", "counts records", at_least=2)
    if whole > n:
        raise DataError(f"k = {whole} is more than the {n} records of the data; lower k", argument="k")
    return whole


def _sets_of(keys: Sequence[str], which: object) -> list[tuple[int, ...]]:
    if arguments.is_whole(which):
        size = int(which)
        if not 1 <= size <= len(keys):
            raise DataError(f"combinations: no set of {size} among {len(keys)} keys", argument="combinations")
        if comb(len(keys), size) > MOST:
            raise DataError(f"{comb(len(keys), size)} combinations of {size} keys; name at most {MOST}")
        return list(subsets(range(len(keys)), size))
    names = (which,) if isinstance(which, str) else which
    if not isinstance(names, Sequence) or not names:
        raise DataError("combinations: name a size or a set of keys for each k", argument="combinations")
    if len(set(names)) < len(names):
        raise ColumnError("combinations: a set of keys lists one of them twice", argument="combinations")
    for name in names:
        _check_key(name, keys, "combinations")
    return [tuple(sorted(list(keys).index(name) for name in names))]


def _check_key(name: object, keys: Sequence[str], role: str) -> None:
    if name not in keys:
        hint = nearest.did_you_mean(str(name), keys)
        raise ColumnError(f"{role}: {name!r} is not one of the keys; {hint}", argument=role)


def read_importance(keys: Sequence[str], importance: Importance | None) -> tuple[float, ...] | None:
    """Importance of each key as a number, 1 for the one to protect most; None where the choice is free.

    Raises `ColumnError`: a name that is no key, or a key left out or named twice; `DataError`: not one number
    per key.
    """
    if importance is None:
        return None
    if isinstance(importance, str) or not isinstance(importance, (Mapping, Sequence)):
        says = "importance is {key: number}, or a list of the keys, the most important one first"
        raise DataError(says, argument="importance")
    given: Any = importance
    if isinstance(given, Mapping):
        numbers = dict(given)
    elif all(isinstance(entry, str) for entry in given):
        if twice := sorted({name for name in given if list(given).count(name) > 1}):
            raise ColumnError(f"importance: {twice[0]!r} is listed more than once", argument="importance")
        numbers = {name: place for place, name in enumerate(given, 1)}
    elif len(given) == len(keys):
        numbers = dict(zip(keys, given, strict=True))
    else:
        says = f"importance has {len(given)} numbers for {len(keys)} keys; give one per key"
        raise DataError(says, argument="importance")
    for name in numbers:
        _check_key(name, keys, "importance")
    if lacking := [name for name in keys if name not in numbers]:
        raise ColumnError(f"importance: key {lacking[0]!r} is left out; name them all", argument="importance")
    ordered = [numbers[name] for name in keys]
    says = "of a key is 1 for the one to protect most"
    return tuple(arguments.number(number, "importance", says) for number in ordered)


PASSES = 1 << 28  # cells hashed in all before larger sets are left to the nearest-neighbour search
SETS = 500  # of one size: more are left to that search, too
AT_ONCE = 4  # sets processed together: bounds the memory


@dataclass(frozen=True)
class Order:
    """Preference among the keys to suppress."""

    rank: tuple[float, ...]  # by key; a larger number goes first
    strict: bool  # whether the order decides before the number of records that a suppression helps

    def sets(self, size: int) -> list[tuple[int, ...]]:
        """Sets of keys in the order they are tried: that whose most important key is least important first."""
        key_sets = combinations(range(len(self.rank)), size)
        return sorted(key_sets, key=lambda key_set: sorted(self.rank[j] for j in key_set), reverse=True)


@dataclass(frozen=True, eq=False)
class Choices:
    """Groups that cells at risk can join by losing keys."""

    cells: NDArray[np.int64]  # shape (C,); complete cells at risk, which the rest counts from 0
    # shape (C,); keys that a record must lose to reach k on its own account; 0 where no search found a set
    needs: NDArray[np.int64]
    starts: NDArray[np.int64]  # shape (G + 1,); where the cells of each group begin
    members: NDArray[np.int64]  # shape (E,); cells, group by group
    own: NDArray[np.bool_]  # shape (E,); whether a record of the cell reaches k in this group
    masks: NDArray[np.uint64]  # shape (G,); keys to take out, as bits
    costs: NDArray[np.int64]  # shape (G,); their number
    sizes: NDArray[np.float64]  # shape (G,); records of each group


@dataclass(frozen=True, eq=False)
class _Block:
    """Groups that share one set of suppressed keys."""

    group: NDArray[np.int64]
    member: NDArray[np.int64]
    own: NDArray[np.bool_]
    sizes: NDArray[np.float64]
    mask: int
    cost: int


def hash_values(column: NDArray[np.int64], key: int) -> NDArray[np.uint64]:
    """A 64-bit hash per value; a sum of hashes identifies a cell, and a key is removed by subtraction."""
    start = np.uint64((key + 1) * int(coding.GOLDEN) % (1 << 64))
    scramble = coding.splitmix.py_func if compiling.is_few(coding.splitmix, len(column)) else coding.splitmix
    words: NDArray[np.uint64] = scramble(column.astype(np.uint64) + start)
    return words


def _numbered(label: NDArray[np.int64], n_labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Renumber groups in the order of their first members; and the old label of each."""
    first = first_of_groups(label, n_labels)
    present = np.flatnonzero(first >= 0)
    present = present[np.argsort(first[present])]
    return places_among(present, n_labels)[label], present


def find_choices(at: Situation, k: int, order: Order, *, largest: int | None = None) -> Choices:
    """Find the groups of all complete cells at risk, with at most `largest` keys suppressed."""
    whole = np.flatnonzero((at.codes >= 0).all(axis=1))
    risky = at.at_risk(k)
    risky = risky[(at.codes[risky] >= 0).all(axis=1)]
    place = places_among(whole, len(at.size))
    words = [hash_values(at.codes[whole, j], j) for j in range(at.codes.shape[1])]
    total = sum(words, start=hash_values(at.stratum[whole], len(words)))
    lacking = k - TINY - at.frequency[risky] + at.size[risky]
    needs, blocks, n_keys, hashed = np.zeros(len(risky), np.int64), [], len(words), 0
    for size in range(1, (n_keys if largest is None else largest) + 1):
        open_cells, n_sets = needs == 0, comb(n_keys, size)
        hashed += n_sets * len(whole)
        few = size > 2 and int(open_cells.sum()) <= n_sets  # a nearest-neighbour search is quicker
        if not open_cells.any() or few or (size > 1 and (hashed > PASSES or n_sets > SETS)):
            break
        for batch in _batches(order.sets(size)):
            grouped = run(lambda keys: _groups_of(keys, words, total, at.size[whole], place[risky]), batch)
            for keys, label, sizes in grouped:
                own = open_cells & (sizes[label] >= lacking)
                if order.strict:
                    own &= needs == 0
                needs[own] = size
                blocks += _kept(keys, label, sizes, own, open_cells)
    return _joined(risky, needs, blocks)


def _batches(sets: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    left = iter(sets)
    while batch := list(islice(left, AT_ONCE)):
        yield batch


def _groups_of(
    keys: tuple[int, ...], words: Sequence[NDArray[np.uint64]], total: NDArray[np.uint64],
    sizes: NDArray[np.float64], risky: NDArray[np.int64],
) -> tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.float64]]:  # fmt: skip
    """Group of each cell at risk when some keys are suppressed, and the number of records in each group."""
    word = total.copy()
    for j in keys:
        word -= words[j]
    groups = group(word)
    return keys, groups.of_row[risky].astype(np.int64), sum_by(groups.of_row, sizes, len(groups.size))


def _kept(
    keys: tuple[int, ...], label: NDArray[np.int64], sizes: NDArray[np.float64], own: NDArray[np.bool_],
    open_cells: NDArray[np.bool_],
) -> list[_Block]:  # fmt: skip
    """Keep the groups with a cell that still needs a set of keys; those of one cell only if it reaches k there."""
    touched = np.bincount(label, open_cells, len(sizes)) > 0
    several = np.bincount(label, minlength=len(sizes)) > 1
    useful = touched & (several | (np.bincount(label, own, len(sizes)) > 0))
    member = np.flatnonzero(useful[label])
    if len(member) == 0:
        return []
    number, present = _numbered(label[member], len(sizes))
    mask = sum(1 << j for j in keys)
    return [_Block(number, member, own[member], sizes[present], mask, len(keys))]


def _joined(cells: NDArray[np.int64], needs: NDArray[np.int64], blocks: Sequence[_Block]) -> Choices:
    edges = np.concatenate([[0], np.cumsum([len(b.sizes) for b in blocks])]).astype(np.int64)
    n_groups = int(edges[-1])
    label = np.concatenate([b.group + edge for b, edge in zip(blocks, edges, strict=False)] or [edges[:0]])
    by_group = np.argsort(label, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=n_groups))]).astype(np.int64)
    counts = np.diff(edges)
    return Choices(
        cells=cells, needs=needs, starts=starts,
        members=np.concatenate([b.member for b in blocks] or [edges[:0]])[by_group],
        own=np.concatenate([b.own for b in blocks] or [np.empty(0, bool)])[by_group],
        masks=np.repeat(np.array([b.mask for b in blocks], np.uint64), counts),
        costs=np.repeat(np.array([b.cost for b in blocks], np.int64), counts),
        sizes=np.concatenate([b.sizes for b in blocks] or [np.empty(0)]),
    )  # fmt: skip
