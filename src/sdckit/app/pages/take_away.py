"""The page Take away: the released file, its report, and what repeats the session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import Tag, TagChild, TagList, tags

from sdckit.app.page_context import Kept, Room, Say, nothing_yet, upon
from sdckit.app.pages.release import asked_of, current
from sdckit.app.tasks import Place
from sdckit.data.files.write_file import WRITTEN

FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".arrow": "Arrow", ".sav": "SPSS", ".dta": "Stata"}
REPORTS = {".html": "HTML", ".pdf": "PDF", ".docx": "Word"}
RECIPE = (
    "The steps. It holds no seed and no key. Whoever has it with the release can try which values taken out would give "
    "this release."
)
# What can be taken: the name on its button, and what it is.
FILES = {
    "release": ("Download the release", "The protected file, as the page Release judged it."),
    "public": (
        "Download the public report",
        "A report of the release by itself, which may go out with it: it tells nothing that the release does not.",
    ),
    "recipe": ("Download the recipe", RECIPE),
    "report": ("Download the report", "The decision page and its annex, protected as every document."),
    "scenario": ("Download the scenario", "Who could know what, and the limits."),
    "script": ("Download the Python script", "It makes the same file again, byte for byte."),
    "commands": ("Download the command lines", "They do the same in a terminal."),
    "hierarchy": ("Download the hierarchy", "The recipe reads it. It names every value of its variable."),
    "domain": ("Download the domain", "The recipe reads it: what the columns may hold, declared in public."),
    "log": ("Download the log (secret)", "Confidential: it helps to undo the protection. Keep it in the room."),
}  # fmt: skip
BEYOND = (
    "This release is not within the limits: one is exceeded, could not be judged, or none is declared. "
    "It is taken only where you say so, and its name says it."
)
PROJECT = (
    "Roles, limits, steps, versions and hierarchies in one file, to carry on elsewhere. "
    "It holds no record and no secret."
)
LEFT_OUT = "These lines are not in the project. Few are fewer than five, and fewer than k."
RARE = "Write these lines, too; the project is confidential then"
TWO = "The decision page and its annex, which stay in the room, and the public report."
GOES_OUT, STAYS = "May go out with the release", "Stays in the room"
NOTHING = "There is nothing to take away: make the release first, and its verdict stands above."


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    project = tags.div(
        tags.h3(say("The project")), tags.p(say(PROJECT)), ui.output_ui("project_card"), class_="card-box"
    )  # fmt: skip
    return TagList(ui.output_ui("choices"), ui.output_ui("files"), ui.output_ui("repeat"), project)


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
        return str(self.input["kind"]()) if "kind" in self.input else as_it_came(self.room.work.get().path)

    def may(self) -> Mapping[str, Any] | None:
        """The release, where it may be taken; reactive."""
        made = current(self.room.work.get())
        return made if made is not None and (made["passed"] or self.accepted()) else None

    def files(self) -> dict[str, Path]:
        """The files that may be taken now, by their buttons: what they are, numbered from the second on; reactive."""
        made = self.may()
        answers = [
            answer for answer in (self.ready.get(), self.report.get()) if made and answer.get("made") == made["of"]
        ]
        written = [file for answer in answers for file in answer["files"]]
        alike = {what: [Path(file["path"]) for file in written if file["what"] == what] for what in FILES}
        return {
            f"{what}_{number}" if number > 1 else what: path
            for what, paths in alike.items()
            for number, path in enumerate(paths, 1)
        }

    def going_out(self) -> set[Path]:
        """Those of the files that may go out, as the task that wrote them says; reactive."""
        written = [file for answer in (self.ready.get(), self.report.get()) for file in answer.get("files", ())]
        return {Path(file["path"]) for file in written if file["goes_out"]}


def as_it_came(path: str) -> str:
    """The format in which a file came; CSV where it is not written.

    >>> as_it_came("survey.DTA"), as_it_came("survey.feather"), as_it_came("survey.sas7bdat")
    ('.dta', '.arrow', '.csv')
    """
    kind = WRITTEN.get(Path(path).suffix.lower())
    return next((ending for ending in FORMATS if WRITTEN[ending] == kind), ".csv")


def _project(say: Say, left_out: Sequence[str], *, rare: bool) -> TagChild:
    tick = ui.input_checkbox("rare", say(RARE), rare, width="100%")
    look = "btn-outline-danger" if rare and left_out else "btn-outline-primary"
    return TagList(
        TagList(tags.ul(*map(tags.li, left_out)), tags.p(say(LEFT_OUT)), tick) if left_out else None,
        ui.download_button("project", say("Save the project"), class_=look),
    )


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001 - Shiny's own
    """What its buttons do."""
    taken = Taken(room, input, room.place("files"), reactive.Value({}), reactive.Value({}))
    _serve_writing(input, session, taken)
    _serve_shown(taken)

    _serve_project(input, session, room)
    served: set[str] = set()

    @reactive.effect
    def _() -> None:
        for button in taken.files():
            if button not in served:
                served.add(button)
                _serve_file(button, taken.files)


def _serve_project(input: Inputs, session: Session, room: Room) -> None:
    """The project is written as the session is now, its hierarchies by the worker, which alone may know them."""
    root, place = session.root_scope(), room.place("project_card")
    written: Kept[dict[str, Any]] = Kept(room, {})

    def rare() -> bool:
        return bool(input["rare"]()) if "rare" in input else False

    @reactive.effect
    def _() -> None:
        saved, asked = room.work.get().saved(), rare()
        if "page" in root.input and root.input.page() == "take_away":
            with reactive.isolate():
                if written.get().get("of") == (saved, asked):
                    return
                work = room.work.get()
            take = written.taker(lambda answer: {**answer, "of": (saved, asked)})
            room.start(
                "projects.save", take, label=room.say("writing the project"), place=place, saved=saved, rare=asked,
                exact=work.exact, language=work.language,
            )  # fmt: skip

    @render.ui
    def project_card() -> TagChild:
        answer = written.get()
        same = answer and answer["of"] == (room.work.get().saved(), rare())
        return _project(room.say, answer["left_out"], rare=answer["of"][1]) if same else place.shown()

    def name() -> str:
        with reactive.isolate():
            return Path(written.get()["path"]).name

    @render.download_button(filename=name)
    def project() -> str:
        with reactive.isolate():
            return str(written.get()["path"])


def _serve_writing(input: Inputs, session: Session, taken: Taken) -> None:
    room, root, place = taken.room, session.root_scope(), taken.place

    @reactive.effect
    def _() -> None:
        """Write the files of the release that was made, in the format that was chosen."""
        work, made = room.work.get(), taken.may()
        if made is None or not ("page" in root.input and root.input.page() == "take_away"):
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

    @upon(input.write_report)
    def _() -> None:
        if (made := taken.may()) is not None:
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
        return _choices(room.say, as_it_came(room.work.get().path), passed=bool(made["passed"]))

    @render.ui
    def files() -> TagChild:
        if current(room.work.get()) is None:
            return None
        if not (paths := taken.files()):
            if taken.may():
                return taken.place.shown()
            return tags.p(room.say("Tick the box above to take it all the same."), class_="empty")
        out = taken.going_out()
        goes, stays = (
            [_download(room.say, button, path) for button, path in paths.items() if (path in out) is whether]
            for whether in (True, False)
        )
        (goes or stays).append(_report(room.say))  # nothing goes out of a release that is not within its limits
        return TagList(
            *([tags.h3(room.say(title)), tags.div(*buttons, class_="downloads")]
              for title, buttons in ((GOES_OUT, goes), (STAYS, stays)) if buttons)
        )  # fmt: skip

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


def _choices(say: Say, kind: str, *, passed: bool) -> TagChild:
    tick = None
    if not passed:
        box = ui.input_checkbox("accept", say("Take it all the same"))
        tick = tags.div(tags.p(say(BEYOND), class_="bad"), box, class_="card-box")
    return TagList(tick, ui.input_select("kind", say("Format of the release"), FORMATS, selected=kind))


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
        tags.strong(say("Report")), tags.p(say(TWO)),
        ui.input_select("report_kind", say("Format of the report"), REPORTS),
        ui.input_action_button("write_report", say("Write the report"), class_="btn-outline-primary"),
        class_="download",
    )  # fmt: skip
