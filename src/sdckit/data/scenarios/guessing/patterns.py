"""Direct identifiers recognised by how the texts are written; tested on a sample, never shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_ENOUGH = 0.8  # share of the texts that must be written so
_WORDS_OF_TEXT = 5  # words of a free text, on average
_LONG_TEXT = 30  # its letters, on average

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an e-mail address", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("a web address", re.compile(r"(?:https?://|www\.)\S+")),
    ("an internet address", re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){3,7}")),
    ("a universal id", re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
    ("a bank account number", re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?")),
    ("a social security number", re.compile(
        r"\d{3}-\d{2}-\d{4}|756\.\d{4}\.\d{4}\.\d{2}|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|\d{6}[-+]\d{4}"
        r"|[XYZ]?\d{7,8}-?[A-HJ-NP-TV-Z]|[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3}(?: ?\d{2})?"
        r"|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{4} ?[0-3]\d[01]\d\d{2}|[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
        r"|\d{2}[01]\d[0-3]\d[A-Z]\d{3}")),
    ("a phone number", re.compile(
            r"(?:\+|00)\d[\d ()/.-]{6,18}|\(?0\d{1,4}\)?[ /.-]\d[\d ./-]{4,14}|\d{3}[-. ]\d{3}[-. ]\d{4}"
            r"|\(\d{3}\) ?\d{3}[-. ]\d{4}")),
    ("a street address", re.compile(
            r"(?:\d+[A-Za-z]?,? )?[^\d,]{3,40}(?:st|street|str|strasse|straße|gasse|weg|platz|road|rd|avenue|ave|"
            r"lane|rue|calle|via|drive|dr)\.?,? ?\d*[A-Za-z]?(?:,.*)?|"
            r"(?:rue|calle|via|avenida|av\.|ulica|ul\.)\s.{3,40}\d+.*", re.IGNORECASE)),
)  # fmt: skip
_NAME = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau)\.? )?[^\W\d_][\w'’.-]+(?:, | )(?:(?:van|von|de|der|la|di|da) ){0,2}"
    r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}"
)


def written_like(texts: Sequence[str]) -> str | None:
    """Say what a sample of different texts is written like, or None.

    >>> written_like(["ann@example.org", "bob.x@example.com"])
    'an e-mail address'
    >>> written_like(["married", "single"])
    """
    bare = [text.strip() for text in texts if text.strip()]
    if not bare:
        return None
    for name, pattern in _PATTERNS:
        if _share(bare, pattern.fullmatch) >= _ENOUGH:
            return name
    if sum(len(text) for text in bare) >= _LONG_TEXT * len(bare) and (
        sum(text.count(" ") + 1 for text in bare) >= _WORDS_OF_TEXT * len(bare)
    ):
        return "free text"
    if _share(bare, _is_name) >= 0.9:
        return "a person's name"
    return None


def _is_name(text: str) -> bool:
    """Two or three words, each with a capital, that are no words of a category."""
    if _NAME.fullmatch(text) is None:
        return False
    words = [word for word in re.split(r"[ ,]+", text) if len(word) > 3]
    return bool(words) and all(word[0].isupper() and not word.isupper() for word in words)


def _share(texts: Sequence[str], test: Callable[[str], object]) -> float:
    return sum(bool(test(text)) for text in texts) / len(texts)
