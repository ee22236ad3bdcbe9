"""When a release is still that of its recipe, and what tasks on it are told; the page is tried in a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shiny import reactive

from sdckit.app.browser_sessions import Step, Work
from sdckit.app.page_context import speaker
from sdckit.app.pages.release import Made, _form, asked_of, current, panel
from sdckit.catalogue import CATALOGUE

WORK = Work(
    path="a.csv", scenario={"keys": ["age"]}, steps=(Step("random_order"), Step("pram", {}, on=False)), secret="00"
)
RELEASED = replace(WORK, release={"of": WORK.digest(), "passed": True, "options": {}})


def test_a_release_holds_until_something_it_rests_on_changes() -> None:
    assert current(WORK) is None
    assert current(RELEASED) is not None
    assert current(replace(RELEASED, language="de", exact=True)) is not None
    assert current(replace(RELEASED, steps=())) is None
    assert current(replace(RELEASED, scenario={"keys": ["sex"]})) is None
    assert current(replace(RELEASED, reading={"missing": ["-9"]})) is None
    beside = replace(RELEASED, control="a", release={"of": WORK.digest(), "options": {"control": "a"}})
    assert current(beside) is not None
    assert current(replace(beside, control="b")) is None


def test_tasks_get_the_steps_that_are_on() -> None:
    asked = asked_of(WORK, {"attacks": True})
    assert [one["method"] for one in asked["steps"]] == ["random_order"]
    assert asked["secret"] == "00"
    assert asked["attacks"]


def test_figures_are_shown_only_as_the_session_shows_them_now() -> None:
    class Room:
        work = reactive.Value(RELEASED)

    room: Any = Room()
    told = {"of": WORK.digest(), "shown": (False, "en")}
    unused: Any = None
    made = Made(room, reactive.Value(told), unused, unused, unused, unused, reactive.Value(False))
    with reactive.isolate():
        assert made.is_current()
        room.work.set(replace(RELEASED, exact=True))
        assert not made.is_current()


def test_the_page_has_its_places() -> None:
    assert str(panel("release", speaker("en"))).count("shiny-html-output") == 8


def test_every_attack_says_what_it_asks_and_whether_it_needs_a_control_file() -> None:
    html = str(_form(speaker("en"), again=False))
    asked = [row.question for row in CATALOGUE if row.files == "attack"]
    assert len(asked) > 4
    assert all(question in html for question in asked)
    assert html.count("It needs a control file") == 1
    assert "Can it be told who was in the file? <strong>It needs a control file" in " ".join(html.split())
