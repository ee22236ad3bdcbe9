"""Write documents: whole or not at all, readable by the owner alone when confidential."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.files.whole_files import real_target, write_whole
from sdckit.errors import DataError, FileFormatError
from sdckit.report.blocks import Page
from sdckit.report.chapters import decision, document, release_page
from sdckit.report.cover import Cover, with_cover, with_names
from sdckit.report.formats import docx, html
from sdckit.report.formats.markdown import render_markdown_page
from sdckit.report.gate.earlier_documents import read_beside
from sdckit.report.gate.protect import protect_beside
from sdckit.report.language import check_language, names_of, translate

if TYPE_CHECKING:
    from sdckit.workflow.assessment import Assessed

# The protected figures as JSON, keys named as the attributes of the API.


def render_json(plain: Mapping[str, Any]) -> str:
    r"""Render a protected assessment as JSON; never NaN, always UTF-8, one line at the end.

    Examples
    --------
    >>> render_json({"n": {"text": "<5", "value": None, "below": 5}})
    '{\n  "n": {\n    "text": "<5",\n    "value": null,\n    "below": 5\n  }\n}\n'
    """
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


RENDERERS: dict[str, Callable[[Page], str | bytes]] = {
    ".html": html.render_page, ".htm": html.render_page, ".md": render_markdown_page, ".markdown": render_markdown_page,
    ".pdf": html.render_pdf, ".docx": docx.render_docx_page,
}  # fmt: skip
# What must be there is looked for before any work.
NEEDS: dict[str, Callable[[], object]] = {".pdf": html.find_browser, ".docx": docx.need_docx}


Folder = str | os.PathLike[str] | None
PRINTED = "_printed"  # an attribute of an assessment, as a cached property's


def plain_document(assessment: Any, *, internal: bool = False, beside: Folder = None) -> dict[str, Any]:
    """Give the protected figures of an assessment as they go into every document, JSON-ready.

    An `internal` one is exact and lists the records at risk; else a file of fewer than 50 records is refused.
    `beside` is a folder of earlier JSON documents of the same file: what they print is known. Protecting takes a while,
    and a result never changes: what is printed of it is kept with it.
    """
    if internal or beside is not None:
        return _plain_document(assessment, internal=internal, beside=beside)
    kept = assessment.__dict__
    if PRINTED not in kept:
        kept[PRINTED] = _plain_document(assessment, internal=False, beside=None)
    return deepcopy(kept[PRINTED])


def _plain_document(assessment: Any, *, internal: bool, beside: Folder) -> dict[str, Any]:
    earlier = () if beside is None else read_beside(beside)
    if assessment.schema == release_page.RELEASE_SCHEMA:
        return release_page.plain_release(assessment, internal=internal, beside=earlier)
    return protect_beside(document.build_document(assessment, internal=internal), earlier, internal=internal)


def check_needs(path: Path) -> None:
    """Check that the browser or library that writes this format is available.

    Raises
    ------
    FileFormatError
        The browser, or the library, that writes it is missing.
    """
    NEEDS.get(path.suffix.lower(), lambda: None)()


def write_report(
    assessment: Assessed, path: str | os.PathLike[str], *, internal: bool = False, beside: Folder = None,
    cover: Cover | None = None,
) -> Path:  # fmt: skip
    """Write the report of an assessment as HTML, PDF, DOCX or Markdown, by the ending of the path.

    An internal one is for its owner.

    Another ending, something that is no regular file in its place, or one for users that is not of a release by itself,
    is refused before any work.
    """
    target = Path(path)
    if cover is not None and cover.public:
        _check_public(assessment, internal=internal, beside=beside)
    if target.suffix.lower() not in RENDERERS:
        raise FileFormatError(
            f"a report ends in .html, .pdf, .docx or .md, not in {target.suffix!r}; for figures write JSON"
        )
    real_target(target)
    check_needs(target)
    cover = cover or Cover()
    check_language(cover.language)
    _ = cover.picture  # what is wrong with it is told before any work
    plain = with_names(plain_document(assessment, internal=internal, beside=beside), cover, internal=internal)
    page = with_cover(release_page.page_of(decision.for_users(plain) if cover.public else plain), cover)
    write_page(translate(page, cover.language, names_of(plain, cover.labels)), target, internal=internal)
    return target


def _check_public(assessment: Assessed, *, internal: bool, beside: Folder) -> None:
    if beside is not None:  # how fine its figures are would depend on those of other documents
        raise DataError(
            "a public report follows from its release alone, whose readers can count for themselves: it is audited "
            "beside no other document; leave out beside= (--beside)"
        )
    if internal or assessment.schema == release_page.RELEASE_SCHEMA or assessment.scenario.ledger is not None:
        raise DataError(
            "a public report goes out with a release: it is neither internal nor of the original or earlier releases; "
            "assess the release by itself, under scenario.of_release(released.columns)"
        )


def write_page(page: Page, path: Path, *, internal: bool = False) -> None:
    """Write a laid-out page in the format of the path's ending."""
    real_target(path)
    write_whole(RENDERERS[path.suffix.lower()](page), path, private=internal, what="report")


def write_json(
    assessment: Assessed, path: str | os.PathLike[str], *, internal: bool = False, beside: Folder = None
) -> Path | None:
    """Write the protected figures of an assessment as JSON, to a file or with ``"-"`` to standard output.

    What is no regular file is refused before any work; nothing is left behind when it cannot be written.
    """
    printed = os.fspath(path) == "-"
    if not printed:
        real_target(path)
    text = render_json(plain_document(assessment, internal=internal, beside=beside))
    if printed:
        _print(text)
        return None
    target = Path(path)
    write_whole(text, target, private=internal, what="JSON")
    return target


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise FileFormatError(f"could not write the JSON: {reason}") from None
