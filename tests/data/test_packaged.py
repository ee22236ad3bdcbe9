"""Tables beside the code become rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from sdckit.data.packaged import packaged, rows
from tree import SRC


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
