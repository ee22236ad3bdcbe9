"""Which values of a record at risk could go: the groups of cells that agree on all other keys.

Taking the values of a set S of keys out of one record lets it match every record of its group, those that
agree with it on the keys outside S; and each of those gains a match. Groups are found by hashing, one pass
over the cells for each S: single keys first, larger sets only while some record needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.coding import GOLDEN, splitmix
from sdckit.numerics.compiling import FEW
from sdckit.numerics.grouping import group, sum_by
from sdckit.numerics.threads import run
from sdckit.protect.suppression.suppression_file import TINY, Situation

PASSES = 1 << 28  # cells hashed in all before the larger sets are left to the search for neighbours
SETS = 500  # of one size: more are left to it, too
AT_ONCE = 4  # sets looked at together: what bounds the memory


@dataclass(frozen=True)
class Order:
    """Which keys to suppress rather than others."""

    rank: tuple[float, ...]  # by key; a larger number goes first
    strict: bool  # whether the order decides before the number of records that a suppression helps

    def sets(self, size: int) -> list[tuple[int, ...]]:
        """Sets of keys, the first to be tried first: that whose best protected key is protected least."""
        found = combinations(range(len(self.rank)), size)
        return sorted(found, key=lambda one: sorted(self.rank[j] for j in one), reverse=True)


@dataclass(frozen=True, eq=False)
class Choices:
    """Groups that cells at risk can be released into."""

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
    """Groups of one set of keys."""

    group: NDArray[np.int64]
    member: NDArray[np.int64]
    own: NDArray[np.bool_]
    sizes: NDArray[np.float64]
    mask: int
    cost: int


def hash_values(column: NDArray[np.int64], key: int) -> NDArray[np.uint64]:
    """A word per value; cells are told apart by sums of words, from which a key is easily taken."""
    start = np.uint64((key + 1) * int(GOLDEN) % (1 << 64))
    scramble = splitmix.py_func if len(column) <= FEW else splitmix
    words: NDArray[np.uint64] = scramble(column.astype(np.uint64) + start)
    return words


def _numbered(label: NDArray[np.int64], n_labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number groups by their first members; and the old label of each."""
    first = np.full(n_labels, len(label), np.int64)
    first[label[::-1]] = np.arange(len(label) - 1, -1, -1)
    present = np.flatnonzero(first < len(label))
    present = present[np.argsort(first[present])]
    number = np.empty(n_labels, np.int64)
    number[present] = np.arange(len(present))
    return number[label], present


def find_choices(at: Situation, k: int, order: Order, *, largest: int | None = None) -> Choices:
    """Find the groups of all complete cells at risk, with at most `largest` keys left out."""
    whole = np.flatnonzero((at.codes >= 0).all(axis=1))
    risky = at.at_risk(k)
    risky = risky[(at.codes[risky] >= 0).all(axis=1)]
    place = np.full(len(at.size), -1, np.int64)
    place[whole] = np.arange(len(whole))
    words = [hash_values(at.codes[whole, j], j) for j in range(at.codes.shape[1])]
    total = sum(words, start=hash_values(at.stratum[whole], len(words)))
    lacking = k - TINY - at.frequency[risky] + at.size[risky]
    needs, blocks, n_keys, hashed = np.zeros(len(risky), np.int64), [], len(words), 0
    for size in range(1, (n_keys if largest is None else largest) + 1):
        open_cells, n_sets = needs == 0, comb(n_keys, size)
        hashed += n_sets * len(whole)
        few = size > 2 and int(open_cells.sum()) <= n_sets  # a search for neighbours is quicker
        if not open_cells.any() or few or (size > 1 and (hashed > PASSES or n_sets > SETS)):
            break
        for batch in _batches(order.sets(size)):
            found = run(lambda keys: _groups_of(keys, words, total, at.size[whole], place[risky]), batch)
            for keys, label, sizes in found:
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
    """Group of each cell at risk when some keys are left out, and the records of each group."""
    word = total.copy()
    for j in keys:
        word -= words[j]
    groups = group(word)
    return keys, groups.of_row[risky].astype(np.int64), sum_by(groups.of_row, sizes, len(groups.size))


def _kept(
    keys: tuple[int, ...], label: NDArray[np.int64], sizes: NDArray[np.float64], own: NDArray[np.bool_],
    open_cells: NDArray[np.bool_],
) -> list[_Block]:  # fmt: skip
    """Groups with a cell that may need so many keys; a lone cell only where it reaches k there."""
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
