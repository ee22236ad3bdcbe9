"""Tables of the package that lie beside its code as TOML."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

PACKAGE = Path(__file__).resolve().parents[1]
Row = TypeVar("Row")


def packaged(path: str) -> dict[str, Any]:
    """A TOML file of the package.

    >>> list(packaged("data/methods.toml"))
    ['clauses', 'advice', 'methods']
    """
    return tomllib.loads((PACKAGE / path).read_text(encoding="utf-8"))


def sentences(path: str) -> dict[str, str]:
    """The sentences of a TOML file of the package, by what they are of; places in them are in braces.

    >>> sentences("workflow/left_open.toml")["homes_unknown"]
    'whether a release without the household column tells who lives together was not looked at: {}'
    """
    return packaged(path)


def rows(kind: Callable[..., Row], entries: dict[str, dict[str, Any]]) -> Iterator[Row]:
    """Each entry of a table of tables as a row of this kind; the key is its name, and a list a tuple."""
    for name, entry in entries.items():
        yield kind(name=name, **{key: _plain(value) for key, value in entry.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return tuple(value) if isinstance(value, list) else value
