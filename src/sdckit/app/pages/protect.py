"""The page Protect: the steps as a list, each with its form and its picture, and what all of them come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from sdckit.app.pages.step_editor import Draft, serve_editor
from sdckit.app.room import Room
from sdckit.app.step_form import WHAT, summary
from sdckit.app.words import Say
from sdckit.app.work import Step, Work

__all__ = ["panel", "serve"]

Plain = Mapping[str, Any]
SECONDS = 120  # of a search for a recipe


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(
        tags.link(rel="stylesheet", href="protect.css"),
        tags.script(src="protect.js", defer=""),
        ui.output_ui("start"),
        tags.div(
            tags.div(tags.h3(say("Steps")), ui.output_ui("steps"), ui.output_ui("add"), class_="steps"),
            tags.div(ui.output_ui("editor"), ui.output_ui("picture"), class_="editor"),
            class_="protect",
        ),
        ui.output_ui("outcome"),
        ui.output_ui("found"),
        ui.output_ui("beside"),
    )


class Steps:
    """What the page does to the list of steps; every change can be undone."""

    def __init__(self, room: Room) -> None:
        self.room = room

    def now(self) -> list[Step]:
        """The steps as they are."""
        with reactive.isolate():
            return list(self.room.work.get().steps)

    def put(self, steps: Sequence[Step]) -> None:
        """Take these steps."""
        self.room.change(steps=tuple(steps))

    def take(self, plain: Sequence[Plain]) -> None:
        """Take the steps that a task gave."""
        self.put([Step(one["method"], dict(one["arguments"]), bool(one.get("on", True))) for one in plain])

    def do(self, act: str, at: int) -> None:
        """Carry out what a button of a step says."""
        steps = self.now()
        if not 0 <= at < len(steps):
            return
        one = steps.pop(at)
        if act == "switch":
            steps.insert(at, replace(one, on=not one.on))
        elif act in ("up", "down"):
            to = at - 1 if act == "up" else at + 1
            steps.insert(max(0, min(to, len(steps))), one)
        elif act != "remove":
            return
        self.put(steps)

    def set(self, draft: Draft, arguments: Plain) -> None:
        """Put what a form says in the place of its step, or behind the last one."""
        steps = self.now()
        if draft.at is None or draft.at >= len(steps):
            steps.append(Step(draft.method, dict(arguments)))
        else:
            steps[draft.at] = Step(draft.method, dict(arguments), steps[draft.at].on)
        self.put(steps)


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:
    """What its buttons do."""
    steps = Steps(room)
    draft: reactive.Value[Draft | None] = reactive.Value(None)
    figures: reactive.Value[dict[str, Any]] = reactive.Value({})
    found: reactive.Value[dict[str, Any]] = reactive.Value({})
    beside: reactive.Value[str] = reactive.Value("")
    kept: reactive.Value[list[dict[str, Any]]] = reactive.Value([])
    serve_editor(input, session, room, draft, steps.set)
    here = _shown(session)

    @render.ui
    def start() -> TagChild:
        work = room.work.get()
        if not _ready(work):
            return _empty(room.say)
        return _start(room)

    @output(id="steps")
    @render.ui
    def _() -> TagChild:
        work = room.work.get()
        if not _ready(work):
            return None
        if not work.steps:
            text = "No step yet. Propose a recipe, start from the advice on the keys, or add a step."
            return tags.p(room.say(text), class_="empty")
        return tags.ol(
            *(_item(room.say, at, one, len(work.steps), _after(room.say, figures.get(), work, at)) for at, one in enumerate(work.steps)),
            class_="step-list",
        )  # fmt: skip

    @render.ui
    def add() -> TagChild:
        if not _ready(room.work.get()):
            return None
        choices = {name: f"{room.say(what)} ({name})" for name, what in WHAT.items()}
        return tags.div(
            ui.input_select("method", room.say("Method"), choices),
            ui.input_action_button("add_step", room.say("Add a step"), class_="btn-outline-primary"),
            class_="add-step",
        )

    @reactive.effect
    @reactive.event(input.add_step)
    def _() -> None:
        draft.set(Draft(str(input.method())))

    @reactive.effect
    @reactive.event(input.act)
    def _() -> None:
        act, at = str(input.act()["act"]), int(input.act().get("at", -1))
        if act == "edit" and 0 <= at < len(steps.now()):
            one = steps.now()[at]
            draft.set(Draft(one.method, dict(one.arguments), at))
        elif act == "undo":
            room.undo()
        elif act == "redo":
            room.redo()
        elif act == "other":
            steps.take(found.get()["alternatives"][at]["steps"])
        elif act == "compare_other":
            compare(found.get()["alternatives"][at]["steps"], room.say("the other recipe"))
        elif act == "keep":
            kept.set(room.work.get().recipe())
        elif act == "compare":
            compare(kept.get(), room.say("the recipe kept"))
        else:
            draft.set(None)
            steps.do(act, at)

    def compare(second: Sequence[Plain], name: str) -> None:
        work = room.work.get()
        room.start(
            "protecting.compare", lambda told: beside.set(told["html"]), label=room.say("comparing two recipes"),
            first=work.recipe(), second=list(second), names=[room.say("the recipe here"), name], **_asked(work),
        )  # fmt: skip

    def proposed(told: dict[str, Any]) -> None:
        found.set(told)
        draft.set(None)
        steps.take(told["steps"])

    @reactive.effect
    @reactive.event(input.propose)
    def _() -> None:
        work = room.work.get()
        room.start(
            "protecting.propose", proposed, label=room.say("looking for the recipe that loses least"),
            scenario=dict(work.scenario or {}), keep=list(input.keep() or ()), seconds=SECONDS, exact=work.exact,
            language=work.language,
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.starter)
    def _() -> None:
        work = room.work.get()
        room.start(
            "protecting.starter", proposed, label=room.say("following the advice on the keys"),
            scenario=dict(work.scenario or {}), exact=work.exact, language=work.language,
        )  # fmt: skip

    @reactive.effect
    def _() -> None:
        """Measure risk and loss after every step, whenever the steps are others."""
        work = room.work.get()
        if not here() or not _ready(work) or not work.recipe():
            return
        name = _name(work)
        with reactive.isolate():
            if figures.get().get("name") == name:
                return
        room.start(
            "protecting.run", lambda told: figures.set({**told, "name": name}),
            label=room.say("measuring risk and loss after every step"), steps=work.recipe(), **_asked(work),
        )  # fmt: skip

    @render.ui
    def outcome() -> TagChild:
        told, work = figures.get(), room.work.get()
        if not told.get("html") or not work.recipe():
            return None
        stale = (
            None
            if told["name"] == _name(work)
            else tags.p(room.say("The steps have changed since."), class_="warn")
        )
        return tags.details(
            tags.summary(room.say("Risk and loss after every step, in full")), stale, HTML(told["html"]),
            class_="card-box",
        )  # fmt: skip

    @output(id="found")
    @render.ui
    def _() -> TagChild:
        return _found(room.say, found.get()) if found.get() else None

    @output(id="beside")
    @render.ui
    def _() -> TagChild:
        work = room.work.get()
        if not work.recipe():
            return None
        second = _button(room.say("Compare with the recipe kept"), "compare", disabled=not kept.get())
        text = "Keep the recipe as it is now, change it, and see both side by side."
        return tags.details(
            tags.summary(room.say("Compare two recipes")), tags.p(room.say(text)),
            tags.div(_button(room.say("Keep this recipe"), "keep"), second, class_="buttons"),
            tags.p(room.say("A recipe of {n} steps is kept.", n=len(kept.get())), role="status") if kept.get() else None,
            HTML(beside.get()), class_="card-box", open="" if beside.get() or kept.get() else None,
        )  # fmt: skip


def _shown(session: Session) -> Any:
    """Whether the page is the one that is looked at; reactive."""
    root = session.root_scope()

    def here() -> bool:
        return "page" in root.input and root.input.page() == "protect"

    return here


def _ready(work: Work) -> bool:
    return bool(work.path and work.scenario and (work.scenario.get("keys") or work.scenario.get("intruders")))


def _asked(work: Work) -> dict[str, Any]:
    """What every task on a recipe is told besides its steps."""
    return {
        "scenario": dict(work.scenario or {}), "secret": work.secret, "exact": work.exact, "language": work.language,
    }  # fmt: skip


def _name(work: Work) -> str:
    return f"{work.digest()} {work.exact} {work.language}"


def _empty(say: Say) -> Tag:
    return tags.div(
        tags.p(say("Nothing can be protected yet: open a file and say what an intruder could know.")),
        tags.button(say("Go to Roles"), type="button", class_="btn btn-primary", data_go="roles"),
        class_="empty",
    )


def _start(room: Room) -> Tag:
    """The buttons above the list."""
    say, work = room.say, room.work.get()
    keys = _keys(work)
    return tags.div(
        tags.div(
            ui.input_action_button("propose", say("Propose a recipe"), class_="btn-primary"),
            ui.input_action_button("starter", say("Start from the advice"), class_="btn-outline-primary"),
            _button(say("Undo"), "undo", disabled=not room.can_undo),
            _button(say("Redo"), "redo", disabled=not room.can_redo),
            class_="buttons",
        ),
        tags.details(
            tags.summary(say("Variables to keep as they are")),
            ui.input_checkbox_group("keep", say("A proposal leaves these as they are, but for single values"), keys, inline=True),
        ),
        class_="start",
    )  # fmt: skip


def _keys(work: Work) -> list[str]:
    scenario = work.scenario or {}
    named = [
        *(scenario.get("keys") or ()),
        *(one for keys in (scenario.get("intruders") or {}).values() for one in keys),
    ]
    return list(dict.fromkeys(named))


def _button(text: str, act: str, at: int = -1, *, disabled: bool = False, about: str = "") -> Tag:
    return tags.button(
        text, type="button", class_="btn btn-sm btn-outline-secondary", data_act=act, data_at=str(at),
        disabled="" if disabled else None, aria_label=about or None, title=about or None,
    )  # fmt: skip


def _item(say: Say, at: int, one: Step, n: int, after: Sequence[str]) -> Tag:
    """One step of the list."""
    number = at + 1
    named = f"{number}. {say(WHAT.get(one.method, one.method))}"
    return tags.li(
        tags.div(
            tags.label(
                tags.input(type="checkbox", data_act="switch", data_at=str(at), checked="" if one.on else None,
                           aria_label=say("Step {n} is carried out", n=number)),
                tags.strong(named), class_="step-name",
            ),
            tags.span(
                _button("↑", "up", at, disabled=at == 0, about=say("Move step {n} up", n=number)),
                _button("↓", "down", at, disabled=at == n - 1, about=say("Move step {n} down", n=number)),
                _button(say("Edit"), "edit", at, about=say("Edit step {n}", n=number)),
                _button(say("Remove"), "remove", at, about=say("Remove step {n}", n=number)),
                class_="buttons",
            ),
            class_="step-head",
        ),
        tags.p(summary(one.method, one.arguments), class_="step-about"),
        *(tags.p(text, class_="step-after") for text in after),
        class_="" if one.on else "off",
    )  # fmt: skip


def _after(say: Say, told: Plain, work: Work, at: int) -> list[str]:
    """Risk and loss after a step, in words; nothing while other steps are measured."""
    if not told or told.get("name") != _name(work) or not work.steps[at].on:
        return []
    number = sum(one.on for one in work.steps[: at + 1])
    rows = [one for one in told["figures"] if one["step"] == number]
    return [_words(say, one, told["k"], several=len(rows) > 1) for one in rows]


def _words(say: Say, one: Plain, k: int, *, several: bool) -> str:
    """Risk and loss after a step."""
    parts = []
    if "below_k" in one:
        parts.append(say("records in groups of fewer than {n}: {c}", n=k, c=one["below_k"]))
    if "sample_uniques" in one:
        parts.append(say("alone: {c}", c=one["sample_uniques"]))
    parts.append(say("values that differ: {c}", c=one["share_changed"]))
    who = f"{one['intruder']} – " if several else ""
    return who + "; ".join(parts)


def _found(say: Say, told: Plain) -> Tag:
    """What a search or the advice has found, with its reasons."""
    words = say("Every limit holds with this recipe.") if told.get("passed") or told.get("exceeded") == [] else say(
        "Limits that do not hold yet: {c}.", c=", ".join(told.get("exceeded", ()))
    )  # fmt: skip
    others = [
        tags.li(
            tags.p(f"{one['words']} ({say('loses {c}', c=one['loss'])})", "" if one["passed"] else f" – {say('not every limit holds')}"),
            tags.span(_button(say("Take"), "other", at), _button(say("Compare"), "compare_other", at), class_="buttons"),
        )
        for at, one in enumerate(told.get("alternatives", ()))
    ]  # fmt: skip
    return tags.div(
        tags.h3(say("What was found")), tags.p(words),
        tags.details(tags.summary(say("Why each step is there")), HTML(told["html"])),
        TagList(tags.h4(say("Other recipes")), tags.ul(*others, class_="others")) if others else None,
        class_="card-box",
    )  # fmt: skip
