"""Where results go: looked at before any work starts, so that no work is lost."""

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from sdckit.errors import DataError, ScenarioError, SdcError

# Numbers for a terminal: one way to write each, everywhere.


def count(value: float) -> str:
    """Write a number of records.

    Examples
    --------
    >>> count(6366), count(1.5)
    ('6,366', '1.5')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.1f}"


def percent(part: float, whole: float) -> str:
    """Write a share with two significant digits; all is said only of all, nothing only of nothing.

    Examples
    --------
    >>> percent(1, 3), percent(1, 2000), percent(0, 5), percent(1999, 2000)
    ('33 %', '0.050 %', '0 %', '>99 %')
    """
    share = 100 * part / whole if whole else 0.0
    if 99.5 <= share < 100:
        return ">99 %"
    return f"{share:.0f} %" if share == 0 or share >= 9.95 else f"{share:#.2g} %"


def number(value: float | None) -> str:
    """Write a figure with four significant digits, or a dash where there is none.

    Examples
    --------
    >>> number(0.0158234), number(None), number(float("nan"))
    ('0.01582', '–', '–')
    """
    return "–" if value is None or value != value else f"{value:.4g}"  # noqa: PLR0124 - NaN only


# Standard output is for what the program says: what libraries in C print goes to standard error.


STDOUT, STDERR = 1, 2


def keep_stdout() -> None:
    """Give `sys.stdout` a descriptor of its own, and send descriptor 1 to standard error from here on.

    A solver that prints a line of its own, or a process that is begun, would otherwise stand among the JSON that
    somebody pipes on. Nothing is done where there is no standard output or no standard error.
    """
    before = sys.stdout
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if before.fileno() != STDOUT:
            return
        os.fstat(STDERR)
        before.flush()
        own = os.dup(STDOUT)
        sys.stdout = os.fdopen(
            own, "w", encoding=before.encoding, errors=before.errors, buffering=1 if before.isatty() else -1
        )
        os.dup2(STDERR, STDOUT)


def not_written(out: Any) -> OSError | None:
    """Write what `out` still holds; the error where nobody reads it or the disk is full, and what it held is dropped.

    Else Python would meet the error at its end, print it, and leave with a code of its own (120).
    """
    try:
        out.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return error
    return None


TO_STDOUT = "-"
FEWEST_RECORDS = 50
# those of sdckit.report.formats.write, which is slow to import
REPORT_ENDINGS = (".html", ".htm", ".md", ".markdown", ".pdf", ".docx")

CHART_ENDINGS = (".html", ".json", ".png", ".svg")  # those of sdckit.report.offline, slow too


def check_beside(folder: Path | None, *, written: bool) -> None:
    """Read the folder of earlier documents before any work, and refuse it where no document is written."""
    if folder is None:
        return
    if not written:
        raise ScenarioError("--beside audits a document together with earlier ones; name the document by --report")
    from sdckit.report.gate.earlier_documents import read_beside

    read_beside(folder)


def check_targets(*targets: str | Path | None, inputs: tuple[Path | None, ...] = ()) -> None:
    """Refuse a target that cannot be written, is no file, is written twice, or is one of the inputs."""
    files = [Path(target) for target in targets if target is not None and str(target) != TO_STDOUT]
    read = {path.resolve() for path in inputs if path is not None and "\0" not in str(path)}  # which no file's name has
    if not files:
        return
    from sdckit.data.files.whole_files import real_target

    real: list[Path] = []
    for path in files:
        if path.is_dir():
            raise SdcError(f"cannot write {path.name or path}: it is a folder; name a file")
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
    """Refuse a target that is there already, if only as a link, unless it was said by ``--force`` that it may go."""
    for target in targets:
        if target is not None and str(target) != TO_STDOUT and os.path.lexists(target) and not force:
            raise ScenarioError(f"{Path(target).name} exists already; --force replaces it, or {also}")


def check_report_name(path: Path | None) -> None:
    """Refuse a report whose ending names no format, or one that cannot be written here."""
    if path is None:
        return
    if path.suffix.lower() not in REPORT_ENDINGS:
        raise SdcError(f"cannot write {path.name}: a report ends in .html, .pdf, .docx or .md; for figures use --json")
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


def check_table(path: Path | None) -> None:
    """Refuse a table of figures whose ending names no format, before any work."""
    if path is not None:
        from sdckit.data.files.write_file import check_output

        check_output(path)


def write_figures(path: Path, results: Iterable[Any]) -> None:
    """Write every exact figure of some results as a table, for its owner alone."""
    from sdckit.data import pl
    from sdckit.data.files.write_file import write_file
    from sdckit.data.frames import open_frame

    rows: list[tuple[str, str, float]] = []
    for result in results:
        frame = open_frame(result.details())
        rows += [(result.measure, *row) for row in zip(*(frame[name].to_list() for name in frame.columns), strict=True)]
    write_file(pl.DataFrame(rows, schema=["measure", "figure", "value"], orient="row"), path, private=True)


def written(target: str | Path, text: str, *, private: bool = False) -> bool:
    """Write a text file, or print the text for "-"; whether it was written."""
    if str(target) == TO_STDOUT:
        typer.echo(text, nl=False)
        return False
    write_text(Path(target), text, private=private)
    return True


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text file whole or not at all; a `private` one for its owner alone."""
    from sdckit.data.files.whole_files import write_whole

    write_whole(text, path, private=private)
