"""Rows drawn by a keyed hash of their id: the same ones in whatever order, and on whatever engine, they come."""

import hashlib
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import arguments
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints, Words
from sdckit.numerics.intervals import wilson
from sdckit.numerics.outlying import deviation

SAMPLED = "targets"  # the note of a measure of people drawn by their id
OF_GROUP = 1_000  # people of each subgroup that are drawn by their id at least
NEED_ID = "targets= draws people by their id: give id=, the column that names them"
ENDS = NormalDist().inv_cdf(0.975)

MIXING = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # Stafford's 13th set of constants, as SplitMix64 has them
SHIFTS = (30, 27, 31)
KEY_BYTES = 32


def hash_ids(series: nw.Series[Any], key: bytes) -> Words:
    """A number for each row from its id and the key; the order of these numbers is one of all, drawn by the key.

    Whole numbers of up to 64 bits are mixed by SplitMix64 (Steele, Lea & Flood 2014), keyed before and in between;
    other ids are hashed as text by BLAKE2b.

    Raises DataError: an id that is missing or repeated.

    >>> import polars as pl
    >>> ids = nw.from_native(pl.Series("pid", [4, 7, 9]), series_only=True)
    >>> hash_ids(ids, bytes(32)).argsort().tolist() == hash_ids(ids.cast(nw.Int16), bytes(32)).argsort().tolist()
    True
    """
    n, known = len(series), series.drop_nulls()
    if len(known) < n or int(known.n_unique()) < n:
        raise DataError(
            f"id {series.name!r} is missing in {counted(n - len(known), 'row')}, and "
            f"{len(known) - int(known.n_unique())} repeat one: people are drawn by an id that names each row once",
            argument="id",
        )
    if series.dtype.is_integer() and series.dtype not in (nw.Int128, nw.UInt128):  # which NumPy has not
        return _mixed(series.to_numpy().astype(np.uint64), np.frombuffer(key, np.uint64))
    texts = (str(value).encode() for value in series.to_list())
    numbers = (hashlib.blake2b(text, key=key, digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(numbers), np.uint64)


def _mixed(values: Words, keys: Words) -> Words:
    for part in keys:
        values = values ^ part
        for shift, factor in zip(SHIFTS, (*MIXING, 1), strict=True):
            values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values


def people_drawn(targets: int | None, by: Sequence[str] = (), id: str | None = "") -> int | None:
    """Check `targets=`, how many people are drawn by their id; None where all are looked at.

    Raises DataError: not a number above 0, fewer than subgroups need, or no id.
    """
    if targets is None:
        return None
    drawn = arguments.count(targets, SAMPLED, "is how many people are drawn by their id")
    if by and drawn < OF_GROUP:
        says = f"targets={drawn}: {OF_GROUP:,} or more are drawn of each subgroup, else its interval says nothing"
        raise DataError(says, argument=SAMPLED)
    if id is None:
        raise DataError(NEED_ID, argument="id")
    return drawn


def draw_rows(series: nw.Series[Any], k: int, key: bytes, of_group: Ints | None = None) -> tuple[Ints, int]:
    """Rows of the k ids that come first by their hashes under a key, these first, and how many they are.

    Behind them come, where each row has a group, those that are missing to k of each group.

    >>> import polars as pl
    >>> ids = nw.from_native(pl.Series("pid", [4, 7, 9]), series_only=True)
    >>> draw_rows(ids, 2, bytes(32), np.array([0, 1, 1]))[1], len(draw_rows(ids, 5, bytes(32))[0])
    (2, 3)
    """
    order = np.argsort(hash_ids(series, key)).astype(np.int64)
    rows = order[:k]
    if of_group is None:
        return rows, len(rows)
    of_ordered = of_group[order]
    by_group = np.argsort(of_ordered, kind="stable")
    sizes = np.bincount(of_ordered)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    more = np.sort(by_group[place < k])
    return np.concatenate([rows, order[more[more >= k]]]), len(rows)


def drawn_note(k: int, n: int) -> dict[str, str]:
    """The note that figures are of k people drawn, empty where these are all of the n there are."""
    return {SAMPLED: f"of {k:,} people drawn by their id"} if k < n else {}


# Intervals, 95 %, of figures of rows drawn at random from a file.


def share_interval(values: Floats) -> tuple[float, float]:
    """Wilson's interval of the mean of values from 0 to 1."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return math.nan, math.nan
    ends = wilson(float(known.sum()), len(known))
    return ends.low, ends.high


def mean_interval(values: Floats) -> tuple[float, float]:
    """The interval of a mean by its standard error; undefined with fewer than two values."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return math.nan, math.nan
    half = ENDS * float(deviation(known)) / math.sqrt(len(known))
    return float(known.mean()) - half, float(known.mean()) + half


def quantile_interval(values: Floats, share: float = 0.5) -> tuple[float, float]:
    """The interval of a quantile by order statistics: ranks at the normal ends of a binomial number.

    >>> quantile_interval(np.arange(101.0))
    (40.0, 60.0)
    """
    known = np.sort(values[~np.isnan(values)])
    if len(known) == 0:
        return math.nan, math.nan
    half = ENDS * math.sqrt(len(known) * share * (1 - share))
    low, high = math.floor(len(known) * share - half), math.ceil(len(known) * share + half) - 1
    return float(known[max(low, 0)]), float(known[min(high, len(known) - 1)])
