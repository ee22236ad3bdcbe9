"""Keyed digests of values and of their combinations: equal ones meet again, nobody without the key reads them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.data.ledger.canonical import Levels
from sdckit.numerics.array_types import Bytes

WIDTH = 16  # bytes of a digest
AT_ONCE = 1 << 16
BLOCK = 64  # bytes that SHA-256 reads at once


class Digester:
    """HMAC-SHA256 of values and combinations, cut to 16 bytes; keys for other purposes follow from the same key.

    Each value gets a digest of its column and its text, a combination one of the digests of its values. So a
    combination of a million records is read once, and its parts have the same length whatever they are.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997). HMAC: keyed-hashing for message authentication. RFC 2104.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        # HMAC with its two starts made once: `hmac` makes a Python object for each of millions of short messages.
        block = self.purpose(b"digests").ljust(BLOCK, b"\0")
        self._inner = hashlib.sha256(bytes(one ^ 0x36 for one in block))
        self._outer = hashlib.sha256(bytes(one ^ 0x5C for one in block))

    def purpose(self, name: bytes) -> bytes:
        """A key for one purpose, from which no other follows."""
        return hmac.digest(self._key, b"sdckit ledger: " + name, "sha256")

    def check(self, text: str) -> str:
        """What says that a key belongs to a text, without telling the key."""
        return hmac.digest(self.purpose(b"check"), text.encode(), "sha256")[:WIDTH].hex()

    def levels(self, column: Levels) -> Bytes:
        """A digest of each level of a column, the missing value first."""
        told = [b"missing", *(b"=" + text.encode("utf-8", "surrogatepass") for text in column.texts)]
        return self._digests(self._about(b"value", column.name.encode()), told)

    def combinations(self, parts: Sequence[tuple[Bytes, NDArray[np.int32]]], n: int) -> Bytes:
        """A digest of each of n combinations: of each column its digests, and the level of each combination."""
        about, found = self._about(b"combination", b""), []
        for first in range(0, n, AT_ONCE):
            rows = np.concatenate(
                [digests[codes[first : first + AT_ONCE]] for digests, codes in parts], axis=1
            )
            found.append(self._digests(about, _split(rows)))
        return np.concatenate(found) if found else np.zeros((0, WIDTH), np.uint8)

    def joined(self, base: Bytes, further: Bytes) -> Bytes:
        """A digest of each combination with one value more."""
        return self._digests(self._about(b"with", b""), _split(np.concatenate([base, further], axis=1)))

    def stream(self, nonce: bytes, n: int) -> Bytes:
        """Bytes that nobody can tell from random ones without the key."""
        return np.frombuffer(hashlib.shake_256(self.purpose(b"stream") + nonce).digest(n), np.uint8)

    def _about(self, what: bytes, name: bytes) -> bytes:
        """What messages of one kind begin with, so that no two kinds have one in common."""
        return b"%s\0%d\0%s" % (what, len(name), name)

    def _digests(self, about: bytes, messages: Iterable[bytes]) -> Bytes:
        start = self._inner.copy()
        start.update(about)
        inner, outer = start.copy, self._outer.copy
        found = []
        for message in messages:
            first, last = inner(), outer()
            first.update(message)
            last.update(first.digest())
            found.append(last.digest()[:WIDTH])
        return np.frombuffer(b"".join(found), np.uint8).reshape(-1, WIDTH)


def _split(rows: Bytes) -> Iterator[bytes]:
    packed, width = rows.tobytes(), rows.shape[1]
    return (packed[at : at + width] for at in range(0, len(packed), width))


def places(among: Bytes, wanted: Bytes) -> NDArray[np.int64]:
    """Where each wanted digest stands among others, which are in the order of their `starts`; -1 where it does not.

    >>> among = np.repeat(np.arange(3, dtype=np.uint8), 16).reshape(3, 16)
    >>> places(among, among[[2, 0]] + np.array([[0], [9]], np.uint8)).tolist()
    [2, -1]
    """
    if not len(among) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    first, other = starts(among), starts(wanted)
    at = np.minimum(np.searchsorted(first, other), len(first) - 1)
    same: NDArray[np.bool_] = (among[at] == wanted).all(axis=1)
    return np.where(same, at, -1)


def starts(digests: Bytes) -> NDArray[np.uint64]:
    """The first eight bytes as a number: two of a million digests that share them would be a wonder."""
    return np.ascontiguousarray(digests[:, :8]).view(">u8").astype(np.uint64).reshape(-1)
