"""What a row of the catalogue says of a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["GUIDE", "Measure"]

Room = Literal["identity", "attribute", "attacks", "utility"]
Direction = Literal["high = risk", "high = good", "low = good", "neither"]
MissingRule = Literal["wildcard", "category"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What there is to know about a measure before it runs.

    Attributes
    ----------
    name : str
        The public function.
    question : str
        What it answers, in plain words.
    room : str
        The room its file stands in.
    needs : tuple of str
        Roles a scenario must declare for it.
    n_files : int
        Files it takes: one, or a release and its original.
    aligned : bool or None
        Whether row i of the release must have been made from row i of the original; None with one file.
    direction : str
        Whether a high figure means risk or quality, or a low one quality.
    range : str
        The values its main figure can take.
    missing : str
        What a missing key value means unless the caller says otherwise.
    source : str
        The paper or guide that defines it.
    """

    name: str
    question: str
    room: Room
    needs: tuple[str, ...]
    n_files: Literal[1, 2]
    aligned: bool | None
    direction: Direction
    range: str
    missing: MissingRule
    source: str


GUIDE = "Benschop, Machingauta & Welch, Statistical Disclosure Control: A Practice Guide"
