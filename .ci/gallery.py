"""Draw the gallery: run the calls of `docs/gallery.md` and put below each what a document shows of its result."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from markupsafe import escape

from sdckit.errors import SdcWarning
from sdckit.report.blocks import Block, ChartBlock, TableBlock
from sdckit.report.formats.html import figure_of, render_fragment
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

CALL = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
RESULT = "found"


@cache
def with_pictures(text: str) -> str:
    """The page with tables and charts below every block that makes a result; protected, whatever the session says."""
    names: dict[str, Any] = {}

    def below(match: re.Match[str]) -> str:
        names.pop(RESULT, None)
        exec(match[1], names)  # noqa: S102 - a page of ours
        return match[0] + (f"\n\n{picture(names[RESULT])}" if RESULT in names else "")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)  # the reader of the page is not told what a call warns of
        return CALL.sub(below, text)


def picture(result: Any) -> str:
    """What a document shows of one result, as HTML; a chart that a document leaves to its table is drawn, too."""
    plain: Mapping[str, Any] = protect(result_document(result), internal=False)
    parts = "".join(map(_shown, result_blocks(plain)))
    # Markdown takes HTML as it is up to the next blank line.
    lines = "\n".join(line for line in parts.splitlines() if line.strip())
    return f'<div class="shown" data-measure="{result.measure}">\n{lines}\n</div>'


def _shown(block: Block) -> str:
    if isinstance(block, ChartBlock):
        drawn = figure_of(block)
        note = f"<p>{escape(drawn['note'])}</p>" if drawn["note"] else ""
        picture = f'<div role="img" aria-label="{escape(drawn["alt"])}">{drawn["svg"]}</div>'
        return f"<figure>\n<figcaption>{escape(block.caption)}</figcaption>\n{picture}\n{note}</figure>\n"
    table = render_fragment("", [block])
    if isinstance(block, TableBlock) and block.behind:
        return f"<details>\n<summary>As a table: {escape(block.caption)}</summary>\n{table}</details>\n"
    return table
