"""How a variable is made coarser: what the script of the page draws, and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from shiny import ui
from shiny.ui import TagChild, TagList, tags

from sdckit.app.parts import file_field
from sdckit.app.words import Say
from sdckit.errors import ScenarioError

Plain = Mapping[str, Any]
WAYS = {"bands": "Bands of numbers", "groups": "Groups of values", "hierarchy": "Up a hierarchy"}
EMPTY: Plain = {}
POOLED = "Values that few records have are one line here. Switch to exact figures to see each of them."
FILE = "A file with a line for each value: the value, then its coarser names"


def ways_shown(say: Say, arguments: Plain) -> TagChild:
    """Bands, groups or a hierarchy."""
    way = next((name for name in WAYS if name in arguments), "bands")
    choices: dict[str, TagChild] = {name: say(words) for name, words in WAYS.items()}
    buttons: TagChild = ui.input_radio_buttons("way", say("How"), choices, selected=way, inline=True)
    return TagList(buttons, ui.output_ui("recode_editor"))


def bands_shown(say: Say, arguments: Plain, told: Plain, name: str) -> TagChild:
    """Where edges are drawn on the histogram; they are told to the input `name`."""
    if not told["numeric"]:
        return tags.p(say("{c} holds no numbers: put its values in groups.", c=told["column"]), class_="warn")
    edges = [edge for edge in arguments.get("bands") or () if isinstance(edge, int | float)]
    given = {
        "rows": told["rows"], "bins": told["edges"], "edges": edges or told["suggested"], "whole": told["whole"],
        "input": name, "edge": say("Edge {c}", c="#"), "add": say("Add an edge"), "remove": say("Remove the edge"),
        "name": say("Records of {c} by value", c=told["column"]),
        "about": say("Move an edge with the mouse, with the arrow keys, or write its number."),
    }  # fmt: skip
    return tags.div(data_bands=json.dumps(given), class_="bands")


def groups_shown(say: Say, arguments: Plain, told: Plain, name: str) -> TagChild:
    """Where values are put in groups; these are told to the input `name`."""
    groups = arguments.get("groups") or {}
    shown = {row["level"] for row in told["rows"] if not row["pooled"]}
    given = {
        "rows": told["rows"],
        "groups": {
            str(group): [str(level) for level in levels if str(level) in shown] for group, levels in groups.items()
        },
        "input": name, "none": say("in no group"), "new": say("New group"), "name": say("Name of the group"),
        "move": say("Group of {c}", c="#"), "pooled": say(POOLED), "first": say("group"),
        "about": say("Choose the group of each value, or drag the value there."),
    }  # fmt: skip
    return tags.div(data_groups=json.dumps(given), class_="groups")


def hierarchy_shown(say: Say, arguments: Plain) -> TagChild:
    """A file, or one built from the codes."""
    named = arguments.get("hierarchy", "")
    words = say("Build one by cutting the ends of codes")
    return TagList(
        file_field(say, "hierarchy_file", say(FILE), accept=[".csv"]),
        ui.input_action_button("build", words, class_="btn-outline-secondary btn-sm"),
        ui.input_text("hierarchy", say("Hierarchy"), value=named if isinstance(named, str) else ""),
        ui.input_numeric("level", say("Levels up"), value=int(arguments.get("level") or 1), min=1, max=20),
    )  # fmt: skip


def recoding_of(
    say: Say, found: Plain, way: str, read: Callable[[str], Any], told: Plain, before: Plain = EMPTY
) -> dict[str, Any]:
    """The arguments of a recoding: those of the form, and what the editor says.

    Values of the groups `before` that were not shown, since few records have them, stay where they are.

    Raises
    ------
    ScenarioError
        No edge, no group, or no hierarchy.
    """
    if way == "hierarchy":
        if not (named := str(read("hierarchy") or "").strip()):
            raise ScenarioError(say("Choose the file of a hierarchy, or build one."))
        return {**found, "hierarchy": named, "level": int(read("level") or 1)}
    if way == "bands":
        edges = sorted({_number(edge) for edge in read("band_edges") or ()})
        if not edges:
            raise ScenarioError(say("Bands need one edge at least."))
        return {**found, "bands": [None, *edges, None]}
    groups = {name: list(levels) for name, levels in (read("level_groups") or {}).items() if levels}
    shown = {row["level"] for row in told.get("rows", ()) if not row["pooled"]}
    for name, levels in (before.get("groups") or {}).items():
        if unseen := [str(level) for level in levels if str(level) not in shown]:
            groups[name] = [*groups.get(name, ()), *unseen]
    if not groups:
        raise ScenarioError(say("Put a value in a group."))
    if not told.get("numeric"):
        return {**found, "groups": groups, "outside": found.get("outside", "keep")}
    # beside the names of groups no numbers can be kept: each value gets its own as its name
    taken = {level for levels in groups.values() for level in levels}
    groups |= {level: [level] for level in sorted(shown) if level not in taken}
    numbers = {name: [_number(level) for level in levels] for name, levels in groups.items()}
    rest = "missing" if len(shown) < len(told["rows"]) else "error"
    return {**found, "groups": numbers, "outside": found.get("outside", rest)}


def _number(value: Any) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() else number
