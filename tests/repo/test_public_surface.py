"""The public names: listed once, documented with an example, nothing positional but the data."""

from __future__ import annotations

import ast
import inspect

import pytest

import sdckit
from tree import SRC

# The first positional arguments are the data; see the design, section 3.
DATA = {
    "data",
    "original",
    "released",
    "population",
    "path",
    "estimates",
    "variances",
    "confidential",
    "recipe",
}
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


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_name_lives_where_it_says(name: str) -> None:
    assert getattr(sdckit, name).__module__ == f"sdckit.{HOMES[name]}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_everything_after_the_data_is_keyword_only(name: str) -> None:
    for parameter in inspect.signature(getattr(sdckit, name)).parameters.values():
        assert parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}, parameter
        if parameter.kind is not parameter.KEYWORD_ONLY:
            assert parameter.name in DATA, parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_is_annotated(name: str) -> None:
    signature = inspect.signature(getattr(sdckit, name))
    assert signature.return_annotation is not signature.empty
    assert all(p.annotation is not p.empty for p in signature.parameters.values())


@pytest.mark.parametrize("name", [*FUNCTIONS, *MADE_BY_HAND])
def test_a_public_name_has_a_docstring_with_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(sdckit, name)) or ""
    assert "Examples\n--------\n>>> " in text, f"{name} has no doctest under Examples"


@pytest.mark.parametrize(
    "name", sorted(set(CALLABLES) - set(FUNCTIONS) - set(EXCEPTIONS) - set(MADE_BY_HAND))
)
def test_a_result_says_what_its_figures_are(name: str) -> None:
    """The example stands with the function that makes it."""
    assert "Attributes\n----------\n" in (inspect.getdoc(getattr(sdckit, name)) or "")


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_an_error_says_when_it_is_raised(name: str) -> None:
    assert getattr(sdckit, name).__doc__
