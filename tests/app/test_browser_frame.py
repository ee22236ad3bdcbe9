"""The frame in a real browser: who is let in, whose work is whose, what reload keeps, and what stays behind."""

from __future__ import annotations

import http.client
import os
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.browsing import PAGES, Served, Windows, eventually, faults, serve, shown


def test_the_way_through_by_keyboard_and_without_fault(visit: Windows) -> None:
    """Six pages, one shown; nothing serious for axe-core on any; the skip link leads past the header."""
    page = visit()
    assert shown(page) == "File"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for title in PAGES.values():
        page.get_by_role("navigation", name="The way through").get_by_role("button", name=title).focus()
        page.keyboard.press("Enter")
        assert shown(page) == title
        assert page.evaluate("document.activeElement.textContent") == title
        assert page.get_by_role("button", name=title, exact=False).first.get_attribute("aria-current") == "page"
        assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


FADING = """<html lang="en"><title>fading</title><main><h1>A button</h1><button>Go</button></main>
<style>
  @keyframes fade { from { opacity: 0.2 } }  @keyframes turn { to { rotate: 1turn } }
  button { animation: fade 600s; color: black; background: white }
  h1 { animation: turn 1s infinite }
</style>"""


def test_what_fades_in_is_judged_as_it_is_then(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(FADING)
    assert faults(page) == []
    page.evaluate("document.querySelector('button').style.color = '#ddd'")
    assert [fault.partition(":")[0] for fault in faults(page)] == ["color-contrast"]
    page.close()


def test_it_fits_the_smallest_width_and_speaks_german(visit: Windows) -> None:
    page = visit(width=1024, language="de")
    assert page.evaluate("document.documentElement.lang") == "de"
    assert shown(page) == "Datei"
    assert faults(page) == []
    for name in PAGES:
        page.click(f"button.way[data-go={name}]")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    with page.expect_navigation():
        page.click("text=English")
    page.wait_for_selector("body[data-ready=yes]")
    assert page.evaluate("document.documentElement.lang") == "en"


def test_tabs_are_sessions_of_their_own_and_reload_keeps_one(visit: Windows, served: Served) -> None:
    """Another window, another tab, and a copy of a tab each get a seat and a folder of their own."""
    first = visit()
    seat = first.evaluate("sessionStorage.seat")
    folders = len(served.sessions())
    # The mark is the browser's own: the page is loaded anew when the server has been told, too.
    first.evaluate("() => {window.told = new Promise(on => $(document).one('shiny:busy', () => "
                   "$(document).one('shiny:idle', on)))}")  # fmt: skip
    first.click("label[for=exact]")
    first.wait_for_selector("#exact_mark:not([hidden])")
    first.evaluate("() => window.told.then(() => true)")
    first.reload()
    first.wait_for_selector("body[data-ready=yes]")
    assert first.evaluate("sessionStorage.seat") == seat
    assert len(served.sessions()) == folders
    first.wait_for_selector("#exact_mark:not([hidden])")

    second = visit()
    assert second.evaluate("sessionStorage.seat") != seat
    assert second.is_hidden("#exact_mark")
    copy = first.context.new_page()
    copy.goto(served.origin)
    copy.evaluate(f"sessionStorage.setItem('seat', '{seat}'); sessionStorage.removeItem('left')")
    copy.add_init_script("sessionStorage.removeItem('left')")
    copy.reload()
    copy.wait_for_selector("body[data-ready=yes]")
    assert copy.evaluate("sessionStorage.seat") != seat
    assert copy.is_hidden("#exact_mark")
    assert len(served.sessions()) >= folders + 2
    for folder in served.sessions():
        assert folder.stat().st_mode & 0o777 == 0o700


def ask(served: Served, path: str, headers: dict[str, str], *, method: str = "GET", body: Any = None) -> Any:
    """The answer to a request as no browser would send it."""
    where = urlsplit(served.origin)
    connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=30)
    connection.request(method, path, body=body, headers={"Host": where.netloc, **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_nobody_else_is_let_in(visit: Windows, served: Served) -> None:
    """Without the cookie, with a wrong or used token, another host, another origin: 403, and no websocket."""
    page = visit()
    cookie = {"Cookie": f"{served.cookies[0]['name']}={served.cookies[0]['value']}"}
    assert ask(served, "/", cookie).status == 200
    token = served.address.partition("/?")[2]
    refused = [
        ("/", {}), ("/app.js", {}), ("/?token=wrong", {}), (f"/?{token}", {}), ("/", {"Cookie": "sdckit=1"}),
        ("/", {**cookie, "Host": "evil.example"}), ("/", {**cookie, "Host": "localhost"}),
        ("/", {**cookie, "Origin": "http://evil.example"}), ("/", {**cookie, "Sec-Fetch-Site": "same-site"}),
    ]  # fmt: skip
    assert [ask(served, path, headers).status for path, headers in refused] == [403] * len(refused)
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    own = {"Origin": served.origin}
    assert ask(served, "/websocket/", {**upgrade, **own, **cookie}).status == 101
    for headers in ({**own}, {**cookie}, {**cookie, "Origin": "http://evil.example"}):
        assert ask(served, "/websocket/", {**upgrade, **headers}).status == 403
    found = page.context.cookies()[0]
    assert found["httpOnly"]
    assert found["sameSite"] == "Strict"
    assert "token" not in page.url


def test_what_a_page_may_do_is_itself_only(visit: Windows, served: Served) -> None:
    """The policy holds in the browser: neither a script of another host nor one written into the page is run."""
    page = visit()
    page.evaluate("""() => {
      window.ran = [];
      for (const [key, value] of [['src', 'http://evil.example/x.js'], ['textContent', 'ran.push(1)']]) {
        const script = document.createElement('script');
        script[key] = value;
        document.body.append(script);
      }
    }""")
    page.evaluate("() => { setTimeout('ran.push(2)') }")
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") == []
    visit.asked = [url for url in visit.asked if "evil.example" not in url]
    visit.expected = 3


def test_nothing_stays_after_the_end(browser: Any, tmp_path: Path) -> None:
    """Also where the server is killed: its workers end with it, and the next start removes what it left."""
    served = serve(tmp_path, program="sdckit")
    windows = Windows(browser, served)
    windows()
    assert eventually(lambda: len(served.workers()) == 1)
    assert len(served.sessions()) == 1
    (worker,) = served.workers()
    assert served.stop(signal=signal.SIGKILL) == -signal.SIGKILL
    assert eventually(lambda: not Path(f"/proc/{worker}").exists() or _is_gone(worker))
    assert served.own.is_dir()

    again = serve(tmp_path)
    assert len(list(tmp_path.glob("server-*"))) == 1
    assert again.stop(signal=signal.SIGTERM) == 0
    assert not list(tmp_path.glob("server-*"))
    for context in windows.contexts:
        context.close()


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
