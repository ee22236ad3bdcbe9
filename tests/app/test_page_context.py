"""What a page has of its session."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from shiny import reactive

from app.toys import toy_seat
from sdckit.app.browser_sessions import Seat, Step, Work
from sdckit.app.page_context import Answer, Kept, Room, box, file_field, meanings, nothing_yet, say, speaker, term
from spoken import asked, progress, refused, texts, untold
from tree import none_offends


def within(tmp_path: Path, run: Callable[[Seat, Room], Any]) -> None:
    """Run with a seat and its room, in a loop and outside of any reactive context."""

    async def whole() -> None:
        seat = toy_seat(tmp_path, language="de")
        with reactive.isolate():
            made = run(seat, Room(seat, limit=5))
            if made is not None:
                await made
        seat.worker.close()
        await asyncio.sleep(0.1)

    asyncio.run(whole())


def test_changes_are_seen_undone_and_done_again(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        assert not room.undoes()
        room.change(steps=(Step("round_values"),))
        assert room.work.get() is seat.work
        assert room.undoes() == "change the steps"
        room.undo()
        assert room.work.get().steps == ()
        assert room.undoes(redo=True)
        room.redo()
        assert len(room.work.get().steps) == 1
        assert room.folder == seat.folder
        assert room.limit == 5

    within(tmp_path, run)


def test_whoever_comes_after_a_reload_takes_the_seat_over(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        seat.verdict = "<p>kept</p>"
        later = Room(seat, limit=5)
        assert later.here()
        assert not room.here()
        room.change(control="c.csv")  # a result that comes late
        assert later.work.get().control == "c.csv"
        assert later.verdict.get() == "<p>kept</p>"

    within(tmp_path, run)


def test_a_task_gives_its_verdict_to_the_bar_and_its_result_to_the_page(tmp_path: Path) -> None:
    async def run(seat: Seat, room: Room) -> None:
        found: list[Any] = []
        room.start("toys.echo", found.append, label="Lesen", n=3)
        assert room.shown.get().label == "Lesen"
        while room.shown.get().label:
            await asyncio.sleep(0.01)
        assert found[0]["given"] == {"n": 3}

    within(tmp_path, run)


def test_texts_are_in_the_language_of_the_session(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        assert room.say("Cancel") == "Abbrechen"
        room.alert("nothing there")
        assert room.shown.get().error == "nothing there"
        room.go("risk")
        assert room.page.get() == "risk"
        room.cancel()

    within(tmp_path, run)


# The texts of the app, filled and translated, without loading what computes.


def test_places_are_filled_before_the_text_is_looked_up() -> None:
    assert say("Continue: {t}", "en", t="Risk") == "Continue: Risk"
    assert say("Continue: {t}", "de", t="Roles") == "Weiter: Rollen"
    assert say("{braces} stay where nothing is filled", "en") == "{braces} stay where nothing is filled"
    assert speaker("de")("Cancel") == "Abbrechen"
    assert "\u00ad" not in speaker("de")("Verdict")


def test_the_server_loads_nothing_that_computes() -> None:
    """The first page would wait for it; and what is not loaded reads no data."""
    code = "import sys, sdckit.app.frame, sdckit.app.serve, sdckit.app.__main__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numba", "numpy", "polars", "pandas", "pyarrow", "scipy", "sklearn", "statsmodels", "altair"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("found", [texts, asked, progress, refused])
def test_every_text_is_said_in_german(found: Callable[[], Iterator[str]]) -> None:
    """Also what a form asks for, what is told while work runs, and what a page refuses."""
    there = set(found())
    assert len(there) > 10
    none_offends(untold("de", there), "a text of the app stands in the file of words")


def test_what_is_not_translated_is_found() -> None:
    assert untold("de", ["Cancel", "{n} quaint gizmos", "reading {n}"]) == ["{n} quaint gizmos"]
    assert "Cancel" in set(texts())
    assert "reading {n}" in set(progress())
    assert 'Names of the bands, from the lowest; default made from the edges, as "30-39".' in set(asked())
    assert "no file is open; open one on the first page" in set(refused())


# Parts that several pages have.


SAY = speaker("de")


def test_a_field_for_a_file_speaks_the_language() -> None:
    html = str(file_field(SAY, "load", "Datei", accept=[".toml"]))
    assert 'accept=".toml"' in html
    assert "Durchsuchen" in html
    assert "Keine Datei gewählt" in html
    assert "accept" not in str(file_field(SAY, "any", "Datei"))


def test_an_empty_page_says_why_and_where_to_go() -> None:
    html = str(nothing_yet(SAY, "No file is open yet: the first page opens one.", "Go to Roles", "roles"))
    assert 'data-go="roles"' in html
    assert "Noch ist keine Datei geöffnet" in html


def test_a_box_is_hidden_and_can_be_closed() -> None:
    html = str(box(SAY, "alert", "alert", "danger"))
    assert 'id="alert" hidden' in html
    assert 'role="alert"' in html
    assert 'data-close="alert"' in html


# A term and its meaning, which belong together for who sees and who does not.


def test_a_term_is_a_button_with_its_meaning_in_the_language() -> None:
    shown = str(term("Cell", speaker("en")))
    assert shown.startswith('<button type="button" class="term">')
    assert "The records that share one combination of key values." in shown
    german = str(term("Cell", speaker("de"), text="eine Zelle"))
    assert "eine Zelle" in german
    assert "The records" not in german
    with pytest.raises(KeyError):
        term("No such term", speaker("en"))


def test_a_page_names_its_terms_in_a_line() -> None:
    html = str(meanings(["Cell", "Weight"], speaker("de")))
    assert html.count('role="tooltip"') == 2
    assert "Was die Wörter bedeuten:" in html


# Exact figures never stay on a screen of protected ones, nor come late to it.


class KeptRoom:
    """What a kept value asks of a room."""

    def __init__(self) -> None:
        self.work = reactive.Value(Work(exact=True))

    def switch(self, **fields: Any) -> None:
        """Change how figures are shown."""
        self.work.set(replace(self.work.get(), **fields))


def test_a_value_is_gone_with_the_switch_and_there_again_with_it() -> None:
    with reactive.isolate():
        room: Any = KeptRoom()
        kept: Kept[dict[str, Any]] = Kept(room, {})
        kept.taker()({"n": 1})
        assert kept.get() == {"n": 1}
        room.switch(exact=False)
        assert kept.get() == {}
        kept.set({"n": 2})
        assert kept.get() == {"n": 2}
        room.switch(language="de")
        assert kept.get() == {}


def test_a_result_that_comes_after_the_switch_is_none() -> None:
    with reactive.isolate():
        room: Any = KeptRoom()
        kept: Kept[str] = Kept(room, "")
        late = kept.taker(lambda told: str(told["html"]))
        room.switch(exact=False)
        late({"html": "exact"})
        assert kept.get() == ""


def test_an_answer_is_html_until_it_is_cleared(tmp_path: Path) -> None:
    def run(seat: Seat, room: Room) -> None:
        answered = Answer(room, "here")
        assert answered.shown() is None
        answered.html.set("<b>x</b>")
        assert str(answered.shown()) == "<b>x</b>"
        room.change(exact=True)
        assert answered.shown() is None  # it is of other figures
        room.change(exact=False)
        answered.clear()
        assert answered.shown() is None

    within(tmp_path, run)
