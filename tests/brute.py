"""The definitions written a second time, as plainly as possible: records, loops, no cells, no kernels."""

from __future__ import annotations

import math
from collections import Counter

import mpmath


def matches(mine, theirs, wild):
    """Whether two keys agree where neither has a missing value that may stand for any value."""
    return all(
        a == b or (free and (a is None or b is None)) for a, b, free in zip(mine, theirs, wild, strict=True)
    )


def frequencies(rows, weights, wild, alpha):
    """f and F of every record: a match through the other record's missing value counts alpha."""
    f, big_f = [], []
    for mine in rows:
        credits = []
        for theirs in rows:
            gap = any(free and value is None for value, free in zip(theirs, wild, strict=True))
            credit = alpha if gap and theirs != mine else 1.0
            credits.append(credit if matches(mine, theirs, wild) else 0.0)
        f.append(math.fsum(credits))
        big_f.append(math.fsum(c * w for c, w in zip(credits, weights, strict=True)))
    return f, big_f


def persons(rows, who, weight_of):
    """Distinct persons with each record's key, and their weights."""
    sharing = [{p for row, p in zip(rows, who, strict=True) if row == mine} for mine in rows]
    return [len(group) for group in sharing], [sum(weight_of[p] for p in group) for group in sharing]


def classes(rows, values, wild):
    """The sensitive values of the records that match each record."""
    return [
        [value for theirs, value in zip(rows, values, strict=True) if matches(mine, theirs, wild)]
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


def risk(f, big_f):
    """E[1/F | f] by the published form, with 50 digits."""
    with mpmath.workdps(50):
        f, big_f = mpmath.mpf(f), mpmath.mpf(big_f)
        p = f / big_f
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
