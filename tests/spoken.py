"""The texts that the app says, read from its source: what is given to `say`, told while work runs, or refused."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

from sdckit.catalogue import CATALOGUE
from sdckit.data.methods import CLAUSES, METHODS
from sdckit.report.wording import PLACE, wording
from sdckit.workflow.recipes.step_forms import forms
from tree import SRC, nodes, parsed

# What may stand in a place, by its letter.
EXAMPLES = {
    "n": "5", "d": "2026-01-31", "c": "Abc", "l": "a, b", "k": "a", "v": "x", "t": "Risk",
    "r": " (missing as wildcard)",
}  # fmt: skip
TOLD_BY = {"tell", "step"}  # what tells how far a task is
NEVER_HERE = {"cli", "explore.py"}  # the app runs none of it
REFUSING = ("app/pages", "workflow/sessions")  # rooms whose refusals are said to people at the app


def texts() -> Iterator[str]:
    """Every text that is said, as it stands in the source."""
    yield from _given(SRC / "app", lambda name, _: name == "say")


def asked() -> Iterator[str]:
    """What the forms of the steps ask for, and the sentences that steps are listed with."""
    yield from CLAUSES.values()
    for kind in METHODS.values():
        yield from (*kind.sentences, *kind.clauses.values())
    for form in forms():
        yield form.about
        yield from (entry.about for entry in form.entries)


def progress() -> Iterator[str]:
    """What is told while a task runs, each text with a number and with a name in its places."""
    for row in CATALOGUE:
        yield row.words.format(intruder="Abc", target="Abc")
    for path in sorted(SRC.iterdir()):
        if path.is_dir() and path.name not in NEVER_HERE:
            yield from _given(path, lambda name, call: name in TOLD_BY and len(call.args) == 1)


def refused() -> Iterator[str]:
    """What the pages and their tasks refuse."""
    for room in REFUSING:
        yield from _given(SRC / room, lambda name, _: name.endswith("Error"))


def _given(room: Path, wanted: Callable[[str, ast.Call], bool]) -> Iterator[str]:
    """The literals that are given first to certain calls in the files of a room."""
    for path in sorted(room.rglob("*.py")):
        for node in nodes(parsed(path)):
            called = path.name not in NEVER_HERE and isinstance(node, ast.Call) and node.args
            if called and isinstance(node, ast.Call) and wanted(_name(node.func), node):
                yield from _literals(node.args[0])


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _literals(given: ast.expr) -> Iterator[str]:
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        yield given.value
    elif isinstance(given, ast.IfExp):
        yield from _literals(given.body)
        yield from _literals(given.orelse)
    elif isinstance(given, ast.JoinedStr):
        yield from map("".join, product(*(_part(one) for one in given.values)))


def _part(one: ast.expr) -> list[str]:
    """A part of a text with places: what may stand there."""
    inner = one.value if isinstance(one, ast.FormattedValue) else one
    return list(_literals(inner)) or ["{n}"]  # type: ignore[arg-type]


def filled(text: str, **examples: str) -> str:
    """The text with an example in every place."""
    return PLACE.sub(lambda place: {**EXAMPLES, **examples}[place[1]], text)


def untold(language: str, given: Iterable[str] | None = None) -> list[str]:
    """The texts that a language has no words for, each once; all of the above, unless some are given."""
    words = wording(language)
    every = [*texts(), *asked(), *progress(), *refused()] if given is None else given

    def known(text: str) -> bool:
        found: list[str] = []
        words.translate(text, (), found.append)
        return not found

    return [
        text for text in dict.fromkeys(every)
        if text and not known(filled(text)) and not known(filled(text, n="Abc"))
    ]  # fmt: skip
