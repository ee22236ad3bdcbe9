"""Not built yet."""

from __future__ import annotations

from shiny import Inputs, Outputs, Session, module
from shiny.ui import TagChild, tags

from sdckit.app.room import Room
from sdckit.app.words import Say

__all__ = ["panel", "serve"]


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return tags.p(say("This page is not there yet."))


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:
    """What its buttons do."""
