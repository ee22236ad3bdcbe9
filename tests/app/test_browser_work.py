"""Work in a real browser: a task that is cancelled, a reload that keeps what was done, files that are refused."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from app.browsing import Served, Windows, calm, eventually
from app.test_browser_frame import ask
from sdckit.workflow.sessions.risk import LARGE, STILL_LOOKED_FOR


def test_cancel_takes_a_second_at_most_and_a_reload_keeps_what_was_done(visit: Windows, served: Served) -> None:
    before = set(served.workers())
    page = visit()
    page.click("text=Open the demo")
    assert eventually(lambda: len(set(served.workers()) - before) == 1)
    (worker,) = set(served.workers()) - before
    # one that has not told the server who it is cannot be ended, and would end by itself
    assert eventually(lambda: Path(f"/proc/{worker}/fd/0").readlink() == Path(os.devnull))
    os.kill(worker, signal.SIGSTOP)  # a task that would never end
    page.wait_for_selector("#busy:not([hidden])")
    start = time.monotonic()
    page.click("#cancel")
    page.wait_for_selector("#busy", state="hidden")
    assert time.monotonic() - start < 1
    assert eventually(lambda: worker not in served.workers())
    page.click("text=Open the demo")
    calm(page)
    verdict = page.inner_text("#verdict_bar")
    assert "Not within" in verdict
    assert page.is_hidden("#alert")
    page.click("button.way[data-go=take_away]")
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    calm(page)
    assert page.inner_text("#verdict_bar") == verdict
    assert page.is_visible("#page_take_away")


def test_a_large_file_is_not_sent(visit: Windows, served: Served, tmp_path: Path) -> None:
    page = visit()
    good = tmp_path / "good.csv"
    good.write_text("sex,age\n" + "f,3\nm,4\n" * 20, encoding="utf-8")
    sent = len([url for url in visit.asked if "/upload/" in url])
    page.evaluate("document.getElementById('told').dataset.limit = '50'")
    page.set_input_files("#file-upload", good)
    page.wait_for_selector("#alert:not([hidden])")
    assert "MB" in page.inner_text("#alert_text")
    assert len([url for url in visit.asked if "/upload/" in url]) == sent
    cookie = {"Cookie": f"{served.cookies[0]['name']}={served.cookies[0]['value']}", "Origin": served.origin}
    refused = ask(served, "/session/x/upload/y", {**cookie, "Content-Length": str(5 * 2**30)}, method="POST")
    assert refused.status == 413


SEEN_EARLY = """still => {
  window.early = [];
  const look = () => {
    const risk = document.getElementById('page_risk').textContent;
    if (risk.includes(still)) window.early.push(document.getElementById('verdict_bar').textContent + risk);
  };
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true});
}"""


def test_first_figures_of_a_large_file_come_before_what_it_gives_back_is_judged(visit: Windows, tmp_path: Path) -> None:
    page = visit()
    path = tmp_path / "large.csv"
    people = (f"{'fm'[n % 2]},{18 + n * 7 % 70},{n * 13 % 40},{'abcd'[n % 4] * (n % 9 > 0)}" for n in range(LARGE))
    path.write_text("\n".join(["sex,age,area,job", *people]), encoding="utf-8")
    page.set_input_files("#file-upload", path)
    calm(page)
    page.evaluate(SEEN_EARLY, STILL_LOOKED_FOR)
    page.click("button.way[data-go=roles]")
    page.click("#roles-accept_all")
    page.click("button.way[data-go=risk]")
    calm(page)
    assert eventually(lambda: "k-anonymity" in page.inner_text("#page_risk"))
    calm(page)
    early = page.evaluate("() => window.early")
    assert any("k-anonymity" in text and "not judged yet" in text.lower() for text in early), early[-1:]
    assert STILL_LOOKED_FOR not in page.inner_text("#page_risk")
    assert "not judged yet" not in page.text_content("#verdict_bar").lower()


def test_what_is_refused_stands_where_one_looks(visit: Windows, served: Served, tmp_path: Path) -> None:
    """No key was found, a limit is out of range, a task is cancelled: "Checking the scenario" stood there for ever."""
    before = set(served.workers())
    page = visit()
    keyless = tmp_path / "keyless.csv"
    keyless.write_text("x1,x2\n" + "".join(f"{n * 1.37:.3f},{n * n % 97 / 3:.4f}\n" for n in range(300)))
    page.set_input_files("#file-upload", keyless)
    calm(page)
    page.click("button.way[data-go=roles]")
    page.click("#roles-accept_all")
    calm(page)
    assert "no variable is a key yet" in page.inner_text("#roles-accept_all_fault")
    assert page.is_hidden("#busy")

    page.click("button.way[data-go=file]")
    page.click("text=Open the demo")
    calm(page)
    page.click("button.way[data-go=roles]")
    page.fill("#roles-limit_k", "1")
    page.click("#roles-accept")
    calm(page)
    assert "at least 2" in page.inner_text("#roles-limit_k_fault")
    assert page.get_attribute("#roles-limit_k", "aria-invalid") == "true"
    (worker,) = set(served.workers()) - before
    for k in range(4, 12):  # until the measuring is held before its end
        page.fill("#roles-limit_k", str(k))
        page.click("#roles-accept")
        page.wait_for_selector("#page_risk:not([hidden])")
        os.kill(worker, signal.SIGSTOP)
        time.sleep(1)  # what was sent before arrives
        if page.query_selector("#page_risk .empty"):
            break
        os.kill(worker, signal.SIGCONT)
        calm(page)
        page.click("button.way[data-go=roles]")
    page.wait_for_selector("#page_risk .empty")
    page.click("#cancel")
    calm(page)
    page.click("#page_risk button:has-text('Start')")
    calm(page)
    assert not page.query_selector(".fault")
    assert page.is_visible("#page_risk h3")


def test_a_session_that_is_ended_leaves_nothing(visit: Windows, served: Served) -> None:
    folders = set(served.sessions())
    page = visit()
    (own,) = set(served.sessions()) - folders
    other = visit()
    page.click("text=End session")
    page.click("text=End and remove")
    page.wait_for_selector("text=This session has ended")
    assert not own.exists()
    assert other.is_visible("#page_file")
    assert page.evaluate("sessionStorage.length") == 0
