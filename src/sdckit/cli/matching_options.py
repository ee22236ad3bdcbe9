"""The options that say how rows of a release are matched back: the scenario's table ``[matching]`` as typed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from sdckit.cli.options import Texts, split, split_named
from sdckit.errors import ScenarioError

MATCH = partial(typer.Option, rich_help_panel="How rows are matched back")
WIDTH = "--match-width"
NO_RELEASE = "--match-… and --high-risk are for a release beside its original; give --released FILE"


@dataclass(frozen=True, kw_only=True)
class MatchingOptions:
    """How somebody looks for the row made from a person whose values they know, as typed."""

    match_width: Annotated[
        Texts,
        MATCH(
            WIDTH,
            metavar="X|A=X",
            help="How far a number may be off, as a share of it: 0.1 for every changed one, income=0.1 for one.",
        ),
    ] = None
    match_absolute: Annotated[
        Texts, MATCH("--match-absolute", metavar="A,B", help="Keys whose width is in their own unit.")
    ] = None
    match_known: Annotated[
        Texts, MATCH("--match-known", metavar="A,B", help="Keys left as they were; otherwise found out.")
    ] = None
    match_synthetic: Annotated[
        Texts, MATCH("--match-synthetic", metavar="A,B", help="Keys that were replaced; otherwise found out.")
    ] = None
    match_tol: Annotated[
        float | None, MATCH("--match-tol", metavar="T", help="Slack for rounding errors: 1e-9.")
    ] = None
    high_risk: Annotated[
        float | None,
        MATCH("--high-risk", metavar="R", help="Match risk above which records are counted: 0.5."),
    ] = None

    @property
    def entries(self) -> dict[str, Any]:
        """What was typed, as entries of the table."""
        found: dict[str, Any] = {
            "width": _width(self.match_width), "known": split(self.match_known),
            "synthetic": split(self.match_synthetic), "tol": self.match_tol, "high_risk": self.high_risk,
            "relative": dict.fromkeys(split(self.match_absolute), False),
        }  # fmt: skip
        return {name: value for name, value in found.items() if value not in (None, [], {})}

    def check(self, *, has_release: bool) -> None:
        """Refuse what means nothing without a release."""
        if self.entries and not has_release:
            raise ScenarioError(NO_RELEASE)


def _width(texts: list[str] | None) -> float | dict[str, float] | None:
    parts = split(texts)
    if not parts:
        return None
    if len(parts) == 1 and "=" not in parts[0]:
        return _number(parts[0])
    if any("=" not in part for part in parts):
        raise ScenarioError(
            f"{WIDTH} takes one number for all, or key=number for each: {WIDTH} income=0.1,age=2"
        )
    return {name: _number(value) for name, value in split_named(parts, option=WIDTH).items()}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(f"{WIDTH} takes numbers, such as {WIDTH} 0.1 or {WIDTH} income=0.1") from None
