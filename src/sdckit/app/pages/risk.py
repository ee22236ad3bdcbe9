"""The page Risk: the verdicts, the first figures, how they move with the keys, and what is asked for apart."""

from collections.abc import Callable
from functools import partial
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import TagChild, TagList, tags

from sdckit.app.page_context import Answer, Room, Say, meanings, upon
from sdckit.data.scenarios.scenario_form import intruders_of, is_whole

# What is asked for by a button: its words and the task.
MORE = {"helps": ("What would help most", "risk.helps"), "levels": ("Levels of the keys", "risk.levels")}
TERMS = ("Cell", "Sample unique", "k-anonymity", "Individual risk", "Global risk", "l-diversity", "Special unique")
ANSWERED = (*MORE, "further", "by", "riskiest", "explained")  # what has a place for its answer
WHOLE = (
    "No weight and no share of the population is declared, so the file is taken for the whole population: who is "
    "alone in it is alone among all, and the risk is as high as it can be. If the file is a sample, say so: the risk "
    "is lower."
)
RISKIEST = (
    "The riskiest combinations of keys with their values, and what makes one of them risky: confidential, shown on "
    "this screen only, in no report, no download and nothing that is saved."
)
SWITCH = "The riskiest combinations of keys are shown only with exact figures: the switch is at the top."
HOW_MANY = 10  # combinations that are shown at first
Questions = dict[str, str]  # measures and what they answer, as the worker tells them


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(
        meanings(TERMS, say),
        ui.output_ui("whole"),
        ui.output_ui("first"),
        ui.output_ui("keys"),
        ui.output_ui("moved"),
        ui.output_ui("more"),
        ui.output_ui("single"),
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


def _single(say: Say, intruders: list[str]) -> TagChild:
    """Which single combinations are asked for; none of them is kept."""
    whose = ui.input_select("whose_risky", say("Intruder"), {intruder: intruder for intruder in intruders})
    return tags.section(
        tags.h3(say("Single combinations")),
        tags.p(say(RISKIEST), class_="warn"),
        tags.div(
            whose if len(intruders) > 1 else None,
            ui.input_numeric("how_many", say("How many"), value=HOW_MANY, min=1, max=100),
            ui.input_action_button("riskiest", say("Show the riskiest combinations"), class_="btn-outline-primary"),
            class_="buttons",
        ),
        tags.div(
            ui.input_numeric("which", say("Number of a combination"), value=1, min=1, max=100),
            ui.input_action_button("explained", say("What makes it risky?"), class_="btn-outline-primary"),
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
    first, moved = Answer(room, "first"), Answer(room, "moved")
    more = {name: Answer(room, f"more_{name}") for name in ANSWERED}
    questions: reactive.Value[Questions] = reactive.Value({})
    subgroups: reactive.Value[list[str]] = reactive.Value([])
    asked: list[Any] = [None]

    def start(task: str, answered: Answer, label: str, **arguments: Any) -> None:
        work, of = room.seat.work, asked[0]
        if not work.scenario:
            return
        keep, keep_part = (held.taker(lambda answer: answer["html"]) for held in (answered.html, answered.so_far))

        def take_part(answer: dict[str, Any]) -> None:
            if asked[0] == of:
                keep_part(answer)

        def take(answer: dict[str, Any]) -> None:
            if asked[0] != of:
                return  # the file or the scenario is another one meanwhile
            keep(answer)
            questions.set(answer.get("further") or questions.get())
            subgroups.set(answer.get("subgroups") or subgroups.get())

        room.start(
            task, take, label=label, place=answered.place, partial=take_part,
            scenario=dict(work.scenario), exact=work.exact, language=work.language, **arguments,
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
        for answered in (first, moved, *more.values()):
            answered.clear()
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
        return first.shown() or tags.p(say("The risk is being measured."), class_="empty")

    @render.ui
    def whole() -> TagChild:
        if not first.html.get() or not is_whole(room.work.get().scenario):
            return None
        go = tags.button(say("Go to Roles"), type="button", class_="btn btn-sm btn-outline-primary", data_go="roles")
        return tags.div(tags.p(say(WHOLE)), go, class_="card-box")

    @render.ui
    def keys() -> TagChild:
        known = intruders()
        if not first.html.get() or not known:
            return None
        chosen = input.who() if "who" in input and input.who() in known else next(iter(known))
        return _keys(say, known, chosen)

    @upon(input.ticked, ignore_init=True)
    def _() -> None:
        known = intruders()
        who = input.who() if len(known) > 1 else next(iter(known), "")
        ticked = list(input.ticked())
        if who not in known or set(ticked) >= set(known[who]):
            moved.clear()
        elif ticked:
            start("risk.moved", moved, say("Measuring with fewer keys"), intruder=who, keys=ticked)

    @output(id="moved")
    @render.ui
    def _() -> TagChild:
        return moved.shown()

    @output(id="more")
    @render.ui
    def _() -> TagChild:
        if not first.html.get() or not room.work.get().facts:
            return None
        return _more(say, list(intruders()), subgroups.get(), questions.get())

    @output(id="single")
    @render.ui
    def _() -> TagChild:
        if not first.html.get():
            return None
        return _single(say, list(intruders())) if room.work.get().exact else tags.p(say(SWITCH), class_="quiet")

    for name in ANSWERED:
        _serve_shown(output, more[name], name)
    for name, (words, task) in MORE.items():
        _serve_more(input, name, partial(start, task, more[name], say(words)))

    def singled() -> dict[str, Any]:
        return {"number": input.how_many(), **({"intruder": input.whose_risky()} if len(intruders()) > 1 else {})}

    @upon(input.riskiest)
    def _() -> None:
        more["explained"].clear()
        start("risk.riskiest", more["riskiest"], say("Looking for the riskiest combinations"), **singled())

    @upon(input.explained)
    def _() -> None:
        label = say("Looking for what makes a combination risky")
        start("risk.explained", more["explained"], label, which=input.which(), **singled())

    @upon(input.further)
    def _() -> None:
        whose = {"intruder": input.whose()} if len(intruders()) > 1 else {}
        question = questions.get().get(input.measure(), "")
        start("risk.further", more["further"], question, measure=input.measure(), **whose)

    @upon(input.subgroups)
    def _() -> None:
        start("risk.subgroups", more["by"], say("Measuring the subgroups"), by=[input.by()])


def _serve_more(input: Inputs, name: str, ask: Callable[[], None]) -> None:
    """What one button does."""

    @upon(input[name])
    def _() -> None:
        ask()


def _serve_shown(output: Outputs, answered: Answer, name: str) -> None:
    @output(id=f"more_{name}")
    @render.ui
    def _() -> TagChild:
        return answered.shown()
