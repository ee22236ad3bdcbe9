"""What an intruder asks who wants to single somebody out: predicates true of exactly one released record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.singling.predicates import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Predicates,
    Table,
    matches,
    random_columns,
)
from sdckit.numerics.array_types import Ints

ATTEMPTS = (
    200  # tries per query asked for, and in vain per query found, until the search for combinations ends
)
PATIENCE = 100_000  # tries in vain at least, where more are allowed
BATCH = 100_000  # tried at a time


def univariate_queries(
    table: Table, ordered: NDArray[np.bool_], n: int, rng: np.random.Generator
) -> tuple[Predicates, Ints, int]:
    """Draw queries on one column: its only missing value, its smallest and largest, values that occur once.

    Gives distinct queries in random order, at most `n`, the released record of each, and how many there are.
    """
    column, operator, value, row = [], [], [], []
    for j, codes in enumerate(table.codes):
        levels, first, size = np.unique(codes, return_index=True, return_counts=True)
        once = size == 1
        kinds = [(EQUAL, levels[once], first[once])]
        known = np.flatnonzero(levels > 0)
        if ordered[j] and len(known):
            ends = [known[:1], known[-1:]]
            kinds += [
                (sign, levels[end][once[end]], first[end][once[end]])
                for sign, end in zip((AT_MOST, AT_LEAST), ends, strict=True)
            ]
        for sign, values, rows in kinds:
            column.append(np.full(len(values), j))
            operator.append(np.full(len(values), sign))
            value.append(values)
            row.append(rows)
    pool = Predicates(
        np.concatenate(column)[:, None].astype(np.int64),
        np.concatenate(operator)[:, None].astype(np.int8),
        np.concatenate(value)[:, None].astype(np.int32),
    )
    chosen = rng.permutation(pool.n)[:n]
    return pool.take(chosen), np.concatenate(row)[chosen].astype(np.int64), pool.n


def multivariate_queries(
    table: Table, ordered: NDArray[np.bool_], n: int, k: int, rng: np.random.Generator
) -> tuple[Predicates, Ints, int]:
    """Draw queries on k columns: a released record's values, numbers as "at least" or "at most", seen from the median.

    Gives distinct queries, at most `n`, the released record of each, and how many combinations were tried.
    """
    middle = _middles(table)
    seen: set[bytes] = set()
    found: list[Predicates] = []
    rows: list[Ints] = []
    have = tried = in_vain = 0
    while have < n and tried < ATTEMPTS * n and in_vain < max(PATIENCE, ATTEMPTS * have):
        batch = min(max(2 * (n - have), 256), ATTEMPTS * n - tried, BATCH)
        drawn = _drawn(table, ordered, middle, batch, k, rng)
        tried += batch
        new = [i for i, key in enumerate(drawn.keys()) if key not in seen and not seen.add(key)]  # type: ignore[func-returns-value]
        drawn = drawn.take(np.array(new, np.int64))
        count, first = matches(table, drawn)
        good = np.flatnonzero(count == 1)[: n - have]
        found.append(drawn.take(good))
        rows.append(first[good, 0])
        have += len(good)
        in_vain = 0 if len(good) else in_vain + batch
    joined = Predicates(
        *(np.concatenate([getattr(one, name) for one in found]) for name in ("column", "operator", "value"))
    )
    return joined, np.concatenate(rows), tried


def _drawn(
    table: Table, ordered: NDArray[np.bool_], middle: NDArray[np.int32], n: int, k: int,
    rng: np.random.Generator,
) -> Predicates:  # fmt: skip
    column = random_columns(len(ordered), n, k, rng)
    value = table.codes[column, rng.integers(0, table.n, n)[:, None]]
    side = np.where(value > middle[column], AT_LEAST, AT_MOST)
    operator = np.where(ordered[column] & (value > 0), side, EQUAL)
    return Predicates(column, operator.astype(np.int8), value)


def _middles(table: Table) -> NDArray[np.int32]:
    """The lower of the two middle values of each column: a value is above the median where it is above that."""
    out = np.zeros(len(table.codes), np.int32)
    for j, codes in enumerate(table.codes):
        known = codes[codes > 0]
        if len(known):
            out[j] = np.partition(known, (len(known) - 1) // 2)[(len(known) - 1) // 2]
    return out
