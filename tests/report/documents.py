"""Every document an assessment gives, as text, for tests that look for what must not be there."""

from __future__ import annotations

from typing import Any

from sdckit.report.chapters.release_page import page_of
from sdckit.report.formats.html import render_page
from sdckit.report.formats.markdown import render_markdown_page
from sdckit.report.formats.write import plain_document, render_json
from sdckit.report.notebook import notebook_html


def render_html(plain: Any) -> str:
    return render_page(page_of(plain))


def render_markdown(plain: Any) -> str:
    return render_markdown_page(page_of(plain))


def all_documents(assessment: Any) -> dict[str, str]:
    plain = plain_document(assessment)
    return {
        "html": render_html(plain),
        "json": render_json(plain),
        "markdown": render_markdown(plain),
        "notebook": notebook_html(assessment),
    }
