"""What was done to a column of the original before a release is held against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Source: TypeAlias = Literal["recipe", "log", "recognised"]


@dataclass(frozen=True)
class Recoded:
    """A column of the original that was recoded as the release is.

    `kind` says in words what was done, without a value; `source` how that is known: by the recipe given, by its log,
    or recognised from the two files.
    """

    column: str
    kind: str
    source: Source
