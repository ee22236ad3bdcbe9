"""E1: new identifiers that only the holder of a key can link to the old ones."""

from __future__ import annotations

import datetime as dt
import hmac
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.data.columns import distinct_values
from sdckit.data.replace import open_records, with_levels
from sdckit.data.seeds import read_secret
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import Change, Protected

SHORTEST, LONGEST = 8, 64  # hexadecimal digits of an identifier
SECOND = 10**9


def new_ids(
    data: Any, *, column: str, key: bytes | str | None = None, household: str | None = None, length: int = 16
) -> Protected:
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
        A key that is too short or no key, a length out of range, no identifiers, or two that would become
        one (more digits help).

    Notes
    -----
    The new identifier is the start of HMAC-SHA256 of the old value under the key, so it depends neither on
    the order of the records nor on who else is in the file. 1 and 1.0 are one identifier, the text "1" is
    another. Whoever has the key can try out all old identifiers: keep it with the original, or throw it away.

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
    """
    arguments.column(column, "column")
    arguments.column_or_none(household, "household")
    if column == household:
        says = f"household: {household!r} is the person too; give two columns, or one column alone"
        raise ColumnError(says, argument="household")
    arguments.count(length, "length", "counts hexadecimal digits", at_least=SHORTEST, at_most=LONGEST)
    bits = read_secret(key, name="key", kept="change.secret['key']")
    frame, records = open_records(data, {"column": [column], "household": [] if household is None else [household]})
    persons = distinct_values(frame[column])
    made = {}
    if household is None:
        olds = [canonical_bytes(value) for value in persons.values]
        made[column] = _named(olds, persons.codes, bits, int(length), column)
    else:
        homes = distinct_values(frame[household])
        olds = [canonical_bytes(value) for value in homes.values]
        made[household] = _named(olds, homes.codes, bits, int(length), household)
        pairs = np.where((homes.codes < 0) | (persons.codes < 0), -1, homes.codes * len(persons.values) + persons.codes)
        seen, codes = np.unique(pairs, return_inverse=True)
        own = [canonical_bytes(value) for value in persons.values]
        both = [_joined(olds[pair // len(own)], own[pair % len(own)]) for pair in seen.tolist() if pair >= 0]
        made[column] = _named(both, codes - int(seen[0] < 0), bits, int(length), column)
    notes = {"type": "the new identifiers are text"}
    if any((codes < 0).any() for _, codes in made.values()):
        notes["missing"] = "a missing identifier stays missing"
    change = Change(
        "new_ids", records.n, {name: records.where(codes >= 0) for name, (_, codes) in made.items()},
        {"column": column, "household": household, "length": int(length)}, {"key": bits.hex()}, notes,
    )  # fmt: skip
    return Protected(with_levels(frame, made), change)


def _named(
    olds: Sequence[bytes], codes: NDArray[np.int64], key: bytes, length: int, column: str
) -> tuple[list[str], NDArray[np.int64]]:
    """New identifiers in ascending order, which is unrelated to that of the old ones, and the one of each record."""
    if not olds:
        raise DataError(f"column {column!r} has no identifier: every value is missing")
    new = [hmac.digest(key, old, "sha256").hex()[:length] for old in olds]
    levels = sorted(set(new))
    if len(levels) < len(new):
        raise DataError(
            f"column {column!r}: {len(new) - len(levels)} of {len(new)} identifiers would become another one's; "
            "give more digits by length="
        )
    rank = {new_id: place for place, new_id in enumerate(levels)}
    place = np.array([*(rank[new_id] for new_id in new), -1], np.int64)  # the last one: missing
    return levels, place[codes]


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
