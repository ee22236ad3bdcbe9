"""What a document shows besides its figures: name of the file, institution, logo, labels, language."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sdckit.display import displayed
from sdckit.errors import FileFormatError
from sdckit.report.blocks import Block, Page, Section, TableBlock, Tables
from sdckit.report.wording import ENGLISH

# Labels of columns, in every table of a document.


# Headers of the table columns that hold names of columns.
NAMES = frozenset({"Column", "Key", "Left out", "Sensitive variable", "Term", "Variable"})
LEVELS = "Levels of "


def with_labels(page: Page, labels: Mapping[str, str]) -> Page:
    """A page whose tables show the label of a column behind its name, where there is one.

    A label equal to the name is left out.

    Examples
    --------
    >>> table = TableBlock("Keys", ("Key", "Missing"), (("educ", "5"), ("sex", "0")))
    >>> page = Page("", "", None, "", "", [Section("Keys", (table,))], "")
    >>> with_labels(page, {"educ": "Years of schooling"}).sections[0].blocks[0].rows
    (('educ (Years of schooling)', '5'), ('sex', '0'))
    """
    shown = {displayed(name): displayed(label) for name, label in labels.items() if label and label != name}
    if not shown:
        return page

    def labelled(section: Section) -> Section:
        return replace(section, blocks=tuple(_block(block, shown) for block in section.blocks))

    return replace(page, sections=[labelled(section) for section in page.sections])


def _block(block: Block, labels: Mapping[str, str]) -> Block:
    if isinstance(block, Tables):
        return replace(block, items=tuple(_table(item, labels) for item in block.items))
    return _table(block, labels) if isinstance(block, TableBlock) else block


def _table(table: TableBlock, labels: Mapping[str, str]) -> TableBlock:
    places = [at for at, head in enumerate(table.columns) if head in NAMES]
    rows = tuple(
        tuple(_name(cell, labels) if at in places else cell for at, cell in enumerate(row)) for row in table.rows
    )
    of = table.caption.removeprefix(LEVELS)
    caption = LEVELS + _name(of, labels) if of != table.caption else of
    return replace(table, rows=rows, caption=caption)


def _name(text: str, labels: Mapping[str, str]) -> str:
    return f"{text} ({labels[text]})" if text in labels else text


# The first bytes of the pictures that browsers and word processors show.
LOGOS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
LARGEST_LOGO = 1_000_000  # bytes


@dataclass(frozen=True)
class Logo:
    """A picture and its kind."""

    content: bytes
    kind: str

    @property
    def uri(self) -> str:
        """The picture as a data URI: nothing is loaded."""
        return f"data:{self.kind};base64,{base64.b64encode(self.content).decode()}"


@dataclass(frozen=True, kw_only=True)
class Cover:
    """What a user gives to a document besides the assessment.

    Parameters
    ----------
    name
        What the file is called, for readers of the document.
    institution
        Who made the document.
    logo
        A picture of the institution: .png or .jpg, 1 MB at most.
    files
        The files that were assessed: a confidential document names them with their SHA-256.
    labels
        What columns are, in words.
    language
        What the document is written in.
    public
        It goes out with a release, to those who use it: what the office decides is left out.
    """

    name: str = ""
    institution: str = ""
    logo: str | Path | None = None
    files: Sequence[str | Path] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    language: str = ENGLISH
    public: bool = False

    @cached_property
    def picture(self) -> Logo | None:
        """The logo, read once.

        Raises
        ------
        FileFormatError
            It cannot be read, is no such picture, or is too large.
        """
        if self.logo is None:
            return None
        try:
            content = Path(self.logo).read_bytes()
        except OSError as error:
            raise FileFormatError(f"cannot read the logo {displayed(Path(self.logo).name)}: {error.strerror}") from None
        kind = next((kind for start, kind in LOGOS.items() if content.startswith(start)), None)
        if kind is None or len(content) > LARGEST_LOGO:
            raise FileFormatError(f"the logo {displayed(Path(self.logo).name)} is no .png or .jpg of 1 MB at most")
        return Logo(content, kind)


def with_names(plain: Mapping[str, Any], cover: Cover, *, internal: bool) -> dict[str, Any]:
    """A document's figures with the name of the file, the institution, and the labels of keys and sensitive variables.

    A confidential one names the files with their checksums.

    Raises
    ------
    FileFormatError
        A file cannot be read.
    """
    given = {
        "name": displayed(cover.name),
        "institution": displayed(cover.institution),
        "files": [_checksum(Path(file)) for file in cover.files] if internal else [],
        "labels": _labels(plain["scenario"], cover.labels),
    }
    return {**plain, **{key: value for key, value in given.items() if value}}


def _labels(scenario: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of keys and sensitive variables, but those equal to the name."""
    used = {*(name for keys in scenario["intruders"].values() for name in keys), *scenario["sensitive"]}
    shown = {displayed(name): displayed(label) for name, label in labels.items() if label}
    return {name: label for name, label in shown.items() if name in used and name != label}


def with_cover(page: Page, cover: Cover) -> Page:
    """A page with institution, logo and the labels of columns."""
    return replace(with_labels(page, cover.labels), institution=displayed(cover.institution), logo=cover.picture)


def _checksum(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:  # as large as a census
            digest = hashlib.file_digest(file, "sha256")
        size = path.stat().st_size
    except OSError as error:
        raise FileFormatError(f"cannot read the file {displayed(path.name)}: {error.strerror}") from None
    return {"file": displayed(path.name), "bytes": size, "sha256": digest.hexdigest()}
