"""Rows drawn by a keyed hash of their id: the same ones in whatever order, and on whatever engine, they come."""

from __future__ import annotations

import hashlib
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError

MIXING = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # Stafford's 13th set of constants, as SplitMix64 has them
SHIFTS = (30, 27, 31)
KEY_BYTES = 32


def hash_ids(series: nw.Series[Any], key: bytes) -> NDArray[np.uint64]:
    """A number for each row from its id and the key; the order of these numbers is one of all, drawn by the key.

    Whole numbers are mixed by SplitMix64 (Steele, Lea & Flood 2014), keyed before and in between; other ids are
    hashed as text by BLAKE2b.

    Raises DataError: an id that is missing or repeated.

    >>> import polars as pl
    >>> ids = nw.from_native(pl.Series("pid", [4, 7, 9]), series_only=True)
    >>> hash_ids(ids, bytes(32)).argsort().tolist() == hash_ids(ids.cast(nw.Int16), bytes(32)).argsort().tolist()
    True
    """
    n, known = len(series), series.drop_nulls()
    if len(known) < n or int(known.n_unique()) < n:
        raise DataError(
            f"id {series.name!r} is missing in {n - len(known)} rows, and {len(known) - int(known.n_unique())} repeat "
            "one: people are drawn by an id that names each row once",
            argument="id",
        )
    if series.dtype.is_integer():
        return _mixed(series.to_numpy().astype(np.uint64), np.frombuffer(key, np.uint64))
    texts = (str(value).encode() for value in series.to_list())
    numbers = (hashlib.blake2b(text, key=key, digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(numbers), np.uint64)


def _mixed(values: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for part in keys:
        values = values ^ part
        for shift, factor in zip(SHIFTS, (*MIXING, 1), strict=True):
            values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values
