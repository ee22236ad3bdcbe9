"""Keyed digests (HMAC) of values and combinations: comparable for equality, unreadable without the key."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import MIDNIGHT, Coded
from sdckit.data.seeds import hmac_digests
from sdckit.numerics.array_types import Bools, Bytes, Codes, Ints, Values, Words
from sdckit.numerics.grouping import places_among

# Canonical text of values, independent of file format and storage type.


SPARSE = 8  # code ranges wider than this times the number of records are sorted, narrower ones use a lookup table


@dataclass(frozen=True, eq=False)
class Levels:
    """One column: codes (n,), 0 where a value is missing, and the text of each level from code 1 on."""

    name: str
    codes: Codes
    texts: tuple[str, ...]

    def counts(self) -> Ints:
        """Records with each code, from 0 on."""
        return np.bincount(self.codes, minlength=len(self.texts) + 1)


def canonical(coded: Coded) -> Levels:
    """Code a column by canonical texts that do not depend on the storage type: 1, 1.0 and "1" are one value.

    >>> import narwhals.stable.v2 as nw, polars as pl
    >>> from sdckit.data.columns import code_column
    >>> column = lambda values: code_column(nw.from_native(pl.Series("a", values), series_only=True))
    >>> canonical(column([2, 1, None])).texts, canonical(column([2.0, 1.5, None])).codes.tolist()
    (('1', '2'), [2, 1, 0])
    """
    codes = coded.codes()
    if coded.span > SPARSE * len(codes):
        used, numbered = np.unique(codes, return_inverse=True)
    else:
        present = np.zeros(coded.span + 1, np.bool_)
        present[codes] = True
        used, numbered = np.flatnonzero(present), (np.cumsum(present) - 1)[codes]
    used = used[used < coded.span]
    printed = [_plain_text(coded.kind, text) for text in coded.labels(used)]
    # distinct stored values may have equal texts: decimals of different scales, say
    texts = tuple(dict.fromkeys(printed))
    number = {text: code for code, text in enumerate(texts, 1)}
    joint = np.array([*(number[text] for text in printed), 0], np.int32)
    return Levels(coded.name, joint[numbered], texts)


def _plain_text(kind: str, text: str) -> str:
    if kind == "number":
        value = float(text)
        return str(int(value)) if value.is_integer() else repr(value)
    return text.removesuffix(MIDNIGHT) if kind == "date" else text


WIDTH = 16  # bytes of a digest
AT_ONCE = 1 << 16  # combinations per batch


class Digester:
    """HMAC-SHA256 of values and combinations, truncated to 16 bytes; keys for other purposes are derived.

    The digest of a value covers its column and text; that of a combination covers the digests of its values. So each
    combination is hashed once, however many records have it, and its parts have a fixed length.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997). HMAC: keyed-hashing for message authentication. RFC 2104.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._of_digests = self.purpose(b"digests")

    def purpose(self, name: bytes) -> bytes:
        """Derive the key of one purpose; no other key can be derived from it."""
        return hmac.digest(self._key, b"sdckit ledger: " + name, "sha256")

    def check(self, text: str) -> str:
        """A digest that verifies the key for a text, without revealing it."""
        return hmac.digest(self.purpose(b"check"), text.encode(), "sha256")[:WIDTH].hex()

    def levels(self, column: Levels) -> Bytes:
        """Digests of the levels of a column (n_levels + 1, 16), the missing value first."""
        messages = [b"missing", *(b"=" + text.encode("utf-8", "surrogatepass") for text in column.texts)]
        return self._digests(self._about(b"value", column.name.encode()), messages)

    def linking(self, column: Levels) -> Bytes:
        """Digests of the levels of a column (n_levels + 1, 16) under any name: an id may be renamed."""
        return self.levels(replace(column, name=""))

    def combinations(self, parts: Sequence[tuple[Bytes, Codes]], n: int) -> Bytes:
        """Digests (n, 16) of n combinations; `parts`: for each column the digests of its levels, and the codes (n,)."""
        about, blocks = self._about(b"combination", b""), []
        for first in range(0, n, AT_ONCE):
            rows = np.concatenate([digests[codes[first : first + AT_ONCE]] for digests, codes in parts], axis=1)
            blocks.append(self._digests(about, _split(rows)))
        return np.concatenate(blocks) if blocks else np.zeros((0, WIDTH), np.uint8)

    def stream(self, nonce: bytes, n: int) -> Bytes:
        """A keystream of n bytes for a nonce: pseudorandom without the key."""
        return np.frombuffer(hashlib.shake_256(self.purpose(b"stream") + nonce).digest(n), np.uint8)

    def _about(self, what: bytes, name: bytes) -> bytes:
        """Prefix of the messages of one kind (domain separation)."""
        return b"%s\0%d\0%s" % (what, len(name), name)

    def _digests(self, about: bytes, messages: Iterable[bytes]) -> Bytes:
        digests = [digest[:WIDTH] for digest in hmac_digests(self._of_digests, messages, about)]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, WIDTH)


def _split(rows: Bytes) -> Iterator[bytes]:
    packed, width = rows.tobytes(), rows.shape[1]
    return (packed[at : at + width] for at in range(0, len(packed), width))


def places(among: Bytes, wanted: Bytes) -> Ints:
    """Indices of the wanted digests among others, which are sorted by their `starts`; -1 if absent.

    >>> among = np.repeat(np.arange(3, dtype=np.uint8), 16).reshape(3, 16)
    >>> places(among, among[[2, 0]] + np.array([[0], [9]], np.uint8)).tolist()
    [2, -1]
    """
    if not len(among) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    first, other = starts(among), starts(wanted)
    at = np.minimum(np.searchsorted(first, other), len(first) - 1)
    same: Bools = (among[at] == wanted).all(axis=1)
    return np.where(same, at, -1)


def starts(digests: Bytes) -> Words:
    """The first eight bytes as a sorting key (uint64); collisions are negligible at millions of digests."""
    return np.ascontiguousarray(digests[:, :8]).view(">u8").astype(np.uint64).reshape(-1)


# Sketch of a release: for each set of columns the digests of its combinations, with their counts.


# Kinds of part. "counts": combinations of columns. "cells": the levels of each combination of all columns. "people":
# an id that is kept here only, and the combination it has; "ids": one that went out; "links": any other column that
# went out and tells people apart. "homes": the combinations of the members of each household, none where no column that
# goes out says who lives together. "keys" and "sensitive" are empty, and say what was what.
Kind = Literal["counts", "cells", "people", "ids", "links", "homes", "keys", "sensitive"]
LINKING: tuple[Kind, ...] = ("people", "ids", "links")  # the kinds that tell who is who
Place = tuple[str, ...]  # the kind, then the columns


@dataclass(frozen=True, eq=False)
class Part:
    """Digests (K, 16) sorted by their `starts`, with a number each (K,).

    For "counts" the records; for "people", "ids" and "links" the index of the combination in its "counts". "cells" are
    in the order of their "counts", and hold codes in place of both (see `coded_parts`), as "homes" do.
    """

    digests: Bytes
    numbers: NDArray[np.uint32]

    def of(self, wanted: Bytes) -> Ints:
        """The number of each wanted digest; 0 if absent."""
        at = places(self.digests, wanted)
        return np.where(at >= 0, self.numbers[at], 0).astype(np.int64) if len(self.numbers) else at * 0

    @cached_property
    def total(self) -> int:
        """Sum of all numbers."""
        return int(self.numbers.sum(dtype=np.int64))


def sorted_part(digests: Bytes, numbers: Values) -> tuple[Part, Ints]:
    """Sort digests into a part; also returns the index of each given digest in it."""
    order = np.argsort(starts(digests), kind="stable")
    part = Part(digests[order], np.asarray(numbers)[order].astype(np.uint32))
    return part, places_among(order, len(order))


@dataclass(frozen=True, eq=False)
class Sketch:
    """Parts of one release by kind and columns."""

    parts: Mapping[Place, Part]

    def get(self, kind: Kind, columns: Sequence[str]) -> Part | None:
        """A part, or None."""
        return self.parts.get((kind, *columns))

    def named(self, kind: Kind) -> list[tuple[str, ...]]:
        """The columns of every part of a kind."""
        return [place[1:] for place in self.parts if place[0] == kind]


AT_A_TIME = 5  # codes in a row of "cells": four in place of the digest, one in place of the number


def coded_parts(columns: Sequence[str], codes: Sequence[Values]) -> dict[Place, Part]:
    """Parts with the codes (K,) of combinations in each column, five columns a part.

    >>> found = Sketch(coded_parts(["a", "b"], [np.array([4, 5]), np.array([6, 7])]))
    >>> [column.tolist() for column in codes_of(found, ["a", "b"])]
    [[4, 5], [6, 7]]
    """
    parts: dict[Place, Part] = {}
    for first in range(0, len(columns), AT_A_TIME):
        rows = np.zeros((len(codes[0]), AT_A_TIME), "<u4")
        for at, column in enumerate(codes[first : first + AT_A_TIME]):
            rows[:, at] = column
        parts["cells", str(first), *columns] = _packed(rows)
    return parts


def _packed(rows: Values) -> Part:
    return Part(np.ascontiguousarray(rows[:, :-1]).view(np.uint8), rows[:, -1].astype(np.uint32))


def _unpacked(part: Part) -> Ints:
    """The numbers (K, 5) that the rows of a part hold."""
    return np.column_stack([np.ascontiguousarray(part.digests).view("<u4"), part.numbers]).astype(np.int64)


def codes_of(sketch: Sketch, columns: Sequence[str]) -> list[Ints] | None:
    """The codes (K,) of combinations in each column; None if the sketch has none (an earlier version made it)."""
    codes: list[Ints] = []
    for first in range(0, len(columns), AT_A_TIME):
        part = sketch.get("cells", (str(first), *columns))
        if part is None:
            return None
        codes += [*_unpacked(part).T]
    return codes[: len(columns)]


def homes_part(member: Values, home: Values) -> Part:
    """A part with the combination of each member (n,), household by household; `home` (n,) numbers these from 0.

    Combinations are numbered from 1, and a 0 follows each household. These stand in the order of their combinations.

    >>> [numbers.tolist() for numbers in members_of(homes_part(np.array([4, 0, 2]), np.array([1, 0, 1])))]
    [[0, 2, 4], [0, 1, 1]]
    """
    least = np.full(int(home.max(initial=-1)) + 1, len(member), np.int64)
    np.minimum.at(least, home, member)
    order = np.lexsort((member, home, least[home]))
    ends = np.flatnonzero(np.diff(home[order], append=-1))
    words = np.insert(member[order] + 1, ends + 1, 0)
    return _packed(np.pad(words, (0, -len(words) % AT_A_TIME)).reshape(-1, AT_A_TIME).astype("<u4"))


def members_of(part: Part) -> tuple[Ints, Ints]:
    """The combination of each member, and the number of the household."""
    words = _unpacked(part).reshape(-1)
    return words[words > 0] - 1, np.cumsum(words == 0)[words > 0]
