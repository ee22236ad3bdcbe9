"""The sentences of docs/app.md as a script: a step shows each of them, in the order of the page.

A file of steps has a `Script`, and says for every sentence what shows it::

    @SCRIPT.step("Upload a file, or open the demo.")
    def _(hand: Hand) -> None:
        hand.press("Open the demo")

    SCRIPT.elsewhere("tests/app/test_tasks.py::test_progress_never_comes_after_the_error", "A sentence of the inside.")

Sentences are written without the marks of Markdown. A step begins on the page that its section is about, leaves what
the next ones need, and presses what its sentences name in italics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.browsing import PAGES, WAIT, calm, see
from app.walking import ABOUT, SEEN

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "app.md"
SECTIONS = ("The way through", "Coming back")  # in the order they are gone through
PRESSED = "button", "summary", "tick", "link", "term"
MARKER = "ZQXMARK"  # the job of a single person of the file that is walked with
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`(\[])|(?<=[.!?]\))\s+")
NAMED = re.compile(r"(?<!\*)\*([A-Z][^*]+)\*")  # what can be pressed is in italics


# What was sent before is said until the next one begins. A field that was drawn anew since holds no file any more.
FORGET = """place => {
  const bar = document.querySelector(`${place}_progress .progress-bar`);
  if (bar) bar.textContent = '';
}"""
ARRIVED = """place => document.querySelector(`${place}_progress .progress-bar`)?.textContent === 'Upload complete'
  || !document.querySelector(place)?.files.length"""


@dataclass(frozen=True)
class Sentence:
    """A sentence without marks, the section it is in, and what it names to press."""

    text: str
    section: str
    names: tuple[str, ...]


def sentences(page: str) -> Iterator[Sentence]:
    """Those of the sections, in their order; pictures are none."""
    for title in SECTIONS:
        section = title
        for block in re.split(r"\n\n|\n(?=- )", page.partition(f"## {title}\n")[2].partition("\n## ")[0]):
            text = " ".join(block.split())
            if text.startswith("### "):
                section = text.removeprefix("### ")
            elif text and not text.startswith("!["):
                for one in END.split(text.removeprefix("- ")):
                    yield Sentence(plain(one), section, tuple(NAMED.findall(one)))


def plain(text: str) -> str:
    """A sentence without the marks of Markdown.

    >>> plain("*Undo* of [roles](roles.md) is `undo`.")
    'Undo of roles is undo.'
    """
    return re.sub(r"[*`]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))


@dataclass
class Hand:
    """Presses, chooses and fills as a person does, and waits for the answer; `used` are names of what it touched."""

    page: Any
    served: Any
    folder: Path
    files: dict[str, Path]
    used: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    kept: dict[str, Any] = field(default_factory=dict)  # what a step leaves for a later one

    def note(self, element: Any) -> None:
        """Remember what is touched."""
        about = element.evaluate(ABOUT)
        self.used.append(about["name"])
        self.keys.add(key_of(about))

    def press(self, name: str, *, kinds: tuple[str, ...] = PRESSED, wait: bool = True) -> Any:
        """Press what is seen under this name, or under a longer one that begins so; a fold that is open stays open."""
        element = self._pressed(name, kinds)
        if wait:
            calm(self.page)
        return element

    def _pressed(self, name: str, kinds: tuple[str, ...], again: int = 3) -> Any:
        """Press it; once more where it was drawn anew between looking and pressing."""
        element = self.seek(name, kinds)
        self.note(element)
        try:
            if not element.evaluate("one => one.matches('details[open] > summary')"):
                element.click()
        except Exception as error:
            if again and "not attached" in str(error):
                return self._pressed(name, kinds, again - 1)
            raise
        return element

    def seek(self, name: str, kinds: tuple[str, ...]) -> Any:
        """The element of a name; it may be about to be drawn."""
        fits: list[dict[str, Any]] = []
        for _ in range(100):
            seen = [one for one in see(self.page, SEEN) if one["kind"] in kinds]
            fits = [one for one in seen if one["name"] == name] or [one for one in seen if one["name"].startswith(name)]
            if fits:
                return self.page.evaluate_handle(f"window.walked[{fits[0]['at']}]").as_element()
            self.page.wait_for_timeout(100)
        raise AssertionError(f"nothing called {name!r} can be pressed; there are {[one['name'] for one in seen]}")

    def at(self, place: str) -> Any:
        """An element that is there by now."""
        self.page.wait_for_selector(place, state="attached")
        element = self.page.locator(place).first
        self.note(element)
        return element

    def fill(self, place: str, text: str) -> None:
        """Type a text into a field, and leave it."""
        element = self.at(place)
        element.fill(text)
        element.press("Tab")
        calm(self.page)

    def choose(self, place: str, value: str) -> None:
        """Choose from a list."""
        self.at(place).select_option(value)
        calm(self.page)

    def send(self, place: str, path: Path) -> None:
        """Give a file to a field, and wait for what comes of it."""
        self.at(place)
        self.page.evaluate(FORGET, place)
        self.page.set_input_files(place, path)
        self.page.wait_for_function(ARRIVED, arg=place)
        calm(self.page)

    def take(self, place: str) -> Path:
        """Download."""
        element = self.at(place)
        with self.page.expect_download() as coming:
            element.click()
        path = self.folder / str(coming.value.suggested_filename)
        coming.value.save_as(path)
        return path

    def go(self, name: str) -> None:
        """Go to another page by the buttons on top."""
        self.at(f"button.way[data-go={name}]").click()
        calm(self.page)

    def text(self, place: str = "section.page:not([hidden])") -> str:
        """What is read there, with single blanks."""
        return " ".join(str(self.page.inner_text(place)).split())

    def reads(self, *texts: str, place: str = "section.page:not([hidden])") -> None:
        """These texts stand there, by and by."""
        for text in texts:
            self.page.wait_for_function(
                "([place, text]) => [...document.querySelectorAll(place)].some("
                "one => one.innerText.replace(/\\s+/g, ' ').includes(text))",
                arg=[place, text], timeout=WAIT / 4,
            )  # fmt: skip

    def count(self, place: str) -> int:
        """How many there are that can be seen."""
        return int(self.page.locator(f"{place} >> visible=true").count())


Step = Callable[[Hand], None]


def key_of(about: dict[str, Any]) -> str:
    """What is the same button on a page that is drawn anew."""
    return f"{about['kind']} {about['id'] or about['act'] or about['name']}"


@dataclass
class Script:
    """What shows each sentence: a step here, or a test elsewhere."""

    steps: dict[str, Step] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)

    def step(self, *texts: str) -> Callable[[Step], Step]:
        """These sentences, which stand one after another, are shown by the function that follows."""

        def keep(function: Step) -> Step:
            for text in texts:
                assert text not in self.steps, text
                self.steps[text] = function
            return function

        return keep

    def elsewhere(self, test: str, *texts: str) -> None:
        """These sentences are shown by a test of another file, named as pytest names it."""
        for text in texts:
            self.tests[text] = test

    def faults(self, page: str) -> list[str]:
        """Sentences that nothing shows, steps of sentences that are gone, and tests that are not there."""
        told = [sentence.text for sentence in sentences(page)]
        lacking = [
            f"nothing shows this sentence of docs/app.md ({sentence.section}): {sentence.text!r}"
            for sentence in sentences(page)
            if sentence.text not in self.steps and sentence.text not in self.tests
        ]
        gone = [
            f"docs/app.md does not say any more: {text!r}" for text in {**self.steps, **self.tests} if text not in told
        ]
        twice = [f"docs/app.md says twice: {text!r}" for text in dict.fromkeys(told) if told.count(text) > 1]
        return (
            lacking
            + gone
            + twice
            + [f"there is no test {test}" for test in set(self.tests.values()) if not _is_test(test)]
        )

    def play(self, hand: Hand, page: str) -> None:
        """Go through the sentences in their order; each step must press what its sentences name."""
        done: dict[Step, list[str]] = {}
        for sentence in sentences(page):
            step = self.steps.get(sentence.text)
            if step is None:
                continue
            if step not in done:
                hand.used.clear()
                try:
                    _be_on(hand, sentence.section)
                    step(hand)
                except Exception as error:
                    raise AssertionError(f"docs/app.md ({sentence.section}): {sentence.text!r}: {error}") from error
                done[step] = list(hand.used)
            lacking = [name for name in sentence.names if not is_among(name, done[step])]
            assert not lacking, f"docs/app.md ({sentence.section}): {sentence.text!r}: not pressed: {lacking}"


def _is_test(name: str) -> bool:
    path, _, function = name.partition("::")
    file = ROOT / path
    return file.is_file() and f"\ndef {function}(" in file.read_text(encoding="utf-8")


def _be_on(hand: Hand, section: str) -> None:
    """On the page that the section is about, if it is about one."""
    name = next((name for name, title in PAGES.items() if title == section), "")
    if name and hand.page.is_hidden(f"#page_{name}"):
        hand.go(name)


def is_among(words: str, used: list[str]) -> bool:
    """Whether something of this name was pressed; of a way in a list its last word is the name."""
    return any(words in name or words.rpartition(" ")[2].lower() in name.lower() for name in used)
