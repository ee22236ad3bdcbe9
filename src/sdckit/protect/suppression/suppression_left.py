"""Kernels: which level of a key is the only one that could have been taken out of a cell."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

NONE, MANY = -1, -2  # instead of the one level that is left


@njit(cache=True, nogil=True)
def _judge(count, marked, touched, n_touched, fixed, base, everything, seen, k):  # type: ignore[no-untyped-def]
    """The one level left: with it put back the record is below k, or one that no longer matches it is.

    `count`: what records with each level count. `touched`: levels that some have. `fixed`: the level of the records
    that cannot lose a match, -1 where there are none, MANY where they have several. `base`: what counts whatever the
    level is. `everything`: whether any level at all would hurt.
    """
    one, absent = NONE, seen - n_touched
    always = everything or fixed == MANY
    if absent > 0 and (always or fixed >= 0 or base < k):
        one = MANY if absent > 1 else seen
    for i in range(n_touched):
        v = touched[i]
        if always or (fixed >= 0 and fixed != v) or base + count[v] < k:
            one = v if one == NONE else MANY
    if one == seen:  # the one that no record has
        one = 0
        while marked[one]:
            one += 1
    for i in range(n_touched):
        count[touched[i]] = 0.0
        marked[touched[i]] = False
    return one


@njit(cache=True, nogil=True)
def left_in_tables(group, spans, starts, level, weight, tight, base, everything, seen, k):  # type: ignore[no-untyped-def]
    """For each query, by tables of the levels in its groups: the one level left, NONE or MANY.

    `group` (Q, T): group of each query in each table, -1 for none. `spans` (T + 1, 2): where the tables begin in
    `starts` and in the levels. `base`, `everything` (Q,): as in `_judge`. `seen`: number of levels of the key.
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
    """The same by holding each of some cells against all.

    `words`, `there` (K,): codes of each cell, and the bits of those it has. `level` (K,): of the key, -1 where it is
    missing. `marks`: bits of the key, of all keys, of all keys where there are several. `limits`: alpha and k.
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
