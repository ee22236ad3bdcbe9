"""The definitions written a second time, as plainly as possible: records, loops, no cells, no kernels."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations

import mpmath


def matches(mine, theirs, wild):
    """Whether two keys agree where neither has a missing value that may stand for any value."""
    for a, b, free in zip(mine, theirs, wild, strict=True):
        if a != b and not (free and (a is None or b is None)):
            return False
    return True


def silent(theirs, mine):
    """Whether a record says nothing of anybody else: all of its several keys are missing."""
    return len(theirs) > 1 and theirs != mine and all(value is None for value in theirs)


def frequencies(rows, weights, wild, alpha):
    """f and F of every record: a match through the other record's missing value counts alpha."""
    alike = {}  # the weights of equal records: each key is compared once
    for row, weight in zip(rows, weights, strict=True):
        alike.setdefault(row, []).append(weight)
    gaps = [row for row in alike if any(free and value is None for value, free in zip(row, wild, strict=True))]
    with_gaps = set(gaps)
    sums = {}
    for mine in alike:
        credits, weighted = [], []
        for theirs in alike if mine in with_gaps else [mine, *gaps]:  # without a gap, equal keys match and no others
            if matches(mine, theirs, wild) and not silent(theirs, mine):
                credit = alpha if theirs in with_gaps and theirs != mine else 1.0
                credits += [credit] * len(alike[theirs])
                weighted += [credit * weight for weight in alike[theirs]]
        sums[mine] = math.fsum(credits), math.fsum(weighted)
    return [sums[mine][0] for mine in rows], [sums[mine][1] for mine in rows]


def persons(rows, who, weight_of):
    """Distinct persons with each record's key, and their weights."""
    sharing = [{p for row, p in zip(rows, who, strict=True) if row == mine} for mine in rows]
    return [len(group) for group in sharing], [sum(weight_of[p] for p in group) for group in sharing]


def classes(rows, values, wild):
    """The sensitive values of the records that match each record."""
    return [
        [
            value
            for theirs, value in zip(rows, values, strict=True)
            if matches(mine, theirs, wild) and not silent(theirs, mine)
        ]
        for mine in rows
    ]


def diversity(values, c):
    """Distinct, entropy and recursive l-diversity of one class; None is a missing value."""
    counts = Counter(values)
    shares = [count / len(values) for count in counts.values()]
    entropy = math.exp(-math.fsum(p * math.log(p) for p in shares))
    known = sorted((count for value, count in counts.items() if value is not None), reverse=True)
    if not known:
        return 1, entropy, 1
    holds = [ell for ell in range(1, len(known) + 1) if known[0] < c * sum(known[ell - 1 :])]
    return len(counts), entropy, max(holds, default=0)


@cache
def risk(f, big_f):
    """E[1/F | f] with 50 digits, by the published form; beyond f = 100, too slow there, by its Euler transform.

    The transform, p / f 2F1(1, 1; f + 1; 1 - p), is summed term by term: some hundred at most, where mpmath takes
    seconds for one value.
    """
    with mpmath.workdps(55):
        f, big_f = mpmath.mpf(f), mpmath.mpf(big_f)
        p = f / big_f
        if f > 100:
            total, term, n = mpmath.mpf(0), p / f, 0
            while term > total * mpmath.mpf(10) ** -55:
                total, n = total + term, n + 1
                term *= n / (f + n) * (1 - p)
            return total
        return p**f / f * mpmath.hyp2f1(f, f, f + 1, 1 - p)


def households(ids, rows):
    """Size and composition (multiset of keys) of each record's household; no id, a household of its own."""
    names = [("alone", i) if name is None else name for i, name in enumerate(ids)]
    members: dict[object, Counter] = {}
    for name, row in zip(names, rows, strict=True):
        members.setdefault(name, Counter())[row] += 1
    return names, {name: frozenset(counter.items()) for name, counter in members.items()}


def cap(values, total):
    """The largest observed value t for which the sum of the values, each cut at t, is below a total."""
    fits = [t for t in values if math.fsum(min(v, t) for v in values) < total]
    return max(fits, default=math.nan)


def minimal_uniques(rows, wild, max_size):
    """Key sets on which a record is alone while it is not on any part of them; a wild missing value is no item."""
    found = [[] for _ in rows]
    for size in range(1, max_size + 1):
        for subset in combinations(range(len(rows[0])), size):
            patterns = [tuple(row[j] for j in subset) for row in rows]
            for i, mine in enumerate(patterns):
                gap = any(wild[j] and rows[i][j] is None for j in subset)
                minimal = not any(set(one) < set(subset) for one in found[i])
                if not gap and minimal and patterns.count(mine) == 1:
                    found[i].append(subset)
    return found
