"""Feasibility of levels: random walks, linear and integer programmes by block, and an exact search for sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.attacks.published.audit_model import ContradictionError, System
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import places_among
from sdckit.numerics.linear_bounds import Relations, find_point, narrow, solve_programme

# Random walk on feasible files: one record at a time changes its completion.


SWEEPS = 30
# A linear congruential generator: results are valid whatever it draws.
FACTOR, SHIFT, SPAN = 1_103_515_245, 12_345, 2**31


@njit(cache=True, nogil=True)
def walk(relations, weight, active, point, pattern, order, begin, wanted):  # type: ignore[no-untyped-def]
    """Random walk from a feasible `point`; gives (X,) which `wanted` unknowns reached a count of 1 or more.

    `weight` (K,): coefficients in the order of `relations.at`. `active` (R,): left-hand sides of the constraints at
    `point` (X,); both are changed in place. `order` (X,): unknowns sorted by `pattern` (X,), those of pattern p from
    `begin[p]` on. Every step keeps all constraints, so every visited file is feasible.
    """
    reached = np.zeros(len(wanted), np.bool_)
    drawn = 1
    for _ in range(SWEEPS):
        n_left = 0
        for j in range(len(wanted)):
            if not wanted[j] or reached[j]:
                continue
            reached[j] = point[j] >= 1 or _donor(relations, weight, active, point, order, begin, pattern[j], j, j) >= 0
            n_left += not reached[j]
        if n_left == 0:
            break
        for j in range(len(wanted)):
            if point[j] < 1:
                drawn = (drawn * FACTOR + SHIFT) % SPAN
                i = _donor(relations, weight, active, point, order, begin, pattern[j], j, drawn)
                if i >= 0:
                    _move(relations, weight, active, point, i, j)
    return reached


@njit(cache=True, nogil=True)
def _donor(relations, weight, active, point, order, begin, p, j, start):  # type: ignore[no-untyped-def]
    """A completion of pattern `p` from which one record can move to `j`, tried cyclically from `start`; -1 if none."""
    size = begin[p + 1] - begin[p]
    for turn in range(size):
        i = order[begin[p] + (start + turn) % size]
        if i != j and point[i] >= 1 and _fits(relations, weight, active, i, j):
            return i
    return -1


@njit(cache=True, nogil=True)
def _move(relations, weight, active, point, i, j):  # type: ignore[no-untyped-def]
    """Move one record from completion `i` to `j`: updates `point` (X,) and `active` (R,) in place."""
    point[i] -= 1
    point[j] += 1
    for a in range(relations.first[i], relations.first[i + 1]):
        active[relations.at[a]] -= weight[a]
    for b in range(relations.first[j], relations.first[j + 1]):
        active[relations.at[b]] += weight[b]


@njit(cache=True, nogil=True)
def _fits(relations, weight, active, i, j):  # type: ignore[no-untyped-def]
    """Whether all constraints hold after moving one record from completion `i` to `j` (merge of two sorted lists).

    Both belong to one pattern, so their coefficients cancel in a constraint that has both.
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
    """Whether constraint `r` still holds when its left-hand side changes by `by`."""
    after = active[r] + by
    return after >= relations.lower[r] if by < 0 else after <= relations.upper[r]


# Exact integer search for levels bound by sums, whose coefficients differ too much for a floating-point solver.


MOST_SEARCHED = 200  # unknowns of a block
MOST_ENDS = 500  # dead ends of one search
WORK_OF_SEARCHES = 40_000  # budget of a block: unknowns times searches
IMPOSSIBLE, POSSIBLE, UNDECIDED = 0, 1, 2


def search_levels(matrix: Any, lower: Floats, upper: Floats, low: Floats, high: Floats, member: Any) -> Ints:
    """Decide for each group of unknowns (a row of `member`) whether one can be 1 or more: 0 no, 1 yes, 2 undecided.

    `matrix` (R, X) sparse: constraints with bounds `lower` and `upper` (R,); `low`, `high` (X,): bounds of the
    unknowns. Backtracking search with constraint propagation, given up after 500 dead ends.
    """
    relations = _relations(matrix, lower, upper)
    verdicts = np.full(member.shape[0], UNDECIDED)
    every = np.arange(len(low))
    searches = 0
    for group in range(len(verdicts)):
        if verdicts[group] == POSSIBLE:
            continue
        answers = []
        for unknown in member.indices[member.indptr[group] : member.indptr[group + 1]]:
            if searches * len(low) > WORK_OF_SEARCHES:
                return verdicts
            searches += 1
            answer, point = _search(relations, low, high, int(unknown), every)
            answers.append(answer)
            if answer == POSSIBLE:
                has = np.asarray(member @ np.round(point)).ravel() >= 1
                verdicts[has] = POSSIBLE
                break
        if verdicts[group] != POSSIBLE and all(answer == IMPOSSIBLE for answer in answers):
            verdicts[group] = IMPOSSIBLE
    return verdicts


def _search(relations: Relations, low: Floats, high: Floats, unknown: int, every: Ints) -> tuple[int, Floats]:
    """Search a feasible point with `unknown` >= 1; the answer (0, 1 or 2) and the point."""
    own_low, own_high = low.astype(np.float64), high.astype(np.float64)
    own_low[unknown] = max(own_low[unknown], 1.0)
    if own_low[unknown] > own_high[unknown] or not narrow(relations, own_low, own_high, -1):
        return IMPOSSIBLE, own_low
    answer = find_point(relations, own_low, own_high, every, 0, MOST_ENDS)
    if answer == POSSIBLE and not _holds(relations, np.round(own_low)):
        return UNDECIDED, own_low
    return (UNDECIDED if answer < 0 else int(answer)), own_low


def _holds(relations: Relations, point: Floats) -> bool:
    """Whether a point satisfies the constraints exactly (propagation allows for rounding)."""
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


NODES = 5  # of the branch-and-bound tree: a time limit would make the result depend on the machine
GAP = 0.5  # relative gap: only a feasible point and whether the bound is below 1 are used
MOST_UNKNOWN = 30_000  # of a block that is passed to a solver
WORK_OF_PROGRAMMES = 10_000  # budget of a block: unknowns times programmes, beyond which the rest stays undecided
FEWEST_ROUNDS = 2
MARGIN = 0.25  # of a unit, by which integer sums are relaxed for a floating-point solver


@dataclass(frozen=True, eq=False)
class Attainable:
    """Levels of hidden values of patterns: `pattern`, `variable`, `level` (G,), and whether each is `possible`.

    `by_propagation` (G,): feasible by constraint propagation alone. `proven` (G,): whether a feasible file with it is
    known. `undecided`: levels not decided by any programme, counted as possible. `solved`: programmes solved.
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
    """Groups of unknowns that give a pattern one level of one variable; memberships in coordinate form."""

    pattern: Ints
    variable: Ints
    level: Ints
    of: Ints  # (M,) group of each membership
    unknown: Ints  # (M,) unknown of each membership


def _groups(system: System) -> _Groups:
    unknown, variable = np.nonzero(system.patterns.hidden[system.completions.pattern])
    pattern, level = system.completions.pattern[unknown], system.completions.levels[unknown, variable]
    shape = (len(system.patterns.size), len(system.patterns.shape), max(system.patterns.shape, default=1))
    words, of = np.unique(np.ravel_multi_index((pattern, variable, level), shape), return_inverse=True)
    p, v, a = np.unravel_index(words, shape)
    return _Groups(p, v, a, of.ravel(), unknown)


def attainable(
    system: System, truth: Floats | None = None, *, only: Bools | None = None, largest: int = MOST_UNKNOWN
) -> Attainable:
    """Decide for every level of every hidden value whether some feasible file has it.

    `truth` (X,): a feasible file, if known. `only` (P, V): the values to decide. `largest`: most unknowns of a block
    that is passed to a solver.
    """
    groups = _groups(system)
    first = np.zeros(len(groups.level), np.bool_)
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
        left, n_programmes = block.decide(near, min(largest, MOST_UNKNOWN))
        possible[left == 0] = False
        proven[left != 1] = False
        solved += n_programmes
    undecided = int((possible & ~proven).sum())
    return Attainable(groups.pattern, groups.variable, groups.level, possible, first, proven, undecided, solved)


class _Near:
    """Feasible files reached by a random walk from a feasible file."""

    def __init__(self, system: System, groups: _Groups) -> None:
        relations, pattern = system.relations, system.completions.pattern
        self.system, self.groups = system, groups
        # implied constraints are ignored: they may link blocks of which only one is in a point
        lower = np.where(system.given, relations.lower, -np.inf)
        self.relations = relations._replace(lower=lower, upper=np.where(system.given, relations.upper, np.inf))
        self.row = np.repeat(np.arange(len(lower)), np.diff(relations.start))
        begin = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(system.patterns.size)))])
        self.of_pattern = pattern, np.argsort(pattern, kind="stable"), begin

    def has(self, point: Floats, sought: Bools) -> Bools:
        """(G,) which of the `sought` groups occur in `point` (X,) or in a file on a walk from it."""
        groups = self.groups
        terms = self.relations.factor * point[self.relations.number]
        active = np.bincount(self.row, terms, len(self.relations.lower)).astype(np.float64, copy=False)
        wanted = np.zeros(len(point), np.bool_)
        wanted[groups.unknown[sought[groups.of]]] = True
        wanted &= self.system.high >= 1
        hit = walk(self.relations, self.system.weight, active, point.copy(), *self.of_pattern, wanted)
        reached = np.zeros(len(sought), np.bool_)
        reached[groups.of[hit[groups.unknown]]] = True
        return reached


@dataclass(frozen=True, eq=False)
class _Block:
    """A connected component of the system: unknowns that share constraints."""

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
        """State of each group: 0 impossible, 1 possible (also groups of other blocks), 2 undecided; and programmes."""
        state, solved = self._by_programmes(near, largest)
        waiting = np.flatnonzero(state[self.groups] == UNDECIDED)
        if self.is_summed and len(waiting) and len(self.unknown) <= min(largest, MOST_SEARCHED):
            ends = self.lower, self.upper, self.low, self.high
            state[self.groups[waiting]] = search_levels(self.matrix, *ends, self.member[waiting])
        return state, solved

    @property
    def is_summed(self) -> bool:
        """Whether sums are among the constraints; these are exact for integer points only."""
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
                sought = np.zeros(self.n_groups, np.bool_)
                sought[self.groups[waiting]] = True
                hit = near.has(whole_point, sought)[self.groups[waiting]]
            if not hit.any() and whole:
                state[self.groups[waiting]] = UNDECIDED
                break
            whole = not hit.any()
            waiting = waiting[~hit]
        return state, solved


def _blocks(system: System, groups: _Groups, undecided: Bools) -> list[_Block]:
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    if not undecided.any():
        return []
    relations = system.relations
    n, r = len(system.low), len(relations.lower)
    matrix = csr_array((relations.factor, relations.number, relations.start), shape=(r, n))
    free = np.flatnonzero(system.high > system.low)
    used = np.flatnonzero(system.given)
    shift = matrix @ np.where(system.high > system.low, 0.0, system.low)
    inside = matrix[used][:, free]
    keep = np.diff(inside.indptr) > 0
    inside, rows = inside[keep], used[keep]
    own_lower, own_upper = relations.lower[rows] - shift[rows], relations.upper[rows] - shift[rows]
    bipartite = coo_array(inside)
    size = inside.shape[0] + len(free)
    graph = coo_array((np.ones(bipartite.nnz), (bipartite.row, inside.shape[0] + bipartite.col)), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    row_label, column_label = label[: inside.shape[0]], label[inside.shape[0] :]
    place = places_among(free, n)
    wanted = undecided[groups.of] & (place[groups.unknown] >= 0)
    g, u = groups.of[wanted], place[groups.unknown[wanted]]
    blocks = []
    for component in np.unique(column_label[u]):
        columns, own = np.flatnonzero(column_label == component), np.flatnonzero(row_label == component)
        mine = column_label[u] == component
        names, of = np.unique(g[mine], return_inverse=True)
        at = np.searchsorted(columns, u[mine])
        member = coo_array((np.ones(len(at)), (of.ravel(), at)), shape=(len(names), len(columns))).tocsr()
        blocks.append(_Block(
            free[columns], inside[own][:, columns], own_lower[own], own_upper[own], system.low[free[columns]],
            system.high[free[columns]], names, member, len(groups.level),
        ))  # fmt: skip
    return blocks


def _largest(block: _Block, aim: Floats, *, whole: bool) -> tuple[float, Floats | None]:
    """Maximise the count in `aim`: an upper bound, and an integer point if one is found.

    Raises `ContradictionError`: the block is infeasible.
    """
    from scipy.optimize import Bounds, LinearConstraint

    rows = (block.matrix, block.lower, block.upper)
    solution = solve_programme(
        -aim, integrality=np.full(len(aim), float(whole)), bounds=Bounds(block.low, block.high),
        constraints=LinearConstraint(*(loosened(*rows) if block.is_summed else rows)),
        options={"node_limit": NODES, "mip_rel_gap": GAP},
    )  # fmt: skip
    if solution.status == 2:
        raise ContradictionError(())
    if whole:
        bound = -solution.mip_dual_bound if solution.mip_dual_bound is not None else np.inf
        return float(bound), None if solution.x is None else _fitting(block, np.round(solution.x))
    if solution.x is None:
        return np.inf, None
    near = np.abs(solution.x - np.round(solution.x)).max(initial=0) < 1e-6
    return float(-solution.fun), _fitting(block, np.round(solution.x)) if near else None


def loosened(matrix: Any, lower: Floats, upper: Floats) -> tuple[Any, Floats, Floats]:
    """Rescale and relax constraints for a floating-point solver, without changing the set of integer solutions."""
    from scipy.sparse import diags_array

    largest = np.maximum(abs(matrix).max(axis=1).toarray().ravel(), 1.0)
    other = matrix.copy()
    other.data = (other.data != 1).astype(np.float64)
    room = np.where(np.asarray(other.sum(axis=1)).ravel() > 0, MARGIN, 0.0)
    return diags_array(1 / largest) @ matrix, (lower - room) / largest, (upper + room) / largest


def _fitting(block: _Block, point: Floats) -> Floats | None:
    """The point if it satisfies the sums exactly, else None."""
    if not block.is_summed:
        return point
    totals = block.matrix @ point
    return point if bool(((totals >= block.lower) & (totals <= block.upper)).all()) else None
