"""An argument of a public function is shown in a page or an example, or the source uses it.

Those that are not stand in `unused_options.txt`: none may join them, and one that is shown goes off the list.

    PYTHONPATH=src:tests python tests/repo/test_options.py

writes the list anew.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import sdckit
from pages import PAGES, arguments, named_commands, parts
from tree import ROOT, nodes, none_offends, parsed, sources

LIST = Path(__file__).with_name("unused_options.txt")
MOST = 150  # arguments on the list when it was last shortened: lower it, never raise it
FUNCTIONS = {
    name: tuple(inspect.signature(function).parameters.values())
    for name in sorted(sdckit.__all__)
    if inspect.isfunction(function := getattr(sdckit, name)) and function.__name__ == name
}
ALIASES = {"cap": "correct_attribution_probability"}
Option = tuple[str, str]


def options() -> set[Option]:
    """Every argument that is given by its name, with its function."""
    return {
        (function, parameter.name)
        for function, parameters in FUNCTIONS.items()
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def used(tree: ast.AST) -> Iterator[Option]:
    """The arguments that calls of public functions give, and steps of recipes that stand there as tables."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and (name := called(node.func)) in FUNCTIONS:
            yield from ((name, keyword.arg) for keyword in node.keywords if keyword.arg)
        elif isinstance(node, ast.Dict):
            yield from of_step({
                key.value: value.value if isinstance(value, ast.Constant) else None
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            })  # fmt: skip


def called(function: ast.expr) -> str:
    """The public name of what is called, as it is or as an attribute of the package."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return ALIASES.get(name, name)


def of_step(step: dict[Any, Any]) -> Iterator[Option]:
    """The arguments of a step of a recipe."""
    method = step.get("method")
    if isinstance(method, str) and method in FUNCTIONS:
        yield from ((method, str(name)) for name in step if name != "method")


def of_examples(text: str) -> Iterator[Option]:
    for example in doctest.DocTestParser().get_examples(text):
        yield from used(ast.parse(example.source))


def of_page(page: Path) -> Iterator[Option]:
    """What the examples, programs, recipes and commands of a page use."""
    for part in parts(page):
        if part.kind == "example":
            yield from of_examples(part.text)
        elif part.kind == "program":
            yield from used(ast.parse(part.text))
        elif part.kind == "table":
            for step in tomllib.loads(part.text).get("steps", []):
                yield from of_step(step)
    for command in named_commands(page):
        yield from of_command(arguments(command))


def of_command(words: list[str]) -> Iterator[Option]:
    """What the command of a measure gives to it; its options are called as the arguments are."""
    measure = words[0].replace("-", "_") if words else ""
    if measure in FUNCTIONS:
        given = (word[2:].partition("=")[0].replace("-", "_") for word in words if word.startswith("--"))
        yield from ((measure, name) for name in given)


def of_notebook(path: Path) -> Iterator[Option]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield from used(ast.parse("".join(cell["source"])))


def of_source(path: Path) -> Iterator[Option]:
    """What a file of the package calls, and what the examples in its docstrings call."""
    yield from used(parsed(path))
    for node in nodes(parsed(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield from of_examples(ast.get_docstring(node) or "")


@cache
def unused() -> frozenset[Option]:
    shown: set[Option] = set()
    for page in PAGES:
        shown.update(of_page(page))
    for notebook in (ROOT / "docs").glob("*.ipynb"):
        shown.update(of_notebook(notebook))
    for path in sources():
        shown.update(of_source(path))
    return frozenset(options() - shown)


def listed() -> set[Option]:
    lines = (line.split() for line in LIST.read_text(encoding="utf-8").splitlines())
    return {(function.rstrip(":"), name) for function, *names in lines for name in names}


def test_a_new_argument_is_shown() -> None:
    none_offends(
        (f"{function}({name}=)" for function, name in sorted(unused() - listed())),
        "an argument of a public function is given in a page, an example or a call of the source",
    )


def test_what_is_shown_is_off_the_list() -> None:
    none_offends(
        (f"{function}({name}=)" for function, name in sorted(listed() - unused())),
        f"what {LIST.name} lists is shown nowhere (see the head of this file)",
    )


def test_the_list_gets_no_longer() -> None:
    assert len(listed()) <= MOST


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sdc.suda(survey, keys=['a'], max_size=3)", {("suda", "keys"), ("suda", "max_size")}),
        ("suda(**given)", set()),
        ("other(max_size=3)", set()),
        ("x = [{'method': 'pram', 'pd': 0.8}]", {("pram", "pd")}),
        ("x = {'name': 'pram', 'pd': 0.8}", set()),
    ],
)
def test_what_is_a_use(text: str, shown: set[Option]) -> None:
    assert set(used(ast.parse(text))) == shown


def test_a_command_shows_what_it_gives() -> None:
    assert set(of_command(["risky-cells", "FILE", "--max-dim", "2"])) == {("risky_cells", "max_dim")}
    assert not set(of_command(["report", "--k", "2"]))


def write() -> None:
    """Write the list."""
    by_function = groupby(sorted(unused()), key=lambda option: option[0])
    lines = [f"{function}: {' '.join(name for _, name in names)}\n" for function, names in by_function]
    LIST.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write()
