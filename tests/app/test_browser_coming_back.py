"""Coming back in a real browser: it was closed, the command was run again, the worker was killed, an upload broke."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import xlsxwriter

from app.browsing import READY, WAIT, Served, Windows, calm, eventually, faults, picture, serve
from session_files import make_file

WEEK = 7 * 24 * 3600


def started_again(served: Served, *arguments: str) -> list[str]:
    """What a second start prints; it ends at once."""
    command = [sys.executable, "-m", "sdckit", "app", "--no-browser", *arguments]
    environment = {**os.environ, "SDCKIT_APP_STATE": str(served.state)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.splitlines()


def test_whoever_closed_the_browser_goes_on_where_they_were(browser: Any, served: Served, tmp_path: Path) -> None:
    """The same person without the terminal; by a second start, with a file of its own; nobody without the secret."""
    windows = Windows(browser, served)
    page = windows()
    page.click("text=Open the demo")
    calm(page)
    page.click("button.way[data-go=risk]")
    calm(page)
    verdict, figures = page.inner_text("#verdict_bar"), page.inner_text("#page_risk")
    (kept,) = page.context.cookies()
    assert kept["expires"] > time.time() + WEEK
    page.context.close()  # what has no date would be gone

    page = windows()
    assert page.url.partition("#")[0] == f"{served.origin}/"
    page.wait_for_selector("text=Go on with affairs.csv?")
    picture(page, "app-coming-back")
    page.click("text=Go on with it")
    page.wait_for_selector("text=Go on with affairs.csv?", state="detached")
    page.wait_for_selector(READY)
    page.click("button.way[data-go=risk]")
    calm(page)
    assert (page.inner_text("#verdict_bar"), page.inner_text("#page_risk")) == (verdict, figures)

    file = make_file(tmp_path)
    first, second = started_again(served, str(file))
    address = first.split()[-1]
    assert address.startswith(f"{served.origin}/?token=")
    assert "running already" in second
    door = json.loads((served.own / "door.json").read_text())
    said = [entry.read_bytes() for entry in Path("/proc").glob("[0-9]*/cmdline") if entry.parent.exists()]
    assert not [words for words in said if door["secret"].encode() in words]
    assert len(list(served.state.glob("server-*"))) == 1
    stranger = browser.new_context()  # another browser of this user has no cookie yet
    stranger.set_default_timeout(WAIT)
    tab = stranger.new_page()
    tab.goto(address)
    tab.wait_for_selector(READY)
    tab.wait_for_selector("#file-facts >> text=small.csv")
    assert tab.url.partition("#")[0] == f"{served.origin}/"
    assert page.inner_text("#verdict_bar") == verdict
    assert browser.new_page().goto(address).status == 403  # it is good once
    again = started_again(served, str(file))[0].split()[-1]
    page.goto(again)  # in a tab that has work: it waits, and the file has a seat of its own
    page.wait_for_selector("#file-facts >> text=small.csv")
    page.wait_for_selector("text=Go on with affairs.csv?")
    for context in browser.contexts[:]:
        context.close()
    windows.contexts.clear()


def test_a_worker_that_was_killed_is_told_of_and_tried_again(browser: Any, tmp_path: Path) -> None:
    served = serve(tmp_path / "state", str(make_file(tmp_path)))
    windows = Windows(browser, served)
    page = windows()
    calm(page)
    page.click("button.way[data-go=roles]")
    page.click("button.way[data-go=file]")
    (worker,) = served.workers()
    os.kill(worker, signal.SIGSTOP)  # it is at work
    page.click("text=How the file is read, and a second file")
    page.click("#file-again")
    page.wait_for_selector("#busy:not([hidden])")
    os.kill(worker, signal.SIGKILL)
    page.wait_for_selector("#file-again_fault")
    assert "ended by itself" in page.inner_text("#file-again_fault")
    page.click("#file-again")
    calm(page)
    assert not page.query_selector(".fault")
    assert eventually(lambda: len(served.workers()) == 1)
    windows.close()
    assert served.stop() == 0


def test_an_upload_on_a_full_disk_is_told_of_leaves_nothing_and_is_sent_again(browser: Any, tmp_path: Path) -> None:
    served = serve(tmp_path / "state", program="app.full_server")
    windows = Windows(browser, served)
    windows.expected = 1  # the answer that it was refused
    page = windows(language="de")
    full = served.state / "full"
    full.touch()
    page.set_input_files("#file-upload", make_file(tmp_path))
    page.wait_for_selector("#file-upload_fault")
    assert page.inner_text("#file-upload_fault").startswith("Die Festplatte ist voll:")
    assert faults(page) == []
    picture(page, "app-full-disk")
    assert not [path for path in served.own.rglob("*") if path.is_file() and path.suffix == ".csv"]
    full.unlink()
    page.click("#file-upload_fault >> text=Noch einmal versuchen")
    page.wait_for_selector("#file-facts >> text=small.csv")
    calm(page)
    assert not page.query_selector(".fault")
    (kept,) = served.own.rglob("*.csv")
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2,3\n4\n", encoding="utf-8")
    page.set_input_files("#file-upload", bad)
    page.wait_for_selector("#file-upload_fault")
    assert list(served.own.rglob("*.csv")) == [kept]
    good = tmp_path / "good.csv"
    good.write_text("sex,age\n" + "f,3\nm,4\n" * 100, encoding="utf-8")
    page.set_input_files("#file-upload", good)
    page.wait_for_selector("#file-facts >> text=good.csv")
    assert [path.name for path in served.own.rglob("*.csv")] == ["good.csv"]
    windows.close()
    assert served.stop() == 0


def test_a_sheet_and_the_row_of_names_are_chosen(visit: Windows, tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "book.xlsx") as book:
        for name, records in (("persons", 80), ("households", 60)):
            sheet = book.add_worksheet(name)
            sheet.write(0, 0, "Survey of 2020")
            for row in range(records + 1):
                sheet.write_row(row + 2, 0, ["fm"[row % 2], 20 + row % 7] if row else ["sex", "age"])
    page = visit(language="de")
    page.set_input_files("#file-upload", tmp_path / "book.xlsx")
    page.wait_for_selector("#file-facts >> text=book.xlsx")
    told = page.inner_text("#file-facts")
    assert "Gelesen wird das erste Blatt, 'persons', und nicht 'households'" in told
    assert "die mit der Nummer '3' die Namen" in told
    page.click("text=Wie die Datei gelesen wird")
    page.fill("#file-header_row", "3")
    page.fill("#file-sheet", "household")
    page.click("#file-again")
    page.wait_for_selector("#file-sheet_fault")
    page.fill("#file-sheet", "households")
    page.click("#file-again")
    calm(page)
    told = page.inner_text("#file-facts")
    assert "60" in told
    assert "Titel" not in told
    assert not page.query_selector(".fault")
