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
        (f"{page.relative_to(ROOT)}: {one}" for page in PAGES for one in broken(page)), "a link leads to a file"
    )


def absent(page: Path) -> list[str]:
    """The files of the repository that a page names by their path and that are not there."""
    named = re.findall(r"`((?:tests|src|benchmarks|docs|\.ci)/[\w./-]*\w\.\w+)`", page.read_text(encoding="utf-8"))
    return [name for name in named if not (ROOT / name).exists()]


def test_files_named_on_a_page_are_there() -> None:
    none_offends(
        (f"{page.relative_to(ROOT)}: {name}" for page in PAGES for name in absent(page)), "a file named is there"
    )


def anchors(page: Path) -> set[str]:
    """The headings of a page as links write them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def lost(page: Path) -> list[str]:
    """The links of a page to a heading that is not there."""
    links = re.findall(r"\]\(([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    own = [(page.parent / target if target else page, name) for target, name in links if "://" not in target]
    return [f"{target.name}#{name}" for target, name in own if target.exists() and name not in anchors(target)]


def test_links_to_headings_lead_there() -> None:
    none_offends(
        (f"{page.relative_to(ROOT)}: {one}" for page in PAGES for one in lost(page)), "a link to a heading leads there"
    )
