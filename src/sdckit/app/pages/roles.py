"""The page Roles: the guesses with their evidence, accepted or changed; intruders; limits; the scenario's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import TagChild, TagList, tags

from sdckit.app.declared import (
    LIMITS,
    RELEASES,
    ROLES,
    WHOLE,
    declared,
    intruders_of,
    limits_of,
    number_of,
    role_of,
)
from sdckit.app.room import Room
from sdckit.app.words import Say
from sdckit.errors import ScenarioError

__all__ = ["panel", "serve"]

Plain = Mapping[str, Any]
SURE = {"sure": "sure", "likely": "likely", "unsure": "unsure"}
RULES = {
    "wildcard": "may stand for any value",
    "category": "is a value of its own",
    "error": "is not allowed",
}
INTRUDER = "somebody else"
STRICTEST = "public-use"


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    about = "Keys are what a stranger could know of a person; sensitive is what they would learn. Guessed; you decide."
    return TagList(
        tags.p(say(about)),
        ui.output_ui("quick"),
        ui.output_ui("variables"),
        ui.output_ui("intruders"),
        ui.output_ui("limits"),
        ui.output_ui("use"),
        tags.details(tags.summary(say("The scenario as a file")), _files(say), class_="card-box"),
    )


def _files(say: Say) -> TagChild:
    return tags.div(
        tags.div(
            ui.input_file(
                "load", say("Take roles and limits from a scenario file"), accept=[".toml"],
                button_label=say("Browse…"), placeholder=say("No file chosen"),
            )
        ),
        tags.div(
            tags.p(say("The roles and limits in use, for the command line and for other sessions.")),
            ui.download_button("save", say("Download the scenario"), class_="btn-outline-primary"),
        ),
        class_="columns",
    )  # fmt: skip


def _variables(say: Say, guessed: Plain, scenario: Plain) -> TagChild:
    """The table of columns: a role each, how sure the guess is, and why."""
    roles = {name: say(words) for name, words in ROLES.items()}
    body = []
    for at, one in enumerate(guessed["rows"]):
        label = f"{one['label']}" if one["label"] else ""
        name = say("Role of {c}", c=one["column"])
        body.append(
            tags.tr(
                tags.th(one["column"], tags.div(label, class_="quiet") if label else None, scope="row"),
                tags.td(
                    ui.input_select(
                        f"role_{at}", tags.span(name, class_="visually-hidden"), roles,
                        selected=role_of(scenario, one["column"]),
                    )
                ),
                tags.td(say(SURE[one["confidence"]]), class_=f"sure {one['confidence']}"),
                tags.td(*_why(one)),
            )
        )  # fmt: skip
    heads = (tags.th(say(head), scope="col") for head in ("Column", "Role", "How sure", "Why"))
    return tags.table(
        tags.caption(say("What each column is"), class_="visually-hidden"),
        tags.thead(tags.tr(*heads)), tags.tbody(*body), class_="roles",
    )  # fmt: skip


def _why(one: Plain) -> list[TagChild]:
    told: list[TagChild] = ["; ".join(one["evidence"])]
    if one["warning"]:
        told.append(tags.div(one["warning"], class_="warn"))
    if one["question"]:
        told.append(tags.div("? ", one["question"], class_="question"))
    return told


def _intruder(say: Say, at: int, name: str, known: list[str], keys: list[str]) -> TagChild:
    return tags.fieldset(
        tags.legend(say("Intruder {n}", n=at + 1)),
        ui.input_text(f"name_{at}", say("Name"), value=name),
        ui.input_checkbox_group(
            f"knows_{at}", say("Knows"), {key: key for key in keys}, selected=known, inline=True
        ),
        class_="card-box",
    )


def _limits(say: Say, scenario: Plain) -> TagChild:
    """Type of release, limits of one's own, the population, what a missing key value is."""
    stated = limits_of(scenario)
    fields = (
        ui.input_text(f"limit_{name}", say(words), value=_typed(stated.get(name)))
        for name, words in LIMITS.items()
    )
    rule = scenario.get("missing", "wildcard")
    return tags.fieldset(
        tags.legend(say("Limits and population")),
        tags.div(
            ui.input_select(
                "release", say("What the file is released as"), {one: say(words) for one, words in RELEASES.items()},
                selected=scenario.get("release") or "",
            ),
            ui.input_text(
                "fraction", say("Share of the population in the file (without weights)"),
                value=_typed(scenario.get("sampling_fraction")), placeholder="0.05",
            ),
            ui.input_select(
                "missing", say("A missing value in a key"), {one: say(words) for one, words in RULES.items()},
                selected=rule if isinstance(rule, str) else "wildcard",
            ),
            class_="form-grid",
        ),
        tags.p(say("A limit that is left empty is that of the type of release."), class_="quiet"),
        tags.div(*fields, class_="form-grid"),
        class_="card-box",
    )  # fmt: skip


def _typed(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001
    """What its buttons do."""
    say = room.say
    guessed: reactive.Value[dict[str, Any] | None] = reactive.Value(None)
    checked: reactive.Value[dict[str, Any] | None] = reactive.Value(None)
    named: reactive.Value[dict[str, list[str]]] = reactive.Value({})
    asked: list[Any] = [None]
    described: list[Any] = [None]

    @reactive.effect
    def _() -> None:
        """Guess once for every file and way of reading it."""
        work = room.work.get()
        now = None if work.facts is None else [work.path, dict(work.reading), *work.facts["shown"]]
        if now == asked[0]:
            return
        asked[0] = now
        guessed.set(None)
        if now is not None:
            label = say("Guessing the roles")
            room.start("roles.guess", taken, label=label, exact=work.exact, language=work.language)

    def taken(found: dict[str, Any]) -> None:
        guessed.set(found)
        named.set(intruders_of(room.seat.work.scenario or found["scenario"]))

    @reactive.calc
    def standing() -> Plain:
        """The scenario in use, else the guessed one."""
        found = guessed.get()
        return room.work.get().scenario or (found["scenario"] if found else {})

    @reactive.effect
    def _() -> None:
        named.set(intruders_of(standing()))

    @render.ui
    def variables() -> TagChild:
        found = guessed.get()
        if room.work.get().facts is None:
            return tags.p(say("No file is open yet: the first page opens one."), class_="empty")
        return _variables(say, found, standing()) if found else tags.p(say("The roles are being guessed."))

    def roles() -> dict[str, str]:
        found = guessed.get()
        return {one["column"]: input[f"role_{at}"]() for at, one in enumerate(found["rows"])} if found else {}

    @reactive.calc
    def keys() -> list[str]:
        return [name for name, role in roles().items() if role.startswith("key")]

    def typed() -> dict[str, list[str]]:
        """The intruders as the form has them now; who knew every key knows the new ones, too."""
        with reactive.isolate():
            found: dict[str, list[str]] = {}
            for at, (name, known) in enumerate(named.get().items()):
                ticked = _read(lambda at=at: list(input[f"knows_{at}"]()), known)
                found[_read(lambda at=at: input[f"name_{at}"]().strip(), name) or name] = ticked
            return found

    @render.ui
    def intruders() -> TagChild:
        if guessed.get() is None:
            return None
        every = keys()
        told = named.get()
        with reactive.isolate():
            now = typed()
        parts = []
        for at, name in enumerate(told):
            known = list(now.values())[at] if at < len(now) else told[name]
            only = len(told) == 1 and set(known) >= set(told[name])
            parts.append(_intruder(say, at, list(now)[at], every if only else known, every))
        fewer = ui.input_action_button(
            "fewer", say("Remove the last intruder"), class_="btn-outline-secondary"
        )
        return tags.section(
            tags.h3(say("Intruders")),
            tags.p(say("Each knows some of the keys. The file is measured against every one of them.")),
            *parts,
            ui.input_action_button("more", say("Add an intruder"), class_="btn-outline-secondary"),
            fewer if len(told) > 1 else None,
        )

    @reactive.effect
    @reactive.event(input.more)
    def _() -> None:
        now = typed()
        name = next(
            one for one in (say(INTRUDER), *(f"{say(INTRUDER)} {n}" for n in range(2, 99))) if one not in now
        )
        named.set({**now, name: keys()})

    @reactive.effect
    @reactive.event(input.fewer)
    def _() -> None:
        named.set(dict(list(typed().items())[:-1]))

    @render.ui
    def limits() -> TagChild:
        return None if guessed.get() is None else _limits(say, standing())

    @render.ui
    def quick() -> TagChild:
        """Above a long table, so that the guesses are taken as they are in one click."""
        if guessed.get() is None or room.work.get().scenario:
            return None
        return ui.input_action_button("accept_all", say("Accept the guesses"), class_="btn-primary")

    @render.ui
    def use() -> TagChild:
        found = guessed.get()
        if found is None:
            return None
        scenario = standing()
        open_ones = list(scenario.get("unconfirmed", ()))
        told = checked.get()
        return tags.div(
            ui.input_checkbox(
                "confirmed", say("I have answered the questions marked ? ({c})", c=", ".join(open_ones)), width="100%"
            )
            if open_ones
            else None,
            ui.input_action_button("accept", say("Use these roles and limits"), class_="btn-primary"),
            tags.p(say("In use."), " ", told["limits"], class_="good") if told else None,
            class_="card-box",
        )  # fmt: skip

    def stated() -> dict[str, Any]:
        """The scenario that the form says now."""
        base = standing()
        numbers = {
            name: _number(say(words), input[f"limit_{name}"](), whole=name in WHOLE)
            for name, words in LIMITS.items()
        }
        left = list(base.get("unconfirmed", ()))
        confirmed = not left or input.confirmed()
        rule = base.get("missing")
        return declared(
            base, roles(), typed().items(), numbers, release=input.release() or None,
            sampling_fraction=_number(say("Share of the population"), input.fraction()),
            missing=rule if isinstance(rule, Mapping) and input.missing() == "wildcard" else input.missing(),
            unconfirmed=None if confirmed else left,
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.accept, input.accept_all)
    def _() -> None:
        try:
            scenario = stated()
        except ScenarioError as error:
            room.alert(say(str(error)))
            return
        room.start(
            "roles.check", accepted, label=say("Checking the scenario"), scenario=scenario,
            language=room.seat.work.language,
        )  # fmt: skip

    @reactive.effect
    def _() -> None:
        """What is in use as a file, and its limits in words, wherever it came from."""
        work = room.work.get()
        if work.facts is None or not work.scenario:
            checked.set(None)
        elif work.scenario != described[0]:
            described[0] = work.scenario
            room.start(
                "roles.check", checked.set, label=say("Checking the scenario"), scenario=dict(work.scenario),
                language=work.language,
            )  # fmt: skip

    def accepted(found: dict[str, Any]) -> None:
        room.change(scenario=found["scenario"])
        room.go("risk")

    @reactive.effect
    @reactive.event(input.load)
    def _() -> None:
        if room.seat.work.facts is None:
            room.alert(say("Open the file of the records first: the scenario is held against its columns."))
        elif chosen := input.load():
            room.start(
                "roles.load", loaded, label=say("Reading the scenario"), path=str(chosen[0]["datapath"]),
                language=room.seat.work.language,
            )  # fmt: skip

    def loaded(found: dict[str, Any]) -> None:
        codes = list(found["scenario"].get("missing_codes", ()))
        reading = dict(room.seat.work.reading)
        if codes and codes != list(reading.get("missing", ())):
            room.change(scenario=found["scenario"], reading={**reading, "missing": codes}, facts=None)
        else:
            room.change(scenario=found["scenario"])

    @render.download_button(filename="scenario.toml")
    def save() -> Any:
        found = checked.get()
        yield found["toml"] if found else ""


def _number(words: str, text: object, *, whole: bool = False) -> float | int | None:
    try:
        return number_of(text, whole=whole)
    except ValueError:
        raise ScenarioError(f"{words}: this is not a {'whole ' if whole else ''}number") from None


def _read(read: Callable[[], Any], otherwise: Any) -> Any:
    """An input of a form that may not be there yet."""
    from shiny.types import SilentException

    try:
        return read()
    except (SilentException, KeyError):
        return otherwise
