"""The pages of the documentation as programs: their blocks, in the order in which a reader would run them."""

from __future__ import annotations

import doctest
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tree import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(sdckit [^`]+)`")
# A command that a reader can copy names a file; FILE, N or A,B stand for something.
COPIED = re.compile(r"[a-z]\.(csv|sav|json|toml)\b")


@dataclass(frozen=True)
class Part:
    """A piece of a page that can be run: an `example`, a `program`, a `table` of TOML or a `command`."""

    kind: str
    text: str
    line: int


def parts(page: Path) -> list[Part]:
    """What can be run on a page: its blocks from top to bottom, then the commands that its sentences name."""
    text = page.read_text(encoding="utf-8")
    blocks = [
        Part(kind, said, text.count("\n", 0, match.start(2) + shift) + 1)
        for match in FENCED.finditer(text)
        for shift, kind, said in _of_block(*match.groups())
    ]
    prose = FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return blocks + [
        Part("command", one[1], text.count("\n", 0, one.start()) + 1)
        for one in INLINE.finditer(prose)
        if COPIED.search(one[1])
    ]


def named_commands(page: Path) -> list[str]:
    """Every command that a page names, those with FILE or A,B for something included."""
    text = page.read_text(encoding="utf-8")
    return [one for one in INLINE.findall(text) if " -" in one] + [
        part.text for part in parts(page) if part.kind == "command"
    ]


def _of_block(language: str, text: str) -> list[tuple[int, str, str]]:
    """The parts of one fenced block, with where they stand in it."""
    if language == "python":
        return [(0, "example" if text.startswith(">>>") else "program", text)]
    if language == "toml":
        return [(0, "table", text)]
    if language in {"yaml", "r"}:
        return []  # tested in repo/test_gates.py and cli/commands/test_r_functions.py
    return [
        (match.start(), "command", " ".join(match[0].replace("\\\n", " ").split()))
        for match in re.finditer(r"^sdckit (?:.*\\\n)*.*$", text, flags=re.MULTILINE)
    ]


def run_example(part: Part, page: Path, names: dict[str, object]) -> str:
    """Run a doctest block in the names of its page; what went wrong, or nothing."""
    case = doctest.DocTestParser().get_doctest(part.text, names, page.stem, str(page), part.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(case, out=said.append, clear_globs=False)
    names.update(case.globs)
    return "".join(said)


def arguments(command: str) -> list[str]:
    """The words of a command after the name of the program."""
    return shlex.split(command, comments=True)[1:]


def written(command: str) -> list[str]:
    """The files that a command says it writes."""
    words = arguments(command)
    given = dict(pairwise(words))
    named = [
        given[option]
        for option in ("--report", "--out", "-o", "--plot", "--json", "--sarif", "--table")
        if option in given and (option != "--table" or words[0] != "synthesize-margins")  # which reads it
    ]
    if words[0] in {"protect", "canaries"}:
        named += [given[option] for option in ("--log", "--key") if option in given]
    if words[1:2] == ["init"] and words[0] in {"scenario", "domain"} and not named:
        named = [f"{words[0]}.toml"]
    several = int(given.get("--m", "1"))
    if several > 1:
        named = [name.replace(".", f"_{one}.") for name in named for one in range(1, several + 1)]
    return named
