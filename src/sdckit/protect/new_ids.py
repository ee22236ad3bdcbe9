"""E1: new identifiers that only the holder of a key can link to the old ones."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from sdckit.data import arguments, pa, replace, seeds
from sdckit.data.columns import distinct_values, first_rows
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bytes, Ints
from sdckit.numerics.grouping import in_place, places_among
from sdckit.protect.change import Change, Protected

SHORTEST, LONGEST = 8, 64  # hexadecimal digits of an identifier
SECOND = 10**9
WORD = 8  # bytes that are compared at once


def new_ids(
    data: Any, *, column: str, key: bytes | str | None = None, household: str | None = None, length: int = 16,
    block: int | None = None, time: str | None = None,
) -> Protected:  # fmt: skip
    """Give new identifiers: the same one wherever the old one is the same, another one under another key.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    column : str
        The column of old identifiers: of persons, households, schools.
    key : bytes or hexadecimal str, optional
        The secret, 16 bytes or more. Default a new one of 32 random bytes, kept in ``change.secret["key"]``.
        Give the same key to files that must stay linked, another one to each release that must not be.
    household : str, optional
        Column of the household within which `column` counts persons (1, 2, 3, and again). A person is then
        known by both, and the households get new identifiers as well.
    length : int
        Hexadecimal digits, 8 to 64.
    block : int, optional
        How many waves (different values of `time`, in ascending order) have the same identifiers, 1 or more: after so
        many all get new ones, so nobody can be followed further.
    time : str, optional
        Column that says of which wave a record is; with `block`.

    Returns
    -------
    Protected
        ``data``, where the identifiers are text now, and ``change``. A missing identifier stays missing: a
        made-up one would say that it is nobody else's.

    Raises
    ------
    ColumnError
        A column is absent, or is the household and the person at once.
    DataError
        A key that is too short or no key, a length or block out of range, one of `block` and `time` without the other,
        a time that is missing, no identifiers, or two that would become one (more digits help).

    Notes
    -----
    The new identifier is the start of HMAC-SHA256 of the old value under the key, with `block` of the old value and
    the first wave of its block, so it depends neither on the order of the records nor on who else is in the file.
    1 and 1.0 are one identifier, the text "1" is another. Whoever has the key can try out all old identifiers: keep
    it with the original, or throw it away.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997). HMAC: keyed-hashing for message authentication. RFC 2104.

    Examples
    --------
    >>> import polars as pl
    >>> visits = pl.DataFrame({"patient": [17, 4, 17], "score": [3, 5, 4]})
    >>> safe, change = new_ids(visits, column="patient", key=bytes(range(16)))
    >>> safe["patient"].to_list()
    ['ba5f2f21f0fa7e76', 'faaa94fcac39484e', 'ba5f2f21f0fa7e76']
    >>> change.changed
    {'patient': 3}
    >>> panel = pl.DataFrame({"person": [1, 1, 1, 1], "year": [2021, 2022, 2023, 2024]})
    >>> made = new_ids(panel, column="person", block=2, time="year").data["person"]
    >>> made[0] == made[1], made[2] == made[3], made[1] == made[2]
    (True, True, False)
    """
    arguments.column(column, "column")
    arguments.column_or_none(household, "household")
    if column == household:
        says = f"household: {household!r} is the person too; give two columns, or one column alone"
        raise ColumnError(says, argument="household")
    _check_blocks(block, time, (column, household))
    arguments.count(length, "length", "counts hexadecimal digits", at_least=SHORTEST, at_most=LONGEST)
    bits = seeds.read_secret(key, name="key", kept="change.secret['key']")
    named = {"household": household, "time": time}
    given = {role: [] if name is None else [name] for role, name in named.items()}
    frame, records = replace.open_records(data, {"column": [column], **given})
    olds = {column: _olds(frame[column])}
    if household is not None:
        homes = _olds(frame[household])
        olds = {household: homes, column: _both(homes, olds[column])}
    if block is not None and time is not None:
        waves = _blocks(frame[time], int(block), time)
        olds = {name: _both(old, waves) for name, old in olds.items()}
    made = {name: _named(*old, bits, int(length), name) for name, old in olds.items()}
    notes = {"type": "the new identifiers are text"}
    if any((codes < 0).any() for _, codes in made.values()):
        notes["missing"] = "a missing identifier stays missing"
    change = Change(
        "new_ids", records.n, {name: records.where(codes >= 0) for name, (_, codes) in made.items()},
        {"column": column, "household": household, "length": int(length)}
        | ({} if block is None else {"block": int(block), "time": time}),
        {"key": bits.hex()}, notes,
    )  # fmt: skip
    return Protected(replace.with_levels(frame, made), change)


def _check_blocks(block: int | None, time: str | None, others: Sequence[str | None]) -> None:
    arguments.column_or_none(time, "time")
    if block is not None:
        arguments.count(block, "block", "is how many waves have the same identifiers")
    if (block is None) != (time is None):
        lacking, given = ("block", "time") if block is None else ("time", "block")
        says = f"{given}= is given without {lacking}=: block is a number of waves, and time the column that says which"
        raise DataError(says, argument=lacking)
    if time is not None and time in others:
        raise ColumnError(f"time: {time!r} is an identifier, and says of no wave", argument="time")


Olds = tuple[list[bytes], Ints]  # the old identifiers as bytes, and the place of each record's; -1: missing


def _olds(series: Any) -> Olds:
    found = distinct_values(series)
    if {*map(type, found.values)} == {int}:  # as `canonical_bytes`, of a million in half the time
        return [b"n%d" % value for value in found.values], found.codes
    return [canonical_bytes(value) for value in found.values], found.codes


def _both(first: Olds, second: Olds) -> Olds:
    """The pairs of two identifiers that occur; missing where one of them is."""
    (one, of_one), (two, of_two) = first, second
    seen, codes = np.unique(np.where((of_one < 0) | (of_two < 0), -1, of_one * len(two) + of_two), return_inverse=True)
    pairs = [_joined(one[pair // len(two)], two[pair % len(two)]) for pair in seen.tolist() if pair >= 0]
    return pairs, codes - int(len(seen) > 0 and seen[0] < 0)


def _blocks(series: Any, block: int, time: str) -> Olds:
    """The first wave of the block of each record."""
    found = distinct_values(series)
    if (gone := found.codes < 0).any():
        raise DataError(
            f"time: {time!r} is missing in {counted(int(gone.sum()), 'record')} ({first_rows(gone)})", argument="time"
        )
    order = sorted(range(len(found.values)), key=found.values.__getitem__)
    first = in_place(np.arange(len(order)) // block * block, np.array(order, np.int64))
    return [canonical_bytes(found.values[place]) for place in order], first[found.codes]


def _named(olds: Sequence[bytes], codes: Ints, key: bytes, length: int, column: str) -> tuple[pa.Array, Ints]:
    """New identifiers in ascending order, which is unrelated to that of the old ones, and the one of each record."""
    if not olds:
        raise DataError(f"column {column!r} has no identifier: every value is missing")
    width = -(-length // 2)
    new = np.frombuffer(b"".join(seeds.hmac_digests(key, olds)), np.uint8).reshape(len(olds), -1)[:, :width].copy()
    if length % 2:
        new[:, -1] &= 0xF0
    words = np.zeros((len(new), -(-width // WORD) * WORD), np.uint8)
    words[:, :width] = new
    order = np.lexsort(words.view(">u8").astype(np.uint64).T[::-1])
    new = new[order]
    if met := int(np.count_nonzero((new[1:] == new[:-1]).all(axis=1))):
        raise DataError(
            f"column {column!r}: {met} of {len(new)} identifiers would become another one's; "
            "give more digits by length="
        )
    return _texts(new, length), places_among(order, len(order) + 1)[codes]  # the last one: missing


def _texts(digests: Bytes, length: int) -> pa.Array:
    """The first hexadecimal digits of each digest (n, bytes) as texts, without an object for each."""
    digits = np.frombuffer(digests.tobytes().hex().encode(), np.uint8).reshape(len(digests), -1)[:, :length]
    ends = np.arange(len(digits) + 1) * length
    kind, width = (pa.string(), np.int32) if ends[-1] < 2**31 else (pa.large_string(), np.int64)
    buffers = [None, pa.py_buffer(ends.astype(width)), pa.py_buffer(np.ascontiguousarray(digits))]
    return pa.Array.from_buffers(kind, len(digits), buffers)


def _joined(*parts: bytes) -> bytes:
    """Concatenate values, each preceded by its length, so that different values give different bytes."""
    return b"+" + b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def canonical_bytes(value: Any) -> bytes:
    """A value as bytes: equal values give equal bytes on every engine, values of different kinds never do.

    >>> [canonical_bytes(value) for value in (1, 1.0, Decimal("1.00"), "1", True)]
    [b'n1', b'n1', b'n1', b't1', b'b1']
    """
    if isinstance(value, bool):
        return b"b1" if value else b"b0"
    if isinstance(value, int):
        return b"n%d" % value
    if isinstance(value, (float, Decimal)):
        if math.isfinite(value) and value == int(value):
            return b"n%d" % int(value)
        same = float(value)
        return b"n" + (repr(same) if same == value else str(value.normalize())).encode()  # type: ignore[union-attr]
    if isinstance(value, str):
        return b"t" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"x" + value
    return b"d" + _moment(value).encode()


def _moment(value: Any) -> str:
    """ISO text of a date, time or duration, independent of the time unit of the column."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC)
        nanoseconds = f"{value.microsecond * 1000 + getattr(value, 'nanosecond', 0):09d}".rstrip("0")
        return f"{value.replace(microsecond=0):%Y-%m-%dT%H:%M:%S%z}.{nanoseconds}"
    if isinstance(value, dt.timedelta):
        whole = (value.days * 86400 + value.seconds) * SECOND
        return f"P{whole + value.microseconds * 1000 + getattr(value, 'nanoseconds', 0)}"
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
