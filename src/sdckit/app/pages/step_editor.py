"""The editor of one step: its form, bands on the histogram, groups of levels, hierarchies, and its picture."""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shiny import Inputs, Session, reactive, render, ui
from shiny.ui import HTML, TagChild, TagList, tags

from sdckit.app.browser_sessions import Step, Work
from sdckit.app.page_context import Kept, Room, Say, file_field, named_upload, upon
from sdckit.app.pages.hierarchy_editor import Levels, hierarchy_shown, serve_hierarchy
from sdckit.app.step_form import arguments_of, form
from sdckit.app.tasks import Place
from sdckit.data.columns import MONTHS
from sdckit.data.methods import METHODS, kind_of
from sdckit.errors import ScenarioError

# How a variable is made coarser: what the script of the page draws, and what it gives back.


Plain = Mapping[str, Any]
BANDS, GROUPS = "Bands of numbers", "Groups of values"
WAYS = {"bands": BANDS, "groups": GROUPS, "hierarchy": "Up a hierarchy", "period": "Dates by period"}
NOTHING: Plain = {}
POOLED = "Values that few records have are one line here. Switch to exact figures to see each of them."


def ways_shown(say: Say, arguments: Plain) -> TagChild:
    """Bands, groups, a hierarchy or periods."""
    way = next((name for name in WAYS if name in arguments), "bands")
    choices: dict[str, TagChild] = {name: say(words) for name, words in WAYS.items()}
    buttons: TagChild = ui.input_radio_buttons("way", say("How"), choices, selected=way, inline=True)
    return TagList(buttons, ui.output_ui("recode_editor"))


def bands_shown(say: Say, arguments: Plain, variable: Plain, name: str) -> TagChild:
    """Where edges are drawn on the histogram; they are told to the input `name`."""
    if not variable["numeric"]:
        text = say("{c} holds no numbers: put its values in groups, or dates by period.", c=variable["column"])
        return tags.p(text, class_="warn")
    edges = [edge for edge in arguments.get("bands") or () if isinstance(edge, int | float)]
    given = {
        "rows": variable["rows"], "bins": variable["edges"], "edges": edges or variable["suggested"],
        "whole": variable["whole"], "input": name, "edge": say("Edge {c}", c="#"), "add": say("Add an edge"),
        "remove": say("Remove the edge"),
        "name": say("Records of {c} by value", c=variable["column"]),
        "about": say("Move an edge with the mouse, with the arrow keys, or write its number."),
    }  # fmt: skip
    return tags.div(data_bands=json.dumps(given), class_="bands")


def periods_shown(say: Say, arguments: Plain) -> TagChild:
    """What dates are shortened to."""
    choices: dict[str, TagChild] = {period: say(period) for period in MONTHS}
    selected = arguments.get("period") or next(iter(MONTHS))
    return ui.input_radio_buttons("period", say("What is left of a date"), choices, selected=selected, inline=True)


def groups_shown(say: Say, arguments: Plain, variable: Plain, name: str) -> TagChild:
    """Where values are put in groups; these are told to the input `name`."""
    groups = arguments.get("groups") or {}
    shown = {row["level"] for row in variable["rows"] if not row["pooled"]}
    given = {
        "rows": variable["rows"],
        "groups": {
            str(group): [str(level) for level in levels if str(level) in shown] for group, levels in groups.items()
        },
        "input": name, "none": say("in no group"), "new": say("New group"), "name": say("Name of the group"),
        "move": say("Group of {c}", c="#"), "pooled": say(POOLED), "first": say("group"),
        "about": say("Choose the group of each value, or drag the value there."),
    }  # fmt: skip
    return tags.div(data_groups=json.dumps(given), class_="groups")


def recoding_of(
    say: Say, recoded: Plain, way: str, read: Callable[[str], Any], variable: Plain, before: Plain = NOTHING
) -> dict[str, Any]:
    """The arguments of a recoding: those of the form, and what the editor says.

    Values of the groups `before` that were not shown, since few records have them, stay where they are.

    Raises
    ------
    ScenarioError
        No edge, no group, or no hierarchy.
    """
    if way == "period":
        return {**recoded, "period": str(read("period") or next(iter(MONTHS)))}
    if way == "hierarchy":
        inline = before.get("hierarchy")
        named = str(read("hierarchy") or "").strip() or (inline if isinstance(inline, Mapping) else None)
        if not named:
            raise ScenarioError(say("Choose the file of a hierarchy, or build one."))
        return {**recoded, "hierarchy": named, "level": int(read("level") or 1)}
    if way == "bands":
        edges = sorted({_number(edge) for edge in read("band_edges") or ()})
        if not edges:
            raise ScenarioError(say("Bands need one edge at least."))
        return {**recoded, "bands": [None, *edges, None]}
    groups = {name: list(levels) for name, levels in (read("level_groups") or {}).items() if levels}
    shown = {row["level"] for row in variable.get("rows", ()) if not row["pooled"]}
    for name, levels in (before.get("groups") or {}).items():
        if unseen := [str(level) for level in levels if str(level) not in shown]:
            groups[name] = [*groups.get(name, ()), *unseen]
    if not groups:
        raise ScenarioError(say("Put a value in a group."))
    pooled, rest = "others" in recoded, "keep"  # values that others= stands for need no names
    if variable.get("numeric"):
        # beside the names of groups no numbers can be kept: each value gets its own as its name
        taken = {level for levels in groups.values() for level in levels}
        groups |= {level: [level] for level in sorted(shown) if level not in taken and not pooled}
        groups = {name: [_number(level) for level in levels] for name, levels in groups.items()}
        rest = "missing" if len(shown) < len(variable["rows"]) else "error"
    given = {**recoded, "groups": groups}
    return given if pooled else {**given, "outside": recoded.get("outside", rest)}


def _number(value: Any) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() else number


DOMAIN = "Choose the domain file: what the columns may hold, declared without looking"
EMPTY = "Edit a step, or add one: its form stands here, and the variable before and after it."
Put = Callable[["Draft", Plain], None]


@dataclass(frozen=True)
class Draft:
    """A step that is being edited; `at` is its place in the list, None for a new one."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    at: int | None = None

    def place(self, steps: Sequence[Step]) -> int:
        """Where it stands, or will: a new one behind the last, but before columns that are computed in the end."""
        if self.at is not None and self.at < len(steps):
            return self.at
        computing = steps and METHODS[steps[-1].method].computes and not METHODS[self.method].computes
        return len(steps) - bool(computing)


@dataclass(frozen=True, eq=False)
class Editor:
    """What the editor knows: the step, the forms of all methods, the variable looked at, the picture."""

    room: Room
    input: Inputs
    draft: reactive.Value[Draft | None]
    forms: reactive.Value[dict[str, Plain]]
    variable: Kept[dict[str, Any]]
    picture: Kept[dict[str, Any]]
    counting: Place
    drawing: Place
    levels: Levels
    # whether the session shows exact figures; set by `_serve_switch`
    exact: reactive.Value[bool] = field(default_factory=lambda: reactive.Value(False))

    def read(self, name: str) -> Any:
        """The value of a field, None where there is none; reactive."""
        return self.input[name]() if name in self.input else None

    def way(self) -> str:
        """How a variable is made coarser."""
        return str(self.read("way") or "bands")

    def recodes(self) -> bool:
        """Whether the step in the form makes a variable coarser; reactive."""
        draft = self.draft.get()
        return draft is not None and kind_of(draft.method).banded and bool(self.forms.get())

    def look(self, draft: Draft, column: str, way: str) -> None:
        """Count the values of the variable as it is before the step."""
        with reactive.isolate():
            work = self.room.work.get()
        before = _before(work, draft)
        self.room.start(
            "protecting.variable", self.variable.taker(lambda answer: {**answer, "way": way}),
            label=self.room.say("counting the values of {c}", c=column), place=self.counting,
            scenario=dict(work.scenario or {}), steps=before, number=len(before), column=column, secret=work.secret,
            levels=way == "groups", exact=work.exact,
        )  # fmt: skip

    def show(self, at: int, column: str = "") -> None:
        """Draw a variable before and after the step."""
        with reactive.isolate():
            work = self.room.work.get()
        if at >= len(work.steps) or not work.steps[at].on:
            return
        self.room.start(
            "protecting.preview", self.picture.taker(), label=self.room.say("drawing the variable before and after"),
            place=self.drawing, scenario=dict(work.scenario or {}), steps=work.recipe(),
            number=sum(step.on for step in work.steps[:at]), secret=work.secret, column=column, exact=work.exact,
            language=work.language,
        )  # fmt: skip

    def filled(self, draft: Draft) -> dict[str, Any]:
        """The arguments that form and editor say."""
        arguments = arguments_of(self.room.say, self.forms.get()[draft.method], self.read)
        if not kind_of(draft.method).banded:
            return arguments
        read, way = (self.levels.field, self.way()) if self.way() == "hierarchy" else (self.read, self.way())
        return recoding_of(self.room.say, arguments, way, read, self.variable.held(), draft.arguments)


def _before(work: Work, draft: Draft) -> list[dict[str, Any]]:
    """The steps that are carried out before this one."""
    steps = work.steps[: draft.place(work.steps)]
    return [{"method": step.method, "arguments": dict(step.arguments)} for step in steps if step.on]


def _asked(room: Room, draft: Draft | None) -> dict[str, Any] | None:
    """What the task on a hierarchy is told of the step."""
    if draft is None:
        return None
    with reactive.isolate():
        work = room.work.get()
    before, given = _before(work, draft), draft.arguments.get("hierarchy")
    return {
        "scenario": dict(work.scenario or {}), "steps": before, "number": len(before), "secret": work.secret,
        "exact": work.exact, "inline": given if isinstance(given, Mapping) else "",
    }  # fmt: skip


def serve_editor(input: Inputs, session: Session, room: Room, draft: reactive.Value[Draft | None], put: Put) -> None:
    """Serve form and picture of the step in `draft`; `put` takes what was filled in."""
    places = room.place("recode_editor"), room.place("picture")

    def read(name: str) -> Any:
        return input[name]() if name in input else None

    levels = Levels(room, read, lambda: _asked(room, draft.get()))
    edited = Editor(room, input, draft, reactive.Value({}), Kept(room, {}), Kept(room, {}), *places, levels)
    _serve_switch(edited)
    _serve_form(edited, put)
    _serve_recoding(edited, session)
    serve_hierarchy(input, room, levels, lambda: edited.recodes() and edited.way() == "hierarchy")
    _serve_picture(edited)


def _serve_switch(edited: Editor) -> None:
    """Where the session shows other figures, what is drawn is drawn anew, and what was moved meanwhile stays.

    Where another file is opened, the form closes: its step and its variable are those of the file before.
    """
    path = reactive.Value("")

    @reactive.effect
    def _() -> None:
        edited.exact.set(edited.room.work.get().exact)
        path.set(edited.room.work.get().path)

    @upon(path.get, ignore_init=True)
    def _() -> None:
        edited.draft.set(None)

    @upon(edited.exact.get, ignore_init=True)
    def _() -> None:
        if (draft := edited.draft.get()) is not None and draft.method in edited.forms.get():
            with contextlib.suppress(ScenarioError):  # told at Apply
                edited.draft.set(replace(draft, arguments=edited.filled(draft)))


def _serve_form(edited: Editor, put: Put) -> None:
    room, input = edited.room, edited.input
    place = room.place("editor")

    @reactive.effect
    def _() -> None:
        if edited.draft.get() is not None and not edited.forms.get():
            room.start(
                "protecting.methods",
                lambda answer: edited.forms.set({method["method"]: method for method in answer["methods"]}),
                label=room.say("reading what the methods ask for"), place=place,
            )  # fmt: skip

    @render.ui
    def editor() -> TagChild:
        draft, asked = edited.draft.get(), edited.forms.get()
        if draft is None:
            return tags.p(room.say(EMPTY), class_="empty") if room.work.get().steps else None
        if draft.method not in asked:
            return place.shown()
        with reactive.isolate():
            work = room.work.get()
        return _shown(room.say, draft, asked[draft.method], work)

    def apply() -> None:
        draft = edited.draft.get()
        if draft is None:
            return
        try:
            arguments = edited.filled(draft)
        except ScenarioError as error:
            room.alert(str(error), beside=f"arg_{error.argument}" if error.argument else "apply_step")
            return
        at = draft.place(room.work.get().steps)
        put(draft, arguments)
        edited.draft.set(Draft(draft.method, arguments, at))

    @upon(input.apply_step)
    def _() -> None:
        edited.levels.when_still(apply)

    @upon(input.domain_file)
    def _() -> None:
        for chosen in input.domain_file() or ():
            room.start(
                "protecting.take_domain", lambda answer: ui.update_text("arg_domain", value=answer["name"]),
                label=room.say("reading the domain"), beside="domain_file", path=str(named_upload(chosen)),
            )  # fmt: skip

    @upon(input.close_step)
    def _() -> None:
        edited.draft.set(None)


def _serve_recoding(edited: Editor, session: Session) -> None:
    say = edited.room.say

    @reactive.effect
    def _() -> None:
        draft, _ = edited.draft.get(), edited.exact.get()
        edited.variable.set({})
        if draft is None or not edited.recodes():
            return
        column, way = edited.read("arg_column"), edited.way()
        if column and way not in ("hierarchy", "period"):
            edited.look(draft, str(column), way)

    @render.ui
    def recode_editor() -> TagChild:
        draft, variable, way = edited.draft.get(), edited.variable.get(), edited.way()
        if draft is None:
            return None
        if way == "hierarchy":
            return hierarchy_shown(say, draft.arguments)
        if way == "period":
            return periods_shown(say, draft.arguments)
        if not variable or variable["way"] != way:
            return edited.counting.shown() or tags.p(say("Choose a variable; its values are counted."), class_="quiet")
        if way == "groups":
            return groups_shown(say, draft.arguments, variable, session.ns("level_groups"))
        return bands_shown(say, draft.arguments, variable, session.ns("band_edges"))


def _serve_picture(edited: Editor) -> None:
    say, input = edited.room.say, edited.input

    @reactive.effect
    def _() -> None:
        """A step that is opened or applied is drawn."""
        draft, _ = edited.draft.get(), edited.exact.get()
        edited.picture.set({})
        if draft is not None and draft.at is not None:
            edited.show(draft.at)

    @upon(input.pictured)
    def _() -> None:
        draft = edited.draft.get()
        if draft is not None and draft.at is not None and edited.picture.get().get("column") != input.pictured():
            edited.show(draft.at, str(input.pictured()))

    @render.ui
    def picture() -> TagChild:
        picture_shown = edited.picture.get()
        if not picture_shown:
            return edited.drawing.shown() if edited.draft.get() is not None else None
        names = list(picture_shown["variables"])
        choose = None
        if len(names) > 1:
            choose = ui.input_select("pictured", say("Variable"), names, selected=picture_shown["column"])
        title = say("Before and after: {c}", c=picture_shown["column"]) if names else say("Before and after")
        html = tags.div(HTML(picture_shown["html"]), class_="two-pictures")
        return tags.section(tags.h3(title), choose, html, class_="card-box")


def _shown(say: Say, draft: Draft, asked: Plain, work: Work) -> TagChild:
    columns = list((work.facts or {}).get("columns", ()))
    intruders = list((work.scenario or {}).get("intruders") or ())
    what = say(METHODS[draft.method].title)
    title = say("A new step: {c}", c=what) if draft.at is None else say("Step {n}: {c}", n=draft.at + 1, c=what)
    return tags.section(
        tags.h3(title), tags.p(say(asked["about"]), class_="quiet"),
        form(say, asked, draft.arguments, columns=columns, intruders=intruders),
        ways_shown(say, draft.arguments) if kind_of(draft.method).banded else None,
        file_field(say, "domain_file", say(DOMAIN), accept=[".toml"], width="100%")
        if kind_of(draft.method).first
        else None,
        tags.div(
            ui.input_action_button("apply_step", say("Apply"), class_="btn-primary"),
            ui.input_action_button("close_step", say("Close"), class_="btn-outline-secondary"),
            class_="buttons",
        ),
        class_="card-box step-editor", data_method=draft.method,
    )  # fmt: skip
