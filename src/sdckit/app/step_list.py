"""The steps of a recipe as a list with its buttons, and what was found by a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shiny import ui
from shiny.ui import HTML, Tag, TagList, tags

from sdckit.app.room import Room
from sdckit.app.step_form import WHAT, summary
from sdckit.app.words import Say
from sdckit.app.work import Work
from sdckit.data.scenarios.scenario_form import LIMITS

Plain = Mapping[str, Any]
KEEP = "A proposal leaves these as they are, but for single values"


def is_ready(work: Work) -> bool:
    """Whether there is anything to protect from anybody.

    >>> is_ready(Work(path="a.csv", scenario={"keys": ["sex"]})), is_ready(Work(path="a.csv"))
    (True, False)
    """
    return bool(work.path and _keys(work))


def name_of(work: Work) -> str:
    """What figures depend on."""
    return f"{work.digest()} {work.exact} {work.language}"


def _keys(work: Work) -> list[str]:
    scenario = work.scenario or {}
    each = (scenario.get("intruders") or {}).values()
    return list(dict.fromkeys([*(scenario.get("keys") or ()), *(one for keys in each for one in keys)]))


def button(text: str, act: str, at: int = -1, *, disabled: bool = False, about: str = "") -> Tag:
    """A button that tells the page what it stands for; `about` is its name where its text is a mark."""
    return tags.button(
        text, type="button", class_="btn btn-sm btn-outline-secondary", data_act=act, data_at=str(at),
        disabled="" if disabled else None, aria_label=about or None, title=about or None,
    )  # fmt: skip


def start_shown(room: Room) -> Tag:
    """The buttons above the list."""
    say = room.say
    return tags.div(
        tags.div(
            ui.input_action_button("propose", say("Propose a recipe"), class_="btn-primary"),
            ui.input_action_button("starter", say("Start from the advice"), class_="btn-outline-primary"),
            button(say("Undo"), "undo", disabled=not room.can_undo),
            button(say("Redo"), "redo", disabled=not room.can_redo),
            class_="buttons",
        ),
        tags.details(
            tags.summary(say("Variables to keep as they are")),
            ui.input_checkbox_group("keep", say(KEEP), _keys(room.work.get()), inline=True),
        ),
        class_="start",
    )


def step_shown(say: Say, work: Work, at: int, told: Plain) -> Tag:
    """One step: its switch, its buttons, what it is about, and risk and loss after it."""
    one, number, last = work.steps[at], at + 1, len(work.steps) - 1
    switch = tags.input(
        type="checkbox", data_act="switch", data_at=str(at), checked="" if one.on else None,
        aria_label=say("Step {n} is carried out", n=number),
    )  # fmt: skip
    named = tags.strong(f"{number}. {say(WHAT.get(one.method, one.method))}")
    buttons = tags.span(
        button("↑", "up", at, disabled=at == 0, about=say("Move step {n} up", n=number)),
        button("↓", "down", at, disabled=at == last, about=say("Move step {n} down", n=number)),
        button(say("Edit"), "edit", at, about=say("Edit step {n}", n=number)),
        button(say("Remove"), "remove", at, about=say("Remove step {n}", n=number)),
        class_="buttons",
    )
    return tags.li(
        tags.div(tags.label(switch, named, class_="step-name"), buttons, class_="step-head"),
        tags.p(summary(one.arguments), class_="step-about"),
        *(tags.p(text, class_="step-after") for text in _after(say, work, at, told)),
        class_="" if one.on else "off",
    )


def _after(say: Say, work: Work, at: int, told: Plain) -> list[str]:
    """Risk and loss after a step, in words; nothing while other steps are measured."""
    if told.get("name") != name_of(work) or not work.steps[at].on:
        return []
    number = sum(one.on for one in work.steps[: at + 1])
    rows = [one for one in told["figures"] if one["step"] == number]
    return [_words(say, one, told["k"], several=len(rows) > 1) for one in rows]


def _words(say: Say, one: Plain, k: int, *, several: bool) -> str:
    parts: list[str] = []
    if "below_k" in one:
        parts.append(say("records in groups of fewer than {n}: {n2}", n=k, n2=one["below_k"]))
    if "sample_uniques" in one:
        parts.append(say("alone: {n}", n=one["sample_uniques"]))
    parts.append(say("values that differ: {n}", n=one["share_changed"]))
    who = f"{one['intruder']} – " if several else ""
    return who + "; ".join(parts)


def found_shown(say: Say, told: Plain) -> Tag:
    """What a search or the advice has found, with its reasons and the recipes beside it."""
    exceeded: Sequence[str] = told["exceeded"]
    limits = ", ".join(say(LIMITS.get(one, one)) for one in exceeded)
    words = say("Limits that do not hold yet: {c}.", c=limits) if exceeded else say(
        "Every limit holds with this recipe."
    )  # fmt: skip
    others = [_other(say, at, one) for at, one in enumerate(told.get("alternatives", ()))]
    return tags.div(
        tags.h3(say("What was found")),
        tags.p(words, class_="warn" if exceeded else "good"),
        tags.details(tags.summary(say("Why each step is there")), HTML(told["html"])),
        TagList(tags.h4(say("Other recipes")), tags.ul(*others, class_="others")) if others else None,
        class_="card-box",
    )


def _other(say: Say, at: int, one: Plain) -> Tag:
    told = f"{one['words']} ({say('loses {c}', c=one['loss'])})"
    if not one["passed"]:
        told += f"; {say('not every limit holds')}"
    take = button(say("Take this one"), "other", at)
    beside = button(say("Compare"), "compare_other", at)
    return tags.li(tags.p(told), tags.span(take, beside, class_="buttons"))
