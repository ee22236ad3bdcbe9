"""Greedy suppression: suppress values until every record reaches k on some keys, then restore those not needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints, Words
from sdckit.numerics.coding import ones_of
from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import group
from sdckit.protect.suppression import suppression_choices as picking
from sdckit.protect.suppression.suppression_choices import Choices, Order, Situation, WorkingFile

# Records at risk that no group helps, or that lack values already: nearest-neighbour search.


COMPARISONS = 1 << 32  # pairs of cells; beyond, one nested sequence of keys serves all
WORTH_PACKING = 100  # cells at risk from which on codes are packed
KINDS = 1 << 6  # distinct sets of differing keys kept at one distance


class _Cells(NamedTuple):
    """All cells: codes, stratum, number of records, and how many of these count as matches.

    `words`, `there`: packed codes, and bit masks of those that there are; empty if not packed. `bits`: of each key in
    masks of keys, the last one of its field in a word.
    """

    codes: Ints
    stratum: Ints
    size: Floats
    worth: Floats
    words: Words
    there: Words
    bits: Words


@njit(cache=True, nogil=True)
def differences(codes, stratum, c, diff):  # type: ignore[no-untyped-def]
    """Fill `diff` (K,) with bit masks of the keys on which cells differ from cell c; all bits: another stratum."""
    for i in range(len(codes)):
        bits = np.uint64(0)
        if stratum[i] != stratum[c]:
            diff[i] = ~bits
            continue
        for j in range(codes.shape[1]):
            if codes[i, j] != codes[c, j] and codes[i, j] >= 0 and codes[c, j] >= 0:
                bits |= np.uint64(1) << np.uint64(j)
        diff[i] = bits


@njit(cache=True, nogil=True)
def _packed_differences(words, there, bits, stratum, c, diff):  # type: ignore[no-untyped-def]
    """The same of packed codes, in all keys at once: a carry takes what differs in a field to its last bit."""
    word, own, last = words[c], there[c], np.uint64(0)
    for bit in bits:
        last |= bit
    below = ~last
    for i in range(len(words)):
        apart = (words[i] ^ word) & there[i] & own
        apart = (((apart & below) + below) | apart) & last
        diff[i] = apart if stratum[i] == stratum[c] else ~np.uint64(0)


@njit(cache=True, nogil=True)
def _closest(diff, worth, gone, kinds, weights):  # type: ignore[no-untyped-def]
    """Records matched when the keys `gone` are suppressed, and number of distinct differences to the nearest others.

    Fills `kinds` with these differences as bit masks, and `weights` with the records that have them.
    """
    got, nearest, n = 0.0, 99, 0
    for i in range(len(diff)):
        if diff[i] == 0 or diff[i] == ~np.uint64(0):
            continue
        rest = diff[i] & ~gone
        if rest == 0:
            got += worth[i]
            continue
        far = ones_of(rest)
        if far > nearest:
            continue
        if far < nearest:
            nearest, n = far, 0
        at = 0
        while at < n and kinds[at] != rest:
            at += 1
        if at == n:
            if n == len(kinds):
                continue
            kinds[n], weights[n] = rest, 0.0
            n += 1
        weights[at] += worth[i]
    return got, n


@njit(cache=True, nogil=True)
def _better(mask, other_mask, weight, weight_other, lacking, rank, bits, strict):  # type: ignore[no-untyped-def]
    """Whether to suppress one set of keys (bit mask) rather than another of the same size.

    `weight`, `weight_other`: records that would then match, of which `lacking` are needed. `rank`, `strict`: as of
    `Order`. `bits`: of each key.
    """
    if (weight >= lacking) != (weight_other >= lacking):
        return weight >= lacking
    low, low_other, total, total_other = np.inf, np.inf, 0.0, 0.0
    for j in range(len(rank)):
        if mask & bits[j]:
            low, total = min(low, rank[j]), total + rank[j]
        if other_mask & bits[j]:
            low_other, total_other = min(low_other, rank[j]), total_other + rank[j]
    if strict or weight == weight_other:
        if low != low_other:
            return low > low_other
        if total != total_other:
            return total > total_other
        return mask < other_mask
    return weight > weight_other


@njit(cache=True, nogil=True)
def _search(cells, hard, frequency, k, alpha, rank, strict, apply, masks):  # type: ignore[no-untyped-def]
    """Fill `masks` for the cells `hard` as `nearest_sets` says; `frequency`: of these cells, updated."""
    codes, stratum, size, worth, words, there, bits = cells
    diff, kinds, weights = np.empty(len(codes), np.uint64), np.empty(KINDS, np.uint64), np.empty(KINDS)
    for h in range(len(hard)):
        if apply and frequency[h] >= k:
            continue
        c, gone = hard[h], np.uint64(0)
        if len(words) == 0:
            differences(codes, stratum, c, diff)
        else:
            _packed_differences(words, there, bits, stratum, c, diff)
        while True:
            got, n = _closest(diff, worth, gone, kinds, weights)
            lacking = k - frequency[h] - got
            if lacking <= 0 or n == 0:
                break
            best = 0
            for a in range(1, n):
                if _better(kinds[a], kinds[best], weights[a], weights[best], lacking, rank, bits, strict):
                    best = a
            gone |= kinds[best]
        for j in range(len(bits)):
            masks[h] |= np.uint64(1 if gone & bits[j] else 0) << np.uint64(j)
        if apply:
            for other in range(len(hard)):
                theirs = diff[hard[other]]
                if theirs != 0 and theirs & ~gone == 0:
                    frequency[other] += alpha * size[c]


def too_many(at: Situation, hard: Ints) -> bool:
    """Whether a nearest-neighbour search for these cells would take minutes."""
    return len(hard) * len(at.size) > COMPARISONS


def nearest_sets(at: Situation, hard: Ints, k: int, alpha: float, order: Order, *, apply: bool) -> Words:
    """Bit masks of the keys to suppress in all records of some cells at risk.

    Starting from nothing, the keys on which the nearest cells differ are added until k records match. With `apply` the
    cells are treated one after the other, and one that earlier ones have brought to k gets 0; without, each is treated
    as if it alone were changed.
    """
    masks = np.zeros(len(hard), np.uint64)
    worth = np.where((at.codes >= 0).all(axis=1), at.size, alpha * at.size)
    rank = np.array(order.rank, np.float64)
    packed = packed_words([*at.codes.T], np.arange(len(at.size))) if len(hard) >= WORTH_PACKING else None
    words, there, fields = packed or (*np.empty((2, 0), np.uint64), 1 << np.arange(len(rank), dtype=np.uint64))
    cells = _Cells(at.codes, at.stratum, at.size, worth, words, there, fields & ~(fields >> 1))
    search = sparing(_search, len(hard) * len(at.size) * (3 * len(rank) + 8))
    search(cells, hard, at.frequency[hard], k - picking.TINY, alpha, rank, order.strict, apply, masks)
    return masks


def nested_sets(at: Situation, hard: Ints, k: int, order: Order) -> Words:
    """The same without a search: keys are suppressed in one order until the group has k records."""
    keys = [set_[0] for set_ in order.sets(1)]
    masks, word = np.zeros(len(hard), np.uint64), picking.hash_values(at.stratum, len(keys))
    for j in keys:
        word += picking.hash_values(at.codes[:, j], j)
    gone, left = 0, np.ones(len(hard), bool)
    for j in keys:
        gone |= 1 << j
        word -= picking.hash_values(at.codes[:, j], j)
        groups = group(word)
        sizes = np.bincount(groups.of_row, at.size, len(groups.size))[groups.of_row[hard]]
        reached = left & (sizes >= k)
        masks[reached] = gone
        left &= ~reached
    return masks


# Cells, their number of records, and their frequencies.
Others: TypeAlias = "tuple[Ints, Floats, Floats]"
Packed: TypeAlias = "tuple[Words, Words, Words]"

COMPARISONS_OF_MOMENTS = 1 << 28  # pairs of records: a short search
WORD = 64
STEPS = 60  # scores are gains per value in sixtieths: exact for 1 to 6 values
TOP = (1 << 16) - 1


@njit(cache=True, nogil=True)
def _look(g, starts, members, own, size, need):  # type: ignore[no-untyped-def]
    """Gain of the best suppression in group g, and the cell whose record it changes; -1 where there is none.

    Groups as of `Choices`. `size`: records of each cell not yet changed. `need`: matches that each of them lacks.
    """
    gain, best, chosen = 0, -(1 << 40), -1
    for e in range(starts[g], starts[g + 1]):
        c = members[e]
        if size[c] == 0:
            continue
        lacking = need[c] if need[c] > 0 else 0
        helped = size[c] if lacking > 0 else 0
        gain += helped
        if own[e] and lacking - helped > best:
            best, chosen = lacking - helped, c
    return gain + best, chosen


@njit(cache=True, nogil=True)
def _cover(starts, members, own, costs, size, need, out_cell, out_group):  # type: ignore[no-untyped-def]
    """Greedy cover: fill `out_cell` and `out_group` with the suppressions; return their number.

    Groups wait in lists by gain per value (`head`, `after`), and are evaluated again when their turn comes. `size` and
    `need` are updated.
    """
    n_groups = len(costs)
    head = np.full(TOP + 1, -1, np.int64)
    after = np.empty(n_groups, np.int64)
    for g in range(n_groups - 1, -1, -1):
        gain, chosen = _look(g, starts, members, own, size, need)
        if chosen >= 0 and gain > 0:
            score = min(gain * STEPS // costs[g], TOP)
            after[g] = head[score]
            head[score] = g
    n, score = 0, TOP
    while score > 0:
        g = head[score]
        if g < 0:
            score -= 1
            continue
        head[score] = after[g]
        gain, chosen = _look(g, starts, members, own, size, need)
        if chosen < 0 or gain <= 0:
            continue
        now = min(gain * STEPS // costs[g], TOP)
        if now == score:
            size[chosen] -= 1
            for e in range(starts[g], starts[g + 1]):
                if members[e] != chosen:
                    need[members[e]] -= 1
            out_cell[n], out_group[n] = chosen, g
            n += 1
        after[g] = head[now]
        head[now] = g
    return n


@njit(cache=True, nogil=True)
def _take_back(n, starts, members, size, need, out_cell, out_group, kept):  # type: ignore[no-untyped-def]
    """Undo redundant suppressions, the latest first; `kept` (n,) says which remain."""
    for a in range(n - 1, -1, -1):
        c, g = out_cell[a], out_group[a]
        needed = need[c] > 0
        for e in range(starts[g], starts[g + 1]):
            x = members[e]
            if needed:
                break
            needed = x != c and size[x] > 0 and need[x] >= 0
        kept[a] = needed
        if not needed:
            size[c] += 1
            for e in range(starts[g], starts[g + 1]):
                if members[e] != c:
                    need[members[e]] += 1


def cover(choices: Choices, size: Floats, lacking: Ints) -> tuple[Ints, Ints]:
    """Cells, and groups that one record of each joins, so that all cells with a choice reach k.

    `size` (shape (C,)): records of each cell at risk. `lacking` (shape (C,)): matching records that each
    still lacks.

    The greedy rule for covering with multiplicities. The gain of a suppression is the decrease in the sum of matches
    lacking: all of them for the record itself, one for each other record of the group. Gains can only fall, so a group
    is evaluated again when its turn comes.
    """
    left, need = size.astype(np.int64), lacking.astype(np.int64)
    most = int(left.sum())
    out_cell, out_group = np.empty(most, np.int64), np.empty(most, np.int64)
    steps = 4 * len(choices.members) * (1 + 4 * most / max(1, len(choices.costs))) + TOP
    greedy = sparing(_cover, steps)
    n = greedy(choices.starts, choices.members, choices.own, choices.costs, left, need, out_cell, out_group)
    kept = np.ones(n, np.bool_)
    take_back = sparing(_take_back, steps)
    take_back(n, choices.starts, choices.members, left, need, out_cell, out_group, kept)
    return out_cell[:n][kept], out_group[:n][kept]


@njit(cache=True, nogil=True)
def _restore(words, there, kept, size, fields, frequency, sequence, keys, several, k):  # type: ignore[no-untyped-def]
    """Restore suppressed values one by one where all records keep their k; `kept` and `frequency` are updated.

    `words` (R,): packed codes. `there`, `kept`: bit masks of the values a record had, and still has. `fields`: bit mask
    of each key. `sequence`, `keys`: records and keys in the order in which they are tried.

    Records match if their words agree on the fields that both kept. A record that kept nothing counts only for others
    that kept nothing: `several` has the fields of the keys, or none where there is one key.
    """
    again = True
    hit = np.empty(len(words), np.int64)
    while again:
        again = False
        for r in sequence:
            for key in keys:
                field = fields[key] & there[r] & ~kept[r]
                if field == 0:
                    continue
                left, n, needed = frequency[r], 0, False
                blank = several != 0 and kept[r] & several == 0
                for x in range(len(words)):
                    apart = (words[r] ^ words[x]) & kept[x]
                    if x == r or apart & kept[r] != 0:
                        continue  # no match before
                    lost, silent = apart & field != 0, blank and kept[x] & several == 0
                    if lost or silent:
                        left -= size[x]
                        needed = left < k or (not blank and frequency[x] - 1 < k)
                        if needed:
                            break
                    # it loses this match, or gains that of a record that was blank
                    if not silent and lost != blank:
                        hit[n] = x
                        n += 1
                if not needed:
                    kept[r] |= field
                    frequency[r] = left
                    for i in range(n):
                        frequency[hit[i]] += 1 if blank else -1
                    again = again or blank  # what counts again may spare another


def _bits(columns: Sequence[Ints]) -> list[int]:
    return [max(1, int(column.max(initial=0)).bit_length()) for column in columns]


def packed_words(columns: Sequence[Ints], records: Ints) -> Packed | None:
    """Codes of some records packed into words, bit masks of the values present, and the bit mask of each column.

    None where the columns do not fit into a word.
    """
    bits = _bits(columns)
    if sum(bits) > WORD:
        columns = [np.unique(column, return_inverse=True)[1] - (column.min() < 0) for column in columns]
        bits = _bits(columns)
    if sum(bits) > WORD:
        return None
    shifts = [sum(bits[:j]) for j in range(len(bits))]
    words, there = np.zeros(len(records), np.uint64), np.zeros(len(records), np.uint64)
    fields = np.array([((1 << b) - 1) << s for b, s in zip(bits, shifts, strict=True)], np.uint64)
    for column, shift, field in zip(columns, shifts, fields, strict=True):
        codes = column[records]
        words |= np.maximum(codes, 0).astype(np.uint64) << np.uint64(shift)
        there |= np.where(codes >= 0, field, np.uint64(0))
    return words, there, fields


def restore(
    at: Situation, k: int, cell: Ints, masks: Words, frequency: Floats, rank: tuple[float, ...], others: Others
) -> Words:
    """Bit masks of the keys that must stay suppressed in each record at risk or changed, if alpha = 1.

    Nothing is restored where the search would be long or the keys do not fit into a word.

    `at`: the situation before any suppression. `cell` (shape (R,)): cell of each record that was at risk or changed.
    `masks` (shape (R,)): bit masks of the keys suppressed. `frequency` (shape (R,)): records that match it now. `rank`:
    by key; values of the smaller numbers are restored first. `others`: cells of all other records, how many each has
    and their frequencies, infinite of those that reach k whatever happens.
    """
    rest, left_of, counted = others
    records = np.concatenate([cell, rest])
    if int(np.count_nonzero(masks)) * len(records) > COMPARISONS_OF_MOMENTS:
        return masks
    packed = packed_words([*at.codes.T, at.stratum], records)
    if packed is None:
        return masks
    words, there, fields = packed
    kept = there.copy()
    for j, field in enumerate(fields[:-1]):
        kept[: len(cell)] &= ~np.where((masks >> np.uint64(j)) & np.uint64(1) == 1, field, np.uint64(0))
    n_gone = np.bitwise_count(masks).astype(np.int64)
    sequence = np.lexsort((-frequency, -n_gone))
    size = np.concatenate([np.ones(len(cell)), left_of])
    counts = np.concatenate([frequency, counted]).astype(np.float64)
    put_back = sparing(_restore, 4 * int(n_gone.sum()) * len(records))
    put_back(
        words, there, kept, size, fields, counts, sequence[masks[sequence] > 0],
        np.argsort(rank, kind="stable"), np.uint64(sum(fields[:-1].tolist()) if len(fields) > 2 else 0),
        k - picking.TINY,
    )  # fmt: skip
    left = np.zeros(len(cell), np.uint64)
    for j, field in enumerate(fields[:-1]):
        gone = (there & ~kept & field)[: len(cell)] != 0
        left |= gone.astype(np.uint64) << np.uint64(j)
    return left


def others_of(file: WorkingFile, start: Situation, now: Situation, whole: Bools) -> Others:
    """Cells of the records that keep all values and were never at risk (`whole`), as `restore` takes them."""
    sizes = file.sizes(start.of_row, len(start.size), whole).astype(np.float64)
    cells, one_of = np.flatnonzero(sizes), np.zeros(len(start.size), np.int64)
    one_of[start.of_row[whole]] = np.flatnonzero(whole)
    return cells, sizes[cells], now.frequency[now.of_row[one_of[cells]]]


def mend(
    file: WorkingFile, keys: Sequence[int], k: int, order: Order, start: Situation | None = None,
    choices: Choices | None = None,
) -> bool:  # fmt: skip
    """Suppress values of `file` until every record reaches k on the keys; return whether any had to be.

    `start` and `choices`: the current situation and its groups, where they are known. Every pass counts the frequencies
    anew and suppresses at least one value, so the loop ends: without any values all records of a stratum are alike.
    """
    before = file.gone.copy()
    at = start = file.situation(keys) if start is None else start
    while len(risky := at.at_risk(k)):
        if (at.codes[risky] >= 0).all(axis=1).any():
            choices = picking.find_choices(at, k, order) if choices is None else choices
        if choices is not None and (choices.needs > 0).any():
            rows, masks = _released(at, k, choices, file.alpha)
            file.take_out(keys, masks, rows)
        elif not _mend_others(file, keys, at, risky, k, order):
            _blank(file, keys, at, risky, k)
        choices = None
        at = file.situation(keys)
    if at is start:
        return False
    if file.alpha == 1:
        _tidy(file, keys, k, start, at, before, order)
    return True


def _tidy(
    file: WorkingFile, keys: Sequence[int], k: int, start: Situation, now: Situation, before: Bools, order: Order
) -> None:
    """Restore the values suppressed by this call that are not needed."""
    changed = np.any((file.gone & ~before)[list(keys)], axis=0)
    risky, _ = start.rows_of(start.at_risk(k))
    changed[risky] = False
    rows = np.concatenate([risky, np.flatnonzero(changed)])
    others = others_of(file, start, now, np.isin(np.arange(file.n), rows, invert=True))
    masks = np.zeros(len(rows), np.uint64)
    for i, j in enumerate(keys):
        masks |= (file.gone[j] & ~before[j])[rows].astype(np.uint64) << np.uint64(i)
    cell = start.of_row[rows].astype(np.int64)
    left = restore(start, k, cell, masks, now.frequency[now.of_row[rows]], order.rank, others)
    for i, j in enumerate(keys):
        back = ((masks ^ left) >> np.uint64(i)) & np.uint64(1) == 1
        file.gone[j, rows[back]] = False


def _released(at: Situation, k: int, choices: Choices, alpha: float) -> tuple[Ints, Words]:
    """Records to change, and bit masks of the keys each loses."""
    size = at.size[choices.cells]
    rows, starts = at.rows_of(choices.cells)
    if alpha < 1:  # missing values of others do not count in full: every record at risk is changed itself
        group, chosen = _own_groups(choices, size)
        count = np.where(chosen, size, 0).astype(np.int64)
        return rows[np.repeat(chosen, size.astype(np.int64))], np.repeat(choices.masks[group], count)
    cell, group = cover(choices, size, np.ceil(k - picking.TINY - at.frequency[choices.cells]))
    by_cell = np.argsort(cell, kind="stable")
    cell, group = cell[by_cell], group[by_cell]
    nth = np.arange(len(cell)) - np.searchsorted(cell, cell)
    return rows[starts[cell] + nth], choices.masks[group]


def _own_groups(choices: Choices, size: Floats) -> tuple[Ints, Bools]:
    """For each cell that reaches k somewhere, the group with most unchanged records; and which cells these are."""
    group = np.repeat(np.arange(len(choices.masks)), np.diff(choices.starts))
    at_risk = np.bincount(group, size[choices.members], len(choices.masks))
    entries = np.flatnonzero(choices.own)
    stay = (choices.sizes - at_risk)[group[entries]]
    entries = entries[np.lexsort((entries, -stay))][::-1]
    best, chosen = np.zeros(len(size), np.int64), np.zeros(len(size), np.bool_)
    best[choices.members[entries]] = group[entries]  # the last one written is the best
    chosen[choices.members[entries]] = True
    return best, chosen


def _mend_others(file: WorkingFile, keys: Sequence[int], at: Situation, risky: Ints, k: int, order: Order) -> bool:
    """Treat cells that no group helps by nearest-neighbour search; return whether any value was suppressed."""
    risky = risky[np.argsort(at.frequency[risky], kind="stable")]
    if too_many(at, risky):
        masks = nested_sets(at, risky, k, order)
    else:
        masks = nearest_sets(at, risky, k, file.alpha, order, apply=True)
    rows, starts = at.rows_of(risky)
    before = int(np.count_nonzero(file.gone))
    file.take_out(keys, np.repeat(masks, np.diff(starts)), rows)
    return int(np.count_nonzero(file.gone)) > before


def _blank(file: WorkingFile, keys: Sequence[int], at: Situation, risky: Ints, k: int) -> None:
    """Last resort, alpha below 1: suppress all keys of the records at risk, and of others until k are alike."""
    missing = (at.codes < 0).sum(axis=1)
    for stratum in np.unique(at.stratum[risky]).tolist():
        rows = np.flatnonzero(at.stratum[at.of_row] == stratum)
        cells = at.of_row[rows]
        at_risk = np.isin(cells, risky)
        worst = rows[np.lexsort((rows, -missing[cells], ~at_risk))]
        n_blank = max(k, int(np.count_nonzero(at_risk)))
        if (missing[at.of_row[worst[:n_blank]]] == len(keys)).all():
            n_blank += 1  # one more than are blank already
        for j in keys:
            file.gone[j, worst[:n_blank]] = True
