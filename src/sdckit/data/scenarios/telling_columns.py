"""Columns that tell more than their roles say by how they were made: numbers in an order, digests, parts of a key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data.guessable_ids import TRIED, is_guessable
from sdckit.data.households import RankedColumns, in_order_of, told_by_rows

ROWS = 100_000  # in the order of a number, that are looked at


def guessable_numbers(names: Iterable[str], frame: Any) -> list[str]:
    """Those of some columns that were hidden without a secret."""
    kinds = frame.collect_schema()
    texts = [name for name in names if kinds.get(name) in (nw.String, nw.Categorical)]
    columns = {name: frame.get_column(name).drop_nulls().unique(maintain_order=True) for name in texts}
    values = {name: column.cast(nw.String).head(TRIED).to_list() for name, column in columns.items()}
    return [name for name, own in values.items() if len(own) > 1 and is_guessable(own)]  # one is nobody's number


def numbers_in_order(
    columns: RankedColumns, named: Sequence[str], others: Sequence[str], *, amounts: Sequence[str], homes: bool
) -> list[str]:
    """Those of some numbers of people in whose order records stand as in a file that was not mixed.

    `named` number people or rows, `others` count where they are whole numbers or texts that tell every record apart.
    Of people with several rows the first is looked at. `homes`: whether the household goes out by its own column.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({"owns": rng.integers(0, 3, 200).repeat(3), "educ": rng.integers(0, 5, 600)})
    >>> files = [people.with_columns(no=pl.Series(numbers)) for numbers in (range(600), rng.permutation(600))]
    >>> mixed = [RankedColumns.of(open_frame(file.sample(fraction=1, shuffle=True, seed=1))) for file in files]
    >>> [numbers_in_order(file, ["no"], [], amounts=[], homes=False) for file in mixed]
    [['no'], []]
    """
    told = []
    for name in dict.fromkeys((*named, *others)):
        if name not in columns.names or (name not in named and columns.series(name).dtype.is_float()):
            continue
        places, rows = np.unique(columns.ranks(name), return_index=True)
        rows = rows[places > 0]
        if name not in named and len(rows) < columns.n:
            continue
        own = columns.at(rows[:ROWS])
        own.names = [other for other in own.names if other != name]
        in_order = in_order_of(own, [amount for amount in amounts if amount != name])
        if in_order or (not homes and any(told_by_rows(own))):
            told.append(name)
    return told
