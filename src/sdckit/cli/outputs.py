"""Where results go: looked at before any work starts, so that no work is lost."""

from __future__ import annotations

import os
from pathlib import Path

from sdckit.errors import DataError, ScenarioError, SdcError

STDOUT = "-"
FEWEST_RECORDS = 50
REPORT_ENDINGS = (
    ".html",
    ".htm",
    ".md",
    ".markdown",
    ".pdf",
    ".docx",
)  # those of sdckit.report.formats.write, which is slow to import

CHART_ENDINGS = (".html", ".json", ".png", ".svg")  # those of sdckit.report.offline, slow too


def check_beside(folder: Path | None, *, written: bool) -> None:
    """Read the folder of earlier documents before any work, and refuse it where no document is written."""
    if folder is None:
        return
    if not written:
        raise ScenarioError(
            "--beside audits a document together with earlier ones; name the document by --report"
        )
    from sdckit.report.gate.beside import read_beside

    read_beside(folder)


def check_targets(*targets: str | Path | None, inputs: tuple[Path | None, ...] = ()) -> None:
    """Refuse a target that cannot be written, is no file, is written twice, or is one of the inputs."""
    files = [Path(target) for target in targets if target is not None and str(target) != STDOUT]
    read = {path.resolve() for path in inputs if path is not None}
    if not files:
        return
    from sdckit.report.formats.atomic import real_target

    real: list[Path] = []
    for path in files:
        if path.is_dir():
            raise SdcError(f"cannot write {path.name}: it is a folder; name a file")
        target = real_target(path)
        if not target.parent.is_dir():
            raise SdcError(f"cannot write {path.name}: its folder '{target.parent.name}' does not exist")
        if not os.access(target.parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
            raise SdcError(f"cannot write {path.name}: no permission")
        if target in read:
            raise SdcError(f"cannot write {path.name}: the command reads this file; name another")
        real.append(target)
    if len(set(real)) < len(real):
        raise SdcError("two outputs have the same name; give each its own")


def refuse_existing(*targets: str | Path | None, force: bool, also: str = "name another") -> None:
    """Refuse a target that is there already, unless it was said by ``--force`` that it may go."""
    for target in targets:
        if target is not None and str(target) != STDOUT and Path(target).exists() and not force:
            raise ScenarioError(f"{Path(target).name} exists already; --force replaces it, or {also}")


def check_report_name(path: Path | None) -> None:
    """Refuse a report whose ending names no format, or one that cannot be written here."""
    if path is None:
        return
    if path.suffix.lower() not in REPORT_ENDINGS:
        raise SdcError(
            f"cannot write {path.name}: a report ends in .html, .pdf, .docx or .md; for figures use --json"
        )
    from sdckit.report.formats.write import check_needs

    check_needs(path)


def check_chart_name(path: Path | None) -> None:
    """Refuse a chart whose ending names no format."""
    if path is not None and path.suffix.lower() not in CHART_ENDINGS:
        raise SdcError(f"cannot write {path.name}: a map ends in one of {', '.join(CHART_ENDINGS)}")


def check_enough_records(n: int, *, internal: bool) -> None:
    """Refuse a document on so few records that protecting it leaves nothing to say."""
    if n < FEWEST_RECORDS and not internal:
        raise DataError(
            f"the file has fewer than {FEWEST_RECORDS} records, too few for a document that may leave "
            "the room; --internal writes one for your own use"
        )


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text file whole or not at all; a `private` one for its owner alone."""
    from sdckit.report.formats.atomic import write_whole

    write_whole(text, path, private=private)
