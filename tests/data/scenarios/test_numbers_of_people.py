"""Numbers of people and households that tell more than who belongs together: hashes that anybody can repeat."""

from __future__ import annotations

import base64
import hashlib
import hmac
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.frames import open_frame
from sdckit.data.scenarios import numbers_of_people
from sdckit.data.scenarios.column_roles import look_at_columns
from sdckit.data.scenarios.numbers_of_people import is_guessable
from sdckit.data.scenarios.telling_columns import SAYS

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
    monkeypatch.setattr(numbers_of_people, "hashlib", None)
    assert not is_guessable(text[:16] for text in kept)
    assert is_guessable(guessable)


def test_codes_of_areas_are_not_looked_up_among_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers_of_people, "_counted", None)
    assert not is_guessable([f"E1200000{number}" for number in (3, 1, 3, 4)])


# Hidden numbers beside the original that they were made of.

N = 1_600
PEOPLE = pl.DataFrame({"sex": np.random.default_rng(5).choice(["f", "m"], N)})
MIXED = np.random.default_rng(6).permutation(N)
LONG = [4_000_000_000 + 7_919 * own for own in np.random.default_rng(3).permutation(N).tolist()]  # too many to count
BORN = [f"{1930 + own % 70}-{own % 12 + 1:02}-{own % 28 + 1:02}" for own in range(N)]


def not_judged(before: pl.DataFrame, after: pl.DataFrame, **entries: Any) -> dict[str, tuple[str, ...]]:
    """What leaves the roles open of a release beside its original, by words."""
    said = {"keys": ["sex"], "insensitive": ["*"], "insensitive_because": "looked through", **entries}
    frames = [open_frame(file) for file in (before, after)]
    return dict(look_at_columns(sdc.Scenario(**said), frames[1:], original=frames[0]).not_judged)


@pytest.mark.parametrize(
    ("digest", "shown", "joined"), [("md5", 32, False), ("sha1", 12, False), ("sha256", 64, True), ("sha512", 16, True)]
)
def test_a_hash_of_what_the_original_holds_leaves_the_roles_open(digest: str, shown: int, joined: bool) -> None:
    """Numbers of ten digits went out as digests without a key, which a computer goes through in minutes."""
    before = PEOPLE.with_columns(number=pl.Series(LONG), born=pl.Series(BORN))
    texts = [f"{number}|{born}" if joined else f"{number}" for number, born in zip(LONG, BORN, strict=True)]
    hidden = [hashlib.new(digest, text.encode()).hexdigest()[:shown].upper() for text in texts]
    keyed = [hmac.digest(b"key", text.encode(), "md5").hex()[:shown] for text in texts]
    for own, told in ((hidden, True), (keyed, False)):
        for role in ({"insensitive": ["uid", "*"]}, {"person": "uid"}, {"household": "uid"}):
            after = PEOPLE.with_columns(uid=pl.Series(own))[MIXED]
            assert (not_judged(before, after, **role).get(SAYS["guessable"]) == ("uid",)) is told
    random = pl.Series(keyed if shown == 32 else [text * 3 for text in keyed])  # of which nobody can try all
    again = pl.Series([hashlib.md5(text.encode()).hexdigest() for text in random])
    assert SAYS["guessable"] not in not_judged(before.with_columns(number=random), PEOPLE.with_columns(uid=again))


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
@pytest.mark.parametrize("role", ["person", "household"])
def test_numbers_of_the_original_beside_made_up_records_are_not_judged(made: Any, role: str) -> None:
    """They went out as they were, and every column had a role: made-up records were taken for those of the people."""
    number = np.random.default_rng(3).permutation(9_000)[:400]
    before = pl.DataFrame({"sex": ["f", "m"] * 200, "no": number + 10_000})
    scenario = sdc.Scenario(keys=["sex"], release="synthetic", **{role: "no"})  # type: ignore[arg-type]

    def said(no: pl.Expr, original: pl.DataFrame = before) -> Any:
        files = [open_frame(made(file)) for file in (original, original.with_columns(no=no))]
        return look_at_columns(scenario, files[1:], original=files[0])

    looked = said(pl.col("no").reverse())
    assert (dict(looked.not_judged), looked.holds) == ({SAYS["of_others"]: ("no",)}, None)
    assert said(pl.int_range(400)).holds is True
    counted = before.with_columns(no=pl.int_range(400))
    assert said(pl.col("no").reverse(), counted).holds is True  # new ones are counted through as well
