"""Every page in both languages and themes, on narrow and wide windows: nothing for axe-core, no sideways scroll."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

from app.browsing import EVERY, PAGES, READY, Served, Windows, calm, eventually, faults, shown

NARROW, WIDE = 400, 1280
THEMES = ("light", "dark")
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MANY = 500
HIGHEST = 4_000  # pixels of a page that names so many columns; it had 31,000


def look(page: Any) -> list[Any]:
    """What is wrong with the page as it is shown, in a narrow and a wide window, light and dark."""
    wrong = []
    for width in (NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            wrong += [(shown(page), width, theme, fault) for fault in faults(page, EVERY)]
            assert page.evaluate("document.documentElement.dataset.bsTheme") == theme
        if page.evaluate(SIDEWAYS) > 0:
            wrong.append((shown(page), width, "scrolls sideways"))
    return wrong


def go(page: Any, name: str) -> None:
    page.click(f"button.way[data-go={name}]")
    calm(page)


def into(page: Any, language: str) -> None:
    """Show the same work in another language."""
    page.goto(f"{page.url.partition('#')[0].partition('?')[0]}?language={language}")
    page.wait_for_selector(READY)
    calm(page)
    assert page.get_attribute("html", "lang") == language


def edit(page: Any) -> None:
    page.locator("#page_protect button[data-act=edit]").first.click()


def open_chapter(page: Any) -> None:
    page.locator(".chapters button").first.click()


def test_nothing_for_axe_and_no_sideways_scroll(visit: Windows) -> None:
    """From the demo to what is taken away, with a step in the editor and a chapter of the release.

    In one session: what was proposed and released in English is shown in German.
    """
    page = visit(language="de")
    wrong = look(page)
    into(page, "en")
    wrong += look(page)
    page.click("#file-demo")
    page.wait_for_selector("#verdict_bar .headline")
    wrong += look(page)
    for name in ("roles", "risk"):
        go(page, name)
        wrong += look(page)
    go(page, "protect")
    page.click("#protect-propose")
    edit(page)
    wrong += look(page)
    go(page, "release")
    page.click("#release-make_release")
    open_chapter(page)
    wrong += look(page)
    go(page, "take_away")
    page.wait_for_selector(".download.secret")
    wrong += look(page)

    into(page, "de")
    for name in ("file", "roles", "risk", "protect", "release", "take_away"):
        go(page, name)
        if name == "protect":
            page.click("#protect-propose")  # what was found is kept
            edit(page)
        if name == "release":
            page.click("#release-make_release")
            open_chapter(page)
        if name == "take_away":
            page.wait_for_selector(".download.secret")
        wrong += look(page)
    assert wrong == []


def test_back_goes_to_the_page_before_and_a_reload_stays(visit: Windows) -> None:
    page = visit()
    ways = ("roles", "risk", "release")
    for name in ways:
        page.click(f"button.way[data-go={name}]")
    page.click("button.way[data-go=release]")  # where one is already: nothing to come back from
    page.go_back()
    assert shown(page) == PAGES["risk"]
    page.reload()
    page.wait_for_selector(READY)
    assert shown(page) == PAGES["risk"]
    page.go_back()
    assert shown(page) == PAGES["roles"]
    page.go_forward()
    assert shown(page) == PAGES["risk"]
    assert page.get_attribute("button.way[data-go=risk]", "aria-current") == "page"
    page.go_back()
    page.go_back()
    assert shown(page) == PAGES["file"]
    page.goto(visit.served.origin + "/#protect")
    page.reload()
    page.wait_for_selector(READY)
    assert shown(page) == PAGES["protect"]


def test_of_500_columns_those_that_are_hidden_keep_their_role(visit: Windows, tmp_path: Path) -> None:
    names = ["sex", "age", *(f"answer_to_question_{at}" for at in range(MANY - 2))]
    lines = [",".join(str(at * (3 + place) % (2 + place % 5)) for place in range(MANY)) for at in range(60)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join([",".join(names), *lines]), encoding="utf-8")
    page = visit()
    page.set_input_files("#file-upload", path)
    page.wait_for_selector("#file-facts table, #file-facts dl")
    go(page, "roles")
    page.wait_for_selector(f"#roles-role_{MANY - 1}")
    assert page.evaluate("document.documentElement.scrollHeight") < HIGHEST
    for at, role in ((0, "key"), (1, "key"), (400, "sensitive"), (401, "ignore")):
        page.select_option(f"#roles-role_{at}", role)
    rows = page.locator("#columns tbody tr:visible")
    page.fill("[data-rows] input", "QUESTION_39")
    assert rows.count() == 11  # 39 and 390 to 399
    assert "11 / 500" in page.inner_text("[data-rows]")
    page.fill("[data-rows] input", "")
    page.select_option("[data-rows] select", "ignore")
    assert rows.count() == page.locator("#columns select").evaluate_all(
        "all => all.filter(one => one.value === 'ignore').length"
    )
    page.select_option("[data-rows] select", "key")
    assert rows.count() == page.locator("#columns select").evaluate_all(
        "all => all.filter(one => one.value.startsWith('key')).length"
    )
    assert page.locator("#roles-role_400").is_hidden()
    calm(page)
    page.fill("#roles-because", "the office")
    page.click("#roles-rest")
    page.wait_for_selector("#page_risk:not([hidden])")
    calm(page)
    go(page, "roles")
    assert page.input_value("#roles-role_0") == "key"
    assert page.input_value("#roles-role_400") == "sensitive"


def test_no_verdict_above_the_figures_of_another_file(visit: Windows, served: Served, tmp_path: Path) -> None:
    """While another file is opened the verdict says so; if that is refused, it stands there again."""
    before = set(served.workers())
    page = visit()
    page.click("#file-demo")
    page.wait_for_selector("#verdict_bar .headline")
    calm(page)
    verdict = page.inner_text("#verdict_bar")
    (worker,) = set(served.workers()) - before
    bad = tmp_path / "bad.parquet"
    bad.write_text("no columns", encoding="utf-8")
    os.kill(worker, signal.SIGSTOP)
    page.set_input_files("#file-upload", bad)
    assert eventually(lambda: re.search(r"bad\.parquet …", page.inner_text("#verdict_bar")) is not None)
    assert not page.query_selector("#verdict_bar .headline")
    os.kill(worker, signal.SIGCONT)
    page.wait_for_selector("#file-upload_fault")
    assert eventually(lambda: page.inner_text("#verdict_bar") == verdict)
