"""Figures of the cells when keys are left out or coarsened, every key and pair in a few rounds over the cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import TABLE_SPAN
from sdckit.identity.contributions.coarsening import Grouping, Levels
from sdckit.identity.contributions.contribution_table import Figures
from sdckit.numerics.risk_kernel import sums_of_cells
from sdckit.numerics.wildcard_matches.matched_margins import Wild, matched_sums
from sdckit.numerics.wildcard_matches.submargins import Branch, Counted, Sums, margin_sums, weigh

if TYPE_CHECKING:
    from sdckit.cells.table import Cells


Plan = Sequence[tuple[Sequence[int], Sequence[Branch]]]
Results = tuple[Sums, list[tuple[Branch, Counted]]]

FEW_CELLS = 1 << 13  # NumPy is done with these before a kernel is compiled
CELLS_PER_VALUE = 1 << 14  # cells that may share the keys kept in a round: they stay in the processor's cache


@dataclass(frozen=True)
class Round:
    """Keys that stay in, and what is left out of the others: a key, then further keys together with it."""

    shared: tuple[int, ...]
    branches: tuple[tuple[int, bool, tuple[int, ...]], ...]  # a key, whether for the first time, its partners


@dataclass(frozen=True)
class LeftOut:
    """Figures with all keys, by the keys left out (in the order of the cells), and by the key coarsened."""

    whole: Figures
    without: dict[tuple[str, ...], Figures]
    coarser: dict[str, Figures]


def rounds(entropy: Sequence[float], n_cells: int, *, pairs: bool) -> list[Round]:
    """Cover every key, and every pair of more than two keys, once, in at most three rounds.

    No key of a pair is in one of three sets of keys, so the pair's turn comes when that set stays in. The keys
    that tell most make the first two sets, as small as can be, and are left out first: their pairs are merged
    from the fewest cells.

    Examples
    --------
    >>> for one in rounds([1.0, 3.0, 2.0], 10, pairs=True):
    ...     print(one.shared, one.branches)
    (1,) ((2, True, (0,)), (0, True, ()))
    (2,) ((1, True, (0,)),)
    (0,) ((1, False, (2,)),)
    """
    order = sorted(range(len(entropy)), key=lambda j: -entropy[j])
    done: set[frozenset[int]] = set()
    out = []
    for shared in _thirds(entropy, order, math.log2(max(2.0, n_cells / CELLS_PER_VALUE))):
        branches, rest = [], [j for j in order if j not in shared]
        for one in rest:
            others = rest if pairs and len(order) > 2 else []
            partners = [two for two in others if two != one and frozenset((one, two)) not in done]
            if frozenset((one,)) not in done or partners:
                branches.append((one, frozenset((one,)) not in done, tuple(partners)))
            done |= {frozenset((one,)), *(frozenset((one, two)) for two in partners)}
        if branches:
            out.append(Round(tuple(shared), tuple(branches)))
    return out


def _thirds(entropy: Sequence[float], order: Sequence[int], enough: float) -> list[list[int]]:
    """Three sets of keys: two that tell enough bits, but a third of the keys at most, and the others."""
    rest, sets = list(order), []
    for _ in range(min(2, len(rest))):
        some = [rest.pop(0)]
        while len(some) < len(order) // 3 and sum(entropy[j] for j in some) < enough:
            some.append(rest.pop(0))
        sets.append(some)
    return [*sets, rest] if len(order) > 1 else []


def limits_of(k: Sequence[int]) -> NDArray[np.float64]:
    """What f of a unique and of a violation of each k is below: sums of fractions of alpha may miss by rounding."""
    return np.array([1 + 1e-9, *(one - 1e-9 for one in k)])


def takes_whole_cells(cells: Cells) -> bool:
    """Whether cells only merge when keys are left out: packed words, and no missing value that matches others."""
    return is_packed(cells) and not any(_is_wild(cells))


def is_packed(cells: Cells) -> bool:
    """Whether the keys of a cell fit into one word."""
    return cells.table.layout is not None


def _is_wild(cells: Cells) -> list[bool]:
    return [rule == "wildcard" and n > 0 for rule, n in zip(cells.rules, cells.n_missing, strict=True)]


def leave_out(
    cells: Cells,
    levels: Mapping[str, Levels],
    groupings: Mapping[str, Grouping],
    *,
    k: Sequence[int],
    pairs: bool,
) -> LeftOut:
    """Figures of every margin of cells that are packed, by the levels of every key and the coarser keys there are.

    Keys with more codes than a table takes are left out of `coarser`.
    """
    table, layout, keys = cells.table, cells.table.layout, cells.keys
    assert table.words is not None
    assert layout is not None

    def branch_of(j: int, new: bool, partners: tuple[int, ...]) -> Branch:
        codes = _codes(layout.bits[j], levels[keys[j]], groupings.get(keys[j])) if new else None
        return Branch(j, partners, codes)

    planned = rounds([levels[key].entropy for key in keys], len(table.size), pairs=pairs)
    plan = [(one.shared, [branch_of(*branch) for branch in one.branches]) for one in planned]
    merges = takes_whole_cells(cells) and len(table.size) > FEW_CELLS
    whole, counted = (_merged if merges else _matched)(cells, levels, plan, k)

    def figures(sums: Sums) -> Figures:
        uniques, *below = sums.below.tolist()
        return Figures(uniques, sums.risk / cells.n, dict(zip(k, below, strict=True)))

    out = LeftOut(figures(whole), {}, {})
    for branch, found in counted:
        out.without[keys[branch.field],] = figures(found.alone)
        if found.coarse is not None:
            out.coarser[keys[branch.field]] = figures(found.coarse)
        for other, sums in zip(branch.partners, found.together, strict=True):
            first, second = sorted((branch.field, other))
            out.without[keys[first], keys[second]] = figures(sums)
    return out


def _merged(cells: Cells, levels: Mapping[str, Levels], plan: Plan, k: Sequence[int]) -> Results:
    """Sums of cells that only merge; a record is unique where fewer than 2 are with it."""
    del levels
    table, layout, limits = cells.table, cells.table.layout, [2, *k]
    assert table.words is not None
    assert layout is not None
    weighed = weigh(table.words, table.size, cells.columns.get("population_frequency"))
    whole = np.array([table.size[table.size < limit].sum() for limit in limits])
    out: list[tuple[Branch, Counted]] = []
    for shared, branches in plan:
        found = margin_sums(
            weighed, branches, shifts=layout.shifts, bits=layout.bits, shared=shared, limits=limits
        )
        out.extend(zip(branches, found, strict=True))
    return Sums(whole, float(weighed.risk.sum())), out


def _matched(cells: Cells, levels: Mapping[str, Levels], plan: Plan, k: Sequence[int]) -> Results:
    """Sums of cells that match others too; counts of matches are sums of fractions of alpha."""
    table, layout, fraction = cells.table, cells.table.layout, cells.roles.sampling_fraction
    assert table.words is not None
    assert layout is not None
    limits = limits_of(k)
    weight = table.weight if fraction is None else table.size / fraction
    wild = Wild(
        [level.span for level in cells.levels],
        [levels[key].codes if free else None for key, free in zip(cells.keys, _is_wild(cells), strict=True)],
        cells.alpha,
    )
    weighed = weigh(table.words, table.size, weight)
    found = matched_sums(
        weighed, plan, shifts=layout.shifts, bits=layout.bits, limits=limits.tolist(), wild=wild
    )
    branches = [branch for _, some in plan for branch in some]
    f, big_f = cells.columns["sample_frequency"], cells.columns.get("population_frequency")
    risk, below = sums_of_cells(f, big_f, table.size, limits)
    counted = [one for some in found for one in some]
    return Sums(np.array(below), risk), list(zip(branches, counted, strict=True))


def _codes(bits: int, levels: Levels, grouping: Grouping | None) -> NDArray[np.uint64] | None:
    if grouping is None or bits > TABLE_SPAN.bit_length():
        return None
    table = np.arange(1 << bits, dtype=np.uint64)
    table[levels.codes] = grouping.codes(levels).astype(np.uint64)
    return table
