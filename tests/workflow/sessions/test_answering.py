"""What a request of a session is answered; how it comes and goes stands in tests/app/test_worker.py."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError
from sdckit.workflow import sessions
from sdckit.workflow.sessions import answering as memory, protecting, releasing
from sdckit.workflow.sessions.answering import MOST_KEPT, Desk, answer, lacking, needed_bytes
from session_files import SCENARIO, SECRET, STEPS, a_desk, make_file
from tree import SRC


def test_everything_a_task_needs_can_be_loaded_ahead() -> None:
    """And what was loaded is no garbage; what comes later may be."""
    imports = "import gc, sys; from sdckit.workflow.sessions.answering import preload"
    used = "{'numba', 'sdckit.data.files.readers', 'sdckit.workflow.assess', 'sdckit.report.formats.html'}"
    code = f"{imports}; preload(); print({used} <= {{*sys.modules}}, gc.isenabled(), gc.get_freeze_count() > 100_000)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("True True True", 0), done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (PermissionError(13, "Permission denied", "/data/somebody/a.csv"), "Permission denied"),
        (OSError(), "internal error: OSError"),
        (RuntimeError("4711"), "internal error: RuntimeError"),
    ],
)
def test_no_exception_leaves_and_no_value_with_it(error: Exception, said: str) -> None:
    class Desk:
        def open(self, path: str, reading: dict[str, Any]) -> None:
            raise error

    told: list[Any] = []
    answer(Desk(), {"task": "x.y", "arguments": {}, "file": {"path": "a.csv"}}, told.append)
    assert len(told) == 1
    assert told[0]["error"].startswith(said)
    assert "somebody" not in told[0]["error"]
    assert "4711" not in told[0]["error"]


# The file that the worker holds.


def test_a_file_is_read_once_until_it_or_how_it_is_read_changes(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = make_file(tmp_path)
    desk.open(str(path), {"missing": []})
    first = desk.data
    desk.remember("a", [], lambda: 1)
    desk.open(str(path), {"delimiter": "", "user_missing": False})
    assert desk.data is first
    assert desk.memo
    desk.open(str(path), {"missing": ["f"]})
    assert desk.data["sex"].null_count() > 0
    assert not desk.memo
    path.write_text("age\n" + "1\n2\n" * 40, encoding="utf-8")
    desk.open(str(path), {"missing": ["f"]})
    assert desk.data.columns == ["age"]


def test_a_file_that_cannot_be_read_leaves_the_one_before_it(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    bad = tmp_path / "bad.parquet"
    bad.write_text("no columns", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"bad\.parquet is not Parquet"):
        desk.open(str(bad), {})
    assert desk.path.name == "small.csv"


def test_without_a_file_it_says_where_to_open_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="open one on the first page"):
        _ = Desk(tmp_path).data


def test_an_option_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'sep' is no option"):
        Desk(tmp_path).open("a.csv", {"sep": ";"})


def test_a_scenario_is_held_against_the_columns(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    made = desk.scenario(SCENARIO)
    assert made.keys == ("age", "job", "sex")
    assert "name" not in desk.original(made).columns
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        desk.scenario({**SCENARIO, "intruders": {"a": ["agee"]}})
    with pytest.raises(ScenarioError, match="no variable is a key yet"):
        desk.scenario({"sensitive": ["ill"]})


def test_codes_of_the_file_are_those_of_the_scenario(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open(str(make_file(tmp_path)), {"missing": ["f"]})
    assert desk.scenario(SCENARIO).missing_codes == ("f",)


def test_results_are_kept_and_the_oldest_let_go(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    made: list[int] = []
    for at in [*range(MOST_KEPT + 1), MOST_KEPT, 0]:
        desk.remember("square", at, lambda at=at: made.append(at) or at**2)  # type: ignore[misc, func-returns-value]
    assert made == [*range(MOST_KEPT + 1), 0]
    assert len(desk.memo) == MOST_KEPT


def test_recipes_tried_and_their_verdicts_are_kept_however_much_is_looked_at(tmp_path: Path) -> None:
    """A map of recipes lost its points, and the page its verdict, after as many pictures."""
    desk = a_desk(tmp_path)
    asked: dict[str, Any] = {"scenario": SCENARIO, "steps": STEPS, "secret": SECRET}
    answers = [releasing.release(desk, print, **asked)]
    scenario = desk.scenario(SCENARIO)
    recipe = protecting.make_recipe(desk, STEPS)
    before = protecting.tried(desk, scenario), releasing.verdict_of(desk, scenario, recipe, exact=False)
    judged = releasing.judged(desk, scenario, STEPS, SECRET, print)
    for at in range(MOST_KEPT + 1):
        desk.remember("picture", at, lambda at=at: at)  # type: ignore[misc]
    assert (protecting.tried(desk, scenario), releasing.verdict_of(desk, scenario, recipe, exact=False)) == before
    assert before[1] is True
    assert releasing.judged(desk, scenario, STEPS, SECRET, print) is judged
    assert releasing.release(desk, print, **asked) == answers[0]


def test_a_guess_that_nobody_confirmed_is_no_limit(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    assert desk.confirmed(SCENARIO).all_keys == desk.scenario(SCENARIO).all_keys
    with pytest.raises(ScenarioError, match="'job' is right: look at it on the page Roles"):
        desk.confirmed({**SCENARIO, "unconfirmed": ["job"]})


AHEAD = {"task": "roles.guess", "arguments": {}, "of": "protecting.propose", "wishes": {"keep": []}}


@pytest.mark.parametrize(
    ("request_waiting", "goes_on"),
    [
        (None, True), ({"task": "protecting.propose", "arguments": {"keep": []}}, True),
        ({"task": "protecting.propose", "arguments": {"keep": ["sex"]}}, False),
        ({"task": "risk.risk", "arguments": {}}, False),
    ],
)  # fmt: skip
def test_work_ahead_stops_for_what_does_not_begin_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_waiting: dict[str, Any] | None, *, goes_on: bool
) -> None:
    desk, done = a_desk(tmp_path), list[str]()
    desk.ahead = AHEAD
    coming: list[dict[str, Any] | None] = [None]

    def task(_: Desk, tell: Any) -> dict[str, Any]:
        coming.append(request_waiting)  # while it runs
        tell("half")
        done.append("whole")
        return {}

    monkeypatch.setattr("sdckit.workflow.sessions.roles.guess", task)
    memory.work_ahead(desk, lambda: coming[-1])
    assert (done, desk.ahead) == ((["whole"], None) if goes_on else ([], AHEAD))


def test_work_ahead_that_fails_or_does_not_fit_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = a_desk(tmp_path)
    desk.ahead = {**AHEAD, "task": "roles.nothing"}
    memory.work_ahead(desk, dict)  # something is asked for
    assert desk.ahead is not None
    memory.work_ahead(desk, lambda: None)
    assert desk.ahead is None
    desk.ahead = AHEAD
    monkeypatch.setattr(memory, "lacking", lambda *_: "too much")
    monkeypatch.setattr(memory, "answer", None)
    memory.work_ahead(desk, lambda: None)
    assert desk.ahead is None


# Whether a task fits the memory that is free.


MILLION = {"records": 1_000_000, "columns": 20}


def test_needs_grow_with_records_columns_and_copies(tmp_path: Path) -> None:
    risk = needed_bytes("risk.risk", {}, MILLION)
    assert needed_bytes("risk.risk", {}, {**MILLION, "columns": ["a"] * 20}) == risk
    assert needed_bytes("risk.risk", {}, {**MILLION, "records": 2_000_000}) > risk
    assert needed_bytes("releasing.compare", {}, MILLION) > risk
    file = tmp_path / "a.csv"
    file.write_bytes(b"0" * 10_000)
    packed = tmp_path / "a.parquet"
    packed.write_bytes(b"0" * 10_000)
    read = needed_bytes("opening.open_file", {"path": str(file)}, None)
    assert 0 < read < needed_bytes("opening.open_file", {"path": str(packed)}, None)
    assert needed_bytes("opening.demo", {}, None) == 0


def test_the_message_says_how_much_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**30)
    text = lacking("risk.risk", {}, {"records": 100_000_000, "columns": 50})
    assert "and 1.0 GB are free" in text
    assert lacking("risk.risk", {}, {"records": 1000, "columns": 5}) == ""
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert lacking("risk.risk", {}, {"records": 100_000_000, "columns": 50}) == ""


TASK = re.compile(r'f?"([a-z_]+)\.([a-z_]+|\{task\})"')


def test_every_task_that_a_page_starts_is_there() -> None:
    rooms = {module.name for module in iter_modules(sessions.__path__)} | set(memory.OF_TASKS)
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (SRC / "app").rglob("*.py"))
    tasks = {(room, name) for room, name in TASK.findall(pages) if room in rooms and name != "{task}"}
    assert len(tasks) > 15
    missing = [
        f"{room}.{name}"
        for room, name in sorted(tasks)
        if not callable(getattr(import_module(f"sdckit.workflow.sessions.{room}"), name, None))
    ]
    assert not missing
    assert set(memory.OF_TASKS) <= {module.name for module in iter_modules(sessions.__path__)}
