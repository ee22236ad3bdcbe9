"""A text of our own in a language, for programs that talk before they compute: nothing but the words is loaded."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from sdckit.report.wording import Wording, read_wording

ENGLISH = "en"
FILE = re.compile(r"[a-z]{2}\.toml")


@cache
def languages() -> tuple[str, ...]:
    """The languages there are: English, and one file of words for each other."""
    found = (one.name for one in files("sdckit.report").joinpath("words").iterdir())
    return (ENGLISH, *sorted(name.removesuffix(".toml") for name in found if FILE.fullmatch(name)))


@cache
def wording(language: str) -> Wording:
    """The words of a language other than English, compiled once."""
    folder = files("sdckit.report").joinpath("words")
    return read_wording(language, folder.joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def say(text: str, language: str = ENGLISH, names: Collection[str] = ()) -> str:
    """A text of our own in a language; `names` in it are not translated.

    Examples
    --------
    >>> say("Contents"), say("Contents", "de")
    ('Contents', 'Inhalt')
    """
    return text if language == ENGLISH else wording(language).said(text, names)
