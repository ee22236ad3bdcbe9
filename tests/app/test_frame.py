"""The frame without a browser: what is on the page, and who is seated how."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from shiny import App, reactive, ui
from shiny.testserver import test_server as in_memory

from app.browsing import PAGES as TITLES
from app.toys import toy_seats
from sdckit.app import frame as module
from sdckit.app.browser_sessions import Seats, Step
from sdckit.app.frame import PAGES, STATIC, Frame, language_of
from sdckit.app.page_context import Room


def until(session: Any, seen: Callable[[], bool]) -> None:
    """Wait for a state: a flush that ends may be of something else, and what is shown comes with a later one."""
    late = time.monotonic() + 60
    while not seen() and time.monotonic() < late:
        session.set_inputs(moment=time.monotonic())  # what nobody reads: all that is pending is flushed
    assert seen()


def shown(session: Any, output: str) -> str:
    return str(session.get_output(output).value or "")


@pytest.fixture(autouse=True)
def loop_of_this_thread() -> Iterator[None]:
    """A change from outside the app asks for the thread's loop, which `asyncio.run` of a test before takes away."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(autouse=True)
def looked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tabs of one test have loops of their own, and one lock: none looks again while another is there."""
    monkeypatch.setattr(module, "LOOK", 600.0)


def frame(state: Path, **first: Any) -> tuple[Frame, Seats]:
    seats = toy_seats(state, **first)
    return Frame(seats, limit=7 * 2**20, stop=lambda: None), seats


def sat(made: Frame, *, tab: str = "", left: str = "", language: str = "en") -> Any:
    """The app with what a page says when it connects."""
    said = {"tab": tab, "tab_left": left, "page_language": language}

    def server(input: Any, output: Any, session: Any) -> None:
        for name, value in said.items():
            input[name]._set(value)
        made.serve(input, output, session)

    return in_memory(App(ui.page_fluid(), server), timeout_secs=60)


def test_the_page_has_the_six_pages_and_loads_only_its_own(tmp_path: Path) -> None:
    made, _ = frame(tmp_path)
    assert PAGES == TITLES
    html = made.html()
    assert re.findall(r'<section id="page_(\w+)"', html) == list(PAGES)
    assert len(re.findall(r"<h1>", html)) == 1
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', html)
    assert 'data-limit="7340032"' in html
    assert "7 MB" in html
    for name in ("app.css", "app.js", "icon.svg"):
        assert (STATIC / name).is_file()
        assert f'"{name}"' in html
    assert 'lang="de"' in str(made.page("de"))


@pytest.mark.parametrize(
    ("query", "header", "language"),
    [
        ({}, "", "en"), ({}, "de-AT,de;q=0.9,en;q=0.8", "de"), ({}, "fr,en;q=0.5,de;q=0.3", "en"),
        ({"language": "en"}, "de", "en"), ({"language": "../x"}, "de", "en"), ({}, "fr", "en"),
    ],
)  # fmt: skip
def test_the_language_is_the_one_asked_for_or_the_browsers(query: Any, header: str, language: str) -> None:
    headers = {"accept-language": header} if header else {}
    assert language_of(SimpleNamespace(query_params=query, headers=headers)) == language


def test_a_tab_is_seated_and_its_switches_change_its_work(tmp_path: Path) -> None:
    made, seats = frame(tmp_path)
    with sat(made, language="de") as session:
        (seat,) = seats._seats.values()
        assert seat.work.language == "de"
        session.set_inputs(exact=False)  # as the page has it at first
        session.set_inputs(exact=True)
        assert seat.work.exact
        assert "Noch kein Urteil" in str(session.get_output("verdict").value)
    assert not seat.taken
    seat.change(scenario={"keys": ["sex"]})
    with sat(made, tab=seat.name):
        assert seat.taken
        assert seat.work.scenario == {"keys": ["sex"]}
        assert seat.work.language == "en"
    with sat(made, tab="0" * 32, left="yes"):
        assert len(seats) == 2


def test_the_verdict_on_a_release_stands_while_it_holds_for_whoever_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page Risk asks anew for the verdict on the file, and that is not put above a release."""
    Asked(monkeypatch)
    made, seats = frame(tmp_path)
    with sat(made):
        (seat,) = seats._seats.values()
    work = replace(seat.work, name="a.csv", steps=(Step("random_order"),), exact=False)
    release = {
        "of": work.digest(),
        "passed": True,
        "options": {},
        "verdict": "The release: good",
        "shown": (False, "en"),
    }
    seat.work, seat.verdict = replace(work, release=release), "The file as it is: bad"
    with sat(made, tab=seat.name) as session:
        assert "The release: good" in str(session.get_output("verdict").value)
        session.set_inputs(exact=False)
        session.set_inputs(exact=True)
        assert "The file as it is: bad" in str(session.get_output("verdict").value)
    seat.change(steps=(), exact=False)
    with sat(made, tab=seat.name) as session:
        assert "make the release again" in str(session.get_output("verdict").value)


def test_in_another_language_the_release_is_made_again_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its chapters stand on the page, and the verdict on top is that of the release, which Take away still offers."""
    made, seats = frame(tmp_path)
    with sat(made):
        (seat,) = seats._seats.values()
    work = replace(seat.work, name="a.csv", steps=(Step("random_order"),), language="en")
    options = {"models": {}, "control": "", "attacks": True}
    release = {
        "of": work.digest(),
        "passed": True,
        "options": options,
        "verdict": "The release",
        "shown": (False, "en"),
    }
    seat.work, seat.verdict = replace(work, release=release), "The file as it is"
    asked = Asked(monkeypatch)
    with sat(made, tab=seat.name, language="de") as session:
        ((then, how),) = asked.of("releasing.release")
        assert (how["language"], how["attacks"], how["steps"]) == ("de", True, work.recipe())
        with reactive.isolate():
            then({"passed": True, "verdict": "Die geschützte Datei", "html": "", "chapters": ["What was done"]})
        until(session, lambda: "Die geschützte Datei" in shown(session, "verdict"))
        until(session, lambda: shown(session, "release-chapters").count("data-at") == 1)
        assert len(asked.of("releasing.release")) == 1
    seat.change(steps=())
    with sat(made, tab=seat.name, language="en"):
        assert len(asked.of("releasing.release")) == 1


def test_what_was_saved_is_offered_taken_up_or_forgotten(tmp_path: Path) -> None:
    _, seats = frame(tmp_path)
    seats.take("", reloaded=False).change(name="a.csv", scenario={"keys": ["sex"]})
    seats.close()
    made, seats = frame(tmp_path)
    with sat(made) as session:
        until(session, lambda: "a.csv" in shown(session, "saved"))
        session.set_inputs(take_up=1)
        (seat,) = seats._seats.values()
        until(session, lambda: (seat.work.name, seat.work.scenario) == ("a.csv", {"keys": ["sex"]}))
        until(session, lambda: not shown(session, "saved"))
    seats.close()
    made, seats = frame(tmp_path)
    with sat(made) as session:
        until(session, lambda: "a.csv" in shown(session, "saved"))
        session.set_inputs(forget=1)
        until(session, lambda: not shown(session, "saved"))
    assert not (tmp_path / "last-work.json").exists()


class Asked:
    """What pages asked of the worker, which has not answered yet."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: list[tuple[str, Callable[[Any], object], dict[str, Any]]] = []
        monkeypatch.setattr(Room, "start", lambda _, task, then, **how: self.jobs.append((task, then, how)))

    def of(self, task: str) -> list[tuple[Callable[[Any], object], dict[str, Any]]]:
        return [(then, how) for name, then, how in self.jobs if name == task]


def guesses(evidence: str) -> dict[str, Any]:
    row = {"column": "age", "label": "", "role": "key", "confidence": "sure", "evidence": [evidence]}
    return {"rows": [{**row, "warning": "", "question": ""}], "scenario": {"keys": ["age"]}}


def test_exact_guesses_that_come_after_the_switch_are_dropped_and_asked_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    made, seats = frame(tmp_path)
    with sat(made) as session:
        (seat,) = seats._seats.values()
        seat.change(exact=True)
        facts = {"html": "", "records": 9, "columns": ["age"], "missing": [], "suspected": [], "shown": [True, "en"]}
        seat.change(path="a.csv", facts=facts)
        until(session, lambda: len(asked.of("roles.guess")) == 1)
        seat.change(exact=False)  # the file is not read anew yet
        until(session, lambda: len(asked.of("roles.guess")) == 2)
        (exact, of_exact), (protected, of_protected) = asked.of("roles.guess")
        assert (of_exact["exact"], of_protected["exact"]) == (True, False)
        exact(guesses("in exactly 3 records"))
        session.set_inputs(moment=0)
        assert "exactly 3" not in shown(session, "roles-variables")
        protected(guesses("in few records"))
        until(session, lambda: "in few records" in shown(session, "roles-variables"))


def test_where_the_file_cannot_be_read_by_the_codes_of_the_scenario_these_go(tmp_path: Path) -> None:
    """Undo, or a version, brought codes for missing values, and the file is not there any more."""
    made, seats = frame(tmp_path)
    with sat(made) as session:
        (seat,) = seats._seats.values()
        facts = {"html": "", "records": 9, "columns": ["age"], "missing": [], "suspected": [], "shown": [False, "en"]}
        seat.change(path=str(tmp_path / "gone.csv"), name="gone.csv", facts=facts, scenario={"keys": ["age"]})
        before = seat.history.undone()
        seat.amend(scenario={"keys": ["age"], "missing_codes": ["-8"]})
        until(session, lambda: seat.work.scenario == {"keys": ["age"]})
        assert seat.history.undone() == before


def test_sheet_and_row_of_one_file_are_not_those_of_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    made, _ = frame(tmp_path)
    readings = []
    with sat(made) as session:
        fields = {"delimiter": "", "decimal": "", "encoding": "", "missing": "", "user_missing": False, "join_key": ""}
        session.set_inputs(**{f"file-{name}": value for name, value in fields.items()})
        for at, typed in enumerate(({"sheet": "two", "header_row": "3"}, {}, {"sheet": "three", "header_row": ""}, {})):
            uploaded = tmp_path / f"{min(at, 2)}.xlsx"  # the last one is the third once more
            uploaded.write_text("", encoding="utf-8")
            session.set_inputs(**{f"file-{name}": value for name, value in typed.items()})
            chosen = [{"name": uploaded.name, "datapath": str(uploaded), "size": 0, "type": ""}]
            session.set_inputs(**{"file-upload": chosen})
            until(session, lambda: len(asked.of("opening.open_file")) == at + 1)  # noqa: B023 - at once
            readings.append(asked.of("opening.open_file")[-1][1]["reading"])
    assert readings == [{"sheet": "two", "header_row": 3}, {}, {"sheet": "three"}, {"sheet": "three"}]


def test_files_of_a_session_that_is_gone_are_said_and_no_longer_named(tmp_path: Path) -> None:
    _, seats = frame(tmp_path)
    seat = seats.take("", reloaded=False)
    (seat.folder / "jobs.csv").write_text("cook;hands\n", encoding="utf-8")
    step = Step("recode", {"column": "job", "hierarchy": "jobs.csv", "level": 1})
    seat.change(name="a.csv", scenario={"keys": ["job"], "hierarchies": {"job": "jobs.csv"}}, steps=(step,))
    seat.keep_version(name="first")
    seats.close()
    made, seats = frame(tmp_path)
    with sat(made) as session:
        session.set_inputs(take_up=1)
        (seat,) = seats._seats.values()
        assert "jobs.csv" in seat.jobs.shown.error
        for scenario, steps in [
            (seat.work.scenario, [asdict(step) for step in seat.work.steps]),
            *((version["scenario"], version["steps"]) for version in seat.work.versions),
        ]:
            assert scenario == {"keys": ["job"]}
            assert [(step["arguments"]["hierarchy"], step["on"]) for step in steps] == [("jobs.csv", False)]


def test_work_of_a_tab_that_is_gone_is_offered_in_every_new_one(tmp_path: Path) -> None:
    made, seats = frame(tmp_path)
    with sat(made):
        (seat,) = seats._seats.values()
    seat.change(path="/a.csv", name="a.csv", steps=(Step("shuffle"),))
    act = {"seat": seat.folder.name, "act": "take"}
    with sat(made) as session:
        offer = str(session.get_output("waiting").value)
        clock = time.strftime("%H:%M", time.localtime(seat.left))
        assert f"Go on with a.csv? Steps of the recipe: 1; left at {clock}." in offer
        assert seat.name not in offer
        assert session.get_output("saved").value is None  # it is offered with all else
        before = seat.name
        session.set_inputs(waiting_act=act)
        assert seat.name != before
    assert seats.take(seat.name, reloaded=True) is seat
    with sat(made) as session:
        assert "data-waiting" not in str(session.get_output("waiting").value)
        assert "a.csv" in str(session.get_output("saved").value)  # what is saved now, not as the program started
        session.set_inputs(waiting_act=act)  # somebody sits there
        assert seats.take(seat.name, reloaded=True) is seat
    seat.taken = False
    with sat(made) as session:
        session.set_inputs(waiting_act={**act, "act": "remove"})
        assert "data-waiting" not in str(session.get_output("waiting").value)
        assert not seat.folder.exists()
        assert seat.is_in(seat.autosave.found)


def test_a_session_can_be_ended_and_the_last_one_ends_the_program(tmp_path: Path) -> None:
    stopped: list[bool] = []
    seats = toy_seats(tmp_path)
    made = Frame(seats, limit=1, stop=lambda: stopped.append(True))
    other = seats.take("", reloaded=False)
    with sat(made) as session:
        seat = next(one for one in seats._seats.values() if one is not other)
        assert seat.folder.is_dir()
        session.set_inputs(end_now=1)
        assert not seat.folder.exists()
        assert not stopped
    assert len(seats) == 1
    seats.end(other)
    with sat(made) as session:
        session.set_inputs(end_now=1)
        assert stopped == [True]
