"""Keyed digests: HMAC to the letter, and nothing of them without the key."""

from __future__ import annotations

import hmac

import numpy as np

from sdckit.data.ledger.canonical import Levels
from sdckit.data.ledger.digests import WIDTH, Digester, places, starts

COLUMN = Levels("sex", np.array([1, 2, 1, 0], np.int32), ("f", "m"))


def test_digests_are_the_hmac_of_the_standard_library() -> None:
    digester = Digester(b"k" * 32)
    key = hmac.digest(b"k" * 32, b"sdckit ledger: digests", "sha256")
    missing, female, _ = digester.levels(COLUMN)
    assert bytes(female) == hmac.digest(key, b"value\x003\x00sex" + b"=f", "sha256")[:WIDTH]
    (pair,) = digester.combinations([(digester.levels(COLUMN), np.array([1], np.int32))] * 2, 1)
    assert bytes(pair) == hmac.digest(key, b"combination\x000\x00" + bytes(female) * 2, "sha256")[:WIDTH]
    (joined,) = digester.joined(female[None], missing[None])
    assert (
        bytes(joined) == hmac.digest(key, b"with\x000\x00" + bytes(female) + bytes(missing), "sha256")[:WIDTH]
    )


def test_a_missing_value_is_none_that_can_be_written() -> None:
    digester = Digester(b"k" * 32)
    words = Levels("sex", np.zeros(0, np.int32), ("missing", ""))
    missing, *others = map(bytes, digester.levels(words))
    assert missing not in others


def test_the_same_value_of_another_column_or_under_another_key_is_another() -> None:
    other = Levels("age", COLUMN.codes, COLUMN.texts)
    found = {
        bytes(one)
        for name in (COLUMN, other)
        for key in (b"k", b"l")
        for one in Digester(key * 32).levels(name)
    }
    assert len(found) == 12


def test_keys_of_purposes_differ_and_the_stream_depends_on_the_nonce() -> None:
    digester = Digester(b"k" * 32)
    assert len({digester.purpose(one) for one in (b"digests", b"seal", b"stream", b"check")}) == 4
    assert bytes(digester.stream(b"1", 40)) != bytes(digester.stream(b"2", 40))
    assert bytes(digester.stream(b"1", 40)) == bytes(digester.stream(b"1", 80)[:40])
    assert digester.check("a") != digester.check("b")
    assert digester.check("a") != Digester(b"l" * 32).check("a")


def test_places_compare_every_byte() -> None:
    rng = np.random.default_rng(1)
    among = rng.integers(0, 256, (50, WIDTH), dtype=np.uint8)
    among = among[np.argsort(starts(among))]
    wanted = among[[7, 3]].copy()
    wanted[1, -1] ^= 1
    assert places(among, wanted).tolist() == [7, -1]
    assert places(among[:0], wanted).tolist() == [-1, -1]
    assert places(among, wanted[:0]).tolist() == []
