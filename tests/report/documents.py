"""Every document an assessment gives, as text, for tests that look for what must not be there."""

from __future__ import annotations

from typing import Any

from sdckit.report.formats.html import render_html
from sdckit.report.formats.markdown import render_markdown
from sdckit.report.formats.write import plain_document, render_json
from sdckit.report.notebook import notebook_html


def all_documents(assessment: Any) -> dict[str, str]:
    plain = plain_document(assessment)
    return {
        "html": render_html(plain),
        "json": render_json(plain),
        "markdown": render_markdown(plain),
        "notebook": notebook_html(assessment),
    }
