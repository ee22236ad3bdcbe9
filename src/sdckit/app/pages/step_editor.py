"""The editor of one step: its form, bands on the histogram, groups of levels, hierarchies, and its picture."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import Inputs, Session, reactive, render, ui

from sdckit.app.room import Room
from sdckit.app.step_form import WHAT, arguments_of, form
from sdckit.app.words import Say
from sdckit.app.work import Work
from sdckit.errors import ScenarioError

__all__ = ["Draft", "serve_editor"]

Plain = Mapping[str, Any]
WAYS = {"bands": "Bands of numbers", "groups": "Groups of values", "hierarchy": "Up a hierarchy"}
LOST = "Values that few records have are one line here. Switch to exact figures to put them in groups one by one."


@dataclass(frozen=True)
class Draft:
    """A step that is being edited; `at` is its place in the list, None for a new one."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    at: int | None = None


def serve_editor(
    input: Inputs, session: Session, room: Room, draft: reactive.Value[Draft | None],
    put: Callable[[Draft, Plain], None],
) -> None:  # fmt: skip
    """Serve form and picture of the step in `draft`; `put` takes what was filled in."""
    forms: reactive.Value[dict[str, Plain]] = reactive.Value({})
    variable: reactive.Value[dict[str, Any]] = reactive.Value({})
    picture: reactive.Value[dict[str, Any]] = reactive.Value({})

    def read(name: str) -> Any:
        return input[name]() if name in input else None

    @reactive.effect
    def _() -> None:
        if draft.get() is not None and not forms.get():
            room.start(
                "protecting.methods",
                lambda told: forms.set({one["method"]: one for one in told["methods"]}),
                label=room.say("reading what the methods ask for"),
            )

    @render.ui
    def editor() -> TagChild:
        one, asked = draft.get(), forms.get()
        if one is None or one.method not in asked:
            return None
        with reactive.isolate():
            work = room.work.get()
        return _editor(room.say, one, asked[one.method], work)

    @reactive.effect
    def _() -> None:
        """Look at the variable that is to be made coarser."""
        one = draft.get()
        if one is None or one.method != "recode" or not forms.get():
            variable.set({})
            return
        column, way = read("arg_column"), read("way") or "bands"
        if not column or way == "hierarchy":
            variable.set({})
            return
        with reactive.isolate():
            work = room.work.get()
        before, number = _before(work, one)
        room.start(
            "protecting.variable", lambda told: variable.set({**told, "way": way}),
            label=room.say("counting the values of {c}", c=column), scenario=dict(work.scenario or {}), steps=before,
            number=number, column=column, secret=work.secret, levels=way == "groups", exact=work.exact,
        )  # fmt: skip

    @render.ui
    def recode_editor() -> TagChild:
        one, told = draft.get(), variable.get()
        if one is None:
            return None
        if read("way") == "hierarchy":
            return _hierarchy(room.say, one)
        if not told or told["column"] != read("arg_column"):
            return tags.p(room.say("Choose a variable."), class_="quiet")
        return _recode(room.say, one, told, session)

    @reactive.effect
    @reactive.event(input.apply_step)
    def _() -> None:
        one = draft.get()
        if one is None:
            return
        try:
            arguments = _filled(room, one, forms.get()[one.method], read, variable.get())
        except ScenarioError as error:
            room.alert(str(error))
            return
        put(one, arguments)
        at = len(room.work.get().steps) - 1 if one.at is None else one.at
        draft.set(Draft(one.method, arguments, at))
        _show_picture(room, at, picture)

    @reactive.effect
    @reactive.event(input.close_step)
    def _() -> None:
        draft.set(None)
        picture.set({})

    @reactive.effect
    @reactive.event(input.build)
    def _() -> None:
        """Build a hierarchy of codes."""
        room.start(
            "protecting.build_hierarchy", lambda told: ui.update_text("hierarchy", value=told["name"]),
            label=room.say("building a hierarchy"), column=str(read("arg_column") or ""),
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.hierarchy_file)
    def _() -> None:
        for one in input.hierarchy_file() or ():
            name = Path(str(one["name"]).replace("\\", "/")).name
            shutil.copyfile(one["datapath"], room.folder / name)
            ui.update_text("hierarchy", value=name)

    @reactive.effect
    @reactive.event(input.pictured)
    def _() -> None:
        one = draft.get()
        if one is not None and one.at is not None and picture.get().get("column") != input.pictured():
            _show_picture(room, one.at, picture, str(input.pictured()))

    @reactive.effect
    def _() -> None:
        """A step that is opened is shown."""
        one = draft.get()
        picture.set({})
        if one is not None and one.at is not None:
            with reactive.isolate():
                _show_picture(room, one.at, picture)

    session.output(id="picture")(render.ui(lambda: _picture(room.say, picture.get())))


def _before(work: Work, one: Draft) -> tuple[list[dict[str, Any]], int]:
    """The steps that are carried out before this one, and their number."""
    at = len(work.steps) if one.at is None else one.at
    earlier = [
        {"method": step.method, "arguments": dict(step.arguments)} for step in work.steps[:at] if step.on
    ]
    return earlier, len(earlier)


def _show_picture(room: Room, at: int, picture: reactive.Value[dict[str, Any]], column: str = "") -> None:
    with reactive.isolate():
        work = room.work.get()
    if at >= len(work.steps) or not work.steps[at].on:
        return
    room.start(
        "protecting.preview", picture.set, label=room.say("drawing the variable before and after"),
        scenario=dict(work.scenario or {}), steps=work.recipe(), number=sum(one.on for one in work.steps[:at]),
        secret=work.secret, column=column, exact=work.exact, language=work.language,
    )  # fmt: skip


def _filled(room: Room, one: Draft, asked: Plain, read: Callable[[str], Any], told: Plain) -> dict[str, Any]:
    """What the form says, and for a recoding what its editor says."""
    found = arguments_of(room.say, asked, read)
    if one.method != "recode":
        return found
    way = read("way") or "bands"
    if way == "hierarchy":
        if not (named := str(read("hierarchy") or "").strip()):
            raise ScenarioError(room.say("Choose the file of a hierarchy, or build one."))
        return {**found, "hierarchy": named, "level": int(read("level") or 1)}
    if way == "bands":
        edges = sorted({_number(one) for one in read("band_edges") or ()})
        if not edges:
            raise ScenarioError(room.say("Bands need one edge at least."))
        return {**found, "bands": [None, *edges, None]}
    groups = {name: levels for name, levels in (read("level_groups") or {}).items() if levels}
    if not groups:
        raise ScenarioError(room.say("Put two values or more in a group."))
    if told.get("numeric"):
        groups = {name: [_number(level) for level in levels] for name, levels in groups.items()}
    return {**found, "groups": groups, "outside": found.get("outside", "keep")}


def _number(value: Any) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() else number


def _editor(say: Say, one: Draft, asked: Plain, work: Work) -> Tag:
    columns = list((work.facts or {}).get("columns", ()))
    intruders = list((work.scenario or {}).get("intruders") or ())
    title = say("A new step: {c}", c=say(WHAT[one.method])) if one.at is None else say(
        "Step {n}: {c}", n=one.at + 1, c=say(WHAT[one.method])
    )  # fmt: skip
    return tags.section(
        tags.h3(title), tags.p(say(asked["about"]), class_="quiet"),
        form(say, asked, one.arguments, columns=columns, intruders=intruders),
        _ways(say, one) if one.method == "recode" else None,
        tags.div(
            ui.input_action_button("apply_step", say("Apply"), class_="btn-primary"),
            ui.input_action_button("close_step", say("Close"), class_="btn-outline-secondary"),
            class_="buttons",
        ),
        class_="card-box step-editor",
    )  # fmt: skip


def _ways(say: Say, one: Draft) -> TagChild:
    way = next((name for name in WAYS if name in one.arguments), "bands")
    choices: dict[str, TagChild] = {name: say(words) for name, words in WAYS.items()}
    return TagList(
        ui.input_radio_buttons("way", say("How"), choices, selected=way, inline=True),
        ui.output_ui("recode_editor"),
    )


def _recode(say: Say, one: Draft, told: Plain, session: Session) -> Tag:
    """Where the script of the page draws its editor."""
    rows = [
        {"level": row["level"], "text": row["text"], "size": row["size"], "pooled": row["pooled"]}
        for row in told["rows"]
    ]
    if told["way"] == "bands":
        if not told["numeric"]:
            return tags.p(
                say("{c} holds no numbers: put its values in groups.", c=told["column"]), class_="warn"
            )
        edges = [edge for edge in one.arguments.get("bands") or () if isinstance(edge, int | float)]
        given = {
            "rows": rows, "bins": told["edges"], "edges": edges or told["suggested"], "whole": told["whole"],
            "input": session.ns("band_edges"), "edge": say("Edge {n}", n="#"), "add": say("Add an edge"),
            "remove": say("Remove the edge"), "name": say("Records of {c} by value", c=told["column"]),
            "about": say("Move an edge with the mouse, with the arrow keys, or write its number."),
        }  # fmt: skip
        return tags.div(data_bands=json.dumps(given), class_="bands")
    groups = one.arguments.get("groups") or {}
    given = {
        "rows": rows, "groups": {str(name): [str(level) for level in levels] for name, levels in groups.items()},
        "input": session.ns("level_groups"), "none": say("in no group"), "new": say("New group"),
        "name": say("Name of the group"), "move": say("Group of {c}", c="#"), "pooled": say(LOST),
        "first": say("group"),
        "about": say("Choose the group of each value, or drag the value there."),
    }  # fmt: skip
    return tags.div(data_groups=json.dumps(given), class_="groups")


def _hierarchy(say: Say, one: Draft) -> TagChild:
    given = one.arguments
    named = given.get("hierarchy", "")
    return TagList(
        ui.input_file(
            "hierarchy_file", say("A file with a line for each value: the value, then its coarser names"),
            accept=[".csv"], button_label=say("Browse…"), placeholder=say("No file chosen"),
        ),
        ui.input_action_button("build", say("Build one by cutting the ends of codes"), class_="btn-outline-secondary btn-sm"),
        ui.input_text("hierarchy", say("Hierarchy"), value=named if isinstance(named, str) else ""),
        ui.input_numeric("level", say("Levels up"), value=int(given.get("level") or 1), min=1, max=20),
    )  # fmt: skip


def _picture(say: Say, told: Plain) -> TagChild:
    if not told:
        return None
    names = list(told.get("variables", ()))
    choose = (
        ui.input_select("pictured", say("Variable"), names, selected=told.get("column"))
        if len(names) > 1
        else None
    )
    return tags.section(
        tags.h3(say("Before and after: {c}", c=told.get("column", "")) if names else say("Before and after")),
        choose, tags.div(HTML(told["html"]), class_="two-pictures"), class_="card-box",
    )  # fmt: skip
