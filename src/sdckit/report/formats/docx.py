"""Render documents as DOCX: heading styles, tables with repeated headers, charts with alternative text."""

import io
from collections.abc import Callable, Iterable
from typing import Any

from sdckit.errors import FileFormatError
from sdckit.report import blocks, charts, wording
from sdckit.report.formats.flow import BEHIND, behind_charts, shown

PIXELS = 96  # an inch
TABLE = "Light Grid Accent 1"
HEAD = "No Spacing"


def need_docx() -> None:
    """Check that python-docx is installed.

    Raises
    ------
    FileFormatError
        python-docx is not installed.
    """
    try:
        import docx  # noqa: F401 - only whether it is there
    except ImportError:
        raise FileFormatError('a report as .docx needs python-docx; install it: pip install "sdckit[docx]"') from None


def render_docx_page(page: blocks.Page) -> bytes:
    """Render a laid-out page as DOCX.

    Raises
    ------
    FileFormatError
        python-docx is not installed.
    """
    need_docx()
    import docx

    document: Any = docx.Document()
    _front(document, page)
    for section in page.decision:
        _section(document, section)
    if page.decision:
        document.add_page_break()
    for section in page.sections:
        _section(document, section)
    if behind := behind_charts(page.sections):
        document.add_heading(wording.say(BEHIND, page.language), 1)
        for heading, table in behind:
            document.add_paragraph(heading, style=HEAD)
            _table_block(document, table)
    document.add_paragraph(page.footer)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _front(document: Any, page: blocks.Page) -> None:
    from docx.shared import Cm, Pt

    document.core_properties.title = page.title.replace(wording.SOFT_HYPHEN, "")
    _speak(document, page.language)
    document.core_properties.author = ""  # the library writes its own name
    document.core_properties.comments = ""
    document.styles["Normal"].font.size = Pt(10)
    for part in document.sections:
        part.page_width, part.page_height = Cm(21), Cm(29.7)
        part.left_margin = part.right_margin = Cm(1.8)
        part.top_margin = part.bottom_margin = Cm(1.6)
        if page.confidential:
            part.header.paragraphs[0].add_run(page.confidential.upper()).bold = True
    if page.logo is not None:
        document.add_picture(io.BytesIO(page.logo.content), height=Cm(1.6))
    if page.institution:
        document.add_paragraph(page.institution)
    document.add_heading(page.title, 0)
    document.add_paragraph(page.subtitle)
    document.add_paragraph().add_run(page.headline).bold = True


def _speak(document: Any, language: str) -> None:
    """Set the document's language, which spell checkers and screen readers use."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document.core_properties.language = language
    named: Any = OxmlElement("w:lang")
    named.set(qn("w:val"), language)
    properties = document.styles["Normal"].element.get_or_add_rPr()
    properties.append(named)  # the library has no word for it


def _section(document: Any, section: blocks.Section) -> None:
    document.add_heading(section.title, section.level - 1)
    for block in shown(section):
        if not (isinstance(block, blocks.TableBlock) and block.behind):
            WRITERS[block.kind](document, block)


def _paragraph(document: Any, block: blocks.Paragraph) -> None:
    document.add_paragraph(block.text)


def _facts(document: Any, block: blocks.Facts) -> None:
    _table(document, "", (), block.items)


def _entries(document: Any, block: blocks.Entries) -> None:
    for term, words, source in block.items:
        paragraph = document.add_paragraph()
        paragraph.add_run(f"{term}. ").bold = True
        paragraph.add_run(words + (f" ({source})" if source else ""))


def _verdicts(document: Any, block: blocks.Verdicts) -> None:
    rows = ((state, f"{blocks.verdict_start(who)}{words}") for state, who, words in block.items)
    _table(document, "", (), rows)


def _items(document: Any, block: blocks.Items) -> None:
    for words in block.items:
        document.add_paragraph(words, style="List Number" if block.ordered else "List Bullet")


def _blanks(document: Any, block: blocks.Blanks) -> None:
    rows = ((label, "   ".join(f"☐ {choice}" for choice in choices)) for label, choices in block.items)
    _table(document, "", (), rows)


def _table_block(document: Any, block: blocks.TableBlock) -> None:
    _table(document, block.caption, block.columns, block.rows, block.numeric)


def _tables(document: Any, block: blocks.Tables) -> None:
    for item in block.items:
        _table_block(document, item)


def _code(document: Any, block: blocks.Code) -> None:
    from docx.shared import Pt

    document.add_paragraph().add_run(block.caption).bold = True
    run = document.add_paragraph(style=HEAD).add_run(block.text)
    run.font.name, run.font.size = "Courier New", Pt(8)


def _table(
    document: Any, caption: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]], numeric: tuple[int, ...] = ()
) -> None:
    """Add a table with its caption; the header row repeats on every page."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    all_rows = [*([heads] if heads else []), *rows]
    if not all_rows:
        return
    if caption:
        paragraph = document.add_paragraph(style=HEAD)
        paragraph.add_run(caption).bold = True
        paragraph.paragraph_format.keep_with_next = True
    table = document.add_table(len(all_rows), len(all_rows[0]))
    table.style = TABLE
    for line, texts in zip(table.rows, all_rows, strict=True):
        for column, (cell, text) in enumerate(zip(line.cells, texts, strict=True)):
            cell.text = text
            if column in numeric:
                cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
    if heads:
        _repeat(table.rows[0])
    document.add_paragraph(style=HEAD)


def _repeat(row: Any) -> None:
    """Mark a row as the header that repeats on every page."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    head: Any = OxmlElement("w:tblHeader")
    head.set(qn("w:val"), "true")
    row._tr.get_or_add_trPr().append(head)  # the library has no word for it


def _picture(document: Any, block: blocks.ChartBlock) -> None:
    """Add a chart as a picture, with its description as alternative text."""
    from docx.shared import Inches

    width = charts.COLUMN if charts.is_narrow(block.name, block.data) else charts.WIDTH
    picture = charts.to_png(charts.chart_for(block.name, block.data, width=width))
    paragraph = document.add_paragraph(style=HEAD)
    paragraph.add_run(block.caption).bold = True
    paragraph.paragraph_format.keep_with_next = True
    added = document.add_picture(io.BytesIO(picture))
    scale = min(1.0, 6.6 * PIXELS / (added.width / Inches(1) * PIXELS))
    added.width, added.height = int(added.width * scale), int(added.height * scale)
    words = charts.describe(block.name, block.data, block.caption)
    added._inline.docPr.set("descr", words)  # the library has no word for it


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "paragraph": _paragraph, "facts": _facts, "entries": _entries, "verdicts": _verdicts, "items": _items,
    "blanks": _blanks, "table": _table_block, "tables": _tables, "chart": _picture, "code": _code,
}  # fmt: skip
