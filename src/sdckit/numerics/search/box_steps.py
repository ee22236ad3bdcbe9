"""Steps of a search for nearest rows: the k smallest sums, and rows counted as closer or tied."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit


@njit(cache=True, nogil=True, inline="always")
def insert(best, value, copies):  # type: ignore[no-untyped-def]
    """Put a value so many times into the ascending k smallest."""
    for _ in range(min(copies, len(best))):
        at = len(best) - 1
        if value >= best[at]:
            break
        while at > 0 and best[at - 1] > value:
            best[at] = best[at - 1]
            at -= 1
        best[at] = value


@njit(cache=True, nogil=True, inline="always")
def farther(total, slack, squared):  # type: ignore[no-untyped-def]
    """The sum at a distance that is larger by `slack` (smaller where it is negative)."""
    if squared:
        return max(np.sqrt(total) + slack, 0.0) ** 2
    return max(total + slack, 0.0)


@njit(cache=True, nogil=True, inline="always")
def still_near(kept, kept_at, limit):  # type: ignore[no-untyped-def]
    """Forget the candidates that have become too far; how many are left."""
    n = 0
    for c in range(len(kept)):
        if kept[c] <= limit:
            kept[n], kept_at[n] = kept[c], kept_at[c]
            n += 1
    return n


@njit(cache=True, nogil=True, inline="always")
def tally(q, total, near, inner, row, copies, closer, tied, nearest):  # type: ignore[no-untyped-def]
    """Count so many rows as closer or tied, and see whether theirs is the first nearest row."""
    if total < inner:
        closer[q] += copies
    else:
        tied[q] += copies
    if total <= near:
        nearest[q] = row if nearest[q] < 0 else min(nearest[q], row)


@njit(cache=True, nogil=True, inline="always")
def add(q, values, sums):  # type: ignore[no-untyped-def]
    """Add the values of a row to the sums of a query."""
    for v in range(len(values)):
        sums[q, v] += values[v]
