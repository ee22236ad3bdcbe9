"""What tasks say leaves with its counts of records protected, and in the words of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from every_message import messages
from sdckit.report.wording import wording
from sdckit.workflow.sessions.answering import Desk, answer
from sdckit.workflow.sessions.refusals import FIELDS, in_words, message
from session_files import SCENARIO, SECRET, STEPS, make_file
from tree import SRC

COUNTING = re.compile(
    r"(?<![\w.,<='\"“\[])[1-4](?:\s+[^\s.,;:()<]+){0,2}?\s+(?:records?|rows?|households?|persons?|people|values?|uniques?|cells?)\b"
    r"|(?<![\w.,<='\"“\[])[1-4]\s+(?:out\s+)?of\s"
)
# What is no number of records: names in quotes, arguments, places of steps.
KEPT = re.compile(r"'3'|\"3\"|“[^”]*”:? ?\S*|\[3\b|\bsteps? 3|steps 1 to 3|level 3|version 3|\b3\.\w|\.3\b|\bk = 3\b")
CONSTANTS = {  # limits of the package, and a list of names
    "larger than 3 MB", "more than 3 terms", "more than 3 possible cells", "than 3 groups",
    "more than 3 times as large", "other columns than 3: the CSV",
    "or 'error'3", "more than 3: 'Abc' alone", "more than 3; give", " 5, 3: 3} for sets",
}  # fmt: skip


# Every message of the package.


def test_no_message_of_the_package_tells_a_small_count() -> None:
    texts = list(messages("3"))
    assert len(texts) > 1000
    for _, text in texts:
        left = KEPT.sub("", message(text, {}))
        for constant in CONSTANTS:
            left = left.replace(constant, "")
        assert not re.search(r"(?<![\w.<,])3(?![\w,]|\.\d)", left), (text, left)


@pytest.mark.parametrize("number", ["1", "3"])
def test_a_count_that_equals_what_was_typed_is_none_that_may_be_told(number: str) -> None:
    typed = {"steps": [{"arguments": {"k": int(number)}}]}
    for place, text in messages(number):
        said = re.sub(r"level \d|from 1 to|from 0 to 1", "", KEPT.sub("", message(text, typed)))
        limits = [constant.replace("3", number) for constant in CONSTANTS]
        said = re.sub("|".join(map(re.escape, limits)), "", said)
        assert not COUNTING.search(re.sub(r"\bstep \d+ of \d+|at least 1\b|\b1 or more|n \+ 1", "", said)), (
            place,
            text,
            said,
        )


def test_exact_figures_are_exact() -> None:
    text = "column 'job': 1 of its values, in 4 records (1.7 %), are in no line"
    assert message(text, {"exact": True}) == text
    assert message(text, {}) == "column 'job': <5 of its values, in <5 records (<20 %), are in no line"


def test_numbers_that_were_typed_and_names_stay() -> None:
    typed = {"scenario": {"thresholds": {"k": 4}}}
    assert message("step 2: width = 4 is too small for 'age 4'; [4, 7]", typed).startswith(
        "step 2: width = 4 is too small for 'age 4'"
    )
    assert message("4 complete records have width = 4", typed) == "<5 complete records have width = 4"
    assert message("thresholds.k: 3 records differ", {}) == "“k-anonymity, k”: <5 records differ"
    assert message("risk= takes a number per record", {"steps": []}) == "“risk” takes a number per record"
    shown = message(
        "it is at most 35 % here; 7 records (35 %) differ (rows 1, 2, 3, 4, 5 and 9 more)", {"title": "35 %"}
    )
    assert shown == "it is at most 35 % here; 5 records (40 %) differ (rows not shown)"
    assert message("reading survey 3.csv", {}) == "reading survey 3.csv"
    assert message("step 1 of 3: recode", {}) == "step 1 of 3: recode"


def test_no_message_names_an_argument_as_python_writes_it() -> None:
    for place, text in messages("3"):
        said = in_words(text)
        assert 'secret["' not in said, place
        assert "internal=True" not in said, place
        assert not re.search(r"(?<![-\w.\"'])(?:thresholds\.[a-z]|[a-z_]+=)", said), (place, said)


# What tasks send, of a file with small counts.


def planted(folder: Path) -> Path:
    """The small file, in which 4 records have a job that no other has, and 3 have no age."""
    path = make_file(folder)
    at = pl.int_range(pl.len())
    data = pl.read_csv(path).with_columns(
        pl.when(at.is_between(30, 33)).then(pl.lit("pilot")).otherwise(pl.col("job")).alias("job"),
        pl.when(at.is_between(50, 52)).then(None).otherwise(pl.col("age")).alias("age"),
    )
    data.write_csv(path)
    (folder / "jobs.csv").write_text("cook;hands\nsmith;hands\nclerk;desk\nQ7markedQ7;desk\n", encoding="utf-8")
    return path


def sent(folder: Path, file: Path, task: str, **arguments: Any) -> list[dict[str, Any]]:
    """Everything that is sent for a request."""
    messages_sent: list[dict[str, Any]] = []
    answer(Desk(folder), {"file": {"path": str(file)}, "task": task, "arguments": arguments}, messages_sent.append)
    return messages_sent


def step(method: str, **arguments: Any) -> dict[str, Any]:
    return {"method": method, "arguments": arguments, "on": True}


REFUSED = {
    "a hierarchy that lacks a value": step("recode", column="job", hierarchy="jobs.csv", level=1),
    "groups that lack values": step("recode", column="job", groups={"hands": ["cook", "smith"]}),
    "bands that are too narrow": step("recode", column="age", bands=[20, 78]),
    "more neighbours than there are": step("microaggregate", columns=["age"], k=500),
    "a column that is not there": step("recode", column="agee", bands=[20, 78]),
    "noise without a scale": step("add_noise", columns=["age"], scale=-1),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("exact", [False, True])
def test_the_refusal_of_a_step_tells_no_small_count(name: str, exact: bool, tmp_path: Path) -> None:
    path = planted(tmp_path)
    got = sent(tmp_path, path, "protecting.run", scenario=SCENARIO, steps=[REFUSED[name]], secret=SECRET, exact=exact)[
        -1
    ]
    assert set(got) == {"error", "field"}, got
    counts = COUNTING.search(got["error"])
    if not exact:
        assert counts is None, got
    elif "lacks a value" in name:
        assert "1 of its values, in 4 records" in got["error"]


def _others(tree: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The plain values of an answer beside its documents."""
    if isinstance(tree, Mapping):
        for name, entry in tree.items():
            yield from _others(entry, name)
    elif isinstance(tree, list | tuple):
        for entry in tree:
            yield from _others(entry, key)
    else:
        yield key, tree


CLASSES = re.compile(r"(?i)\b1 record\b|\b\d+ to \d+ records|fewer than \d values|step \d+ of \d+")  # heads of tables
LIMITED = {**SCENARIO, "thresholds": {"k": 5}}
STEP = {"scenario": LIMITED, "steps": STEPS, "secret": SECRET}
TASKS: dict[str, dict[str, Any]] = {
    "roles.guess": {},
    "roles.check": {"scenario": LIMITED},
    "risk.risk": {"scenario": LIMITED},
    "risk.helps": {"scenario": LIMITED},
    "risk.levels": {"scenario": LIMITED},
    "risk.moved": {"scenario": LIMITED, "intruder": "neighbour", "keys": ["age", "job"]},
    "risk.further": {"scenario": LIMITED, "measure": "outliers"},
    "risk.subgroups": {"scenario": LIMITED, "by": ["sex"]},
    "protecting.run": STEP,
    "protecting.preview": {**STEP, "number": 1},
    "protecting.variable": {**STEP, "number": 0, "column": "job", "levels": True},
    "protecting.starter": {"scenario": LIMITED},
    "releasing.release": STEP,
    "opening.rows": {},
}
# Of the steps and forms, and what was typed: no numbers of records.
TYPED = {
    "step", "k", "bands", "level", "start", "next", "bytes", "edges", "suggested", "scenario", "toml",
    "thresholds", "sampling_fraction", "script", "commands", "steps",
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_task_sends_a_small_count(language: str, tmp_path: Path) -> None:
    path = planted(tmp_path)
    desk = Desk(tmp_path)
    everything: list[tuple[str, dict[str, Any]]] = []
    for task, arguments in TASKS.items():
        request = {"file": {"path": str(path)}, "task": task}
        spoken = arguments if task == "protecting.variable" else {**arguments, "language": language}
        answer(desk, {**request, "arguments": spoken}, lambda got, task=task: everything.append((task, got)))  # type: ignore[misc]
    answered = {task for task, got in everything if "result" in got}
    assert answered == set(TASKS) - {"opening.rows"}, [got for _, got in everything if "error" in got]
    for task, got in everything:
        for key, value in _others(got):
            if isinstance(value, str):
                shown = CLASSES.sub("", re.sub(r"<[^<>]*>", " ", value) if "</" in value else value)
                found = None if key == "tell" else COUNTING.search(shown)
                assert found is None or key in TYPED, (task, key, found and shown[max(0, found.start() - 80) :][:300])
            elif isinstance(value, int | float) and not isinstance(value, bool) and key not in TYPED:
                assert value not in {1, 2, 3, 4}, (task, key, value)
    json.dumps(everything)


# In German.

WRONG: list[dict[str, Any]] = [
    {"thresholds": {"k": 0}}, {"thresholds": {"k": 1.5}}, {"thresholds": {"risk": 2}}, {"thresholds": {"risk": "x"}},
    {"thresholds": {"recoverable": 3}}, {"sampling_fraction": 2}, {"sampling_fraction": "a"}, {"sensitive": ["age"]},
    {"intruders": {}}, {"intruders": {"a": ["zz"]}}, {"intruders": {"a": ["age", "age"]}}, {"missing": "x"},
    {"release": "zz"}, {"household": "zz"},
]  # fmt: skip
STEPS_REFUSED = [
    *REFUSED.values(), step("recode", column="age", bands=[5]), step("recode", column="job"), step("nope"),
    step("recode", column="job", hierarchy="nope.csv", level=1), step("pram", columns=["job"], pd=2),
    step("recode", column="job", hierarchy="jobs.csv", level=7), step("top_bottom", column="age", top=3),
    step("recode", column="job", groups={"hands": ["cook", "smith"], "desk": ["clerk", "pilot"]}, others="rest"),
    step("recode", column="age", bands=[20, 78], others="rest"),
    step("recode", column="job", groups={"hands": ["cook"]}, others="rest", outside="keep"),
]  # fmt: skip


def test_refusals_have_words_in_german_and_name_the_field(tmp_path: Path) -> None:
    path = planted(tmp_path)
    lacking: list[str] = []
    requests = [("roles.check", {"scenario": {**SCENARIO, **wrong}}) for wrong in WRONG]
    requests += [("protecting.run", {"scenario": SCENARIO, "steps": [bad], "secret": SECRET}) for bad in STEPS_REFUSED]
    readings = ({"encoding": "zz"}, {"delimiter": "abc"}, {"decimal": "x"}, {"join": str(path)})
    requests += [("opening.open_file", {"path": str(path), "reading": reading}) for reading in readings]
    fields = set()
    for task, arguments in requests:
        got = sent(tmp_path, path, task, **arguments)[-1]
        fields.add(got["field"])
        wording("de").translate(got["error"], (), lacking.append)
    assert not lacking
    assert {"thresholds.k", "thresholds.risk", "sampling_fraction", "pd", "level", "delimiter"} <= fields


# Fields.


def test_fields_are_called_as_their_page_calls_them() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (SRC / "app").rglob("*.py")]
    for argument, (label, place) in FIELDS.items():
        assert not place or any(f'"{place}", ' in text or f'"{place}",\n' in text for text in sources), argument
        assert any(f'say("{label}' in text for text in sources) or not (label and place), argument
