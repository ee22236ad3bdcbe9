"""A printed number that knows what it is a number of, so that a document can be read for contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sdckit.report.gate.figures import Quantity

Leaf = Mapping[str, Any]


@dataclass(frozen=True)
class Identity:
    """What is printed: how it follows from quantities, and from which."""

    how: str
    of: tuple[Quantity, ...]


class Printed(str):
    """The text of a figure, and what it is a figure of; `span` is how many true numbers the text allows.

    Examples
    --------
    >>> uniques = Identity("count", (Quantity("records alone", "original"),))
    >>> Printed("<5", uniques, 4.0), Printed("<5", uniques, 4.0).identity.of[0].base
    ('<5', 'original')
    """

    __slots__ = ("identity", "span")
    identity: Identity
    span: float

    def __new__(cls, text: str, identity: Identity, span: float = 0.0) -> Printed:
        """A text with its identity."""
        found = super().__new__(cls, text)
        found.identity, found.span = identity, span
        return found

    def __getnewargs__(self) -> tuple[str, Identity, float]:  # type: ignore[override]
        """For copies."""
        return str(self), self.identity, self.span


def leaves(tree: Any) -> Iterator[Leaf]:
    """Every printed figure of a protected tree."""
    if isinstance(tree, Mapping):
        if isinstance(tree.get("text"), Printed):
            yield tree
        for one in tree.values():
            yield from leaves(one)
    elif isinstance(tree, list | tuple):
        for one in tree:
            yield from leaves(one)
