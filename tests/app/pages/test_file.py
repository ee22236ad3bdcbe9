"""The page File: its form, and what is taken of an opened file."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sdckit.app.browser_sessions import Seat, Step, Work
from sdckit.app.page_context import speaker
from sdckit.app.pages import file as module
from sdckit.app.pages.file import DROPPED, _kept, _open, _received, _taken, html_of, panel, reading_asked, reading_of

FACTS: dict[str, Any] = {"columns": ["age", "job"], "html": "", "missing": [], "suspected": []}


class ARoom:
    """What a page changes."""

    def __init__(self, **work: Any) -> None:
        self.seat: Any = SimpleNamespace(work=Work(**work), verdict="old", amend=self.change)

        self.alerts: list[str] = []
        self.folder = Path("no folder")

    def say(self, text: str, **words: Any) -> str:
        return text.format(**words)

    def alert(self, text: str, *, beside: str = "") -> None:
        self.alerts.append(text)

    def change(self, **fields: Any) -> None:
        Seat.change(self.seat, **fields)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> ARoom:
    made = ARoom(path="a.csv", name="a.csv", scenario={"keys": ["age"]}, steps=(Step("shuffle"),), facts={})
    monkeypatch.setattr(Seat, "change", lambda seat, **fields: changed(seat, fields))
    return made


def changed(seat: Any, fields: dict[str, Any]) -> None:
    from dataclasses import replace

    seat.work = replace(seat.work, **fields)


def take(room: Any, facts: dict[str, Any] = FACTS, **told: Any) -> Work:
    given: dict[str, Any] = {"path": "b.csv", "name": "b.csv", "reading": {}, "shown": [False, "en"], **told}
    _taken(room, facts, **given)
    work: Work = room.seat.work
    return work


def test_every_field_has_a_label() -> None:
    html = str(panel("file", speaker("de")))
    assert "Datei wählen" in html
    assert html.count("<label") >= 8
    assert "Trennzeichen einer CSV-Datei" in html


def test_options_that_say_nothing_are_left_out() -> None:
    assert reading_of({"delimiter": "", "decimal": None, "missing": " , ", "user_missing": False}) == {}
    assert reading_of({"user_missing": True, "join": "b.csv", "join_key": "hh"}) == {
        "user_missing": True, "join": "b.csv", "join_key": "hh",
    }  # fmt: skip


def test_decisions_stay_where_their_columns_are_there(room: ARoom) -> None:
    work = take(room)
    assert work.path == "b.csv"
    assert work.scenario == {"keys": ["age"]}
    assert len(work.steps) == 1
    assert room.seat.verdict == ""
    assert room.alerts == []
    assert work.facts == {**FACTS, "shown": [False, "en"]}


def test_decisions_about_other_columns_go(room: ARoom) -> None:
    work = take(room, {**FACTS, "columns": ["income"]})
    assert work.scenario is None
    assert work.steps == ()
    assert room.alerts == [DROPPED]


def test_the_demo_brings_its_own(room: ARoom) -> None:
    work = take(room, scenario={"keys": ["job"]})
    assert work.scenario == {"keys": ["job"]}
    assert work.steps == ()


def test_only_what_is_told_changes_where_file_and_options_are_the_same(room: ARoom) -> None:
    work = take(room, path="a.csv")
    assert work.facts is not None
    assert room.seat.verdict == "old"
    assert len(work.steps) == 1


def test_codes_stand_in_the_scenario_too(room: ARoom) -> None:
    assert take(room, reading={"missing": ["-9"]}).scenario == {"keys": ["age"], "missing_codes": ["-9"]}
    again = take(room, path="c.csv")
    assert again.reading == {"missing": ["-9"]}  # as the scenario says: the file is read once more
    assert again.facts is not None
    assert again.facts["shown"] is None


def test_codes_that_undo_or_a_version_brings_back_are_those_the_file_is_read_with() -> None:
    work = Work(path="/data/a.csv", reading={"delimiter": ";", "missing": ["-9"]})
    asked = [reading_asked(replace(work, scenario=scenario)) for scenario in (None, {"keys": ["age"]})]
    assert asked == [work.reading, work.reading]
    other = replace(work, scenario={"keys": ["age"], "missing_codes": ["-8"]})
    assert reading_asked(other) == {"delimiter": ";", "missing": ["-8"]}
    assert reading_asked(replace(other, reading=reading_asked(other))) == reading_asked(other)
    assert reading_asked(replace(other, scenario={"missing_codes": [-8]})) == reading_asked(other)


@pytest.mark.parametrize("meanwhile", [{}, {"scenario": {"keys": ["age"]}}, {"path": "b.csv"}, {"exact": True}])
def test_what_the_page_reads_by_itself_is_dropped_where_something_else_was_chosen_meanwhile(
    room: ARoom, meanwhile: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Undo brought codes, and before the file was read with them redo took them away, or another file was opened."""
    given: dict[str, Any] = {}
    monkeypatch.setattr(module.ui, "update_text", lambda *_, **__: None)
    monkeypatch.setattr(room, "start", lambda _, then, **how: given.update(then=then), raising=False)
    room.change(scenario={"keys": ["age"], "missing_codes": ["-8"]})
    _open(room, "a.csv", "a.csv", reading_asked(room.seat.work), {}, beside="facts")  # type: ignore[arg-type]
    room.change(**meanwhile)
    before = room.seat.work
    given["then"](FACTS)
    if meanwhile:
        assert room.seat.work == before
    else:
        assert room.seat.work.reading == {"missing": ["-8"]}


@pytest.mark.parametrize(("of", "read"), [({"missing": ["-9"]}, ["-9"]), ({"delimiter": ";"}, None)])
def test_where_reading_anew_is_cancelled_the_scenario_has_the_codes_of_the_file_as_it_stands(
    room: ARoom, of: dict[str, Any], read: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(room, "start", lambda _, then, **how: given.update(how), raising=False)
    room.change(reading=of, scenario={"keys": ["age"], "missing_codes": ["-8"]})
    _open(room, "a.csv", "a.csv", reading_asked(room.seat.work), {}, beside="facts")  # type: ignore[arg-type]
    given["dropped"]()
    work = room.seat.work
    assert reading_asked(work) == work.reading == of
    assert work.scenario == {"keys": ["age"], **({"missing_codes": read} if read else {})}
    room.change(scenario={"keys": ["age"], "missing_codes": ["-7"]})
    given["dropped"]()  # other codes were chosen meanwhile, which another reading is under way for
    assert room.seat.work.scenario["missing_codes"] == ["-7"]


@pytest.mark.parametrize("beside", ["facts", "upload"])
def test_exact_figures_that_come_after_the_switch_are_not_shown(
    room: ARoom, beside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(module.ui, "update_text", lambda *_, **__: None)
    monkeypatch.setattr(room, "start", lambda _, then, **how: given.update(then=then), raising=False)
    room.change(exact=True, facts={**FACTS, "shown": [False, "en"], "html": "<5"})
    _open(room, "a.csv", "a.csv", {}, {}, beside=beside)  # type: ignore[arg-type]
    room.change(exact=False)
    given["then"]({**FACTS, "html": "exactly 3"})
    assert "3" not in html_of(room.seat.work)
    room.change(exact=True, facts={**FACTS, "html": "exactly 3", "shown": [True, "en"]})
    assert html_of(room.seat.work) == "exactly 3"


def test_an_upload_is_moved_under_its_own_name(tmp_path: Path) -> None:
    upload = tmp_path / "0.csv"
    upload.write_text("age\n", encoding="utf-8")
    kept = _kept(tmp_path / "session", {"name": "..\\..\\.survey.csv", "datapath": str(upload)})
    assert kept.name == "survey.csv"
    assert kept.parent.parent == tmp_path / "session" / "files"
    assert not upload.exists()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def receive(tmp_path: Path, room: ARoom) -> Any:
    """Receives an upload in a field."""
    room.folder = tmp_path / "session"
    uploads: dict[str, str] = {}

    def received(name: str, field: str = "upload") -> str:
        upload = tmp_path / "0.csv"
        upload.write_text("age\n", encoding="utf-8")
        return _received(room, {"name": name, "datapath": str(upload)}, field, uploads)  # type: ignore[arg-type]

    received.uploads = uploads  # type: ignore[attr-defined]
    return received


def uploaded(room: ARoom) -> set[str]:
    return {path.name for path in (room.folder / "files").rglob("*.csv")}


def test_what_an_upload_replaces_is_removed(room: ARoom, receive: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    take(room, path=receive("first.csv"))
    second = receive("second.csv", "second")
    assert uploaded(room) == {"first.csv", "second.csv"}
    other = receive("other.csv")
    assert uploaded(room) == {"first.csv", "second.csv", "other.csv"}  # the first is still the open one
    take(room, path=other, reading={"join": second})
    assert uploaded(room) == {"other.csv", "second.csv"}
    monkeypatch.setattr("sdckit.app.pages.file._kept", lambda *_: _full())
    assert receive("fourth.csv") == ""
    assert room.alerts[-1].startswith("the disk is full")
    assert uploaded(room) == {"other.csv", "second.csv"}


def test_what_is_uploaded_while_a_file_is_read_stays(room: ARoom, receive: Any) -> None:
    """The first file is taken into the work after its second file, or the next one, has come."""
    first = receive("first.csv")
    receive("homes.csv", "second")
    receive("next.csv")
    take(room, path=first, kept=receive.uploads.values())
    assert uploaded(room) == {"homes.csv", "next.csv"}


def _full() -> Path:
    raise OSError(errno.ENOSPC, "No space left on device", "a path")
