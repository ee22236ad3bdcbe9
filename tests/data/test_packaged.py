"""Tables beside the code become rows."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sdckit.data.packaged import packaged, rows, sentences
from tree import SRC, nodes, none_offends, parsed, sources

TABLES = 3  # of sentences, at least: else they are read in another way, which is not looked at here


@dataclass(frozen=True)
class Kind:
    name: str
    words: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)


def test_an_entry_is_a_row_named_by_its_key() -> None:
    entries = {"one": {"words": ["a", "b"]}, "two": {"more": {"how": ["odd"], "share": 0.5}}}
    assert list(rows(Kind, entries)) == [Kind("one", ("a", "b")), Kind("two", more={"how": ("odd",), "share": 0.5})]


def test_an_unknown_entry_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        list(rows(Kind, {"one": {"colour": "red"}}))


@pytest.mark.parametrize("path", sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.toml")))
def test_a_table_of_the_package_is_read(path: str) -> None:
    assert packaged(path)


def tables() -> list[tuple[Path, str, str]]:
    """The tables of sentences: the file of the source that reads one, what it calls it, and where it lies."""
    return [
        (path, node.targets[0].id, str(node.value.args[0].value))
        for path in sources()
        if "= sentences(" in path.read_text(encoding="utf-8")
        for node in parsed(path).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "sentences"
        and isinstance(node.value.args[0], ast.Constant)
    ]


def is_asked_for_whole(file: Path, name: str, path: str) -> bool:
    """Whether all that is asked for of a table is there, and all that is there is named where it is asked for."""
    importing = re.compile(rf"from [\w.]+\b{file.stem} import [^\n]*\b{name}\b")
    asking = [file, *(other for other in sources() if importing.search(other.read_text(encoding="utf-8")))]
    every = [node for one in asking for node in nodes(parsed(one))]
    asked = {
        node.slice.value
        for node in every
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == name
        if isinstance(node.slice, ast.Constant)
    }
    strings = {node.value for node in every if isinstance(node, ast.Constant)}
    return asked <= sentences(path).keys() <= strings


def test_sentences_are_asked_for_by_names_that_there_are_and_none_is_left() -> None:
    """A sentence that is not there would be missed only where it is said."""
    every = tables()
    assert len(every) > TABLES
    none_offends(
        (path for file, name, path in every if not is_asked_for_whole(file, name, path)), "a table is asked for whole"
    )
