"""The editor of a hierarchy: where it starts, a level of it as a list to tick, and buttons that change it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shiny import Inputs, reactive, render, ui
from shiny.ui import Tag, TagChild, TagList, tags

from sdckit.app.page_context import Kept, Room, Say, file_field, named_upload, upon
from sdckit.app.tasks import RUNNING, WAITING

Plain = Mapping[str, Any]
FILE = "A file with a line for each value: the value, then its coarser names"
STARTS = {
    "values": "Start from the values", "codes": "Build one by cutting the ends of codes", "bands": "Start from bands",
}  # fmt: skip
ACTS = {
    "merge": "Merge", "split": "Split", "rename": "Rename", "up": "Move up", "down": "Move down",
    "add_level": "Add a level above", "remove_level": "Remove this level",
}  # fmt: skip
ABOUT = "Level {n} of {n2}: each group with its records, and below it what it is made of, with the records before."
HIDDEN = "the groups that few records have"
LACKING = "Values that are in no line of the hierarchy stop the step."
GROUP, MEMBER, OTHERS = "group:", "member:", "others"


def hierarchy_shown(say: Say, arguments: Plain) -> TagChild:
    """A file, or one built from the variable; the level that the step goes up to is the one that is edited."""
    named, level = arguments.get("hierarchy", ""), int(arguments.get("level") or 1)
    return TagList(
        file_field(say, "hierarchy_file", say(FILE), accept=[".csv"], width="100%"),
        _buttons(say, STARTS),
        ui.input_text(
            "hierarchy", say("Hierarchy"), value=named if isinstance(named, str) else "", width="100%", update_on="blur"
        ),
        ui.input_numeric("level", say("Levels up"), value=level, min=1, max=20, width="100%"),
        ui.output_ui("hierarchy_levels"),
        ui.input_text("group_name", say("Name of the group"), width="100%"),
        _buttons(say, ACTS),
    )  # fmt: skip


def _buttons(say: Say, acts: Mapping[str, str]) -> Tag:
    look = "btn-outline-secondary btn-sm"
    return tags.div(*(ui.input_action_button(f"do_{act}", say(words), class_=look) for act, words in acts.items()),
                    class_="buttons")  # fmt: skip


def level_shown(say: Say, tree: Plain, ticked: tuple[str, ...] = ()) -> TagChild:
    """The groups of a level to tick; what was ticked stays so while it is there."""
    choices: dict[str, TagChild] = {}
    for row in tree["rows"]:
        choices[GROUP + row["name"]] = _line(say, row, "group")
        choices |= {MEMBER + member["name"]: _line(say, member, "member") for member in row["members"]}
    if tree["others"]:
        choices[OTHERS] = _line(say, {"name": say(HIDDEN), "text": tree["others"]}, "group quiet")
    label = say(ABOUT, n=tree["level"], n2=tree["levels"])
    kept = [value for value in ticked if value in choices]
    lacking = tags.div(
        tags.p(say(LACKING), class_="warn"),
        ui.input_action_button("do_complete", say("Add them as groups"), class_="btn-outline-secondary btn-sm"),
    )  # fmt: skip
    return TagList(
        tags.div(ui.input_checkbox_group("ticked", label, choices, selected=kept, width="100%"), class_="many tree"),
        lacking if tree["lacks"] else None,
    )


def _line(say: Say, row: Plain, look: str) -> Tag:
    return tags.span(row["name"], tags.span(say("{n} records", n=row["text"]), class_="number"), class_=look)


class Levels:
    """The hierarchy that is edited.

    Parameters
    ----------
    read
        The value of a field, None where there is none.
    asked
        What the task is told besides the hierarchy; None where none is edited.
    """

    def __init__(self, room: Room, read: Callable[[str], Any], asked: Callable[[], dict[str, Any] | None]) -> None:
        self._room, self._read, self._asked = room, read, asked
        self.tree: Kept[dict[str, Any]] = Kept(room, {})
        self.place = room.place("hierarchy_levels")
        self._running = False
        self._later: list[Callable[[], object]] = []
        self._settling: dict[str, Any] = {}  # what the fields will say once the page has answered

    def column(self) -> str:
        """The variable; reactive."""
        return str(self._read("arg_column") or "")

    def named(self) -> Any:
        """The file of the hierarchy, or what the step says in place of one; reactive."""
        return str(self.field("hierarchy") or "").strip() or self.inline()

    def inline(self) -> Any:
        """What the step says in place of a file; reactive."""
        return (self._asked() or {}).get("inline")

    def field(self, name: str) -> Any:
        """What the field of the hierarchy or its level says, or will say; reactive."""
        return self._settling.get(name, self._read(name))

    def settle(self) -> None:
        """Once the fields say what they were told to, they count again."""
        if all(self._read(name) == value for name, value in self._settling.items()):
            self._settling = {}

    def when_still(self, act: Callable[[], object]) -> None:
        """Do this, after the change that is being made."""
        with reactive.isolate():
            busy = self._running and self.place.state.get()[1] in (WAITING, RUNNING)
        if busy:
            self._later.append(act)
            return
        self._later.clear()
        act()

    def do(self, act: str, *, beside: str = "", **more: Any) -> None:
        """Build, change or look at the hierarchy."""
        ticked = tuple(self._read("ticked") or ())
        given = {
            "act": act, "name": str(self._read("group_name") or ""), "others": OTHERS in ticked,
            "groups": [value.removeprefix(GROUP) for value in ticked if value.startswith(GROUP)],
            "members": [value.removeprefix(MEMBER) for value in ticked if value.startswith(MEMBER)], **more,
        }  # fmt: skip
        self.when_still(partial(self._start, given, beside or f"do_{act}"))

    def _start(self, given: Plain, beside: str) -> None:
        asked, column = self._asked(), self.column()
        if asked is None or not column:
            self._room.alert(self._room.say("{c} is needed", c="column"), beside=beside)
            return
        hierarchy, level = self.named(), int(self.field("level") or 1)
        if not hierarchy and given["act"] in (*ACTS, "complete"):
            self._room.alert(self._room.say("Choose the file of a hierarchy, or build one."), beside=beside)
            return
        del asked["inline"]
        self._running = True
        take = self.tree.taker()

        def then(answer: dict[str, Any]) -> None:
            take(answer)
            self._running = False
            here = self._asked()
            if here is None or (here["steps"], self.column()) != (asked["steps"], column):
                self._later, self._settling = [], {}  # another form stands there now
                return
            if given["act"] != "look":  # a form that is drawn anew may not say yet what it will
                self._settling["hierarchy"] = answer["name"]
                ui.update_text("hierarchy", value=answer["name"])
            if given["act"] != "look" or answer["level"] != level:
                self._settling["level"] = answer["level"]
                ui.update_numeric("level", value=answer["level"])
            if given["name"] and given["act"] in ("merge", "rename"):
                ui.update_text("group_name", value="")
            later, self._later = self._later, []
            for act in later:
                self.when_still(act)

        self._room.start(
            "hierarchies.edit", then, label=self._room.say("building a hierarchy"), place=self.place, beside=beside,
            column=column, hierarchy=hierarchy, level=level, do=dict(given), **asked,
        )  # fmt: skip


def serve_hierarchy(input: Inputs, room: Room, levels: Levels, edited: Callable[[], bool]) -> None:
    """Serve the list and the buttons; `edited` is whether a hierarchy is in the editor, reactive."""

    @reactive.effect
    def _() -> None:
        """Another hierarchy, level, variable or switch is looked at."""
        here, column = edited(), levels.column()
        named, level = levels.named(), levels.field("level")
        levels.settle()
        with reactive.isolate():
            tree = levels.tree.get()
            if not (here and column and named):
                levels.tree.set({})
            elif not tree or (tree["name"] or levels.inline(), tree["level"], tree["column"]) != (named, level, column):
                levels.do("look", beside="hierarchy")

    @render.ui
    def hierarchy_levels() -> TagChild:
        tree = levels.tree.get()
        if not tree:
            return levels.place.shown()
        with reactive.isolate():
            ticked = tuple(input.ticked() or ()) if "ticked" in input else ()
        return level_shown(room.say, tree, ticked)

    for act in (*STARTS, *ACTS, "complete"):
        _serve_button(input, levels, act)

    @upon(input.hierarchy_file)
    def _() -> None:
        for file in input.hierarchy_file() or ():
            levels.do("file", beside="hierarchy_file", path=str(named_upload(file)))


def _serve_button(input: Inputs, levels: Levels, act: str) -> None:
    @upon(input[f"do_{act}"])
    def _() -> None:
        levels.do(act)
