"""Numbers of people behind hashes that anybody can repeat."""

from __future__ import annotations

import base64
import hashlib
import hmac
import uuid
from collections.abc import Callable

import pytest

from sdckit.data import guessable_ids
from sdckit.data.guessable_ids import is_guessable

GUESSABLE: dict[str, Callable[[int], str]] = {
    "md5": lambda number: hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest(),
    "the beginning of sha256, six digits": lambda number: hashlib.sha256(b"%06d" % number).hexdigest()[:11],
    "sha1 in capitals": lambda number: hashlib.sha1(b"%d" % number, usedforsecurity=False).hexdigest().upper(),
    "base64": lambda number: base64.b64encode(b"%d" % (100_000 + number)).decode(),
    "the time": lambda number: str(uuid.uuid1(number, number % 16_384)),
}
KEPT: dict[str, Callable[[int], str]] = {
    "a digest with a key": lambda number: hmac.new(b"a key", b"%d" % number, "sha256").hexdigest(),
    "drawn": lambda number: str(uuid.UUID(int=hash((number, "x")) & (1 << 128) - 1, version=4)),
    "numbers": lambda number: f"{number:010}",
    "names": lambda number: f"firm {number}",
    "words": lambda number: ["Graz", "Wien", "Linz"][number % 3],
}


@pytest.mark.parametrize("how", GUESSABLE)
def test_a_number_that_anybody_can_repeat_is_guessable(how: str) -> None:
    assert is_guessable([GUESSABLE[how](number) for number in range(17, 900, 7)])


@pytest.mark.parametrize("how", KEPT)
def test_numbers_that_nobody_can_repeat_or_that_are_none_are_not(how: str) -> None:
    assert not is_guessable([KEPT[how](number) for number in range(17, 900, 7)])
    assert not is_guessable([])


def test_numbers_are_counted_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, guessable = (
        [make(number) for number in range(60)] for make in (KEPT["a digest with a key"], GUESSABLE["md5"])
    )
    assert not is_guessable(kept)
    monkeypatch.setattr(guessable_ids, "hashlib", None)
    assert not is_guessable(text[:16] for text in kept)
    assert is_guessable(guessable)


def test_codes_of_areas_are_not_looked_up_among_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessable_ids, "_counted", None)
    assert not is_guessable([f"E1200000{number}" for number in (3, 1, 3, 4)])
