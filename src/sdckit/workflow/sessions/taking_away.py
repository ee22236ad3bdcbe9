"""Tasks that write what is taken away: the release, its report, scenario, recipe, log, script and command lines."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.errors import FileFormatError, ScenarioError
from sdckit.workflow.recipes.session_script import Session, command_lines, python_script
from sdckit.workflow.sessions.releasing import Judged, judged

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.sessions.answering import Desk, Tell


Plain = Mapping[str, Any]
Steps = Sequence[Plain]
FOLDER = "taken"
FORMATS = (".csv", ".parquet", ".arrow", ".sav", ".dta")
REPORTS = (".html", ".pdf", ".docx")
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
    one = judged(desk, chosen, steps, secret, tell, models=models, control=control, attacks=attacks)
    if not one.passed and not accepted:
        raise ScenarioError(HELD)
    folder = desk.folder / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    tell("writing the files")
    session, written = _release(desk, one, chosen, folder, kind)
    texts = {
        session.scenario: chosen.to_toml(),
        session.recipe: one.made.recipe.to_toml(),
        "repeat.py": python_script(session),
        "repeat.sh": command_lines(session),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [_told("release", path) for path in written]
    files += [_told(what, folder / name) for what, name in (
        ("scenario", session.scenario), ("recipe", session.recipe), ("log", session.log), ("script", "repeat.py"),
        ("commands", "repeat.sh"),
    )]  # fmt: skip
    files += [_told("hierarchy", path) for path in _hierarchies(desk, one, folder)]
    return {
        "files": files, "passed": one.passed, "script": texts["repeat.py"], "commands": texts["repeat.sh"],
        "folder": str(folder),
    }  # fmt: skip


def _release(
    desk: Desk, one: Judged, scenario: Scenario, folder: Path, kind: str
) -> tuple[Session, list[Path]]:
    """Write release and log exactly as ``sdckit protect`` does."""
    from sdckit.data.files.file_labels import FileLabels
    from sdckit.data.files.read_labelled import read_labels
    from sdckit.data.files.write_file import LABELLED, WRITTEN
    from sdckit.workflow.recipes.release_files import unread, write_release

    out = folder / f"{RELEASE if one.passed else EXCEEDED}{kind}"
    labelled = WRITTEN[kind] in LABELLED
    reading = desk.reading
    labels = FileLabels()
    if labelled:
        labels = read_labels(desk.path, encoding=reading.get("encoding"), join=reading.get("join"))
    session = Session(
        desk.path.name, out.name, reading, labelled=labelled, passed=one.passed,
        unread=unread(one.made.recipe, scenario), missing=tuple(scenario.missing_codes),
        several=isinstance(one.made.data, list),
    )  # fmt: skip
    written = write_release(
        one.made.data, out, log=one.made.log, log_path=folder / session.log, sources=[desk.path],
        excel_safe=False, labels=labels,
    )  # fmt: skip
    return session, written


def _hierarchies(desk: Desk, one: Judged, folder: Path) -> list[Path]:
    """Copies of the hierarchies that the recipe reads, which the script needs, too."""
    from sdckit.workflow.recipes.recipe_checks import hierarchies

    found = []
    for named in hierarchies(one.made.recipe.steps):
        found.append(folder / Path(named).name)
        shutil.copyfile(desk.folder / named, found[-1])
    return found


def _told(what: str, path: Path) -> dict[str, Any]:
    return {"what": what, "name": path.name, "path": str(path), "bytes": path.stat().st_size}


def report(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, kind: str = ".html",
    models: Mapping[str, str] | None = None, control: str = "", attacks: bool = False, exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Write the decision page and its annex."""
    from sdckit.report.formats.write import check_needs

    if kind not in REPORTS:
        raise FileFormatError(f"there is no format {kind}; choose one of {', '.join(REPORTS)}")
    path = desk.folder / f"report{'-confidential' if exact else ''}{kind}"
    check_needs(path)
    one = judged(
        desk, desk.scenario(scenario), steps, secret, tell, models=models, control=control, attacks=attacks
    )
    tell("writing the report")
    one.found.report(path, internal=exact, language=language, labels=dict(desk.sample.labels))
    return {"files": [_told("report", path)]}
