"""The page File: open or upload a file, say how it is read, and see what was read."""

import shutil
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import HTML, TagChild, TagList, tags

from sdckit.app.browser_sessions import Work, made_steps
from sdckit.app.page_context import Room, Say, file_field, named_upload, upon
from sdckit.data.files.whole_files import reason_of
from sdckit.data.scenarios.scenario_form import fits

ACCEPTED = [
    ".csv", ".tsv", ".tab", ".txt", ".gz", ".bz2", ".xz", ".zst", ".xlsx", ".xlsm", ".parquet", ".pq", ".arrow",
    ".feather", ".ipc", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt",
]  # fmt: skip
FOUND = "found by itself"
DELIMITERS = {"": FOUND, ",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "blank"}
DECIMALS = {"": FOUND, ".": "point", ",": "comma"}
ENCODINGS = ("", "utf-8", "cp1252", "iso-8859-1", "iso-8859-15", "utf-16")
# Fields of the form, besides the second file.
FIELDS = ("delimiter", "decimal", "encoding", "sheet", "header_row", "missing", "user_missing")
SHEET = ("sheet", "header_row")  # these are of one file
FORMATS = "CSV (also compressed), Excel, Parquet, Arrow, SPSS, Stata, SAS. A header line names the columns."
DROPPED = "The roles and steps of before name columns that this file does not have; they were left out."
NOT_FITTING = "The project names columns that this file does not have; it stands among the versions on page Protect."
FOLDER, PROJECT = "files", "projects"  # of what was uploaded, in the session's folder


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(
        tags.div(_upload(say), _demo(say), class_="columns"),
        tags.details(tags.summary(say("How the file is read, and a second file")), _reading(say), class_="card-box"),
        *map(ui.output_ui, ("facts", "codes", "records")),
    )  # fmt: skip


def _upload(say: Say) -> TagChild:
    return tags.div(
        tags.h3(say("A file of yours")),
        file_field(say, "upload", say("Choose a file"), accept=ACCEPTED, width="100%"),
        tags.p(say(FORMATS), class_="quiet"),
        tags.p(say("It stays on this machine, and is removed with the session."), class_="quiet"),
        file_field(say, "project", say("Take up a project"), accept=[".sdckit"], width="100%"),
        ui.output_ui("waiting"),
        class_="card-box",
    )  # fmt: skip


def _demo(say: Say) -> TagChild:
    return tags.div(
        tags.h3(say("No file at hand?")),
        tags.p(say("A survey of 6,366 married women of 1974, with its roles and limits: see how the pages work.")),
        ui.input_action_button("demo", say("Open the demo"), class_="btn-outline-primary"),
        class_="card-box",
    )


def _reading(say: Say) -> TagChild:
    def choices(ones: Mapping[str, str]) -> dict[str, str]:
        return {value: say(words) for value, words in ones.items()}

    return TagList(
        tags.div(
            ui.input_select("delimiter", say("Delimiter of a CSV"), choices(DELIMITERS)),
            ui.input_select("decimal", say("Decimal mark"), choices(DECIMALS)),
            ui.input_select("encoding", say("Encoding"), {encoding: encoding or say(FOUND) for encoding in ENCODINGS}),
            ui.input_text("sheet", say("Sheet of an Excel file: its name or number"), placeholder=say("the first one")),
            ui.input_text("header_row", say("Row of the sheet with the names of columns"), placeholder="1"),
            ui.input_text("missing", say("Codes that mean missing, separated by commas"), placeholder="NA, -999"),
            ui.input_checkbox("user_missing", say("Keep labelled missing codes as categories (SPSS, Stata)")),
            file_field(say, "second", say("A second file, such as the households of persons"), accept=ACCEPTED),
            ui.input_text("join_key", say("The column that both files have")),
            class_="form-grid",
        ),
        ui.input_action_button("again", say("Read again"), class_="btn-outline-primary"),
    )


def reading_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `read_file` that the form states.

    >>> reading_of({"delimiter": ";", "decimal": "", "missing": "NA, -9", "user_missing": False})
    {'delimiter': ';', 'missing': ['NA', '-9']}
    >>> reading_of({"sheet": "2021", "header_row": "3"})
    {'sheet': '2021', 'header_row': 3}
    """
    codes = [code.strip() for code in str(values.get("missing") or "").split(",")]
    row = str(values.get("header_row") or "").strip()
    given = {**values, "missing": [code for code in codes if code], "header_row": int(row) if row.isdecimal() else row}
    return {name: value for name, value in given.items() if value not in (None, "", False, [])}


def reading_asked(work: Work) -> dict[str, Any]:
    """How the file is to be read: with the codes for missing of the scenario, which undo or a version may bring back.

    A scenario without any leaves the file as it is read.
    """
    codes = [str(code) for code in (work.scenario or {}).get("missing_codes", ())]  # a project may have numbers
    return {**work.reading, **({"missing": codes} if codes else {})}


def as_read(work: Work) -> dict[str, Any]:
    """The scenario with the codes for missing that the file was read with.

    >>> as_read(Work(reading={"missing": ["-9"]}, scenario={"keys": ["age"], "missing_codes": ["-8"]}))
    {'keys': ['age'], 'missing_codes': ['-9']}
    """
    codes = list(work.reading.get("missing", ()))
    rest = {name: entry for name, entry in (work.scenario or {}).items() if name != "missing_codes"}
    return {**rest, **({"missing_codes": codes} if codes else {})}


def shown_now(work: Work) -> list[Any]:
    """How the session shows figures, and its language."""
    return [work.exact, work.language]


def html_of(work: Work) -> str:
    """What was read of the file; exact figures are none of a screen of protected ones.

    >>> html_of(Work(facts={"html": "<p>3</p>", "shown": [True, "en"]}))
    ''
    """
    facts = work.facts or {"html": ""}
    is_exact = (facts.get("shown") or [True])[0]  # what is about to be read anew may be
    return "" if is_exact and not work.exact else str(facts["html"])


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001
    """What its buttons do."""
    uploads: dict[str, str] = {}
    _serve_uploads(input, room, uploads)
    _serve_project(input, room)
    _serve_demo(input, room, uploads)
    _serve_facts(input, room, uploads)
    _serve_records(input, room)


def _open(
    room: Room, path: str, name: str, reading: Mapping[str, Any], uploads: Mapping[str, str], *, beside: str
) -> None:
    """Open a file; it is taken into the work once it was read. A refusal stands beside what asked for it.

    An upload that is not taken yet is removed where it cannot be read; what was uploaded while it was read stays.
    What the page reads by itself is dropped where other codes, or another file, were chosen meanwhile. Where that is
    cancelled or fails, the scenario has the codes of the file as it stands.
    """
    work = room.seat.work
    shown = shown_now(work)

    def opened(facts: dict[str, Any]) -> None:
        now = room.seat.work
        if beside == "facts" and (path, reading, shown) != (now.path, reading_asked(now), shown_now(now)):
            return
        _taken(room, facts, path=path, name=name, reading=dict(reading), shown=shown, kept=uploads.values())
        ui.update_text("missing", value=", ".join(reading.get("missing", ())))

    def stays() -> None:
        now = room.seat.work
        if beside == "facts" and path == now.path and now.reading != reading == reading_asked(now):
            room.seat.amend(scenario=as_read(now))

    room.start(
        "opening.open_file", opened, label=room.say("Reading {c}", c=name), beside=beside, dropped=stays, path=path,
        reading=dict(reading), exact=work.exact, language=work.language, upload=path != work.path,
    )  # fmt: skip


def _serve_uploads(input: Inputs, room: Room, uploads: dict[str, str]) -> None:
    """Files by the field they came through: that of "upload" was chosen last, and may not have been read."""
    last: dict[str, str] = {}  # sheet and row of the file that was read last, and the name of the last upload

    def there(field: str) -> str:
        path = uploads.get(field, "")
        return path if Path(path).is_file() else ""

    def options(*, other: bool = False) -> dict[str, Any]:
        """How the fields say that it is read; the sheet of the file before is not that of another one."""
        with reactive.isolate():
            given = {name: input[name]() for name in FIELDS}
            for name in SHEET:
                if other and given[name] and given[name] == last.get(name):
                    given[name] = ""
                    ui.update_text(name, value="")
                last[name] = given[name]
            joined = {"join": second, "join_key": input.join_key().strip()} if (second := there("second")) else {}
        return reading_of({**given, **joined})

    @upon(input.upload)
    def _() -> None:
        if (chosen := input.upload()) and (path := _received(room, chosen[0], "upload", uploads)):
            name = Path(path).name
            _open(room, path, name, options(other=name != last.get("upload")), uploads, beside="upload")
            last["upload"] = name

    @upon(input.second)
    def _() -> None:
        if chosen := input.second():
            _received(room, chosen[0], "second", uploads)

    @upon(input.again)
    def _() -> None:
        if path := there("upload") or room.seat.work.path:
            _open(room, path, Path(path).name, options(), uploads, beside="again")
        else:
            room.alert(room.say("Choose a file first, or open the demo."), beside="again")


def _serve_project(input: Inputs, room: Room) -> None:
    """Take up a project; it waits for its file, or stands among the versions where its columns are not there."""

    def load(path: str) -> None:
        then = partial(taken, path)
        room.start("projects.load", then, label=room.say("reading the project"), beside="project", path=path)

    def taken(path: str, project: dict[str, Any]) -> None:
        work = room.seat.work
        if "waits" in project:
            room.change(project=path)
            return
        facts, scenario = work.facts, project["scenario"]
        versions = work.taken_up(project).versions
        if facts is not None and scenario is not None and not fits(scenario, facts["columns"]):
            version = {"name": project["name"], "why": "", "time": "", "scenario": scenario, "steps": project["steps"]}
            room.change(versions=(*versions, version))
            room.alert(room.say(NOT_FITTING), beside="project")
            return
        room.change(
            did="take up a project", why="before a project was taken up", scenario=scenario, versions=versions,
            steps=made_steps(project["steps"]),
        )  # fmt: skip

    @upon(input.project)
    def _() -> None:
        for chosen in input.project() or ():
            load(str(_kept(room.folder, chosen, PROJECT)))

    @reactive.effect
    def _() -> None:
        """Its file has come."""
        work = room.work.get()
        if work.project and work.facts is not None:
            room.change(project="")
            load(work.project)

    @render.ui
    def waiting() -> TagChild:
        work = room.work.get()
        if work.facts is not None or not (work.project or work.scenario):
            return None
        return tags.p(room.say("Roles and steps are there and wait for the file of records."), role="status")


def _received(room: Room, chosen: Any, field: str, uploads: dict[str, str]) -> str:
    """Where an upload lies now; what it replaces is removed. Empty where there is no place for it, which is said."""
    try:
        uploads[field] = path = str(_kept(room.folder, chosen))
    except OSError as error:
        uploads.pop(field, None)
        room.alert(room.say(reason_of(error)), beside=field)
        return ""
    _tidy(room, *uploads.values())
    return path


def _serve_demo(input: Inputs, room: Room, uploads: dict[str, str]) -> None:
    @upon(input.demo)
    def _() -> None:
        work = room.seat.work

        def opened(answer: dict[str, Any]) -> None:
            facts = {name: value for name, value in answer.items() if name != "scenario"}
            uploads.clear()
            _taken(
                room, facts, path=answer["path"], name=answer["name"], reading={}, shown=shown_now(work),
                scenario=answer["scenario"],
            )  # fmt: skip

        label = room.say("Opening the demo")
        room.start("opening.open_demo", opened, label=label, beside="demo", exact=work.exact, language=work.language)


def _serve_facts(input: Inputs, room: Room, uploads: Mapping[str, str]) -> None:
    say = room.say

    @reactive.effect
    def _() -> None:
        """What the command line named, and all once more where switch, language or the scenario's codes changed."""
        work = room.work.get()
        reading = reading_asked(work)
        if work.path and ((work.facts or {}).get("shown") != shown_now(work) or reading != work.reading):
            _open(room, work.path, work.name, reading, uploads, beside="facts")

    @render.ui
    def facts() -> TagChild:
        work = room.work.get()
        if work.facts is None:
            return tags.p(say("No file is open yet. Choose one, or open the demo."), class_="empty")
        return HTML(html_of(work))

    @render.ui
    def codes() -> TagChild:
        facts_of_file = room.work.get().facts
        if facts_of_file is None or not (facts_of_file["missing"] or facts_of_file["suspected"]):
            return None
        every = list(dict.fromkeys([*facts_of_file["missing"], *facts_of_file["suspected"]]))
        return tags.div(
            ui.input_checkbox_group(
                "chosen", say("These codes mean missing, in all columns"), {code: code for code in every},
                selected=facts_of_file["missing"], inline=True,
            ),
            ui.input_action_button("use_codes", say("Use these codes"), class_="btn-outline-primary"),
            class_="card-box",
        )  # fmt: skip

    @upon(input.use_codes)
    def _() -> None:
        work = room.seat.work
        chosen = list(input.chosen()) or [""]  # without any, the empty field alone
        _open(room, work.path, work.name, {**work.reading, "missing": chosen}, uploads, beside="use_codes")


def _serve_records(input: Inputs, room: Room) -> None:
    say = room.say
    shown: reactive.Value[dict[str, Any] | None] = reactive.Value(None)

    @reactive.effect
    def _() -> None:
        """A page of records is of the file and the switch it was asked for."""
        _ = room.work.get().facts
        shown.set(None)

    @render.ui
    def records() -> TagChild:
        work, answer = room.work.get(), shown.get()
        if work.facts is None:
            return None
        if not work.exact:
            how = say("Single records are shown only with exact figures: the switch is at the top.")
            return tags.p(how, class_="quiet")
        if answer is None:
            return ui.input_action_button("rows", say("Show a page of records"), class_="btn-outline-secondary")
        more = ui.input_action_button("more", say("Next page"), class_="btn-outline-secondary")
        hide = ui.input_action_button("hide", say("Hide the records"), class_="btn-outline-secondary")
        return tags.div(HTML(answer["html"]), more if answer["next"] is not None else None, hide, class_="wide")

    def page(start: int) -> None:
        work = room.seat.work
        hidden = None if work.scenario is None else list(work.scenario.get("identifiers", ()))
        room.start(
            "opening.rows", shown.set, label=say("Reading a page of records"), beside="rows", start=start,
            hidden=hidden, exact=work.exact, language=work.language,
        )  # fmt: skip

    @upon(input.rows)
    def _() -> None:
        page(0)

    @upon(input.more)
    def _() -> None:
        page((shown.get() or {"next": 0})["next"])

    @upon(input.hide)
    def _() -> None:
        shown.set(None)


def _taken(
    room: Room, facts: dict[str, Any], *, path: str, name: str, reading: dict[str, Any],
    shown: list[Any], scenario: Mapping[str, Any] | None = None, kept: Iterable[str] = (),
) -> None:  # fmt: skip
    """Take an opened file into the work; decisions stay where their columns are all there, and the uploads `kept`.

    `shown`: how figures were to be shown when it was asked for.
    """
    work = room.seat.work
    facts_shown = {**facts, "shown": shown}
    if (path, reading) == (work.path, dict(work.reading)) and work.facts is not None and scenario is None:
        room.change(facts=facts_shown)
        return
    fitting = fits(work.scenario, facts["columns"])
    own = work.scenario if fitting else None
    if own is not None and reading.get("missing"):
        own = {**own, "missing_codes": list(reading["missing"])}
    elif own is not None and own.get("missing_codes"):  # the file is read once more, as the scenario says
        reading, facts_shown = {**reading, "missing": list(own["missing_codes"])}, {**facts_shown, "shown": None}
    if (work.scenario or work.steps) and not fitting and scenario is None:
        room.alert(room.say(DROPPED))
    room.seat.verdict = ""
    room.change(
        path=path, name=name, reading=reading, facts=facts_shown, release=None, control="",
        scenario=own if scenario is None else scenario, steps=work.steps if fitting and scenario is None else (),
    )  # fmt: skip
    if path != work.path:
        _tidy(room, *kept)


def _tidy(room: Room, *kept: str) -> None:
    """Remove every upload but these and those that the work is of."""
    work = room.seat.work
    used = {Path(path).parent for path in (work.path, str(work.reading.get("join", "")), *kept)}
    for place in (room.folder / FOLDER).glob("*"):
        if place not in used:
            shutil.rmtree(place, ignore_errors=True)


def _kept(folder: Path, chosen: Any, within: str = FOLDER) -> Path:
    """Move an upload into the session's folder, under its own name and apart from others of that name."""
    place = folder / within / token_hex(4)
    place.mkdir(mode=0o700, parents=True)
    target = Path(shutil.move(named_upload(chosen), place))
    target.chmod(0o600)
    return target
