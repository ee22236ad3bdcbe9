"""A lower bound on the number of suppressions, and for small files the smallest number itself.

Give every record at risk a price y, such that whichever values are taken out of one record, at most as many
as that record would need alone, the prices it earns never exceed the number of values: its own price, and
of each other record that comes to match it the price divided by the matches that one lacks. In any solution
every record at risk either loses a value itself or gains all matches it lacks from such records, so each
price is earned in full, and the sum of the prices is a lower bound (a dual solution of the covering problem).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import Floats, Ints, Words
from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import group, places_among
from sdckit.numerics.linear_bounds import solve_programme
from sdckit.protect.suppression.suppression_choices import TINY, Choices, Order, Situation, find_choices, hash_values
from sdckit.protect.suppression.suppression_mend import nearest_sets

# The smallest number of suppressions of a small file, by an integer programme.


MOST_RECORDS = 150  # at risk
MOST_COMPARISONS = 500_000  # of a record at risk and a cell
MOST_SETS = 3000  # of keys that records at risk may lose
MOST_CANDIDATES = 1 << 24  # sets of keys tried, each against the cells near by
KEPT = 16  # solutions of programmes, with their numbers: mostly a third of a megabyte each, at most some three


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of the integer programme."""

    # records to change and the keys each loses, as bits; empty where no solution was reached
    rows: Ints
    masks: Words
    total: int | None  # values taken out
    bound: int  # no solution takes out fewer


class _Losses(NamedTuple):
    """What records of a cell may lose: the number of the cell at risk (V,) and sets of its keys, as bits (V,)."""

    cell: Ints
    keys: Ints


def _differences(at: Situation, risky: Ints) -> Ints:
    """Keys on which each cell at risk and each cell differ, both present, as bits (C, K); 0 in another stratum."""
    codes, differ = at.codes[risky], np.zeros((len(risky), len(at.size)), np.int64)
    for j in range(at.codes.shape[1]):
        own, other = codes[:, j, None], at.codes[None, :, j]
        differ |= ((own != other) & (own >= 0) & (other >= 0)).astype(np.int64) << j
    differ[at.stratum[risky][:, None] != at.stratum] = 0
    return differ


def _losses(at: Situation, risky: Ints, needs: Ints, differ: Ints) -> _Losses | None:
    """Nothing, and every set of keys of which each can help a record to a match; None where they are many.

    A key of a set helps if it tells the record from one that it matches once both have lost what they may.
    """
    p, most = at.codes.shape[1], np.zeros(len(at.size), np.int64)
    most[risky] = needs
    near = (differ > 0) & (np.bitwise_count(differ) <= needs[:, None] + most)
    candidates = sum(math.comb(p, size) for size in range(int(needs.max()) + 1))
    if candidates * int(near.sum()) > MOST_CANDIDATES:
        return None
    kept = []
    for row, need in enumerate(needs.tolist()):
        present = np.flatnonzero(at.codes[risky[row]] >= 0).tolist()
        sizes = (combinations(present, size) for size in range(need + 1))
        sets = np.array([sum(1 << j for j in keys) for keys in chain.from_iterable(sizes)], np.int64)
        others, may_lose = differ[row, near[row]], most[near[row]]
        matched = np.bitwise_count(others & ~sets[:, None]) <= may_lose
        helping = np.bitwise_or.reduce(np.where(matched, others, 0), axis=1)
        kept.append(sets[sets & ~helping == 0])
    losses = _Losses(np.repeat(np.arange(len(risky)), [len(sets) for sets in kept]), np.concatenate(kept))
    return losses if len(losses.cell) <= MOST_SETS else None


def solve(at: Situation, k: int, risky: Ints, needs: Ints, least: int, nodes: int) -> Solution | None:
    """Minimise the suppressions in records at risk, no more in one than it needs alone, by an integer programme.

    None where the problem is not small. A match counts in full whichever side lacks the value (alpha = 1).
    The limit is on nodes of the search tree: one on time would make the result depend on the machine.

    `risky`, `needs` (shape (C,)): cells at risk, and how many keys a record of each needs to lose to reach k alone.
    `least`: a lower bound known already. `nodes`: limit on the nodes of the branch-and-bound tree.
    """
    n = int(at.size[risky].sum())
    if n > MOST_RECORDS or n * len(at.size) > MOST_COMPARISONS:
        return None
    differ = _differences(at, risky)
    losses = _losses(at, risky, needs, differ)
    if losses is None:
        return None
    return _programme(at, k, risky, losses, differ, least, nodes)


def _programme(at: Situation, k: int, risky: Ints, losses: _Losses, differ: Ints, least: int, nodes: int) -> Solution:
    """Solve for how many records of each cell lose which keys.

    Unknowns are these numbers and, for sets that do not reach k by themselves, whether any record loses them: then
    others must lose what tells them from it, as often as it lacks matches.
    """
    (cell, keys), size = losses, at.size[risky]
    n_sets, n_values = len(cell), np.bitwise_count(keys)
    gained = [at.size[(differ[c] > 0) & (differ[c] & ~own == 0)].sum() for c, own in zip(cell, keys, strict=True)]
    lacking = np.ceil(k - TINY - at.frequency[risky[cell]] - gained)
    short = np.flatnonzero(lacking > 0)
    left = differ[:, risky[cell]][cell[short]] & ~keys[short, None]
    helped, helping = np.nonzero((left > 0) & (left & ~keys == 0))
    all_sets, lines, used = np.arange(n_sets), np.arange(len(short)), n_sets + np.arange(len(short))
    first, second, last = len(risky), len(risky) + len(short), len(risky) + 2 * len(short)
    parts = [
        (cell, all_sets, np.ones(n_sets)),  # every record loses one of its sets, which may be empty
        (first + helped, helping, -np.ones(len(helped))),
        (first + lines, used, lacking[short]),
        (second + lines, short, np.ones(len(short))),
        (second + lines, used, -size[cell[short]]),
        (np.full(n_sets, last), all_sets, -n_values.astype(float)),
    ]
    i, j, value = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
    lower = np.concatenate([size, np.full(2 * len(short) + 1, -np.inf)])
    upper = np.concatenate([size, np.zeros(2 * len(short)), [-least]])
    most = np.concatenate([size[cell], np.ones(len(short))])
    times, bound = _fewest(
        i.astype(np.int32).tobytes(), j.astype(np.int32).tobytes(), value.tobytes(), lower.tobytes(), upper.tobytes(),
        most.tobytes(), n_values.tobytes(), nodes,
    )  # fmt: skip
    if bound is not None and math.isfinite(bound):
        least = max(least, math.ceil(bound - 1e-6))
    rows, _ = at.rows_of(risky)
    if times is None:
        return Solution(rows[:0], np.empty(0, np.uint64), None, least)
    return Solution(rows, np.repeat(keys, times).astype(np.uint64), int(times @ n_values), least)


@lru_cache(maxsize=KEPT)
def _fewest(
    lines: bytes, places: bytes, factors: bytes, lower: bytes, upper: bytes, most: bytes, goal: bytes, nodes: int
) -> tuple[Ints | None, float | None]:
    """Solve the programme given by its numbers, once: how often each set is lost, None where not solved, and a bound.

    A recipe is applied, replayed, and tried beside others, on the same records at risk: seconds for each time.
    """
    from scipy.optimize import Bounds, LinearConstraint
    from scipy.sparse import coo_array

    bounds, values = np.frombuffer(most), np.frombuffer(goal, np.uint8)
    rows = np.frombuffer(lower), np.frombuffer(upper)
    terms = np.frombuffer(factors), (np.frombuffer(lines, np.int32), np.frombuffer(places, np.int32))
    optimum = solve_programme(
        np.concatenate([values, np.zeros(len(bounds) - len(values))]), integrality=np.ones(len(bounds)),
        bounds=Bounds(0, bounds),
        constraints=LinearConstraint(coo_array(terms, (len(rows[0]), len(bounds))).tocsr(), *rows),
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )  # fmt: skip
    times = None if optimum.x is None else np.rint(optimum.x[: len(values)]).astype(np.int64)
    return times, optimum.mip_dual_bound


ROUNDS = 12
COMPARISONS = 1 << 28  # pairs of cells: a short search
GROUPING = 8  # comparisons of a cell that take as long as its part of a grouping


@dataclass(frozen=True, eq=False)
class Needs:
    """How many keys each cell at risk would have to lose if its record alone were changed."""

    cells: Ints  # shape (C,); the cells at risk
    keys: Ints  # shape (C,); at least as many keys as each needs
    # for cells with missing values: the complete cells at risk (numbered as in `Choices`) in each of their
    # groups, one more key suppressed
    starts: Ints
    members: Ints
    # those among the cells that must lose several keys, and whose groups are not listed
    far: Ints


def needs_of(at: Situation, k: int, choices: Choices, order: Order) -> Needs:
    """Find how many keys each cell at risk needs to lose."""
    cells = at.at_risk(k)
    keys = np.zeros(len(at.size), np.int64)
    keys[choices.cells] = choices.needs
    pattern = (at.codes[cells] < 0) @ (1 << np.arange(at.codes.shape[1], dtype=np.int64))
    patterns = np.setdiff1d(pattern, [0])
    listed = len(patterns) * at.codes.shape[1] * len(at.size) <= 2 * COMPARISONS
    labels: list[Ints] = []
    members: list[Ints] = []
    for missing in patterns.tolist() if listed else []:
        _list_groups(at, k, choices.cells, cells[pattern == missing], missing, keys, labels, members)
    far = cells[keys[cells] == 0]
    if listed and len(far) * len(at.size) <= COMPARISONS:
        keys[far] = np.bitwise_count(nearest_sets(at, far, k, 1.0, order, apply=False))
    else:  # too long a search: they may lose all
        keys[far] = at.codes.shape[1]
    edges = np.cumsum([0, *(len(label) and int(label.max()) + 1 for label in labels)])
    label = np.concatenate([block + edge for block, edge in zip(labels, edges, strict=False)] or [edges[:0]])
    by_group = np.argsort(label, kind="stable")
    return Needs(
        cells=cells, keys=keys[cells],
        starts=np.concatenate([[0], np.cumsum(np.bincount(label, minlength=int(edges[-1])))]).astype(np.int64),
        members=np.concatenate(members or [edges[:0]])[by_group], far=far,
    )  # fmt: skip


def bound_of(at: Situation, k: int, alpha: float, *, together: bool = False) -> int:
    """Lower bound on the number of suppressions, however many values a record may lose.

    `together`: even if records that are not at risk lose values, as household members do.
    """
    risky, n_keys = at.at_risk(k), at.codes.shape[1]
    if len(risky) == 0:
        return 0
    if alpha == 0:  # nothing but a record's own loss helps it, unless it lacks values already
        whole = (at.codes[risky] >= 0).all(axis=1)
        return max(1, int(at.size[risky[whole]].sum()))
    choices = find_choices(at, k, Order((0,) * n_keys, strict=False), largest=0)
    cells, none = np.arange(len(at.size)) if together else risky, np.empty(0, np.int64)
    needs = Needs(cells, np.full(len(cells), n_keys), starts=np.zeros(1, np.int64), members=none, far=cells)
    return lower_bound(at, k, choices, needs, alpha)


def _list_groups(
    at: Situation, k: int, risky: Ints, lacking: Ints, pattern: int, keys: Ints, labels: list[Ints], members: list[Ints]
) -> None:
    """List groups of complete cells around cells with one pattern of missing keys, one more key suppressed.

    Appends to `labels` and `members`, and sets `keys` to 1 for cells that reach k in one of these groups.
    """
    whole = np.flatnonzero((at.codes >= 0).all(axis=1))
    rows = np.concatenate([whole, lacking])
    place = places_among(whole, len(at.size))
    word = hash_values(at.stratum[rows], at.codes.shape[1])
    seen = [j for j in range(at.codes.shape[1]) if not pattern >> j & 1]
    words = [hash_values(at.codes[rows, j], j) for j in seen]
    for key_word in words:
        word += key_word
    for key_word in words:
        left, there = word - key_word, np.zeros(1 << 16, np.bool_)
        there[left[len(whole) :] >> 48] = True  # others are in no group with them
        near = np.flatnonzero(there[left[: len(whole)] >> 48])
        groups = group(np.concatenate([left[near], left[len(whole) :]]))
        sizes = np.bincount(groups.of_row[: len(near)], at.size[whole[near]], len(groups.size))
        theirs = groups.of_row[len(near) :]
        keys[lacking[sizes[theirs] >= k]] = 1
        touched, number = np.append(np.bincount(theirs, minlength=len(groups.size)) > 0, False), np.full(len(whole), -1)
        number[near] = groups.of_row[: len(near)]
        label = number[place[risky]]
        inside = np.flatnonzero(touched[label])
        labels.append(np.unique(label[inside], return_inverse=True)[1].astype(np.int64))
        members.append(inside)


class _Priced(NamedTuple):
    """Cells at risk: records, matches lacking, weight of a match (alpha); dual prices, and factors they may grow by."""

    size: Floats
    lacking: Floats
    share: float
    price: Floats
    limit: Floats


@njit(cache=True, nogil=True)
def _limits(starts, members, costs, needs, outside, priced):  # type: ignore[no-untyped-def]
    """Lower `priced.limit` to the factor by which prices may grow: no group may earn more than it costs.

    Group g has the cells `members[starts[g] : starts[g + 1]]` and costs `costs[g]` values; `needs`: keys that each cell
    must lose. `outside`: a record without a price may lose its values in the group, too.
    """
    size, lacking, share, price, limit = priced
    for g in range(len(costs)):
        total, best, has_best = 0.0, 0.0, outside
        for e in range(starts[g], starts[g + 1]):
            c = members[e]
            theirs = share * size[c] * price[c] / lacking[c]
            total += theirs
            if needs[c] >= costs[g] and (not has_best or price[c] - theirs > best):
                best, has_best = price[c] - theirs, True
        if has_best and total + best > 0:
            most = costs[g] / (total + best)
            for e in range(starts[g], starts[g + 1]):
                limit[members[e]] = min(limit[members[e]], most)


@njit(cache=True, nogil=True)
def _limits_near(columns, strata, cells, codes, stratum, hard, needs, priced, fixed):  # type: ignore[no-untyped-def]
    """The same for cells `hard` whose groups are not listed: all cells within reach are taken to be in one.

    `codes` (K, p), `stratum` (K,): all cells. `cells`: those with a price; `columns` (p, cells), `strata` (cells,):
    their codes, key by key. `needs`: keys within reach of each of `hard`. `fixed`: set for the cells that are limited
    here.
    """
    size, lacking, share, price, limit = priced
    differing = np.empty(len(cells), np.int32)
    for h in range(len(hard)):
        c, total = hard[h], 0.0
        differing[:] = 0
        for j in range(len(columns)):  # a key at a time: the cells pass by in lanes
            code, column = np.int32(codes[c, j]), columns[j]
            if code >= 0:
                for i in range(len(cells)):
                    differing[i] += (column[i] != code) & (column[i] >= 0)
        for i in range(len(cells)):
            if cells[i] == c:
                total += price[i]
            elif 0 < differing[i] <= needs[h] and strata[i] == stratum[c]:
                total += share * size[i] * price[i] / (lacking[i] * differing[i])
        if total > 0:
            for i in range(len(cells)):
                if cells[i] == c or (0 < differing[i] <= needs[h] and strata[i] == stratum[c]):
                    limit[i] = min(limit[i], 1.0 / total)
                    fixed[i] = True


def _limits_everywhere(at: Situation, dear: Ints, far: Ints, priced: _Priced) -> None:
    """`_limits_near` of the cells `dear` where all keys of all cells at risk, `far`, are within reach, in one stratum.

    The weight of the cells that agree with a cell on each set of its keys tells, by inclusion and exclusion, that of
    the cells that differ from it on how many: a grouping for each set instead of a comparison for each pair.
    """
    codes, place = at.codes[far], np.searchsorted(far, dear)
    present, p, n = codes >= 0, codes.shape[1], len(dear)
    weight, own = np.zeros(len(far)), np.zeros(len(far))
    weight[place] = (priced.share * priced.size * priced.price / priced.lacking)[:n]
    own[place] = priced.price[:n]
    agreeing = np.zeros((p + 1, len(far)))
    sets = [(np.arange(len(far)), np.zeros(len(far), np.int64), 1, 0, 0)]
    while sets:
        rows, label, span, size, first = sets.pop()
        agreeing[size, rows] += np.bincount(label, weight[rows], span)[label]
        for j in range(first, p):
            there = present[rows, j]
            word, bits = label[there] << (shift := int(codes[:, j].max()).bit_length()), (span - 1).bit_length()
            groups = group((word | codes[rows[there], j]).astype(np.uint64), bits=bits + shift)
            sets.append((rows[there], groups.of_row.astype(np.int64), len(groups.size), size + 1, j + 1))
    held, total = present.sum(axis=1), own
    for same in range(p):
        exactly = sum((-1) ** (m - same) * math.comb(m, same) * agreeing[m] for m in range(same, p + 1))
        total = total + np.where(held > same, exactly / np.maximum(held - same, 1), 0.0)
    waiting = np.arange(n)
    for h in np.argsort(-total, kind="stable").tolist():  # the largest limits all that it does not match already
        if len(waiting) == 0 or total[h] <= 0:
            return
        near = ((at.codes[dear[waiting]] != codes[h]) & present[h]).any(axis=1) | (dear[waiting] == far[h])
        priced.limit[waiting[near]] = np.minimum(priced.limit[waiting[near]], 1.0 / total[h])
        waiting = waiting[~near]


def lower_bound(at: Situation, k: int, choices: Choices, needs: Needs, alpha: float = 1.0) -> int:
    """Lower bound on the number of suppressions: dual prices, scaled up in several rounds.

    `at`: the file before anything was taken out. `choices`: groups of the complete cells at risk. `needs`:
    how many keys each cell at risk may lose. `alpha`: weight of a match through another record's missing
    value.

    Cells with missing values at the start get no price: suppressions in any record may help them.
    """
    cells = choices.cells
    if len(cells) == 0:
        return int(len(needs.cells) > 0)
    size, price = at.size[cells], np.ones(len(cells))
    n_priced = COMPARISONS // 4 // max(1, len(needs.far))
    price[n_priced:] = 0  # a lower bound for some records is one for all
    priced = _Priced(size, k - at.frequency[cells], alpha, price, np.ones(len(cells)))
    fixed = np.zeros(len(cells), np.bool_)
    far_keys = needs.keys[np.isin(needs.cells, needs.far)]
    far = needs.cells[np.isin(needs.cells, needs.far)]
    dear, p = cells[:n_priced], at.codes.shape[1]
    everywhere = len(far) == len(needs.cells) and bool((far_keys == p).all()) and not at.stratum.any()
    if everywhere and GROUPING << p < len(dear):
        _limits_everywhere(at, dear, far, priced)
        fixed[: len(dear)] = True
    else:
        near = sparing(_limits_near, len(far) * len(dear) * (p + 2))
        columns = np.ascontiguousarray(at.codes[dear].T, np.int32)
        near(columns, at.stratum[dear], dear, at.codes, at.stratum, far, far_keys, priced, fixed)
    single = np.ones(len(needs.starts) - 1, np.int64)
    limits = sparing(_limits, 4 * ROUNDS * (len(choices.members) + len(needs.members)))
    for _ in range(ROUNDS):
        limits(choices.starts, choices.members, choices.costs, choices.needs, False, priced)
        limits(needs.starts, needs.members, single, choices.needs, True, priced)
        price *= priced.limit
        priced.limit[:] = np.where(fixed, 1.0, 1.0 / np.maximum(price, TINY))
    return max(1, math.ceil(float(size @ price) - 1e-6))
