"""Tasks of the page File: open a file and describe it."""

import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdckit.data.missing_values.missing import Found, counted_codes
from sdckit.errors import DataError, SdcError, SdcWarning
from sdckit.report.blocks import Paragraph, Section, TableBlock
from sdckit.report.chapters.opened_file import OpenedFile, file_document, file_sections
from sdckit.report.gate.protect import SMALLEST_FILE, protect
from sdckit.report.notebook import document_html, sections_html, warned_html
from sdckit.workflow.sessions import refusals, roles
from sdckit.workflow.sessions.answering import Desk, Tell

DEMO = "affairs.csv"
MOST_ROWS = 50  # on a page of records
MARK = "Records of persons: confidential, for this screen only."


def open_file(
    desk: Desk, tell: Tell, *, path: str, reading: Mapping[str, Any], exact: bool = False, language: str = "en",
    upload: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Open a file with these options, and tell what was read: records, columns, labels, codes for missing.

    An upload that cannot be read is removed with its folder; it stays where only an option was refused.
    """
    tell(f"reading {Path(path).name}")
    try:
        desk.open(path, reading)
    except SdcError as error:
        if upload and not error.argument and Path(path).is_relative_to(desk.folder):
            shutil.rmtree(Path(path).parent, ignore_errors=True)
        raise
    return told(desk, tell, exact=exact, language=language)


def told(desk: Desk, tell: Tell, *, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """Description of the open file: `html` and the codes are shown, the others serve the pages."""
    tell("counting missing values")
    opened = _opened(desk)
    frame, notes = desk.data, desk.sample.notes
    document = file_document(opened)
    html = document_html(lambda: protect(document, internal=exact), file_sections, exact=exact, language=language)
    if frame.height < SMALLEST_FILE and not exact:  # its document is refused; what was noticed may be why
        html += "".join(warned_html(f"Warning: {refusals.message(text, {})}", language) for text in desk.warnings)
    return {
        "name": opened.name,
        "format": desk.sample.header.format,
        "records": frame.height,
        "columns": list(frame.columns),
        "numbers": [name for name, dtype in frame.schema.items() if dtype.is_numeric()],
        "labels": dict(desk.sample.labels),
        "bytes": int(frame.estimated_size()),
        "missing": list(notes.given) or list(dict.fromkeys(note.code for note in notes.taken)),
        "suspected": list(dict.fromkeys(note.code for note in notes.suspected)),
        "html": html,
    }


def open_demo(desk: Desk, tell: Tell, *, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """Write the demo's survey into the session's folder, open it, and give its scenario."""
    from sdckit.data.files.write_file import write_file
    from sdckit.demo import demo_scenario, load_demo

    tell("reading the survey")
    path = desk.folder / DEMO
    if not path.exists():
        write_file(load_demo(), path)
    facts = open_file(desk, tell, path=str(path), reading={}, exact=exact, language=language)
    return {**facts, "path": str(path), "scenario": roles.plain_scenario(demo_scenario())}


def rows(
    desk: Desk, tell: Tell, *, start: int = 0, hidden: Sequence[str] | None = None, exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """A page of records, marked as such; only where the session shows exact figures, and never an identifier.

    Those are `hidden`; where nobody has said yet what the columns are, the guessed ones.
    """
    tell("reading a page of records")
    if not exact:
        raise DataError("records are shown only where the session shows exact figures; switch to them first")
    frame = desk.data
    if hidden is None:
        hidden = [guess.column for guess in roles.guessed_roles(desk) if guess.role == "identifier"]
    shown = [name for name in frame.columns if name not in hidden]
    first = max(0, min(int(start), frame.height - 1)) // MOST_ROWS * MOST_ROWS
    page = frame.select(shown).slice(first, MOST_ROWS)
    cells = tuple(
        (str(first + at), *("" if cell is None else str(cell) for cell in row)) for at, row in enumerate(page.rows(), 1)
    )
    block = TableBlock(f"Records {first + 1:,} to {first + page.height:,} of {frame.height:,}", ("Row", *shown), cells)
    section = Section("Records", (Paragraph(MARK, "warning"), block))
    values = (*shown, *(value for row in cells for value in row))
    named = {"scenario": {"intruders": dict.fromkeys(shown, values)}}  # no column and no value is translated
    return {
        "html": sections_html([section], exact=True, language=language, plain=named),
        "start": first,
        "next": first + MOST_ROWS if first + MOST_ROWS < frame.height else None,
    }


def _opened(desk: Desk) -> OpenedFile:
    """The open file, with counts of the codes that became missing."""
    notes = desk.sample.notes
    taken = desk.remember("codes", list(notes.given), lambda: _effect(desk)) if notes.given else notes.taken
    declared = desk.remember("declared", [], lambda: _declared(desk))
    warned = tuple(map(refusals.in_words, desk.warnings))
    return OpenedFile(desk.path.name, desk.sample, taken, declared, notes.suspected, warned)


def _declared(desk: Desk) -> tuple[Found, ...]:
    """The codes that the file and a second one declare to mean missing, where they were read so."""
    from sdckit.data.files.file_checks import file_format
    from sdckit.data.files.read_labelled import declared_missing

    if desk.reading.get("user_missing"):  # kept as categories
        return ()
    files = [desk.path, *map(Path, filter(None, [desk.reading.get("join")]))]
    encoding = desk.reading.get("encoding")
    every = [code for file in files for code in declared_missing(file, file_format(file), encoding=encoding)]
    return tuple(code for code in every if code.column in desk.data.columns)


def _effect(desk: Desk) -> Any:
    """Count what the given codes made missing, by reading the file again with the empty field as the only code."""
    from sdckit.data.files.readers import describe_file

    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        plain = describe_file(desk.path, whole=True, **{**desk.reading, "missing": [""]})
    return counted_codes(plain.frame, desk.sample.notes.given)
