"""Tasks of the page Take away: write the release, its report, scenario, recipe, log, script and command lines."""

import shlex
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import displayed
from sdckit.errors import FileFormatError, ScenarioError, SdcWarning
from sdckit.workflow.sessions.answering import WRITTEN, Desk, Tell
from sdckit.workflow.sessions.protecting import Plain, Steps
from sdckit.workflow.sessions.releasing import Judged, judged

# The session as a Python script and as command lines: both reproduce the release byte for byte.


NOT_PASSED = "# A limit of the scenario is exceeded or not judged: the last command says which."


@dataclass(frozen=True)
class Session:
    """What the script of a session names: files by their names alone, since they lie beside it.

    Attributes
    ----------
    file : str
        What was opened; `reading` are the options of `read_file`.
    unread : tuple of str
        Identifiers that no step deals with.
    missing : tuple of str
        Codes for missing.
    released : str
        The file that went out.
    labelled : bool
        Whether its format keeps the labels of the file.
    passed : bool
        Whether it is within the limits.
    several : bool
        Whether several files come of the last step.
    drawn : bool
        Whether it was drawn under a promise: its noise is in no file, and it is not made again.
    """

    file: str
    released: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labelled: bool = False
    passed: bool = True
    several: bool = False
    drawn: bool = False
    scenario: str = "scenario.toml"
    recipe: str = "recipe.toml"
    log: str = "log-secret.json"

    @property
    def again(self) -> str:
        """The name of the release that is made again; of one that is not, its own."""
        path = PurePath(self.released)
        return path.name if self.drawn else f"{path.stem}-again{path.suffix}"

    @property
    def does(self) -> str:
        """What the script and the command lines do."""
        if self.drawn:
            return f"Holds {self.released} against every limit. Its noise is in no file: it is not made again."
        return f"Makes {self.released} again, byte for byte, and holds it against every limit."


def command_lines(session: Session) -> str:
    """The command lines, for a shell in the folder of the files.

    >>> lines = command_lines(Session("a b.csv", "release.csv", {"missing": ["-9"]})).splitlines()
    >>> print(lines[-2].partition(" --out ")[2])
    release-again.csv --replay log-secret.json --missing=-9
    """
    read = _flags(session)
    file = f"./{session.file}" if session.file.startswith("-") else session.file
    again = [
        "sdckit", "protect", session.recipe, file, "--scenario", session.scenario, "--out", session.again,
        "--replay", session.log, *read,
    ]  # fmt: skip
    beside = ["sdckit", "check", file, *_released(session), "--scenario", session.scenario, "--log", session.log, *read]
    head = [
        "#!/bin/sh",
        f"# {session.does}",
        f"# Run it where {displayed(session.file)}, {session.recipe}, {session.scenario} and {session.log} lie.",
        *_warned(session),
        "set -e",
    ]
    return "\n".join([*head, *([] if session.drawn else [shlex.join(again)]), shlex.join(beside), ""])


def _released(session: Session) -> Sequence[str]:
    path = PurePath(session.again)
    return ("--released", f"{path.stem}_1{path.suffix}" if session.several else session.again)


def _flags(session: Session) -> list[str]:
    flags = [f"--missing={code}" for code in session.reading.get("missing", ())]
    for name in WRITTEN:
        if session.reading.get(name):
            flags += [f"--{name.replace('_', '-')}", str(session.reading[name])]
    if session.reading.get("join"):
        flags += ["--join", PurePath(str(session.reading["join"])).name]
    return [*flags, *(["--user-missing"] if session.reading.get("user_missing") else [])]


def _warned(session: Session) -> list[str]:
    return [] if session.passed else [NOT_PASSED]


def python_script(session: Session) -> str:
    """The Python script; it compiles and names no path of a machine.

    >>> compile(python_script(Session("a.csv", "release.csv")), "repeat.py", "exec") is not None
    True
    """
    how = {name: session.reading[name] for name in WRITTEN if session.reading.get(name)}
    if session.reading.get("user_missing"):
        how["user_missing"] = True
    if session.unread:
        how["identifiers"] = list(session.unread)
    if session.missing:
        how["missing"] = list(session.missing)
    given = [f"{name}={value!r}" for name, value in sorted(how.items())]
    labels = []
    if session.reading.get("join"):
        given.append(f"join=here / {PurePath(str(session.reading['join'])).name!r}")
    if session.labelled:
        encoding = f", encoding={session.reading['encoding']!r}" if session.reading.get("encoding") else ""
        labels = [f"labels = sdc.read_labels(file{encoding})"]
    options = ", labels=labels" if session.labelled else ""
    write = f"sdc.write_file(applied.data, here / {session.again!r}, sources=[file]{options})"
    if session.several:
        stem, ending = PurePath(session.again).stem, PurePath(session.again).suffix
        write = (
            "for number, release in enumerate(applied.data, 1):\n"
            f'    sdc.write_file(release, here / f"{stem}_{{number}}{ending}", sources=[file]{options})'
        )
    made = [
        f"applied = sdc.Recipe.replay(data, here / {session.log!r}, folder=here, watch=False)",
        *labels,
        write,
        "print(applied.assess())",
    ]
    if session.drawn:
        made = [f"released = sdc.read_file(here / {session.released!r})",
                f"print(sdc.check(data, released, scenario=scenario, log=here / {session.log!r}))"]  # fmt: skip
    lines = [
        f'"""{session.does}"""',
        "",
        "from pathlib import Path",
        "",
        "import sdckit as sdc",
        "",
        *_warned(session),
        "here = Path(__file__).parent",
        f"file = here / {session.file!r}",
        f"scenario = sdc.Scenario.from_toml(here / {session.scenario!r})",
        f"data = sdc.read_file({', '.join(['file', *given])})",
        *made,
        "",
    ]
    return "\n".join(lines)


FOLDER = "taken"
FORMATS = (".csv", ".parquet", ".arrow", ".sav", ".dta")
REPORTS = (".html", ".pdf", ".docx")
# Where the release is within its limits; all else tells more than it, or is of use in the room alone.
GOES_OUT = ("release", "public", "recipe")
RELEASE, EXCEEDED = "release", "release-limits-exceeded"
HELD = (
    "a limit is exceeded or could not be judged; this release is written only where you say that it shall be taken "
    "all the same"
)


def prepare(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, kind: str = ".csv", accepted: bool = False,
    models: Mapping[str, str] | None = None, control: str = "", attacks: bool = False, exact: bool = False,  # noqa: ARG001
    language: str = "en",  # noqa: ARG001
) -> dict[str, Any]:  # fmt: skip
    """Write everything but the report into the session's folder; a release beyond a limit only where that is accepted.

    Raises
    ------
    ScenarioError
        The release is not within the limits, and nobody said that it shall be taken.
    """
    if kind not in FORMATS:
        raise FileFormatError(f"there is no format {kind}; choose one of {', '.join(FORMATS)}")
    chosen = desk.scenario(scenario)
    outcome = judged(desk, chosen, steps, secret, tell, models=models, control=control, attacks=attacks)
    if not outcome.passed and not accepted:
        raise ScenarioError(HELD)
    folder = desk.folder / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    tell("writing the files")
    session, written = _release(desk, outcome, chosen, folder, kind)
    texts = {
        session.scenario: chosen.to_toml(),
        session.recipe: outcome.made.recipe.to_toml(),
        "repeat.py": python_script(session),
        "repeat.sh": command_lines(session),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [("release", path) for path in written]
    files += [(what, folder / name) for what, name in (
        ("scenario", session.scenario), ("recipe", session.recipe), ("log", session.log), ("script", "repeat.py"),
        ("commands", "repeat.sh"),
    )]  # fmt: skip
    files += _read_by_recipe(desk, outcome, folder)
    return {
        "files": _file_entries(files, outcome), "passed": outcome.passed, "script": texts["repeat.py"],
        "commands": texts["repeat.sh"], "folder": str(folder),
    }  # fmt: skip


def _release(desk: Desk, outcome: Judged, scenario: Scenario, folder: Path, kind: str) -> tuple[Session, list[Path]]:
    """Write release and log exactly as ``sdckit protect`` does."""
    from sdckit.data.files.file_labels import FileLabels
    from sdckit.data.files.read_labelled import read_labels
    from sdckit.data.files.write_file import LABELLED, WRITTEN
    from sdckit.workflow.recipes.release_files import unread, write_release

    out = folder / f"{RELEASE if outcome.passed else EXCEEDED}{kind}"
    labelled = WRITTEN[kind] in LABELLED
    reading = desk.reading
    given = {name: reading.get(name) for name in ("encoding", "join")}
    labels = read_labels(desk.path, **given) if labelled else FileLabels()
    session = Session(
        desk.path.name, out.name, reading, labelled=labelled, passed=outcome.passed,
        unread=unread(outcome.made.recipe, scenario), missing=tuple(scenario.missing_codes),
        several=isinstance(outcome.made.data, list), drawn=outcome.made.recipe.reads_alone,
    )  # fmt: skip
    written = write_release(
        outcome.made.data, out, log=outcome.made.log, log_path=folder / session.log, sources=[desk.path],
        excel_safe=False, labels=labels, remember=_pending(desk, outcome, scenario),
    )  # fmt: skip
    return session, written


def _pending(desk: Desk, outcome: Judged, scenario: Scenario) -> Any:
    """What remembers the release in the scenario's ledger, as ``sdckit protect`` does; None where it is not to."""
    if scenario.ledger is None or not scenario.ledger.add:
        return None
    from sdckit.data.frames import open_frame
    from sdckit.workflow.recipes.release_files import PendingRelease, open_ledger

    ledger, data = open_ledger(scenario), outcome.made.data
    stem, number = desk.path.stem, int(ledger.head.split()[0]) + 1  # no entry has this name yet
    names = (
        [f"{stem} {number}"] if not isinstance(data, list) else [f"{stem} {number}.{i + 1}" for i in range(len(data))]
    )
    read: Any = open_frame(desk.data)
    return partial(PendingRelease(ledger, scenario, tuple(names), lambda name: read[name]).remember, outcome.made)


def _read_by_recipe(desk: Desk, outcome: Judged, folder: Path) -> list[tuple[str, Path]]:
    """Copies of the hierarchies and the domain that the recipe reads, which the script needs, too."""
    from sdckit.workflow.recipes.recipe_checks import hierarchies

    recipe = outcome.made.recipe
    named = [("hierarchy", name) for name in hierarchies(recipe.steps)]
    named += [("domain", str(recipe.steps[0].arguments["domain"]))] if recipe.reads_alone else []
    copies = [(what, folder / Path(name).name) for what, name in named]
    for (_, name), (_, copy) in zip(named, copies, strict=True):
        shutil.copyfile(desk.folder / name, copy)
    return copies


def _file_entries(files: Sequence[tuple[str, Path]], outcome: Judged) -> list[dict[str, Any]]:
    return [
        {"what": what, "name": path.name, "path": str(path), "bytes": path.stat().st_size,
         "goes_out": outcome.passed and what in GOES_OUT}
        for what, path in files
    ]  # fmt: skip


def report(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, kind: str = ".html",
    models: Mapping[str, str] | None = None, control: str = "", attacks: bool = False, exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Write the decision page and its annex, and a report of the release by itself, which may go out with it."""
    from sdckit.report.formats.write import check_needs
    from sdckit.workflow.assess import assess
    from sdckit.workflow.recipes.release_files import numbered

    if kind not in REPORTS:
        raise FileFormatError(f"there is no format {kind}; choose one of {', '.join(REPORTS)}")
    path = desk.folder / f"report{'-confidential' if exact else ''}{kind}"
    check_needs(path)
    chosen = desk.scenario(scenario)
    outcome = judged(desk, chosen, steps, secret, tell, models=models, control=control, attacks=attacks)
    tell("writing the report")
    how: dict[str, Any] = {"language": language, "labels": dict(desk.sample.labels)}
    outcome.assessment.report(path, internal=exact, **how)
    made = outcome.made.data if isinstance(outcome.made.data, list) else [outcome.made.data]
    alone = chosen.of_release(made[0].columns)
    going = made if alone.intruders else []
    public = numbered(desk.folder / f"report-public{kind}", len(going))
    for released, file in zip(going, public, strict=True):  # nothing but the release: what it tells follows from it
        with warnings.catch_warnings(action="ignore", category=SdcWarning):  # the document tells them
            assess(released, scenario=alone).report(file, public=True, **how)
    return {"files": _file_entries([("report", path), *(("public", file) for file in public)], outcome)}
