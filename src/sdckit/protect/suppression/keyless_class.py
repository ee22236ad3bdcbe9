"""Records that lose all their keys form a class of their own: who must join them for it to have enough values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdckit.numerics.array_types import Bools, Ints


def joining_records(cell: Ints, keyless: Bools, sensitive: Sequence[Ints], least: int) -> Bools:
    """Records whose keys must go, too, so that the class without keys has enough distinct sensitive values.

    `cell` (n,): class of each record by its keys; `keyless` (n,): records that have no key, or will have none;
    `sensitive`: codes (n,) of each variable; `least`: distinct values that a class needs. Nobody joins whose own class
    would then have too few; of the others who bring a new value the one in the largest class is taken. The class stays
    short where nobody can join.

    >>> cell, keyless = np.array([0, 0, 0, 1]), np.array([False, False, False, True])
    >>> joining_records(cell, keyless, [np.array([5, 6, 6, 5])], 2).tolist()
    [False, True, False, False]
    """
    joining = np.zeros(len(cell), np.bool_)
    if not keyless.any():
        return joining
    for codes in sensitive:
        while True:
            inside = keyless | joining
            values = np.unique(codes[inside])
            if len(values) >= least:
                break
            able = ~inside & ~np.isin(codes, values)
            for others in sensitive:
                able &= _spared(cell, others, ~inside, least)
            if not able.any():
                break
            size = np.bincount(cell[~inside], minlength=int(cell.max()) + 1)[cell]
            joining[np.argmax(np.where(able, size, 0))] = True
    return joining


def _spared(cell: Ints, codes: Ints, outside: Bools, least: int) -> Bools:
    """Whether the class of each record, of those outside, has enough values without it."""
    pairs, of_row, count = np.unique(
        np.column_stack([cell, codes])[outside], axis=0, return_inverse=True, return_counts=True
    )
    distinct = np.bincount(pairs[:, 0], minlength=int(cell.max()) + 1)
    spared = np.zeros(len(cell), np.bool_)
    spared[outside] = (distinct[cell[outside]] > least) | (
        (count[of_row.ravel()] > 1) & (distinct[cell[outside]] >= least)
    )
    return spared
