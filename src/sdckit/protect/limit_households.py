"""Limit the size of households: members of large ones are split at random, and all households are renumbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from sdckit.data import arguments, columns, households, replace, seeds
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Ints
from sdckit.numerics.grouping import in_place
from sdckit.protect.by_household import read_homes
from sdckit.protect.change import Change, Protected


def limit_households(
    data: Any,
    *,
    household: str,
    largest: int,
    how: Literal["split", "missing"] = "split",
    size: str | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Give households new numbers, so that nobody can count more than `largest` members of one.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    household : str
        Column that numbers the households.
    largest : int
        Most records that a released household may show; the top code of the household size.
    how : {"split", "missing"}
        What becomes of larger ones: their members are dealt at random to as few households as possible, of sizes
        that differ by one at most; or their number is left off.
    size : str, optional
        Column that counts the members; those of a divided household get the size of their new one. With
        ``how="missing"`` it is left as it is: top-code it at `largest`.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data``, with the households numbered 1, 2, 3, ... in random order (text where the old numbers are text),
        and ``change``. Records without a household stay without one.

    Raises
    ------
    ColumnError
        A column that the data does not have; `size` is the household itself.
    DataError
        A plan, no records, `largest` below 1, a size that is not the number of records of its household.

    Notes
    -----
    A household size that is top-coded or suppressed is had back by counting the records of the household. A release
    therefore drops the household's number, or shows no household larger than the top code; where sizes are suppressed
    their households' numbers go with them (``local_suppression(together=[["size", "household"]])``) before this.
    Dividing keeps all records and all households up to `largest` whole; for divided ones relations between members
    are lost across the parts. Parts still agree in what the whole household shares: a weight that only they have
    brings them together again (`coarsen_weights`), and so does a rare income of the household. All numbers are new,
    or those that are would show who was divided, and the old order would show with them.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"home": [11] * 5 + [12, 12], "size": [5] * 5 + [2, 2]})
    >>> safe, change = limit_households(people, household="home", largest=3, size="size", seed=1)
    >>> safe.group_by("home").agg(size=pl.first("size"), n=pl.len()).sort("home").rows(), change.changed
    ([(1, 2, 2), (2, 2, 2), (3, 3, 3)], {'home': 7, 'size': 5})
    """
    arguments.column(household, "household")
    arguments.column_or_none(size, "size")
    arguments.count(largest, "largest", "counts the records of a household")
    arguments.choice(how, "how", ("split", "missing"))
    if size == household:
        raise ColumnError(f"size: {size!r} numbers the households; give the column that counts their members")
    frame = replace.open_eager(data, {"household": [household], "size": [] if size is None else [size]})
    coded = columns.code_column(frame[household])
    known = coded.codes() != coded.span
    homes = read_homes(frame, household)
    rng, secret = seeds.open_rng(seed)
    large = (homes.size > largest)[homes.of_row] & known
    part = _parts(homes, int(largest), rng) if how == "split" else np.zeros(len(known), np.int64)
    shown = known if how == "split" else known & ~large
    numbers, new = _numbered(homes.of_row, part, shown, rng)
    text = coded.kind in {"text", "category"}
    levels: list[Any] = [str(number) if text else number for number in range(1, numbers + 1)]
    made: dict[str, tuple[Sequence[Any], Ints]] = {household: (levels, new)}
    changed = {household: int(np.count_nonzero(known))}
    if size is not None and how == "split":
        made[size], changed[size] = _sizes(frame, size, homes, new, large)
    notes = {"households": "all households have new numbers"}
    notes |= {} if large.any() else {"changed": "no household is larger than that; only the numbers are new"}
    change = Change(
        "limit_households", len(frame), changed,
        {"household": household, "largest": int(largest), "how": how, "size": size}, {"seed": secret}, notes,
    )  # fmt: skip
    return Protected(replace.with_levels(frame, made), change)


def _parts(homes: households.Homes, largest: int, rng: np.random.Generator) -> Ints:
    """Number, from 0, of the part of its household that each record is assigned to at random."""
    n_parts = -(-homes.size // largest)
    shuffled = rng.permutation(len(homes.of_row))
    order = shuffled[np.argsort(homes.of_row[shuffled], kind="stable")]
    start = np.cumsum(homes.size) - homes.size
    return in_place((np.arange(len(order)) - start[homes.of_row[order]]) % n_parts[homes.of_row[order]], order)


def _numbered(home: Ints, part: Ints, shown: Bools, rng: np.random.Generator) -> tuple[int, Ints]:
    """The number of new households, and the index of each record among their numbers; -1 where it has none."""
    pairs = home * (int(part.max(initial=0)) + 1) + part
    distinct, inverse = np.unique(pairs[shown], return_inverse=True)
    new = np.full(len(home), -1, np.int64)
    new[shown] = rng.permutation(len(distinct))[inverse.reshape(-1)]
    return len(distinct), new


def _sizes(
    frame: Any, size: str, homes: households.Homes, new: Ints, large: Bools
) -> tuple[tuple[list[int], Ints], int]:
    """The household sizes (levels and codes) with split households recounted, and how many values these are."""
    before = columns.float_values(frame[size], "size")
    there = ~np.isnan(before)
    if (before[there] != homes.size[homes.of_row][there]).any():
        raise DataError(
            f"size: {size!r} is not the number of records of each household; recount it first, or leave it out",
            argument="size",
        )
    counts = np.bincount(new[new >= 0])
    now = np.where(large, counts[np.maximum(new, 0)], np.where(there, before, 0)).astype(np.int64)
    levels, codes = np.unique(now, return_inverse=True)
    places = np.where(there, codes.reshape(-1), -1)
    return (levels.tolist(), places), int(np.count_nonzero(large & there))
