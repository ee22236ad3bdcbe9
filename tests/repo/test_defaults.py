"""`docs/defaults.md` states every default of the public surface and the numbers documents rest on, literally."""

from __future__ import annotations

import inspect
import re
from ast import literal_eval
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import sdckit
from sdckit.cli.app import command_tree
from tree import ROOT, SRC, none_offends

PAGE = (ROOT / "docs" / "defaults.md").read_text(encoding="utf-8")
OFF: tuple[Any, ...] = (None, "", ())


def off(value: Any) -> bool:
    """Whether a default means that nothing was asked for."""
    return value is False or any(value is one or (type(value) is type(one) and value == one) for one in OFF)


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def rows_of_functions() -> Iterator[str]:
    for name in sorted(sdckit.__all__):
        if inspect.isfunction(function := getattr(sdckit, name)):
            given = inspect.signature(function).parameters.values()
            said = [
                f"`{one.name}={one.default!r}`"
                for one in given
                if one.default is not one.empty and not off(one.default)
            ]
            if said:
                yield f"| `{name}` | {', '.join(said)} |"


def rows_of_commands() -> Iterator[str]:
    waiting: list[tuple[str, Any]] = [("sdckit", command_tree())]
    while waiting:
        name, command = waiting.pop()
        inner = getattr(command, "commands", None)
        if inner is not None:
            waiting += [(f"{name} {word}", one) for word, one in inner.items()]
            continue
        said = [
            f"`{max(one.opts, key=len)} {one.default}`"
            for one in command.params
            if not off(one.default) and one.default != [] and str(one.default)
        ]
        if said:
            yield f"| `{name}` | {', '.join(said)} |"


def rows(heading: str) -> list[str]:
    return [line for line in section(heading).splitlines() if line.startswith("| `")]


def test_the_defaults_of_functions_are_as_the_page_says() -> None:
    now = list(rows_of_functions())
    none_offends(set(now) ^ set(rows("Functions")), "a function's defaults stand on the page, and no others")
    assert rows("Functions") == now


def test_the_defaults_of_commands_are_as_the_page_says() -> None:
    now = sorted(rows_of_commands())
    none_offends(set(now) ^ set(rows("Commands")), "a command's defaults stand on the page, and no others")
    assert rows("Commands") == now


def test_the_numbers_of_documents_are_as_the_page_says() -> None:
    said = re.findall(r"^\| .* \| ([^|]+) \| `([\w/]+)\.py` `(\w+)` \|$", section("Documents"), flags=re.MULTILINE)
    assert len(said) >= 20
    none_offends(
        (
            f"{path}.py {name}: {number}"
            for number, path, name in said
            if getattr(import_module(f"sdckit.{path.replace('/', '.')}"), name) != literal_eval(number)
        ),
        "a number that documents rest on is that of the page",
    )
    none_offends((path for _, path, _ in said if not (SRC / f"{path}.py").is_file()), "a number stands in a file")


def test_what_is_off_is_told_from_what_is_zero() -> None:
    assert off(None)
    assert off(False)
    assert off(())
    assert not off(0)
    assert not off(0.0)
