"""Fellegi and Sunter's linkage by plain loops over all pairs of records: what `probabilistic_linkage` must give.

Texts are compared by Winkler's similarity of their bytes, written from his definition.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any

LEVELS = {"exact": 2, "number": 3, "text": 4}
TINY = 1e-300


def similarity(one: bytes, other: bytes) -> float:
    """Jaro's share of common and transposed letters, raised for a common beginning (Winkler 1990)."""
    reach = max(max(len(one), len(other)) // 2 - 1, 0)
    taken: list[int] = []
    common = []
    for at, letter in enumerate(one):
        near = range(max(0, at - reach), min(len(other), at + reach + 1))
        place = next((j for j in near if j not in taken and other[j] == letter), None)
        if place is not None:
            taken.append(place)
            common.append(letter)
    if not common:
        return 0.0
    swapped = sum(a != other[j] for a, j in zip(common, sorted(taken), strict=True)) // 2
    n = len(common)
    jaro = (n / len(one) + n / len(other) + (n - swapped) / n) / 3
    begins = next((k for k in range(4) if one[k : k + 1] != other[k : k + 1] or k >= min(len(one), len(other))), 4)
    return jaro + 0.1 * begins * (1 - jaro) if jaro > 0.7 else jaro


def agreement(one: Any, other: Any, kind: str, reach: float) -> int | None:
    """The level of agreement, 0 without any; None where a value is missing."""
    if one is None or other is None:
        return None
    if one == other:
        return LEVELS[kind] - 1
    if kind == "number":
        return int(abs(one - other) <= reach)
    if kind == "text":
        alike = similarity(one.encode(), other.encode())
        return (alike >= 0.92) + (alike >= 0.8)
    return 0


def shares(levels: list[int | None], weights: list[float], n: int) -> list[float | None]:
    """The share of each level, None where it never occurs."""
    sums = [sum(w for own, w in zip(levels, weights, strict=True) if own == level) for level in range(n)]
    total = sum(sums)
    return [sums[level] / total if total > 0 and level in levels else None for level in range(n)]


def plain_links(original: list[list], released: list[list], kinds: list[str], near: float, blocking: list[list[int]]):
    """The weight of the best candidate of each released record (NaN: none), and the chance that it is the right one.

    `original`, `released`: columns. `blocking`: rules, each a list of places of columns; none: all pairs.
    """
    n, places = len(original[0]), range(len(kinds))
    both = [[value for value in (*a, *b) if value is not None] for a, b in zip(original, released, strict=True)]
    reach = [near * (max(of) - min(of)) if kind == "number" else 0.0 for of, kind in zip(both, kinds, strict=True)]
    pairs = {
        (i, j): [agreement(original[v][i], released[v][j], kinds[v], reach[v]) for v in places]
        for i in range(n) for j in range(n)
    }  # fmt: skip
    start = [[0.05 / (LEVELS[kind] - 1)] * (LEVELS[kind] - 1) + [0.95] for kind in kinds]
    odds = [[-5 + 8 * at / max(LEVELS[kind] - 2, 1) for at in range(LEVELS[kind] - 1)] + [10.0] for kind in kinds]
    u = [
        [first / 2**weight if share is None else share for share, first, weight in zip(
            shares([levels[v] for levels in pairs.values()], [1.0] * len(pairs), LEVELS[kinds[v]]), start[v], odds[v],
            strict=True)]
        for v in places
    ]  # fmt: skip
    learnt: list[list[list[float | None]]] = [[] for _ in places]

    def matches(v: int) -> list[float]:
        known = [[m[level] for m in learnt[v] if m[level] is not None] for level in range(LEVELS[kinds[v]])]
        return [median(values) if values else first for values, first in zip(known, start[v], strict=True)]

    def weight(m: float, other: float) -> float:
        return math.log2(max(m, TINY) / max(other, TINY))

    prior = math.log2(1 / (n - 1))
    met = [
        [pair for pair, levels in pairs.items() if all(levels[v] == LEVELS[kinds[v]] - 1 for v in rule)]
        for rule in blocking or [[]]
    ]
    for rule, candidates in zip(blocking or [[]], met, strict=True):
        free = [v for v in places if v not in rule]
        share = 1 / (1 + 2 ** -(prior + sum(weight(matches(v)[-1], u[v][-1]) for v in rule)))
        m = {v: matches(v) for v in free}
        for _ in range(200):
            lean = [
                math.log2(share / (1 - share))
                + sum(weight(m[v][own], u[v][own]) for v in free if (own := pairs[pair][v]) is not None)
                for pair in candidates
            ]
            chance = [1 / (1 + 2.0**-bits) if bits > -1000 else 0.0 for bits in lean]
            found = {v: shares([pairs[pair][v] for pair in candidates], chance, LEVELS[kinds[v]]) for v in free}
            filled = {v: [1e-6 if own is None else own for own in found[v]] for v in free}
            after = share if rule else sum(chance) / len(chance)
            moved = max(abs(after - share), *(abs(a - b) for v in free for a, b in zip(filled[v], m[v], strict=True)))
            m, share = filled, after
            if moved < 1e-4:
                break
        for v in free:
            learnt[v].append(found[v])
    weights = [[weight(a, b) for a, b in zip(matches(v), u[v], strict=True)] for v in places]
    best, right = [math.nan] * n, [0.0] * n
    for j in range(n):
        own = {
            pair: prior + sum(weights[v][level] for v in places if (level := pairs[pair][v]) is not None)
            for pair in {pair for candidates in met for pair in candidates} if pair[1] == j
        }  # fmt: skip
        if own:
            best[j] = max(own.values())
            top = [pair for pair, bits in own.items() if bits >= best[j] - 1e-8]
            right[j] = ((j, j) in top) / len(top)
    return best, right
