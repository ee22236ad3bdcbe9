"""A walk through the app at random: seeded presses, texts and files on whatever stands on the page, each judged.

`Walk` presses what can be seen, as somebody does who tries everything, and notes as a fault whatever gets no answer:
a task that stands still, a text that says something is being done while nothing is, an internal error, steps that
cannot be got back. `SDCKIT_WALKS` asks for more than CI has time for: "40 300" is forty walks of three hundred clicks.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from app.browsing import READY, Served, is_left, see, shown

IN_CI = 5, 40  # walks, and clicks of a walk
PATIENCE = 30.0  # seconds that a page may show the same while it is busy, on a machine that does nothing else
SLOWNESS = float(os.environ.get("SDCKIT_SLOWNESS", "4"))  # how much longer a machine may take that others use, too
LONG = 8.0  # seconds after which a walk presses Cancel, mostly: a search takes minutes
# What a page says while a task is on its way, in English and German.
PENDING = re.compile(r"\b(is|are) being (\w+)\b|\bwerden? gerade\b|^(Checking|Measuring|Reading|Guessing)\b.*…$", re.M)
INTERNAL = re.compile(r"internal error|interner Fehler|An error has occurred|Traceback", re.IGNORECASE)

# What somebody sees of a thing to press, choose or fill.
ABOUT = """one => {
  const text = (one.getAttribute('aria-label')
    || (one.labels && one.labels[0] && one.labels[0].innerText) || one.innerText || one.title || one.name || '').trim();
  const kind = one.matches('summary') ? 'summary' : one.matches('[role=slider]') ? 'edge'
    : one.matches('a') ? (one.hasAttribute('download') || one.matches('.shiny-download-link') ? 'download' : 'link')
    : one.matches('select') ? 'select' : one.matches('button') ? (one.matches('.term') ? 'term'
      : one.matches('.way, [data-go]') ? 'way' : 'button')
    : ['checkbox', 'radio'].includes(one.type) ? 'tick' : one.type === 'file' ? 'file' : 'field';
  return {
    kind, id: one.id, act: one.dataset.act || '', opens: one.dataset.open || '', name: text.slice(0, 80),
    chosen: one.type === 'radio' && one.checked, form: one.closest('.step-editor') !== null,
    options: kind === 'select' ? [...one.options].map(option => option.value) : [],
  };
}"""
# All that can be pressed, chosen or filled; a dialog hides what is behind it.
SEEN = """() => {
  const about = ABOUT;
  const root = document.querySelector('dialog[open]') || document;
  const seen = one => one.checkVisibility({ checkVisibilityCSS: true }) && one.getClientRects().length > 0;
  window.walked = [];
  const found = [];
  for (const one of root.querySelectorAll('button, a[href], summary, input, select, textarea, [role=slider]')) {
    const file = one.type === 'file', place = file ? one.closest('.shiny-input-container') : one;
    if (!place || !seen(place) || one.disabled || one.classList.contains('disabled') || one.ariaDisabled === 'true')
      continue;
    if (one.type === 'hidden' || one.readOnly || one.closest('.skip') || one.matches('.skip')) continue;
    found.push({ ...about(one), at: window.walked.length });
    window.walked.push(one);
  }
  return found;
}""".replace("ABOUT", ABOUT)
# What the page says of itself: nothing of it is still to be drawn where `idle` is true. While it is busy it answers
# once a second: whoever asks more often takes more processor time than the page.
STATE = """async () => {
  const works = () => document.body.dataset.ready && !document.body.dataset.ended
    && (document.body.classList.contains('busy')
      || [...document.querySelectorAll('.recalculating')].some(one => one.checkVisibility()));
  for (let turn = 0; turn < 25 && works(); turn++) await new Promise(done => setTimeout(done, 40));
  if (document.body.dataset.ended) return { ended: true };
  if (!document.body.dataset.ready) return { idle: false, busy: false, says: 'loading', text: '', lost: false };
  await new Promise(done => Shiny.shinyapp.makeRequest('ping', [], done, done));
  const drawn = ![...document.querySelectorAll('.recalculating')].some(one => one.checkVisibility());
  const busy = document.body.classList.contains('busy');
  return {
    idle: drawn && !busy, busy, says: busy ? document.getElementById('busy_text').textContent : '',
    text: document.body.innerText, lost: !document.getElementById('lost').hidden,
  };
}"""
STEPS = """() => document.getElementById('page_protect').hidden ? [] :
  [...document.querySelectorAll('#page_protect .step-list li')].map(
    one => ['.step-name', '.step-about'].map(part => one.querySelector(part).textContent).join('|') + one.className)"""
TEXTS = (
    "3", "2", "0.05", ".2", "none", "", "two", "-4", "1e9", "0", "99999999999", "NA, -9", "älter; 'x\" <b>", "[1, 2]",
    "{a = [\"x\"]}", "income ~ age", "age", "sex", "neighbour", "x" * 300, "nan", "ill", "1,5",
)  # fmt: skip
WEIGHTS = {
    "button": 12, "way": 7, "tick": 4, "select": 4, "field": 4, "file": 3, "summary": 2, "edge": 2, "download": 2,
    "link": 0.5, "term": 0.3, "reload": 0.6, "window": 0.4,
}  # fmt: skip
# Presses that lead on come more often, and those that lead back less: else a walk stays where it began.
LIKELY = {
    "file-upload": 4, "roles-accept_all": 8, "roles-accept": 3, "protect-starter": 3, "protect-propose": 1.5,
    "protect-apply_step": 5, "protect-add_step": 3, "release-make_release": 4, "end": 0.1, "file-demo": 0.5,
    "exact": 0.5, "take_away-accept": 4, "undo": 0.7,
}  # fmt: skip
NEVER = {"end_now"}  # it ends the session: pressed in a test of its own


def write_files(folder: Path) -> dict[str, list[Path]]:
    """Files good and bad, and scenarios that fit and do not; by what they are."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(11)
    n = 200
    good = pl.DataFrame({
        "person": [f"p{at}" for at in range(n)], "age": rng.integers(18, 80, n),
        "job": rng.choice(["cook", "smith", "clerk", "refused"], n), "sex": rng.choice(["f", "m"], n),
        "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]), "income": rng.integers(10, 90, n) * 100.5,
    })  # fmt: skip
    home = rng.choice(["A11", "A12", "B11", None], n)
    trades = "Koch", "Schmied", "Koch"
    texts = {
        "german.csv": "alter;beruf;lohn\n" + "".join(f"{20 + at % 40};{trades[at % 3]};{at},5\n" for at in range(90)),
        "bad-rows.csv": "a,b\n1,2\n1,2,3\n4\n",
        "empty.csv": "",
        "head-only.csv": "a,b,c\n",
        "one-column.csv": "age\n" + "".join(f"{at % 7}\n" for at in range(40)),
        "same-names.csv": "a,a,\n1,2,3\n" * 3,
        "ä " + "long-" * 40 + ".csv": good.head(60).write_csv(),
        "not.parquet": "no columns", "not.sav": "$FL2 nothing", "not.xlsx": "PK nothing",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "junk.csv").write_bytes(rng.integers(0, 256, 4000).astype(np.uint8).tobytes())
    (folder / "latin.csv").write_bytes("größe,Straße\n1,a\n2,ü\n".encode("latin-1") * 20)
    good.write_csv(folder / "people.csv")
    good.with_columns(home=home).write_parquet(folder / "people.parquet")
    sdc.write_file(good, folder / "people.sav")
    good.sample(80, seed=3).write_csv(folder / "control.csv")
    fits = sdc.Scenario(
        intruders={"neighbour": ["age", "sex", "job"]}, sensitive=["ill"], identifiers=["person"], thresholds={"k": 3}
    )  # fmt: skip
    (folder / "fits.toml").write_text(fits.to_toml(), encoding="utf-8")
    other = sdc.Scenario(keys=["elsewhere"], thresholds={"k": 3})
    (folder / "other.toml").write_text(other.to_toml(), encoding="utf-8")
    (folder / "broken.toml").write_text("[thresholds\nk = ", encoding="utf-8")
    (folder / "levels.csv").write_text("cook,hands\nsmith,hands\nclerk,desk\n", encoding="utf-8")
    data = [*(folder / name for name in texts), folder / "junk.csv", folder / "latin.csv"]
    best = [folder / f"people.{ending}" for ending in ("csv", "parquet", "sav")]
    return {
        "data": data, "good": best, "toml": sorted(folder.glob("*.toml")),
        "other": [folder / "control.csv", folder / "levels.csv", *data[:3]],
    }  # fmt: skip


@dataclass
class Walk:
    """One walk on a page; `faults` is what was not as it should be, each with the presses that led there."""

    page: Any
    served: Served
    files: dict[str, list[Path]]
    seed: int
    faults: list[str] = field(default_factory=list)
    trail: list[str] = field(default_factory=list)
    pressed: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    folder: Path = Path()
    downloads: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.page.on("download", self._downloaded)
        self.page.on("dialog", lambda one: one.accept())
        self.page.set_default_timeout(20_000 * SLOWNESS)

    def _downloaded(self, _: Any) -> None:
        self.downloads += 1

    # What is done.

    def see(self, script: str) -> Any:
        """What a script sees on the page."""
        return see(self.page, script)

    def go(self, clicks: int) -> None:
        """Press so often; what came before must have been answered, mostly."""
        for _ in range(clicks):
            before = self.see(STEPS)
            try:
                self.act()
            except Exception as error:  # noqa: BLE001 - what cannot be pressed is a fault of the page, or gone meanwhile
                if is_left(error):  # going on with other work loads the page anew
                    continue
                self.note(f"could not be done: {type(error).__name__}: {str(error)[:300]}")
            if self.rng.random() < 0.8:
                self.rest()
                if before and re.search(r": (button|tick) (?!undo|redo|exact|cancel)[^:]*$", self.trail[-1]):
                    self.get_back(before)
            if len(self.faults) > 15:
                break
        self.rest()

    def act(self) -> None:
        """Do one thing at random."""
        every = [one for one in self.see(SEEN) if one["id"] not in NEVER]
        kinds = sorted({one["kind"] for one in every} | {"reload", "window"})
        kind = self.rng.choices(kinds, [WEIGHTS[name] for name in kinds])[0]
        if kind in ("reload", "window"):
            self.trail.append(kind)
            getattr(self, kind)()
            return
        ones = [one for one in every if one["kind"] == kind]
        weights = [LIKELY.get(one["id"] or one["act"] or one["opens"], 1) for one in ones]
        self.do(self.rng.choices(ones, weights)[0])

    def do(self, one: dict[str, Any]) -> None:
        """Press, choose or fill what `SEEN` listed."""
        kind, name = one["kind"], one["id"] or one["act"] or one["name"]
        said = f"{shown(self.page)}: {kind} {name}" + (f" ({one['name']})" if one["name"] != name else "")
        self.pressed[f"{kind} {re.sub(r'[0-9]+', '#', name)}"] += 1
        element = self.page.evaluate_handle(f"window.walked[{one['at']}]").as_element()
        try:
            self._do(one, element, said)
        except Exception:
            if element.evaluate("one => one.isConnected && one.checkVisibility()"):
                raise
            self.trail.append(f"{said} (was gone)")  # drawn anew meanwhile, as after any other press

    def _do(self, one: dict[str, Any], element: Any, said: str) -> None:
        kind = one["kind"]
        if kind == "file":
            path = self.choose_file(one)
            self.trail.append(f"{said} <- {path.name[:30]}")
            element.set_input_files(path)
        elif kind == "select":
            value = self.rng.choice(one["options"] or [""])
            self.trail.append(f"{said} <- {value}")
            element.select_option(value)
        elif kind == "field":
            value = self.rng.choice(TEXTS)
            if element.get_attribute("type") == "number":
                value = self.rng.choice(["3", "-1", "44.5", "1e9", ""])
            self.trail.append(f"{said} <- {value[:20]}")
            element.fill(value)
            element.press("Tab")
        elif kind == "edge":
            key = self.rng.choice(["ArrowRight", "ArrowLeft", "PageUp", "PageDown", "Delete"])
            self.trail.append(f"{said} {key}")
            element.press(key)
        elif kind == "link":
            self.trail.append(said)
            with self.page.expect_navigation():
                element.click()
            self.page.wait_for_selector(READY)
        else:
            self.trail.append(said)
            element.click(timeout=5_000 * SLOWNESS)

    def choose_file(self, one: dict[str, Any]) -> Path:
        """A file for a field: data, scenarios and the rest go anywhere, mostly where they belong."""
        belongs = {"roles-load": "toml", "protect-load": "toml", "file-upload": "data"}.get(one["id"], "other")
        if self.rng.random() < 0.1:
            belongs = self.rng.choice(sorted(self.files))
        if belongs == "data" and self.rng.random() < 0.5:
            belongs = "good"
        return self.rng.choice(self.files[belongs])

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_selector(READY)

    def window(self) -> None:
        """Another tab beside this one, and a few presses there."""
        other = self.page.context.new_page()
        beside = Walk(other, self.served, self.files, self.rng.randrange(2**30))
        other.goto(self.served.origin)
        other.wait_for_selector(READY)
        for _ in range(3):
            beside.act()
            beside.rest()
        other.close()
        self.faults += beside.faults
        self.trail += [f"  other tab: {step}" for step in beside.trail]

    # What is judged.

    def get_back(self, before: list[str]) -> None:
        """Undo brings back the steps that a press changed, and redo those that it made."""
        now = self.see(STEPS)
        if not now or now == before:
            return
        for act, wanted in (("undo", before), ("redo", now)):
            button = self.page.locator(f"#page_protect button[data-act={act}]")
            if button.count() != 1 or button.is_disabled():
                self.note(f"no {act} after the steps were changed")
                return
            button.click()
            self.trail.append(f"{act}, to see")
            self.rest()
            if not self.soon(lambda _, wanted=wanted: self.see(STEPS) == wanted):
                self.note(f"{act} gives {self.see(STEPS)} and not {wanted}")

    def rest(self) -> None:
        """Wait until the page is at rest, and judge what it says then."""
        start, last, moved = time.monotonic(), "", time.monotonic()
        while True:
            state = self.see(STATE)
            if state.get("ended") or state["idle"]:
                break
            now = time.monotonic()
            if state["text"] != last:
                last, moved = state["text"], now
            if now - moved > PATIENCE * SLOWNESS:
                self.note(f"no answer for {now - moved:.0f} s: {state['says']!r}")
                self.reload()
                return
            if state["busy"] and now - start > LONG and self.rng.random() < 0.3:
                self.trail.append("Cancel")
                self.page.evaluate("document.getElementById('cancel').click()")
                moved, start = now, now + 60
            time.sleep(0.03)
        self.longest = max(self.longest, time.monotonic() - start)
        if not state.get("ended"):
            self.judge(state)

    def judge(self, state: dict[str, Any]) -> None:
        """Nothing is on its way for ever, no error is one of ours, and the connection stands."""
        if INTERNAL.search(state["text"]):
            self.note(f"internal error: {_around(INTERNAL, state['text'])}")
            self.reload()
        if state["lost"]:
            self.note("the connection is lost")
            self.page.wait_for_selector("#lost", state="hidden")
        if PENDING.search(state["text"]) and not self.soon(lambda text: not PENDING.search(text)):
            self.note(f"at rest, yet: {_around(PENDING, self.see(STATE)['text'])}")
            self.reload()

    def soon(self, true: Callable[[str], bool]) -> bool:
        """Whether the page's text becomes so while nothing runs."""
        calm = 0
        while calm < 30:
            state = self.see(STATE)
            if true(state["text"]):
                return True
            calm = calm + 1 if state["idle"] else 0
            time.sleep(0.1)
        return False

    def note(self, what: str) -> None:
        """Keep a fault, with the last presses."""
        self.faults.append(f"walk {self.seed}, press {len(self.trail)}: {what}\n    " + "\n    ".join(self.trail[-8:]))
        if folder := os.environ.get("SDCKIT_PICTURES"):
            self.page.screenshot(path=f"{folder}/walk-{self.seed}-{len(self.faults)}.png", full_page=True)


def _around(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return "" if match is None else repr(text[max(0, match.start() - 80) : match.end() + 80])
