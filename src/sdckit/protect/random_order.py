"""The records in random order: whoever knows the order of the interviews learns nothing from that of the file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments, households, replace, seeds
from sdckit.protect.by_household import read_homes
from sdckit.protect.change import Change, Protected


def row_order(n: int, homes: households.Homes | None, seed: int) -> NDArray[np.int64]:
    """A random permutation of the records: row i gets record ``row_order(...)[i]``; households stay together.

    >>> sorted(row_order(4, None, 1).tolist())
    [0, 1, 2, 3]
    """
    rng, _ = seeds.open_rng(seed)
    order = rng.permutation(n)
    if homes is None:
        return order
    place = rng.permutation(len(homes.first))
    mixed: NDArray[np.int64] = order[np.sort(place[homes.of_row[order]] * n + np.arange(n)) % n]
    return mixed


def random_order(data: Any, *, household: str | None = None, seed: arguments.Seed = None) -> Protected:
    """Put the records in random order.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    household : str, optional
        Column that numbers the households: households come in random order, and the members of each one after the
        other, in random order among themselves. Default every record comes by itself.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data``, of pandas with a new index, and ``change``. The seed, by which the order can be had back, is in
        ``change.secret`` only.

    Raises
    ------
    ColumnError
        A column that the data does not have.
    DataError
        A plan, or no records.

    Notes
    -----
    Files stand in the order of interviews, addresses or registers, and what a neighbouring record holds then tells
    what was taken out of this one. Every order is as likely as any other. Numbers that count the records or the
    households keep the old order: take them off by `drop_identifiers`, or give new ones by `new_ids` or
    `limit_households`. Households that stand together can be told apart without their number: keep them together
    only where the number stays in the file.

    In a recipe, ``log.rows()`` says which record of the original each released one was made from.

    References
    ----------
    Fisher, R. A. and Yates, F. (1938). Statistical tables for biological, agricultural and medical research.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"home": [1, 1, 2, 2, 3], "age": [40, 12, 70, 72, 33]})
    >>> random_order(people, household="home", seed=1).data["home"].to_list()
    [2, 2, 1, 1, 3]
    """
    arguments.column_or_none(household, "household")
    frame = replace.open_eager(data, {"household": [] if household is None else [household]})
    homes = None if household is None else read_homes(frame, household)
    _, secret = seeds.open_rng(seed)
    order = row_order(len(frame), homes, secret)
    change = Change(
        "random_order", len(frame), {}, {"household": household}, {"seed": secret},
        {"order": "no value is changed; row i is no longer made from row i"},
    )  # fmt: skip
    return Protected(replace.pick_rows(frame, order), change)
