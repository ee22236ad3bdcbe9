"""Terms with their meaning beside them, from the glossary of the documents."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from shiny.ui import Tag, TagChild, tags

from sdckit.app.words import Say


@cache
def _meanings() -> dict[str, str]:
    text = files("sdckit.report").joinpath("words", "glossary.toml").read_text(encoding="utf-8")
    return {one["name"]: one["means"] for one in tomllib.loads(text)["term"]}


def term(name: str, say: Say, *, text: TagChild = None) -> Tag:
    """A term of the glossary that tells its meaning under the pointer and at the focus.

    Parameters
    ----------
    name
        As the glossary has it; a `KeyError` says that it has not.
    say
        Of the session.
    text
        What is printed instead of the name.
    """
    return tags.button(
        say(name) if text is None else text,
        tags.span(say(_meanings()[name]), class_="means", role="tooltip"),
        type="button", class_="term",
    )  # fmt: skip


def meanings(names: Sequence[str], say: Say) -> Tag:
    """A line of terms that a page uses, each with its meaning."""
    each = [one for name in names for one in (" ", term(name, say), ",")][:-1]
    return tags.p(say("What the words mean:"), *each, class_="quiet")
