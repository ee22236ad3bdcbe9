"""The page Take away: the released file, its report, and what repeats the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import Tag, TagChild, TagList, tags

from sdckit.app.page_context import Room, Say, nothing_yet
from sdckit.app.pages.release import asked_of, current
from sdckit.app.tasks import Place
from sdckit.workflow.sessions.projects import project_text

FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".arrow": "Arrow", ".sav": "SPSS", ".dta": "Stata"}
REPORTS = {".html": "HTML", ".pdf": "PDF", ".docx": "Word"}
# What can be taken: the name on its button, and what it is.
FILES = {
    "release": ("Download the release", "The protected file, as the page Release judged it."),
    "report": ("Download the report", "The decision page and its annex, protected as every document."),
    "scenario": ("Download the scenario", "Who could know what, and the limits."),
    "recipe": ("Download the recipe", "The steps. It holds no seed and no key, so it can go out with the file."),
    "script": ("Download the Python script", "It makes the same file again, byte for byte."),
    "commands": ("Download the command lines", "They do the same in a terminal."),
    "hierarchy": ("Download the hierarchy", "The recipe reads it. It names every value of its variable."),
    "log": ("Download the log (secret)", "Confidential: it helps to undo the protection. Keep it in the room."),
}  # fmt: skip
BEYOND = (
    "This release is not within the limits: one is exceeded, could not be judged, or none is declared. "
    "It is taken only where you say so, and its name says it."
)
PROJECT = (
    "Roles, limits, steps and versions in one file, to carry on elsewhere. It holds no record, no secret and no "
    "hierarchy: take the files of hierarchies along by hand."
)
NOTHING = "There is nothing to take away: make the release first, and its verdict stands above."


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(ui.output_ui("choices"), ui.output_ui("files"), ui.output_ui("repeat"), _project(say))


@dataclass(frozen=True, eq=False)
class Taken:
    """The files that were written, and for which release."""

    room: Room
    input: Inputs
    place: Place
    ready: reactive.Value[dict[str, Any]]
    report: reactive.Value[dict[str, Any]]

    def accepted(self) -> bool:
        """Whether somebody said that a release beyond a limit is taken all the same; reactive."""
        return bool(self.input["accept"]()) if "accept" in self.input else False

    def kind(self) -> str:
        """The format of the release; reactive."""
        return str(self.input["kind"]()) if "kind" in self.input else ".csv"

    def may(self) -> Mapping[str, Any] | None:
        """The release, where it may be taken; reactive."""
        made = current(self.room.work.get())
        return made if made is not None and (made["passed"] or self.accepted()) else None

    def files(self) -> dict[str, Path]:
        """The files that may be taken now, by their buttons: what they are, numbered from the second on; reactive."""
        made = self.may()
        written = [
            file
            for answer in (self.ready.get(), self.report.get())
            if made is not None and answer.get("made") == made["of"]
            for file in answer["files"]
        ]
        alike = {what: [Path(file["path"]) for file in written if file["what"] == what] for what in FILES}
        return {
            f"{what}_{number}" if number > 1 else what: path
            for what, paths in alike.items()
            for number, path in enumerate(paths, 1)
        }


def _project(say: Say) -> Tag:
    return tags.div(
        tags.h3(say("The project")), tags.p(say(PROJECT)),
        ui.download_button("project", say("Save the project"), class_="btn-outline-primary"), class_="card-box",
    )  # fmt: skip


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001 - Shiny's own
    """What its buttons do."""
    taken = Taken(room, input, room.place("files"), reactive.Value({}), reactive.Value({}))
    _serve_writing(input, session, taken)
    _serve_shown(taken)

    @render.download_button(filename="project.sdckit")
    def project() -> Iterator[str]:
        yield project_text(room.seat.work.saved())

    served: set[str] = set()

    @reactive.effect
    def _() -> None:
        for button in taken.files():
            if button not in served:
                served.add(button)
                _serve_file(button, taken.files)


def _serve_writing(input: Inputs, session: Session, taken: Taken) -> None:
    room, root, place = taken.room, session.root_scope(), taken.place

    @reactive.effect
    def _() -> None:
        """Write the files of the release that was made, in the format that was chosen."""
        work, made = room.work.get(), taken.may()
        here = "page" in root.input and root.input.page() == "take_away"
        if made is None or not here:
            return
        name = (made["of"], taken.kind(), made["options"])
        with reactive.isolate():
            if taken.ready.get().get("name") == name:
                return
        room.start(
            "taking_away.prepare", lambda answer: taken.ready.set({**answer, "name": name, "made": made["of"]}),
            label=room.say("writing the files"), place=place, kind=taken.kind(), accepted=taken.accepted(),
            **asked_of(work, made["options"]),
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.write_report)
    def _() -> None:
        made = taken.may()
        if made is not None:
            room.start(
                "taking_away.report", lambda answer: taken.report.set({**answer, "made": made["of"]}),
                label=room.say("writing the report"), beside="write_report", kind=str(input.report_kind()),
                **asked_of(room.work.get(), made["options"]),
            )  # fmt: skip


def _serve_shown(taken: Taken) -> None:
    room = taken.room

    @render.ui
    def choices() -> TagChild:
        made = current(room.work.get())
        if made is None:
            return nothing_yet(room.say, NOTHING, "Go to Release", "release")
        return _choices(room.say, passed=bool(made["passed"]))

    @render.ui
    def files() -> TagChild:
        if current(room.work.get()) is None:
            return None
        paths = taken.files()
        if not paths:
            if taken.may():
                return taken.place.shown()
            return tags.p(room.say("Tick the box above to take it all the same."), class_="empty")
        boxes = [_download(room.say, button, path) for button, path in paths.items()]
        return tags.div(*boxes[:1], _report(room.say), *boxes[1:], class_="downloads")

    @render.ui
    def repeat() -> TagChild:
        answer, made = taken.ready.get(), taken.may()
        if not answer or made is None or answer["made"] != made["of"]:
            return None
        texts = {"script": "The session as a Python script", "commands": "The session as command lines"}
        return tags.div(
            *(
                tags.details(tags.summary(room.say(title)), tags.pre(answer[name], tabindex="0"))
                for name, title in texts.items()
            ),
            class_="card-box",
        )


def _serve_file(button: str, files: Callable[[], Mapping[str, Path]]) -> None:
    """A file is handed out only while it may be taken."""

    def name() -> str:
        with reactive.isolate():
            return files()[button].name if button in files() else f"{button}.txt"

    def path() -> str:
        with reactive.isolate():
            return str(files()[button])

    path.__name__ = button
    render.download_button(filename=name)(path)


def _choices(say: Say, *, passed: bool) -> TagChild:
    tick = None
    if not passed:
        box = ui.input_checkbox("accept", say("Take it all the same"))
        tick = tags.div(tags.p(say(BEYOND), class_="bad"), box, class_="card-box")
    return TagList(tick, ui.input_select("kind", say("Format of the release"), FORMATS))


def _download(say: Say, button: str, path: Path) -> Tag:
    words, about = FILES[what := button.partition("_")[0]]
    secret = what == "log"
    look = "btn-outline-danger" if secret else "btn-outline-primary"
    return tags.div(
        tags.strong(path.name), tags.p(say(about)), ui.download_button(button, say(words), class_=look),
        class_=f"download{' secret' * secret}",
    )  # fmt: skip


def _report(say: Say) -> Tag:
    return tags.div(
        tags.strong(say("Report")), tags.p(say("The decision page and its annex.")),
        ui.input_select("report_kind", say("Format of the report"), REPORTS),
        ui.input_action_button("write_report", say("Write the report"), class_="btn-outline-primary"),
        class_="download",
    )  # fmt: skip
