"""The documentation site is built without a warning, holds every page and public name, and loads only its own."""

from __future__ import annotations

import importlib.util
import re
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit
from needs import needs_chromium
from report.browser import Browser
from sdckit.catalogue import CATALOGUE
from tree import ROOT, SRC, none_offends

FOREIGN = re.compile(r"^(?:https?:)?//")
# Elements whose address a browser fetches by itself; it fetches that of an `a` when somebody follows it.
LOADED = {"src", "srcset", "poster", "data", "xlink:href", "background"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch"}
IN_STYLES = re.compile(r"""(?:url\(\s*["']?|@import\s*["'])((?:https?:)?//[^"')]+)""")


def builder() -> Any:
    """The program that builds the site."""
    sys.path.insert(0, str(ROOT / ".ci"))  # it imports the program beside it
    spec = importlib.util.spec_from_file_location("build_site", ROOT / ".ci" / "build_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_site"] = module
    spec.loader.exec_module(module)
    return module


BUILDER = builder()


def test_the_site(tmp_path: Path) -> None:
    """One test for all that is asked of the whole site, since drawing and building it takes a while."""
    pages = BUILDER.pages()
    navigation = BUILDER.navigation(pages)
    every_page_stands_in_the_navigation(pages, list(BUILDER.placed(navigation)))
    no_title_is_markup(list(titles(navigation)))
    the_gallery_shows_every_view(pages["gallery.md"])
    start = time.perf_counter()
    BUILDER.build(tmp_path)
    sys.stdout.write(f"built in {time.perf_counter() - start:.1f} s\n")
    site = tmp_path / "site"
    nothing_is_loaded_from_another_host(site)
    a_browser_is_told_to_refuse_other_hosts(site)
    every_public_name_stands_in_the_reference(site)
    a_browser_asks_for_nothing_else(site, tmp_path / "profile", needs_chromium())


def a_browser_asks_for_nothing_else(site: Path, profile: Path, chromium: Path) -> None:
    """Opened from a folder, on a narrow screen: files of the site and nothing else, and no sideways scrolling."""
    with Browser(chromium, profile) as browser:
        for page in ("index.html", "gallery.html", "measures/index.html", "reference/workflow/assess.html"):
            browser.open(site / page, width=400)
            asked = [one["request"]["url"] for one in browser.happened("Network.requestWillBeSent")]
            assert any(address.endswith(".css") for address in asked)
            none_offends(
                (one for one in asked if not one.startswith((site.as_uri(), "data:"))), "a page asks for its own"
            )
            assert browser.evaluate("document.documentElement.scrollWidth") <= 400, page


class Loads(HTMLParser):
    """The addresses that a browser fetches when it opens a page, and the names that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        self.addresses += [value for name, value in given.items() if name in LOADED]
        if tag in {"image", "use"} or (tag == "link" and LOADING_LINKS.intersection(given.get("rel", "").split())):
            self.addresses.append(given.get("href", ""))
        self.addresses += IN_STYLES.findall(given.get("style", ""))


def loaded(text: str) -> list[str]:
    """What a page loads from another host."""
    return [*filter(FOREIGN.match, Loads(text).addresses), *IN_STYLES.findall(text)]


def nothing_is_loaded_from_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 150
    none_offends(
        (
            f"{page.relative_to(site)}: {one}"
            for page in [*pages, *site.rglob("*.css")]
            for one in (
                loaded(page.read_text(encoding="utf-8"))
                if page.suffix == ".html"
                else IN_STYLES.findall(page.read_text(encoding="utf-8"))
            )
        ),
        "a page loads what the site has",
    )


def a_browser_is_told_to_refuse_other_hosts(site: Path) -> None:
    """The theme's program names hosts for diagrams and comments, which no page has; the policy forbids them."""
    for page in site.rglob("*.html"):
        found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page.read_text("utf-8"))
        assert found, page
        assert found[1].startswith("default-src 'self'")
        assert not re.search(r"https?:|\*", found[1])


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://a.example/x.js"></script>',
        '<img src="//a.example/x.png">',
        '<link rel="stylesheet" href="https://a.example/x.css">',
        "<style>@import 'https://a.example/x.css'</style>",
        "<p style=\"background: url('https://a.example/x.png')\">x</p>",
    ],
)
def test_what_is_loaded_is_seen(text: str) -> None:
    assert loaded(text)
    assert not loaded('<a href="https://a.example/">read</a><img src="x.png">')


def every_public_name_stands_in_the_reference(site: Path) -> None:
    """It has a heading of its own, with the words of its docstring."""
    pages = {one.page: one.names for one in BUILDER.public_modules()}
    assert sorted(name for names in pages.values() for name in names) == sorted(sdckit.__all__)
    missing = []
    for page, names in pages.items():
        text = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        ids = Loads(text).ids
        missing += [f"{page}: {name}" for name in names if f"sdckit.{name}" not in ids]
    none_offends(missing, "a public name has its place in the reference")
    first = (site / "reference" / "index.html").read_text(encoding="utf-8")
    none_offends((name for name in sdckit.__all__ if f"#sdckit.{name}" not in first), "the reference leads to a name")
    words = (site / "reference" / "identity" / "individual_risk.html").read_text(encoding="utf-8")
    assert "Mean individual risk: the expected share of records re-identified." in words


def every_page_stands_in_the_navigation(pages: dict[str, str], named: list[str]) -> None:
    none_offends(sorted(pages.keys() - set(named)), "a page stands in the navigation")
    assert set(named) <= pages.keys()
    docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert docs <= set(named)
    assert len(docs) > 90


def the_gallery_shows_every_view(page: str) -> None:
    """By a call of its own, with the tables that its document has and, where it has one, the chart."""
    parts = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, flags=re.MULTILINE | re.DOTALL))
    views = {path.stem for path in (SRC / "report" / "views").glob("*.py")} - {"__init__"}
    assert parts.keys() == views
    shown = {name: re.findall(r'<div class="shown" data-measure="(\w+)">', text) for name, text in parts.items()}
    assert shown == {name: [name] for name in views}
    none_offends((name for name in views if "<table" not in parts[name]), "a view shows a table")
    drawn = {name for name in views if "<svg" in parts[name]}
    assert views - drawn == {row.name for row in CATALOGUE if row.no_chart and row.name in views}


def test_the_gallery_is_protected() -> None:
    """Also where the session shows exact figures."""
    ages = [*range(20, 70)] * 2 + [80, 81, 82, 83]
    alone = sdckit.k_anonymity(pl.DataFrame({"age": ages}), keys=["age"])
    assert alone.violations[2] == 4
    with sdckit.options(exact=True):
        shown = BUILDER.gallery.picture(alone)
    assert "&lt;5" in shown
    assert ">4<" not in shown


def test_a_link_leads_to_where_its_page_stands() -> None:
    where = BUILDER.places()
    text = BUILDER.turned("[a](../ARCHITECTURE.md) [b](measures/) [c](seeds.md#x)", ROOT / "docs" / "files.md", where)
    assert text == "[a](architecture.md) [b](measures/index.md) [c](seeds.md#x)"
    fenced = "```\n[a](nowhere.md)\n```\n"
    assert BUILDER.turned(fenced, ROOT / "docs" / "files.md", where) == fenced
    with pytest.raises(BUILDER.SiteError, match=r"docs/files\.md: the site has no place for nowhere\.md"):
        BUILDER.turned("[a](nowhere.md)", ROOT / "docs" / "files.md", where)


def test_a_warning_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule that holds the site has a page that breaks it."""
    index = {"index.md": "# A site\n\n[a heading that is nowhere](#nowhere)\n"}
    monkeypatch.setattr(BUILDER, "pages", lambda: index)
    monkeypatch.setattr(BUILDER, "navigation", lambda found: [{"Home": "index.md"}])
    with pytest.raises(BUILDER.SiteError, match="without a warning"):
        BUILDER.build(tmp_path)


def titles(entries: Any) -> Iterator[str]:
    """The titles of a navigation."""
    for one in entries:
        for name, inside in one.items() if isinstance(one, dict) else ():
            yield name
            if isinstance(inside, list):
                yield from titles(inside)


def no_title_is_markup(found: list[str]) -> None:
    assert len(found) > 150
    none_offends((one for one in found if re.search(r"[`*#<]", one)), "a title is plain text")
