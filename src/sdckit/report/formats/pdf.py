"""A document as PDF: printed by a Chromium of this machine, from the same page, with nothing asked of a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sdckit.errors import FileFormatError
from sdckit.report.blocks import Page
from sdckit.report.formats.html import render_page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120
QUIET = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--disable-quic", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
)  # fmt: skip
HOW = "write the report as .html and print it from a browser"


def find_browser() -> str:
    """The program that prints; refuse to go on without one.

    Raises
    ------
    FileFormatError
        There is none.
    """
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise FileFormatError(
            f"a PDF is printed by Chromium or Chrome, and none was found; install one, or {HOW}"
        )
    return found


def render_pdf(page: Page) -> bytes:
    """Print laid-out sections as PDF.

    Raises
    ------
    FileFormatError
        No browser was found, or it printed nothing.
    """
    browser, html = find_browser(), render_page(page)
    with tempfile.TemporaryDirectory(prefix="sdckit-pdf-") as name:  # readable by its owner only
        folder = Path(name)
        source, pdf = folder / "page.html", folder / "page.pdf"
        source.write_text(html, encoding="utf-8")
        # A browser refuses to be root's without this; the page has no script.
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [
            browser,
            *QUIET,
            *root,
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={pdf}",
            source.as_uri(),
        ]
        _run(command)
        if not pdf.is_file() or not pdf.stat().st_size:
            raise FileFormatError(f"{Path(browser).name} printed nothing; {HOW}")
        return pdf.read_bytes()


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise FileFormatError(
            f"{Path(command[0]).name} did not end within {SECONDS} seconds; {HOW}"
        ) from None
    except OSError as error:
        raise FileFormatError(
            f"{Path(command[0]).name} could not be started ({error.strerror}); {HOW}"
        ) from None
