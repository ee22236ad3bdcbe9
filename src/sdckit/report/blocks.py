"""The few kinds of block a rendered document is laid out in; their texts are ready to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; a lead one is set larger."""

    text: str
    style: str = "plain"
    kind: str = "paragraph"


@dataclass(frozen=True)
class Facts:
    """Pairs of a label and its words."""

    items: tuple[tuple[str, str], ...]
    kind: str = "facts"


@dataclass(frozen=True)
class Verdicts:
    """A limit each: (state, intruder, sentence)."""

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
    """A table; the first column heads its row, `numeric` columns are flush right.

    One for `paper` shows values of single records, or fills a terminal without need. One `behind` a chart says the
    same as the chart before it: it is folded away on a screen and stands at the end of a print.
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
    """A chart drawn from plain figures: the name of its function and what it is given.

    One `aside` is drawn where it stands alone: in a document the table beside it says more. One for `paper` is drawn in
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
    """Text to be copied as it is; on a terminal only where it says so."""

    caption: str
    text: str
    screen: bool = False
    kind: str = "code"


@dataclass(frozen=True)
class Items:
    """A list of sentences; an `ordered` one is numbered, the first first."""

    items: tuple[str, ...]
    ordered: bool = False
    kind: str = "items"


@dataclass(frozen=True)
class Entries:
    """Terms with what they mean, and who says so."""

    items: tuple[tuple[str, str, str], ...]
    kind: str = "entries"


@dataclass(frozen=True)
class Blanks:
    """Places to be filled in by hand: what is asked, and what may be ticked."""

    items: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str = "blanks"


Block = Paragraph | Facts | Verdicts | TableBlock | Tables | ChartBlock | Code | Items | Entries | Blanks


@dataclass(frozen=True)
class Section:
    """A heading and what follows; level 2 or 3. One for `paper` is not shown on a terminal.

    One of the decision page has a `place` there.
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
