"""The texts that the app says, read from its source: every literal that is given to `say`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sdckit.report.saying import wording
from sdckit.report.wording import PLACE
from tree import SRC, parsed

# What may stand in a place, by its letter.
EXAMPLES = {
    "n": "5", "d": "2026-01-31", "c": "Abc", "l": "a, b", "k": "a", "v": "x", "t": "Risk",
    "r": " (missing as wildcard)",
}  # fmt: skip


def texts() -> Iterator[str]:
    """Every text, as it stands in the source."""
    for path in sorted((SRC / "app").rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and node.args and _name(node.func) == "say":
                yield from _literals(node.args[0])


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _literals(given: ast.expr) -> Iterator[str]:
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        yield given.value
    elif isinstance(given, ast.IfExp):
        yield from _literals(given.body)
        yield from _literals(given.orelse)


def filled(text: str) -> str:
    """The text with an example in every place."""
    return PLACE.sub(lambda place: EXAMPLES[place[1]], text)


def untold(language: str) -> list[str]:
    """The texts that a language has no words for, each once."""
    words = wording(language)
    missing: list[str] = []
    for text in dict.fromkeys(texts()):
        found: list[str] = []
        words.said(filled(text), (), found.append)
        if found and text:
            missing.append(text)
    return missing
