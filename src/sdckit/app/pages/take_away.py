"""The page Take away: the released file, its report, and what repeats the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from htmltools import Tag, TagChild, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from sdckit.app.pages.release import asked_of, current
from sdckit.app.room import Room
from sdckit.app.words import Say
from sdckit.app.work import Work

__all__ = ["panel", "serve"]

FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".arrow": "Arrow", ".sav": "SPSS", ".dta": "Stata"}
REPORTS = {".html": "HTML", ".pdf": "PDF", ".docx": "Word"}
# What can be taken: the name on its button, and what it is.
FILES = {
    "release": ("Download the release", "The protected file, as the page Release judged it."),
    "report": ("Download the report", "The decision page and its annex, protected as every document."),
    "scenario": ("Download the scenario", "Who could know what, and the limits."),
    "recipe": ("Download the recipe", "The steps; it holds no seed and no key, so it can go out with the file."),
    "script": ("Download the Python script", "Makes the same file again, byte for byte."),
    "commands": ("Download the command lines", "The same on the command line."),
    "hierarchy": ("Download the hierarchy", "The recipe reads it. It names every value of its variable."),
    "log": ("Download the log (secret)", "Confidential: it repeats the release, and helps to undo it. Keep it in the room."),
}  # fmt: skip
BEYOND = (
    "This release is not within the limits: one is exceeded, could not be judged, or none is declared. It is taken only "
    "where you say so, and its name says it."
)


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(ui.output_ui("choices"), ui.output_ui("files"), ui.output_ui("repeat"))


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:
    """What its buttons do."""
    ready: reactive.Value[dict[str, Any]] = reactive.Value({})
    written: reactive.Value[dict[str, Any]] = reactive.Value({})

    def accepted() -> bool:
        return bool(input.accept()) if "accept" in input else False

    def kind() -> str:
        return str(input.kind()) if "kind" in input else ".csv"

    @render.ui
    def choices() -> TagChild:
        made = current(room.work.get())
        return _empty(room.say) if made is None else _choices(room.say, passed=bool(made["passed"]))

    @reactive.effect
    def _() -> None:
        """Write the files of the release that was made, in the format that was chosen."""
        work = room.work.get()
        made = current(work)
        if made is None or not _here(session) or not (made["passed"] or accepted()):
            return
        name = (made["of"], kind(), work.exact, work.language)
        with reactive.isolate():
            if ready.get().get("of") == name:
                return
        room.start(
            "taking_away.prepare", lambda told: ready.set({**told, "of": name, "made": made["of"]}),
            label=room.say("writing the files"), kind=kind(), accepted=accepted(), **asked_of(work, made["options"]),
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.write_report)
    def _() -> None:
        work = room.work.get()
        made = current(work)
        if made is not None:
            room.start(
                "taking_away.report", lambda told: written.set({**told, "made": made["of"]}),
                label=room.say("writing the report"), kind=str(input.report_kind()), **asked_of(work, made["options"]),
            )  # fmt: skip

    def taken() -> dict[str, Path]:
        """The files that may be taken now, by what they are."""
        return _taken(room.work.get(), ready.get(), written.get(), accepted=accepted())

    @render.ui
    def files() -> TagChild:
        made = current(room.work.get())
        if made is None:
            return None
        found = taken()
        if not found:
            held = (
                room.say("Tick the box above to take it all the same.")
                if not made["passed"]
                else room.say("The files are being written.")
            )
            return tags.p(held, class_="empty")
        return tags.div(
            *(_download(room.say, what, path) for what, path in found.items()),
            _report(room.say),
            class_="downloads",
        )

    @render.ui
    def repeat() -> TagChild:
        told, work = ready.get(), room.work.get()
        if not told or current(work) is None or told["made"] != work.digest():
            return None
        return tags.div(
            tags.details(tags.summary(room.say("The session as a Python script")), tags.pre(told["script"], tabindex="0")),
            tags.details(tags.summary(room.say("The session as command lines")), tags.pre(told["commands"], tabindex="0")),
            class_="card-box",
        )  # fmt: skip

    for what in FILES:
        _serve_file(what, taken)


def _serve_file(what: str, taken: Callable[[], Mapping[str, Path]]) -> None:
    """A file is handed out only while it may be taken."""

    def name() -> str:
        with reactive.isolate():
            return taken()[what].name if what in taken() else f"{what}.txt"

    def path() -> str:
        with reactive.isolate():
            return str(taken()[what])

    path.__name__ = what
    render.download(filename=name)(path)


def _taken(
    work: Work, ready: Mapping[str, Any], written: Mapping[str, Any], *, accepted: bool
) -> dict[str, Path]:
    made = current(work)
    if made is None or not (made["passed"] or accepted):
        return {}
    found: dict[str, Path] = {}
    for told in (ready, written):
        if told.get("made") == made["of"]:
            found |= {one["what"]: Path(one["path"]) for one in told["files"]}
    return {what: found[what] for what in FILES if what in found}


def _here(session: Session) -> bool:
    root = session.root_scope()
    return "page" in root.input and root.input.page() == "take_away"


def _empty(say: Say) -> Tag:
    return tags.div(
        tags.p(say("There is nothing to take away: make the release first, and its verdict stands above.")),
        tags.button(say("Go to Release"), type="button", class_="btn btn-primary", data_go="release"),
        class_="empty",
    )


def _choices(say: Say, *, passed: bool) -> TagChild:
    tick = None
    if not passed:
        tick = tags.div(
            tags.p(say(BEYOND), class_="bad"),
            ui.input_checkbox("accept", say("Take it all the same")),
            class_="card-box",
        )
    return TagList(tick, ui.input_select("kind", say("Format of the release"), FORMATS))


def _download(say: Say, what: str, path: Path) -> Tag:
    button, about = FILES[what]
    return tags.div(
        tags.strong(path.name), tags.p(say(about)),
        ui.download_button(what, say(button), class_="btn-outline-danger" if what == "log" else "btn-outline-primary"),
        class_=f"download{' secret' if what == 'log' else ''}",
    )  # fmt: skip


def _report(say: Say) -> Tag:
    return tags.div(
        tags.strong(say("Report")), tags.p(say("The decision page and its annex, in the format of your choice.")),
        ui.input_select("report_kind", say("Format of the report"), REPORTS),
        ui.input_action_button("write_report", say("Write the report"), class_="btn-outline-primary"),
        class_="download",
    )  # fmt: skip
