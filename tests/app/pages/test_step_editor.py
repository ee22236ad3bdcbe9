"""What the editor of a step asks the worker for; it is tried in a browser with the page Protect."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from shiny import reactive

from sdckit.app.browser_sessions import Step, Work
from sdckit.app.page_context import Kept, speaker
from sdckit.app.pages.hierarchy_editor import hierarchy_shown
from sdckit.app.pages.step_editor import Draft, Editor, bands_shown, groups_shown, recoding_of, ways_shown
from sdckit.errors import ScenarioError

FORM = {"method": "recode", "about": "", "entries": [
    {"name": "column", "kind": "column", "choices": [], "default": None, "needed": True, "about": ""},
]}  # fmt: skip


class NotedRoom:
    """A room that notes what is started."""

    def __init__(self, work: Work) -> None:
        self.work = reactive.Value(work)
        self.started: list[tuple[str, dict[str, Any]]] = []

    def start(self, task: str, then: Any, *, label: str, **given: Any) -> None:
        """Note it."""
        assert callable(then)
        assert label
        self.started.append((task, given))

    def say(self, text: str, **words: Any) -> str:
        """The text."""
        return text.format(**words)


def editor(work: Work, **fields: Any) -> tuple[Editor, NotedRoom]:
    room: Any = NotedRoom(work)
    given: Any = {name: (lambda value=value: value) for name, value in fields.items()}
    nowhere: Any = (None, None, None)
    made = Editor(room, given, reactive.Value(None), reactive.Value({}), Kept(room, {}), Kept(room, {}), *nowhere)
    return made, room


WORK = Work(
    steps=(Step("pram", {"columns": ["job"]}, on=False), Step("recode", {"column": "age"}), Step("random_order"))
)


def test_a_variable_is_looked_at_as_it_is_before_the_step() -> None:
    made, room = editor(WORK)
    made.look(Draft("recode", {}, 2), "age", "groups")
    task, given = room.started[0]
    assert task == "protecting.variable"
    assert [one["method"] for one in given["steps"]] == ["recode"]
    assert given["number"] == 1
    assert given["levels"]


def test_the_picture_counts_the_steps_that_are_on() -> None:
    made, room = editor(WORK)
    made.show(2, "sex")
    made.show(0)  # it is off
    made.show(9)
    assert [(task, given["number"], given["column"]) for task, given in room.started] == [
        ("protecting.preview", 1, "sex")
    ]


def test_a_form_with_its_editor_gives_the_arguments() -> None:
    with reactive.isolate():
        made, _ = editor(WORK, arg_column="age", way="bands", band_edges=[30])
        made.forms.set({"recode": FORM})
        assert made.filled(Draft("recode")) == {"column": "age", "bands": [None, 30, None]}
        empty, _ = editor(WORK, arg_column="")
        empty.forms.set({"recode": FORM})
        with pytest.raises(ScenarioError, match="column is needed"):
            empty.filled(Draft("recode"))
        assert empty.way() == "bands"


# What the editors of a recoding are given, and what comes back.


say = speaker("en")
ROWS = [
    {"level": "1", "text": "25", "size": 25.0, "pooled": False},
    {"level": "2", "text": "30", "size": 30.0, "pooled": False},
    {"level": "other", "text": "<5", "size": 2.5, "pooled": True},
]
TOLD: dict[str, Any] = {
    "column": "job", "rows": ROWS, "edges": [0.0, 10.0], "suggested": [20.0], "numeric": True, "whole": True,
}  # fmt: skip


def read(**given: Any) -> Any:
    return given.get


def given(html: str, name: str) -> dict[str, Any]:
    found = re.search(rf'data-{name}="([^"]*)"', html)
    assert found is not None
    return dict(json.loads(unescape(found[1])))


def test_bands_are_drawn_from_what_was_printed() -> None:
    assert given(str(bands_shown(say, {}, TOLD, "in")), "bands")["edges"] == [20.0]
    own = given(str(bands_shown(say, {"bands": [None, 30, 40, None]}, TOLD, "in")), "bands")
    assert own["edges"] == [30, 40]
    assert own["input"] == "in"
    assert "no numbers" in str(bands_shown(say, {}, {**TOLD, "numeric": False}, "in"))


def test_groups_of_a_step_are_shown_again() -> None:
    found = given(str(groups_shown(say, {"groups": {"low": [1, 2]}}, TOLD, "in")), "groups")
    assert found["groups"] == {"low": ["1", "2"]}


def test_ways_and_hierarchy_start_from_the_step() -> None:
    assert 'value="groups" checked' in str(ways_shown(say, {"groups": {"a": ["x"]}}))
    shown = str(hierarchy_shown(say, {"hierarchy": "jobs.csv", "level": 2}))
    assert 'value="jobs.csv"' in shown
    assert 'value="2"' in shown


def test_bands_are_open_at_both_ends() -> None:
    found = recoding_of(say, {"column": "age"}, "bands", read(band_edges=[40.0, 20, 40]), TOLD)
    assert found == {"column": "age", "bands": [None, 20, 40, None]}
    assert all(isinstance(edge, int) for edge in found["bands"][1:-1])


def test_numbers_beside_groups_get_their_own_names_and_rare_ones_go() -> None:
    found = recoding_of(say, {"column": "job"}, "groups", read(level_groups={"low": ["1"], "empty": []}), TOLD)
    assert found["groups"] == {"low": [1], "2": [2]}
    assert found["outside"] == "missing"
    words = recoding_of(say, {}, "groups", read(level_groups={"low": ["1"]}), {**TOLD, "numeric": False})
    assert words == {"groups": {"low": ["1"]}, "outside": "keep"}


@pytest.mark.parametrize("numeric", [True, False])
def test_beside_a_name_for_all_others_no_value_is_kept(numeric: bool) -> None:
    told = {**TOLD, "numeric": numeric}
    found = recoding_of(say, {"others": "rest"}, "groups", read(level_groups={"low": ["1"]}), told)
    assert found == {"others": "rest", "groups": {"low": [1 if numeric else "1"]}}


def test_a_hierarchy_is_named() -> None:
    found = recoding_of(say, {}, "hierarchy", read(hierarchy=" jobs.csv ", level=2), {})
    assert found == {"hierarchy": "jobs.csv", "level": 2}
    inline = {"hierarchy": {"cook": ["work"]}}
    assert recoding_of(say, {}, "hierarchy", read(hierarchy=""), {}, inline) == {**inline, "level": 1}


@pytest.mark.parametrize("way", ["bands", "groups", "hierarchy"])
def test_nothing_filled_in_is_told(way: str) -> None:
    with pytest.raises(ScenarioError):
        recoding_of(say, {}, way, read(), TOLD)


def test_values_that_were_not_shown_stay_in_their_group_and_off_the_page() -> None:
    before = {"groups": {"low": ["1", "rare"], "gone": ["2"]}}
    told = {**TOLD, "numeric": False}
    assert "rare" not in str(groups_shown(say, before, told, "in"))
    found = recoding_of(say, {}, "groups", read(level_groups={"low": ["1", "2"]}), told, before)
    assert found["groups"] == {"low": ["1", "2", "rare"]}
