"""The links of README and pages lead somewhere; that the pages run is tested in `test_pages.py`."""

from __future__ import annotations

import re
from pathlib import Path

from pages import PAGES
from tree import ROOT, none_offends


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file."""
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    return [one for one in targets if "://" not in one and not (page.parent / one).exists()]


def test_links_lead_somewhere() -> None:
    none_offends(
        (f"{page.relative_to(ROOT)}: {one}" for page in PAGES for one in broken(page)),
        "a link leads to a file",
    )
