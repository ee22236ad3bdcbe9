"""What stands on the page Roles: the table of columns, the intruders, the limits, the scenario's file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shiny import ui
from shiny.module import resolve_id
from shiny.ui import TagChild, tags

from sdckit.app.parts import file_field
from sdckit.app.words import Say
from sdckit.data.scenarios import scenario_form

Plain = Mapping[str, Any]


def files_part(say: Say) -> TagChild:
    """Where a scenario file is taken, and given."""
    return tags.div(
        tags.div(
            file_field(say, "load", say("Take roles and limits from a scenario file"), accept=[".toml"])
        ),
        tags.div(
            tags.p(say("The roles and limits in use, for the command line and for other sessions.")),
            ui.download_button("save", say("Download the scenario"), class_="btn-outline-primary"),
        ),
        class_="columns",
    )  # fmt: skip


def variables_part(say: Say, guessed: Plain, scenario: Plain) -> TagChild:
    """The table of columns: a role each, how sure the guess is, and why."""
    roles = {name: say(words) for name, words in scenario_form.ROLES.items()}
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
                        selected=scenario_form.role_of(scenario, one["column"]),
                    )
                ),
                tags.td(say(one["confidence"]), class_=f"sure {one['confidence']}"),
                tags.td(*_why(one)),
            )
        )  # fmt: skip
    heads = (tags.th(say(head), scope="col") for head in ("Column", "Role", "How sure", "Evidence"))
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


def intruder_part(say: Say, at: int, name: str, known: list[str], keys: list[str]) -> TagChild:
    """An intruder: a name, and which of the keys are known."""
    return tags.fieldset(
        tags.legend(say("Intruder {n}", n=at + 1)),
        ui.input_text(f"name_{at}", say("Name"), value=name),
        ui.input_checkbox_group(
            f"knows_{at}", say("Knows"), {key: key for key in keys}, selected=known, inline=True
        ),
        class_="card-box",
    )


def drawn_part(turn: int, keys: list[str]) -> TagChild:
    """A field that nobody sees: which intruders the fields are of, and which keys they ask about."""
    return tags.input(type="text", id=resolve_id("drawn"), value=json.dumps([turn, *keys]), hidden="")


def limits_part(say: Say, scenario: Plain, records: int) -> TagChild:
    """Type of release, limits of one's own, the population, what a missing key value is."""
    stated = scenario_form.limits_of(scenario)
    fields = (
        ui.input_text(f"limit_{name}", say(words), value=_typed(stated.get(name)))
        for name, words in scenario_form.LIMITS.items()
    )
    rule = scenario.get("missing", "wildcard")
    fraction, population = scenario_form.sizes_of(scenario, records)
    return tags.fieldset(
        tags.legend(say("Limits and population")),
        tags.div(
            ui.input_select(
                "release", say("What the file is released as"),
                {one: say(words) for one, words in scenario_form.release_choices(scenario).items()},
                selected=scenario.get("release") or "",
            ),
            ui.input_text(
                "fraction", say("Share of the population in the file (without weights)"),
                value=fraction, placeholder="0.05",
            ),
            ui.input_text(
                "population", say("Or how large the population is"), value=population, placeholder="400000"
            ),
            ui.input_select(
                "missing", say("A missing value in a key"), {one: say(two) for one, two in scenario_form.RULES.items()},
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
