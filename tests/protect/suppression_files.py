"""Small working files for the tests of local suppression, and its definitions in plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

import brute
from sdckit.data.columns import code_column
from sdckit.data.frames import open_frame
from sdckit.protect.suppression.suppression_choices import Order, WorkingFile


def frame_of(rows):
    return pl.DataFrame({f"k{j}": pl.Series([row[j] for row in rows], dtype=pl.Int64) for j in range(len(rows[0]))})


def rows_of(frame, keys):
    return list(frame.select(keys).iter_rows())


def working(rows, alpha=1.0, strata=None):
    frame = open_frame(frame_of(rows))
    groups = None if strata is None else code_column(open_frame(pl.DataFrame({"s": strata}))["s"])
    coded = tuple(code_column(frame[name]) for name in frame.columns)
    return WorkingFile(coded, groups, alpha, np.zeros((len(coded), len(rows)), bool))


def free(rows):
    """The order of the keys where none is asked for: by levels."""
    return Order(tuple(float(len({row[j] for row in rows})) for j in range(len(rows[0]))), strict=False)


def frequencies(rows, alpha=1.0):
    return brute.frequencies(rows, [1.0] * len(rows), [True] * len(rows[0]), alpha)[0]


def without(row, keys):
    return tuple(None if j in keys else value for j, value in enumerate(row))


def needs(rows, k):
    """For each record below k: the fewest keys to take from it alone."""
    p, found = len(rows[0]), {}
    for i, f in enumerate(frequencies(rows)):
        if f >= k:
            continue
        for size in range(1, p + 1):
            changed = [without(rows[i], combination) for combination in combinations(range(p), size)]
            if any(frequencies([*rows[:i], row, *rows[i + 1 :]])[i] >= k for row in changed):
                found[i] = size
                break
    return found


def fewest(rows, k):
    """The smallest number of values to take from records below k, none losing more than it would need alone."""
    most = needs(rows, k)
    values = [(i, j) for i in most for j, value in enumerate(rows[i]) if value is not None]
    for total in range(len(values) + 1):
        for chosen in combinations(values, total):
            gone = {i: {j for at, j in chosen if at == i} for i in most}
            if all(len(gone[i]) <= most[i] for i in most):
                left = [without(row, gone.get(i, ())) for i, row in enumerate(rows)]
                if min(frequencies(left)) >= k:
                    return total
    return None  # where blank records would have to help others


def draw_rows(seed, n, levels, missing=0.0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, level, n) for level in levels], axis=1)
    gone = rng.random(codes.shape) < missing
    return [
        tuple(None if g else int(c) for c, g in zip(row, lost, strict=True))
        for row, lost in zip(codes, gone, strict=True)
    ]
