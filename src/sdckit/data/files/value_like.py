"""Texts that look like a record's value rather than a name: what a header must not hold."""

from __future__ import annotations

import re

from sdckit.data.missing_values.missing_codes import DEFAULT_CODES

__all__ = ["is_code", "is_value"]

_MONTHS = (
    "jan|feb|fev|fév|mar|mär|apr|avr|abr|may|mai|mag|jun|jui|jul|aug|aou|aoû|ago|"
    "sep|set|oct|okt|ott|out|nov|dec|déc|dez|dic|ene|gen|giu|lug"
)
_DATE = re.compile(
    rf"\d{{4}}-\d\d?-\d\d?[t ].*|\d{{1,2}}(?:\.|st|nd|rd|th)?[-/. ]?(?:{_MONTHS})\w*\.?[-/., ]*\d{{2,4}}.*",
    re.IGNORECASE,
)
_MAIL = re.compile(r"\S+@\S+\.\S+")
_EXPONENT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+")


def is_value(text: str) -> bool:
    """Whether a text is a number, a band of numbers, a date or an e-mail address.

    >>> [is_value(text) for text in ("3,5", "15-29", "12 March 1990", "2020-01-31T10:00", "a@b.org")]
    [True, True, True, True, True]
    >>> [is_value(text) for text in ("age", "v12", "1st_job", "income 2019", "")]
    [False, False, False, False, False]
    """
    bare = text.strip()
    if not any(letter.isdigit() for letter in bare):
        return bool(_MAIL.fullmatch(bare))
    if not any(letter.isalpha() for letter in bare):
        return True
    return any(pattern.fullmatch(bare) for pattern in (_EXPONENT, _DATE, _MAIL))


def is_code(text: str) -> bool:
    """Whether a text is empty or one of the codes taken for missing.

    >>> is_code(" NA "), is_code(""), is_code("na")
    (True, True, False)
    """
    bare = text.strip()
    return not bare or bare in DEFAULT_CODES
