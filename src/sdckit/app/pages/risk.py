"""The page Risk: the verdicts, the first figures, how they move with the keys, and what is asked for apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import HTML, TagChild, TagList, tags

from sdckit.app.page_context import Room, Say, meanings
from sdckit.data.scenarios.scenario_form import intruders_of

# What is asked for by a button: its words and the task.
MORE = {"helps": ("What would help most", "risk.helps"), "levels": ("Levels of the keys", "risk.levels")}
TERMS = (
    "Cell", "Sample unique", "k-anonymity", "Individual risk", "Global risk", "l-diversity", "Special unique",
)  # fmt: skip
ANSWERED = (*MORE, "further", "by")  # what has a place for its answer
Questions = dict[str, str]  # measures and what they answer, as the worker tells them


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(
        meanings(TERMS, say),
        ui.output_ui("first"),
        ui.output_ui("keys"),
        ui.output_ui("moved"),
        ui.output_ui("more"),
        *(ui.output_ui(f"more_{name}") for name in ANSWERED),
    )


def _more(say: Say, intruders: list[str], columns: list[str], questions: Questions) -> TagChild:
    buttons = (
        ui.input_action_button(name, say(words), class_="btn-outline-primary") for name, (words, _) in MORE.items()
    )
    whose = ui.input_select("whose", say("Intruder"), {intruder: intruder for intruder in intruders})
    return tags.section(
        tags.h3(say("Look closer")),
        tags.div(*buttons, class_="buttons"),
        tags.div(
            ui.input_select("measure", say("A further question"), questions, width="36em"),
            whose if len(intruders) > 1 else None,
            ui.input_action_button("further", say("Answer it"), class_="btn-outline-primary"),
            class_="buttons",
        ),
        tags.div(
            ui.input_select("by", say("Subgroups by"), {column: column for column in columns}),
            ui.input_action_button("subgroups", say("Show the subgroups"), class_="btn-outline-primary"),
            class_="buttons",
        ),
        class_="card-box",
    )  # fmt: skip


def _keys(say: Say, intruders: dict[str, list[str]], chosen: str) -> TagChild:
    keys = intruders[chosen]
    return tags.fieldset(
        tags.legend(say("What if the intruder knew less?")),
        ui.input_select("who", say("Intruder"), {intruder: intruder for intruder in intruders}, selected=chosen)
        if len(intruders) > 1
        else None,
        ui.input_checkbox_group(
            "ticked", say("Keys that are known"), {key: key for key in keys}, selected=keys, inline=True
        ),
        class_="card-box",
    )


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001
    """What its buttons do."""
    say = room.say
    first: reactive.Value[str] = reactive.Value("")
    moved: reactive.Value[str] = reactive.Value("")
    more: dict[str, reactive.Value[str]] = {name: reactive.Value("") for name in ANSWERED}
    questions: reactive.Value[Questions] = reactive.Value({})
    asked: list[Any] = [None]

    def start(task: str, place: reactive.Value[str], label: str, **arguments: Any) -> None:
        work = room.seat.work
        if not work.scenario:
            return

        def take(answer: dict[str, Any]) -> None:
            place.set(answer["html"])
            questions.set(answer.get("further") or questions.get())

        room.start(
            task, take, label=label, scenario=dict(work.scenario), exact=work.exact,
            language=work.language, **arguments,
        )  # fmt: skip

    @reactive.effect
    def _() -> None:
        """Measure what is in use, whenever it changes; what was asked for apart is of the past then."""
        work = room.work.get()
        ready = work.facts is not None and work.facts["shown"] is not None and bool(work.scenario)
        now = [work.path, dict(work.reading), work.scenario, work.exact, work.language] if ready else None
        if now == asked[0]:
            return
        asked[0] = now
        for place in (first, moved, *more.values()):
            place.set("")
        if now is not None:
            start("risk.risk", first, say("Measuring the risk"))

    @reactive.calc
    def intruders() -> dict[str, list[str]]:
        return intruders_of(room.work.get().scenario or {})

    @output(id="first")
    @render.ui
    def _() -> TagChild:
        work = room.work.get()
        if work.facts is None:
            return tags.p(say("No file is open yet: the first page opens one."), class_="empty")
        if not work.scenario:
            return tags.p(say("Say on the page Roles who could know what; then the risk is measured."), class_="empty")
        return HTML(first.get()) if first.get() else tags.p(say("The risk is being measured."), class_="empty")

    @render.ui
    def keys() -> TagChild:
        known = intruders()
        if not first.get() or not known:
            return None
        chosen = input.who() if "who" in input and input.who() in known else next(iter(known))
        return _keys(say, known, chosen)

    @reactive.effect
    @reactive.event(input.ticked, ignore_init=True)
    def _() -> None:
        known = intruders()
        who = input.who() if len(known) > 1 else next(iter(known), "")
        ticked = list(input.ticked())
        if who not in known or set(ticked) >= set(known[who]):
            moved.set("")
        elif ticked:
            start("risk.moved", moved, say("Measuring with fewer keys"), intruder=who, keys=ticked)

    @output(id="moved")
    @render.ui
    def _() -> TagChild:
        return HTML(moved.get()) if moved.get() else None

    @output(id="more")
    @render.ui
    def _() -> TagChild:
        facts = room.work.get().facts
        if not first.get() or not facts:
            return None
        return _more(say, list(intruders()), list(facts["columns"]), questions.get())

    for name in ANSWERED:
        _serve_shown(output, more[name], name)
    for name, (words, task) in MORE.items():
        _serve_more(input, name, partial(start, task, more[name], say(words)))

    @reactive.effect
    @reactive.event(input.further)
    def _() -> None:
        whose = {"intruder": input.whose()} if len(intruders()) > 1 else {}
        question = questions.get().get(input.measure(), "")
        start("risk.further", more["further"], question, measure=input.measure(), **whose)

    @reactive.effect
    @reactive.event(input.subgroups)
    def _() -> None:
        start("risk.subgroups", more["by"], say("Measuring the subgroups"), by=[input.by()])


def _serve_more(input: Inputs, name: str, ask: Callable[[], None]) -> None:
    """What one button does."""

    @reactive.effect
    @reactive.event(input[name])
    def _() -> None:
        ask()


def _serve_shown(output: Outputs, place: reactive.Value[str], name: str) -> None:
    @output(id=f"more_{name}")
    @render.ui
    def _() -> TagChild:
        return HTML(place.get()) if place.get() else None
