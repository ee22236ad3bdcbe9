"""Parts that several pages have: a field for a file, a page that has nothing yet, a box that can be closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shiny import ui
from shiny.ui import Tag, tags

from sdckit.app.words import Say


def file_field(say: Say, name: str, label: str, *, accept: Sequence[str] | None = None, **more: Any) -> Tag:
    """A field that takes a file; `label` is in the session's language."""
    every = None if accept is None else list(accept)
    words = say("Browse…"), say("No file chosen")
    return ui.input_file(name, label, accept=every, button_label=words[0], placeholder=words[1], **more)


def nothing_yet(say: Say, text: str, words: str, page: str) -> Tag:
    """What stands on a page before there is anything to show: why, and a button to the page that changes it."""
    go = tags.button(say(words), type="button", class_="btn btn-primary", data_go=page)
    return tags.div(tags.p(say(text)), go, class_="empty")


def box(say: Say, name: str, role: str, look: str) -> Tag:
    """A hidden box for a text of the status, with a button that closes it."""
    close = tags.button(say("Close"), type="button", class_=f"btn btn-sm btn-outline-{look}", data_close=name)
    return tags.div(tags.p(id=f"{name}_text", role=role), close, id=name, hidden="")
