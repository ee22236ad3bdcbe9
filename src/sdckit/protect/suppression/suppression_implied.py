"""Which suppressed values a reader can work out, because nothing is taken out without need.

A reader who knows the method, k and the keys puts a value back and counts: where everybody still reaches k, that value
would have been given back, so it is not the one. A value follows where one is left. `suppression_decoys` hides those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Bools, Ints
from sdckit.numerics.compiling import sparing
from sdckit.numerics.grouping import sum_by
from sdckit.numerics.threads import chunks, run
from sdckit.protect.suppression.suppression_choices import hash_values
from sdckit.protect.suppression.suppression_file import TINY, Situation, WorkingFile
from sdckit.protect.suppression.suppression_left import MANY, NONE, left_among_pairs, left_in_tables
from sdckit.protect.suppression.suppression_mend import Packed, packed_words
from sdckit.protect.suppression.suppression_requests import Requests

PAIR, CELL, PATTERN = 2, 30, 80_000  # nanoseconds, about: a pair of cells, a cell in a table, a table
LONGEST = 60 * 10**9  # a count that would take longer is not made


@dataclass(frozen=True, eq=False)
class Patterns:
    """The cells of a situation by the keys they have."""

    at: Situation
    mask: NDArray[np.uint64]  # shape (K,); keys a cell has, as bits
    cells: dict[int, Ints]  # by mask
    words: list[NDArray[np.uint64]]  # a word per cell and key; of the stratum last

    @property
    def n_keys(self) -> int:
        """Keys."""
        return len(self.words) - 1

    def speaks(self, mask: int) -> bool:
        """Whether a record with these keys counts for others: one of several keys that has none does not."""
        return mask != 0 or self.n_keys == 1

    def word(self, cells: Ints, mask: int) -> NDArray[np.uint64]:
        """One word for the stratum and the keys of a mask."""
        total = self.words[-1][cells].copy()
        for j in range(self.n_keys):
            if mask >> j & 1:
                total += self.words[j][cells]
        return total


@dataclass(frozen=True, eq=False)
class _Table:
    """Of the cells with some keys: what those that match each query have in the key that was taken out."""

    group: Ints  # shape (Q,); group of each query
    starts: Ints  # shape (G + 1,); where the levels of each group begin
    level: Ints  # shape (E,)
    weight: NDArray[np.float64]  # shape (E,); what its records count
    tight: Bools  # shape (E,); whether some of them cannot lose a match


def patterns_of(at: Situation) -> Patterns:
    """Sort the cells by the keys they have."""
    n_keys = at.codes.shape[1]
    mask = np.zeros(len(at.size), np.uint64)
    for j in range(n_keys):
        mask |= (at.codes[:, j] >= 0).astype(np.uint64) << np.uint64(j)
    order = np.argsort(mask, kind="stable")
    found, first = np.unique(mask[order], return_index=True)
    cells = dict(zip(found.tolist(), np.split(order, first[1:]), strict=True))
    words = [hash_values(at.codes[:, j], j) for j in range(n_keys)]
    return Patterns(at, mask, cells, [*words, hash_values(at.stratum, n_keys)])


def batches(patterns: Patterns, cells: Ints, keys: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Cells that lack a key, with others that have the same keys: the key, the mask, places of the cells given."""
    pairs = np.stack([keys.astype(np.uint64), patterns.mask[cells]], axis=1)
    kinds, which = np.unique(pairs, axis=0, return_inverse=True)
    for i, (key, mask) in enumerate(kinds.tolist()):
        yield int(key), int(mask), np.flatnonzero(which.reshape(-1) == i)


def candidates(
    patterns: Patterns, alpha: float, k: int, key: int, mask: int, cells: Ints, seen: Ints
) -> Ints:
    """For cells of one mask that lack a key: the place among the `seen` levels of the one that is left.

    A level is left if, were it put back, a record fell below k: that of the cell, or one that would no longer match
    it. -1: none is left. -2: several.
    """
    at, base, tables = patterns.at, np.zeros(len(cells)), []
    full = (1 << patterns.n_keys) - 1
    after = mask | 1 << key
    for other, all_of in patterns.cells.items():
        if not patterns.speaks(other):
            continue
        group, rows, of_row = _matched(patterns, cells, mask & other, all_of)
        if not other >> key & 1:
            base += alpha * sum_by(of_row, at.size[rows], int(group.max()) + 1)[group]
            continue
        whole = 1.0 if other in (full, after) else alpha
        tight = (at.frequency[rows] - alpha < k - TINY) & (alpha > 0 and patterns.speaks(mask))
        level = np.searchsorted(seen, at.codes[rows, key])
        tables.append(_table(group, of_row, level, whole * at.size[rows], tight, len(seen)))
    base += 1 - alpha * patterns.speaks(mask)  # the record matches itself in full
    less = 0.0 if after == full else 1 - alpha  # what those that are like it lose
    twins = (at.size[cells] > 1) & (at.frequency[cells] - less < k - TINY) & (less > 0)
    if not tables:
        needed = twins | (base < k - TINY)
        return np.where(needed, (NONE, 0, MANY)[min(len(seen), 2)], NONE)
    sizes = [(len(one.starts), len(one.level)) for one in tables]
    spans = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(sizes, axis=0)])
    reached = sum(len(one.level) / max(1, len(one.starts) - 1) for one in tables)
    found: Ints = sparing(left_in_tables, len(cells) * (4 * reached + len(tables)))(
        np.stack([one.group for one in tables], axis=1), spans, np.concatenate([one.starts for one in tables]),
        np.concatenate([one.level for one in tables]), np.concatenate([one.weight for one in tables]),
        np.concatenate([one.tight for one in tables]), base, twins, len(seen), k - TINY,
    )  # fmt: skip
    return found


def _matched(patterns: Patterns, cells: Ints, shared: int, others: Ints) -> tuple[Ints, Ints, Ints]:
    """Group of each cell by the shared keys, the other cells that are in one, and in which."""
    wanted, group = np.unique(patterns.word(cells, shared), return_inverse=True)
    there = patterns.word(others, shared)
    place = np.minimum(np.searchsorted(wanted, there), len(wanted) - 1)
    hit = wanted[place] == there
    return group.reshape(-1), others[hit], place[hit]


def _table(
    group: Ints, of_row: Ints, level: Ints, weight: NDArray[np.float64], tight: Bools, seen: int
) -> _Table:
    pairs, which = np.unique(of_row * seen + level, return_inverse=True)
    which = which.reshape(-1)
    starts = np.searchsorted(pairs, np.arange(int(group.max()) + 2) * seen)
    some = np.bincount(which, tight, len(pairs)) > 0
    return _Table(group, starts, pairs % seen, sum_by(which, weight, len(pairs)), some)


def implied(file: WorkingFile, requests: Requests, alone: Sequence[int]) -> Bools | None:
    """The values taken out that follow from the file as it stands; shape keys x records.

    `alone`: the keys of which values are taken out and given back one by one. None where counting would take too long.

    A conclusion is certain only if it is right for all records that lack the key and are alike in what is left.
    """
    out = np.zeros(file.gone.shape, np.bool_)
    gone = [file.new(j) if j in alone else out[j] for j in range(len(out))]
    key, row = np.nonzero(np.stack(gone))
    if len(key) == 0:
        return out
    seen = [np.unique(_present(file, j)) for j in range(len(out))]
    left = np.full(len(key), NONE, np.int64)
    for keys, k in requests:
        patterns = patterns_of(file.situation(keys))
        place = {j: i for i, j in enumerate(keys)}
        mine = np.flatnonzero(np.isin(key, list(keys)))
        cell = patterns.at.of_row[row[mine]].astype(np.int64)
        of_key = np.array([place[j] for j in key[mine].tolist()], np.int64)
        asked, which = np.unique(cell * len(keys) + of_key, return_inverse=True)
        levels = [seen[j] for j in keys]
        found = _found(patterns, file.alpha, k, asked // len(keys), asked % len(keys), levels)
        if found is None:
            return None
        left[mine] = _both(left[mine], found[which.reshape(-1)])
    right = np.zeros(len(key), np.bool_)
    for j in np.unique(key).tolist():
        at = key == j
        true = file.keys[j].codes(row[at])
        vanished = np.setdiff1d(true, seen[j])
        right[at] = (left[at] == true) | ((left[at] == NONE) & (len(vanished) == 1) & np.isin(true, vanished))
    alike = file.situation(range(len(out))).of_row[row].astype(np.int64) * len(out) + key
    _, alike = np.unique(alike, return_inverse=True)
    wrong = np.bincount(alike.reshape(-1), ~right) > 0
    out[key, row] = right & ~wrong[alike.reshape(-1)]
    return out


def _found(
    patterns: Patterns, alpha: float, k: int, cells: Ints, keys: Ints, seen: Sequence[Ints]
) -> Ints | None:
    """The level left for each cell and key, by whichever way is quicker; None where both would take too long."""
    if len(cells) == 0:
        return np.empty(0, np.int64)
    at, found = patterns.at, np.full(len(cells), NONE, np.int64)
    kinds = len(np.unique(np.stack([keys.astype(np.uint64), patterns.mask[cells]], axis=1), axis=0))
    by_tables = kinds * (CELL * len(at.size) + PATTERN * len(patterns.cells))
    by_pairs = PAIR * len(cells) * len(at.size)
    packed = None
    if by_pairs < by_tables:
        packed = packed_words([*at.codes.T, at.stratum], np.arange(len(at.size)))
    if (by_tables if packed is None else by_pairs) > LONGEST:
        return None
    if packed is None:
        for j, mask, here in batches(patterns, cells, keys):
            found[here] = candidates(patterns, alpha, k, j, mask, cells[here], seen[j])
    else:
        for j in np.unique(keys).tolist():
            here = np.flatnonzero(keys == j)
            found[here] = _among_pairs(patterns, packed, alpha, k, j, cells[here], seen[j])
    for j, levels in enumerate(seen):
        named = (keys == j) & (found >= 0)
        found[named] = levels[found[named]]
    return found


def _among_pairs(
    patterns: Patterns, packed: Packed, alpha: float, k: int, key: int, cells: Ints, seen: Ints
) -> Ints:
    """The same as `candidates` for cells of any mask, each held against every other."""
    at, (words, there, fields) = patterns.at, packed
    level = np.full(len(at.size), -1, np.int64)
    has = at.codes[:, key] >= 0
    level[has] = np.searchsorted(seen, at.codes[has, key])
    keys = np.bitwise_or.reduce(fields[:-1])
    marks = np.array([fields[key], keys, keys if patterns.n_keys > 1 else 0], np.uint64)
    tight = (at.frequency - alpha < k - TINY) & (alpha > 0)
    less = np.where((there[cells] | fields[key]) & keys == keys, 0.0, 1 - alpha)
    twins = (at.size[cells] > 1) & (at.frequency[cells] - less < k - TINY) & (less > 0)
    limits = np.array([alpha, k - TINY])
    left = sparing(left_among_pairs, 4 * len(cells) * len(words))
    found: list[Ints] = run(
        lambda part: left(
            cells[part[0] : part[1]], words, there, at.size, tight, level, twins[part[0] : part[1]], marks, limits,
            len(seen),
        ),
        chunks(len(cells), minimum=64),
    )  # fmt: skip
    return np.concatenate(found)


def _present(file: WorkingFile, key: int) -> Ints:
    column = file.column(key)
    codes = column.codes()
    return codes[codes < column.span]


def _both(before: Ints, now: Ints) -> Ints:
    """What is left by two requests: a value that one of them needs out may be the one."""
    same = (before == now) | (now == NONE)
    return np.where(same, before, np.where(before == NONE, now, MANY))
