"""What any public function refuses or warns of reaches a page without a small count: by files that differ only in it.

In two files 3 or 4 records have something: no value, one that nobody else has, a household. Every function is called
with both; what it refuses or warns of goes through the door of the app's tasks, and must be said of both alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit
from laws.test_arguments import CALLS, MEASURES
from sdckit.data.methods import METHODS
from sdckit.report.wording import wording
from sdckit.workflow.sessions import risk
from sdckit.workflow.sessions.answering import Desk, answer

TWINS = 3, 4  # records that have it, in either file
FRAMES = ("data", "original", "released", "control", "population", "earlier")
# What may be the matter with some values of a column, as an expression of the column.
NUMBERS = {
    "no number": lambda one: pl.lit(float("nan")),
    "infinite": lambda one: pl.lit(float("inf")),
    "negative": lambda one: -one - 1,
    "zero": lambda one: pl.lit(0),
}
VALUES = {
    "missing": lambda one: pl.lit(None),
    "code of its own": lambda one: pl.lit("pilot"),
    "blank": lambda one: pl.lit(" "),
    "of one kind": lambda one: one.first(),
}
LISTED = re.compile(r"\w+")


def spoilt(frame: pl.DataFrame, columns: set[str], n: int) -> Iterator[tuple[str, pl.DataFrame]]:
    """The frame with `n` of its records changed, in each way and column; and with `n` records, and as many more."""
    yield "few records", frame.head(n)
    yield "records twice", pl.concat([frame, frame.slice(n, n)])
    at = pl.int_range(pl.len()).is_between(5, 4 + n)
    for name in frame.columns:
        if name not in columns:
            continue
        one, number = pl.col(name), frame.schema[name].is_numeric()
        for what, make in {**VALUES, **(NUMBERS if number else {})}.items():
            words = what in ("code of its own", "blank")
            yield (
                f"{name} {what}",
                frame.with_columns(
                    pl.when(at).then(make(one)).otherwise(one.cast(pl.String) if words else one).alias(name)
                ),
            )
        yield f"{name} of few", frame.with_columns(pl.when(at).then(one).alias(name))


def calls(function: str, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of a function that it may refuse, by what is wrong; `n` records have it."""
    right = CALLS[function]
    named = set(LISTED.findall(repr([value for value in right.values() if not isinstance(value, pl.DataFrame)])))
    for place in FRAMES:
        frame = right.get(place)
        if isinstance(frame, pl.DataFrame):
            columns = named & set(frame.columns) or set(frame.columns)
            yield from ((f"{place}: {what}", {**right, place: bad}) for what, bad in spoilt(frame, columns, n))


def at_the_page(monkeypatch: pytest.MonkeyPatch, function: str, given: Mapping[str, Any]) -> list[str]:
    """What a page is sent of a call: its refusal, or its warnings. Somebody has typed 3 and 4 before."""

    def task(*_: object, **__: object) -> dict[str, Any]:
        getattr(sdckit, function)(**given)
        return {}

    monkeypatch.setattr(risk, "risk", task)
    sent: list[dict[str, Any]] = []
    request = {"file": {}, "task": "risk.risk", "arguments": {"scenario": {"thresholds": {"k": 3, "p": 4}}}}
    answer(Desk(Path()), request, sent.append)
    last = sent[-1]
    return [last["error"]] if "error" in last else list(last["result"]["notes"])


def differing(ours: list[str], theirs: list[str]) -> list[str]:
    """What is said of one file and not of the other, but for numbers to the nearest 5 and those below."""
    to_five = [{re.sub(r"<5\b|\b\d*[05]\b", "0", text) for text in said} for said in (ours, theirs)]
    return sorted(to_five[0] ^ to_five[1])


def without_german(texts: list[str]) -> list[str]:
    """Of what is said of a step, the sentences that a German page would show in English."""
    lacking: list[str] = []
    for text in texts:
        wording("de").translate(f"step 2 (round_to): {text}", report=lacking.append)
    return lacking


def of_one_kind(texts: list[str]) -> list[str]:
    """Of texts, those that differ from another in numbers only."""
    kinds = [re.sub(r"<?\d+", "#", text) for text in texts]
    return [text for text, kind in zip(texts, kinds, strict=True) if kinds.count(kind) > 1]


@pytest.mark.parametrize("function", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_no_refusal_tells_a_small_count(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for (what, ours), (_, theirs) in zip(*(calls(function, n) for n in TWINS), strict=True):
        said = at_the_page(monkeypatch, function, ours)
        if function in METHODS:
            assert not without_german(said), what
        if said:
            assert not of_one_kind(differing(said, at_the_page(monkeypatch, function, theirs))), what
