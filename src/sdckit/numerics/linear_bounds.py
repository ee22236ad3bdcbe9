"""Bounds of variables under linear constraints: bound propagation, and a search for feasible points.

A constraint is lower <= sum of factor x variable <= upper. Propagation tightens the bounds [low, high] of every
variable, constraint by constraint, until nothing moves; `find_point` looks for values that meet all constraints.
"""

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.compiling import is_early, is_little, njit

# Mixed-integer linear programmes, with a second attempt where the solver itself fails.


SOLVER_FAILED = 4  # in SciPy's words: neither solved, nor infeasible, nor given up at a limit


def solve_programme(goal: Any, *, options: dict[str, Any] | None = None, **more: Any) -> Any:
    """Do as `scipy.optimize.milp`; where HiGHS fails after its presolve, solve again without presolve.

    Parameters
    ----------
    goal : array of float (V,)
        Coefficients of the objective, which is minimised.
    options, more
        As of `scipy.optimize.milp`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_programme(np.array([1.0]), integrality=np.array([1]), bounds=(1.5, 4.0)).x
    array([2.])
    """
    from scipy.optimize import milp

    given = options or {}  # each call takes a copy: SciPy takes out what it has read
    solution = milp(goal, options={**given}, **more)
    if solution.status == SOLVER_FAILED:
        solution = milp(goal, options={**given, "presolve": False}, **more)
    return solution


TINY = 1e-9
# A bound that moves by less than this share of itself is not propagated: propagation could halve it without end.
MOVES = 1e-7
# How often a constraint is propagated at most, on average.
ROUNDS = 6
UNKNOWN = np.int64(-1)  # of this type, since a bare number is another, and would compile a second kernel


class Relations(NamedTuple):
    """Sparse linear constraints by row, and for every variable the constraints it occurs in.

    `start` (R + 1,), `number` and `factor` (K,): the terms of constraint r are start[r] to start[r + 1], `number` being
    the index of the variable. `lower` and `upper` (R,): its bounds. `first` (V + 1,) and `at` (K,): the constraints of
    variable v are at[first[v]] to at[first[v + 1]]. `whole` (V,): whether the variable takes whole numbers only.
    """

    start: Ints
    number: Ints
    factor: Floats
    lower: Floats
    upper: Floats
    first: Ints
    at: Ints
    whole: Bools


class Room(NamedTuple):
    """Working memory of bound propagation: a queue of constraints, and a trail by which changes can be undone.

    `queue` and `queued` (R,): the constraints still to be propagated. `moved` (V,) lists the variables whose bounds
    changed, `before` (2, V) their former bounds, `has_moved` (V,) marks them; `n_moved` (1,) is their number.
    """

    queue: Ints
    queued: Bools
    moved: Ints
    before: Floats
    has_moved: Bools
    n_moved: Ints


def make_room(relations: Relations) -> Room:
    """Allocate the working memory of `narrow_noting`, for any number of calls, one at a time.

    Allocated outside the kernels, where the code for it takes long to compile.
    """
    r, v = len(relations.lower), len(relations.whole)
    return Room(
        np.empty(r, np.int64), np.zeros(r, np.bool_), np.empty(v, np.int64), np.empty((2, v)),
        np.zeros(v, np.bool_), np.zeros(1, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def is_tidy(relations, low, high):  # type: ignore[no-untyped-def]
    """Whether all integer variables have integer bounds `low` and `high` (V,); propagation preserves this."""
    for v in range(len(low)):
        if relations.whole[v] and (np.floor(low[v]) != low[v] or np.floor(high[v]) != high[v]):
            return False
    return True


def narrow(relations: Relations, low: Floats, high: Floats, begin: int, room: Room | None = None) -> bool:
    """Tighten `low` and `high` (V,) in place; False if a domain becomes empty.

    Propagation starts from the constraints of variable `begin`, from all constraints if it is -1.
    """
    return bool(narrow_noting(relations, low, high, begin, room or make_room(relations), UNKNOWN))


@njit(cache=True, nogil=True)
def narrow_noting(relations, low, high, begin, room, tidiness):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915
    """Do as `narrow`, recording former bounds in the trail of `room`.

    `tidiness`: 1 where all integer variables have integer bounds, 0 where not; `UNKNOWN`: it is looked up here, and the
    trail is cleared in the end. One kernel for both, since what other kernels call is compiled again in each of them.
    """
    n, tidy = len(relations.lower), tidiness > 0 or (tidiness < 0 and is_tidy(relations, low, high))
    queue, queued = room.queue, room.queued
    head, size = 0, 0
    if begin < 0:
        for i in range(n):
            queue[i], queued[i] = i, True
        size = n
    else:
        for i in range(relations.first[begin], relations.first[begin + 1]):
            queue[size], queued[relations.at[i]] = relations.at[i], True
            size += 1
    holds = True
    for _ in range(ROUNDS * (n + 1)):
        if size == 0:
            break
        r = np.uintp(queue[head])  # unsigned indices: numba then compiles no test for negative ones
        head, size = head + 1, size - 1
        if head == n:
            head = 0
        queued[r] = False
        from_, to = np.uintp(relations.start[r]), np.uintp(relations.start[r + np.uintp(1)])
        least, most, open_down, open_up, widest = 0.0, 0.0, np.int64(0), np.int64(0), 0.0
        for i in range(from_, to):
            v, f = np.uintp(relations.number[i]), relations.factor[i]
            at_low, at_high = f * low[v], f * high[v]
            down, up = at_low if f > 0 else at_high, at_high if f > 0 else at_low
            least, most = least + down, most + up
            widest = up - down if up - down > widest else widest
        is_open = not most - least < np.inf
        if is_open:  # rare: only here unbounded terms are counted, one by one
            least, most, widest = 0.0, 0.0, 0.0
            for i in range(from_, to):
                v, f = np.uintp(relations.number[i]), relations.factor[i]
                down, up = (f * low[v], f * high[v]) if f > 0 else (f * high[v], f * low[v])
                widest = max(widest, up - down)
                if down > -np.inf:
                    least += down
                else:
                    open_down += 1
                if up < np.inf:
                    most += up
                else:
                    open_up += 1
        # A variable is not tightened where the slack of the constraint covers its range: test the widest range first.
        space = min(relations.upper[r] - least, most - relations.lower[r])
        if tidy and space >= widest:
            continue
        for i in range(from_, to):
            v, f = np.uintp(relations.number[i]), relations.factor[i]
            down, up = (f * low[v], f * high[v]) if f > 0 else (f * high[v], f * low[v])
            if tidy and space >= up - down:
                continue
            rest_low, rest_high = least - down, most - up
            if is_open:
                rest_low = -_sum_of_others(-least, open_down, -down)
                rest_high = _sum_of_others(most, open_up, up)
            a, b = relations.lower[r] - rest_high, relations.upper[r] - rest_low
            if f != 1.0:  # division is the slowest operation here
                a, b = a / f, b / f
            new_low, new_high = (a, b) if a <= b else (b, a)
            own_low, own_high = low[v], high[v]
            if tidy and new_low <= own_low and new_high >= own_high:
                continue
            moved, empty = _intersect(low, high, v, new_low, new_high, relations.whole[v])
            if moved and not room.has_moved[v]:
                at = room.n_moved[0]
                room.has_moved[v], room.moved[at], room.n_moved[0] = True, v, at + 1
                room.before[0, at], room.before[1, at] = own_low, own_high
            if empty:
                holds = False
                break
            if moved:
                for j in range(np.uintp(relations.first[v]), np.uintp(relations.first[v + np.uintp(1)])):
                    other = np.uintp(relations.at[j])
                    if not queued[other]:
                        last = head + size
                        queue[last - n if last >= n else last], queued[other] = other, True
                        size += 1
        if not holds:
            break
    for i in range(size):
        queued[queue[(head + i) % n]] = False
    if tidiness < 0:
        forget(room)
    return holds


@njit(cache=True, nogil=True)
def forget(room):  # type: ignore[no-untyped-def]
    """Clear the trail: changes of bounds since the last call become final."""
    for i in range(room.n_moved[0]):
        room.has_moved[room.moved[i]] = False
    room.n_moved[0] = 0


@njit(cache=True, nogil=True)
def put_back(low, high, room):  # type: ignore[no-untyped-def]
    """Undo the changes in the trail: restore the former bounds in `low` and `high` (V,)."""
    for i in range(room.n_moved[0]):
        v = room.moved[i]
        low[v], high[v] = room.before[0, i], room.before[1, i]
    forget(room)


@njit(cache=True, nogil=True)
def _sum_of_others(total, n_open, own):  # type: ignore[no-untyped-def]
    """Largest sum of the other terms of a constraint; infinite where one of them is unbounded.

    `total`: sum of the finite upper bounds of all terms; `n_open`: number of unbounded terms; `own`: this term's bound.
    """
    if np.isfinite(own):
        return total - own if n_open == 0 else np.inf
    return total if n_open == 1 else np.inf


@njit(cache=True, nogil=True)
def _intersect(low, high, v, new_low, new_high, whole):  # type: ignore[no-untyped-def]
    """Intersect the domain of `v` with a new interval; return whether a bound moved, and whether it is now empty."""
    slack = 1.0
    for end in (low[v], high[v], new_low, new_high):
        if np.isfinite(end):
            slack = max(slack, abs(end))
    slack *= TINY
    if whole:
        if np.isfinite(new_low):
            new_low = np.ceil(new_low - slack)
        if np.isfinite(new_high):
            new_high = np.floor(new_high + slack)
    moved = False
    if new_low > low[v] + max(slack, MOVES * abs(low[v]) if np.isfinite(low[v]) else 0.0):
        low[v], moved = new_low, True
    if new_high < high[v] - max(slack, MOVES * abs(high[v]) if np.isfinite(high[v]) else 0.0):
        high[v], moved = new_high, True
    return moved, low[v] > high[v] + slack


# Probing: what a variable's lying in an interval implies for the bounds of others, and which need a closer look.


class Lookout(NamedTuple):
    """The variables to be watched while others are probed, and the conditions under which they count as affected.

    `numbers` (W,): indices of the watched variables. `part` (V,): connected component of the constraint graph.
    `always` (V,): affected even if its bounds do not move. `wide` (V,): affected however wide its domain is. `limits`
    (2,): value from which a variable is no longer small, and widest domain of a variable that is not `wide`.
    """

    numbers: Ints
    part: Ints
    always: Bools
    wide: Bools
    limits: Floats


def moved_by(
    relations: Relations, known: tuple[Floats, Floats], v: int,
    intervals: Floats, lookout: Lookout, ends: tuple[Floats, Floats], room: Room,
) -> tuple[int, Ints]:  # fmt: skip
    """Index of the first interval that affects watched variables if `v` lies in it, and the indices of these.

    An interval that is infeasible for `v`, or contains its whole domain, affects none; the index is the number of
    `intervals` (M, 2) if none affects any. `known`: bounds (low, high) of every variable, (V,) each. `ends`: two arrays
    (V,) that are overwritten by the bounds propagated from the interval.
    """
    affected = np.empty(len(lookout.numbers), np.int64)
    at, n = _first_affecting(relations, known, v, intervals, lookout, ends, room, affected)
    return int(at), affected[:n]


@njit(cache=True, nogil=True)
def _first_affecting(relations, known, v, intervals, lookout, ends, room, affected):  # type: ignore[no-untyped-def]
    """Index of the first interval for `v` that affects watched variables, and how many; these go into `affected`."""
    (low, high), (known_low, known_high) = ends, known
    small, narrowest = lookout.limits
    for k in range(len(intervals)):
        _copy_bounds(known_low, known_high, low, high)
        low[v], high[v] = max(low[v], intervals[k, 0]), min(high[v], intervals[k, 1])
        if low[v] > high[v] or not narrow_noting(relations, low, high, v, room, UNKNOWN):
            continue
        if low[v] == known_low[v] and high[v] == known_high[v]:
            continue
        n = 0
        for w in lookout.numbers:
            if lookout.part[w] != lookout.part[v] or not (high[w] > 0 and low[w] < small):
                continue
            if not lookout.wide[w] and high[w] - low[w] > narrowest:
                continue
            if lookout.always[w] or low[w] != known_low[w] or high[w] != known_high[w]:
                affected[n] = w
                n += 1
        if n > 0:
            return k, n
    return len(intervals), 0


# Feasible points: variables are assigned one after the other, smallest domain first, with propagation in between.


# Attempts at a feasible point, each with another order of trial values.
TURNS = 2
# Searches that hit their limit of dead ends after which no further search is started.
MOST_GIVEN_UP = 2
# How many values of a variable without an upper bound are tried.
ENDLESS = 1000
# Nodes of a search, for each dead end.
NODES = 6


@njit(cache=True, nogil=True)
def _copy_bounds(low, high, to_low, to_high):  # type: ignore[no-untyped-def]
    """Copy both bounds (V,) element by element: numba then compiles no check of shapes."""
    for v in range(len(low)):
        to_low[v], to_high[v] = low[v], high[v]


@njit(cache=True, nogil=True)
def _assign_greedily(relations, low, high, begin, members, style, room):  # type: ignore[no-untyped-def]
    """Propagate from `begin`, then assign each variable a value, smallest domain first, without backtracking.

    `low` and `high` (V,) are changed in place; `begin`: a variable whose constraints are propagated first, or -1;
    `members`: indices of the variables to assign; `style`: 0, 1 or 2, which of lower bound, midpoint and upper bound is
    tried first. Return 0 if the first propagation empties a domain, -1 if later ones do for all three values of a
    variable, 1 otherwise.
    """
    if begin >= 0 and not narrow_noting(relations, low, high, begin, room, UNKNOWN):
        return 0
    tidiness = 1 if is_tidy(relations, low, high) else 0
    left = members.copy()
    n = len(left)
    while True:
        v, n = _narrowest(relations, low, high, left, n, 1.0 if tidiness else 0.0)
        if v < 0:
            return 1
        own_low, own_high = low[v], high[v]
        lower, _upper = _halves_of_domain(own_low, own_high, relations.whole[v])
        fixed = False
        for trial in range(3):
            turn = (style + trial) % 3
            value = lower
            if turn == 0 and np.isfinite(own_low):
                value = own_low
            elif turn == 2 and np.isfinite(own_high):
                value = own_high
            low[v] = high[v] = value
            if narrow_noting(relations, low, high, v, room, tidiness):
                forget(room)
                fixed = True
                break
            put_back(low, high, room)
            low[v], high[v] = own_low, own_high
        if not fixed:
            return -1


def find_point(
    relations: Relations, low: Floats, high: Floats, members: Ints, style: int,
    most: int, room: Room | None = None, *, begin: int = -1,
) -> int:  # fmt: skip
    """Assign values to the `members` in place so that all constraints hold: 1 found, 0 infeasible, -1 given up.

    `low` and `high` (V,) have been propagated, but for the constraints of variable `begin`. A greedy assignment
    (smallest domain first; lower bound, upper bound or midpoint) is tried first, then branch and bound on the same
    order. `style` 0, 1 and 2 try the values in different orders, of which two are used; a search gives up after `most`
    dead ends.
    """
    room = room or make_room(relations)
    for turn in range(TURNS):
        own_low, own_high = low.copy(), high.copy()
        outcome = _assign_greedily(relations, own_low, own_high, begin, members, (style + turn) % 3, room)
        if outcome == 0:
            return 0
        if outcome > 0:
            low[:], high[:] = own_low, own_high
            return 1
    if begin >= 0:
        narrow(relations, low, high, begin, room)
    tidiness = int(is_tidy(relations, low, high))
    for turn in range(TURNS):
        search = _branch_and_bound
        if is_early(search) and is_little(search, NODES * most * len(members)):
            search = search.py_func  # with the kernels that it calls
        own_low, own_high = low.copy(), high.copy()
        outcome = int(search(relations, own_low, own_high, members, (style + turn) % 3, most, room, tidiness))
        if outcome >= 0:
            low[:], high[:] = own_low, own_high
            return outcome
    return -1


@njit(cache=True, nogil=True)
def _branch_and_bound(relations, low, high, members, style, most, room, tidiness):  # type: ignore[no-untyped-def]
    """Branch and bound, depth first: 1 and the point in `low` and `high` (V,), 0 if infeasible, -1 if given up.

    The smallest domain is split into one value and two halves; a stack holds the bounds of the open nodes.
    """
    height = 2 * len(members) + 3
    lows, highs = np.empty((height, len(low))), np.empty((height, len(low)))
    moved, left = np.full(height, -1), members.copy()
    _copy_bounds(low, high, lows[0], highs[0])
    depth, ends, all_tried = 1, 0, True
    while depth > 0:
        depth -= 1
        _copy_bounds(lows[depth], highs[depth], low, high)
        if moved[depth] >= 0:
            holds = narrow_noting(relations, low, high, moved[depth], room, tidiness)
            forget(room)
            if not holds:
                ends += 1
                if ends > most:
                    return -1
                continue
        for i in range(len(members)):
            left[i] = members[i]
        v, _size = _narrowest(relations, low, high, left, len(left), 0.0)
        if v < 0:
            return 1
        if depth + 3 > height:
            return -1
        least, largest, whole = low[v], high[v], relations.whole[v]
        value = _halves_of_domain(least, largest, whole)[0]
        near, far = (least, value - 1), (value + 1, largest)
        if style == 0 and np.isfinite(least):
            cut = max(value, least + 1)
            value, near, far = least, (least + 1, cut - 1), (cut, largest)
        elif style == 2 and np.isfinite(largest):
            cut = min(value, largest - 1)
            value, near, far = largest, (cut + 1, largest - 1), (least, cut)
        all_tried &= whole
        # The top of the stack is tried first: the value itself, then the half farther from it.
        for from_, to in (near, far, (value, value)):
            if from_ == to == value or (whole and from_ <= to):
                _copy_bounds(low, high, lows[depth], highs[depth])
                moved[depth] = v
                lows[depth, v], highs[depth, v] = from_, to
                depth += 1
    return 0 if all_tried else -1


@njit(cache=True, nogil=True)
def _narrowest(relations, low, high, left, n, least):  # type: ignore[no-untyped-def]
    """Index of the unassigned variable with the smallest domain, -1 if there is none, and how many are unassigned.

    The first `n` entries of `left` are candidates; assigned variables are removed from it in place, the others keep
    their order. Integer variables come before continuous ones. `least`: no integer domain is narrower, 0 if unknown.
    """
    chosen, width, last, last_width, size = -1, np.inf, -1, np.inf, 0
    for i in range(n):
        v = np.uintp(left[i])
        span = high[v] - low[v]
        if relations.whole[v]:
            if not span > 0.0:
                continue
            if chosen < 0 or span < width:
                chosen, width = left[i], span
                if span <= least:
                    for j in range(i, n):
                        left[size + j - i] = left[j]
                    return chosen, size + n - i
        else:
            if not span > 1e-6 * max(1.0, abs(low[v])):
                continue
            if last < 0 or span < last_width:
                last, last_width = left[i], span
        left[size] = left[i]
        size += 1
    return (chosen if chosen >= 0 else last), size


@njit(cache=True, nogil=True)
def _halves_of_domain(low, high, whole):  # type: ignore[no-untyped-def]
    """Last value of the lower and first value of the upper half of a domain (the midpoint twice if continuous)."""
    if not np.isfinite(low):
        middle = min(high, 0.0) - 1000.0
    elif not np.isfinite(high):
        middle = max(low, 0.0) + 1000.0
    else:
        middle = (low + high) / 2
    if whole:
        middle = np.floor(middle)
        return middle, middle + 1.0
    return middle, middle


def few_values(
    relations: Relations, low: Floats, high: Floats, asked: Ints,
    members: Ints, points: Floats, used: Ints, limits: tuple[int, float, int],
    room: Room | None = None,
) -> int:  # fmt: skip
    """Index of the first of the `asked` variables with few feasible values, a small one among them; -1 if none.

    `limits`: how many feasible values are enough, from which value on a variable is no longer small, and how many dead
    ends a search for a point may meet. `points` (P, V) is a ring buffer of `used[0]` feasible points; those found are
    added. `used[1]` counts the searches that were given up.
    """
    (enough, small, most), room = limits, room or make_room(relations)
    looked_at, inside = np.zeros(len(points), np.bool_), np.zeros(len(points), np.bool_)
    seen, own_low, own_high = np.empty(enough), np.empty(len(low)), np.empty(len(high))
    for v in map(int, asked):
        n = _values_of_points(seen, v, points, used[0], looked_at, inside, low, high, members)
        if n >= enough:
            continue
        first, last = float(low[v]), float(high[v])
        last = last if isfinite(last) else first + ENDLESS
        known = seen[:n].tolist()  # of a few values, a list is looked through faster than an array
        for value in range(int(first), int(last) + 1):
            if n >= enough:
                break
            if value in known:
                continue
            own_low[:], own_high[:] = low, high
            own_low[v] = own_high[v] = value
            outcome = find_point(relations, own_low, own_high, members, (value + v) % 3, most, room, begin=v)
            if outcome == 1:
                p = int(used[0]) % len(points)
                points[p] = own_low
                looked_at[p] = inside[p] = True
                used[0] += 1
                seen[n] = value
                n += 1
            elif outcome < 0:
                used[1] += 1
                if used[1] >= MOST_GIVEN_UP:
                    return v
        if n < enough and (used[1] > 0 or any(0 < value < small for value in seen[:n].tolist())):
            return v
    return -1


@njit(cache=True, nogil=True)
def _values_of_points(seen, v, points, used, looked_at, inside, low, high, members):  # type: ignore[no-untyped-def]
    """Collect in `seen` the distinct values of `v` among known feasible points within the bounds; return their number.

    It stops when `seen` is full. The newest points come first: they meet the tightest bounds, and a few mostly suffice.
    `looked_at` and `inside` (P,) cache which points lie within the bounds `low` and `high` (V,) of the `members`.
    """
    n, latest = 0, UNKNOWN
    for age in range(min(used, len(points))):
        p = (used - 1 - age) % len(points)
        if not looked_at[p]:
            looked_at[p] = inside[p] = True
            # What excluded the point before mostly excludes this one, too: it is looked at first.
            for i in range(-1 if latest >= 0 else 0, len(members)):
                j = np.uintp(members[i] if i >= 0 else latest)
                # The tolerance is far below the margin by which a sum stays under the open end of its rounding step.
                slack = 1e-9 * max(1.0, abs(points[p, j]))
                if points[p, j] < low[j] - slack or points[p, j] > high[j] + slack:
                    inside[p], latest = False, np.int64(j)
                    break
        if not inside[p]:
            continue
        value, known = np.floor(points[p, v] + 0.5), False
        for i in range(n):
            known |= seen[i] == value
        if not known:
            seen[n] = value
            n += 1
            if n == len(seen):
                break
    return n
