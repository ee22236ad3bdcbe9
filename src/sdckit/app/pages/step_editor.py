"""The editor of one step: its form, bands on the histogram, groups of levels, hierarchies, and its picture."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shiny import Inputs, Session, reactive, render, ui
from shiny.ui import HTML, TagChild, tags

from sdckit.app.kept import Kept
from sdckit.app.recoding import bands_shown, groups_shown, hierarchy_shown, recoding_of, ways_shown
from sdckit.app.room import Room
from sdckit.app.step_form import WHAT, arguments_of, form
from sdckit.app.words import Say
from sdckit.app.work import Work
from sdckit.errors import ScenarioError

Plain = Mapping[str, Any]
EMPTY = "Edit a step, or add one: its form stands here, and the variable before and after it."
Put = Callable[["Draft", Plain], None]


@dataclass(frozen=True)
class Draft:
    """A step that is being edited; `at` is its place in the list, None for a new one."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    at: int | None = None


@dataclass(frozen=True, eq=False)
class Editor:
    """What the editor knows: the step, the forms of all methods, the variable looked at, the picture."""

    room: Room
    input: Inputs
    draft: reactive.Value[Draft | None]
    forms: reactive.Value[dict[str, Plain]]
    variable: Kept[dict[str, Any]]
    picture: Kept[dict[str, Any]]
    # whether the session shows exact figures; set by `_serve_switch`
    exact: reactive.Value[bool] = field(default_factory=lambda: reactive.Value(False))

    def read(self, name: str) -> Any:
        """The value of a field, None where there is none; reactive."""
        return self.input[name]() if name in self.input else None

    def way(self) -> str:
        """How a variable is made coarser."""
        return str(self.read("way") or "bands")

    def look(self, one: Draft, column: str, way: str) -> None:
        """Count the values of the variable as it is before the step."""
        with reactive.isolate():
            work = self.room.work.get()
        before = _before(work, one)
        self.room.start(
            "protecting.variable", self.variable.taker(lambda told: {**told, "way": way}),
            label=self.room.say("counting the values of {c}", c=column), scenario=dict(work.scenario or {}),
            steps=before, number=len(before), column=column, secret=work.secret, levels=way == "groups",
            exact=work.exact,
        )  # fmt: skip

    def show(self, at: int, column: str = "") -> None:
        """Draw a variable before and after the step."""
        with reactive.isolate():
            work = self.room.work.get()
        if at >= len(work.steps) or not work.steps[at].on:
            return
        self.room.start(
            "protecting.preview", self.picture.taker(), label=self.room.say("drawing the variable before and after"),
            scenario=dict(work.scenario or {}), steps=work.recipe(), number=sum(one.on for one in work.steps[:at]),
            secret=work.secret, column=column, exact=work.exact, language=work.language,
        )  # fmt: skip

    def filled(self, one: Draft) -> dict[str, Any]:
        """The arguments that form and editor say."""
        found = arguments_of(self.room.say, self.forms.get()[one.method], self.read)
        if one.method != "recode":
            return found
        return recoding_of(self.room.say, found, self.way(), self.read, self.variable.held(), one.arguments)


def _before(work: Work, one: Draft) -> list[dict[str, Any]]:
    """The steps that are carried out before this one."""
    at = len(work.steps) if one.at is None else one.at
    return [{"method": step.method, "arguments": dict(step.arguments)} for step in work.steps[:at] if step.on]


def serve_editor(
    input: Inputs, session: Session, room: Room, draft: reactive.Value[Draft | None], put: Put
) -> None:
    """Serve form and picture of the step in `draft`; `put` takes what was filled in."""
    edited = Editor(room, input, draft, reactive.Value({}), Kept(room, {}), Kept(room, {}))
    _serve_switch(edited)
    _serve_form(edited, put)
    _serve_recoding(edited, session)
    _serve_hierarchy(edited)
    _serve_picture(edited)


def _serve_switch(edited: Editor) -> None:
    """Where the session shows other figures, what is drawn is drawn anew, and what was moved meanwhile stays."""

    @reactive.effect
    def _() -> None:
        edited.exact.set(edited.room.work.get().exact)

    @reactive.effect
    @reactive.event(edited.exact.get, ignore_init=True)
    def _() -> None:
        if (one := edited.draft.get()) is not None and one.method in edited.forms.get():
            with contextlib.suppress(ScenarioError):  # told at Apply
                edited.draft.set(replace(one, arguments=edited.filled(one)))


def _serve_form(edited: Editor, put: Put) -> None:
    room, input = edited.room, edited.input

    @reactive.effect
    def _() -> None:
        if edited.draft.get() is not None and not edited.forms.get():
            room.start(
                "protecting.methods",
                lambda told: edited.forms.set({one["method"]: one for one in told["methods"]}),
                label=room.say("reading what the methods ask for"),
            )

    @render.ui
    def editor() -> TagChild:
        one, asked = edited.draft.get(), edited.forms.get()
        if one is None:
            return tags.p(room.say(EMPTY), class_="empty") if room.work.get().steps else None
        if one.method not in asked:
            return None
        with reactive.isolate():
            work = room.work.get()
        return _shown(room.say, one, asked[one.method], work)

    @reactive.effect
    @reactive.event(input.apply_step)
    def _() -> None:
        one = edited.draft.get()
        if one is None:
            return
        try:
            arguments = edited.filled(one)
        except ScenarioError as error:
            room.alert(str(error))
            return
        put(one, arguments)
        at = len(room.work.get().steps) - 1 if one.at is None else one.at
        edited.draft.set(Draft(one.method, arguments, at))

    @reactive.effect
    @reactive.event(input.close_step)
    def _() -> None:
        edited.draft.set(None)


def _serve_recoding(edited: Editor, session: Session) -> None:
    say = edited.room.say

    @reactive.effect
    def _() -> None:
        one, _ = edited.draft.get(), edited.exact.get()
        edited.variable.set({})
        if one is None or one.method != "recode" or not edited.forms.get():
            return
        column, way = edited.read("arg_column"), edited.way()
        if column and way != "hierarchy":
            edited.look(one, str(column), way)

    @render.ui
    def recode_editor() -> TagChild:
        one, told, way = edited.draft.get(), edited.variable.get(), edited.way()
        if one is None:
            return None
        if way == "hierarchy":
            return hierarchy_shown(say, one.arguments)
        if not told or told["way"] != way:
            return tags.p(say("Choose a variable; its values are counted."), class_="quiet")
        if way == "groups":
            return groups_shown(say, one.arguments, told, session.ns("level_groups"))
        return bands_shown(say, one.arguments, told, session.ns("band_edges"))


def _serve_hierarchy(edited: Editor) -> None:
    room, input = edited.room, edited.input

    @reactive.effect
    @reactive.event(input.build)
    def _() -> None:
        room.start(
            "protecting.build_hierarchy", lambda told: ui.update_text("hierarchy", value=told["name"]),
            label=room.say("building a hierarchy"), column=str(edited.read("arg_column") or ""),
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.hierarchy_file)
    def _() -> None:
        for one in input.hierarchy_file() or ():
            name = f"hierarchy-{Path(str(one['name']).replace(chr(92), '/')).name}"
            shutil.copyfile(one["datapath"], room.folder / name)
            ui.update_text("hierarchy", value=name)


def _serve_picture(edited: Editor) -> None:
    say, input = edited.room.say, edited.input

    @reactive.effect
    def _() -> None:
        """A step that is opened or applied is drawn."""
        one, _ = edited.draft.get(), edited.exact.get()
        edited.picture.set({})
        if one is not None and one.at is not None:
            edited.show(one.at)

    @reactive.effect
    @reactive.event(input.pictured)
    def _() -> None:
        one = edited.draft.get()
        if one is not None and one.at is not None and edited.picture.get().get("column") != input.pictured():
            edited.show(one.at, str(input.pictured()))

    @render.ui
    def picture() -> TagChild:
        told = edited.picture.get()
        if not told:
            return None
        names = list(told["variables"])
        choose = None
        if len(names) > 1:
            choose = ui.input_select("pictured", say("Variable"), names, selected=told["column"])
        title = say("Before and after: {c}", c=told["column"]) if names else say("Before and after")
        html = tags.div(HTML(told["html"]), class_="two-pictures")
        return tags.section(tags.h3(title), choose, html, class_="card-box")


def _shown(say: Say, one: Draft, asked: Plain, work: Work) -> TagChild:
    columns = list((work.facts or {}).get("columns", ()))
    intruders = list((work.scenario or {}).get("intruders") or ())
    what = say(WHAT.get(one.method, one.method))
    title = say("A new step: {c}", c=what) if one.at is None else say("Step {n}: {c}", n=one.at + 1, c=what)
    return tags.section(
        tags.h3(title), tags.p(say(asked["about"]), class_="quiet"),
        form(say, asked, one.arguments, columns=columns, intruders=intruders),
        ways_shown(say, one.arguments) if one.method == "recode" else None,
        tags.div(
            ui.input_action_button("apply_step", say("Apply"), class_="btn-primary"),
            ui.input_action_button("close_step", say("Close"), class_="btn-outline-secondary"),
            class_="buttons",
        ),
        class_="card-box step-editor", data_method=one.method,
    )  # fmt: skip
