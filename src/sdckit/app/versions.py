"""The list of earlier scenarios and steps: kept under a name or by itself, put side by side, opened again."""

from collections.abc import Mapping
from typing import Any

from shiny import ui
from shiny.ui import Tag, tags

from sdckit.app.browser_sessions import Work
from sdckit.app.page_context import Room, Say
from sdckit.app.step_form import button
from sdckit.data.scenarios.scenario_form import fits

OTHER_FILE = "Its roles name columns that this file does not have."
ABOUT = "Every version holds roles, limits and steps. Undo leaves them alone; they are saved with your work."


def can_open(work: Work, version: Mapping[str, Any]) -> bool:
    """Whether the open file has the columns of a version.

    >>> can_open(Work(facts={"columns": ["age"]}), {"scenario": {"keys": ["sex"]}})
    False
    """
    return version["scenario"] is None or fits(version["scenario"], (work.facts or {}).get("columns", ()))


def versions_fold(say: Say, *, unfolded: bool) -> Tag:
    """The fold: a name to keep the state of now under, the list, and two of them side by side."""
    return tags.details(
        tags.summary(say("Versions")), tags.p(say(ABOUT), class_="quiet"),
        tags.div(
            ui.input_text("version_name", say("Name of the version")),
            ui.input_action_button("keep_version", say("Keep this version"), class_="btn-outline-primary"),
            class_="add-step",
        ),
        ui.output_ui("version_list"), ui.output_ui("compared_recipes"), class_="card-box",
        open="" if unfolded else None,
    )  # fmt: skip


def version_list_shown(room: Room) -> Tag:
    """Every version with its buttons, the latest first."""
    work = room.work.get()
    return tags.ul(*(_version(room.say, work, at) for at in reversed(range(len(work.versions)))), class_="others")


def _version(say: Say, work: Work, at: int) -> Tag:
    version = work.versions[at]
    name, on = version["name"] or say(version["why"]), any(step["on"] for step in version["steps"])
    openable = can_open(work, version)
    about = say("{n} steps", n=len(version["steps"]))
    return tags.li(
        tags.p(tags.strong(name), f" – {about}, {version['time']}"),
        None if openable else tags.p(say(OTHER_FILE), class_="warn"),
        tags.span(
            button(say("Open"), "open_version", at, disabled=not openable, about=say("Open: {c}", c=name)),
            button(
                say("Compare"), "compare_version", at, disabled=not (openable and on and work.recipe()),
                about=say("Compare: {c}", c=name),
            ),
            class_="buttons",
        ),
    )  # fmt: skip
