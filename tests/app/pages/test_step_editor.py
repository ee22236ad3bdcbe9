"""What the editor of a step asks the worker for; it is tried in a browser with the page Protect."""

from __future__ import annotations

from typing import Any

import pytest
from shiny import reactive

from sdckit.app.kept import Kept
from sdckit.app.pages.step_editor import Draft, Editor
from sdckit.app.work import Step, Work
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
    made = Editor(room, given, reactive.Value(None), reactive.Value({}), Kept(room, {}), Kept(room, {}))
    return made, room


WORK = Work(
    steps=(
        Step("pram", {"columns": ["job"]}, on=False),
        Step("recode", {"column": "age"}),
        Step("random_order"),
    )
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
