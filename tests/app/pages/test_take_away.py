"""Which files may be taken, and when; the downloads are tried in a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shiny import reactive

from sdckit.app.browser_sessions import Step, Work
from sdckit.app.page_context import speaker
from sdckit.app.pages.take_away import FILES, FORMATS, REPORTS, Taken, _choices, as_it_came, panel
from sdckit.workflow.sessions import taking_away

WORK = Work(path="a.csv", scenario={"keys": ["age"]}, steps=(Step("random_order"),))
OF = WORK.digest()


def taken(*, passed: bool, **fields: Any) -> Taken:
    class Room:
        work = reactive.Value(replace(WORK, release={"of": OF, "passed": passed, "options": {}}))

    room: Any = Room()
    given: Any = {name: (lambda value=value: value) for name, value in fields.items()}
    files = [{"what": what, "path": f"/session/{what}"} for what in ("log", "release")]
    report = [{"what": "report", "path": "/session/report.html"}]
    place: Any = None
    ready = reactive.Value({"made": OF, "files": files})
    return Taken(room, given, place, ready, reactive.Value({"made": "older", "files": report}))


def test_files_of_this_release_in_their_order_the_log_last() -> None:
    with reactive.isolate():
        assert list(taken(passed=True).files()) == ["release", "log"]


def test_a_release_beyond_a_limit_is_held_until_somebody_says_so() -> None:
    with reactive.isolate():
        assert taken(passed=False).files() == {}
        assert taken(passed=False, accept=False).files() == {}
        assert list(taken(passed=False, accept=True).files()) == ["release", "log"]


def test_files_go_with_the_recipe_that_made_them() -> None:
    with reactive.isolate():
        one = taken(passed=True)
        one.room.work.set(replace(one.room.work.get(), steps=()))
        assert one.files() == {}
        assert one.kind() == ".csv"


def test_the_release_has_the_format_in_which_the_file_came() -> None:
    with reactive.isolate():
        one = taken(passed=True)
        one.room.work.set(replace(one.room.work.get(), path="SURVEY.DTA"))
        assert one.kind() == ".dta"
        assert taken(passed=True, kind=".sav").kind() == ".sav"
    assert {as_it_came(f"a{ending}") for ending in FORMATS} == {*FORMATS}
    assert [as_it_came(f"a{ending}") for ending in (".zsav", ".pq", ".xlsx", ".csv.gz")] == [
        ".sav", ".parquet", ".csv", ".csv",
    ]  # fmt: skip
    assert 'value=".dta" selected' in str(_choices(speaker("en"), ".dta", passed=True))


def test_several_files_of_a_kind_have_a_button_each() -> None:
    names = [("hierarchy", "a.csv"), ("release", "r_1.csv"), ("hierarchy", "b.csv"), ("release", "r_2.csv")]
    files = [{"what": what, "path": f"/session/{name}"} for what, name in names]
    chosen = taken(passed=True)
    chosen.ready.set({"made": OF, "files": files})
    with reactive.isolate():
        assert {button: path.name for button, path in chosen.files().items()} == {
            "release": "r_1.csv", "release_2": "r_2.csv", "hierarchy": "a.csv", "hierarchy_2": "b.csv",
        }  # fmt: skip


def test_page_and_tasks_know_the_same_formats() -> None:
    assert tuple(FORMATS) == taking_away.FORMATS
    assert tuple(REPORTS) == taking_away.REPORTS
    assert "secret" in FILES["log"][0]
    assert str(panel("take_away", speaker("en"))).count("shiny-html-output") == 4
