"""What the buttons of the page Protect do to the steps; the page itself is tried in a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shiny import reactive

from app.toys import toy_seat
from sdckit.app.browser_sessions import Step
from sdckit.app.page_context import Room, speaker
from sdckit.app.pages.protect import Bench, panel, version_list_shown
from sdckit.app.pages.step_editor import Draft
from sdckit.app.step_form import start_shown

STEPS = (Step("recode", {"column": "age"}), Step("pram", {"columns": ["job"]}), Step("random_order"))


def at_the_bench(tmp_path: Path, run: Callable[[Bench, list[tuple[str, dict[str, Any]]]], None]) -> None:
    """Run with a bench whose tasks are only noted."""

    async def whole() -> None:
        seat = toy_seat(tmp_path, path="a.csv", scenario={"keys": ["age"]}, steps=STEPS)
        started: list[tuple[str, dict[str, Any]]] = []
        with reactive.isolate():
            room = Room(seat, limit=5)
            room.start = lambda task, then, *, label, **given: started.append((task, given))  # type: ignore[method-assign]
            run(Bench.of(room), started)
        seat.worker.close()
        await asyncio.sleep(0)

    asyncio.run(whole())


def methods(bench: Bench) -> list[str]:
    return [one.method for one in bench.steps()]


def test_steps_are_moved_switched_and_removed_and_all_of_it_undone(tmp_path: Path) -> None:
    def run(bench: Bench, _: list[Any]) -> None:
        bench.do("down", 0)
        assert methods(bench) == ["pram", "recode", "random_order"]
        bench.do("up", 0)
        assert methods(bench) == ["pram", "recode", "random_order"]
        bench.do("switch", 2)
        assert [one.on for one in bench.steps()] == [True, True, False]
        bench.do("remove", 1)
        bench.do("remove", 7)
        assert methods(bench) == ["pram", "random_order"]
        for _ in range(4):
            bench.do("undo", -1)
        assert bench.steps() == list(STEPS)
        bench.do("redo", -1)
        assert methods(bench) == ["pram", "recode", "random_order"]

    at_the_bench(tmp_path, run)


def test_a_form_changes_its_step_or_adds_one(tmp_path: Path) -> None:
    def run(bench: Bench, _: list[Any]) -> None:
        bench.do("edit", 1)
        draft = bench.draft.get()
        assert draft is not None
        assert draft.at == 1
        bench.put(draft, {"columns": ["sex"]})
        bench.put(Draft("round_to"), {"column": "age", "base": 5})
        assert methods(bench) == ["recode", "pram", "random_order", "round_to"]
        assert bench.steps()[1].arguments == {"columns": ["sex"]}

    at_the_bench(tmp_path, run)


def test_a_new_step_stands_before_columns_that_are_computed_in_the_end(tmp_path: Path) -> None:
    """Behind them it changed what they are made of, and the sum of before stood beside it."""
    computing = [{"method": "recompute", "arguments": {"derived": {"total": "wage + rest"}}}]

    def run(bench: Bench, _: list[Any]) -> None:
        bench.take(computing, did="load a recipe", why="before a recipe was loaded")
        bench.put(Draft("round_to"), {"column": "wage", "base": 10})
        assert methods(bench) == ["round_to", "recompute"]
        bench.put(Draft("round_to", at=0), {"column": "rest", "base": 10})
        assert bench.steps()[0].arguments == {"column": "rest", "base": 10}
        bench.put(Draft("recompute"), {"derived": {"twice": "2 * total"}})
        assert methods(bench) == ["round_to", "recompute", "recompute"]

    at_the_bench(tmp_path, run)


def test_a_recipe_of_the_map_takes_the_place_of_the_steps(tmp_path: Path) -> None:
    other = {
        "steps": [{"method": "pram", "arguments": {"columns": ["job"]}}], "words": "", "loss": "–", "passed": True,
        "front": True, "open": False, "ends": [0.1, 0.2], "height": 3.0,
    }  # fmt: skip

    def run(bench: Bench, started: list[Any]) -> None:
        bench.map.taker()({"map": {"points": [other]}})
        bench.take([{"method": "random_order", "arguments": {}}], did="propose a recipe", why="before a proposal")
        assert methods(bench) == ["random_order"]
        assert bench.room.undoes() == "propose a recipe"
        bench.do("use_point", 1)  # there is no such point
        bench.do("compare_point", 0)
        bench.do("use_point", 0)
        assert methods(bench) == ["pram"]
        versions = bench.room.work.get().versions
        assert [version["why"] for version in versions] == ["before a proposal", "before a recipe of the map"]
        bench.do("compare_version", 1)
        assert [task for task, _ in started] == ["releasing.compare"] * 2
        assert [one["method"] for one in started[1][1]["first"]] == ["pram"]
        assert [one["method"] for one in started[1][1]["second"]] == ["random_order"]
        assert started[0][1]["secret"] == bench.room.work.get().secret

    at_the_bench(tmp_path, run)


def test_undo_asks_before_it_crosses_a_change_of_roles_and_redo_survives(tmp_path: Path) -> None:
    def run(bench: Bench, _: list[Any]) -> None:
        room = bench.room
        bench.do("remove", 0)
        room.change(scenario={"keys": ["job"]})
        assert room.undoes() == "change roles"
        bench.do("undo", -1)
        assert bench.asking.get() == "undo"
        assert room.work.get().scenario == {"keys": ["job"]}
        bench.do("leave", -1)
        assert bench.asking.get() == ""
        bench.do("undo", -1)
        bench.do("switch", 0)
        assert "This changes the roles" not in str(start_shown(room, bench.asking.get()))
        bench.do("undo_roles", -1)  # an answer to the question of before takes nothing back
        assert room.undoes() == "switch a step"
        bench.do("undo", -1)
        bench.do("undo", -1)
        bench.do("undo_roles", -1)
        assert room.work.get().scenario == {"keys": ["age"]}
        assert methods(bench) == ["pram", "random_order"]  # the recipe stays: undo takes back the roles alone
        assert (room.undoes(), room.undoes(redo=True)) == ("remove a step", "change roles")
        bench.do("redo", -1)
        assert bench.asking.get() == "redo"
        bench.do("redo_roles", -1)
        assert room.work.get().scenario == {"keys": ["job"]}

    at_the_bench(tmp_path, run)


def test_a_version_is_opened_and_the_state_before_it_is_kept(tmp_path: Path) -> None:
    def run(bench: Bench, _: list[Any]) -> None:
        room = bench.room
        room.change(facts={"columns": ["age", "job"]})
        room.keep_version(name="first")
        for _ in STEPS:
            bench.do("remove", 0)
        for _ in range(9):
            bench.do("undo", -1)
            bench.do("redo", -1)
        bench.do("open_version", 0)
        assert bench.steps() == list(STEPS)
        bench.do("undo", -1)
        assert bench.steps() == []
        assert [version["name"] for version in room.work.get().versions] == ["first"]
        room.change(facts={"columns": ["other"]})
        bench.do("open_version", 0)  # its columns are not there
        assert bench.steps() == []

    at_the_bench(tmp_path, run)


def test_the_recipe_so_far_is_taken_and_the_search_is_ended(tmp_path: Path) -> None:
    def run(bench: Bench, _: list[Any]) -> None:
        ended: list[str] = []
        bench.room.cancel = ended.append  # type: ignore[method-assign]
        bench.do("passing", -1)
        assert (methods(bench), ended) == ([step.method for step in STEPS], [])
        bench.so_far.set({"words": "", "loss": "", "state": "These hold: k."})
        bench.do("passing", -1)  # not all of it is judged
        assert (methods(bench), ended) == ([step.method for step in STEPS], [])
        so_far = {"steps": [{"method": "random_order", "arguments": {}}], "words": "", "loss": "", "passed": True}
        bench.so_far.set(so_far)
        bench.do("passing", -1)
        assert (methods(bench), ended, bench.so_far.get()) == (["random_order"], ["protecting.propose"], {})

    at_the_bench(tmp_path, run)


def test_what_was_being_judged_goes_with_a_search_that_is_cancelled_and_what_passed_stays(tmp_path: Path) -> None:
    def run(bench: Bench, _: list[Any]) -> None:
        given: dict[str, Any] = {}
        bench.room.start = lambda task, then, **how: given.update(how)  # type: ignore[method-assign]
        bench.look("propose", "looking")
        given["partial"]({"state": "A recipe is being judged."})
        given["dropped"]()
        assert bench.so_far.get() == {}
        given["partial"]({"steps": [], "state": "Every limit holds with this recipe."})
        given["dropped"]()
        assert bench.so_far.get()["steps"] == []

    at_the_bench(tmp_path, run)


def test_what_was_found_is_told_of_the_steps_and_roles_that_it_was_judged_under(tmp_path: Path) -> None:
    """Green after a step was removed, or a limit set, it would say of others what nobody has looked at."""
    answer = {"steps": [{"method": "random_order", "arguments": {}}], "exceeded": [], "unjudged": [], "html": ""}

    def run(bench: Bench, _: list[Any]) -> None:
        room = bench.room
        room.start = lambda task, then, **how: then(answer)  # type: ignore[method-assign]
        bench.look("propose", "looking")
        assert bench.is_of_now()
        bench.do("switch", 0)
        assert not bench.is_of_now()
        bench.do("undo", -1)
        assert bench.is_of_now()
        room.change(scenario={"keys": ["age"], "thresholds": {"k": 10}})
        assert not bench.is_of_now()

        def roles_change_meanwhile(task: str, then: Callable[[dict[str, Any]], None], **how: Any) -> None:
            room.change(scenario={"keys": ["age", "job"]})
            then(answer)

        room.start = roles_change_meanwhile  # type: ignore[method-assign]
        bench.look("propose", "looking")
        assert not bench.is_of_now()
        room.start = lambda task, then, **how: how["partial"](answer)  # type: ignore[method-assign]
        bench.look("propose", "looking")
        bench.do("switch", 0)
        assert bench.is_of_now()  # of the search that goes on
        room.change(scenario={"keys": ["job"]})
        assert not bench.is_of_now()

    at_the_bench(tmp_path, run)


def test_the_page_brings_its_own_script_and_style() -> None:
    html = str(panel("protect", speaker("en")))
    assert 'src="protect.js"' in html
    assert 'href="protect.css"' in html


def test_a_version_of_another_file_is_listed_and_cannot_be_opened(tmp_path: Path) -> None:
    async def run() -> None:
        seat = toy_seat(tmp_path, path="a.csv", facts={"columns": ["age"]}, steps=(Step("round_to"),))
        with reactive.isolate():
            room = Room(seat, limit=5)
            room.change(scenario={"keys": ["age"]})
            room.keep_version(name="<mine>")
            html = str(version_list_shown(room))
            assert "&lt;mine&gt;" in html
            assert "does not have" not in html
            room.change(facts={"columns": ["sex"]})
            html = str(version_list_shown(room))
            assert "does not have" in html
            assert html.count("disabled") == 2
        seat.worker.close()
        await asyncio.sleep(0)

    asyncio.run(run())
