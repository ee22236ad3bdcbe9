"""Suppressed values that can be inferred because nothing is suppressed without need (minimality attack).

An intruder who knows the method, k and the keys restores a value and counts: if every record still reaches k, that
value would have been kept, so it is another one. A value is implied if one level is left. `hide_implied` suppresses
decoys.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints, Words
from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import sum_by
from sdckit.numerics.threads import chunks, run
from sdckit.protect.suppression.suppression_choices import TINY, Requests, Situation, WorkingFile, hash_values
from sdckit.protect.suppression.suppression_mend import Packed, packed_words

# Kernels: which level of a key is the only one that can have been suppressed in a cell.


NONE, MANY = -1, -2  # in place of a level: none is left, or several are


@njit(cache=True, nogil=True)
def _judge(count, marked, touched, n_touched, fixed, base, everything, seen, k):  # type: ignore[no-untyped-def]
    """The only level left (or NONE, MANY): restored, it puts the record, or one that loses a match, below k.

    `count`: matches with each level, `marked`: levels that occur, both cleared on return. `touched`: the `n_touched`
    levels that occur. `fixed`: the level of the records that cannot lose a match, -1 where there are none, MANY where
    they have several. `base`: matches whatever the level is. `everything`: whether any level at all puts a record below
    k. `seen`: number of levels of the key.
    """
    left, absent = NONE, seen - n_touched
    always = everything or fixed == MANY
    if absent > 0 and (always or fixed >= 0 or base < k):
        left = MANY if absent > 1 else seen
    for i in range(n_touched):
        v = touched[i]
        if always or (fixed >= 0 and fixed != v) or base + count[v] < k:
            left = v if left == NONE else MANY
    if left == seen:  # the one that no record has
        left = 0
        while marked[left]:
            left += 1
    for i in range(n_touched):
        count[touched[i]] = 0.0
        marked[touched[i]] = False
    return left


@njit(cache=True, nogil=True)
def left_in_tables(group, spans, starts, level, weight, tight, base, everything, seen, k):  # type: ignore[no-untyped-def]
    """The level left for each query (or NONE, MANY), by tables of the levels in the groups that match it.

    `group` (Q, T): group of each query in each table, -1 for none. `spans` (T + 1, 2): where each table begins in
    `starts` and in `level`. `level`, `weight`, `tight`: entries of all tables, as of `_Table`. `base`, `everything`
    (Q,), `seen`: as in `_judge`.
    """
    n = group.shape[0]
    out = np.empty(n, np.int64)
    count, marked = np.zeros(seen), np.zeros(seen, np.bool_)
    touched = np.empty(seen, np.int64)
    for q in range(n):
        n_touched, fixed = np.int64(0), np.int64(-1)  # bare numbers have types of their own
        for t in range(group.shape[1]):
            first = spans[t, 0] + group[q, t]
            for e in range(spans[t, 1] + starts[first], spans[t, 1] + starts[first + 1]):
                v = level[e]
                if not marked[v]:
                    marked[v] = True
                    touched[n_touched] = v
                    n_touched += 1
                count[v] += weight[e]
                if tight[e] and fixed != v:  # two of them: whatever the level is, one loses a match
                    fixed = v if fixed == -1 else np.int64(MANY)
        out[q] = _judge(count, marked, touched, n_touched, fixed, base[q], everything[q], seen, k)
    return out


@njit(cache=True, nogil=True)
def left_among_pairs(cells, words, there, size, tight, level, everything, marks, limits, seen):  # type: ignore[no-untyped-def]
    """The same as `left_in_tables`, by comparing each of some cells with all cells.

    `words`, `there` (K,): packed codes of each cell, and bit mask of the keys present. `size`, `tight` (K,): records,
    and whether they cannot lose a match. `level` (K,): of the key, -1 where missing. `marks`: bit masks of the key, of
    all keys, and of all keys if there are several, else 0. `limits`: alpha and k.
    """
    own, keys, several = marks
    alpha, k = limits
    out = np.empty(len(cells), np.int64)
    count, marked = np.zeros(seen), np.zeros(seen, np.bool_)
    touched = np.empty(seen, np.int64)
    for q in range(len(cells)):
        r = cells[q]
        mine, after = there[r], there[r] | own
        speaks = several == 0 or mine & several != 0
        n_touched, fixed = np.int64(0), np.int64(-1)
        base = 1.0 - (alpha if speaks else 0.0)  # it matches itself in full
        for x in range(len(words)):
            if (words[r] ^ words[x]) & mine & there[x] != 0 or (several != 0 and there[x] & several == 0):
                continue
            v = level[x]
            if v < 0:
                base += alpha * size[x]
                continue
            if not marked[v]:
                marked[v] = True
                touched[n_touched] = v
                n_touched += 1
            whole = there[x] & keys == keys or there[x] == after
            count[v] += size[x] if whole else alpha * size[x]
            if tight[x] and speaks and fixed != v:
                fixed = v if fixed == -1 else np.int64(MANY)
        out[q] = _judge(count, marked, touched, n_touched, fixed, base, everything[q], seen, k)
    return out


PAIR, CELL, PATTERN = 2, 30, 80_000  # nanoseconds, about: a pair of cells, a cell in a table, a table
TIMES = 8  # places of a table, by what stands in it
LONGEST = 60 * 10**9  # nanoseconds; a count that would take longer is not made


@dataclass(frozen=True, eq=False)
class Patterns:
    """The cells of a situation by their pattern of missing keys."""

    at: Situation
    mask: Words  # shape (K,); bit mask of the keys that are present
    cells: dict[int, Ints]  # by mask
    words: list[Words]  # a hash per cell and key; that of the stratum last

    @property
    def n_keys(self) -> int:
        """Keys."""
        return len(self.words) - 1

    def speaks(self, mask: int) -> bool:
        """Whether a record with these keys counts as a match for others: of several keys it needs one at least."""
        return mask != 0 or self.n_keys == 1

    def word(self, cells: Ints, mask: int) -> Words:
        """A hash of the stratum and the keys of a mask."""
        total = self.words[-1][cells].copy()
        for j in range(self.n_keys):
            if mask >> j & 1:
                total += self.words[j][cells]
        return total


@dataclass(frozen=True, eq=False)
class _Table:
    """For cells with one pattern: the levels of the suppressed key among the cells that match each query."""

    group: Ints  # shape (Q,); group of each query
    starts: Ints  # shape (G + 1,); where the levels of each group begin
    level: Ints  # shape (E,)
    weight: Floats  # shape (E,); what its records count
    tight: Bools  # shape (E,); whether some of them cannot lose a match


def patterns_of(at: Situation) -> Patterns:
    """Group the cells by the keys that are present."""
    n_keys = at.codes.shape[1]
    mask = np.zeros(len(at.size), np.uint64)
    for j in range(n_keys):
        mask |= (at.codes[:, j] >= 0).astype(np.uint64) << np.uint64(j)
    order = np.argsort(mask, kind="stable")
    masks, first = np.unique(mask[order], return_index=True)
    cells = dict(zip(masks.tolist(), np.split(order, first[1:]), strict=True))
    words = [hash_values(at.codes[:, j], j) for j in range(n_keys)]
    return Patterns(at, mask, cells, [*words, hash_values(at.stratum, n_keys)])


def batches(patterns: Patterns, cells: Ints, keys: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Batches of cells that lack the same key and have the same mask: key, mask, indices of the cells given."""
    pairs = np.stack([keys.astype(np.uint64), patterns.mask[cells]], axis=1)
    kinds, which = np.unique(pairs, axis=0, return_inverse=True)
    for i, (key, mask) in enumerate(kinds.tolist()):
        yield int(key), int(mask), np.flatnonzero(which.reshape(-1) == i)


def candidates(patterns: Patterns, alpha: float, k: int, key: int, mask: int, cells: Ints, seen: Ints) -> Ints:
    """For cells of one mask that lack a key: the index among the `seen` levels of the only one left.

    A level is left if restoring it puts a record below k: one of the cell, or one that then no longer matches it. -1:
    none is left. -2: several.
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
        return np.where(twins | (base < k - TINY), (NONE, 0, MANY)[min(len(seen), 2)], NONE)
    sizes = [(len(table.starts), len(table.level)) for table in tables]
    spans = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(sizes, axis=0)])
    reached = sum(len(table.level) / max(1, len(table.starts) - 1) for table in tables)
    left: Ints = sparing(left_in_tables, len(cells) * (4 * reached + len(tables)))(
        np.stack([table.group for table in tables], axis=1), spans, np.concatenate([table.starts for table in tables]),
        np.concatenate([table.level for table in tables]), np.concatenate([table.weight for table in tables]),
        np.concatenate([table.tight for table in tables]), base, twins, len(seen), k - TINY,
    )  # fmt: skip
    return left


def _matched(patterns: Patterns, cells: Ints, shared: int, others: Ints) -> tuple[Ints, Ints, Ints]:
    """Group of each cell by the shared keys; the other cells that are in such a group; and the group of these."""
    wanted, group = np.unique(patterns.word(cells, shared), return_inverse=True)
    there, last = patterns.word(others, shared), np.uint64((1 << (TIMES * len(wanted)).bit_length()) - 1)
    asked = np.zeros(int(last) + 1, np.bool_)  # by the last bits, which tell most others apart without a search
    asked[wanted & last] = True
    some = np.flatnonzero(asked[there & last])
    place = np.minimum(np.searchsorted(wanted, there[some]), len(wanted) - 1)
    hit = wanted[place] == there[some]
    return group.reshape(-1), others[some[hit]], place[hit]


def _table(group: Ints, of_row: Ints, level: Ints, weight: Floats, tight: Bools, seen: int) -> _Table:
    """Sum up the weights by group and level."""
    pairs, which = np.unique(of_row * seen + level, return_inverse=True)
    which = which.reshape(-1)
    starts = np.searchsorted(pairs, np.arange(int(group.max()) + 2) * seen)
    some = np.bincount(which, tight, len(pairs)) > 0
    return _Table(group, starts, pairs % seen, sum_by(which, weight, len(pairs)), some)


def implied(file: WorkingFile, requests: Requests, alone: Sequence[int]) -> Bools | None:
    """The suppressed values that can be inferred from the file; shape (keys, records).

    `alone`: the keys whose values are suppressed and restored one by one. None if counting would take too long.

    An inference is certain only if it is right for all records that lack the key and agree on the keys that are left.
    """
    out = np.zeros(file.gone.shape, np.bool_)
    gone = [file.new(j) if j in alone else out[j] for j in range(len(out))]
    key, row = np.nonzero(np.stack(gone))
    if len(key) == 0:
        return out
    seen = [_shown(file, j) for j in range(len(out))]
    left = np.full(len(key), NONE, np.int64)
    for keys, k in requests:
        patterns = patterns_of(file.situation(keys))
        place = {j: i for i, j in enumerate(keys)}
        mine = np.flatnonzero(np.isin(key, list(keys)))
        cell = patterns.at.of_row[row[mine]].astype(np.int64)
        of_key = np.array([place[j] for j in key[mine].tolist()], np.int64)
        queries, which = np.unique(cell * len(keys) + of_key, return_inverse=True)
        levels = [seen[j] for j in keys]
        levels_left = _left(patterns, file.alpha, k, queries // len(keys), queries % len(keys), levels)
        if levels_left is None:
            return None
        left[mine] = _both(left[mine], levels_left[which.reshape(-1)])
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


def _left(patterns: Patterns, alpha: float, k: int, cells: Ints, keys: Ints, seen: Sequence[Ints]) -> Ints | None:
    """The level left for each cell and key, by whichever way is quicker; None where both would take too long."""
    if len(cells) == 0:
        return np.empty(0, np.int64)
    at, left = patterns.at, np.full(len(cells), NONE, np.int64)
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
            left[here] = candidates(patterns, alpha, k, j, mask, cells[here], seen[j])
    else:
        for j in np.unique(keys).tolist():
            here = np.flatnonzero(keys == j)
            left[here] = _among_pairs(patterns, packed, alpha, k, j, cells[here], seen[j])
    for j, levels in enumerate(seen):
        named = (keys == j) & (left >= 0)
        left[named] = levels[left[named]]
    return left


def _among_pairs(patterns: Patterns, packed: Packed, alpha: float, k: int, key: int, cells: Ints, seen: Ints) -> Ints:
    """The same as `candidates` for cells of any mask, each compared with every other."""
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
    left = sparing(left_among_pairs, len(cells) * len(words))  # most pairs are told apart at once
    parts: list[Ints] = run(
        lambda part: left(
            cells[part[0] : part[1]], words, there, at.size, tight, level, twins[part[0] : part[1]], marks, limits,
            len(seen),
        ),
        chunks(len(cells), minimum=64),
    )  # fmt: skip
    return np.concatenate(parts)


def _shown(file: WorkingFile, key: int) -> Ints:
    """Codes of the values of a key that some record shows, in ascending order; numbers may be far apart."""
    column = file.column(key)
    codes = column.codes()
    codes = codes[codes < column.span]
    return np.flatnonzero(np.bincount(codes)) if column.span <= file.n else np.unique(codes)


def _both(before: Ints, now: Ints) -> Ints:
    """Combine the levels left under two requests: a level that is left under one of them is possible."""
    return np.where((before == now) | (now == NONE), before, np.where(before == NONE, now, MANY))


# Decoys: an implied value is hidden by suppressing the same keys in one more record with another value there.


ROUNDS = 30  # decoys may make other values implied; the next round deals with those


def hide_implied(
    file: WorkingFile, requests: Requests, alone: Sequence[int], rng: np.random.Generator,
    mend_again: Callable[[], None],
) -> Bools | None:  # fmt: skip
    """Suppress decoys until no value is implied or none can be hidden; the values still implied, as `implied`.

    `mend_again` restores k, which further missing values may break where alpha is below 1.

    The decoy is drawn at random from the records that agree with the first on the keys left and differ in the implied
    value. Both then look alike, and no inference is right for both; by a deterministic rule a reader who knows it could
    tell which of the two had to lose its value.
    """
    following = implied(file, requests, alone)
    for _ in range(ROUNDS):
        if following is None or not following.any() or not _hide(file, following, alone, rng):
            break
        mend_again()
        following = implied(file, requests, alone)
    return following


def _hide(file: WorkingFile, following: Bools, alone: Sequence[int], rng: np.random.Generator) -> bool:
    """Suppress a decoy, or one more key, for each cell with an implied value; whether any value was suppressed."""
    patterns = patterns_of(file.situation(range(len(following))))
    key, row = np.nonzero(following)
    cell = patterns.at.of_row[row].astype(np.int64)
    _, once = np.unique(cell, return_index=True)  # a decoy for one key of a cell is one for all it lacks
    key, row, cell = key[once], row[once], cell[once]
    before = int(np.count_nonzero(file.gone))
    taken = np.zeros(file.n, np.bool_)
    for j, mask, at in batches(patterns, cell, key):
        if not patterns.speaks(mask):
            continue  # a record that lacks all keys would no longer count for others
        left = _suppress_decoys(file, patterns, j, mask, cell[at], row[at], alone, rng, taken)
        own = [i for i in alone if mask >> i & 1]
        if len(left) and own and patterns.speaks(mask & ~(1 << own[0])):
            rows, _ = patterns.at.rows_of(np.sort(cell[at][left]))
            file.gone[own[int(rng.integers(len(own)))], rows] = True
    return int(np.count_nonzero(file.gone)) > before


def _suppress_decoys(
    file: WorkingFile, patterns: Patterns, j: int, mask: int, cells: Ints, like: Ints, alone: Sequence[int],
    rng: np.random.Generator, taken: Bools,
) -> Ints:  # fmt: skip
    """Draw a decoy for each cell and suppress in it what the cell lacks; indices of cells without a decoy.

    `like`: a record of each cell. `taken`: records that have been drawn already.
    """
    true, left = file.keys[j].codes(like), np.arange(len(cells))
    loose = sum(1 << i for i in alone)
    for other in sorted(patterns.cells, key=int.bit_count):
        if len(left) == 0 or other & mask != mask or not other >> j & 1 or (other & ~mask) & ~loose:
            continue
        rows, query = _like(patterns, cells[left], mask, patterns.cells[other])
        fits = ~taken[rows] & (file.keys[j].codes(rows) != true[left[query]])
        rows, query = rows[fits], query[fits]
        shuffled = rng.permutation(len(rows))
        served, first = np.unique(query[shuffled], return_index=True)
        chosen = rows[shuffled[first]]
        taken[chosen] = True
        for i in range(len(file.gone)):
            if (other & ~mask) >> i & 1:
                file.gone[i, chosen] = True
        left = np.delete(left, served)
    return left


def _like(patterns: Patterns, cells: Ints, mask: int, others: Ints) -> tuple[Ints, Ints]:
    """Records of other cells that agree with one of the cells on the keys of a mask, and the index of that cell."""
    words = patterns.word(cells, mask)
    order = np.argsort(words)
    there = patterns.word(others, mask)
    place = np.minimum(np.searchsorted(words[order], there), len(order) - 1)
    hit = words[order][place] == there
    rows, starts = patterns.at.rows_of(others[hit])
    return rows, np.repeat(order[place[hit]], np.diff(starts))
