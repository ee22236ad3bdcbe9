"""A whole session on two files that differ in how many records have something rare says the same of both.

In one file 3 records have a job of their own, a code for missing, no answer, an income beyond all others, a twin, in
the other 4. Every task that a page starts is asked of both; what is sent of one small number and of the other in the
same words would give it away. With exact figures the same tasks do, which shows that the comparison sees it.
"""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sdckit.workflow.sessions.answering import Desk, answer
from sdckit.workflow.sessions.risk import further_questions

N, TWINS, SECRET = 300, (3, 4), "00" * 32
READING = {"missing": ["-9"]}
SCENARIO: dict[str, Any] = {
    "intruders": {"neighbour": ["age", "job", "sex"], "colleague": ["job", "sex"]}, "sensitive": ["ill"],
    "identifiers": ["name"], "numeric": ["income"], "weight": "w", "household": "home", "missing_codes": ["-9"],
    "thresholds": {"k": 2, "risk": 0.9},
}  # fmt: skip
AGES = {"method": "recode", "arguments": {"column": "age", "bands": [0, 40, None]}}
SUPPRESS = {"method": "local_suppression", "arguments": {"k": 2, "intruder": "neighbour"}}
STEPS = [AGES, SUPPRESS, {"method": "random_order", "arguments": {}}]
RECIPE = {"scenario": SCENARIO, "steps": STEPS, "secret": SECRET}


def planted(n: int) -> pl.DataFrame:
    """People of whom `n` have something that nobody else has; all else is as in the twin."""
    rng = np.random.default_rng(4)
    data = pl.DataFrame({
        "name": [f"p{at}" for at in range(N)], "home": np.arange(N) // 2, "age": rng.integers(20, 60, N),
        "job": rng.choice(["nurse", "clerk", "cook"], N), "sex": rng.choice(["f", "m"], N),
        "ill": rng.choice(["no", "yes"], N, p=[0.8, 0.2]), "income": rng.integers(10, 90, N) * 100.5,
        "w": rng.choice([1.5, 2.0, 3.5], N),
    })  # fmt: skip

    def some(start: int) -> pl.Expr:
        return pl.int_range(pl.len()).is_between(start, start + n - 1)

    rare = {"job": "pilot", "age": -9, "ill": None, "income": 99999.0, "sex": "d"}
    changed = [
        pl.when(some(20 * at)).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for at, (name, value) in enumerate(rare.items())
    ]
    twins = data.slice(200, n).with_columns(home=pl.lit(-1, pl.Int64))  # a household of `n`
    return pl.concat([data.with_columns(changed), twins])


def tasks(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every task that shows something of the file, as the pages ask for it."""
    path = str(folder / "people.csv")
    yield "opening.open_file", {"path": path, "reading": READING}
    yield "roles.guess", {}
    yield "roles.check", {"scenario": SCENARIO}
    for task in ("risk", "helps", "levels"):
        yield f"risk.{task}", {"scenario": SCENARIO}
    yield "risk.moved", {"scenario": SCENARIO, "intruder": "neighbour", "keys": ["job", "sex"]}
    yield "risk.subgroups", {"scenario": SCENARIO, "by": ["job"]}
    for measure in further_questions():
        yield "risk.further", {"scenario": SCENARIO, "measure": measure, "intruder": "neighbour"}
    yield "protecting.starter", {"scenario": SCENARIO}
    for number, column, levels in ((0, "age", False), (0, "job", True), (1, "age", True)):
        asked = {**RECIPE, "number": number, "column": column}
        yield "protecting.variable", {**asked, "levels": levels}
        yield "protecting.preview", asked
    yield "hierarchies.edit", {**RECIPE, "number": 0, "column": "job", "do": {"act": "values"}}
    yield "protecting.run", RECIPE
    yield "releasing.compare", {
        "scenario": SCENARIO, "secret": SECRET, "first": STEPS[:1], "second": STEPS, "names": ["a", "b"],
    }  # fmt: skip
    made = {**RECIPE, "control": str(folder / "control.csv"), "attacks": True}
    yield "releasing.check_control", {"scenario": SCENARIO, "path": made["control"]}
    yield "releasing.release", made
    yield "releasing.chapter", {**made, "title": "What was done"}
    yield "exploring.explore", RECIPE
    yield "exploring.map_of_recipes", RECIPE
    yield "taking_away.prepare", {**made, "accepted": True}
    yield "taking_away.report", {**made, "kind": ".html"}


def sent(folder: Path, n: int, asked: Sequence[str], *, exact: bool) -> dict[str, list[str]]:
    """What is sent of each task of these rooms: all texts of results, parts of them, and progress."""
    folder.mkdir()
    data = planted(n)
    data.write_csv(folder / "people.csv")
    data.sample(60, seed=2).with_columns(name=pl.lit("x")).write_csv(folder / "control.csv")
    desk, every = Desk(folder), defaultdict[str, list[str]](list)
    file = {"path": str(folder / "people.csv"), "reading": READING}
    for task, arguments in tasks(folder):
        if task.partition(".")[0] in asked:
            messages: list[Any] = []
            given = arguments if task == "roles.check" else {**arguments, "exact": exact}
            answer(desk, {"file": file, "task": task, "arguments": given}, messages.append)
            assert "result" in messages[-1], messages[-1]  # refusals are those of `test_refusals_at_the_page.py`
            every[f"{task} {arguments.get('measure', '')}"] += texts_in(messages)
    for report in folder.rglob("*.html"):
        every[report.name] += texts_in(report.read_text(encoding="utf-8"))
    return every


SHOWN = re.compile(r'(?:aria-label|title|data-[\w-]+|value|placeholder)="([^"]*)"')


def texts_in(value: Any) -> Iterator[str]:
    """The texts of a message; of HTML what stands between its marks and in what they are called."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from (f"{name}: {text}" for text in texts_in(part))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from texts_in(part)
    elif isinstance(value, str) and "<" in value:
        text = re.sub(r"<(style|script)\b.*?</\1>", "", value, flags=re.DOTALL)
        yield from map(html.unescape, SHOWN.findall(text))
        yield from filter(None, (html.unescape(part).strip() for part in re.split(r"<[^<>]*>", text)))
    elif value is not None and not isinstance(value, bool):
        yield value if isinstance(value, str) else json.dumps(value)


NUMBER = re.compile(r"(?<![\w.,<-])\d+(?:\.\d+)?(?![\w%]|[.,]\d)")


def given_away(ours: list[str], theirs: list[str]) -> list[str]:
    """What is said of 3 records here and of 4 there, in the same words."""
    by_words: tuple[dict[str, list[str]], ...] = (defaultdict(list), defaultdict(list))
    for words, texts in zip(by_words, (ours, theirs), strict=True):
        for text in texts:
            words[NUMBER.sub("#", text)].append(text)
    told = []
    for words in by_words[0].keys() & by_words[1].keys():
        for here, there in zip(by_words[0][words], by_words[1][words], strict=False):
            pairs = zip(NUMBER.findall(here), NUMBER.findall(there), strict=True)
            if any(pair == tuple(map(str, TWINS)) for pair in pairs):
                told.append(f"{here} | {there}")
    return told


ROOMS = "opening", "roles", "risk", "protecting", "hierarchies", "releasing", "exploring", "taking_away"


@pytest.mark.filterwarnings("ignore")
def test_no_task_of_a_session_gives_a_small_count_away(tmp_path: Path) -> None:
    ours, theirs = (sent(tmp_path / "ab"[n == TWINS[0]], n, ROOMS, exact=False) for n in TWINS)
    assert ours.keys() == theirs.keys()
    assert {task: told for task in ours if (told := given_away(ours[task], theirs[task]))} == {}


@pytest.mark.filterwarnings("ignore")
def test_the_same_comparison_sees_exact_figures(tmp_path: Path) -> None:
    rooms = "opening", "risk", "hierarchies"
    ours, theirs = (sent(tmp_path / "ab"[n == TWINS[0]], n, rooms, exact=True) for n in TWINS)
    telling = {task.split()[0] for task in ours if given_away(ours[task], theirs[task])}
    assert telling >= {"opening.open_file", "hierarchies.edit", "risk.risk", "risk.helps", "risk.levels"}
