"""The public names: listed once, documented with an example, nothing positional but the data."""

from __future__ import annotations

import ast
import inspect

import pytest

import sdckit
from tree import SRC, none_offends

# The first positional arguments are the data; see the design, section 3.
DATA = {"data", "original", "released", "population", "path", "estimates", "variances", "confidential", "recipe"}
HOMES = {
    alias.name: node.module
    for node in ast.parse((SRC / "__init__.pyi").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
# The classes a user constructs; all others come out of a function.
MADE_BY_HAND = ["Recipe", "Scenario"]
CALLABLES = sorted(sdckit.__all__)
FUNCTIONS = [name for name in CALLABLES if inspect.isfunction(getattr(sdckit, name))]
EXCEPTIONS = [
    name
    for name in CALLABLES
    if inspect.isclass(value := getattr(sdckit, name)) and issubclass(value, Exception | Warning)
]


def test_the_list_is_the_stub_and_everything_is_there() -> None:
    assert sorted(sdckit.__all__) == sorted(HOMES)
    assert set(dir(sdckit)) >= set(HOMES)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="attribute k_anonymty"):
        _ = sdckit.k_anonymty


def test_a_public_name_lives_where_it_says() -> None:
    none_offends(
        (name for name in CALLABLES if getattr(sdckit, name).__module__ != f"sdckit.{HOMES[name]}"),
        "a public name lives where the stub says",
    )


def positional(name: str) -> list[str]:
    """The arguments of a function that are neither its data nor keyword-only."""
    return [
        f"{name}({one})"
        for one in inspect.signature(getattr(sdckit, name)).parameters.values()
        if one.kind in {one.VAR_POSITIONAL, one.VAR_KEYWORD}
        or (one.kind is not one.KEYWORD_ONLY and one.name not in DATA)
    ]


def test_everything_after_the_data_is_keyword_only() -> None:
    none_offends((one for name in FUNCTIONS for one in positional(name)), "everything after the data is keyword-only")


def bare(name: str) -> bool:
    signature = inspect.signature(getattr(sdckit, name))
    return signature.return_annotation is signature.empty or any(
        one.annotation is one.empty for one in signature.parameters.values()
    )


def test_a_public_function_is_annotated() -> None:
    none_offends(filter(bare, FUNCTIONS), "a public function is annotated")


def words_of(name: str) -> str:
    return inspect.getdoc(getattr(sdckit, name)) or ""


def test_a_public_name_has_a_docstring_with_an_example() -> None:
    named = [*FUNCTIONS, *MADE_BY_HAND]
    none_offends(
        (name for name in named if "Examples\n--------\n>>> " not in words_of(name)),
        "a public name has a doctest under Examples",
    )


def test_a_result_says_what_its_figures_are() -> None:
    """The example stands with the function that makes it."""
    results = set(CALLABLES) - set(FUNCTIONS) - set(EXCEPTIONS) - set(MADE_BY_HAND)
    assert len(results) > 50
    none_offends(
        (name for name in sorted(results) if "Attributes\n----------\n" not in words_of(name)),
        "a result says what its figures are",
    )


def test_an_error_says_when_it_is_raised() -> None:
    assert EXCEPTIONS
    none_offends((name for name in EXCEPTIONS if not words_of(name)), "an error says when it is raised")
