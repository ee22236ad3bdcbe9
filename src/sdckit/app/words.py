"""The texts of the app in the session's language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdckit.report.wording import SOFT_HYPHEN, say as say_in

Say = Callable[..., str]


def say(text: str, language: str, **words: Any) -> str:
    """A text with its places filled, in a language.

    The places are those of the language files (see `report/wording.py`): {n} for a number, {c} for a name.

    >>> say("{n} against {n2}", "de", n="1,200", n2="3.5")
    '1.200 gegenüber 3,5'
    """
    return say_in(text.format(**words) if words else text, language).replace(SOFT_HYPHEN, "")


def speaker(language: str) -> Say:
    """`say` in one language."""
    return lambda text, **words: say(text, language, **words)
