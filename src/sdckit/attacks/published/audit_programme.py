"""Which levels remain possible: searched by linear and integer programmes, block by block, and sums exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.attacks.published.audit_model import ContradictionError, System
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.linear_bounds import Relations, find_point, narrow, solve_programme

# Other files that fit, on a walk from one that does: one record after the other is given another
# completion.


SWEEPS = 30
FACTOR, SHIFT, SPAN = (
    1_103_515_245,
    12_345,
    2**31,
)  # a plain generator: what is found is right whatever it draws


@njit(cache=True, nogil=True)
def walk(relations, weight, active, point, pattern, order, begin, wanted):  # type: ignore[no-untyped-def]
    """(X,) which of the `wanted` unknowns are at least one in a file on a walk from `point`, changed in place.

    `weight` (K,): the factors in the order of `relations.at`. `active` (R,): the sums of the relations at `point` (X,).
    `order` (X,): unknowns by `pattern` (X,), of which those of pattern p stand from begin[p] on. Every step keeps all
    relations, so every file on the way fits.
    """
    found = np.zeros(len(wanted), np.bool_)
    drawn = 1
    for _ in range(SWEEPS):
        n_left = 0
        for j in range(len(wanted)):
            if not wanted[j] or found[j]:
                continue
            found[j] = point[j] >= 1 or _donor(relations, weight, active, point, order, begin, pattern[j], j, 0) >= 0
            n_left += not found[j]
        if n_left == 0:
            break
        for j in range(len(wanted)):
            if point[j] < 1:
                drawn = (drawn * FACTOR + SHIFT) % SPAN
                i = _donor(relations, weight, active, point, order, begin, pattern[j], j, drawn)
                if i >= 0:
                    _move(relations, weight, active, point, i, j)
    return found


@njit(cache=True, nogil=True)
def _donor(relations, weight, active, point, order, begin, p, j, start):  # type: ignore[no-untyped-def]
    """A completion of pattern p of which a record may become j; -1 where there is none."""
    size = begin[p + 1] - begin[p]
    for turn in range(size):
        i = order[begin[p] + (start + turn) % size]
        if i != j and point[i] >= 1 and _fits(relations, weight, active, i, j):
            return i
    return -1


@njit(cache=True, nogil=True)
def _move(relations, weight, active, point, i, j):  # type: ignore[no-untyped-def]
    point[i] -= 1
    point[j] += 1
    for a in range(relations.first[i], relations.first[i + 1]):
        active[relations.at[a]] -= weight[a]
    for b in range(relations.first[j], relations.first[j + 1]):
        active[relations.at[b]] += weight[b]


@njit(cache=True, nogil=True)
def _fits(relations, weight, active, i, j):  # type: ignore[no-untyped-def]
    """Whether all relations hold with one record less in i and one more in j; both lists are in ascending order.

    Both are of one pattern, so that in a relation of both they count the same.
    """
    a, b = relations.first[i], relations.first[j]
    end_a, end_b = relations.first[i + 1], relations.first[j + 1]
    while a < end_a or b < end_b:
        left = relations.at[a] if a < end_a else np.iinfo(np.int64).max
        right = relations.at[b] if b < end_b else np.iinfo(np.int64).max
        if left == right:
            a, b = a + 1, b + 1
        elif left < right:
            if not _may_move(relations, active, left, -weight[a]):
                return False
            a += 1
        else:
            if not _may_move(relations, active, right, weight[b]):
                return False
            b += 1
    return True


@njit(cache=True, nogil=True)
def _may_move(relations, active, r, by):  # type: ignore[no-untyped-def]
    after = active[r] + by
    return after >= relations.lower[r] if by < 0 else after <= relations.upper[r]


# Levels that only a search in whole numbers rules out: sums of values are too far apart for a solver.


MOST_SEARCHED = 200  # unknowns of a block
MOST_ENDS = 500  # dead ends of one search
WORK_OF_SEARCHES = 40_000  # unknowns times searches of a block
IMPOSSIBLE, POSSIBLE, UNDECIDED = 0, 1, 2


def search_levels(matrix: Any, lower: Floats, upper: Floats, low: Floats, high: Floats, member: Any) -> Ints:
    """Say of each group of unknowns (a row of `member`) whether one of them can be 1 or more: 0 no, 1 yes, 2 not known.

    `matrix` (R, X) sparse: the relations within `lower` and `upper`; `low`, `high` (X,): ends of the unknowns. A search
    goes through all that narrowing leaves, and is given up after 500 dead ends.
    """
    relations = _relations(matrix, lower, upper)
    found = np.full(member.shape[0], UNDECIDED)
    every = np.arange(len(low))
    searches = 0
    for group in range(len(found)):
        if found[group] == POSSIBLE:
            continue
        answers = []
        for unknown in member.indices[member.indptr[group] : member.indptr[group + 1]]:
            if searches * len(low) > WORK_OF_SEARCHES:
                return found
            searches += 1
            answer, point = _search(relations, low, high, int(unknown), every)
            answers.append(answer)
            if answer == POSSIBLE:
                has = np.asarray(member @ np.round(point)).ravel() >= 1
                found[has] = POSSIBLE
                break
        if found[group] != POSSIBLE and all(one == IMPOSSIBLE for one in answers):
            found[group] = IMPOSSIBLE
    return found


def _search(relations: Relations, low: Floats, high: Floats, unknown: int, every: Ints) -> tuple[int, Floats]:
    """Whether some point has an unknown of 1 or more, and the point."""
    own_low, own_high = low.astype(np.float64), high.astype(np.float64)
    own_low[unknown] = max(own_low[unknown], 1.0)
    if own_low[unknown] > own_high[unknown] or not narrow(relations, own_low, own_high, -1):
        return IMPOSSIBLE, own_low
    answer = find_point(relations, own_low, own_high, every, 0, MOST_ENDS)
    if answer == POSSIBLE and not _holds(relations, np.round(own_low)):
        return UNDECIDED, own_low
    return (UNDECIDED if answer < 0 else int(answer)), own_low


def _holds(relations: Relations, point: Floats) -> bool:
    """Whether a point meets the relations exactly: narrowing allows for rounding."""
    row = np.repeat(np.arange(len(relations.lower)), np.diff(relations.start))
    total = np.bincount(row, relations.factor * point[relations.number], len(relations.lower))
    return bool(((total >= relations.lower) & (total <= relations.upper)).all())


def _relations(matrix: Any, lower: Floats, upper: Floats) -> Relations:
    by_row, by_column = matrix.tocsr(), matrix.tocsc()
    return Relations(
        by_row.indptr.astype(np.int64), by_row.indices.astype(np.int64), by_row.data.astype(np.float64),
        lower.astype(np.float64), upper.astype(np.float64), by_column.indptr.astype(np.int64),
        by_column.indices.astype(np.int64), np.ones(matrix.shape[1], np.bool_),
    )  # fmt: skip


NODES = 5  # of a search tree: a limit on time would make the result depend on the machine
GAP = 0.5  # what a point may miss of the bound: whether that is below one, and some point, is all that is used
MOST_UNKNOWN = 30_000  # of a block that is given to a programme
WORK_OF_PROGRAMMES = 10_000  # unknowns times programmes of a block, beyond which the rest stays undecided
FEWEST_ROUNDS = 2
MARGIN = 0.25  # of a unit, by which sums are loosened: they are whole, a solver is not exact


@dataclass(frozen=True, eq=False)
class Attainable:
    """Hidden values of patterns by level: `pattern`, `variable`, `level` (G,), whether each is `possible`.

    `by_propagation` (G,): the same before any programme ran. `proven` (G,): whether some file is known to have it.
    `undecided`: groups that no programme decided; they count as possible. `solved`: programmes run.
    """

    pattern: Ints
    variable: Ints
    level: Ints
    possible: Bools
    by_propagation: Bools
    proven: Bools
    undecided: int
    solved: int


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of unknowns that give a pattern one level of one variable: members by rows."""

    pattern: Ints
    variable: Ints
    level: Ints
    of: Ints  # (M,) group of each membership
    unknown: Ints  # (M,) unknown of each membership


def _groups(system: System) -> _Groups:
    hidden = system.patterns.hidden[system.completions.pattern]
    unknown, variable = np.nonzero(hidden)
    pattern, level = system.completions.pattern[unknown], system.completions.levels[unknown, variable]
    shape = (len(system.patterns.size), len(system.patterns.shape), max(system.patterns.shape, default=1))
    packed = np.ravel_multi_index((pattern, variable, level), shape)
    words, of = np.unique(packed, return_inverse=True)
    p, v, a = np.unravel_index(words, shape)
    return _Groups(p, v, a, of.ravel(), unknown)


def attainable(
    system: System, truth: Floats | None = None, *, only: Bools | None = None, largest: int = MOST_UNKNOWN
) -> Attainable:
    """Say of every level of every hidden value whether some file that meets everything has it.

    `truth` (X,): one such file, where it is known. `only` (P, V): the values asked for. `largest`: unknowns of a block
    that is given to a programme.
    """
    groups = _groups(system)
    n = len(groups.level)
    first = np.zeros(n, np.bool_)
    first[groups.of[system.high[groups.unknown] >= 1]] = True
    waiting = first.copy()
    if only is not None:
        waiting &= only[groups.pattern, groups.variable]
    near = _Near(system, groups)
    waiting[groups.of[system.low[groups.unknown] >= 1]] = False
    if truth is not None:
        waiting &= ~near.has(truth, waiting)
    possible, proven, solved = first.copy(), first.copy(), 0
    for block in _blocks(system, groups, waiting):
        left, found = block.decide(near, min(largest, MOST_UNKNOWN))
        possible[left == 0] = False
        proven[left != 1] = False
        solved += found
    undecided = int((possible & ~proven).sum())
    return Attainable(groups.pattern, groups.variable, groups.level, possible, first, proven, undecided, solved)


class _Near:
    """Files on a walk from a file that fits."""

    def __init__(self, system: System, groups: _Groups) -> None:
        relations, pattern = system.relations, system.completions.pattern
        self.system, self.groups = system, groups
        # What follows from others is not looked at: it may bind parts of which only one is in a point.
        lower = np.where(system.given, relations.lower, -np.inf)
        self.relations = relations._replace(lower=lower, upper=np.where(system.given, relations.upper, np.inf))
        self.row = np.repeat(np.arange(len(lower)), np.diff(relations.start))
        begin = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(system.patterns.size)))])
        self.of_pattern = pattern, np.argsort(pattern, kind="stable"), begin

    def has(self, point: Floats, asked: Bools) -> Bools:
        """(G,) which of the groups asked for `point` (X,) has, or a file on a walk from it."""
        groups = self.groups
        terms = self.relations.factor * point[self.relations.number]
        active = np.bincount(self.row, terms, len(self.relations.lower))
        wanted = np.zeros(len(point), np.bool_)
        wanted[groups.unknown[asked[groups.of]]] = True
        wanted &= self.system.high >= 1
        hit = walk(self.relations, self.system.weight, active, point.copy(), *self.of_pattern, wanted)
        found = np.zeros(len(asked), np.bool_)
        found[groups.of[hit[groups.unknown]]] = True
        return found


@dataclass(frozen=True, eq=False)
class _Block:
    """Unknowns bound to each other, with their relations."""

    unknown: Ints
    matrix: Any
    lower: Floats
    upper: Floats
    low: Floats
    high: Floats
    groups: Ints  # groups asked for
    member: Any  # (groups, unknowns) sparse
    n_groups: int

    def decide(self, near: _Near, largest: int) -> tuple[Ints, int]:
        """Say of each group: 0 impossible, 1 possible, 2 not decided; the others are 1."""
        state, solved = self._by_programmes(near, largest)
        waiting = np.flatnonzero(state[self.groups] == UNDECIDED)
        if self.is_summed and len(waiting) and len(self.unknown) <= min(largest, MOST_SEARCHED):
            ends = self.lower, self.upper, self.low, self.high
            state[self.groups[waiting]] = search_levels(self.matrix, *ends, self.member[waiting])
        return state, solved

    @property
    def is_summed(self) -> bool:
        """Whether sums bind it: these are exact for points in whole numbers only."""
        return bool((self.matrix.data != 1).any())

    def _by_programmes(self, near: _Near, largest: int) -> tuple[Ints, int]:
        state = np.ones(self.n_groups, np.int64)
        whole_point = near.system.low.copy()
        waiting = np.arange(len(self.groups))
        solved, whole = 0, False
        if len(self.unknown) > largest:
            state[self.groups] = UNDECIDED
            return state, 0
        while len(waiting):
            too_large = whole and self.is_summed and len(self.unknown) > MOST_SEARCHED
            if too_large or solved >= max(FEWEST_ROUNDS, WORK_OF_PROGRAMMES // len(self.unknown)):
                state[self.groups[waiting]] = UNDECIDED
                break
            aim = np.asarray(self.member[waiting].sum(axis=0)).ravel()
            bound, point = _largest(self, np.minimum(aim, 1.0), whole=whole)
            solved += 1
            if bound < 1 - 1e-6:
                state[self.groups[waiting]] = 0
                break
            hit = np.zeros(len(waiting), np.bool_)
            if point is not None:
                whole_point[self.unknown] = point
                asked = np.zeros(self.n_groups, np.bool_)
                asked[self.groups[waiting]] = True
                hit = near.has(whole_point, asked)[self.groups[waiting]]
            if not hit.any() and whole:
                state[self.groups[waiting]] = UNDECIDED
                break
            whole = not hit.any()
            waiting = waiting[~hit]
        return state, solved


def _blocks(system: System, groups: _Groups, asked: Bools) -> list[_Block]:
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    if not asked.any():
        return []
    relations = system.relations
    n, r = len(system.low), len(relations.lower)
    matrix = csr_array((relations.factor, relations.number, relations.start), shape=(r, n))
    free = np.flatnonzero(system.high > system.low)
    used = np.flatnonzero(system.given)
    fixed = np.where(system.high > system.low, 0.0, system.low)
    shift = matrix @ fixed
    inside = matrix[used][:, free]
    keep = np.diff(inside.indptr) > 0
    inside, rows = inside[keep], used[keep]
    own_lower, own_upper = relations.lower[rows] - shift[rows], relations.upper[rows] - shift[rows]
    bipartite = coo_array(inside)
    size = inside.shape[0] + len(free)
    graph = coo_array((np.ones(bipartite.nnz), (bipartite.row, inside.shape[0] + bipartite.col)), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    row_label, column_label = label[: inside.shape[0]], label[inside.shape[0] :]
    place = np.full(n, -1)
    place[free] = np.arange(len(free))
    wanted = asked[groups.of] & (place[groups.unknown] >= 0)
    g, u = groups.of[wanted], place[groups.unknown[wanted]]
    blocks = []
    for one in np.unique(column_label[u]):
        columns, own = np.flatnonzero(column_label == one), np.flatnonzero(row_label == one)
        mine = column_label[u] == one
        names, of = np.unique(g[mine], return_inverse=True)
        at = np.searchsorted(columns, u[mine])
        member = coo_array((np.ones(len(at)), (of.ravel(), at)), shape=(len(names), len(columns))).tocsr()
        blocks.append(_Block(
            free[columns], inside[own][:, columns], own_lower[own], own_upper[own], system.low[free[columns]],
            system.high[free[columns]], names, member, len(groups.level),
        ))  # fmt: skip
    return blocks


def _largest(block: _Block, aim: Floats, *, whole: bool) -> tuple[float, Floats | None]:
    """The largest number of records in what is aimed at: a bound on it, and a point in whole numbers if one is known.

    Raises `ContradictionError`: nothing meets the relations.
    """
    from scipy.optimize import Bounds, LinearConstraint

    rows = (block.matrix, block.lower, block.upper)
    found = solve_programme(
        -aim, integrality=np.full(len(aim), float(whole)), bounds=Bounds(block.low, block.high),
        constraints=LinearConstraint(*(loosened(*rows) if block.is_summed else rows)),
        options={"node_limit": NODES, "mip_rel_gap": GAP},
    )  # fmt: skip
    if found.status == 2:
        raise ContradictionError(())
    if whole:
        bound = -found.mip_dual_bound if found.mip_dual_bound is not None else np.inf
        return float(bound), None if found.x is None else _fitting(block, np.round(found.x))
    if found.x is None:
        return np.inf, None
    near = np.abs(found.x - np.round(found.x)).max(initial=0) < 1e-6
    return float(-found.fun), _fitting(block, np.round(found.x)) if near else None


def loosened(matrix: Any, lower: Floats, upper: Floats) -> tuple[Any, Floats, Floats]:
    """Relations that hold for the same points in whole numbers, in terms that a solver tells apart."""
    from scipy.sparse import diags_array

    largest = np.maximum(abs(matrix).max(axis=1).toarray().ravel(), 1.0)
    other = matrix.copy()
    other.data = (other.data != 1).astype(np.float64)
    room = np.where(np.asarray(other.sum(axis=1)).ravel() > 0, MARGIN, 0.0)
    return diags_array(1 / largest) @ matrix, (lower - room) / largest, (upper + room) / largest


def _fitting(block: _Block, point: Floats) -> Floats | None:
    """The point, if it meets the sums to the last unit."""
    if not block.is_summed:
        return point
    found = block.matrix @ point
    return point if bool(((found >= block.lower) & (found <= block.upper)).all()) else None
