"""The kinds of blocks that a document consists of; their texts are ready to print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; one of style "lead" is set larger."""

    text: str
    style: str = "plain"
    kind: str = "paragraph"


@dataclass(frozen=True)
class Facts:
    """Pairs of label and value."""

    items: tuple[tuple[str, str], ...]
    kind: str = "facts"


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on limits: (state, intruder, sentence) for each."""

    items: tuple[tuple[str, str, str], ...]
    kind: str = "verdicts"


def verdict_start(who: str) -> str:
    """The start of a verdict's sentence: an intruder or a question; "" for neither.

    Examples
    --------
    >>> verdict_start("neighbour"), verdict_start("Who?"), verdict_start("")
    ('neighbour: ', 'Who? ', '')
    """
    return f"{who}{'' if who.endswith('?') else ':'} " if who else ""


@dataclass(frozen=True)
class TableBlock:
    """A table; its first column is the row header, `numeric` columns are right-aligned.

    A `paper` table has values of single records, or is too long for a terminal, and is not shown there. One `behind` a
    chart has the figures of the chart before it: it is folded away on a screen and stands at the end of a print.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()
    paper: bool = False
    behind: bool = False
    kind: str = "table"


@dataclass(frozen=True)
class Tables:
    """Small tables side by side, three at most."""

    items: tuple[TableBlock, ...]
    kind: str = "tables"


@dataclass(frozen=True)
class ChartBlock:
    """A chart of printed figures: the name of the function that draws it, and its data.

    An `aside` chart is not drawn in documents, where the table beside it says more; a `paper` chart is drawn in
    documents only.
    """

    name: str
    data: Mapping[str, Any]
    caption: str
    aside: bool = False
    paper: bool = False
    kind: str = "chart"


@dataclass(frozen=True)
class Code:
    """Text to be copied verbatim; shown on a terminal only with `screen`."""

    caption: str
    text: str
    screen: bool = False
    kind: str = "code"


@dataclass(frozen=True)
class Items:
    """A list of sentences, numbered if `ordered`."""

    items: tuple[str, ...]
    ordered: bool = False
    kind: str = "items"


@dataclass(frozen=True)
class Entries:
    """Glossary entries: (term, definition, source)."""

    items: tuple[tuple[str, str, str], ...]
    kind: str = "entries"


@dataclass(frozen=True)
class Blanks:
    """A form to be filled in by hand: labels, each with the choices to tick."""

    items: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str = "blanks"


Block = Paragraph | Facts | Verdicts | TableBlock | Tables | ChartBlock | Code | Items | Entries | Blanks


@dataclass(frozen=True)
class Section:
    """A heading of level 2 or 3 and its blocks; with `paper` it is not shown on a terminal.

    `place`: its position on the decision page, for a section of that page.
    """

    title: str
    blocks: tuple[Block, ...]
    level: int = 2
    paper: bool = False
    place: str = ""


@dataclass(frozen=True)
class Page:
    """A whole document: the decision page, and the annex in sections."""

    title: str
    subtitle: str
    confidential: str | None
    state: str
    headline: str
    sections: Sequence[Section]
    footer: str
    decision: Sequence[Section] = ()
    institution: str = ""
    logo: Any = None
    language: str = "en"
