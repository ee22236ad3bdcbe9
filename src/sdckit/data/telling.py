"""Columns whose values give another one away: each of them occurs with one value of it only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.data.columns import code_column
from sdckit.data.households import homes_of
from sdckit.data.replace import Records, open_records
from sdckit.numerics.array_types import Ints

TELLS = 0.05  # share of records beyond chance from which a column is said to tell another
BEYOND = 4.0  # standard deviations that chance is allowed


def told_by(
    data: Any, column: str, others: Sequence[str], *, household: str | None = None
) -> dict[str, float]:
    """How far the values of one column, a weight, say, give those of others away.

    By column, the share of the records whose value of `column` at least one more record has, and all of these
    have one value of the other column; less what would be so by chance, of what chance leaves. 0 where it is no
    more than chance may do (four standard deviations). With a household
    one record of each counts: members share their weight anyway.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> survey = pl.DataFrame({"w": [1.5, 2.0] * 10, "region": ["a", "b"] * 10, "sex": ["f", "f", "m", "m"] * 5})
    >>> told_by(open_frame(survey), "w", ["region", "sex"])
    {'region': 1.0, 'sex': 0.0}
    """
    frame, records = open_records(data, {})
    first = np.arange(len(frame))
    if household is not None:
        homes = code_column(frame[household])
        first = homes_of(homes.codes(), homes.span).first
    held = code_column(frame[column])
    codes = held.codes()[first]
    return {name: _told(codes, held.span, frame[name], first, records) for name in others}


def _told(codes: Ints, missing: int, other: Any, first: Ints, records: Records) -> float:
    coded = code_column(other)
    theirs = coded.codes()[first]
    known = (codes != missing) & (theirs != coded.span)
    if not known.any():
        return 0.0
    of_value = np.unique(codes[known], return_inverse=True)[1].reshape(-1)
    level = np.unique(theirs[known], return_inverse=True)[1].reshape(-1)
    n_levels = int(level.max()) + 1
    counted = Records(len(level), None if records.counts is None else records.counts[known])
    n, size = counted.n, counted.by(of_value, int(of_value.max()) + 1)
    kinds = np.bincount(np.unique(of_value * n_levels + level) // n_levels, minlength=len(size))
    several = size > 1
    told = float(size[several & (kinds == 1)].sum())
    shares = counted.by(level, n_levels) / n
    sizes, often = np.unique(size[several], return_counts=True)
    alike = np.array([float((shares ** int(s)).sum()) for s in sizes])
    chance = float((sizes * often * alike).sum())
    spread = float((sizes**2 * often * alike * (1 - alike)).sum()) ** 0.5
    if told <= chance + BEYOND * spread or chance >= n:
        return 0.0
    return (told - chance) / (n - chance)
