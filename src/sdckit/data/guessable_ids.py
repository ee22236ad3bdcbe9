"""Numbers of people that were hidden by what anybody can repeat: hashes of counted numbers, base64, times."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import product

import numpy as np

from sdckit.numerics.array_types import Words

MOST = 50_000  # numbers that are counted through
TRIED = 50  # values that are looked at
GUESSED = 0.9  # of these, from which on all are
WIDTHS = (0, 5, 6, 8)  # digits with zeros before them
DIGESTS = ("md5", "sha1", "sha256", "sha512")
_HEX = re.compile(r"[0-9a-f]{8,128}")
_OF_TIME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[16][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")  # UUID 1 and 6
_NUMBER = re.compile(rb"[A-Za-z]{0,4}[-_ ]?\d{1,12}")
LOOKED_AT = 8  # bytes of a digest
LONG_ENOUGH = 6  # characters of base64


def is_guessable(values: Iterable[str]) -> bool:
    """Whether some texts are numbers that were hidden without a secret: anybody repeats it, and has the numbers.

    Tried are the usual digests, or their beginnings, of numbers that are counted through; base64; and numbers made of
    the time and the machine. Digests of names or of a longer number are not.

    >>> texts = [hashlib.sha256(f"{number:06}".encode()).hexdigest()[:12] for number in range(9, 400)]
    >>> is_guessable(texts), is_guessable([text[::-1] for text in texts])
    (True, False)
    """
    given = [*values][:TRIED]
    some = [text.strip().lower() for text in given]
    if not some:
        return False
    if all(map(_OF_TIME.fullmatch, some)) or all(map(_is_encoded, given)):
        return True
    if not all(map(_HEX.fullmatch, some)) or len({*map(len, some)}) > 1 or all(map(str.isdecimal, some)):
        return False
    ways = product(DIGESTS, WIDTHS)
    return not _are_codes({*some}) and any(_counted(some, digest, width) for digest, width in ways)


def _are_codes(texts: Collection[str]) -> bool:
    """Whether texts of one length have more in common than digests have by chance (at most 8 ** -length).

    >>> _are_codes(["e12000001", "e12000002", "e12000007"]), _are_codes(["0b9f7c41d", "0b31aa02f", "03d0be9c4"])
    (True, False)
    """
    same = [len({*of_place}) == 1 for of_place in zip(*texts, strict=True)]
    return sum(same) * (len(texts) - 1) >= len(same)


def _counted(some: Sequence[str], digest: str, width: int) -> bool:
    """Whether these are the digests of numbers up to `MOST`."""
    size = min(len(some[0]) // 2, LOOKED_AT)
    wanted = np.array([*{int(text[: 2 * size], 16) for text in some}], np.uint64)
    digests = _digests(digest, width) >> np.uint64(8 * (LOOKED_AT - size))
    first, last = (np.searchsorted(digests, wanted, side) for side in ("left", "right"))
    return bool(np.count_nonzero(first < last) >= GUESSED * len(wanted))


@cache
def _digests(digest: str, width: int) -> Words:
    """The first bytes of the digests of numbers up to `MOST`, in order: the same for every column and file."""
    hashed = getattr(hashlib, digest)
    counted = (hashed(b"%0*d" % (width, number), usedforsecurity=False).digest()[:LOOKED_AT] for number in range(MOST))
    return np.sort(np.frombuffer(b"".join(counted), ">u8").astype(np.uint64))


def _is_encoded(text: str) -> bool:
    """Whether a text is a number in base64."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) >= LONG_ENOUGH and _NUMBER.fullmatch(decoded) is not None
