"""What any public function refuses or warns of reaches a page without a small count: by files that differ only in it.

In two files 3 or 4 records have something: no value, one that nobody else has, a household. Every function is called
with both; what it refuses or warns of goes through the door of the app's tasks, and must be said of both alike.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit
from laws.test_arguments import BESIDE, CALLS, MEASURES, WRONG, N, kind_of
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


# Arguments that are wrong, or more than such a file allows.

BEYOND: dict[str, tuple[Any, ...]] = {"whole": (N + 1,), "wholes": ([N + 1],), "column": ("pay",)}


def lacking(function: str, n: int) -> dict[str, Any]:
    """A call of a function where `n` records of every file lack all that it names."""
    given = dict(CALLS[function])
    named = set(LISTED.findall(repr([value for value in given.values() if not isinstance(value, pl.DataFrame)])))
    for place, frame in given.items():
        if isinstance(frame, pl.DataFrame):
            at = pl.int_range(pl.len()).is_between(5, 4 + n)
            gone = [
                pl.when(at).then(None).otherwise(pl.col(name)).alias(name) for name in frame.columns if name in named
            ]
            given[place] = frame.with_columns(gone)
    return given


def wrong(function: str, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of a function with each of its arguments wrong, on files in which `n` records have no value."""
    right = lacking(function, n)
    for argument in inspect.signature(getattr(sdckit, function)).parameters:
        kind = kind_of(function, argument)
        for value in (*WRONG[kind], *BEYOND.get(kind, ())) if kind is not None else ():
            yield f"{argument}={value!r}", {**right, **BESIDE.get((function, argument), {}), argument: value}


@pytest.mark.parametrize("function", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_no_refusal_of_a_wrong_argument_tells_a_small_count(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for (what, ours), (_, theirs) in zip(*(wrong(function, n) for n in TWINS), strict=True):
        if said := at_the_page(monkeypatch, function, ours):
            assert not of_one_kind(differing(said, at_the_page(monkeypatch, function, theirs))), what


# Files that a function reads by itself: some of their lines are not like the others.

LINES = {
    "too long": lambda line: line + b";x;y",
    "too short": lambda line: line.split(b";")[0],
    "in no encoding": lambda line: line + b"\xff\x00",
    "a quote that stays open": lambda line: b';"' + line,
    "blank": lambda line: b"",
    "twice": lambda line: b"5;a;c",
    "no number": lambda line: line.replace(b";", b"x;", 1),
}
READERS: dict[str, tuple[dict[str, Any], ...]] = {
    "read_file": ({}, {"columns": ["age", "area"]}, {"missing": ["5"]}, {"delimiter": ";"}),
    "scan_file": ({}, {"engine": "duckdb", "delimiter": ";"}),
    "read_hierarchy": ({}, {"header": True}),
    "read_labels": ({},),
    "recode": ({"data": pl.DataFrame({"age": [*range(26)]}), "column": "age", "level": 1},),
}


def odd_file(folder: Path, what: str, n: int) -> Path:
    """A file in which `n` lines are odd."""
    lines = [b"age;area;part", *(b"%d;%s;b" % (at, b"abc"[at % 3 : at % 3 + 1]) for at in range(20))]
    lines[6 : 6 + n] = [LINES[what](line) for line in lines[6 : 6 + n]]
    path = folder / "odd.csv"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


@pytest.mark.parametrize("what", LINES)
@pytest.mark.parametrize("function", READERS)
@pytest.mark.filterwarnings("ignore")
def test_no_refusal_of_a_file_tells_a_small_count(
    function: str, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = "hierarchy" if function == "recode" else "path"
    for more in READERS[function]:
        told = [at_the_page(monkeypatch, function, {place: odd_file(tmp_path, what, n), **more}) for n in TWINS]
        assert not of_one_kind(differing(*told)), told
