"""The tables of the pages for those who come from another tool name calls and commands that exist."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdckit
from pages import FENCED
from sdckit.cli.app import command_tree
from tree import ROOT, none_offends

COMING = sorted((ROOT / "docs" / "coming-from").glob("*.md"))
CALL = re.compile(r"`(sdc\.[^`]+)`")
COMMAND = re.compile(r"`sdckit ([a-z-]+)(?: ([a-z-]+))?[^`]*`")


def prose(page: Path) -> str:
    """A page without its fenced blocks: those run in `test_pages.py`."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def members(kind: Any) -> set[str]:
    """What can be asked of something public: fields, properties, methods."""
    fields = {*getattr(kind, "__dataclass_fields__", ()), *getattr(kind, "model_fields", ())}
    return fields | set(dir(kind))


def named(annotation: object) -> list[Any]:
    """The public classes that an annotation names; nothing where it is another type."""
    written = getattr(annotation, "__forward_arg__", annotation)  # of a named tuple
    names = [name.strip() for name in str(written).split("|")]
    return [getattr(sdckit, name) for name in names if name in sdckit.__all__]


def attribute(owner: Any, name: str) -> list[Any]:
    """What an attribute may be: something public, a method, or nothing known."""
    if owner is sdckit:
        return [getattr(sdckit, name)]
    value = inspect.getattr_static(owner, name, None)
    if inspect.isfunction(value):
        return [value]
    if isinstance(value, property) and value.fget:
        return named(inspect.signature(value.fget).return_annotation)
    return [one for kind in owner.__mro__ for one in named(inspect.get_annotations(kind).get(name))]


def returned(called: Any) -> list[Any]:
    """The public classes that a call gives."""
    return [called] if inspect.isclass(called) else named(inspect.signature(called).return_annotation)


def resolved(node: ast.expr, wrong: list[str]) -> list[Any]:
    """The things that an expression may be, with what is wrong on the way added to the list."""
    if isinstance(node, ast.Name):
        return [sdckit] if node.id == "sdc" else []
    if isinstance(node, ast.Attribute):
        owners = resolved(node.value, wrong)
        known = [one for one in owners if node.attr in members(one)]
        if owners and not known:
            wrong.append(f"there is no {node.attr}")
        return [value for one in known for value in attribute(one, node.attr)]
    if isinstance(node, ast.Call):
        called = resolved(node.func, wrong)
        allowed = {name for one in called for name in inspect.signature(one).parameters}
        wrong += [f"no argument {word.arg}" for word in node.keywords if called and word.arg not in allowed]
        return [made for one in called for made in returned(one)]
    return []


def mistakes(call: str) -> list[str]:
    """What is wrong with a call as a table writes it, such as `sdc.k_anonymity(keys=...).violations`."""
    try:
        tree = ast.parse(call, mode="eval")
    except SyntaxError:
        return [f"{call}: is no expression"]
    wrong: list[str] = []
    resolved(tree.body, wrong)
    return [f"{call}: {one}" for one in wrong]


def unknown_commands(page: Path) -> Iterator[str]:
    """Commands that a page names and the command line does not have."""
    commands = command_tree().commands
    for match in COMMAND.finditer(prose(page)):
        group = getattr(commands.get(match[1]), "commands", None)
        if match[1] not in commands or (group is not None and match[2] not in group):
            yield f"{page.relative_to(ROOT)}: {match[0]}"


def cited(page: Path) -> set[str]:
    """The numbers of the differences that a page refers to: in sentences, and in the last column of their table."""
    text = prose(page)
    rows = re.search(r"^\| what \| difference \|\n.*\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    cells = [row.strip("| ").rpartition("|")[2] for row in rows[1].splitlines()] if rows else []
    return set(re.findall(r"difference (\d+)", text)) | set(re.findall(r"\d+", " ".join(cells)))


def test_the_differences_that_pages_cite_are_listed() -> None:
    validation = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(\d+)\. ", validation, flags=re.MULTILINE))
    assert all(cited(page) for page in COMING)
    none_offends(
        (f"{page.relative_to(ROOT)}: {one}" for page in COMING for one in sorted(cited(page) - listed)),
        "a difference has its number in docs/validation.md",
    )


def test_calls_exist_with_their_arguments() -> None:
    calls = [(page, call) for page in COMING for call in CALL.findall(prose(page))]
    assert len(calls) > 100
    none_offends(
        (f"{page.relative_to(ROOT)}: {one}" for page, call in calls for one in mistakes(call)),
        "a call that a table names exists, with that argument",
    )


def test_commands_exist() -> None:
    """Their options are looked at in `test_pages.py`."""
    assert sum(len(COMMAND.findall(prose(page))) for page in COMING) > 10
    none_offends((one for page in COMING for one in unknown_commands(page)), "a command exists")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("sdc.k_anonymty(k=3)", "there is no k_anonymty"),
        ("sdc.k_anonymity(kk=3)", "no argument kk"),
        ("sdc.k_anonymity(k=3).violation", "there is no violation"),
        ("sdc.pram(columns=...).change.chnged", "there is no chnged"),
        ("sdc.assess(keys=...).report(inner=True)", "no argument inner"),
        ("sdc.Scenario(key=...)", "no argument key"),
        ("sdc.k_anonymity(k=", "is no expression"),
    ],
)
def test_a_table_that_rots_is_seen(call: str, said: str) -> None:
    assert [one.removeprefix(f"{call}: ") for one in mistakes(call)] == [said]
