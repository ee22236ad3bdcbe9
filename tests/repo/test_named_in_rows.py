"""A limit is named in its row alone, a protection method in its row and its own file; everybody else asks the row.

What a sentence names counts, too, and a limit that is read as an attribute.

A string is looked at wherever it stands in the source, docstrings apart. What has the same name and is another thing
is told apart by where it stands: the figure of a measure by the room of that measure, a row of the catalogue by the
call that makes it, a step by the table it is written in.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

import sdckit
from sdckit.catalogue import CATALOGUE
from sdckit.data.limits import LIMITS, LimitKind
from sdckit.data.methods import METHODS
from tree import SRC, nodes, none_offends, parsed, sources

# Where a limit's name is that of a figure or a measure outside the measure's own files.
FIGURES = {
    "cells/table.py": "household_risk is a column of the cells, which says in what order columns are listed",
    "protect/synthesis/replace_high_risk.py": "match_risk is a column of the records of matching_risk",
    "report/chapters/ledger_page.py": "the page shows one measure, differencing, by its view",
    "report/chapters/recipe_chapter.py": "replicated_uniques is a measure there, and the figure of another",
}
# Where a method's name is no step and no question that the row answers.
CHOICES = {"workflow/proposing/propose.py": "the methods that the argument `allow` takes"}
# Where a method is named in a sentence; what else is advised stands in the table [advice] of methods.toml.
SENTENCES = {
    "cli/commands/protect.py": "the help of an option for the keys of one method",
    "cli/commands/recipe.py": "the help of an option on what is left to the last step",
    "protect/synthesis/synthesis_variables.py": "a message of a method about another of its room",
    "workflow/recipes/number_steps.py": "what else could be done than the steps it writes",
    "workflow/recipes/recipe.py": "an example of how an argument is written",
    "workflow/recipes/starter_recipe.py": "comments on the steps it writes",
}
# Where a limit is read by its name; others ask whether one is in force that reads their measure (`limit_on`).
READ = {
    "workflow/proposing/ladders.py": "what the search for a recipe aims at is reckoned from cells",
    "workflow/proposing/propose.py": "the same",
    "workflow/proposing/trials.py": "the same",
    "workflow/recipes/number_steps.py": "the steps are for what exceeds this limit",
    "workflow/recipes/starter_recipe.py": "the steps are for what exceeds these limits",
}
STEPS = ("Change", "StepLike")  # what is made of a method's name first
RESULTS = ("identity", "attribute", "attacks", "utility", "report/views")


def strings(path: Path) -> Iterator[tuple[ast.Constant, ast.AST]]:
    """The strings of a file that are values, each with the expression it stands in."""
    for around in nodes(parsed(path)):
        if isinstance(around, ast.Expr | ast.Name | ast.Constant | ast.expr_context):  # a docstring, or nothing below
            continue
        for node in ast.iter_child_nodes(around):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node, around


def constants(path: Path) -> Iterator[ast.Constant]:
    """The constants of a file: to see whether it is worth while to look at what they stand in."""
    return (node for node in nodes(parsed(path)) if isinstance(node, ast.Constant))


@cache
def rows_named() -> list[tuple[Path, ast.Constant, ast.AST]]:
    """Where the source has the name of a limit or a method as a string."""
    names = {*LIMITS, *METHODS}
    has_one = [path for path in sources() if any(node.value in names for node in constants(path))]
    return [(path, *found) for path in has_one for found in strings(path) if found[0].value in names]


def place(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


def named(names: Collection[str]) -> Iterator[tuple[Path, ast.Constant, ast.AST]]:
    """Where a file has one of these names; the rows themselves are no code."""
    return ((path, *at) for path, *at in rows_named() if at[0].value in names)


def function_file(measure: str) -> str:
    """The file of a measure, or of the attacks their room."""
    if measure == "attacks":
        return "attacks/"
    return inspect.getmodule(getattr(sdckit, measure)).__name__.removeprefix("sdckit.").replace(".", "/") + ".py"


def of_the_measure(kind: LimitKind, path: Path) -> bool:
    """Whether a file is about the measure that a limit reads: in its folder, or the view of a measure that is."""
    home = function_file(kind.measure)
    folder = home.rpartition("/")[0] + "/" if home.count("/") > 1 else home
    if path.parent.name == "views":
        measures = {row.name for row in CATALOGUE}
        return path.stem in measures and function_file(path.stem).startswith(folder)
    return place(path).startswith(folder)


def call_of(node: ast.AST) -> str:
    """The name of what an expression calls."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def names_a_row(node: ast.Constant, around: ast.AST, path: Path) -> bool:
    """Whether a string is the name of a measure in its row of the catalogue."""
    return (
        path.parent.name == "catalogue" and isinstance(around, ast.Subscript) and ast.unparse(around.value) == "ROWS"
        and node.value in {row.name for row in CATALOGUE}
    )  # fmt: skip


def spoken() -> set[str]:
    """The limits whose names are arguments of public functions, too, or a letter: k, risk and l."""
    functions = [function for name in sdckit.__all__ if inspect.isfunction(function := getattr(sdckit, name))]
    arguments = {name for function in functions for name in inspect.signature(function).parameters}
    return {name for name in LIMITS if name in arguments or len(name) == 1}


def limits_beside() -> Iterator[tuple[str, ast.Constant]]:
    """Where a limit is named beside its row, with the file; a verdict without a limit has the name of other things."""
    measured = {name for name, kind in LIMITS.items() if kind.measure}
    for path, node, around in named(measured - spoken()):
        if not of_the_measure(LIMITS[node.value], path) and not names_a_row(node, around, path):
            yield place(path), node


def test_few_limits_share_their_name_with_an_argument() -> None:
    assert spoken() == {"k", "risk", "l"}


def test_no_limit_is_named_beside_its_row() -> None:
    none_offends(
        (f"{file}:{node.lineno}: {node.value}" for file, node in limits_beside() if file not in FIGURES),
        "a limit is named in its row alone: ask LIMITS for what you would ask of it",
    )


def test_a_verdict_has_no_name_written_out() -> None:
    """Neither is one made for a limit by name, nor asked whether it is of one; also not of k, risk and l."""
    none_offends(
        (
            f"{place(path)}:{node.lineno}: {node.value}"
            for path, node, around in named(LIMITS)
            if (call_of(around) == "Verdict" or is_name_compared(around))
        ),
        "a verdict is known by its row",
    )


def is_name_compared(around: ast.AST) -> bool:
    """Whether ``verdict.name`` or the like is compared there."""
    return (
        isinstance(around, ast.Compare) and isinstance(around.left, ast.Attribute) and around.left.attr == "name"
    )  # fmt: skip


def is_step(node: ast.Constant, around: ast.AST) -> bool:
    """Whether a string is the method of a step written there: ``{"method": ...}`` or the name of a change."""
    if isinstance(around, ast.Dict):
        return any(
            isinstance(key, ast.Constant) and key.value == "method" and value is node
            for key, value in zip(around.keys, around.values, strict=True)
        )
    return isinstance(around, ast.Call) and call_of(around) in STEPS and around.args[:1] == [node]


def methods_beside() -> Iterator[tuple[str, ast.Constant]]:
    """Where a method is named beside its row, its file and the steps of what writes recipes."""
    for path, node, around in named(METHODS):
        in_its_file = path.is_relative_to(SRC / "protect") and path.stem == node.value
        writes = not path.is_relative_to(SRC / "protect") and is_step(node, around)
        if not in_its_file and not writes:
            yield place(path), node


def test_no_method_is_named_beside_its_row() -> None:
    none_offends(
        (f"{file}:{node.lineno}: {node.value}" for file, node in methods_beside() if file not in CHOICES),
        "a protection method is named in its row, in its file and in steps: ask kind_of for anything else",
    )


NAMES = "|".join(METHODS)
IN_WORDS = re.compile(rf"\b(?=\w*_)(?:{NAMES})\b|\((?:{NAMES})\b")  # with an underscore, or in brackets


def methods_in_sentences() -> Iterator[tuple[str, ast.Constant]]:
    """Where a method is named among other words, beside its own file."""
    for path in sources():
        if any(isinstance(node.value, str) and IN_WORDS.search(node.value) for node in constants(path)):
            for node, _ in strings(path):
                if node.value not in METHODS and {*IN_WORDS.findall(node.value)} - {path.stem}:
                    yield place(path), node


def test_no_method_is_named_in_a_sentence_beside_its_row() -> None:
    none_offends(
        (f"{file}:{node.lineno}: {node.value}" for file, node in methods_in_sentences() if file not in SENTENCES),
        "what a method helps against, and how that is said, stands in methods.toml: ask ADVICE",
    )


def holder(node: ast.AST) -> str:
    """What an attribute is taken of: the last name, also of a call."""
    if isinstance(node, ast.Call):
        return holder(node.func)
    return getattr(node, "attr", getattr(node, "id", ""))


def limits_read() -> Iterator[tuple[str, ast.Attribute]]:
    """Where a limit is read by its name as an attribute of limits."""
    names = LIMITS.keys() - spoken()
    for path in sources():
        for node in nodes(parsed(path)):
            named_so = isinstance(node, ast.Attribute) and node.attr in names
            if named_so and holder(node.value) in ("limits", "limits_of", "thresholds"):
                yield place(path), node


def test_no_limit_is_read_by_name_beside_its_row() -> None:
    none_offends(
        (f"{file}:{node.lineno}: {node.attr}" for file, node in limits_read() if file not in READ),
        "whether a limit is in force is asked by its measure: limit_on",
    )


def test_what_is_excepted_is_still_there() -> None:
    found = {file for file, _ in (*limits_beside(), *methods_beside())}
    none_offends(sorted({*FIGURES, *CHOICES} - found), "an exception names a file that has the name")
    none_offends(sorted({*SENTENCES} - {file for file, _ in methods_in_sentences()}), "so does one for sentences")
    none_offends(sorted({*READ} - {file for file, _ in limits_read()}), "and one for limits that are read")


@pytest.mark.parametrize(
    ("text", "names"),
    [("new ids (new_ids)", True), ("take it off by drop_identifiers", True), ("pram", False), ("(pram)", True)],
)
def test_what_a_sentence_names(text: str, names: bool) -> None:
    assert bool(IN_WORDS.search(text)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('x = {"method": "pram", "columns": []}', []),
        ('x = {"column": "pram"}', ["pram"]),
        ('if step.method == "pram": pass', ["pram"]),
        ('x = StepLike("pram", {})', []),
        ('x = StepLike(1, "pram")', ["pram"]),
        ('"""pram"""', []),
    ],
)
def test_what_writes_a_step(text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(text, encoding="utf-8")
    found = [
        node.value
        for node, around in strings(tmp_path / "file.py")
        if node.value in METHODS and not is_step(node, around)
    ]
    assert found == names
